"""The book as one PDF."""

import re
import shutil

import pikepdf
import pytest
from click import ClickException
from conftest import HIDDEN

from lib.book import pdf
from lib.book.pdf import NAME, compress, find_browser, make_pdf, show_link
from lib.book.project import Project

needs_chromium = pytest.mark.skipif(
    not any(map(shutil.which, pdf.BROWSERS)), reason="Chromium is not installed"
)


def test_a_browser_that_is_named_but_missing_is_an_error(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(
        ClickException, match="none of no-such-browser is installed.*apt install chromium"
    ):
        find_browser()


def test_pages_that_were_not_built_are_an_error(project):
    with pytest.raises(ClickException, match="book build --profile quick"):
        make_pdf(project, "quick")


def test_the_date_is_the_commits(tmp_path):
    pikepdf.new().save(tmp_path / "printed.pdf")
    for day, expected in (("2026-01-31", "D:20260131000000Z"), ("", None)):
        compress(tmp_path / "printed.pdf", tmp_path / "a.pdf", day)
        with pikepdf.open(tmp_path / "a.pdf") as made:
            assert made.docinfo.get("/CreationDate") == expected
        before = (tmp_path / "a.pdf").read_bytes()
        compress(tmp_path / "printed.pdf", tmp_path / "a.pdf", day)
        assert (tmp_path / "a.pdf").read_bytes() == before


def test_places_have_two_decimals_and_scales_keep_theirs(tmp_path):
    with pikepdf.new() as printed:
        printed.add_blank_page().Contents = printed.make_stream(
            b".00267185 0 0 1 2.5 700 cm\n9.1234567 -1.5 Td <02> Tj\n"
        )
        printed.save(tmp_path / "printed.pdf")
    compress(tmp_path / "printed.pdf", tmp_path / "a.pdf", "")
    with pikepdf.open(tmp_path / "a.pdf") as made:
        assert (
            made.pages[0].Contents.read_bytes()
            == b".00267185 0 0 1 2.5 700 cm\n9.12 -1.5 Td <02> Tj\n"
        )


def test_the_link_is_shown_once_with_the_size(tmp_path):
    page = tmp_path / "intro.html"
    page.write_text(f"<body>{HIDDEN}</body>")
    show_link(page, 2_000_000)
    show_link(page, 3_140_000)
    assert page.read_text().count("MB") == 1
    assert (
        f'<p class="pdf-link"><a href="../{NAME}">The whole book as a PDF</a> (3.1 MB)</p>'
        in page.read_text()
    )


def flat(items):
    """Bookmarks with those below them."""
    for item in items:
        yield item
        yield from flat(item.children)


@needs_chromium
def test_the_book_is_one_pdf_with_bookmarks_and_links_that_stay_inside(built, tmp_path):
    built = Project(shutil.copytree(built.root, tmp_path / "a {copy}"))
    with pikepdf.open(make_pdf(built, "quick")) as made:
        with made.open_outline() as outline:
            assert {"A part", "A chapter", "Result"} <= {item.title for item in flat(outline.root)}
        links = [
            str(note.A.URI)
            for page in made.pages
            for note in page.get("/Annots", [])
            if "/URI" in note.get("/A", {})
        ]
        assert not [link for link in links if re.match(r"file:|https?://(localhost|127)", link)]
        assert [round(float(x)) for x in made.pages[0].mediabox] == [0, 0, 595, 842]  # A4
        assert "/StructTreeRoot" in made.Root
    page = (built.build_folder("quick") / "pdf" / "book.html").read_text()
    contents = re.findall(r'href="#([\w.-]+)"', page.partition("<main>")[0])
    assert contents[:3] == ["page-intro", "page-cia-curves", "page-cia-curves.result"]
    assert set(contents) <= set(re.findall(r'id="([^"]*)"', page))
    assert r'content: "An \"introduction\""' in page
    assert "n_models" in page
    assert "Claims(" not in page  # code that the web page folds
