"""What is done to the pages after Sphinx."""

import re
import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from lib.book import finish, icons, styles
from lib.book.project import BookError

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


def test_a_title_is_text_and_is_escaped_once():
    page = PAGE.replace("Learning &amp; curves &#8212; The Book", "A &amp; B&#39;s &#8212; A &amp; B&#39;s")
    first = finish.finish_page(page % "", "A & B's", None)
    assert "<title>A &amp; B&#x27;s</title>" in first
    assert 'property="og:title" content="A &amp; B&#x27;s"' in first
    empty = finish.finish_page(PAGE.partition("<article")[0], "A & B", None)
    assert '<meta name="description" content="Learning &amp; curves of the book A &amp; B.">' in empty


def test_a_sitemap_needs_an_address_and_has_the_pages_that_there_are(project, tmp_path):
    (tmp_path / "chapters" / "cia").mkdir(parents=True)
    (tmp_path / "chapters" / "cia" / "curves.html").touch()
    path = tmp_path / "sitemap.xml"
    finish.write_sitemap(project, tmp_path, "")
    assert not path.exists()
    finish.write_sitemap(project, tmp_path, "https://example.org/book/")
    assert re.findall("<loc>(.*?)</loc>", path.read_text()) == ["https://example.org/book/chapters/cia/curves.html"]


@pytest.mark.parametrize("settings", ["", "author: Nobody\n"])
def test_a_book_without_a_title_is_told_to_have_one(project, tmp_path, settings):
    (project.root / "_config.yml").write_text(settings)
    with pytest.raises(BookError, match="title is missing"):
        finish.finish(project, tmp_path)


def test_the_first_page_leads_on(tmp_path):
    (tmp_path / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=chapters/intro.html" />\n')
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "intro.html").write_text(PAGE % "")
    finish.write_first_page(tmp_path, "A & B")
    page = (tmp_path / "index.html").read_text()
    assert '<a href="chapters/intro.html">' in page
    assert "<title>A &amp; B</title>" in page
    assert 'content="Grove' in page
    finish.write_first_page(tmp_path, "A & B")
    assert (tmp_path / "index.html").read_text() == page


def test_a_first_page_that_is_the_index_stays(tmp_path):
    (tmp_path / "index.html").write_text(PAGE % "")
    finish.write_first_page(tmp_path, "A & B")
    assert (tmp_path / "index.html").read_text() == PAGE % ""


def test_icons_that_no_page_has_are_not_published(tmp_path):
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    shutil.copytree(theme, tmp_path / "_static")
    (tmp_path / "page.html").write_text('<i class="fa-solid fa-bars"></i><i class="fa-solid fa-plus"></i>')
    before = (tmp_path / icons.STYLES).stat().st_size
    styles.keep_used_rules(tmp_path)
    icons.keep_used_icons(tmp_path)
    text = (tmp_path / icons.STYLES).read_text()
    assert ".fa-bars" in text
    assert ".fa-hourglass-end" not in text
    assert len(text) < 0.6 * before
    fonts = tmp_path / icons.FONTS
    assert {path.suffix for path in fonts.iterdir()} == {".woff"}
    assert all(path.name in text for path in fonts.iterdir())
    solid = TTFont(fonts / "fa-solid-900.woff").getBestCmap()
    assert {0xF0C9, ord("+")} <= solid.keys()
    assert (fonts / "fa-solid-900.woff").stat().st_size < 20_000
    icons.keep_used_icons(tmp_path)
    assert (tmp_path / icons.STYLES).read_text() == text


def test_a_search_of_files_fetches_nothing(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "documentation_options.js").write_text("const DOCUMENTATION_OPTIONS = {};\n")
    finish.quiet_search(tmp_path)
    assert "SHOW_SEARCH_SUMMARY = false" in (tmp_path / "_static" / "documentation_options.js").read_text()


def test_rules_for_classes_that_are_not_there_go():
    sheet = """@charset "utf-8";/* .a{} */.a{x:1}.b,.a:hover{x:2}.b .a{x:3}@media (width>1px){.b{x:4}p{x:5}}
    .a:not(.b){x:6}:is(.a,.b) i{x:7}[href$=".pdf"]{x:8}.c-top{x:9}@keyframes k{from{x:10}to{x:11}}.b{x:12}"""
    left = styles.used_rules(sheet, {"a"}, ("c-",))
    assert re.findall(r"x:(\d+)", left) == ["1", "2", "5", "6", "7", "8", "9", "10", "11"]
    assert left.startswith('@charset "utf-8";.a{x:1}.a:hover{x:2}')
    assert left.count("{") == left.count("}")


def test_selectors_are_split_at_outer_commas_only():
    assert styles.split_selectors(".a, :is(.b, .c:not(.d, .e)) i,[x=','],p") == [
        ".a",
        " :is(.b, .c:not(.d, .e)) i",
        "[x=',']",
        "p",
    ]
