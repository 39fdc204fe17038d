"""The explorer answers to each of its controls, from a server and from a folder."""

import pytest
from visit import open_page

NAME = "chapters/explorer.html"
CONTROLS = ["explorer-n", "explorer-k", "explorer-b", "explorer-size", "explorer-t"]
CHART = """() => [...document.querySelectorAll("#explorer-charts :is(canvas, svg)")]
  .map((at) => (at.tagName == "CANVAS" ? at.toDataURL() : at.outerHTML)).join()"""
OTHER_VALUE = """(control) => {
  const now = control.value;
  if (control.tagName == "SELECT") {
    const others = [...control.options].filter((at) => !at.disabled && at.value != now);
    control.value = others.at(-1)?.value ?? now;
  } else {
    control.value = control.min;
    if (control.value == now) control.value = control.max;
  }
  for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
  return control.value != now;
}"""


@pytest.fixture(params=["http", "file"])
def page(request, browser, site, address):
    if not (site / NAME).exists():
        pytest.skip(f"this site has no {NAME}")
    root = address if request.param == "http" else f"{site.as_uri()}/"
    with open_page(browser, site, root, NAME) as (page, watch):
        page.wait_for_selector("#explorer-charts :is(canvas, svg)")
        yield page
    assert watch.problems() == []


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_changes_table_and_charts(page, control):
    table = page.locator("#explorer-table").inner_html()
    chart = page.evaluate(CHART)
    assert page.locator(f"#{control}").evaluate(OTHER_VALUE), f"#{control} has one value only"
    page.wait_for_function(
        "before => document.querySelector('#explorer-table').innerHTML != before", arg=table
    )
    page.wait_for_function(f"before => ({CHART})() != before", arg=chart)
