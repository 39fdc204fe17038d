"""`book new`: what it writes and where; `test_writing.py` runs what it writes."""

import re
import subprocess
import sys

import nbformat
import pytest
import yaml
from conftest import REPOSITORY, book

from lib.book.new_chapter import claim_id, list_chapter, list_claim, make_notebook
from lib.book.publish import put_first_cell
from lib.book.run.project import Project
from lib.claims import read_register

PAPER = "groveroth1997"


def parts_with(project: Project, name: str) -> dict[str, list[str]]:
    """The chapters of each part after a new one is listed, by caption."""
    parts = yaml.safe_load(list_chapter(project, name))["parts"]
    return {
        part["caption"]: [page["file"].removeprefix("chapters/") for page in part["chapters"]]
        for part in parts
    }


def test_a_chapter_is_the_last_of_its_part():
    parts = parts_with(Project(REPOSITORY), "rl/tryout")
    assert parts["Atlas: learning to act (Dietterich)"][-2:] == ["rl/backgammon", "rl/tryout"]


def test_a_new_part_comes_before_the_pages_of_the_book():
    parts = parts_with(Project(REPOSITORY), "my_paper/tryout")
    assert parts["My paper"] == ["my_paper/tryout"]
    captions = list(parts)
    assert captions.index("My paper") == captions.index("The book") - 1


def test_a_new_part_of_a_small_book_is_its_first(project):
    assert list(parts_with(project, "my_paper/tryout")) == ["My paper", "A part"]


def test_the_claim_is_listed_in_its_place():
    text = list_claim(Project(REPOSITORY), claim_id("my_paper/tryout"))
    entries = read_register(text)
    assert list(entries) == sorted(entries)
    assert entries["my-paper-tryout"]["primary"] in entries["my-paper-tryout"]["settings"]
    lines = (REPOSITORY / "chapters" / "registered.yml").read_text(encoding="utf-8").splitlines()
    assert [line for line in text.splitlines() if line not in lines] == [
        line for line in text.splitlines() if line.startswith("my-paper-tryout: ")
    ]


@pytest.mark.parametrize("name", ["cia/a", f"ensembles/{'long_' * 12}name"])
def test_the_linter_accepts_what_is_written(tmp_path, name):
    path = tmp_path / "chapters" / "new.ipynb"
    path.parent.mkdir()
    notebook = make_notebook(name, "A title", PAPER)
    put_first_cell(notebook, "https://example.org/owner/name")
    nbformat.write(notebook, path)
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", REPOSITORY / "pyproject.toml", "--no-cache", path]
    for command in (["check"], ["format", "--check"]):
        process = subprocess.run([*ruff, *command, *settings], capture_output=True, text=True)
        assert process.returncode == 0, process.stdout


def test_what_a_template_says_is_said_of_the_chapter():
    text = "\n".join(cell.source for cell in make_notebook("rl/games", "Games", PAPER).cells)
    assert text.startswith("# Games\n")
    assert "book run rl/games" in text
    assert 'Claims("groveroth1997")' in text
    assert not {"TITLE", "PAPER", "CLAIM", "NAME"} & set(re.findall("[A-Z]+", text))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tryout", "must be called PART/NAME in small letters; got 'tryout'"),
        ("cia/../x", "must be called PART/NAME"),
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


def test_a_paper_must_be_in_the_bibliography(project):
    result = book(project, "new", "cia/tryout", "--paper", "groveroth1998")
    assert result.exit_code == 1
    assert "add 'groveroth1998' to references.bib first; did you mean" in result.output
    assert not project.notebook("cia/tryout").exists()
