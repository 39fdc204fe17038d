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

from lib.book.history import commit_markup
from lib.book.project import Project

LEFT_OUT = (
    "a.headerlink, script, form, button, input, select, iframe, dialog, [hidden]",
    ".pdf-link, .screen-only, .only-dark, .provenance a.download",
    # Code that the web page folds, but not the values given to this run; then cells of which
    # nothing is left.
    "div.cell:not(.tag_injected-parameters) details.hide",
    "div.cell:not(:has(pre, img, svg, table, p))",
)


@dataclass(frozen=True)
class Page:
    """A page of the site: its address below the site's folder, content, how far below a chapter, the part it opens."""

    address: str
    soup: BeautifulSoup
    depth: int
    part: str | None

    @property
    def name(self) -> str:
        """A name fit for an id, with which all its ids begin: page-cia-curves for chapters/cia/curves.html."""
        return "page-" + re.sub(
            r"[^A-Za-z0-9_]", "-", self.address.removeprefix("chapters/").removesuffix(".html")
        )

    @property
    def headings(self) -> list[Tag]:
        """Its title and, if it is a chapter, the headings below it."""
        return self.soup.article.select(".rank-1" if self.depth else ".rank-1, .rank-2")


def volume(project: Project, profile: str, commit: str, date: str) -> dict:
    """Return what the template takes, for a page of HTML in a folder beside `html`.

    Parameters
    ----------
    project : Project
    profile : str
        Profile whose pages are taken, which must be built.
    commit, date : str
        Commit of the pages and its day, shown on the title page; an empty day if there is none.
    """
    pages = read_pages(project, project.build_folder(profile) / "html")
    stay_inside(pages)
    head = [
        tag
        for page in pages
        for tag in page.soup.select('head link[rel="stylesheet"], head script[src*="katex"]')
    ]
    often = Counter(heading.get_text() for page in pages for heading in page.headings[1:])
    # not those that each chapter has
    once = [words for words, times in often.items() if times == 1]
    return {
        "title": project.title,
        "subtitle": metadata("when-the-model-is-wrong")["Summary"],
        "author": project.config.get("author") or "",
        "commit": commit_markup(commit).replace("`", ""),
        "profile": profile,
        "date": date,
        "head": dict.fromkeys(map(str, head)),
        "pages": pages,
        "listed": once,
    }


def read_pages(project: Project, folder: Path) -> list[Page]:
    """Return the pages of the site in `folder` that the table of contents names, in reading order, fit for paper."""
    sitemap = parse_toc_yaml(project.root / "_toc.yml")
    pages = []
    for name, depth, part in [
        (sitemap.root.docname, 0, None),
        *_below(sitemap, sitemap.root.docname, 0),
    ]:
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        soup = BeautifulSoup(text.replace(' loading="lazy"', ""), "html.parser")
        pages.append(Page(f"{name}.html", soup, depth, part))
        for selector in LEFT_OUT:
            for tag in soup.article.select(selector):
                tag.decompose()
    return pages


def _below(sitemap: SiteMap, name: str, depth: int):
    """Yield the pages below one: name, how far below a chapter, the part it opens."""
    for tree in sitemap[name].subtrees:
        for position, item in enumerate(tree.items):
            yield item, depth, tree.caption if position == 0 else None
            yield from _below(sitemap, item, 1)


def stay_inside(pages: list[Page]) -> None:
    """Make ids and headings those of one book; a link to what the book does not hold becomes plain text."""
    ids = {
        page.address: (page.name, {tag["id"] for tag in page.soup.article.find_all(id=True)})
        for page in pages
    }
    for page in pages:
        for tag in page.soup.select("link[href], script[src], img[src]"):
            attribute = "href" if tag.name == "link" else "src"
            if not urlsplit(tag[attribute]).scheme:
                tag[attribute] = f"../html/{_resolve(page, tag[attribute])}"
        for link in page.soup.article.find_all("a", href=True):
            _lead(link, page, ids)
        for tag in page.soup.article.find_all(id=True):
            if not tag.find_parent("svg"):
                tag["id"] = f"{page.name}.{tag['id']}"
        # Below the headings of the parts and of the pages above.
        for tag in page.soup.article.find_all(re.compile("^h[1-5]$")):
            rank = int(tag.name[1])
            tag["class"] = f"rank-{rank}"
            tag.name = f"h{min(6, rank + 1 + page.depth)}"


def _lead(link: Tag, page: Page, ids: dict[str, tuple[str, set[str]]]) -> None:
    address = urlsplit(link["href"])
    target = _resolve(page, unquote(address.path)) if address.path else page.address
    if target in ids and not address.scheme:
        name, there = ids[target]
        link["href"] = f"#{name}.{address.fragment}" if address.fragment in there else f"#{name}"
    elif not address.scheme:
        link.unwrap()


def _resolve(page: Page, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.address), address))
