"""The search of the book, which needs no server."""

import re
from collections import Counter

import pytest
from visit import opened

FOUND = "#search-results ul.search > li > a"


def results(page, words):
    page.wait_for_selector(FOUND)
    page.wait_for_function(
        "document.querySelector('#search-results .search-summary, #search-results p')"
    )
    assert words in page.url or words.capitalize() in page.url
    return [link.get_attribute("href") for link in page.locator(FOUND).all()]


def unexpected(messages):
    """Without the warning that Sphinx gives for results whose anchor has a full stop, such as module-lib.winnow."""
    return [
        message
        for message in messages
        if not re.search(r"Anchored content block not found.*#\S+\.\S+", message)
    ]


@pytest.fixture
def rare_word(markups):
    """A long word that stands on one chapter only, and that chapter."""
    pages = {name: markup.words for name, markup in markups.items() if name.startswith("chapters/")}
    count = Counter(word for words in pages.values() for word in words)
    rare = [
        (len(word), word, name)
        for name, words in pages.items()
        for word in words
        if count[word] == 1
    ]
    _, word, name = max(rare)
    return word, name


@pytest.mark.parametrize("offline", [False, True], ids=["http", "file"])
def test_finds_a_common_word(browser, site, address, offline):
    with opened(
        browser, site, f"{site.as_uri()}/" if offline else address, "search.html?q=Winnow"
    ) as (page, watch):
        found = results(page, "Winnow")
    assert len(found) > 3
    assert all((site / re.split("[#?]", link)[0]).is_file() for link in found)
    assert (unexpected(watch.messages), watch.failed, watch.outside) == ([], [], [])


def test_finds_a_rare_word(browser, site, address, rare_word):
    word, name = rare_word
    with opened(browser, site, address, f"search.html?q={word}") as (page, _):
        found = results(page, word)
    assert name in [re.split("[#?]", link)[0] for link in found]
    assert len(found) <= 3, "a word of one page, or of one page and titles that it is the stem of"


def test_the_dialog_leads_to_the_results_and_they_to_the_page(browser, site, address):
    with opened(browser, site, address, "chapters/intro.html") as (page, _):
        page.keyboard.press("Control+k")
        page.keyboard.type("winnow")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?q=winnow**")
        results(page, "winnow")
        page.locator(FOUND).first.click()
        page.wait_for_url("**/chapters/**")
        assert "winnow" in page.locator("article").inner_text().lower()
