"""The pages as one: names, links and headings of each."""

import pytest
from bs4 import BeautifulSoup

from lib.book.paper import volume


def page(address, article):
    soup = BeautifulSoup(f"<article>{article}</article>", "html.parser")
    return volume.Page(address, soup, 0, None)


@pytest.mark.parametrize(
    "link", ["f%C3%BCr%20b.html#x", "./für b.html#x", "../chapters/f%C3%BCr%20b.html#x"]
)
def test_links_between_pages_stay_inside(link):
    first = page("chapters/a.html", f'<h1>A</h1><a href="{link}">b</a>')
    second = page("chapters/für b.html", '<section id="x"><h1>B</h1></section>')
    volume.stay_inside([first, second])
    assert first.soup.article.a["href"] == "#" + second.soup.article.section["id"]
    assert second.soup.article.section["id"] == "page-f-r-b.x"


def test_a_link_to_what_is_not_in_the_book_is_text_and_one_elsewhere_stays():
    links = '<a href="../genindex.html">index</a> <a href="https://example.org/">there</a>'
    only_page = page("chapters/a.html", links)
    volume.stay_inside([only_page])
    article = only_page.soup.article
    assert [link["href"] for link in article.find_all("a")] == ["https://example.org/"]
    assert "index" in article.get_text()
