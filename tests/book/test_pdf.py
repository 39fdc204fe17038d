"""The book as one PDF."""

import re
import shutil

import pikepdf
import pytest
from click import ClickException
from conftest import PDF_LINK

from lib.book.paper import pdf
from lib.book.paper.pdf import NAME, compress, find_browser, make_pdf, show_link
from lib.book.run.project import Project

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
    source = tmp_path / "source.pdf"
    target = tmp_path / "a.pdf"
    pikepdf.new().save(source)
    for day, expected in (("2026-01-31", "D:20260131000000Z"), ("", None)):
        compress(source, target, day)
        with pikepdf.open(target) as document:
            assert document.docinfo.get("/CreationDate") == expected
        contents = target.read_bytes()
        compress(source, target, day)
        assert target.read_bytes() == contents


def test_places_have_two_decimals_and_scales_keep_theirs(tmp_path):
    """`cm` scales, `Td` moves to a place, `Tj` shows a text."""
    contents = b".00267185 0 0 1 2.5 700 cm\n9.1234567 -1.5 Td <02> Tj\n"
    with pikepdf.new() as document:
        document.add_blank_page().Contents = document.make_stream(contents)
        document.save(tmp_path / "source.pdf")
    compress(tmp_path / "source.pdf", tmp_path / "a.pdf", "")
    with pikepdf.open(tmp_path / "a.pdf") as document:
        compressed = document.pages[0].Contents.read_bytes()
    assert compressed == b".00267185 0 0 1 2.5 700 cm\n9.12 -1.5 Td <02> Tj\n"


def test_the_link_is_shown_once_with_the_size(tmp_path):
    page = tmp_path / "intro.html"
    page.write_text(f"<body>{PDF_LINK}</body>")
    show_link(page, 2_000_000)
    show_link(page, 3_140_000)
    assert page.read_text().count("MB") == 1
    link = f'<a href="../{NAME}">The whole book as a PDF</a>'
    assert f'<p class="pdf-link">{link} (3.1 MB)</p>' in page.read_text()


def all_bookmarks(items):
    """Yield bookmarks, each with its descendants."""
    for item in items:
        yield item
        yield from all_bookmarks(item.children)


@needs_chromium
def test_the_book_is_one_pdf_with_bookmarks_and_links_that_stay_inside(built_project, tmp_path):
    project = Project(shutil.copytree(built_project.root, tmp_path / "a {copy}"))
    with pikepdf.open(make_pdf(project, "quick")) as document:
        with document.open_outline() as outline:
            titles = {item.title for item in all_bookmarks(outline.root)}
        assert {"A part", "A chapter", "Result"} <= titles
        links = []
        for page in document.pages:
            for annotation in page.get("/Annots", []):
                if "/URI" in annotation.get("/A", {}):
                    links.append(str(annotation.A.URI))
        assert not [link for link in links if re.match(r"file:|https?://(localhost|127)", link)]
        assert [round(float(x)) for x in document.pages[0].mediabox] == [0, 0, 595, 842]  # A4
        assert "/StructTreeRoot" in document.Root  # the headings, for those who listen
    page = (project.build_folder("quick") / "pdf" / "book.html").read_text()
    contents = re.findall(r'href="#([\w.-]+)"', page.partition("<main>")[0])
    assert contents[:3] == ["page-intro", "page-cia-climb", "page-cia-climb.what-we-found"]
    assert set(contents) <= set(re.findall(r'id="([^"]*)"', page))
    assert r'content: "An \"introduction\""' in page
    assert "n_models" in page
    assert "Claims(" not in page  # code that the web page folds
