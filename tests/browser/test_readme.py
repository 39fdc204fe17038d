"""README repeats what the first page shows at the papers' scale."""

import re

import pytest
from built_site import ROOT

NUMBER = re.compile(r"\d+\.\d+")


def numbers(text):
    """Return the decimal numbers of a text without signs: README names the winner, who turns them."""
    return set(NUMBER.findall(text))


@pytest.fixture
def paper_site(site):
    if "profile paper" not in (site / "chapters/explorer.html").read_text(encoding="utf-8"):
        pytest.skip("these pages are not at the papers' scale")
    return site


def test_its_numbers_are_those_of_the_title_page(paper_site, markups):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    findings = readme.partition("## What came out")[2].partition("\n## ")[0]
    numbers_of_readme = numbers(findings)
    assert len(numbers_of_readme) > 15
    assert numbers_of_readme - numbers(markups["chapters/intro.html"].text) == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_picture_is_that_of_the_title_page(paper_site, theme):
    """`make picture` copies it."""
    picture = (paper_site / "_images" / f"title_picture-{theme}.svg").read_bytes()
    assert (ROOT / "assets" / f"title-{theme}.svg").read_bytes() == picture
