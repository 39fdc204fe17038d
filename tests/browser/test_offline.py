"""Pages opened from a folder, without any server."""

import pytest
from visit import FORMULAS_LEFT, IMAGES_MISSING, SCROLL_TO_END, open_page

PAGES = [
    "chapters/intro.html",
    "chapters/cia/model.html",
    "chapters/scorecard.html",
    "chapters/explorer.html",
]


@pytest.mark.parametrize("name", PAGES)
def test_works_from_a_folder(browser, site, name):
    if not (site / name).exists():
        pytest.skip(f"this site has no {name}")
    with open_page(browser, site, f"{site.as_uri()}/", name) as (page, watch):
        page.evaluate(SCROLL_TO_END)
        assert page.evaluate(FORMULAS_LEFT) == []
        assert page.evaluate(IMAGES_MISSING) == []
    assert watch.problems() == []


def test_the_first_page_leads_to_the_book(browser, site):
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/index.html")
    page.wait_for_url("**/chapters/*.html")
    assert page.locator("article h1").is_visible()
    page.close()
