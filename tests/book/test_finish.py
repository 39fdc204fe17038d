"""What is done to the pages after Sphinx."""

import re

import pytest

from lib.book.pages import finish
from lib.book.run.project import BookError

PAGE = """<!DOCTYPE html><html lang="en"><head>
<title>Learning &amp; curves &#8212; The Book</title>
</head><body>
<article class="bd-article"><h1>Learning &amp; curves<a href="#x">#</a></h1>
<p>Grove <span class="bibtex-citation">[<a href="r.html">1997</a>]</span>,
with <span>\\(k &lt; 2\\)</span>, say "so". %s</p>
</article></body></html>"""


TITLE = "Learning &amp; curves &#8212; The Book"


def finish_page(text="The end.", title=TITLE, book="The Book"):
    return finish.finish_page(PAGE.replace(TITLE, title) % text, book, None)


def test_a_page_describes_itself_by_its_first_sentences():
    page = finish_page()
    description = "Grove, with k &lt; 2, say &#34;so&#34;. The end."
    assert f'<meta name="description" content="{description}">' in page
    assert "<title>Learning &amp; curves — The Book</title>" in page
    long = re.search(r'name="description" content="([^"]*)"', finish_page("word " * 80))[1]
    assert len(finish.html.unescape(long)) <= finish.DESCRIPTION_LENGTH
    assert long.endswith("word …")


def test_the_first_page_of_the_book_does_not_repeat_its_title():
    page = finish_page(title="A &amp; B&#39;s &#8212; A &amp; B&#39;s", book="A & B's")
    assert "<title>A &amp; B&#39;s</title>" in page
    assert 'property="og:title" content="A &amp; B&#39;s"' in page


def test_a_sitemap_needs_an_address_and_has_the_pages_that_there_are(project, tmp_path):
    (tmp_path / "chapters" / "cia").mkdir(parents=True)
    (tmp_path / "chapters" / "cia" / "curves.html").touch()
    path = tmp_path / "sitemap.xml"
    finish.write_sitemap(project, tmp_path, "")
    assert not path.exists()
    finish.write_sitemap(project, tmp_path, "https://example.org/book/")
    addresses = re.findall("<loc>(.*?)</loc>", path.read_text())
    assert addresses == ["https://example.org/book/chapters/cia/curves.html"]


def test_a_theme_that_has_changed_is_told(project, tmp_path):
    (tmp_path / "page.html").write_text(PAGE % "")
    with pytest.raises(BookError, match="the theme has changed: adapt the repair of .*fontawesome"):
        finish.finish(project, tmp_path)


def test_one_of_a_kind_is_singular():
    page = "1 data sets, 1 random starts; 2 models; 1 of the sets, 1 times as fast"
    expected = "1 data set, 1 random start; 2 models; 1 of the sets, 1 times as fast"

    def paste_numbers(text):
        return re.sub(r"(\d)", r'<span class="pasted-text">\1</span>', text)

    assert finish.repair(paste_numbers(page), {}) == paste_numbers(expected)


def test_the_first_page_leads_on(tmp_path):
    (tmp_path / "index.html").write_text(
        '<meta http-equiv="Refresh" content="0; url=chapters/intro.html" />\n'
    )
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "intro.html").write_text(PAGE % "")
    finish.write_first_page(tmp_path, "A & B")
    page = (tmp_path / "index.html").read_text()
    assert '<a href="chapters/intro.html">' in page
    assert "<title>A &amp; B</title>" in page
    assert 'content="Grove' in page
