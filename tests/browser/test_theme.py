"""The button for the light and the dark theme."""

import pytest
from visit import READY, open_page

BUTTON = ".theme-switch-button"
STATE = "[document.documentElement.dataset.mode, document.documentElement.dataset.theme]"
BACKGROUND = """() => {
  const colour = getComputedStyle(document.body).backgroundColor;
  const [red, green, blue] = colour.match(/[\\d.]+/g).map(Number);
  return (red + green + blue) / 3;
}"""
# The system is light, so the first click brings the other theme.
CYCLE = [["dark", "dark"], ["light", "light"], ["auto", "light"]]


def by_mouse(page):
    page.locator(BUTTON).first.click()


def by_keyboard(page):
    page.locator(BUTTON).first.focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("press", [by_mouse, by_keyboard])
def test_the_button_goes_through_all_themes(browser, site, address, press):
    with open_page(browser, site, address, "chapters/intro.html") as (page, watch):
        assert page.evaluate(STATE) == ["auto", "light"]
        for state in CYCLE:
            press(page)
            assert page.evaluate(STATE) == state
            assert (page.evaluate(BACKGROUND) < 60) == (state[1] == "dark")
    assert watch.messages == []


def test_the_choice_is_kept_on_the_next_page(browser, site, address):
    with open_page(browser, site, address, "chapters/intro.html") as (page, _):
        by_mouse(page)
        page.goto(f"{address}chapters/references.html")
        page.evaluate(READY)
        assert page.evaluate(STATE) == ["dark", "dark"]
        assert page.evaluate(BACKGROUND) < 60


def test_the_first_page_follows_the_system(browser, site, address):
    with open_page(browser, site, address, "chapters/intro.html") as (page, _):
        page.emulate_media(color_scheme="dark")
        page.reload()
        page.evaluate(READY)
        assert page.evaluate(STATE) == ["auto", "dark"]
