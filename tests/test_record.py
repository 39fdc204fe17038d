"""Recorded rows: written, read again unless altered, put where data sets are absent, compared where they are not."""

import gzip

import pandas as pd
import pytest

from lib import trials
from lib.book.cli import REPOSITORY
from lib.book.project import PUBLISHED, Project, resolve_parameters
from lib.experiments import record as records
from lib.experiments.record import Record, read

PARAMETERS = {"learners": ["ofe", "elr"], "seed": 3, "rate": 0.25}
SETS = pd.DataFrame({"dataset": ["cleve", "iris"], "rows": [297, 150]})
ERRORS = pd.DataFrame(
    {
        "dataset": ["cleve", "cleve", "iris"],
        "learner": ["ofe", "elr", "ofe"],
        "rows": 9,
        "error": [1 / 3, 0.1 + 0.2, None],
    }
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The file of a chapter's record, made of two experiments."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    path = tmp_path / "elr" / "uci.csv.gz"
    path.parent.mkdir()
    with trials.use(record=(str(path), "1234abcdef", "a code")):
        record = Record("elr/uci", **PARAMETERS)
        for experiment, frame in (("sets", SETS), ("errors", ERRORS)):
            pd.testing.assert_frame_equal(
                record.complete(experiment, frame, []), frame.assign(recorded=False)
            )
    return path


@pytest.fixture
def told(monkeypatch):
    """What is told of an experiment."""
    told = []
    monkeypatch.setattr(
        records, "write_note", lambda kind, name, **details: told.append((kind, name, details))
    )
    return told


def without(frame, name):
    return frame[frame["dataset"] != name].reset_index(drop=True)


@pytest.mark.usefixtures("path")
def test_rows_of_what_is_absent_are_filled_in_where_they_stood(told):
    record = Record("elr/uci", **PARAMETERS)
    found = record.complete("errors", without(ERRORS, "cleve"), ["cleve", "never-recorded"])
    pd.testing.assert_frame_equal(found, ERRORS.assign(recorded=[True, True, False]))
    assert record.names == ["cleve"]
    assert list(record.mark(pd.Series(["cleve", "iris"]))) == ["CLEVE†", "IRIS"]
    assert "CLEVE are not shipped" in record.note
    assert "(commit 1234abcdef): the data of" in record.note
    assert told == [("absent", "elr/uci", {"sets": ["cleve"]})]


@pytest.mark.usefixtures("path")
def test_what_is_not_asked_for_is_not_filled_in():
    record = Record("elr/uci", **PARAMETERS)
    assert list(record.complete("errors", without(ERRORS, "cleve"), [])["dataset"]) == ["iris"]
    assert list(record.complete("sets", SETS, ["cleve"])["recorded"]) == [False, False]
    assert "No row of this page" in record.note


@pytest.mark.usefixtures("path")
def test_an_experiment_that_has_only_recorded_rows():
    found = Record("elr/uci", **PARAMETERS).complete(
        "sets", pd.DataFrame(columns=["dataset"]), ["iris"]
    )
    assert found.to_dict("records") == [{"dataset": "iris", "rows": 150, "recorded": True}]


@pytest.mark.usefixtures("path")
def test_computed_rows_are_compared(told):
    record = Record("elr/uci", **PARAMETERS)
    record.complete("errors", ERRORS, [])
    # which a strict build refuses
    with pytest.warns(UserWarning, match="sets: rows of iris are not those recorded"):
        record.complete("sets", SETS.assign(rows=[297, 149]), [])
    assert told == [("recorded", "elr/uci", {"experiment": "sets", "names": "iris"})]


@pytest.mark.usefixtures("path")
@pytest.mark.filterwarnings("ignore:sets")
def test_a_difference_is_told(caplog):
    Record("elr/uci", **PARAMETERS).complete("sets", SETS.assign(rows=1), [])
    assert caplog.messages == ["elr/uci: sets: rows of cleve, iris are not those recorded"]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("other", [{"seed": 4}, {"learners": ["ofe"]}, {"more": 1}])
def test_a_record_of_other_parameters_is_not_shown(other, told):
    record = Record("elr/uci", **PARAMETERS | other)
    assert list(record.complete("errors", ERRORS.iloc[2:], ["cleve"])["dataset"]) == ["iris"]
    assert told == record.names == []


def test_no_record():
    record = Record("no/chapter", seed=1)
    assert list(record.complete("errors", ERRORS, ["glass"])["recorded"]) == [False] * 3


@pytest.mark.parametrize(
    "alter",
    [
        lambda text: text.replace("297", "296"),
        lambda text: text.replace('"seed": 3', '"seed": 4'),
        lambda text: text.partition("\n")[2],
        lambda text: "",
    ],
)
def test_an_altered_record_is_refused(path, alter):
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(alter(text).encode()))
    with pytest.raises(
        ValueError, match=r"uci.csv.gz is not what `book record` wrote .* restore it with `git"
    ):
        Record("elr/uci", **PARAMETERS)


def test_a_file_that_is_cut_short_is_refused(path):
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="is not what `book record` wrote"):
        Record("elr/uci", **PARAMETERS)


def test_the_same_rows_give_the_same_bytes(path):
    before = path.read_bytes()
    with trials.use(record=(str(path), "1234abcdef", "a code")):
        record = Record("elr/uci", **PARAMETERS)
        for experiment, frame in (("sets", SETS), ("errors", ERRORS)):
            record.complete(experiment, frame, [])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "path", sorted(records.FOLDER.rglob("*.csv.gz")), ids=lambda path: path.name
)
def test_the_books_records_are_of_what_it_publishes(path):
    about, project = read(path)[0], Project(REPOSITORY)
    assert path == project.record(about["chapter"])
    _, values = resolve_parameters(
        project, about["chapter"], project.profile(PUBLISHED, about["chapter"])
    )
    assert about["parameters"] == {name: values[name] for name in about["parameters"]}
