"""What is done to the pages once they are HTML: figures for both themes, descriptions, repairs of the theme."""

import html
import re
import textwrap
from pathlib import Path
from urllib.parse import quote, unquote

import yaml

from lib.book.pages import render
from lib.book.pictures import adapt
from lib.book.project import BookError, Project

LENGTH = 160  # characters of a description that search engines show
REPAIRS = yaml.safe_load(
    (Path(__file__).parent / "templates" / "repairs.yml").read_text(encoding="utf-8")
)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
FIRST_PARAGRAPH = re.compile(r"</h1>.*?<p>(.*?)</p>", re.DOTALL)
FORWARD = re.compile(r'http-equiv="Refresh".*?url=([^"]+)')


def finish(project: Project, folder: Path) -> None:
    """Go over every page below `folder`, a built site, and add what a site has besides its pages."""
    book, unmatched = project.title, {}
    for path in sorted(folder.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "<head>" in page:
            path.write_text(
                finish_page(repair(page, unmatched), book, path.parent), encoding="utf-8"
            )
    for pattern in [pattern for pattern, nothing in unmatched.items() if nothing]:
        raise BookError(
            f"the theme has changed: adapt the repair of {pattern!r} in lib/book/templates/repairs.yml"
        )
    write_first_page(folder, book)
    (folder / "404.html").write_text(render("404.html", title=book), encoding="utf-8")
    write_sitemap(project, folder, (project.config.get("html") or {}).get("baseurl"))


def repair(page: str, unmatched: dict[str, bool]) -> str:
    """Return a page of the theme, repaired; note for each repair that a page needs whether it found nothing yet."""
    for one in REPAIRS:
        if one.get("word", "") in page:
            page, n_found = re.subn(one["pattern"], one.get("new", ""), page)
            unmatched[one["pattern"]] = (
                unmatched.get(one["pattern"], not one.get("sometimes")) and not n_found
            )
    return page


def finish_page(page: str, book: str, folder: Path) -> str:
    """Return a page, which lies in `folder`, with its figures in two variants and with what describes it."""
    heading = TITLE.search(page)[1]
    title = html.unescape(heading.split(" &#8212; ")[0]).strip() or book
    text = description(page) or f"{title} of the book {book}."
    head = render("head.html", title=title, book=book, description=text)
    return TITLE.sub(lambda _: head, adapt(page, folder), count=1)


def description(page: str) -> str:
    """Return the beginning of the first paragraph below the heading, as plain text; nothing if there is none."""
    article = page.partition('<article class="bd-article">')[2]
    paragraph = FIRST_PARAGRAPH.search(article)
    if not paragraph:
        return ""
    text = re.sub(r'<span class="bibtex-citation".*?</span>', "", paragraph[1], flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\\(", "").replace("\\)", "")
    return textwrap.shorten(re.sub(r"\s+([,.;:])", r"\1", text), LENGTH, placeholder=" …")


def write_first_page(folder: Path, book: str) -> None:
    """Write index.html, which leads on to the first page of the book as jupyter-book's does, and says what it is."""
    target = FORWARD.search((folder / "index.html").read_text(encoding="utf-8"))[1]
    first = (folder / unquote(target)).read_text(encoding="utf-8")
    text = render("index.html", title=book, description=description(first) or book, target=target)
    (folder / "index.html").write_text(text, encoding="utf-8")


def write_sitemap(project: Project, folder: Path, address: str | None) -> None:
    """Write sitemap.xml of the pages in `folder`; nothing as long as the site's address (html: baseurl) is not set."""
    if address:
        names = [
            page.relative_to(project.root).with_suffix(".html").as_posix() for page in project.pages
        ]
        places = [
            f"{address.rstrip('/')}/{quote(name)}" for name in names if (folder / name).exists()
        ]
        (folder / "sitemap.xml").write_text(render("sitemap.xml", places=places), encoding="utf-8")
