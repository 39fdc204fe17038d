"""Which files a process reads that no key holds: neither those of Python, packages, lib and data, nor of the system.

Keys are made before anything runs, of what is known to matter. What a cell or a trial reads besides is not known, so
whoever uses a key asks here what was read, and trusts the key only if that is nothing. Python tells each file that is
opened to audit hooks; what a package opens without Python goes unseen.
"""

import os
import sys
import sysconfig
from contextlib import contextmanager, suppress
from pathlib import Path

from lib.files import DATA, LIB
from lib.trials.context import current

SYSTEM = ["/bin", "/dev", "/etc", "/lib", "/lib64", "/nix", "/proc", "/run", "/snap", "/sys", "/var/cache", "/var/lib"]
SYSTEM += ["/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/usr/share", "/usr/local/share"]
SYSTEM += ["/Library", "/System"]
FOLDERS = ("NUMBA_CACHE_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")  # variables: machine code, the kernel's own files
MIRRORS = ("UCI_MIRROR", "UCI_CACHE", "TEXTS_MIRROR")  # with copies that are checked against data/
KEYED = [LIB.parent / "chapters" / "registered.yml", LIB.parent / "requirements.lock"]
_WRITES = os.O_WRONLY | os.O_RDWR
_collectors, _hooks = [], []


def _known_places(variables):
    """Beginnings of paths that are in keys, or belong to Python, the system, or the settings of programs."""
    python = [*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix]
    python += [folder for folder in sys.path if folder and Path(folder).resolve() != LIB.parent.resolve()]
    named = [os.path.abspath(os.environ[name]) for name in variables if os.environ.get(name)]
    named += [os.path.abspath(folder) for folder in (current().results,) if folder]  # of blocks, each under its key
    folders = [f"{folder}/" for folder in (*python, *named, *SYSTEM, LIB, DATA)]
    real = [f"{os.path.realpath(folder)}/" for folder in folders]
    hidden = f"{Path.home()}/."  # in the user's home: caches and settings of programs
    return (*folders, *real, hidden, *map(str, KEYED))


def _watch(event, arguments):
    """Audit hook; it must not raise an error, which whoever opens the file would get."""
    if event != "open" or not _collectors:
        return
    path, _, flags = arguments
    with suppress(OSError, TypeError, ValueError):
        path = os.path.abspath(os.fsdecode(path))  # TypeError for what is open already, a number
        for collector in _collectors:
            collector.note(path, writes=bool(flags & _WRITES))


class _Collector:
    def __init__(self, report, variables):
        self._places = _known_places(variables)
        self._known = set()  # files that were reported, or that the process has written itself
        self._report = report

    def note(self, path, writes):
        if path in self._known or path.startswith(self._places):
            return
        if writes:
            self._known.add(path)
        elif os.path.isfile(path):
            self._known.add(path)
            self._report(path)


@contextmanager
def collected(report, variables=(*FOLDERS, *MIRRORS)):
    """Call `report` with the path of each file, once, that this process reads within a ``with`` and no key holds.

    A file that was written within it before is not counted, nor are those in the folders that these variables name.
    """
    if not _hooks:
        _hooks.append(_watch)
        sys.addaudithook(_watch)  # for good: Python does not let go of one
    collector = _Collector(report, variables)
    _collectors.append(collector)
    try:
        yield
    finally:
        _collectors.remove(collector)
