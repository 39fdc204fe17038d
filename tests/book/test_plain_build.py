"""Pages that jupyter-book makes by itself show the published runs that notebooks store."""

import pytest
from conftest import REPOSITORY

from lib.book.pages import runs
from lib.book.pages.book import Book


def test_a_chapter_that_was_not_executed_here_shows_its_stored_run(project):
    book = Book(project, "paper")
    (run,) = book.runs.values()
    assert run.is_stored
    assert run.path == project.notebook("cia/curves")
    text = book.texts["chapters/cia/curves"]
    assert "as published, stored in the notebook" in " ".join(text.split())
    assert "| `n_models` | `3` |" in text


def test_an_executed_chapter_shows_what_was_executed_if_it_is_fresh(project, monkeypatch):
    executed = project.executed("paper", "cia/curves")
    executed.parent.mkdir(parents=True)
    executed.write_bytes(project.notebook("cia/curves").read_bytes())
    assert runs.runs_of(project, "paper", "")["cia/curves"].is_stored  # it has no key
    monkeypatch.setenv(runs.SHOWN, "executed")  # as `book build` has found
    run = runs.runs_of(project, "paper", "")["cia/curves"]
    assert (run.path, run.scale) == (executed, "as published")
    assert "data: 1 files" in Book(project, "paper").texts["chapters/cia/curves"]
    monkeypatch.setenv(runs.SHOWN, "stored")  # before chapters are executed
    assert runs.runs_of(project, "paper", "")["cia/curves"].is_stored


def test_a_page_is_made_again_when_what_it_shows_has_changed(project):
    before = Book(project, "paper").digests
    assert Book(project, "paper").digests == before
    path = project.notebook("cia/curves")
    path.write_text(path.read_text().replace("## Result", "## Another result"))
    after = Book(project, "paper").digests
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"chapters/cia/curves"}


def test_readme_names_the_command():
    assert "`.venv/bin/jupyter-book build .`" in (REPOSITORY / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", ["scorecard", "reference/data_sets"])
def test_a_page_names_what_is_generated_for_it(name):
    text = (REPOSITORY / "chapters" / f"{name}.md").read_text(encoding="utf-8")
    assert any(f"```{{{directive}}}\n```" in text for directive in Book.generators)
