"""The address of the repository, and what follows from it on pages and in notebooks."""

import nbformat
import pytest
import yaml
from conftest import REPOSITORY, book

from lib.book.publish import first_cell, put_first_cell
from lib.book.repository import address, theme_options
from lib.book.run.project import BookError, Project

GITHUB = "https://github.com/OWNER/NAME"  # the words OWNER and NAME: no real address is known yet
ELSEWHERE = "https://example.org/owner/name"


def set_address(project, url):
    path = project.root / "_config.yml"
    config = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**config, "repository": {"url": url}}))


def options(url, **repository):
    return theme_options({"repository": {"url": url, **repository}})


def test_buttons_are_those_of_the_host():
    github = options(f"{GITHUB}/")
    elsewhere = options(ELSEWHERE)
    assert github["repository_provider"] == "github"
    assert github["repository_url"] == GITHUB
    assert {"binderhub_url", "colab_url"} <= github["launch_buttons"].keys()
    assert github["use_issues_button"]
    assert github["use_edit_page_button"]
    assert "colab_url" not in elsewhere["launch_buttons"]
    assert not elsewhere["use_issues_button"]
    assert not elsewhere["use_edit_page_button"]
    trunk = options(f"{ELSEWHERE}.git", branch="trunk")
    assert trunk["repository_url"] == ELSEWHERE
    assert trunk["repository_branch"] == "trunk"


@pytest.mark.slow
def test_the_page_has_them(project):
    set_address(project, GITHUB)
    result = book(project, "build", "--profile", "quick", "--strict")
    assert result.exit_code == 0, result.output
    page = (project.build_folder("quick") / "html" / "chapters" / "cia" / "curves.html").read_text()
    path = "chapters/cia/curves.ipynb"
    assert f'href="https://colab.research.google.com/github/OWNER/NAME/blob/main/{path}"' in page
    assert f'href="https://mybinder.org/v2/gh/OWNER/NAME/main?urlpath=lab/tree/{path}"' in page
    assert f'href="{GITHUB}/edit/main/{path}"' in page


@pytest.mark.parametrize(
    "url", ["github.com/a/b", "http://example.org/a/b", "https://example.org", "https://a/b c/d"]
)
def test_an_address_that_is_none_is_an_error(url):
    with pytest.raises(BookError, match="expected https://HOST/OWNER/NAME"):
        theme_options({"repository": {"url": url}})


@pytest.mark.parametrize("config", [{}, {"repository": None}, {"repository": {"url": None}}])
def test_without_an_address_there_are_no_buttons(config):
    assert theme_options(config) == {}


@pytest.mark.parametrize("url", ["", GITHUB])
def test_the_first_cell_stops_only_where_lib_is_missing(url, monkeypatch):
    source = first_cell(url).source
    exec(source, {})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install") as error:
        exec(source, {})
    assert f"git clone --depth 1 {url or 'ADDRESS-OF-THIS-REPOSITORY'} book" in str(error.value)


def test_the_first_cell_is_put_in_once_and_kept_up_to_date(project):
    notebook = nbformat.read(project.notebook("cia/curves"), as_version=4)
    sources = [cell.source for cell in notebook.cells]
    put_first_cell(notebook, "")
    put_first_cell(notebook, GITHUB)
    # below the title
    sources.insert(1, first_cell(GITHUB).source)
    assert [cell.source for cell in notebook.cells] == sources


@pytest.mark.parametrize("chapter", Project(REPOSITORY).chapters)
def test_every_chapter_has_the_first_cell_for_the_present_address(chapter):
    project = Project(REPOSITORY)
    cells = nbformat.read(project.notebook(chapter), as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    expected = first_cell(address(project.config))
    assert code[0].source == expected.source
    assert code[0].metadata.tags == ["remove-cell"]
    assert code[0].outputs == []
    assert [cell.id for cell in cells].count(expected.id) == 1


def test_the_first_page_says_how_to_cite_the_book_as_its_file_does():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    page = (REPOSITORY / "chapters" / "intro.md").read_text(encoding="utf-8")
    (author,) = citation["authors"]
    sentence = f"{author['name']}. *{citation['title']}*, version {citation['version']}."
    assert sentence in page
