"""The outputs that notebooks store are those of the code beside them."""

import warnings

import pytest
from conftest import ROOT

from lib.book.run.keys import code_digests
from lib.book.run.project import Project, read_notebook

PROJECT = Project(ROOT)


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_stored_outputs_are_of_the_code_beside_them(chapter):
    published = read_notebook(PROJECT.notebook(chapter)).metadata.get("published", {})
    digests = code_digests(PROJECT, chapter)
    assert published.get("code") == digests["code"], f"run `book publish {chapter}`"
    if published["lib"] != digests["lib"]:
        warnings.warn(f"lib has changed since {chapter} was published", stacklevel=1)
