"""Recorded rows: read unless altered, filled in for absent data sets, compared for present ones."""

import gzip

import pandas as pd
import pytest

from lib import trials
from lib.book.cli import REPOSITORY
from lib.book.run.project import Project, resolve_parameters
from lib.experiments import record as records
from lib.experiments.record import Record, read_record

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
        record = new_record()
        for experiment, frame in (("sets", SETS), ("errors", ERRORS)):
            rows = record.complete(experiment, frame, [])
            pd.testing.assert_frame_equal(rows, frame.assign(recorded=False))
    return path


@pytest.fixture
def notes(monkeypatch):
    """The notes on an experiment, which are written for whoever builds the book."""
    notes = []

    def write_note(kind, name, **details):
        notes.append((kind, name, details))

    monkeypatch.setattr(records, "write_note", write_note)
    return notes


def new_record():
    return Record("elr/uci", **PARAMETERS)


def without(frame, name):
    return frame[frame["dataset"] != name].reset_index(drop=True)


@pytest.mark.usefixtures("path")
def test_rows_of_what_is_absent_are_filled_in_where_they_stood(notes):
    record = new_record()
    rows = record.complete("errors", without(ERRORS, "cleve"), ["cleve", "never-recorded"])
    pd.testing.assert_frame_equal(rows, ERRORS.assign(recorded=[True, True, False]))
    assert record.names == ["cleve"]
    assert list(record.mark(pd.Series(["cleve", "iris"]))) == ["CLEVE†", "IRIS"]
    assert "CLEVE are not shipped" in record.note
    assert "(commit 1234abcdef): the data of" in record.note
    assert notes == [("absent", "elr/uci", {"sets": ["cleve"]})]


@pytest.mark.usefixtures("path")
def test_what_is_not_asked_for_is_not_filled_in():
    record = new_record()
    errors = record.complete("errors", without(ERRORS, "cleve"), [])
    assert list(errors["dataset"]) == ["iris"]
    sets = record.complete("sets", SETS, ["cleve"])
    assert list(sets["recorded"]) == [False, False]
    assert "No row of this page" in record.note


@pytest.mark.usefixtures("path")
def test_an_experiment_that_has_only_recorded_rows():
    computed_rows = pd.DataFrame(columns=["dataset"])
    rows = new_record().complete("sets", computed_rows, ["iris"])
    assert rows.to_dict("records") == [{"dataset": "iris", "rows": 150, "recorded": True}]


@pytest.mark.usefixtures("path")
def test_computed_rows_are_compared(notes):
    record = new_record()
    record.complete("errors", ERRORS, [])
    assert notes == []
    # which a strict build refuses
    with pytest.warns(UserWarning, match="sets: rows of iris are not those recorded"):
        record.complete("sets", SETS.assign(rows=[297, 149]), [])
    assert notes == [("recorded", "elr/uci", {"experiment": "sets", "names": "iris"})]


@pytest.mark.usefixtures("path")
@pytest.mark.filterwarnings("ignore:sets")
def test_a_difference_is_told(caplog):
    new_record().complete("sets", SETS.assign(rows=1), [])
    assert caplog.messages == ["elr/uci: sets: rows of cleve, iris are not those recorded"]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("changes", [{"seed": 4}, {"learners": ["ofe"]}, {"more": 1}])
def test_a_record_of_other_parameters_is_not_shown(changes, notes):
    record = Record("elr/uci", **PARAMETERS | changes)
    rows = record.complete("errors", ERRORS.iloc[2:], ["cleve"])
    assert list(rows["dataset"]) == ["iris"]
    assert notes == []
    assert record.names == []


def test_no_record():
    rows = Record("no/chapter", seed=1).complete("errors", ERRORS, ["glass"])
    assert list(rows["recorded"]) == [False, False, False]


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
    message = r"uci.csv.gz is not what `book record` wrote .* restore it with `git"
    with pytest.raises(ValueError, match=message):
        new_record()


def test_a_file_that_is_cut_short_is_refused(path):
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="is not what `book record` wrote"):
        new_record()


def test_the_same_rows_give_the_same_bytes(path):
    """So git shows a change only where there is one."""
    contents = path.read_bytes()
    with trials.use(record=(str(path), "1234abcdef", "a code")):
        record = new_record()
        record.complete("sets", SETS, [])
        record.complete("errors", ERRORS, [])
    assert path.read_bytes() == contents


@pytest.mark.parametrize(
    "path", sorted(records.FOLDER.rglob("*.csv.gz")), ids=lambda path: path.name
)
def test_the_books_records_are_of_what_it_publishes(path):
    header, _ = read_record(path)
    chapter = header["chapter"]
    project = Project(REPOSITORY)
    assert path == project.record(chapter)
    _, values = resolve_parameters(project, chapter)
    parameters = header["parameters"]
    assert parameters == {name: values[name] for name in parameters}
