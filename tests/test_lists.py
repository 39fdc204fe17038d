"""Lists of names, kept by hand, are of things that are there."""

from pathlib import Path

import conftest
import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", conftest.FIRST + conftest.TOGETHER)
def test_tests_that_run_first_or_together(name):
    """One that is renamed would fall out in silence, and the run take longer."""
    paths = [*TESTS.rglob("test_*.py"), *(TESTS.parent / "chapters").rglob("*.ipynb")]
    assert any(name in path.relative_to(TESTS.parent).as_posix() for path in paths)
