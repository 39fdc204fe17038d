"""Lists of names, kept by hand, are of things that are there."""

import importlib
import runpy
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from test_architecture import STOREYS

from lib.book.run.blocks import SILENT
from lib.book.run.variables import KERNEL_PREFIXES, PATHS
from lib.learners import all_learners
from lib.trials.notes import KINDS
from lib.trials.options import RESULTS, VARIABLE

TESTS = Path(__file__).parent


@pytest.mark.parametrize("variable", ["FIRST", "TOGETHER"])
def test_tests_that_run_first_or_together(variable):
    """One that is renamed would fall out in silence, and the run take longer."""
    names = runpy.run_path(str(TESTS / "conftest.py"))[variable]
    paths = [*TESTS.rglob("test_*.py"), *(TESTS.parent / "chapters").rglob("*.ipynb")]
    places = [path.relative_to(TESTS.parent).as_posix() for path in paths]
    assert [name for name in names if not any(name in place for place in places)] == []


def test_kinds_of_notes_that_the_command_does_not_print():
    assert set(SILENT) <= KINDS.keys()


def test_variables_that_lib_reads_reach_the_kernels():
    """Those with paths are made absolute, as kernels run in another folder."""
    assert {"UCI_MIRROR", "UCI_CACHE", "TEXTS_MIRROR", RESULTS} <= set(PATHS)
    assert VARIABLE in KERNEL_PREFIXES


def descendants(estimator_class):
    """The subclasses that have none of their own."""
    subclasses = estimator_class.__subclasses__()
    if not subclasses:
        return {estimator_class}
    return set().union(*map(descendants, subclasses))


def test_learners_are_all_estimators_of_their_storey():
    """Those that a folder does not export would be tested by nothing, and those not imported."""
    for room in STOREYS[1]:
        importlib.import_module(f"lib.{room}")
    learners = {member for members in all_learners().values() for member in members}
    prefixes = tuple(f"lib.{room}" for room in STOREYS[1])
    leaves = descendants(BaseEstimator)
    assert learners == {leaf for leaf in leaves if leaf.__module__.startswith(prefixes)}
