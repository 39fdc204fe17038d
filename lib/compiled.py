"""Compilation by numba: machine code is kept on disk, and never outlives the source of anything it was made of."""

import hashlib
import json
import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba import config, njit
from numba.core.caching import FunctionCache
from platformdirs import user_cache_path

from lib import sources
from lib.files import LIB

config.SLP_VECTORIZE = 1  # eight sums side by side become one of vectors

# Settings of numba that say where something is or what is told of it, and not what machine code
# does.
PLACES = (
    "CACHE_DIR",
    "CACHE_LOCATOR_CLASSES",
    "NUMBA_NUM_THREADS",
    "NUMBA_DEFAULT_NUM_THREADS",
    "COLOR_SCHEME",
)
PLACES += ("DEBUG_CACHE",)
# for which the machine code of older source stays, for whoever goes back to it
KEPT_SECONDS = 7 * 24 * 3600
_DECORATING = threading.Lock()


def settings():
    """Return the settings of numba that decide what its machine code does, by name."""
    return {
        name: str(getattr(config, name))
        for name in dir(config)
        if name.isupper() and name not in PLACES
    }


@cache
def cache_root():
    """Return the folder of all machine code: numba's own setting, or one in lib, or in the user's cache; or None."""
    wanted = (
        lambda: Path(config.CACHE_DIR or LIB / "__pycache__"),
        lambda: user_cache_path("when-the-model-is-wrong"),
    )
    for folder in wanted:
        with suppress(OSError, RuntimeError):  # RuntimeError where the user has no home
            root = folder().absolute() / "numba"
            root.mkdir(parents=True, exist_ok=True)
            if os.access(root, os.W_OK):
                return root
    return None


@cache
def cache_folder(module):
    """Return the folder of the machine code of a module's kernels, or None where none can be kept.

    numba sees only changes in a kernel's own file, while machine code also holds kernels, and
    values of constants, that come from other files. So the folder has the digest of all source that
    the module imports, of versions and settings. Folders of other source that nobody has used for a
    week are removed.

    Parameters
    ----------
    module : str
        Its name, such as "lib.trees.growing". What a module that is not of lib imports is not
        followed; it has none.

    Returns
    -------
    Path or None
    """
    if cache_root() is None or module not in sources.SOURCES:
        return None
    code = sources.module_digests(sources.closure([module]))
    versions = [
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        sys.version,
        sys.flags.optimize,
    ]
    ingredients = json.dumps([code, versions, settings()])
    folder = cache_root() / f"{module}-{hashlib.sha256(ingredients.encode()).hexdigest()[:16]}"
    with suppress(OSError):  # it is not there yet
        os.utime(folder)  # used today
    for other in cache_root().glob(f"{module}-*"):
        with suppress(OSError):  # another process may remove it first
            if other != folder and time.time() - other.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(other)
    return folder


def is_warm():
    """Return whether some kernel has machine code on disk that fits the source as it is now."""
    modules = [name for name in sources.SOURCES if "lib.compiled.compiled" in sources.imports(name)]
    return any(
        any(cache_folder(module).rglob("*.nbi")) for module in modules if cache_folder(module)
    )


class _Cache(FunctionCache):
    """numba's cache of a kernel, left alone while the process is not what the folder's digest says.

    So a constant that somebody has changed, or a module that was reloaded, is compiled in memory:
    it neither meets what was compiled before nor stays for those who come after.
    """

    def __init__(self, function):
        super().__init__(function)
        self._modules = sources.closure([function.__module__])
        self._settings = settings()

    def load_overload(self, *arguments):
        return super().load_overload(*arguments) if self._is_true() else None

    def save_overload(self, *arguments):
        if self._is_true():
            super().save_overload(*arguments)

    def _is_true(self):
        return sources.are_intact(self._modules) and settings() == self._settings


def compiled(**options):
    """Return a decorator: numba's njit with these options, which keeps what it compiles in `cache_folder`."""

    def compile_function(function):
        kernel = njit(nogil=True, **options)(function)
        folder = cache_folder(function.__module__)
        if folder is None:
            return kernel
        # RuntimeError if the folder cannot be written after all
        with _DECORATING, suppress(RuntimeError):
            before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
            # numba asks for the folder once, here, and must not look for another one if it cannot
            # write into this one
            config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), "UserProvidedCacheLocator"
            try:
                kernel._cache = _Cache(function)  # as enable_caching() does, which has no argument
            finally:
                config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
        return kernel

    return compile_function


@compiled()
def assign(target, source):
    """Copy a vector into another; for `target[:] = source` numba compiles how its error is worded, for seconds."""
    for i in range(len(target)):
        target[i] = source[i]
