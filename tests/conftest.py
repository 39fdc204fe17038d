"""One thread per numerical library, so that tests that run side by side do not fight over cores; fixed examples."""

import os

from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

collect_ignore = ["peers", "browser"]  # these need other programs and libraries: make peers, make test-browser

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


# First one chapter that compiles the kernels, then what is longest; so no two processes compile the same at once.
FIRST = ("elr/complexity", "test_build", "cia/sensitivity", "cia/curves", "explorer.ipynb", "winnow2", "cia/large")


def pytest_collection_modifyitems(items):
    """Put the tests of `FIRST` first."""
    rank = {name: position for position, name in enumerate(FIRST)}
    items.sort(key=lambda item: next((rank[name] for name in FIRST if name in item.nodeid), len(FIRST)))


class ByNotebook(LoadScopeScheduling):
    """Keeps the cells of a notebook in one process, which has its kernel, and the cases of a test together.

    (The marks of xdist's own `--dist loadgroup` are lost with pytest 9.2.)
    """

    def _split_scope(self, nodeid):
        path = nodeid.partition("::")[0]
        return path if path.endswith(".ipynb") else nodeid.partition("[")[0]


def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False
    return ByNotebook(config, log)
