"""What the head of a page says of it, and the pages beside the book's."""

import re

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from lib.book.pages import heads


def doctree(*paragraph):
    return nodes.Element("", nodes.section("", nodes.title("", "A title"), *paragraph))


def test_a_page_describes_itself_by_its_first_sentences():
    citation = nodes.inline("", "", nodes.Text("[1997]"), classes=["bibtex-citation"])
    paragraph = nodes.paragraph(
        "", "", nodes.Text("Grove "), citation, nodes.Text(", with "), nodes.math("", "k < 2")
    )
    note = nodes.note("", nodes.paragraph("", "A quick run."))
    assert heads.description(doctree(note, paragraph)) == "Grove, with k < 2"
    long = heads.description(doctree(nodes.paragraph("", "word " * 80)))
    assert len(long) <= heads.DESCRIPTION_LENGTH
    assert long.endswith("word …")
    assert heads.description(doctree()) == ""


@pytest.fixture(scope="module")
def site(built_project):
    return built_project.build_folder("quick") / "html"


def head(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").head


def test_the_head_has_title_and_description(site):
    page = head(site / "chapters" / "intro.html")
    assert page.title.text == 'An "introduction" — When the Model Is Wrong'
    assert page.find("meta", property="og:title")["content"] == 'An "introduction"'
    assert page.find("meta", attrs={"name": "description"})["content"].startswith("a claim")
    assert len(page.find_all("meta", attrs={"name": "viewport"})) == 1
    assert "Search" in head(site / "search.html").find("meta", property="og:title")["content"]


def test_the_first_page_leads_on(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert '<a href="chapters/intro.html">' in text
    assert "<title>When the Model Is Wrong</title>" in text
    assert 'content="a claim' in text
    assert "Page not found" in (site / "404.html").read_text(encoding="utf-8")


def test_a_sitemap_needs_an_address_and_has_the_pages_that_there_are(project, tmp_path):
    (tmp_path / "chapters" / "cia").mkdir(parents=True)
    (tmp_path / "chapters" / "cia" / "curves.html").touch()
    path = tmp_path / "sitemap.xml"
    heads.write_sitemap(project, tmp_path, "")
    assert not path.exists()
    heads.write_sitemap(project, tmp_path, "https://example.org/book/")
    addresses = re.findall("<loc>(.*?)</loc>", path.read_text())
    assert addresses == ["https://example.org/book/chapters/cia/curves.html"]
