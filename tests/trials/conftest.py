"""Fixtures of the tests of trials: a folder of results, logs, a notebook's cells."""

import json
import linecache

import cloudpickle
import logged_trials
import numpy as np
import pytest
from logged_trials import run


@pytest.fixture(autouse=True)
def hash_seed(monkeypatch):
    """The hash seed of the book, whatever Dask set when it started workers in this process."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The folder of stored blocks; trials of tests count as those of a notebook."""
    monkeypatch.setenv(
        "BOOK_TRIALS",
        json.dumps({"results": str(tmp_path / "results"), "notes": str(tmp_path / "notes")}),
    )
    monkeypatch.setenv("TRIAL_LOG", str(tmp_path / "log"))
    cloudpickle.register_pickle_by_value(logged_trials)
    yield tmp_path / "results"
    cloudpickle.unregister_pickle_by_value(logged_trials)


def take_lines(path):
    """Return the lines of a file, which is removed; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    path.unlink()
    return lines


@pytest.fixture
def take_trials(tmp_path):
    """Return a function that takes the numbers of the trials that were run since the last time."""

    def take():
        return [int(line) for line in take_lines(tmp_path / "log")]

    return take


@pytest.fixture
def take_notes(tmp_path):
    """Return a function that takes the notes of these kinds since the last time."""

    def take(*kinds):
        notes = [json.loads(line) for line in take_lines(tmp_path / "notes")]
        return [note for note in notes if note["kind"] in kinds]

    return take


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """The frame where nothing is stored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BOOK_TRIALS", raising=False)
        patch.setenv("TRIAL_LOG", str(tmp_path_factory.mktemp("log") / "log"))
        return run()


class Cells:
    """A notebook without a kernel: a cell is executed in ``__main__``, with its source at hand."""

    def __init__(self):
        self.namespace = {"__name__": "__main__", "np": np}

    def __call__(self, source):
        name = f"<cell {id(self)} {len(linecache.cache)}>"
        # lib reads the source of a function of a cell through linecache, as IPython lets it
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), self.namespace)

    def __getitem__(self, name):
        return self.namespace[name]


@pytest.fixture
def cells():
    return Cells()
