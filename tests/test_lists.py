"""Lists of names, kept by hand, are of things that are there."""

import runpy
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize("variable", ["FIRST", "TOGETHER"])
def test_tests_that_run_first_or_together(variable):
    """One that is renamed would fall out in silence, and the run take longer."""
    names = runpy.run_path(str(TESTS / "conftest.py"))[variable]
    paths = [*TESTS.rglob("test_*.py"), *(TESTS.parent / "chapters").rglob("*.ipynb")]
    places = [path.relative_to(TESTS.parent).as_posix() for path in paths]
    assert [name for name in names if not any(name in place for place in places)] == []
