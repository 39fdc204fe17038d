"""Processes that begin at once: forked from a server that has imported the libraries and runs no thread."""

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import context, forkserver
from types import ModuleType

_Base = getattr(context, "ForkServerContext", context.SpawnContext)  # Windows has no such server
_MAIN = threading.Lock()


class Process(_Base.Process):
    """A process with an environment, by default that of now; it ends when this process does, however it ends.

    It is a daemon, or a process of multiprocessing that has started it would wait at its end for
    one that is idle.
    """

    def __init__(self, *arguments, environment=None, daemon=True, **options):
        super().__init__(*arguments, daemon=daemon, **options)
        self.environment = environment or dict(os.environ)

    def start(self):
        """Start it; it takes nothing from the main module, which may be a script without a guard."""
        with _MAIN:
            main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main

    def run(self):
        """Do what it was made for."""
        self.daemon = False  # for it may have processes of its own, from the same server
        # an interruption is for the process that has started it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        forkserver._forkserver.ensure_running = lambda: None
        os.environ.clear()
        os.environ.update(self.environment)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()


class Context(_Base):
    """What `multiprocessing` and `concurrent.futures` make processes with, from a server that imports `modules`."""

    Process = Process

    def __init__(self, modules):
        self.set_forkserver_preload(list(modules))


def _forget_server():
    """In a process that was forked from one with a server, which is no child of this one and not to be asked."""
    server = forkserver._forkserver
    if server._forkserver_pid is not None:  # as it is in processes that come from the server
        server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_server)


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)
