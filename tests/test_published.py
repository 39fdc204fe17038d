"""The outputs that notebooks store are those of the code beside them."""

import warnings
from copy import deepcopy
from pathlib import Path

import pytest

from lib.book.publish import fold, summary_of
from lib.book.run.keys import code_digests
from lib.book.run.project import FINDING_CELL, Project, read_notebook

PROJECT = Project(Path(__file__).parents[1])


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_stored_outputs_are_of_the_code_beside_them(chapter):
    notebook = read_notebook(PROJECT.notebook(chapter))
    published = notebook.metadata.get("published", {})
    if not published and not any(cell.get("outputs") for cell in notebook.cells):
        pytest.skip(f"{chapter} is not published yet")  # as `book new` leaves it
    digests = code_digests(PROJECT, chapter)
    assert published.get("code") == digests["code"], f"run `book publish {chapter}`"
    if published["lib"] != digests["lib"]:
        warnings.warn(f"lib has changed since {chapter} was published", stacklevel=1)


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_a_chapter_opens_with_what_its_stored_summary_says(chapter):
    notebook = read_notebook(PROJECT.notebook(chapter))
    words = summary_of(notebook)
    openings = [cell.source for cell in notebook.cells if cell.id == FINDING_CELL]
    assert openings == ([f"<!-- published -->\n{words}\n<!-- end -->"] if words else [])


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_jupyterlab_folds_what_a_page_folds(chapter):
    notebook = read_notebook(PROJECT.notebook(chapter))
    folded = deepcopy(notebook)
    fold(folded)
    assert notebook == folded, f"run `book publish {chapter}`"
