"""The pages of a built book as one page for paper: unique ids, links that stay inside, nothing that needs a screen."""

import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from sphinx_external_toc.api import SiteMap
from sphinx_external_toc.parsing import parse_toc_yaml

from lib.book.project import Project
from lib.book.site import commit

MATH = re.compile("katex|mathjax", re.IGNORECASE)
CONTROLS = "a.headerlink, script, form, button, input, select, iframe, dialog"
SCREEN_ONLY = f"{CONTROLS}, [hidden], .pdf-link, .screen-only, .only-dark, .provenance a.download"
# Code that the web page folds, but not the values given to this run; and cells of which nothing is left then.
FOLDED = "div.cell:not(.tag_injected-parameters) details.hide"
EMPTY = "div.cell:not(:has(pre, img, svg, table, p))"


@dataclass(frozen=True)
class Page:
    """A page of the site: its address below the site's folder, content, how far below a chapter, the part it opens."""

    address: str
    soup: BeautifulSoup
    depth: int
    part: str | None

    @property
    def name(self) -> str:
        """The page's name, which begins all its ids."""
        return name_of(self.address)

    @property
    def article(self) -> Tag:
        """What is on the page besides its frame."""
        return self.soup.find("article")

    @property
    def sections(self) -> list[Tag]:
        """The headings below it, if it is a chapter."""
        return [] if self.depth else self.article.find_all(class_="rank-2")

    @property
    def running_title(self) -> str:
        """The title as a string of CSS."""
        title = " ".join(self.soup.find(class_="rank-1").get_text().split())
        return title.replace("\\", r"\\").replace('"', r"\"").replace("<", r"\3c ")


def volume(project: Project, profile: str, date: str) -> dict:
    """Return what the template takes, for a page of HTML in a folder beside `html`.

    Parameters
    ----------
    project : Project
    profile : str
        Profile whose pages are taken, which must be built.
    date : str
        Date of the commit, shown on the title page; empty if there is none.
    """
    pages = read_pages(project, project.build_folder(profile) / "html")
    head = list(dict.fromkeys(tag for page in pages for tag in _head(page)))
    ids = {page.address: {tag["id"] for tag in page.article.find_all(id=True)} for page in pages}
    for page in pages:
        _clean(page.article)
        _stay_inside(page, ids)
        _style_headings(page)
    often = Counter(heading.get_text() for page in pages for heading in page.sections)
    return {
        "title": project.title,
        "subtitle": metadata("when-the-model-is-wrong")["Summary"],
        "author": project.config.get("author") or "",
        "commit": commit(project).replace("`", ""),
        "profile": profile,
        "date": date,
        "head": head,
        "pages": pages,
        "listed": [words for words, times in often.items() if times == 1],  # not those that each chapter has
    }


def name_of(address: str) -> str:
    """Return a page's name, fit for an id, from its address: page-cia-curves from chapters/cia/curves.html."""
    return "page-" + re.sub(r"[^A-Za-z0-9_]", "-", address.removeprefix("chapters/").removesuffix(".html"))


def read_pages(project: Project, folder: Path) -> list[Page]:
    """Return the pages of the site in `folder` that the table of contents names, in reading order."""
    sitemap = parse_toc_yaml(project.root / "_toc.yml")
    places = [(sitemap.root.docname, 0, None), *_below(sitemap, sitemap.root.docname, 0)]
    texts = [(folder / f"{name}.html").read_text(encoding="utf-8") for name, _, _ in places]
    soups = [BeautifulSoup(text, "html.parser") for text in texts]
    return [Page(f"{name}.html", soup, *rest) for (name, *rest), soup in zip(places, soups, strict=True)]


def _below(sitemap: SiteMap, name: str, depth: int):
    """Yield the pages below one: name, how far below a chapter, the part it opens."""
    for tree in sitemap[name].subtrees:
        for position, item in enumerate(tree.items):
            yield item, depth, tree.caption if position == 0 else None
            yield from _below(sitemap, item, 1)


def _head(page: Page) -> list[str]:
    tags = page.soup.head.find_all("link", rel="stylesheet")
    tags += [tag for tag in page.soup.head.find_all("script") if MATH.search(str(tag))]
    for tag in tags:
        _move(tag, page)
    return [str(tag) for tag in tags]


def _move(tag: Tag, page: Page) -> None:
    for attribute in ("href", "src", "data"):
        address = tag.get(attribute)
        if address and not urlsplit(address).scheme:
            tag[attribute] = posixpath.join("..", "html", _resolve(page, address))


def _resolve(page: Page, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.address), address))


def _clean(article: Tag) -> None:
    for selector in (SCREEN_ONLY, FOLDED, EMPTY):
        for tag in article.select(selector):
            tag.decompose()
    for tag in article.find_all("noscript"):
        tag.unwrap()
    for tag in article.find_all("details"):
        tag["open"] = ""
    for tag in article.find_all("img", loading=True):
        del tag["loading"]


def _stay_inside(page: Page, ids: dict[str, set[str]]) -> None:
    """Make ids unique in the book; a link to what the book does not hold becomes plain text."""
    for tag in page.article.find_all(["img", "object", "source"]):
        _move(tag, page)
    for link in page.article.find_all("a", href=True):
        address = urlsplit(link["href"])
        if address.scheme:
            continue
        target = _resolve(page, unquote(address.path)) if address.path else page.address
        if target not in ids:
            link.unwrap()
            continue
        place = f".{address.fragment}" if address.fragment in ids[target] else ""
        link["href"] = f"#{name_of(target)}{place}"
    for tag in page.article.find_all(id=True):
        if not tag.find_parent("svg"):
            tag["id"] = f"{page.name}.{tag['id']}"


def _style_headings(page: Page) -> None:
    """Name each heading's rank, and move all of them down, below those of the parts and of the pages above."""
    for tag in page.article.find_all(re.compile("^h[1-5]$")):
        rank = int(tag.name[1])
        tag["class"] = f"rank-{rank}"
        tag.name = f"h{min(6, rank + 1 + page.depth)}"
