"""Fixtures of the tests of trials: a folder of results, what ran, what was told, and a notebook's cells."""

import json
import linecache

import cloudpickle
import marked
import numpy as np
import pytest
from marked import run

from lib.trials import description


@pytest.fixture(autouse=True)
def hash_seed(monkeypatch):
    """The one of the book's environment, whatever Dask has set when it started workers in this process."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The folder of stored blocks; trials of tests count as those of a notebook."""
    monkeypatch.setenv(
        "BOOK_TRIALS",
        json.dumps({"results": str(tmp_path / "results"), "notes": str(tmp_path / "notes")}),
    )
    monkeypatch.setenv("TRIAL_LOG", str(tmp_path / "log"))
    for name in ("COMPUTING", "ENVIRONMENT", "REACHING"):
        monkeypatch.setattr(description, name, getattr(description, name))  # to be restored
    marked.count_as_a_notebook()
    yield tmp_path / "results"
    cloudpickle.unregister_pickle_by_value(marked)


@pytest.fixture
def ran(tmp_path):
    """Return a function that takes the numbers of the trials that were run since the last time."""

    def take():
        path = tmp_path / "log"
        numbers = [int(line) for line in path.read_text().splitlines()] if path.exists() else []
        path.unlink(missing_ok=True)
        return numbers

    return take


@pytest.fixture
def told(tmp_path):
    """Return a function that takes the notes of these kinds since the last time."""

    def take(*kinds):
        path = tmp_path / "notes"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [note for note in map(json.loads, lines) if note["kind"] in kinds]

    return take


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """The frame where nothing is stored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BOOK_TRIALS", raising=False)
        patch.setenv("TRIAL_LOG", str(tmp_path_factory.mktemp("log") / "log"))
        return run()


class Cells:
    """A notebook without a kernel: each cell is executed in the module ``__main__``, with its source at hand."""

    def __init__(self):
        self.namespace = {"__name__": "__main__", "np": np}

    def __call__(self, source):
        name = f"<cell {id(self)} {len(linecache.cache)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), self.namespace)

    def __getitem__(self, name):
        return self.namespace[name]


@pytest.fixture
def cells():
    return Cells()
