"""Finished blocks of trials of a chapter: found by the next run, shown, cleared, and run again to compare."""

import json
import shutil

import pandas as pd
import pytest
from conftest import book
from tqdm import tqdm

from lib.book import cache, execution
from lib.book.project import BookError
from lib.experiments import cia_learning_curves
from lib.experiments.recorded import read
from lib.trials.context import VARIABLE
from lib.trials.store import ABOUT, SHA256, _sealed, decode, encode

EXPERIMENT = """
from lib.experiments import cia_learning_curves
for n in (4, 5):
    frame = cia_learning_curves(n, 2, 0.85, sizes=[10], n_models=n_models, learners=["cov"], n_jobs=1)
"""


RECORDING = """
import pandas as pd
from lib.experiments.recorded import Record
record = Record("cia/curves", n_models=n_models)
frame = record.complete("models", pd.DataFrame({"dataset": ["made"], "n": [n_models]}), [])
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch):
    monkeypatch.delenv("BOOK_RESULTS", raising=False)


@pytest.fixture
def frames(monkeypatch):
    """Run the two experiments here instead of in a kernel, in the surroundings of one; return what they gave."""
    frames = []

    def execute(project, chapter, parameters, output, told, **context):
        options = {"sizes": [10], "n_models": parameters.get("n_models", 3), "learners": ["cov"], "n_jobs": 1}
        with execution._kernel_settings(context) as (settings, files):
            monkeypatch.setenv(VARIABLE, settings.Provisioner.environment[VARIABLE])
            try:
                frames.append(pd.concat(cia_learning_curves(n, 2, 0.85, **options) for n in (4, 5)))
            except RuntimeError as error:
                raise BookError(f"{chapter}: {error}") from error
            finally:
                told(execution._notes(files / "notes"))
                monkeypatch.delenv(VARIABLE)

    monkeypatch.setattr(execution, "execute", execute)
    return frames


@pytest.fixture
def blocks(project, frames):
    """Files of the two blocks of the published profile, which are stored beside one of calibrations each."""
    result = book(project, "run", "cia/curves", "--profile", "paper")
    assert result.exit_code == 0, result.output
    assert "found" not in result.output
    return of_models(project.results)


def of_models(results):
    return [path for path in sorted(results.rglob("*.block")) if "accuracy" in decode(path.read_bytes()[SHA256:])]


def forge(path):
    """Make a block wrong, with the right sha256."""
    frame = decode(path.read_bytes()[SHA256:])
    contents = encode(frame.assign(accuracy=frame["accuracy"] + 1e-9))
    path.write_bytes(_sealed(path, contents) + contents)


def test_in_kernels(project, write_chapter):
    """A run stores what the next finds; one that is wrong fails the cell of the experiment."""
    write_chapter(project, "cia/curves", EXPERIMENT)
    first = book(project, "run", "cia/curves", "--profile", "paper")
    assert first.exit_code == 0, first.output
    blocks = of_models(project.root / "_build" / "results")
    assert len(blocks) == 2
    for block in blocks:
        forge(block)
    failed = book(project, "verify", "--part", "1", "--seed", "7")
    assert failed.exit_code == 1
    assert "cia/curves: cell In [" in failed.output
    assert "is not what its trials give now" in failed.output


def test_the_next_run_finds_blocks_and_runs_what_is_damaged_again(project, blocks, frames):
    again = book(project, "run", "cia/curves", "--profile", "paper")
    assert f"found 4 of 4 blocks of the experiments begun before, in {project.results}" in again.output
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    others = book(project, "run", "cia/curves", "-p", "n_models", "4").output
    assert "found 2 of 2 blocks" in others  # the calibrations
    blocks[0].write_bytes(b"garbage")
    result = book(project, "run", "cia/curves", "--profile", "paper")
    assert result.exit_code == 0
    assert f"{blocks[0]} is damaged, run again" in result.output
    assert "found 3 of 3 " in result.output


class TestCache:
    def old(self, project, folder):
        """Make a copy that is of other code."""
        copy = project.results / ("0" * 24)
        shutil.copytree(folder, copy)
        about = json.loads((copy / ABOUT).read_text())
        (copy / ABOUT).write_text(json.dumps(about | {"environment": about["environment"] | {"lib": "other"}}))
        return copy

    def test_show(self, project, frames):
        assert f"nothing is stored in {project.results}" in book(project, "cache").output
        book(project, "run", "cia/curves")
        lines = book(project, "cache").output.splitlines()
        assert lines[1].split()[0] == "2"
        assert "current" in lines[1]
        size = sum(path.stat().st_size for path in project.results.rglob("*") if path.is_file())
        assert lines[-1] == f"{project.results}: 4 blocks, {tqdm.format_sizeof(size, 'B')}"

    def test_clear(self, project, blocks):
        """What is of other code, and what says nothing of itself; then all."""
        copy, unknown = self.old(project, blocks[0].parent), project.results / ("1" * 24)
        unknown.mkdir()
        (unknown / ABOUT).write_text("[")
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
        assert {path.name for path in project.results.iterdir()} == {"letters", "notes.txt", "2" * 24}
        assert (project.results / "letters" / "draft").exists()


class TestVerify:
    def test_equal_until_one_is_made_wrong(self, project, blocks):
        before = {path: path.read_bytes() for path in blocks}
        result = book(project, "verify", "--part", "1", "--seed", "7")
        assert "cia/curves: 4 of 4 stored blocks run again, equal\nin all: 4 of 4 (--seed 7)" in result.output
        assert "in all: 0 of 4 (--seed " in book(project, "verify", "cia/curves", "--part", "0").output
        assert {path: path.read_bytes() for path in blocks} == before
        forge(blocks[1])
        result = book(project, "verify", "--part", "1")
        assert result.exit_code == 1
        assert f"{blocks[1]} is not what its trials give now" in result.output

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            (lambda path: path.unlink(), "blocks are not stored, or damaged; `book run` with the same values computes"),
            (lambda path: path.write_bytes(b"garbage"), " is damaged"),
        ],
    )
    def test_all_must_be_stored_and_whole(self, project, blocks, damage, words):
        damage(blocks[0])
        result = book(project, "verify", "--part", "1")
        assert result.exit_code == 1
        assert words in result.output

    def test_with_the_parameters_of_the_run(self, project, blocks):
        assert book(project, "verify", "-p", "n_models", "7").exit_code == 1
        book(project, "run", "cia/curves", "-p", "n_models", "7")
        result = book(project, "verify", "cia/curves", "-p", "n_models", "7", "--part", "1")
        assert "4 of 4 stored blocks run again, equal" in result.output

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["cia/curve"], "did you mean 'cia/curves'"),
            (["--part", "2"], "0<=x<=1"),
            (["--part", "nan"], "is no number"),
            (["--seed", "-1"], "x>=0"),
        ],
    )
    def test_wrong_arguments(self, arguments, words, project):
        result = book(project, "verify", *arguments)
        assert result.exit_code != 0
        assert words in result.output
        assert not project.results.exists()


def test_record(project, write_chapter):
    """The rows are those of the published profile."""
    write_chapter(project, "cia/curves", RECORDING)
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 0, result.output
    about, rows = read(project.record("cia/curves"))
    assert (about["chapter"], about["parameters"]) == ("cia/curves", {"n_models": 5})
    assert about["commit"] == "no commit"
    assert set(about) == {"chapter", "parameters", "commit", "date", "lock"}
    assert rows.splitlines() == ["dataset,n,experiment", "made,5,models"]


def test_a_chapter_that_records_nothing(project, frames):
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 1
    assert "cia/curves has no rows to record" in result.output
    assert not project.record("cia/curves").exists()


def test_nothing_is_recorded_where_data_are_missing(project, frames, monkeypatch):
    monkeypatch.setattr(cache, "data_elsewhere", lambda *_: {"cleve": ("not available", ""), "crx": ("cached", "")})
    result = book(project, "record", "cia/curves")
    assert result.exit_code == 1
    assert "cia/curves cannot be recorded without cleve: set UCI_MIRROR" in result.output
    assert frames == []
