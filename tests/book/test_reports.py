"""Chapters whose cells display all that they say: as pages, by `book build` and by jupyter-book."""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import REPOSITORY, book
from nbformat.v4 import new_code_cell
from reporting_chapter import TITLE, reporting_chapter

from lib.book.pages.findings import fill_findings, move_links
from lib.book.pages.reports import fold_name
from lib.book.pages.terms import read_glossary
from lib.book.run.project import Project


@pytest.fixture(scope="module")
def html(built_project):
    return built_project.build_folder("quick") / "html"


@pytest.fixture(scope="module")
def page(html):
    text = (html / "chapters" / "cia" / "climb.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser").article


def words(tag):
    return " ".join(tag.get_text().split())


def test_the_page_begins_with_the_answer(page):
    text = words(page)
    places = [
        text.index(part)
        for part in (
            "Who climbs?",
            "EM fits a",
            "What we found",
            "Of 3 models all climb: see Fig. 1",
            "Claims: 1 holds.",
            "Fig. 1 It climbs, as Table 1 says.",
            "The experiment",
            "Fig. 1, once more.",
            "Table 1 Models that climb.",
            "Of 1 claim, 1 holds.",
            "Table 2 One model of those that climb.",
            "Table 2 has one; see another chapter.",
            "Take home",
            "The values of this page (the quick scale of the tests)",
            "All works.",
            "How this page was made",
        )
    ]
    assert places == sorted(places)
    assert [words(heading).rstrip("#").strip() for heading in page.find_all("h2")] == [
        "What we found",
        "The experiment",
        "Claims",
        "Exercises",
        "Take home",
        "Parameters",
        "References",
    ]
    assert "Figure 1." not in text  # the caption of other viewers


def test_links_lead_to_numbered_figures_tables_and_works(page, html):
    targets = [link.get("href", "") for link in page.find_all("a")]
    assert targets.count("#fig-climb") >= 2
    assert targets.count("#tbl-climb") >= 2
    assert "../references.html#groveroth1997" in targets
    assert "#claims" in targets
    assert page.find(id="claims")
    text = words(page)
    assert "What Fig. 1 shows, Table 1 counts; no figure is words" in text
    assert "[code](#fig-climb)" in text
    references = (html / "chapters" / "references.html").read_text()
    assert 'id="groveroth1997"' in references
    assert 'id="greiner2005"' in references  # which no {cite} cites


def test_terms_are_explained_once_and_nothing_stays_raw(page):
    explained = [words(tag) for tag in page.find_all("abbr")]
    assert len(explained) == len(set(explained))
    assert {"EM", "CIA model"} <= set(explained)
    assert all(tag["title"] for tag in page.find_all("abbr"))
    assert not re.search(r"\{(abbr|cited|numref)", words(page))


def test_folds_say_what_their_code_does(page):
    names = [words(name) for name in page.select("details.hide .collapsed")]
    assert names == [
        "Imports and settings",
        "Count the models that climb; how this figure is made",
        "How the claims are tested",
        "Solution",
    ]


def test_what_a_solution_displays_is_in_its_fold(page):
    fold = page.find_all("details", class_="hide")[-1]
    assert fold.find(id="tbl-one")
    assert "curves.html" in [link["href"] for link in fold.find_all("a")]


def test_the_figure_has_its_variants_and_its_words(page):
    figure = page.find(id="fig-climb")
    images = figure.find_all("img")
    assert [image["alt"] for image in images] == ["A line."] * 2
    assert len({image["src"] for image in images}) == 2


def test_a_page_repeats_a_finding_with_links_that_fit(html):
    intro = BeautifulSoup((html / "chapters" / "intro.html").read_text(), "html.parser").article
    assert "Of 3 models all climb" in words(intro)
    assert "as last published" not in words(intro)
    targets = [link["href"] for link in intro.find_all("a")]
    assert "cia/curves.html" in targets


def test_the_theme_offers_the_notebook_as_it_was_executed(page, html):
    (link,) = page.select(".provenance a")
    path = html / "chapters" / "cia" / link["href"]
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].source == TITLE
    assert "How this page was made" in notebook.cells[-1].source


def pages_without_foot(folder):
    pages = {}
    for path in sorted(folder.rglob("chapters/**/*.html")):
        article = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").article
        for tag in article.select(".provenance, .admonition.warning"):
            tag.decompose()
        pages[path.relative_to(folder).as_posix()] = re.sub(
            r"the quick scale of the tests|as published|_images/\S+|\d+ × |\n(?=\n)",
            "",
            str(article),
        )
    return pages


@pytest.fixture(scope="module")
def plain_html(built_project, tmp_path_factory):
    """The pages that jupyter-book makes by itself of the same outputs, stored in the notebooks."""
    folder = tmp_path_factory.mktemp("plain") / "book"
    shutil.copytree(
        built_project.root, folder, symlinks=True, ignore=shutil.ignore_patterns("_build")
    )
    for name in built_project.chapters:
        shutil.copy(built_project.executed("quick", name), folder / "chapters" / f"{name}.ipynb")
    environment = {name: text for name, text in os.environ.items() if name[:4] != "BOOK"}
    command = [sys.executable, "-m", "lib.book.pages", "build", "."]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr
    assert "WARNING" not in process.stderr
    return folder / "_build" / "html"


def test_jupyter_book_by_itself_makes_the_same_pages(html, plain_html):
    plain = pages_without_foot(plain_html)
    own = pages_without_foot(html)
    assert plain.keys() == own.keys()
    for name, text in own.items():
        assert plain[name] == text, name
    text = (plain_html / "chapters" / "cia" / "climb.html").read_text(encoding="utf-8")
    assert "as published, stored in the notebook" in " ".join(text.split())
    assert (plain_html / "chapters" / "claims.json").exists()


def test_a_changed_sentence_is_on_its_page_and_makes_no_other(built_project, tmp_path):
    copied_root = shutil.copytree(built_project.root, tmp_path / "a {copy}", symlinks=True)
    project = Project(copied_root)
    assert book(project, "build", "--profile", "quick").exit_code == 0
    html = project.build_folder("quick") / "html"
    times = {path: path.stat().st_mtime_ns for path in html.rglob("chapters/**/*.html")}
    path = project.notebook("cia/climb")
    notebook = reporting_chapter()
    notebook.cells[3].source += "\n\nA sentence more."
    nbformat.write(notebook, path)
    result = book(project, "build", "--profile", "quick")
    assert result.exit_code == 0, result.output
    assert "A sentence more." in (html / "chapters" / "cia" / "climb.html").read_text()
    written = [path.stem for path, time in times.items() if path.stat().st_mtime_ns != time]
    # the first page repeats a sentence of the chapter, the references list what it cites
    assert set(written) == {"climb", "intro", "references"}


def test_sentences_between_comments_are_replaced():
    text = "A <!-- finding: cia/curves one -->old\n\ntext<!-- end --> B"
    filled = fill_findings(text, lambda chapter, name: f"{name}\nof {chapter}")
    assert filled == "A <!-- finding: cia/curves one -->one of cia/curves<!-- end --> B"
    assert fill_findings("no finding", None) == "no finding"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("README.md", "[a](chapters/elr/x.ipynb) [b](chapters/references.md#k) [c](https://a.b/c)"),
        ("chapters/intro.md", "[a](elr/x.ipynb) [b](references.md#k) [c](https://a.b/c)"),
    ],
)
def test_links_of_a_sentence_fit_where_it_stands(place, expected):
    sentence = "[a](../elr/x.ipynb) [b](../references.md#k) [c](https://a.b/c)"
    assert move_links(sentence, "chapters/cia/curves.ipynb", place) == expected
    figure = move_links("[f](#fig-a)", "chapters/cia/curves.ipynb", "chapters/intro.md")
    assert figure == "[f](cia/curves.ipynb#fig-a)"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('def f():\n    """Draw a model. And more."""', "Draw a model"),
        ("# what is drawn; twice\nx = 1", "What is drawn"),
        ("import numpy", "Imports and settings"),
        ("report.figure(x)", "How this figure is made"),
        ("x = 1", "How this is computed"),
    ],
)
def test_a_fold_is_named_after_its_code(source, name):
    assert fold_name(new_code_cell(source)) == name


def test_everyday_words_have_no_pop_up():
    terms = read_glossary(REPOSITORY / "chapters" / "reference" / "glossary.md")
    assert {"EM", "CIA model", "Bayes error"} <= terms.keys()
    assert not {"best", "claim", "structure"} & terms.keys()
    assert not [text for text in terms.values() if re.search(r"\{\w+\}|`|\]\(", text)]
