"""Which files a process reads that no key holds.

Keys are made before anything runs, from what is known to matter: Python, packages, lib and data.
Files that a cell or a trial reads besides are not known in advance. So whoever uses a key asks here
what was read, and trusts the key only if nothing else was. Python reports each file that it opens
to audit hooks; what a package opens without Python goes unseen.
"""

import os
import sys
import sysconfig
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from lib.files import DATA, LIB
from lib.trials.options import current_options

# Folders of the operating system and of what it has installed.
SYSTEM = (
    *("/bin", "/etc", "/lib", "/lib64", "/nix", "/proc", "/snap", "/sys"),
    *("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/lib", "/usr/local/share", "/var/cache"),
    *("/Library", "/System"),
)
# Variables that name folders of machine code and of a notebook kernel's own files.
FOLDERS = ("NUMBA_CACHE_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
KEYED = [
    LIB.parent / "chapters" / "registered.yml",
    LIB.parent / "requirements.lock",
    LIB / "book" / "templates",
]
CODE = (".py", ".pyc", ".nbi", ".nbc")
RESULTS = ("recorded", "benchmarks")  # folders of data/ with what the book itself has computed
_watchers = []
_hooks = []


class _Watcher:
    """Reports each file once that is read, unless keys, Python or the system account for it."""

    def __init__(self, report, thread):
        python = [*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix]
        for folder in sys.path:
            if folder and Path(folder).resolve() != LIB.parent.resolve():
                python.append(folder)
        from_options = [os.environ.get(name) for name in FOLDERS]
        from_options.append(current_options().results)  # stored blocks, each under its key
        accounted = [*python, *(os.path.abspath(folder) for folder in from_options if folder)]
        folders = [f"{folder}/" for folder in accounted]
        folders += [f"{os.path.realpath(folder)}/" for folder in folders]
        in_home = f"{Path.home()}/."  # caches and settings of programs
        self._book = f"{LIB.parent}/"
        in_book = [folder for folder in folders if folder.startswith(self._book)]
        self._accounted_in_book = (*in_book, *map(str, KEYED))
        self._accounted_elsewhere = (*folders, *(f"{folder}/" for folder in SYSTEM), in_home)
        self._done = set()  # files that were reported, or that the process has written itself
        self._report = report
        self._thread = thread

    def see_file(self, path, writes, reads):
        """Take notice of a file that is opened to be written, to be read, or both."""
        if self._thread not in (None, threading.get_ident()):
            return
        if path in self._done or self._is_accounted_for(path):
            return
        if reads and os.path.isfile(path):
            self._report(path)
        if writes or reads:
            self._done.add(path)

    def see_address(self, address):
        """Take notice of a connection to the network, if it is this thread that is watched.

        Other threads of a process, such as those of a notebook's kernel, have connections.
        """
        if self._thread == threading.get_ident():
            self._report(":".join(map(str, address[:2])))

    def _is_accounted_for(self, path):
        if not path.startswith(self._book):
            return path.startswith(self._accounted_elsewhere)
        if path.startswith(f"{LIB}/") and path.endswith(CODE):
            return True
        if path.startswith(self._accounted_in_book):
            return True
        is_result = path.startswith(tuple(f"{DATA}/{folder}/" for folder in RESULTS))
        return path.startswith(f"{DATA}/") and not is_result


def _audit(event, arguments):
    """Audit hook; it must not raise an error, which whoever opens the file would get."""
    # The address of a socket of this machine's own is text, not a tuple.
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        for watcher in _watchers:
            watcher.see_address(arguments[1])
    if event not in ("open", "sqlite3.connect") or not _watchers:
        return
    path = arguments[0]
    flags = arguments[2] if event == "open" else os.O_RDWR
    with suppress(OSError, TypeError, ValueError):
        path = os.path.abspath(os.fsdecode(path))  # TypeError for the number of an open file
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        reads = not flags & (os.O_WRONLY | os.O_TRUNC)
        for watcher in _watchers:
            watcher.see_file(path, writes, reads)


@contextmanager
def watch_file_reads(report, only_here=False):
    """Within a ``with`` statement, report the files that this process reads and that no key holds.

    Files that were written within the statement before are not reported.

    Parameters
    ----------
    report : callable
        Called with the path of each such file, once.
    only_here : bool
        Leave out what other threads read.
    """
    if not _hooks:
        _hooks.append(_audit)
        sys.addaudithook(_audit)  # for good: Python has no way to remove one
    watcher = _Watcher(report, threading.get_ident() if only_here else None)
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)
