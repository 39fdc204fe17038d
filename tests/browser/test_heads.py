"""What browsers, search engines and previews read of a page; no browser needed."""

from collections import Counter

import pytest
from built_site import is_redirect

LONGEST = 200


def test_says_what_it_is(page_name, markups):
    page = markups[page_name]
    assert page.language == "en"
    assert page.title.strip()
    assert page.headings == 1
    assert 0 < len(page.metas.get("description", "").strip()) <= LONGEST


def test_has_an_icon(page_name, markups, site):
    if page_name == "404.html":
        pytest.skip("shown at any address, from which no relative one leads to the icon")
    icons = markups[page_name].icons
    assert icons
    assert all((site / page_name).parent.joinpath(icon).is_file() for icon in icons)


@pytest.mark.parametrize("field", ["title", "description"])
def test_no_two_pages_say_the_same(markups, site, field):
    pages = {name: page for name, page in markups.items() if not is_redirect(site / name)}
    if field == "title":
        texts = {name: page.title for name, page in pages.items()}
    else:
        texts = {name: page.metas.get("description") for name, page in pages.items()}
    counts = Counter(texts.values())
    assert {name: text for name, text in texts.items() if counts[text] > 1} == {}
