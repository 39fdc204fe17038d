"""Compilation of loops that call each other across files."""

import hashlib
from pathlib import Path

from numba import config, njit

from lib import compiled as cached

FOLDER = Path(__file__).parent
_SOURCES = b"\0".join(path.read_bytes() for path in sorted(FOLDER.glob("*.py")))
_DIGEST = hashlib.sha256(_SOURCES).hexdigest()[:16]


def compiled(function):
    """Compile with numba, cached on disk under a digest of this package's source.

    Numba looks for changes in the function's own file only, and would go on using what it had compiled in from others.
    """
    given = config.CACHE_DIR
    config.CACHE_DIR = str(Path(given or FOLDER / "__pycache__") / f"bayes_net-{_DIGEST}")
    try:
        return cached.compiled(error_model="numpy")(function)
    finally:
        config.CACHE_DIR = given


# Compiles into each caller: calls that hand over many arrays take longer than the little that is done with them.
inlined = njit(inline="always", error_model="numpy")
