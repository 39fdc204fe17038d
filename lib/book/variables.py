"""The environment variables of the command and of the kernels in which chapters run."""

import os
from pathlib import Path

from lib.files import LIB

FIXED = {
    "SOURCE_DATE_EPOCH": "0",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    # lib is the one that this process has, wherever a process is started, and whatever lies there
    "PYTHONPATH": str(LIB.parent.resolve()),
    "PYTHONSAFEPATH": "1",
    # what a killed kernel has left is removed without a word
    "PYTHONWARNINGS": "ignore:resource_tracker",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",
}
# beginnings of names: settings for Python that are none of the book's
READERS_OWN = ("PYTHON", "MPLBACKEND")
PATHS = ("BOOK_RESULTS", "BOOK_ROOT", "NUMBA_CACHE_DIR", "TEXTS_MIRROR", "UCI_CACHE", "UCI_MIRROR")
# What a kernel gets to see of the environment, by the beginnings of names: where things are, and
# how to reach the network. The three that decide numbers are in every key by what they choose: see
# `lib.trials.store`.
SEEN = [
    *FIXED,
    *PATHS,
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_",
    "MPLCONFIGDIR",
    "LD_LIBRARY_PATH",
    "DYLD_",
]
SEEN += [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_",
    "REQUESTS_",
]
SEEN += ["JUPYTER_", "IPYTHON", "JPY_", "LOKY_MAX_CPU_COUNT", "BOOK_TRIALS", "DASK_"]
SEEN += ["NUMBA_CPU_NAME", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"]


def fixed_environment() -> dict[str, str]:
    """Return the environment of the command: no settings of the reader's own for Python, and paths that are absolute.

    OpenBLAS adds up as on any x86 processor since 2013, if this is one and no other is named.
    """
    info = Path("/proc/cpuinfo")
    since_2013 = info.exists() and " avx2 " in info.read_text(encoding="utf-8", errors="replace")
    kernels = {"OPENBLAS_CORETYPE": "Haswell"} if since_2013 else {}
    others = {name: value for name, value in os.environ.items() if not name.startswith(READERS_OWN)}
    paths = {
        name: os.path.abspath(os.path.expanduser(others[name]))
        for name in PATHS
        if others.get(name)
    }
    return kernels | others | paths | FIXED


def kernel_environment(environment: dict[str, str]) -> dict[str, str]:
    """Return what a kernel gets to see of an environment: nothing that could decide a number and is in no key."""
    return {name: value for name, value in environment.items() if name.startswith(tuple(SEEN))}
