"""README repeats what the first page shows at the papers' scale."""

import re

import pytest
from built_site import ROOT

NUMBER = re.compile(r"[+-]?\d+\.\d+")


@pytest.fixture
def published(site):
    if "profile paper" not in (site / "chapters/explorer.html").read_text(encoding="utf-8"):
        pytest.skip("these pages are not at the papers' scale")
    return site


def test_its_numbers_are_those_of_the_title_page(published, markups):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    findings = readme.partition("## What came out")[2].partition("\n## ")[0]
    told = set(NUMBER.findall(findings.replace("\N{MINUS SIGN}", "-")))
    shown = set(NUMBER.findall(markups["chapters/intro.html"].text.replace("\N{MINUS SIGN}", "-")))
    assert len(told) > 20
    assert told - shown == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_picture_is_that_of_the_title_page(published, theme):
    """`make picture` copies it."""
    shown = (published / "_images" / f"title_picture-{theme}.svg").read_bytes()
    assert (ROOT / "assets" / f"title-{theme}.svg").read_bytes() == shown
