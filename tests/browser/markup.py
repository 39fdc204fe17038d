"""What the tests need of a page's HTML, read without a browser."""

import re
from dataclasses import dataclass, field
from functools import cache

from bs4 import BeautifulSoup

ADDRESSES = ("href", "src", "data", "poster", "action")


@dataclass
class Markup:
    """Ids, references as (tag, address), images and headings of a page, and what its head says."""

    ids: set = field(repr=False)
    references: list = field(repr=False)
    images: list
    headings: int
    title: str
    metas: dict
    icons: list
    language: str
    text: str = field(repr=False)

    @property
    def words(self):
        return set(re.findall(r"[a-z]+", self.text))


def _visible_text(soup):
    """The text that readers see; BeautifulSoup leaves out all of the rest but these two."""
    for tag in soup.find_all(("title", "noscript")):
        tag.decompose()
    return soup.get_text()


@cache
def read_markup(path):
    soup = BeautifulSoup(
        path.read_text(encoding="utf-8"), "html.parser", multi_valued_attributes=None
    )
    tags = soup.find_all(True)
    ids = {tag["id"] for tag in tags if tag.get("id")}
    ids |= {tag["name"] for tag in soup.select("a[name]")}
    references = []
    for tag in tags:
        references += [(tag.name, tag[attribute]) for attribute in ADDRESSES if tag.get(attribute)]
    # an image may have a title, too
    titles = [tag.get_text() for tag in soup.find_all("title") if not tag.find_parent("svg")]
    # of two with the same name the first counts
    metas = {tag.get("name"): tag.get("content", "") for tag in reversed(soup.find_all("meta"))}
    return Markup(
        ids=ids,
        references=references,
        images=[tag.attrs for tag in soup.find_all("img")],
        headings=len(soup.find_all("h1")),
        title="".join(titles),
        metas=metas,
        icons=[tag.get("href") for tag in soup.select('link[rel~="icon"]')],
        language=soup.html.get("lang", ""),
        text=_visible_text(soup),
    )
