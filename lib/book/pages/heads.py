"""What browsers, search engines and previews read of a page, and the pages beside the book's."""

import re
import textwrap
from pathlib import Path
from urllib.parse import quote

from docutils import nodes

from lib.book.rendering import render
from lib.book.run.project import Project

# of docutils; Sphinx's template has one of its own
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1" />'
DESCRIPTION_LENGTH = 160  # characters, as many as search engines show
TITLES = {"search": "Search"}  # of Sphinx's own pages, which says others itself
SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:])")  # where a citation was


def describe_page(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Add to a page's head what it is about, and to its contents what their toggles are for."""
    book = app.book.project.title
    title = app.env.titles.get(pagename)
    title = title.astext() if title is not None else context.get("title") or TITLES.get(pagename)
    text = description(doctree) if doctree is not None else ""
    text = text or f"{title} of the book {book}."
    head = render("head.html", title=title, description=text)
    context["metatags"] = context.get("metatags", "").replace(VIEWPORT, "") + head
    context["generate_toctree_html"] = _with_names(context["generate_toctree_html"])


def description(doctree) -> str:
    """Return the beginning of the first paragraph below the title as plain text.

    It is empty if there is no such paragraph.
    """
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = "".join(node.astext() for node in _shown_texts(paragraph))
            text = SPACE_BEFORE_MARK.sub(r"\1", " ".join(text.split()))
            return textwrap.shorten(text, DESCRIPTION_LENGTH, placeholder=" …")
    return ""


def _shown_texts(paragraph):
    """Yield the texts of a paragraph outside of citations, which a description has no use for."""
    for text in paragraph.findall(nodes.Text):
        node = text.parent
        while node is not paragraph and "bibtex-citation" not in node.get("classes", []):
            node = node.parent
        if node is paragraph:
            yield text


def _with_names(generate_toctree):
    """Return the theme's function whose table of contents has names for its toggles.

    The theme makes it of soup, not by a template; a toggle has an arrow and no word.
    """

    def generate(*arguments, **options):
        tree = generate_toctree(*arguments, **options)
        if not isinstance(tree, str):
            for toggle in tree.find_all(class_="toctree-toggle"):
                if not toggle.parent.get_text(strip=True):
                    toggle.parent["aria-label"] = "Pages below"
        return tree

    return generate


def write_other_pages(project: Project, folder: Path, first_page: str, text: str) -> None:
    """Write the first page that leads on, the page of a wrong address, and the map of the site.

    Parameters
    ----------
    project : Project
    folder : Path
        Where the pages are.
    first_page : str
        Name of the book's first page, such as chapters/intro.
    text : str
        What describes the book.
    """
    book = project.title
    index = render("index.html", title=book, description=text or book, target=f"{first_page}.html")
    (folder / "index.html").write_text(index, encoding="utf-8")
    (folder / "404.html").write_text(render("404.html", title=book), encoding="utf-8")
    write_sitemap(project, folder, (project.config.get("html") or {}).get("baseurl"))


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
