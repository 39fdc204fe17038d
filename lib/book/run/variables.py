"""The environment variables of the command and of the kernels in which chapters run."""

import os
from pathlib import Path

from lib.base.files import LIB

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
# Beginnings of names of a reader's settings for Python, which the command drops.
DROPPED_PREFIXES = ("PYTHON", "MPLBACKEND")
PATHS = (
    "BOOK_RESULTS",
    "BOOK_ROOT",
    "NUMBA_CACHE_DIR",
    "TEXTS_MIRROR",
    "UCI_CACHE",
    "UCI_MIRROR",
    "WORDNET",
)
# Beginnings of names of the variables that a kernel sees: where things are, and how to reach the
# network. The last three decide numbers; every key has what they choose: see `lib.trials.store`.
KERNEL_PREFIXES = (
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
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_",
    "REQUESTS_",
    "JUPYTER_",
    "IPYTHON",
    "JPY_",
    "LOKY_MAX_CPU_COUNT",
    "BOOK_FIGURES",
    "BOOK_TRIALS",
    "DASK_",
    "NUMBA_CPU_NAME",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)


def command_environment() -> dict[str, str]:
    """Return the environment of the command: the fixed variables, and the reader's but for Python.

    Paths in it are absolute. OpenBLAS adds up as on any x86 processor since 2013, if this is one
    and no other is named.
    """
    environment = {"OPENBLAS_CORETYPE": "Haswell"} if _has_avx2() else {}
    for name, value in os.environ.items():
        if not name.startswith(DROPPED_PREFIXES):
            environment[name] = value
    for name in PATHS:
        if environment.get(name):
            environment[name] = os.path.abspath(os.path.expanduser(environment[name]))
    return environment | FIXED


def _has_avx2() -> bool:
    """Whether Linux says that the processor has AVX2, which x86 processors have since 2013."""
    info = Path("/proc/cpuinfo")
    return info.exists() and " avx2 " in info.read_text(encoding="utf-8", errors="replace")


def kernel_environment(environment: dict[str, str]) -> dict[str, str]:
    """Return the part of an environment that a kernel sees.

    No variable of it decides a number without being in the keys of results.
    """
    return {name: text for name, text in environment.items() if name.startswith(KERNEL_PREFIXES)}
