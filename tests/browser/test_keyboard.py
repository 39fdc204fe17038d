"""Everything can be reached and used without a mouse."""

import re

import pytest
from visit import open_page

STOPS = 150
# Where the focus is, and whether it is seen there.
FOCUS = """() => {
  const at = document.activeElement;
  // the summary of a part in the sidebar has no box of its own: its arrow has, and the ring
  const element = at.getBoundingClientRect().height ? at : at.firstElementChild ?? at;
  const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(element);
  const ring = (outlineStyle != "none" && parseFloat(outlineWidth) > 0) || boxShadow != "none";
  const box = element.getBoundingClientRect();
  const places = [
    "#pst-skip-link", ".search-button__button", "nav.bd-links", ".theme-switch-button", "article",
  ];
  return {
    text: at.outerHTML.slice(0, 120),
    hasVisibleFocus: ring && box.width > 0 && box.height > 0,
    places: places.filter((place) => at.closest(place)),
  };
}"""


@pytest.fixture
def chapter(browser, site, address, markups):
    """A chapter with code, formulas and figures."""
    name = "chapters/cia/model.html"
    permissions = ["clipboard-read", "clipboard-write"]
    with open_page(browser, site, address, name, permissions=permissions) as (page, _):
        yield page


def stops(page):
    """Press Tab until the focus is in the text."""
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        yield stop
        if "article" in stop["places"]:
            return


def places_of(stops):
    """Return the regions of the page that some stops are in, in turn."""
    places = []
    for stop in stops:
        places += stop["places"]
    return places


def test_tab_leads_through_the_page(chapter):
    all_stops = list(stops(chapter))
    places = places_of(all_stops)
    assert places[0] == "#pst-skip-link"
    regions = {".search-button__button", "nav.bd-links", ".theme-switch-button", "article"}
    assert regions <= set(places)
    assert [stop["text"] for stop in all_stops if not stop["hasVisibleFocus"]] == []


def test_the_skip_link_leads_past_the_navigation(chapter):
    chapter.keyboard.press("Tab")
    chapter.keyboard.press("Enter")
    places = places_of(stops(chapter))
    assert "nav.bd-links" not in places
    assert places[-1] == "article"


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_folded_code_opens_and_closes(chapter, key):
    cell = chapter.locator("div.cell details.hide").first
    code = cell.locator("pre").first
    assert not code.is_visible()
    cell.locator("summary").focus()
    chapter.keyboard.press(key)
    assert code.is_visible()
    assert code.inner_text().strip()
    chapter.keyboard.press(key)
    assert not code.is_visible()


def test_the_copy_button_has_a_name_and_copies(chapter):
    cell = chapter.locator("div.cell details.hide").first
    cell.locator("summary").click()
    button = cell.get_by_role("button", name=re.compile("copy", re.IGNORECASE))
    button.focus()
    chapter.keyboard.press("Enter")
    chapter.wait_for_function("navigator.clipboard.readText().then(text => text.length > 0)")
    copied_text = chapter.evaluate("navigator.clipboard.readText()")
    assert copied_text.strip() == cell.locator("pre").inner_text().strip()
