"""The scorecard's search, filters and order."""

import re
from collections import Counter

import pytest
from visit import open_page

NAME = "chapters/scorecard.html"
CLAIMS = """[...document.querySelectorAll(".claim[data-verdict][data-paper]")].map((claim) => ({
  verdict: claim.dataset.verdict,
  paper: claim.dataset.paper,
  text: claim.textContent.toLowerCase(),
  isVisible: claim.checkVisibility(),
}))"""


@pytest.fixture
def page(browser, site, address):
    if not (site / NAME).exists():
        pytest.skip(f"this site has no {NAME}")
    with open_page(browser, site, address, NAME) as (page, watch):
        yield page
    assert watch.messages == []


def claims(page):
    page.wait_for_timeout(250)  # a search may wait until the typing has ended
    return page.evaluate(CLAIMS)


def visible_claims(page):
    """The claims that can be seen, of which the page must give the number."""
    visible = [claim for claim in claims(page) if claim["isVisible"]]
    count_text = page.locator("#scorecard-count").inner_text()
    assert str(len(visible)) in re.findall(r"\d+", count_text)
    return visible


def choices(page, menu):
    options = page.locator(f"{menu} option")
    values = options.evaluate_all("options => options.map((option) => option.value)")
    return [value for value in values if value]


def test_all_claims_are_shown_first(page):
    assert len(visible_claims(page)) == len(claims(page)) > 0


@pytest.mark.parametrize("field", ["verdict", "paper"])
def test_a_filter_leaves_what_was_chosen(page, field):
    expected = Counter(claim[field] for claim in claims(page))
    menu = f"#scorecard-{field}"
    assert set(choices(page, menu)) - {"all"} >= set(expected)
    for value, count in expected.items():
        page.select_option(menu, value)
        assert [claim[field] for claim in visible_claims(page)] == [value] * count
    page.select_option(menu, index=0)
    assert len(visible_claims(page)) == sum(expected.values())


def test_filters_combine(page):
    first = claims(page)[0]
    page.select_option("#scorecard-verdict", first["verdict"])
    page.select_option("#scorecard-paper", first["paper"])
    matching = []
    for claim in claims(page):
        if claim["verdict"] == first["verdict"] and claim["paper"] == first["paper"]:
            matching.append(claim)
    assert len(visible_claims(page)) == len(matching) > 0
    assert all(claim["isVisible"] for claim in matching)


def test_the_search_narrows(page):
    everything = claims(page)
    page.fill("#scorecard-search", "winnow")
    matching = visible_claims(page)
    assert 0 < len(matching) < len(everything)
    assert all("winnow" in claim["text"] for claim in matching)
    page.fill("#scorecard-search", "xyzzy")
    assert visible_claims(page) == []
    page.fill("#scorecard-search", "")
    assert len(visible_claims(page)) == len(everything)


def order_of(page, name):
    """The claims' ids as they follow each other, and the numbers by which they are sorted."""
    script = f"rows => rows.map((row) => [row.id, row.dataset.{name} ?? ''])"
    return page.locator("li.claim").evaluate_all(script)


@pytest.mark.parametrize(("name", "is_falling"), [("distance", True), ("rerun", False)])
def test_the_order_can_be_chosen_by_keyboard_and_undone(page, name, is_falling):
    in_book = order_of(page, name)
    page.focus("#scorecard-order")
    for _ in range(["", "distance", "rerun"].index(name)):
        page.keyboard.press("ArrowDown")
    rows = order_of(page, name)
    numbers = [float(number) for _, number in rows if number]
    assert numbers == sorted(numbers, reverse=is_falling)
    assert all(not number for _, number in rows[len(numbers) :])  # those without come last
    assert sorted(rows) == sorted(in_book)
    assert f"order={name}" in page.url
    # a filter keeps the order
    verdict = claims(page)[0]["verdict"]
    page.select_option("#scorecard-verdict", verdict)
    assert {claim["verdict"] for claim in visible_claims(page)} == {verdict}
    assert order_of(page, name) == rows
    page.click("#scorecard-reset")
    assert order_of(page, name) == in_book
    assert len(visible_claims(page)) == len(in_book)
