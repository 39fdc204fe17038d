"""Processes that start fast: forked from a server that has imported the libraries.

The server has no threads, so that forking it is safe.

This uses a private name of Python, `multiprocessing.forkserver._forkserver`, and its attributes
`_forkserver_address`, `_forkserver_alive_fd`, `_forkserver_pid` and `ensure_running`. There is no
public way to let a process that came from the server start others from the same server.
"""

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
    """A process with its own environment variables, which ends when its parent ends.

    It is a daemon: a process of multiprocessing that has started it would otherwise wait, at its
    own end, for one that is idle.
    """

    def __init__(self, *arguments, environment=None, daemon=True, **options):
        super().__init__(*arguments, daemon=daemon, **options)
        self.environment = environment or dict(os.environ)

    def start(self):
        """Start the process without the main module, which may be a script without a guard."""
        with _MAIN:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main

    def run(self):
        """Run the target in this process."""
        self.daemon = False  # so that it may have processes of its own, from the same server
        # An interruption is for the process that has started this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The server runs; from here, which is no parent of it, it cannot be started again.
        forkserver._forkserver.ensure_running = lambda: None
        os.environ.clear()
        os.environ.update(self.environment)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()


class ForkserverContext(_Base):
    """A start method of `multiprocessing`: fork from a server that has imported `modules`."""

    Process = Process

    def __init__(self, modules):
        self.set_forkserver_preload(list(modules))


def _forget_server():
    """Forget the server in a process that was forked from one that had a server.

    The server is no child of the new process, which could not ask it for anything.
    """
    server = forkserver._forkserver
    if server._forkserver_pid is not None:  # it is None in processes that come from the server
        server._forkserver_address = None
        server._forkserver_alive_fd = None
        server._forkserver_pid = None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_server)


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)
