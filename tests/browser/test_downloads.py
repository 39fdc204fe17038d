"""What can be downloaded opens."""

import csv
import json

import nbformat
import pytest
from visit import open_page


def test_notebooks_are_valid_and_executed(site, chapter_name, markups):
    path = site / downloads(markups[chapter_name], chapter_name)[0]
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert any(cell.get("outputs") for cell in notebook.cells)


def downloads(markup, name):
    """The executed notebooks that a page links to, as paths below the site."""
    root = "../" * name.count("/")
    links = [reference for tag, reference in markup.references if tag == "a"]
    paths = [link.removeprefix(root) for link in links if link.endswith(".ipynb")]
    return [path for path in paths if path.startswith("_sources/")]


def test_a_click_downloads_the_notebook(browser, site, address, markups):
    name = next(name for name, markup in markups.items() if downloads(markup, name))
    with open_page(browser, site, address, name, accept_downloads=True) as (page, _):
        with page.expect_download() as download:
            page.locator("article a[href$='.ipynb']").first.click()
        notebook = nbformat.read(download.value.path(), as_version=4)
    nbformat.validate(notebook)


def test_claims_can_be_read(site):
    paths = sorted(site.rglob("claims.json"))
    if not paths:
        pytest.skip("this site has no claims.json")
    claims = json.loads(paths[0].read_text(encoding="utf-8"))["claims"]
    with next(site.rglob("claims.csv")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ids = []
    for claim in claims:
        ids += [setting["id"] for setting in claim["settings"]]
    assert [row["id"] for row in rows] == ids
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
