"""The theme, of which the book's own templates and visitors differ: a new one is noticed here."""

import hashlib
import inspect
import re
from pathlib import Path

import myst_nb.sphinx_
import pydata_sphinx_theme
import pytest
import sphinx
import sphinx_book_theme
from docutils.writers import _html_base

from lib.book.pages import TEMPLATES

PYDATA = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
BOOK_THEME = Path(sphinx_book_theme.__file__).parent / "theme" / "sphinx_book_theme"
BASIC = Path(sphinx.__file__).parent / "themes" / "basic"

# If one fails: compare the theme's file with what lib/book/pages/templates says of it, adapt that,
# and write the new digest here.
ORIGINALS = {
    BASIC / "layout.html": "677b8a118e600c5d",
    PYDATA / "layout.html": "e48ac98a1905c306",
    PYDATA / "static" / "webpack-macros.html": "d725367e2d2ba646",
    PYDATA / "components" / "search-button-field.html": "518dda81dd8cd06a",
    BOOK_THEME / "layout.html": "2cd2fbbe2caedf3a",
}


@pytest.mark.parametrize("path", ORIGINALS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_template_is_the_one_that_ours_differs_from(path):
    # which scripts are current is another matter
    text = re.sub(r"\?digest=\w+", "", path.read_text(encoding="utf-8"))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == ORIGINALS[path]


def test_each_template_of_ours_says_how_it_differs():
    for path in TEMPLATES.glob("*.html"):
        assert "differ" in path.read_text(encoding="utf-8") or "{# Of " in path.read_text()


def test_visitors_change_what_the_packages_write():
    """Folds and entries of the bibliography: `lib.book.pages.markup` takes away one attribute."""
    fold = inspect.getsource(myst_nb.sphinx_.visit_HideCellInput)
    assert '<summary aria-label="Toggle hidden content">' in fold
    entry = inspect.getsource(_html_base.HTMLTranslator.visit_citation)
    assert 'role="doc-biblioentry"' in entry
