"""What the tests need of a page's HTML, read without a browser."""

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

UNSEEN = ("script", "style", "template", "noscript")
ADDRESSES = ("href", "src", "data", "poster", "action")


@dataclass
class Markup:
    """Ids, references as (tag, address), images and headings of a page, and what its head says."""

    ids: set = field(default_factory=set, repr=False)
    references: list = field(default_factory=list, repr=False)
    images: list = field(default_factory=list)
    headings: int = 0
    title: str = ""
    metas: dict = field(default_factory=dict)
    icons: list = field(default_factory=list)
    language: str = ""
    text: str = field(default="", repr=False)

    @property
    def words(self):
        return set(re.findall(r"[a-z]+", self.text))


class MarkupParser(HTMLParser):
    def __init__(self):
        super().__init__()
        self.page, self.open = Markup(), []

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.open.append(tag)
        self.page.ids.update({given.get("id"), given.get("name") if tag == "a" else None} - {None})
        self.page.references += [(tag, given[name]) for name in ADDRESSES if given.get(name)]
        if tag == "img":
            self.page.images.append(given)
        elif tag == "h1":
            self.page.headings += 1
        elif tag == "html":
            self.page.language = given.get("lang", "")
        elif tag == "meta":
            self.page.metas.setdefault(given.get("name"), given.get("content", ""))
        elif tag == "link" and "icon" in given.get("rel", "").split():
            self.page.icons.append(given.get("href"))

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if "title" in self.open and "svg" not in self.open:
            self.page.title += data
        elif not any(tag in self.open for tag in UNSEEN):
            self.page.text += data


@cache
def read_markup(path):
    return parse_markup(path.read_text(encoding="utf-8"))


def parse_markup(text):
    parser = MarkupParser()
    parser.feed(text)
    parser.close()
    return parser.page
