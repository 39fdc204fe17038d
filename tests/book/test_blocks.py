"""Finished blocks of a chapter's trials: found by the next run, listed, cleared, verified."""

import json
import shutil

import pytest
from conftest import book, commit_all
from tqdm import tqdm

from lib import trials
from lib.book.run import execution, remote_data
from lib.book.run import keys as cache
from lib.experiments import cia_learning_curves
from lib.experiments.record import read_record
from lib.trials.store import SHA256, SUMMARY, _seal, decode, encode

EXPERIMENT = """
from lib.experiments import cia_learning_curves
for n in (4, 5):
    frame = cia_learning_curves(
        n, 2, 0.85, sizes=[10], n_models=n_models, learners=["cov"], n_jobs=1
    )
"""


RECORDING = """
import pandas as pd
from lib.experiments.record import Record
record = Record("cia/curves", n_models=n_models)
frame = record.complete("models", pd.DataFrame({"dataset": ["made"], "n": [n_models]}), [])
"""


@pytest.fixture(autouse=True)
def default_folder(monkeypatch):
    """Results go into the folder of the test's project."""
    monkeypatch.delenv("BOOK_RESULTS", raising=False)


@pytest.fixture
def blocks(project):
    """Files of two experiments' blocks, each stored beside one of calibrations."""
    with trials.use(results=str(project.results)):
        for n in (4, 5):
            cia_learning_curves(n, 2, 0.85, sizes=[10], n_models=3, learners=["cov"], n_jobs=1)
    return accuracy_blocks(project.results)


def block_frame(path):
    return decode(path.read_bytes()[SHA256:])


def accuracy_blocks(results):
    return [path for path in sorted(results.rglob("*.block")) if "accuracy" in block_frame(path)]


def forge(path):
    """Make a block wrong, with the right sha256."""
    frame = block_frame(path)
    contents = encode(frame.assign(accuracy=frame["accuracy"] + 1e-9))
    path.write_bytes(_seal(path, contents) + contents)


@pytest.mark.slow
def test_in_kernels(project, write_chapter):
    """A run finds the blocks of the last; a damaged one is run again, a wrong one fails its cell."""
    write_chapter(project, "cia/curves", EXPERIMENT)
    first = book(project, "run", "cia/curves", "--profile", "paper")
    assert first.exit_code == 0, first.output
    assert "found" not in first.output
    blocks = accuracy_blocks(project.results)
    assert len(blocks) == 2
    blocks[0].write_bytes(b"garbage")
    again = book(project, "run", "cia/curves", "--profile", "paper").output
    assert f"found 3 of 3 blocks of the experiments begun before, in {project.results}" in again
    assert f"{blocks[0]} is damaged, run again" in again
    equal = book(project, "verify", "--part", "1", "--seed", "7").output
    assert "cia/curves: 4 of 4 stored blocks run again, equal\nin all: 4 of 4 (--seed 7)" in equal
    for block in blocks:
        forge(block)
    failed = book(project, "verify", "--part", "1")
    assert failed.exit_code == 1
    assert "cia/curves: cell In [" in failed.output
    assert "is not what its trials give now" in failed.output


class TestCache:
    def copy_of_other_code(self, project, folder):
        """Copy a folder of blocks, as if other code had computed them."""
        copy = project.results / ("0" * 24)
        shutil.copytree(folder, copy)
        summary = json.loads((copy / SUMMARY).read_text())
        summary["environment"]["lib"] = "other"
        (copy / SUMMARY).write_text(json.dumps(summary))
        return copy

    def test_show(self, project, blocks):
        lines = book(project, "cache").output.splitlines()
        assert lines[1].split()[0] == "2"
        assert "current" in lines[1]
        size = sum(path.stat().st_size for path in project.results.rglob("*") if path.is_file())
        assert lines[-1] == f"{project.results}: 4 blocks, {tqdm.format_sizeof(size, 'B')}"

    def test_clear(self, project, blocks):
        """What is of other code, and what says nothing of itself; then all."""
        copy = self.copy_of_other_code(project, blocks[0].parent)
        unknown = project.results / ("1" * 24)
        unknown.mkdir()
        (unknown / SUMMARY).write_text("[")
        assert "old" in book(project, "cache").output
        assert book(project, "cache", "--clear", "old").output.startswith("removed: 2 blocks, ")
        assert not copy.exists()
        assert not unknown.exists()
        assert all(block.exists() for block in blocks)
        assert "nothing is stored" in book(project, "cache", "--clear", "all").output
        assert list(project.results.iterdir()) == []

    def test_nothing_else_is_removed(self, project, blocks, tmp_path):
        """Whatever folder BOOK_RESULTS names."""
        (project.results / "letters").mkdir()
        (project.results / "letters" / "draft").touch()
        (project.results / "notes.txt").touch()
        (tmp_path / "elsewhere").mkdir()
        (project.results / ("2" * 24)).symlink_to(tmp_path / "elsewhere")
        book(project, "cache", "--clear", "all")
        names = {path.name for path in project.results.iterdir()}
        assert names == {"letters", "notes.txt", "2" * 24}
        assert (project.results / "letters" / "draft").exists()


def test_a_part_that_is_no_number_is_refused(project):
    assert "--part nan is no number" in book(project, "verify", "--part", "nan").output
    assert not project.results.exists()


def test_record(project, write_chapter):
    """The rows are those of the defaults, as published."""
    write_chapter(project, "cia/curves", RECORDING)
    commit = commit_all(project)
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 0, result.output
    header, rows = read_record(project.record("cia/curves"))
    assert header["chapter"] == "cia/curves"
    assert header["parameters"] == {"n_models": 3}
    assert header["commit"] == commit
    assert header["code"] == cache.chapter_code_digest(project, "cia/curves")
    assert set(header) == {"chapter", "parameters", "commit", "code", "date", "lock"}
    assert rows.splitlines() == ["dataset,n,experiment", "made,3,models"]


def test_a_chapter_that_records_nothing(project, monkeypatch):
    commit_all(project)
    monkeypatch.setattr(execution, "execute", lambda *_, **__: None)
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 1
    assert "cia/curves has no rows to record" in result.output
    assert not project.record("cia/curves").exists()


def test_nothing_is_recorded_where_data_are_missing(project, monkeypatch):
    monkeypatch.setattr(
        remote_data,
        "remote_data_status",
        lambda *_: {"cleve": ("not available", ""), "crx": ("cached", "")},
    )
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 1
    assert "cia/curves cannot be recorded without cleve: set UCI_MIRROR" in result.output
    assert not (project.root / "_build" / "record").exists()
