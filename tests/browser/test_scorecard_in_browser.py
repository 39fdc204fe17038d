"""The scorecard's search and filters."""

import re
from collections import Counter

import pytest
from visit import opened

NAME = "chapters/scorecard.html"
CLAIMS = """[...document.querySelectorAll(".claim[data-verdict][data-paper]")].map((claim) => ({
  verdict: claim.dataset.verdict, paper: claim.dataset.paper, text: claim.textContent.toLowerCase(),
  shown: claim.checkVisibility(),
}))"""


@pytest.fixture
def page(browser, site, address):
    if not (site / NAME).exists():
        pytest.skip(f"this site has no {NAME}")
    with opened(browser, site, address, NAME) as (page, watch):
        yield page
    assert watch.messages == []


def claims(page):
    page.wait_for_timeout(250)  # a search may wait until the typing has ended
    return page.evaluate(CLAIMS)


def shown(page):
    """The claims that are shown, of which the page must give the number."""
    found = [claim for claim in claims(page) if claim["shown"]]
    assert str(len(found)) in re.findall(r"\d+", page.locator("#scorecard-count").inner_text())
    return found


def choices(page, menu):
    return [
        value
        for value in page.locator(f"{menu} option").evaluate_all("all => all.map((at) => at.value)")
        if value
    ]


def test_all_claims_are_shown_first(page):
    assert len(shown(page)) == len(claims(page)) > 0


@pytest.mark.parametrize("part", ["verdict", "paper"])
def test_a_filter_leaves_what_was_chosen(page, part):
    expected = Counter(claim[part] for claim in claims(page))
    menu = f"#scorecard-{part}"
    assert set(choices(page, menu)) - {"all"} >= set(expected)
    for value, count in expected.items():
        page.select_option(menu, value)
        assert [claim[part] for claim in shown(page)] == [value] * count
    page.select_option(menu, index=0)
    assert len(shown(page)) == sum(expected.values())


def test_filters_combine(page):
    first = claims(page)[0]
    page.select_option("#scorecard-verdict", first["verdict"])
    page.select_option("#scorecard-paper", first["paper"])
    both = [
        claim
        for claim in claims(page)
        if (claim["verdict"], claim["paper"]) == (first["verdict"], first["paper"])
    ]
    assert len(shown(page)) == len(both) > 0
    assert all(claim["shown"] for claim in both)


def test_the_search_narrows(page):
    everything = claims(page)
    page.fill("#scorecard-search", "winnow")
    found = shown(page)
    assert 0 < len(found) < len(everything)
    assert all("winnow" in claim["text"] for claim in found)
    page.fill("#scorecard-search", "xyzzy")
    assert shown(page) == []
    page.fill("#scorecard-search", "")
    assert len(shown(page)) == len(everything)
