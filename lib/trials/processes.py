"""Processes that begin at once: forked from a server that has imported the libraries and runs no thread."""

import multiprocessing
import os
import sys
import threading
from multiprocessing import context, forkserver
from types import ModuleType

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_Base = getattr(context, "ForkServerContext", context.SpawnContext)  # Windows has no such server
_LOCK = threading.Lock()
_SERVER = {}


def start_server(modules, environment=ONE_THREAD):
    """Start the server, unless it runs, with modules imported and variables set; return its environment."""
    with _LOCK:
        if not _SERVER:
            before = dict(os.environ)
            os.environ.update(environment)
            _SERVER.update(os.environ)
            Context().set_forkserver_preload(list(modules))
            forkserver._forkserver.ensure_running()
            os.environ.clear()
            os.environ.update(before)
        return _SERVER


class Process(_Base.Process):
    """A process with an environment, by default that of now; it ends when this process does, however it ends."""

    def __init__(self, *arguments, environment=None, **options):
        super().__init__(*arguments, **options)
        self.environment = environment or dict(os.environ)

    def start(self):
        """Start it; it takes nothing from the main module, which may be a script without a guard."""
        with _LOCK:
            main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main

    def run(self):
        """Do what it was made for."""
        self.daemon = False  # for it may have processes of its own, from the same server
        forkserver._forkserver.ensure_running = lambda: None
        os.environ.clear()
        os.environ.update(self.environment)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()


class Context(_Base):
    """What `multiprocessing` and `concurrent.futures` make processes and queues with."""

    Process = Process


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)
