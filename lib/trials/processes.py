"""Processes that begin at once: forked from a server that has imported the libraries and runs no thread."""

import multiprocessing
import os
import sys
import threading
from multiprocessing import context, forkserver
from types import ModuleType

_Base = getattr(context, "ForkServerContext", context.SpawnContext)  # Windows has no such server
_MAIN = threading.Lock()


class Process(_Base.Process):
    """A process with an environment, by default that of now; it ends when this process does, however it ends."""

    def __init__(self, *arguments, environment=None, **options):
        super().__init__(*arguments, **options)
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


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)
