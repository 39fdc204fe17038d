"""Kernels of the chapters: forked from a server that has imported what they import.

jupyter_client finds `Provisioner` by the entry point "book-forked" in pyproject.toml.
"""

import gc
import os
from functools import cache

import click
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets import Dict

from lib.base.compiled import is_warm
from lib.base.files import LIB
from lib.base.sources import PACKAGE, SOURCES, module_digests
from lib.book.run.variables import kernel_environment
from lib.trials.notes import write_note
from lib.trials.processes import ForkserverContext, Process
from lib.trials.source_key import digest

# What a notebook says of its kernel, whatever the reader's one is called that has saved it.
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
PROVISIONER = "book-forked"  # its name among the entry points of pyproject.toml
# Imported by the server, once and not by each kernel: libraries that take long, and lib but for
# what makes pages.
LIBRARIES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "seaborn",
    "scipy.stats",
    "sklearn.pipeline",
)
# also in what is forked: few of the many objects that learners make are garbage
gc.set_threshold(10_000, 20, 100)


def preloaded_modules() -> list[str]:
    """Return the names of the modules that the server imports."""
    press = f"{PACKAGE}.book"
    modules = [name for name in SOURCES if not name.startswith(press)]
    return [*LIBRARIES, *modules, __name__]


def lib_signature() -> tuple[str, str]:
    """Return the folder from which this process has lib, and a digest of its code."""
    return str(LIB.resolve()), digest(module_digests(SOURCES))


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
        ForkserverContext(preloaded_modules())
        # of the command that would start a kernel: -f and its connection file, and what follows
        arguments = cmd[cmd.index("-f") :]
        self.process = Kernel(
            target=_run_kernel,
            args=(arguments, cwd, lib_signature()),
            environment=kernel_environment(env | self.environment),
            daemon=True,
        )
        self.process.start()
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def _run_kernel(arguments, folder, drivers_signature):
    """Run a kernel in this process, unless its lib is another than that of the driver."""
    import matplotlib  # both are imported by the server, not by the driver
    from ipykernel.kernelapp import IPKernelApp

    signature = lib_signature()
    if signature != drivers_signature:
        write_note("other lib", "the kernel", here=drivers_signature[0], there=signature[0])
        raise SystemExit(1)
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
    if not is_warm():
        click.echo(
            "Learners are compiled at their first call here, for about half a minute.", err=True
        )
    KernelProvisionerFactory.instance().default_provisioner_name = PROVISIONER
