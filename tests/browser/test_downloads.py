"""What can be downloaded opens."""

import csv
import json

import nbformat
import pytest
from visit import opened


def test_notebooks_are_valid_and_executed(site, chapter_name, markups):
    path = site / downloads(markups[chapter_name], chapter_name)[0]
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert any(cell.get("outputs") for cell in notebook.cells)


def downloads(markup, name):
    """The notebooks below _downloads that a page links to, as paths below the site."""
    up = "../" * name.count("/")
    links = [
        given.removeprefix(up)
        for tag, given in markup.references
        if tag == "a" and given.endswith(".ipynb")
    ]
    return [link for link in links if link.startswith("_downloads/")]


def test_a_click_downloads_the_notebook(browser, site, address, markups):
    name = next(name for name, markup in markups.items() if downloads(markup, name))
    with opened(browser, site, address, name, accept_downloads=True) as (page, _):
        with page.expect_download() as download:
            page.locator("article a[href$='.ipynb']").first.click()
        notebook = nbformat.read(download.value.path(), as_version=4)
    nbformat.validate(notebook)


def test_claims_can_be_read(site):
    found = sorted(site.rglob("claims.json"))
    if not found:
        pytest.skip("this site has no claims.json")
    claims = json.loads(found[0].read_text(encoding="utf-8"))["claims"]
    with next(site.rglob("claims.csv")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [setting["id"] for claim in claims for setting in claim["settings"]] == [
        row["id"] for row in rows
    ]
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
