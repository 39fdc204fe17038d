"""The address of the repository: one setting, and what follows from it on the pages and in the notebooks."""

import re

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from conftest import REPOSITORY

from lib.book import site
from lib.book.cli import cli
from lib.book.project import BookError, Project
from lib.book.refresh import first_cell, put_first_cell
from lib.book.repository import address, configure

GITHUB = "https://github.com/OWNER/NAME"  # the words OWNER and NAME: no real address is known yet
ELSEWHERE = "https://example.org/owner/name"


def set_address(project, url):
    path = project.root / "_config.yml"
    config = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**config, "repository": {"url": url}}))


def buttons(project):
    """Return the addresses outside the book that the chapter's page links to, and the page."""
    html = site.build_site(project, "quick", strict=True).parent
    page = (html / "chapters" / "cia" / "curves.html").read_text()
    return re.findall(r'href="(https://[^"]*)"', page), page


@pytest.fixture
def executed(project):
    result = CliRunner().invoke(cli, ["--root", str(project.root), "build", "--profile", "quick"])
    assert result.exit_code == 0, result.output
    return project


def test_buttons_appear_with_the_address_and_only_then(executed):
    """Three strict builds of the pages: without an address, on GitHub, elsewhere."""
    set_address(executed, "")
    links, page = buttons(executed)
    assert not [link for link in links if "jupyter-book" in link or "binder" in link or "colab" in link]
    assert not re.search('launch-buttons|source-repository-button|href=""', page)

    set_address(executed, GITHUB + "/")
    links, _ = buttons(executed)
    path = "chapters/cia/curves.ipynb"
    assert {
        GITHUB,
        f"https://mybinder.org/v2/gh/OWNER/NAME/main?urlpath=lab/tree/{path}",
        f"https://colab.research.google.com/github/OWNER/NAME/blob/main/{path}",
        f"{GITHUB}/edit/main/{path}",
    } <= set(links)
    assert any(link.startswith(f"{GITHUB}/issues/new") for link in links)

    set_address(executed, ELSEWHERE)
    links, _ = buttons(executed)
    binder = f"https://mybinder.org/v2/git/https%3A//example.org/owner/name/main?urlpath=lab/tree/{path}"
    assert {ELSEWHERE, binder} <= set(links)
    assert not [link for link in links if "colab" in link or "/edit/" in link or "/issues/" in link]


@pytest.mark.parametrize("url", ["github.com/a/b", "http://example.org/a/b", "https://example.org", "https://a/b c/d"])
def test_an_address_that_is_none_is_an_error(url):
    with pytest.raises(BookError, match="expected https://HOST/OWNER/NAME"):
        configure({"repository": {"url": url}})


def test_gitlab_has_no_colab():
    config = configure({"repository": {"url": "https://gitlab.com/OWNER/NAME.git", "branch": "trunk"}})
    options = config["sphinx"]["config"]["html_theme_options"]
    assert (options["repository_url"], options["repository_branch"]) == ("https://gitlab.com/OWNER/NAME", "trunk")
    assert "colab_url" not in options["launch_buttons"]
    assert options["use_issues_button"]


def test_without_an_address_no_setting_is_lost():
    before = {"title": "a", "html": {"use_issues_button": False}, "sphinx": {"config": {"language": "en"}}}
    assert configure(before | {"repository": {"url": None}}).items() >= before.items()
    assert configure(before).items() >= before.items()


@pytest.mark.parametrize("url", ["", GITHUB])
def test_the_first_cell_stops_only_where_lib_is_missing(url, monkeypatch):
    source = first_cell(url).source
    exec(source, {})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install") as error:
        exec(source, {})
    assert f"git clone --depth 1 {url or 'ADDRESS'} book" in str(error.value)
    assert ("for ADDRESS" in str(error.value)) == (url == "")


def test_the_first_cell_is_put_in_once_and_kept_up_to_date(project):
    path = project.notebook("cia/curves")
    before = nbformat.read(path, as_version=4).cells
    put_first_cell(path, "")
    put_first_cell(path, GITHUB)
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.source for cell in cells] == [
        before[0].source,
        first_cell(GITHUB).source,
        *(c.source for c in before[1:]),
    ]


def test_refresh_takes_the_address_from_the_configuration(project):
    set_address(project, GITHUB)
    result = CliRunner().invoke(cli, ["--root", str(project.root), "refresh", "cia/curves"])
    assert result.exit_code == 0, result.output
    cell = nbformat.read(project.notebook("cia/curves"), as_version=4).cells[1]
    assert cell.source == first_cell(GITHUB).source
    assert cell.outputs == []


@pytest.mark.parametrize("chapter", Project(REPOSITORY).chapters)
def test_every_chapter_has_the_first_cell_for_the_present_address(chapter):
    project = Project(REPOSITORY)
    cells = nbformat.read(project.notebook(chapter), as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    expected = first_cell(address(project))
    assert (code[0].source, code[0].metadata.tags, code[0].outputs) == (expected.source, ["remove-cell"], [])
    assert [cell.id for cell in cells].count(expected.id) == 1
