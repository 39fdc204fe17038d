"""Compilation by numba: machine code is kept on disk, and never outlives its source."""

import hashlib
import json
import multiprocessing
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
from numba.core import event
from platformdirs import user_cache_path

from lib.base import sources
from lib.base.files import LIB

config.SLP_VECTORIZE = 1  # eight sums side by side become one of vectors

# Settings of numba that say where something is or what is told of it, and not what machine code
# does.
PLACES = (
    "CACHE_DIR",
    "CACHE_LOCATOR_CLASSES",
    "NUMBA_NUM_THREADS",
    "NUMBA_DEFAULT_NUM_THREADS",
    "COLOR_SCHEME",
    "DEBUG_CACHE",
)
# for which the machine code of older source stays, for whoever goes back to it
KEPT_SECONDS = 7 * 24 * 3600
NOTICE_SECONDS = 2.0  # of compiling in a process, after which a line says what takes so long
_DECORATING = threading.Lock()


def numba_options():
    """Return the options of numba that decide what its machine code does, by name."""
    return {
        name: str(getattr(config, name))
        for name in dir(config)
        if name.isupper() and name not in PLACES
    }


@cache
def cache_root():
    """Return the folder of all machine code, or None where none can be written.

    It is in the folder of numba's own setting, else in lib, else in the user's cache.
    """
    for place in (_folder_of_lib, _folder_of_user):
        with suppress(OSError, RuntimeError):
            root = place().absolute() / "numba"
            root.mkdir(parents=True, exist_ok=True)
            if os.access(root, os.W_OK):
                return root
    return None


def _folder_of_lib():
    return Path(config.CACHE_DIR or LIB / "__pycache__")


def _folder_of_user():
    """Return the user's cache; RuntimeError where the user has no home."""
    return user_cache_path("when-the-model-is-wrong")


@cache
def cache_folder(module):
    """Return the folder of the machine code of a module's kernels, or None where none can be kept.

    numba sees only changes in a kernel's own file, while machine code also holds kernels, and
    values of constants, that come from other files. So the folder has the digest of all source that
    the module imports, of versions and settings. A constant that a session has set before a kernel
    is compiled goes into its machine code, and stays there: `make clean` removes it. Folders of
    other source that nobody has used for a week are removed.

    Parameters
    ----------
    module : str
        Its name, such as "lib.trees.growing". A module outside lib has no folder, as its imports
        are not followed.

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
    ingredients = json.dumps([code, versions, numba_options()])
    digest = hashlib.sha256(ingredients.encode()).hexdigest()[:16]
    folder = cache_root() / f"{module}-{digest}"
    with suppress(OSError):  # it is not there yet
        os.utime(folder)  # used today
    for older in cache_root().glob(f"{module}-*"):
        with suppress(OSError):  # another process may remove it first
            if older != folder and time.time() - older.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(older)
    return folder


def is_warm():
    """Return whether some kernel has machine code on disk that fits the source as it is now."""
    for module in sources.SOURCES:
        if "lib.base.compiled.compiled" in sources.imports(module):
            folder = cache_folder(module)
            if folder and any(folder.rglob("*.nbi")):
                return True
    return False


def compiled(**options):
    """Return numba's njit with these options, which keeps what it compiles in `cache_folder`."""

    def compile_function(function):
        folder = cache_folder(function.__module__)
        if folder is None:
            return njit(nogil=True, **options)(function)
        # numba asks for the folder once, here; other packages keep the one of the user's setting
        with _DECORATING:
            user_folder = config.CACHE_DIR
            config.CACHE_DIR = str(folder)
            try:
                return njit(nogil=True, cache=True, **options)(function)
            except RuntimeError:  # numba cannot write there after all
                return njit(nogil=True, **options)(function)
            finally:
                config.CACHE_DIR = user_folder

    return compile_function


class Notice(event.Listener):
    """Says once in a process, on stderr, that lib's kernels are being compiled, if that takes long.

    Only a terminal gets the line: it would be a new output of the cells of notebooks, whose stderr
    is none, and of commands that are read by programs. Processes that another one has started stay
    silent, too: workers of trials would all say it, between the lines of a progress bar.

    numba tells of each kernel when it starts and ends, one within the other where a kernel calls
    another, and of none that it finds on disk.
    """

    def __init__(self):
        self.depth = 0  # of the kernels that are being compiled
        self.seconds = 0.0  # of all that are compiled
        self.start = 0.0  # of the outermost kernel
        self.is_given = False

    def on_start(self, event):
        """Begin to count when an outermost kernel begins."""
        if self.depth == 0:
            self.start = time.monotonic()
        self.depth += 1

    def on_end(self, event):
        """Say the line, if it is time, whenever a kernel ends, an inner one as well."""
        self.depth -= 1
        seconds = self.seconds + time.monotonic() - self.start
        if self.depth == 0:
            self.seconds = seconds
        if seconds > NOTICE_SECONDS and not self.is_given:
            self.is_given = True
            if sys.stderr.isatty() and multiprocessing.parent_process() is None:
                print(_notice_text(), file=sys.stderr, flush=True)


def _notice_text():
    text = "Compiling for this machine what is used here for the first time; it takes some seconds"
    folder = cache_root()
    return f"{text}." if folder is None else f"{text}, and is kept in {folder}."


event.register("numba:compile", Notice())


@compiled()
def assign(target, source):
    """Copy a vector into another.

    For `target[:] = source` numba compiles how its error is worded, for seconds.
    """
    for i in range(len(target)):
        target[i] = source[i]
