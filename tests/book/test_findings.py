"""Sentences that README and the title page repeat, and sentences that rest on claims."""

import nbformat
import pytest
from conftest import REPOSITORY, book_with
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book.pages.book import Book
from lib.book.pages.findings import FINDING
from lib.book.pages.runs import SHOWN
from lib.book.pages.scorecard import OWN, counts_sentence
from lib.book.run.project import BookError, Project
from lib.book.verdicts.assertions import require_assertions


def test_repeated_sentences_are_those_that_the_notebooks_store(monkeypatch):
    """`book findings` writes them."""
    monkeypatch.setenv(SHOWN, "stored")
    project = Project(REPOSITORY)
    pages = Book(project, "paper")
    repeating = []
    for path in (REPOSITORY / "README.md", *project.pages):
        text = path.read_text(encoding="utf-8")
        if FINDING.search(text):
            repeating.append(path.name)
            assert pages.filled(path) == text, path
    assert repeating == ["README.md", "intro.md", "choosing.ipynb"]


def test_the_sentence_of_counts(project):
    def claim(*verdicts, kind=""):
        settings = []
        for verdict in verdicts:
            setting = {"id": verdict, "verdict": verdict, "rerun_chance": 0.5}
            settings.append(setting | {"is_drawn": verdict != "undecided", "is_over_sets": False})
        primary = verdicts[-1]
        paper = OWN if "too little data" in verdicts else "a paper"
        return {
            "id": primary,
            "paper": paper,
            "kind": kind,
            "primary": primary,
            "settings": settings,
        }

    claims = [
        claim("negligible", "fails"),
        claim("holds"),
        claim("undecided"),
        claim("a", kind="table"),
        claim("too little data"),  # our own, which is in no count
    ]
    pages = book_with(project, claims)
    assert counts_sentence(pages) == (
        "Of 4 sentences of the four papers 1 hold, for 1 the opposite holds, 0 are about a "
        "difference too small to matter, and 1 are not decided; 0 are exact, of which 0 hold, and 1 "
        "about a single file or list are shown without a verdict. With other random numbers about 1 "
        "verdicts would change, with other data sets of the same kind about 0."
    )


@pytest.mark.parametrize(
    ("holds", "chance", "words"),
    [
        (True, 0.9, ""),
        (True, 0.7, "holds; the same in a re-run: 70%"),
        (False, 0.9, "does not hold"),
    ],
)
def test_a_sentence_must_be_borne_out_by_its_claim(project, holds, chance, words):
    support = {"claims": ["em-faster"], "holds": holds, "chance": chance}
    report = {"kind": "text", "name": "", "asserts": support}
    output = new_output("display_data", {"text/markdown": "Yes."}, metadata={"report": report})
    cell = new_code_cell("report.text('Yes.')", outputs=[output], id="summary")
    for chapter in project.chapters:
        path = project.executed("paper", chapter)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[cell]), path)
    if not words:
        require_assertions(project, "paper")
    else:
        message = f"cia/curves, cell summary: em-faster \\({words}\\)"
        with pytest.raises(BookError, match=message):
            require_assertions(project, "paper")
