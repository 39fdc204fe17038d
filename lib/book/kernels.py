"""Kernels of the chapters: forked from a server that has imported what they import."""

import os
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets import Dict, Unicode

from lib.trials.processes import ONE_THREAD, Process, start_server

FIXED_ENVIRONMENT = ONE_THREAD | {
    "SOURCE_DATE_EPOCH": "0",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MATPLOTLIBRC": str(Path(find_spec("matplotlib").origin).with_name("mpl-data")),  # and not the reader's
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",
}
IMPORTED = ("ipykernel.kernelapp", "ipykernel.ipkernel", "myst_nb", "seaborn", "scipy.stats", "sklearn.pipeline")
IMPORTED += ("lib.claims", "lib.figures", "lib.experiments", "lib.winnow", "lib.bayes_net", "lib.book.kernels")
READ_ONCE = ("PYTHON", "OMP_", "OPENBLAS_", "MKL_", "NUMBA_", "MPL", "MATPLOTLIB")  # when libraries are imported


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
    """Starts kernels in a folder, with an environment that is fixed but for a few variables."""

    folder = Unicode().tag(config=True)
    environment = Dict().tag(config=True)

    async def launch_kernel(self, cmd, env, cwd=None, **settings):
        """Start a kernel; not forked where the server that runs was started with another environment."""
        env = processor() | env | FIXED_ENVIRONMENT | self.environment
        folder = self.folder or cwd
        if _read_once(env) != _read_once(start_server(IMPORTED, processor() | FIXED_ENVIRONMENT)):
            return await super().launch_kernel(cmd, env=env, cwd=folder, **settings)
        arguments = cmd[cmd.index("-f") :]
        self.process = Kernel(target=_run, args=(arguments, folder), environment=env, daemon=True)
        self.process.start()
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def _run(arguments, folder):
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.chdir(folder or ".")
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(arguments)
    app.shell.enable_matplotlib("inline")  # which importing matplotlib would have done here
    app.start()


def _read_once(environment):
    return {name: value for name, value in environment.items() if name.startswith(READ_ONCE)}


def processor() -> dict[str, str]:
    """Return the variable that makes OpenBLAS add up as on any x86 processor since 2013, if this is one."""
    info = Path("/proc/cpuinfo")
    since_2013 = info.exists() and " avx2 " in info.read_text(encoding="utf-8", errors="replace")
    chosen = os.environ.get("OPENBLAS_CORETYPE", "Haswell")
    return {"OPENBLAS_CORETYPE": chosen} if since_2013 else {}


def use_forked_kernels() -> None:
    """Let all kernels that this process starts from now on be forked ones."""
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forked"] = EntryPoint("forked", f"{__name__}:Provisioner", factory.GROUP_NAME)
    factory.default_provisioner_name = "forked"
