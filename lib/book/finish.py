"""What is done to the pages once they are HTML: figures for both themes, descriptions, nothing superfluous."""

import html
import re
import textwrap
from pathlib import Path
from urllib.parse import quote, unquote

from lib.book.icons import keep_used_icons
from lib.book.pictures import adapt
from lib.book.project import Project
from lib.book.styles import keep_used_rules

LENGTH = 160  # characters of a description that search engines show
# The theme's style sheet has the icons as a font; the script, 1.5 MB, has them a second time.
ICON_SCRIPT = re.compile(
    r"\s*<!-- So that users can add custom icons -->\s*<script src=[^>]*fontawesome\.js[^>]*></script>"
)
# A second title and table of contents, for a page that is printed by itself.
PRINT_ONLY = re.compile(r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', re.DOTALL)
REPEATED_VIEWPORT = re.compile(r'<meta name="viewport" content="width=device-width, initial-scale=1" ?/>')
# Repairs of the theme: a first visit is in the reader's own light or dark; a control's name is the text that it shows.
REPAIRS = (
    ('localStorage.getItem("mode") || ""', 'localStorage.getItem("mode") || "auto"'),
    (
        'localStorage.getItem("theme") || ""',
        'localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
    ('<summary><span class="toctree-toggle"', '<summary aria-label="Pages below"><span class="toctree-toggle"'),
    (
        'search-button-field search-button__button pst-js-only" title="Search" aria-label="Search"',
        'search-button-field search-button__button pst-js-only"',
    ),
    ('<span class="search-button__kbd-shortcut">', '<span class="search-button__kbd-shortcut" aria-hidden="true">'),
    (' role="doc-biblioentry"', ' role="listitem"'),
)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
FIRST_PARAGRAPH = re.compile(r"</h1>.*?<p>(.*?)</p>", re.DOTALL)
FIRST_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{description}">
<meta http-equiv="refresh" content="0; url={target}">
<link rel="icon" href="_static/favicon.svg">
</head>
<body><main><h1>{title}</h1><p><a href="{target}">Open the book</a></p></main></body>
</html>
"""


def finish(project: Project, folder: Path) -> None:
    """Go over every page below `folder`, a built site, and add what a site has besides its pages."""
    book = project.title
    for path in sorted(folder.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "<head>" in page:
            path.write_text(finish_page(page, book, path.parent), encoding="utf-8")
    keep_used_rules(folder)
    keep_used_icons(folder)
    quiet_search(folder)
    write_first_page(folder, book)
    write_not_found(project, folder, book)
    write_sitemap(project, folder, (project.config.get("html") or {}).get("baseurl"))


def finish_page(page: str, book: str, folder: Path) -> str:
    """Return a page, which lies in `folder`, as it is published."""
    page = adapt(ICON_SCRIPT.sub("", page), folder)
    page = PRINT_ONLY.sub("", page)
    page = REPEATED_VIEWPORT.sub("", page)
    for old, new in REPAIRS:
        page = page.replace(old, new)
    title = page_title(page, book)
    shown = html.escape(title if title == book else f"{title} — {book}")
    head = f"<title>{shown}</title>\n{description_tags(page, title, book)}"
    return TITLE.sub(lambda _: head, page, count=1)


def page_title(page: str, book: str) -> str:
    """Return the title of a page without the book's, as plain text."""
    found = TITLE.search(page)[1]
    return html.unescape(found.split(" &#8212; ")[0]).strip() or book


def description_tags(page: str, title: str, book: str) -> str:
    """Return the tags that search engines and previews show: the first sentences of the page."""
    text = description(page) or f"{title} of the book {book}."
    content = html.escape(text)
    return "\n".join(
        [
            f'<meta name="description" content="{content}">',
            '<meta property="og:type" content="article">',
            f'<meta property="og:title" content="{html.escape(title)}">',
            f'<meta property="og:description" content="{content}">',
        ]
    )


def description(page: str) -> str:
    """Return the beginning of the first paragraph below the heading, as plain text; nothing if there is none."""
    article = page.partition('<article class="bd-article">')[2]
    found = FIRST_PARAGRAPH.search(article)
    if not found:
        return ""
    text = re.sub(r'<span class="bibtex-citation".*?</span>', "", found[1], flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\\(", "").replace("\\)", "")
    return textwrap.shorten(re.sub(r"\s+([,.;:])", r"\1", text), LENGTH, placeholder=" …")


def write_first_page(folder: Path, book: str) -> None:
    """Write index.html, which leads on to the first page of the book, unless it is that page."""
    found = re.search(r'http-equiv="Refresh".*?url=([^"]+)', (folder / "index.html").read_text(encoding="utf-8"))
    if not found:
        return
    first = (folder / unquote(found[1])).read_text(encoding="utf-8")
    values = {"title": book, "description": description(first) or book, "target": found[1]}
    escaped = {name: html.escape(value) for name, value in values.items()}
    (folder / "index.html").write_text(FIRST_PAGE.format(**escaped), encoding="utf-8")


def quiet_search(folder: Path) -> None:
    """Let the search of a book opened as a file do without excerpts, for which it would have to fetch pages."""
    script = folder / "_static" / "documentation_options.js"
    with script.open("a", encoding="utf-8") as file:
        file.write('if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;\n')


def write_not_found(project: Project, folder: Path, book: str) -> None:
    """Write 404.html, which a web server shows for an address that does not exist."""
    template = project.root / "assets" / "404.html"
    if template.exists():
        text = template.read_text(encoding="utf-8").replace("{title}", html.escape(book))
        (folder / "404.html").write_text(text, encoding="utf-8")
        (folder / "_static" / "404.html").unlink(missing_ok=True)


def write_sitemap(project: Project, folder: Path, address: str | None) -> None:
    """Write sitemap.xml of the pages in `folder`; nothing as long as the site's address (html: baseurl) is not set."""
    if not address:
        return
    names = [page.relative_to(project.root).with_suffix(".html").as_posix() for page in project.pages]
    places = [f"{address.rstrip('/')}/{quote(name)}" for name in names if (folder / name).exists()]
    lines = [f"<url><loc>{html.escape(place)}</loc></url>" for place in places]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    (folder / "sitemap.xml").write_text("\n".join([head, *lines, "</urlset>\n"]), encoding="utf-8")
