"""Everything can be reached and used without a mouse."""

import re

import pytest
from visit import opened

STOPS = 150
# Where the focus is, and whether it is seen there.
FOCUS = """() => {
  const at = document.activeElement;
  // the summary of a part in the sidebar has no box of its own: its arrow has, and the ring
  const shown = at.getBoundingClientRect().height ? at : at.firstElementChild ?? at;
  const {outlineStyle, outlineWidth, boxShadow, textDecorationLine, borderBottomStyle} = getComputedStyle(shown);
  const ring = (outlineStyle != "none" && parseFloat(outlineWidth) > 0) || boxShadow != "none";
  const box = shown.getBoundingClientRect();
  return {
    tag: at.tagName, text: at.outerHTML.slice(0, 120), seen: ring && box.width > 0 && box.height > 0,
    place: ["#pst-skip-link", ".search-button__button", "nav.bd-links", ".theme-switch-button", "article"]
      .filter((part) => at.closest(part)),
  };
}"""


@pytest.fixture
def chapter(browser, site, address, markups):
    """A chapter with code, formulas and figures."""
    with opened(
        browser,
        site,
        address,
        "chapters/cia/model.html",
        permissions=["clipboard-read", "clipboard-write"],
    ) as (page, _):
        yield page


def stops(page):
    """Press Tab until the focus is in the text."""
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        yield (stop := page.evaluate(FOCUS))
        if "article" in stop["place"]:
            return


def test_tab_leads_through_the_page(chapter):
    found = list(stops(chapter))
    places = [place for stop in found for place in stop["place"]]
    assert places[0] == "#pst-skip-link"
    assert {".search-button__button", "nav.bd-links", ".theme-switch-button", "article"} <= set(
        places
    )
    assert [stop["text"] for stop in found if not stop["seen"]] == []


def test_the_skip_link_leads_past_the_navigation(chapter):
    chapter.keyboard.press("Tab")
    chapter.keyboard.press("Enter")
    places = [place for stop in stops(chapter) for place in stop["place"]]
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
    assert (
        chapter.evaluate("navigator.clipboard.readText()").strip()
        == cell.locator("pre").inner_text().strip()
    )
