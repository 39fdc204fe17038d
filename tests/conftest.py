"""The book's environment, one thread per numerical library, its kernels; fixed examples."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from nbval.plugin import IPyNbCell
from xdist.scheduler import LoadScopeScheduling

from lib.book import command_environment

os.environ.update(command_environment())  # before anything imports numpy

from lib.book.verdicts.reproduced import (  # noqa: E402
    MOVING,
    TOLERANCE,
    differences,
    displayed,
)
from lib.claims import CLAIMS_JSON  # noqa: E402
from lib.trials import engine  # noqa: E402

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "_build" / "nbval"  # of quick runs, which nbval compares

# these need other programs and libraries: make peers, make test-browser
collect_ignore = ["peers", "browser"]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("repeatable")


# First chapters that compile kernels, each family's in one of them, so that no two processes
# compile the same at once; then what is longest.
FIRST = (
    "elr/complexity",
    "test_build",
    "test_writing",
    "ensembles/combining",
    "rl/job_shop",
    "rl/backgammon",
    "bayes_net_learning",
    "cia/sensitivity",
    "cia/curves",
    "explorer.ipynb",
    "winnow2",
    "cia/large",
)
# in one process: more of their cases compile the same, or look at the same built book
TOGETHER = {
    "test_bayes_net_learning": "bayes_net_learning",
    "test_backgammon": "backgammon",
    "test_heads": "pages",
    "test_site": "pages",
    "test_reports": "pages",
    "test_pdf": "pages",
}


@pytest.fixture(scope="module")
def in_this_process():
    """Run trials in the process of the test, which looks at what they call."""

    def run(function, blocks, *_):
        for number, block in blocks.items():
            yield number, function(block)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_on_this_machine", run)
        yield


def pytest_configure(config):
    """Fork the kernels of nbval, too; make the notebooks that it reads, before any worker starts."""
    from lib.book.quick import write_notebooks
    from lib.book.run.kernels import use_forked_kernels
    from lib.book.run.project import Project

    use_forked_kernels()
    if config.option.nbval and not hasattr(config, "workerinput"):
        write_notebooks(Project(ROOT), NOTEBOOKS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Start the kernels of nbval without figures: numbers are compared, not pictures."""
    if not isinstance(item, IPyNbCell):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_FIGURES", "off")
        result = yield
    # compared below, as numbers and not as text
    item.parent.skip_compare = (*item.parent.skip_compare, CLAIMS_JSON)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Compare the numbers that a cell of a notebook displays with those that it stores."""
    yield
    if isinstance(item, IPyNbCell):
        folder = NOTEBOOKS if item.path.is_relative_to(NOTEBOOKS) else ROOT / "chapters"
        chapter = item.path.relative_to(folder).with_suffix("").as_posix()
        tolerance = MOVING.get((chapter, item.cell.id), TOLERANCE)
        stored = displayed(item.cell.outputs)
        lines = differences(stored, displayed(item.test_outputs), tolerance)
        assert not lines, "\n".join([f"{chapter}, cell {item.cell.id}:", *lines])


def pytest_collection_modifyitems(items):
    """Put the tests of `FIRST` first."""

    def rank(item):
        for position, name in enumerate(FIRST):
            if name in item.nodeid:
                return position
        return len(FIRST)

    items.sort(key=rank)


class ByNotebook(LoadScopeScheduling):
    """Keeps the cells of a notebook, and the cases of a test, in one process.

    A notebook's process has its kernel. (The marks of xdist's own `--dist loadgroup` are lost
    with pytest 9.2.)
    """

    def _split_scope(self, nodeid):
        path = nodeid.partition("::")[0]
        if path.endswith(".ipynb"):
            return path
        return TOGETHER.get(Path(path).stem, nodeid.partition("[")[0])


def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False
    return ByNotebook(config, log)
