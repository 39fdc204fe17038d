"""The search of the book, which needs no server."""

import re
from collections import Counter

import pytest
from visit import open_page

RESULT_LINKS = "#search-results ul.search > li > a"


def results(page, words):
    page.wait_for_selector(RESULT_LINKS)
    page.wait_for_function(
        "document.querySelector('#search-results .search-summary, #search-results p')"
    )
    assert words in page.url or words.capitalize() in page.url
    return [link.get_attribute("href") for link in page.locator(RESULT_LINKS).all()]


def unexpected(messages):
    """Leave out Sphinx's warning for results whose anchor has a full stop: module-lib.winnow."""
    warning = r"Anchored content block not found.*#\S+\.\S+"
    return [message for message in messages if not re.search(warning, message)]


@pytest.fixture
def rare_word(markups):
    """A long word that stands on one chapter only, and that chapter."""
    pages = {name: markup.words for name, markup in markups.items() if name.startswith("chapters/")}
    n_pages = Counter()
    for words in pages.values():
        n_pages.update(words)
    rare_words = []
    for name, words in pages.items():
        rare_words += [(len(word), word, name) for word in words if n_pages[word] == 1]
    _, word, name = max(rare_words)
    return word, name


@pytest.mark.parametrize("offline", [False, True], ids=["http", "file"])
def test_finds_a_common_word(browser, site, address, offline):
    root = f"{site.as_uri()}/" if offline else address
    with open_page(browser, site, root, "search.html?q=Winnow") as (page, watch):
        links = results(page, "Winnow")
    assert len(links) > 3
    assert all((site / re.split("[#?]", link)[0]).is_file() for link in links)
    assert unexpected(watch.messages) == []
    assert watch.failed == []
    assert watch.outside == []


def test_finds_a_rare_word(browser, site, address, rare_word):
    word, name = rare_word
    with open_page(browser, site, address, f"search.html?q={word}") as (page, _):
        links = results(page, word)
    assert name in [re.split("[#?]", link)[0] for link in links]
    assert len(links) <= 3, "a word of one page, or of one page and titles that it is the stem of"


def test_the_dialog_leads_to_the_results_and_they_to_the_page(browser, site, address):
    with open_page(browser, site, address, "chapters/intro.html") as (page, _):
        page.keyboard.press("Control+k")
        page.keyboard.type("winnow")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?q=winnow**")
        results(page, "winnow")
        page.locator(RESULT_LINKS).first.click()
        page.wait_for_url("**/chapters/**")
        assert "winnow" in page.locator("article").inner_text().lower()
