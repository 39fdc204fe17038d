"""Finished blocks of trials of a chapter: found by the next run, shown, cleared, and run again to compare."""

import json
import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

from lib.book import execution, stored
from lib.book.cli import cli
from lib.book.project import BookError
from lib.experiments import cia_learning_curves
from lib.trials.store import ABOUT, SHA256, _sealed, decode, encode

SETTINGS = "[4, 5], 2, 0.85, sizes=[10], learners=['cov'], n_jobs=1"
EXPERIMENT = f"""
from lib.experiments import cia_learning_curves
frame = cia_learning_curves({SETTINGS}, n_models=n_models)
print(frame["accuracy"].sum())
"""


def book(project, *arguments):
    return CliRunner().invoke(cli, ["--root", str(project.root), *arguments])


@pytest.fixture(autouse=True)
def own_folder(monkeypatch):
    monkeypatch.delenv("BOOK_RESULTS", raising=False)


@pytest.fixture
def frames(monkeypatch):
    """Run the experiment here instead of in a kernel, in the surroundings of one; return what it gave."""
    found = []

    def execute(project, chapter, parameters, output, told, **variables):
        with execution._kernel_environment(**variables):
            try:
                found.append(
                    cia_learning_curves([4, 5], 2, 0.85, [10], parameters.get("n_models", 3), ["cov"], n_jobs=1)
                )
            except RuntimeError as error:
                raise BookError(f"{chapter}: {error}") from error
            finally:
                told(execution._notes())

    monkeypatch.setattr(stored.execution, "execute", execute)
    return found


@pytest.fixture
def blocks(project, frames):
    """Files of the two blocks of the published profile, which are stored."""
    result = book(project, "run", "cia/curves", "--profile", "paper")
    assert result.exit_code == 0, result.output
    assert "found" not in result.output
    return sorted(project.results.rglob("*.block"))


def forge(path):
    """Make a block wrong, with the right sha256."""
    frame = decode(path.read_bytes()[SHA256:])
    contents = encode(frame.assign(accuracy=frame["accuracy"] + 1e-9))
    path.write_bytes(_sealed(path, contents) + contents)


def verify(project, *arguments):
    return book(project, "verify", *arguments)


def test_in_kernels(project, write_chapter):
    """A run stores what the next finds; one that is wrong fails the cell of the experiment."""
    write_chapter(project, "cia/curves", EXPERIMENT)
    first = book(project, "run", "cia/curves", "--profile", "paper")
    assert first.exit_code == 0, first.output
    assert project.results == project.root / "_build" / "results"
    blocks = sorted(project.results.rglob("*.block"))
    assert len(blocks) == 2
    for block in blocks:
        forge(block)
    failed = verify(project, "--part", "1", "--seed", "7")
    assert failed.exit_code == 1
    assert "cia/curves: cell In [" in failed.output
    assert "is not what its trials give now" in failed.output


def test_the_next_run_finds_blocks(project, blocks, frames):
    again = book(project, "run", "cia/curves", "--profile", "paper")
    assert "2 of 2" in again.output
    assert str(project.results) in again.output
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    other = book(project, "run", "cia/curves", "-p", "n_models", "4")
    assert "found" not in other.output


def test_damage_is_a_warning(project, blocks):
    blocks[0].write_bytes(b"garbage")
    result = book(project, "run", "cia/curves", "--profile", "paper")
    assert result.exit_code == 0
    assert f"Warning: learning curves of CIA models: {blocks[0]} is damaged, run again" in result.output
    assert "1 of 2" in result.output


class TestCache:
    def test_nothing(self, project):
        assert f"nothing is stored in {project.results}" in book(project, "cache").output

    def test_show(self, project, blocks):
        lines = book(project, "cache").output.splitlines()
        assert lines[1].split()[0] == "2"
        assert "current" in lines[1]
        assert lines[1].endswith("learning curves of CIA models")
        size = sum(path.stat().st_size for path in blocks[0].parent.iterdir())
        assert lines[-1] == f"{project.results}: 2 blocks, {size / 1024:.1f} kB"

    def old(self, project, folder):
        """Make a copy that is of other code."""
        copy = project.results / ("0" * 24)
        shutil.copytree(folder, copy)
        about = json.loads((copy / ABOUT).read_text())
        (copy / ABOUT).write_text(json.dumps(about | {"environment": about["environment"] | {"lib": "other"}}))
        return copy

    def test_clear_old(self, project, blocks):
        """What is of other code, and what says nothing of itself."""
        copy, unknown = self.old(project, blocks[0].parent), project.results / ("1" * 24)
        unknown.mkdir()
        (unknown / ABOUT).write_text("[")
        assert "old" in book(project, "cache").output
        result = book(project, "cache", "--clear", "old")
        assert result.output.startswith("removed: 2 blocks, ")
        assert not copy.exists()
        assert not unknown.exists()
        assert all(block.exists() for block in blocks)

    def test_clear_all(self, project, blocks):
        self.old(project, blocks[0].parent)
        result = book(project, "cache", "--clear", "all")
        assert result.output.startswith("removed: 4 blocks, ")
        assert "nothing is stored" in result.output
        assert list(project.results.iterdir()) == []

    def test_nothing_else_is_removed(self, project, blocks, tmp_path):
        """Whatever folder BOOK_RESULTS names."""
        (project.results / "letters").mkdir()
        (project.results / "letters" / "draft").touch()
        (project.results / "notes.txt").touch()
        (tmp_path / "elsewhere").mkdir()
        (project.results / ("2" * 24)).symlink_to(tmp_path / "elsewhere")
        book(project, "cache", "--clear", "all")
        left = {path.name for path in project.results.iterdir()}
        assert left == {"letters", "notes.txt", "2" * 24}
        assert (project.results / "letters" / "draft").exists()


class TestVerify:
    def test_equal(self, project, blocks):
        before = {path: path.read_bytes() for path in blocks}
        result = verify(project, "--part", "1", "--seed", "7")
        assert result.exit_code == 0
        assert "cia/curves: 2 of 2 stored blocks run again, equal\nin all: 2 of 2 (--seed 7)" in result.output
        assert "in all: 0 of 2 (--seed " in verify(project, "cia/curves", "--part", "0").output
        assert {path: path.read_bytes() for path in blocks} == before

    def test_a_block_that_was_made_wrong(self, project, blocks):
        forge(blocks[1])
        result = verify(project, "--part", "1")
        assert result.exit_code == 1
        assert f"{blocks[1]} is not what its trials give now" in result.output

    def test_not_all_are_stored(self, project, blocks):
        blocks[0].unlink()
        result = verify(project, "--part", "1")
        assert result.exit_code == 1
        assert (
            "1 of 2 blocks are not stored, or damaged; `book run` with the same values computes them" in result.output
        )
        assert verify(project, "--profile", "quick").exit_code == 1

    def test_damage_is_told(self, project, blocks):
        blocks[0].write_bytes(b"garbage")
        result = verify(project)
        assert result.exit_code == 1
        assert f"{blocks[0]} is damaged" in result.output

    def test_with_the_parameters_of_the_run(self, project, blocks):
        assert verify(project, "-p", "n_models", "7").exit_code == 1
        book(project, "run", "cia/curves", "-p", "n_models", "7")
        result = verify(project, "cia/curves", "-p", "n_models", "7")
        assert "1 of 2 stored blocks run again, equal" in result.output

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [(["cia/curve"], "did you mean 'cia/curves'"), (["--part", "2"], "0<=x<=1"), (["--seed", "-1"], "x>=0")],
    )
    def test_wrong_arguments(self, arguments, words, project):
        result = verify(project, *arguments)
        assert result.exit_code != 0
        assert words in result.output
        assert not project.results.exists()
