"""Sentences that README and the title page repeat, and sentences that rest on claims."""

import re

import nbformat
import pytest
from conftest import REPOSITORY, book_with
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book.pages.findings import FINDING
from lib.book.pages.scorecard import counts_sentence
from lib.book.run.project import BookError
from lib.book.verdicts.assertions import require_assertions
from lib.book.verdicts.register import Registration

PAGES = ["README.md", "chapters/intro.md"]


def findings(page):
    """What stands between the comments of a page, by chapter and name, links without targets."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    passages = {}
    for match in FINDING.finditer(text):
        words = match[0].removeprefix(match[1]).removesuffix(match[4])
        passages[match[2], match[3]] = re.sub(r"\]\([^)]*\)", "]", words).strip()
    return passages


def test_readme_and_title_page_repeat_the_same_sentences():
    """`book findings` writes both."""
    readme, intro = (findings(page) for page in PAGES)
    assert readme == intro
    assert len(readme) >= 7
    assert all(readme.values())


def test_the_sentence_of_counts(project):
    def claim(*verdicts):
        settings = [{"id": v, "verdict": v, "rerun_chance": 0.5} for v in verdicts]
        return {"id": "-".join(verdicts), "settings": settings}

    pages = book_with(project, [claim("holds", "fails"), claim("undecided", "negligible")])
    before = {"holds": "all", "fails": "rule", "undecided": "none", "of-no-chapter": "all"}
    pages.registrations = {id: Registration("2026-01-31", word) for id, word in before.items()}
    assert counts_sentence(pages) == (
        "The book tests 2 sentences of the four papers in 4 settings: the sentence holds in 1, its "
        "opposite in 1, the difference is negligible in 1, and 1 are not decided. If all were run "
        "again with other random numbers, about 2 verdicts would change. In 2 settings the rule was "
        "registered before any result was seen."
    )


@pytest.mark.parametrize("holds", [True, False])
def test_a_sentence_must_be_borne_out_by_its_claim(project, holds):
    support = {"claims": ["em-faster"], "holds": holds}
    report = {"kind": "text", "name": "", "asserts": support}
    output = new_output("display_data", {"text/markdown": "Yes."}, metadata={"report": report})
    cell = new_code_cell("report.text('Yes.')", outputs=[output], id="summary")
    for chapter in project.chapters:
        path = project.executed("paper", chapter)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[cell]), path)
    if holds:
        require_assertions(project, "paper")
    else:
        with pytest.raises(BookError, match="cia/curves, cell summary: em-faster"):
            require_assertions(project, "paper")
