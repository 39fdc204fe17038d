"""The last changes of pages in HTML: variants of figures, descriptions, repairs of the theme."""

import html
import re
import textwrap
from pathlib import Path
from urllib.parse import quote, unquote

import yaml

from lib.book.pages.pictures import adapt
from lib.book.rendering import render
from lib.book.run.project import BookError, Project

DESCRIPTION_LENGTH = 160  # characters, as many as search engines show
REPAIRS = yaml.safe_load(
    (Path(__file__).parents[1] / "templates" / "repairs.yml").read_text(encoding="utf-8")
)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
FIRST_PARAGRAPH = re.compile(r"</h1>.*?<p>(.*?)</p>", re.DOTALL)
CITATION = re.compile(r'<span class="bibtex-citation".*?</span>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")
FORMULA_END = re.compile(r"\\[()]")  # \( or \)
SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:])")  # where a citation was
FORWARD = re.compile(r'http-equiv="Refresh".*?url=([^"]+)')


def finish(project: Project, folder: Path) -> None:
    """Change every page below `folder`, a built site, and add the pages that Sphinx does not make.

    Raises
    ------
    BookError
        If no page has what a repair is for, because the theme has changed.
    """
    book = project.title
    unmatched = {}
    for path in sorted(folder.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "<head>" in page:
            page = finish_page(repair(page, unmatched), book, path.parent)
            path.write_text(page, encoding="utf-8")
    for pattern, is_unmatched in unmatched.items():
        if is_unmatched:
            raise BookError(
                "the theme has changed: adapt the repair of "
                f"{pattern!r} in lib/book/templates/repairs.yml"
            )
    write_first_page(folder, book)
    (folder / "404.html").write_text(render("404.html", title=book), encoding="utf-8")
    write_sitemap(project, folder, (project.config.get("html") or {}).get("baseurl"))


def repair(page: str, unmatched: dict[str, bool]) -> str:
    """Return a page of the theme with all repairs that it needs.

    Parameters
    ----------
    page : str
        HTML.
    unmatched : dict of str to bool
        Is changed: for the pattern of each repair that a page needed so far, whether it was found
        nowhere. Patterns that need not occur count as found.
    """
    for entry in REPAIRS:
        if entry.get("word", "") not in page:
            continue
        pattern = entry["pattern"]
        page, n_found = re.subn(pattern, entry.get("new", ""), page)
        must_occur = not entry.get("sometimes")
        unmatched[pattern] = unmatched.get(pattern, must_occur) and not n_found
    return page


def finish_page(page: str, book: str, folder: Path) -> str:
    """Return a page with both variants of its figures and a head that describes it.

    Parameters
    ----------
    page : str
        HTML.
    book : str
        The title of the book.
    folder : Path
        Where the page lies, with its figures.
    """
    # Sphinx's title is that of the page, a dash and that of the book.
    heading = TITLE.search(page)[1].split(" &#8212; ")[0]
    title = html.unescape(heading).strip() or book
    head = render(
        "head.html",
        title=title,
        book=book,
        description=description(page) or f"{title} of the book {book}.",
    )
    return TITLE.sub(lambda _: head, adapt(page, folder), count=1)


def description(page: str) -> str:
    """Return the beginning of the first paragraph below the heading as plain text.

    It is empty if there is no such paragraph.
    """
    article = page.partition('<article class="bd-article">')[2]
    paragraph = FIRST_PARAGRAPH.search(article)
    if not paragraph:
        return ""
    text = CITATION.sub("", paragraph[1])
    text = html.unescape(TAG.sub("", text))
    text = FORMULA_END.sub("", text)
    text = SPACE_BEFORE_MARK.sub(r"\1", text)
    return textwrap.shorten(text, DESCRIPTION_LENGTH, placeholder=" …")


def write_first_page(folder: Path, book: str) -> None:
    """Write index.html, which leads on to the first page of the book and describes it.

    jupyter-book's, which it replaces, leads on only.
    """
    target = FORWARD.search((folder / "index.html").read_text(encoding="utf-8"))[1]
    first_page = (folder / unquote(target)).read_text(encoding="utf-8")
    text = render(
        "index.html", title=book, description=description(first_page) or book, target=target
    )
    (folder / "index.html").write_text(text, encoding="utf-8")


def write_sitemap(project: Project, folder: Path, address: str | None) -> None:
    """Write sitemap.xml of the pages in `folder`, if the address of the site is known.

    The address is ``baseurl`` below ``html`` in ``_config.yml``.
    """
    if not address:
        return
    places = []
    for page in project.pages:
        name = page.relative_to(project.root).with_suffix(".html").as_posix()
        if (folder / name).exists():
            places.append(f"{address.rstrip('/')}/{quote(name)}")
    (folder / "sitemap.xml").write_text(render("sitemap.xml", places=places), encoding="utf-8")
