"""Kernels of the chapters: forked from a server that has imported what they import."""

import gc
import os
from functools import cache
from importlib.metadata import EntryPoint

import click
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets import Dict

from lib.book.variables import kernel_environment
from lib.compiled import is_warm
from lib.files import LIB
from lib.sources import PACKAGE, SOURCES, module_digests
from lib.trials.description import digest
from lib.trials.file_reads import watch_file_reads
from lib.trials.notes import write_note
from lib.trials.processes import ForkserverContext, Process

# Imported by the server, once and not by each kernel: libraries that take long, and lib but for
# what makes pages.
LIBRARIES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "myst_nb.ext.glue",
    "seaborn",
    "scipy.stats",
    "sklearn.pipeline",
)
# also in what is forked: few of the many objects that learners make are garbage
gc.set_threshold(10_000, 20, 100)


def preloaded():
    """Return the names of the modules that the server imports."""
    pages = f"{PACKAGE}.book"
    return [*LIBRARIES, *(name for name in SOURCES if not name.startswith(pages)), __name__]


def signature():
    """Return where this process has lib from, and a digest of its code."""
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
        ForkserverContext(preloaded())
        arguments = (cmd[cmd.index("-f") :], cwd, signature())
        environment = kernel_environment(env | self.environment)
        self.process = Kernel(target=_run, args=arguments, environment=environment, daemon=True)
        self.process.start()
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def _run(arguments, folder, drivers_signature):
    import matplotlib
    from ipykernel.kernelapp import IPKernelApp

    if signature() != drivers_signature:
        write_note("other lib", "the kernel", here=drivers_signature[0], there=signature()[0])
        raise SystemExit(1)
    matplotlib.rcdefaults()  # and not the reader's
    os.setsid()
    os.chdir(folder)
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(arguments)
    app.shell.enable_matplotlib("inline")  # which importing matplotlib would have done here
    with watch_file_reads(lambda path: write_note("opened", "a cell", path=path)):
        app.start()


@cache
def use_forked_kernels() -> None:
    """Let all kernels that this process starts be forked; say if they will compile."""
    if not is_warm():
        click.echo(
            "Learners are compiled at their first call here, for about half a minute.", err=True
        )
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forked"] = EntryPoint(
        "forked", f"{__name__}:Provisioner", factory.GROUP_NAME
    )
    factory.default_provisioner_name = "forked"
