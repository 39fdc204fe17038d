"""Which files a process reads that no key holds: neither those of Python, packages, lib and data, nor of the system.

Keys are made before anything runs, of what is known to matter. What a cell or a trial reads besides
is not known, so whoever uses a key asks here what was read, and trusts the key only if that is
nothing. Python tells each file that is opened to audit hooks; what a package opens without Python
goes unseen.
"""

import os
import sys
import sysconfig
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from lib.files import DATA, LIB
from lib.trials.context import current

SYSTEM = [
    "/bin",
    "/etc",
    "/lib",
    "/lib64",
    "/nix",
    "/proc",
    "/snap",
    "/sys",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
]
SYSTEM += [
    "/usr/libexec",
    "/usr/local/lib",
    "/usr/local/share",
    "/usr/share",
    "/var/cache",
    "/Library",
    "/System",
]
# variables: machine code, the kernel's own files
FOLDERS = ("NUMBA_CACHE_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
KEYED = [
    LIB.parent / "chapters" / "registered.yml",
    LIB.parent / "requirements.lock",
    LIB / "book" / "templates",
]
CODE = (".py", ".pyc", ".nbi", ".nbc")
RESULTS = ("recorded", "benchmarks")  # folders of data/ with what the book itself has computed
_collectors, _hooks = [], []


class _Collector:
    """Reports each file once that is read and is in none of the places that keys, Python or the system account for."""

    def __init__(self, report, variables, thread):
        python = [*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix]
        python += [
            folder
            for folder in sys.path
            if folder and Path(folder).resolve() != LIB.parent.resolve()
        ]
        named = [os.path.abspath(os.environ[name]) for name in variables if os.environ.get(name)]
        # blocks, each under its key
        named += [os.path.abspath(folder) for folder in (current().results,) if folder]
        folders = [f"{folder}/" for folder in (*python, *named)]
        folders += [f"{os.path.realpath(folder)}/" for folder in folders]
        hidden = f"{Path.home()}/."  # in the user's home: caches and settings of programs
        self._book = f"{LIB.parent}/"
        self._inside = tuple(
            [folder for folder in folders if folder.startswith(self._book)] + list(map(str, KEYED))
        )
        self._outside = (*folders, *(f"{folder}/" for folder in SYSTEM), hidden)
        self._known = set()  # files that were reported, or that the process has written itself
        self._report = report
        self._thread = thread

    def note(self, path, writes, reads):
        """Note that a file is opened to be written, to be read, or both."""
        if (
            self._thread not in (None, threading.get_ident())
            or path in self._known
            or self._is_accounted_for(path)
        ):
            return
        if reads and os.path.isfile(path):
            self._report(path)
        if writes or reads:
            self._known.add(path)

    def note_address(self, address):
        """Note that something is asked of the network, where one thread is looked at: others of a process may well."""
        if self._thread == threading.get_ident():
            self._report(":".join(map(str, address[:2])))

    def _is_accounted_for(self, path):
        if not path.startswith(self._book):
            return path.startswith(self._outside)
        if path.startswith(f"{LIB}/") and path.endswith(CODE):
            return True
        is_result = path.startswith(tuple(f"{DATA}/{folder}/" for folder in RESULTS))
        return path.startswith(self._inside) or (path.startswith(f"{DATA}/") and not is_result)


def _watch(event, arguments):
    """Audit hook; it must not raise an error, which whoever opens the file would get."""
    # and no socket of this machine's own
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        for collector in _collectors:
            collector.note_address(arguments[1])
    if event not in ("open", "sqlite3.connect") or not _collectors:
        return
    path, flags = arguments[0], arguments[2] if event == "open" else os.O_RDWR
    with suppress(OSError, TypeError, ValueError):
        path = os.path.abspath(os.fsdecode(path))  # TypeError for what is open already, a number
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        reads = not flags & (os.O_WRONLY | os.O_TRUNC)
        for collector in _collectors:
            collector.note(path, writes, reads)


@contextmanager
def collected(report, variables=FOLDERS, only_here=False):
    """Call `report` with the path of each file, once, that this process reads within a ``with`` and no key holds.

    A file that was written within it before is not counted, nor are those in the folders that these
    variables name. `only_here` leaves out what other threads read.
    """
    if not _hooks:
        _hooks.append(_watch)
        sys.addaudithook(_watch)  # for good: Python does not let go of one
    collector = _Collector(report, variables, threading.get_ident() if only_here else None)
    _collectors.append(collector)
    try:
        yield
    finally:
        _collectors.remove(collector)
