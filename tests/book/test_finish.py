"""What is done to the pages after Sphinx."""

import re
import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from lib.book import finish, icons

PAGE = """<!DOCTYPE html><html lang="en"><head>
<meta name="viewport" content="width=device-width, initial-scale=1.0" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Learning &amp; curves &#8212; The Book</title>
<!-- So that users can add custom icons -->
<script src="../_static/scripts/fontawesome.js?digest=1"></script>
</head><body>
<div id="jb-print-docs-body" class="onlyprint"><h1>Learning</h1></div>
<div id="searchbox"></div>
<article class="bd-article"><h1>Learning &amp; curves<a href="#x">#</a></h1>
<p>Grove <span class="bibtex-citation">[<a href="r.html">1997</a>]</span>,
with <span>\\(k &lt; 2\\)</span>, say "so". %s</p>
</article></body></html>"""


def finished(text="The end."):
    return finish.finish_page(PAGE % text, "The Book", None)


def test_a_page_describes_itself_by_its_first_sentences():
    assert '<meta name="description" content="Grove, with k &lt; 2, say &quot;so&quot;. The end.">' in finished()


def test_a_long_description_is_cut_at_a_word():
    found = re.search(r'name="description" content="([^"]*)"', finished("word " * 80))[1]
    assert len(finish.html.unescape(found)) <= finish.LENGTH
    assert found.endswith("word …")


def test_a_page_has_one_title_heading_viewport_and_no_icon_script():
    page = finished()
    assert "<title>Learning &amp; curves — The Book</title>" in page
    assert len(re.findall("<h1", page)) == len(re.findall('name="viewport"', page)) == 1
    assert "fontawesome.js" not in page


def test_the_first_page_of_the_book_does_not_repeat_its_title():
    page = PAGE.replace("Learning &amp; curves &#8212; The Book", "The Book &#8212; The Book")
    assert "<title>The Book</title>" in finish.finish_page(page % "", "The Book", None)


@pytest.mark.parametrize(("address", "there"), [("", False), ("https://example.org/book/", True)])
def test_a_sitemap_needs_an_address(project, tmp_path, address, there):
    finish.write_sitemap(project, tmp_path, address)
    path = tmp_path / "sitemap.xml"
    assert path.exists() == there
    if there:
        assert "<loc>https://example.org/book/chapters/cia/curves.html</loc>" in path.read_text()


def test_the_first_page_leads_on(tmp_path):
    (tmp_path / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=chapters/intro.html" />\n')
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "intro.html").write_text(PAGE % "")
    finish.write_first_page(tmp_path, {"title": "A & B"})
    page = (tmp_path / "index.html").read_text()
    assert '<a href="chapters/intro.html">' in page
    assert "<title>A &amp; B</title>" in page
    assert 'content="Grove' in page


def test_icons_that_no_page_has_are_not_published(tmp_path):
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    shutil.copytree(theme, tmp_path / "_static")
    (tmp_path / "page.html").write_text('<i class="fa-solid fa-bars"></i>')
    before = (tmp_path / icons.STYLES).stat().st_size
    icons.keep_used_icons(tmp_path)
    text = (tmp_path / icons.STYLES).read_text()
    assert ".fa-bars" in text
    assert ".fa-hourglass-end" not in text
    assert len(text) < 0.85 * before
    fonts = tmp_path / icons.FONTS
    assert {path.suffix for path in fonts.iterdir()} == {".woff"}
    assert all(path.name in text for path in fonts.iterdir())
    solid = TTFont(fonts / "fa-solid-900.woff").getBestCmap()
    assert 0xF0C9 in solid
    assert (fonts / "fa-solid-900.woff").stat().st_size < 20_000
    icons.keep_used_icons(tmp_path)
    assert (tmp_path / icons.STYLES).read_text() == text


def test_a_search_of_files_fetches_nothing(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "documentation_options.js").write_text("const DOCUMENTATION_OPTIONS = {};\n")
    finish.quiet_search(tmp_path)
    assert "SHOW_SEARCH_SUMMARY = false" in (tmp_path / "_static" / "documentation_options.js").read_text()
