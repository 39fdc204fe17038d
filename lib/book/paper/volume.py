"""The pages of a built book as one page for paper: unique ids, inner links, no controls."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from sphinx_external_toc.api import SiteMap
from sphinx_external_toc.parsing import parse_toc_yaml

from lib.book.run.history import commit_markup
from lib.book.run.project import Project

# CSS selectors of what paper does not show, in the order in which it is removed.
SCREEN_ONLY = (
    "a.headerlink, script, form, button, input, select, iframe, dialog, [hidden]",
    ".pdf-link, .screen-only, .tag_screen-only, .only-dark, .provenance a.download",
    # Code that the web page folds, but not the values given to this run.
    "div.cell:not(.tag_injected-parameters) details.hide",
    # What a chapter cites: the bibliography follows in the same volume.
    "section section#references",
    # Cells of which nothing is left.
    "div.cell:not(:has(pre, img, svg, table, p))",
)


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Parameters
    ----------
    address : str
        Of the page, below the site's folder.
    soup : BeautifulSoup
        The page's content, which is changed in place.
    depth : int
        0 for a chapter, 1 for a page below a chapter.
    part : str or None
        The caption of the part of the book that begins with the page.
    """

    address: str
    soup: BeautifulSoup
    depth: int
    part: str | None

    @property
    def name(self) -> str:
        """The prefix of all ids of the page: page-cia-curves for chapters/cia/curves.html."""
        path = self.address.removeprefix("chapters/").removesuffix(".html")
        return "page-" + re.sub(r"[^A-Za-z0-9_]", "-", path)

    @property
    def headings(self) -> list[Tag]:
        """The title of the page and, if it is a chapter, the headings of its sections."""
        return self.soup.article.select(".rank-1" if self.depth else ".rank-1, .rank-2")


def volume(project: Project, profile: str, commit: str, date: str) -> dict:
    """Return the values for the template, which makes a page of HTML in a folder beside `html`.

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
    head = []
    for page in pages:
        head += page.soup.select('head link[rel="stylesheet"], head script[src*="katex"]')
    heading_counts = Counter(heading.get_text() for page in pages for heading in page.headings[1:])
    # The table of contents lists no heading that several chapters have, such as "Parameters".
    unique_headings = [heading for heading, count in heading_counts.items() if count == 1]
    return {
        "title": project.title,
        "subtitle": metadata("when-the-model-is-wrong")["Summary"].partition(":")[0],
        "author": project.config.get("author") or "",
        "commit": commit_markup(commit).replace("`", ""),
        "profile": profile,
        "date": date,
        "head": dict.fromkeys(map(str, head)),  # each once, in the order of the pages
        "pages": pages,
        "unique_headings": unique_headings,
    }


def read_pages(project: Project, folder: Path) -> list[Page]:
    """Return the pages that the table of contents names, in its order, fit for paper.

    Parameters
    ----------
    project : Project
    folder : Path
        Where the site is.
    """
    sitemap = parse_toc_yaml(project.root / "_toc.yml")
    root = sitemap.root.docname
    entries = [(root, 0, None), *_subpages(sitemap, root, 0)]
    pages = []
    for name, depth, part in entries:
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        # A picture that is loaded when it comes into view is not printed.
        soup = BeautifulSoup(text.replace(' loading="lazy"', ""), "html.parser")
        for selector in SCREEN_ONLY:
            for tag in soup.article.select(selector):
                tag.decompose()
        pages.append(Page(f"{name}.html", soup, depth, part))
    return pages


def _subpages(sitemap: SiteMap, name: str, depth: int) -> Iterator[tuple[str, int, str | None]]:
    """Yield the pages below a page: name, depth, and caption of the part that begins with it."""
    for tree in sitemap[name].subtrees:
        for position, item in enumerate(tree.items):
            yield item, depth, tree.caption if position == 0 else None
            yield from _subpages(sitemap, item, 1)


def stay_inside(pages: list[Page]) -> None:
    """Make ids, links and headings those of one book.

    A link to a page that the book does not contain becomes plain text.
    """
    ids = {
        page.address: {tag["id"] for tag in page.soup.article.find_all(id=True)} for page in pages
    }
    names = {page.address: page.name for page in pages}
    for page in pages:
        for tag in page.soup.select("link[href], script[src], img[src]"):
            attribute = "href" if tag.name == "link" else "src"
            if not urlsplit(tag[attribute]).scheme:
                tag[attribute] = f"../html/{_resolve(page, tag[attribute])}"
        for link in page.soup.article.find_all("a", href=True):
            _redirect(link, page, names, ids)
        for tag in page.soup.article.find_all(id=True):
            # Figures refer to ids of their own.
            if not tag.find_parent("svg"):
                tag["id"] = f"{page.name}.{tag['id']}"
        # The headings of the parts and of the pages above rank higher.
        for tag in page.soup.article.find_all(re.compile("^h[1-5]$")):
            rank = int(tag.name[1])
            tag["class"] = f"rank-{rank}"
            tag.name = f"h{min(6, rank + 1 + page.depth)}"


def _redirect(link: Tag, page: Page, names: dict[str, str], ids: dict[str, set[str]]) -> None:
    """Let a link to a page of the site lead to its place in the book, or make it plain text.

    Parameters
    ----------
    link : Tag
    page : Page
        The page that has the link.
    names : dict of str to str
        The name of each page in the book, by its address.
    ids : dict of str to set of str
        The ids that each page had in the site, by its address.
    """
    url = urlsplit(link["href"])
    if url.scheme:
        return
    address = _resolve(page, unquote(url.path)) if url.path else page.address
    if address not in names:
        link.unwrap()
    elif url.fragment in ids[address]:
        link["href"] = f"#{names[address]}.{url.fragment}"
    else:
        link["href"] = f"#{names[address]}"


def _resolve(page: Page, address: str) -> str:
    """Return an address that is relative to a page as one below the site's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.address), address))
