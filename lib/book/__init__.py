"""The book's driver: lists, runs and builds the chapters. It knows no model."""

import os
import sys
from pathlib import Path

__all__ = ["fixed_environment", "main"]


FIXED = {
    "SOURCE_DATE_EPOCH": "0",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",
}
OWN = ("PYTHON", "MPLBACKEND")


def fixed_environment() -> dict[str, str]:
    """Return the environment in which chapters run: no settings of the reader's own for Python.

    OpenBLAS adds up as on any x86 processor since 2013, if this is one and no other is named.
    """
    info = Path("/proc/cpuinfo")
    since_2013 = info.exists() and " avx2 " in info.read_text(encoding="utf-8", errors="replace")
    kernels = {"OPENBLAS_CORETYPE": "Haswell"} if since_2013 else {}
    return kernels | {name: value for name, value in os.environ.items() if not name.startswith(OWN)} | FIXED


def main() -> None:
    """Run the command in the fixed environment."""
    if os.environ != (environment := fixed_environment()):
        os.execve(sys.executable, sys.orig_argv, environment)
    from lib.book import cli

    cli.main()
