"""What is done to the pages after Sphinx."""

import re

import pytest

from lib.book import finish
from lib.book.project import BookError

PAGE = """<!DOCTYPE html><html lang="en"><head>
<title>Learning &amp; curves &#8212; The Book</title>
</head><body>
<article class="bd-article"><h1>Learning &amp; curves<a href="#x">#</a></h1>
<p>Grove <span class="bibtex-citation">[<a href="r.html">1997</a>]</span>,
with <span>\\(k &lt; 2\\)</span>, say "so". %s</p>
</article></body></html>"""


def finished(text="The end.", title="Learning &amp; curves &#8212; The Book", book="The Book"):
    return finish.finish_page(
        PAGE.replace("Learning &amp; curves &#8212; The Book", title) % text, book, None
    )


def test_a_page_describes_itself_by_its_first_sentences():
    page = finished()
    assert (
        '<meta name="description" content="Grove, with k &lt; 2, say &#34;so&#34;. The end.">'
        in page
    )
    assert "<title>Learning &amp; curves — The Book</title>" in page
    long = re.search(r'name="description" content="([^"]*)"', finished("word " * 80))[1]
    assert len(finish.html.unescape(long)) <= finish.DESCRIPTION_LENGTH
    assert long.endswith("word …")


def test_the_first_page_of_the_book_does_not_repeat_its_title():
    page = finished(title="A &amp; B&#39;s &#8212; A &amp; B&#39;s", book="A & B's")
    assert "<title>A &amp; B&#39;s</title>" in page
    assert 'property="og:title" content="A &amp; B&#39;s"' in page


def test_a_sitemap_needs_an_address_and_has_the_pages_that_there_are(project, tmp_path):
    (tmp_path / "chapters" / "cia").mkdir(parents=True)
    (tmp_path / "chapters" / "cia" / "curves.html").touch()
    path = tmp_path / "sitemap.xml"
    finish.write_sitemap(project, tmp_path, "")
    assert not path.exists()
    finish.write_sitemap(project, tmp_path, "https://example.org/book/")
    assert re.findall("<loc>(.*?)</loc>", path.read_text()) == [
        "https://example.org/book/chapters/cia/curves.html"
    ]


def test_a_theme_that_has_changed_is_told(project, tmp_path):
    (tmp_path / "page.html").write_text(PAGE % "")
    with pytest.raises(BookError, match="the theme has changed: adapt the repair of .*fontawesome"):
        finish.finish(project, tmp_path)


def test_one_of_a_kind_is_singular():
    one, two = (f'<span class="pasted-text">{number}</span> ' for number in (1, 2))
    page = f"{one}data sets, {one}random starts; {two}models; {one}of the sets, {one}times as fast"
    told = f"{one}data set, {one}random start; {two}models; {one}of the sets, {one}times as fast"
    assert finish.repair(page, {}) == told


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
