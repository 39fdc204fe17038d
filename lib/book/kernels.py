"""Kernels of the chapters: forked from a server that has imported what they import."""

import gc
import os
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import click
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets import Dict

from lib.trials.processes import Context, Process

IMPORTED = ("ipykernel.kernelapp", "ipykernel.ipkernel", "myst_nb.ext.glue", "seaborn", "scipy.stats")
IMPORTED += ("sklearn.pipeline", "lib.claims", "lib.figures", "lib.experiments", "lib.bayes_net", "lib.book.kernels")
gc.set_threshold(10_000, 20, 100)  # also in what is forked: few of the many objects that learners make are garbage


class Kernel(Process):
    """A forked kernel, with the names that jupyter_client knows a process by."""

    stdin = stdout = stderr = None

    def poll(self):
        """Return the exit code, or None as long as it runs."""
        return self.exitcode

    def wait(self):
        """Wait until it has ended and return the exit code."""
        self.join()
        return self.exitcode

    def send_signal(self, number):
        """Send a signal, unless it has ended."""
        if self.exitcode is None:
            os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """Starts kernels with variables that are added to the environment."""

    environment = Dict().tag(config=True)

    async def launch_kernel(self, cmd, env, cwd=".", **_):
        """Start a kernel."""
        Context(IMPORTED)
        arguments = (cmd[cmd.index("-f") :], cwd)
        self.process = Kernel(target=_run, args=arguments, environment=env | self.environment, daemon=True)
        self.process.start()
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def _run(arguments, folder):
    import matplotlib
    from ipykernel.kernelapp import IPKernelApp

    matplotlib.rcdefaults()  # and not the reader's
    os.setsid()
    os.chdir(folder)
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(arguments)
    app.shell.enable_matplotlib("inline")  # which importing matplotlib would have done here
    app.start()


@cache
def use_forked_kernels() -> None:
    """Let all kernels that this process starts be forked; say if they will compile."""
    if not any(Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1]).rglob("*.nbi")):
        click.echo("Learners are compiled at their first call here, for about half a minute.", err=True)
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forked"] = EntryPoint("forked", f"{__name__}:Provisioner", factory.GROUP_NAME)
    factory.default_provisioner_name = "forked"
