"""`book new`: the chapter that it adds runs; a wrong name is refused before anything is written."""

import subprocess
import sys

import nbformat
import pytest
from conftest import REPOSITORY, book

from lib.book.new_chapter import make_notebook
from lib.book.publish import put_first_cell
from lib.book.run.execution import execute
from lib.book.run.project import read_notebook


def test_a_new_chapter_is_listed_and_runs(project, tmp_path):
    (project.root / "tests" / "quick.yml").write_text("cia/curves: {n_models: 5}\n")
    result = book(project, "new", "cia/tryout", "--title", "Does it run?")
    assert result.exit_code == 0, result.output
    project = type(project)(project.root)  # its list of chapters is read once
    assert project.chapters[-2:] == ["cia/curves", "cia/tryout"]
    assert project.heading("cia/tryout") == "Does it run?"
    assert project.profile("quick", "cia/tryout") == {"n_models": 5, "n_jobs": 1}
    output = tmp_path / "executed.ipynb"
    execute(project, "cia/tryout", {"n_models": 3}, output)
    reports = {}
    for cell in read_notebook(output).cells:
        for cell_output in cell.get("outputs", []):
            if report := cell_output.get("metadata", {}).get("report"):
                reports[report["kind"]] = cell_output
    assert set(reports) == {"figure", "caption", "text", "claims"}
    assert reports["text"].metadata["numbers"]["median"] > 0
    assert reports["figure"].metadata["report"]["name"] == "fig-tryout-errors"


@pytest.mark.parametrize("name", ["cia/a", f"ensembles/{'long_' * 12}name"])
def test_the_linter_accepts_what_is_written(tmp_path, name):
    path = tmp_path / "chapters" / "new.ipynb"
    path.parent.mkdir()
    notebook = make_notebook(name, "A title")
    put_first_cell(notebook, "https://example.org/owner/name")
    nbformat.write(notebook, path)
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", REPOSITORY / "pyproject.toml", "--no-cache", path]
    for command in (["check"], ["format", "--check"]):
        process = subprocess.run([*ruff, *command, *settings], capture_output=True, text=True)
        assert process.returncode == 0, process.stdout


def test_what_a_template_says_is_said_of_the_chapter():
    text = "\n".join(cell.source for cell in make_notebook("rl/games", "Games").cells)
    assert text.startswith("# Games\n")
    assert "book run rl/games" in text
    assert "TITLE" not in text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tryout", "must be called PART/NAME in small letters; got 'tryout'"),
        ("cia/../x", "must be called PART/NAME"),
        ("novel/tryout", "there is no part 'novel'; it must be one of cia"),
        ("cia/curves", "is there already"),
    ],
)
def test_a_wrong_name_writes_nothing(project, name, message):
    contents = (project.root / "_toc.yml").read_bytes()
    chapter = project.notebook("cia/curves").read_bytes()
    result = book(project, "new", name)
    assert result.exit_code == 1
    assert message in result.output
    assert (project.root / "_toc.yml").read_bytes() == contents
    assert project.notebook("cia/curves").read_bytes() == chapter
