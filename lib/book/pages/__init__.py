"""The pages of the book: a Sphinx extension, which ``_config.yml`` names.

It takes each chapter as last executed under the present key, else as the repository has it. The
profile is the published one, unless the environment variable BOOK_PROFILE names another.
"""

import gc
import json
import os
from pathlib import Path

from lib.book.pages import citations, heads, markup, pictures, terms
from lib.book.pages.book import Book, write_executed
from lib.book.pages.directives import ChapterFigure, Generated
from lib.book.pages.runs import Run
from lib.book.pages.scorecard import write_downloads
from lib.book.repository import theme_options
from lib.book.run import history
from lib.book.run.project import PUBLISHED, Project

TEMPLATES = Path(__file__).with_name("templates")
PROFILE = "BOOK_PROFILE"
PROVENANCE = "provenance.json"  # beside the pages: their profile, commit and date
WRITTEN = "written.json"  # beside the doctrees: a digest of each page as it was last written


def setup(app):
    """Connect the extension to Sphinx."""
    # Pages are millions of objects, few of which are ever garbage: collecting took half of the time
    gc.set_threshold(2_000_000, 20, 100)
    # of a page by itself: the folder of the book, and the run that the page shows
    app.add_config_value("book_run", {}, "env")
    for name in Book.generators:
        app.add_directive(name, Generated)
    app.add_directive("chapter-figure", ChapterFigure)
    app.add_role("cited", citations.Cited())
    app.add_post_transform(pictures.DrawVariants)
    app.add_node(pictures.picture, html=(pictures.visit_picture, None))
    markup.setup(app)
    app.connect("config-inited", configure)
    app.connect("builder-inited", gather)
    app.connect("env-get-outdated", find_outdated)
    app.connect("source-read", show)
    app.connect("doctree-read", terms.explain)
    app.connect("missing-reference", citations.resolve)
    app.connect("html-page-context", heads.describe_page, priority=900)  # after the theme
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def configure(app, config) -> None:
    """Use the theme with the book's own templates, and with buttons for its repository."""
    config.templates_path = [str(TEMPLATES), *config.templates_path]
    project = Project(Path(config.book_run.get("root", app.srcdir)))
    config.html_theme_options |= theme_options(project.config)


def gather(app) -> None:
    """Find the runs that the pages show."""
    page = dict(app.config.book_run)
    root = page.pop("root", app.srcdir)
    runs = None
    if page:
        run = Run(**page | {"path": Path(page["path"])})
        runs = {run.chapter: run}
    app.book = Book(Project(Path(root)), os.environ.get(PROFILE, PUBLISHED), runs)


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """Return the pages that would show something else than when they were last written."""
    path = Path(app.doctreedir, WRITTEN)
    written = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    outdated = []
    for name, digest in app.book.digests.items():
        if written.get(name) != digest and name in env.found_docs:
            outdated.append(name)
    if outdated or added or changed or removed:
        # The bibliography has what the pages cite; the first page, no link to a PDF of old pages.
        outdated += {app.config.root_doc, "chapters/references"} & env.found_docs
        for pdf in Path(app.outdir).glob("*.pdf"):
            pdf.unlink()
    return outdated


def show(app, docname: str, source: list[str]) -> None:
    """Let Sphinx read what a page shows in place of its file."""
    source[0] = app.book.texts.get(docname, source[0])


def finish(app, exception) -> None:
    """Write what lies beside the pages, and note what they show."""
    if exception is not None or app.builder.format != "html":
        return
    book = app.book
    # a commit that was made meanwhile is not that of the pages
    book.commit = history.commit_since(book.project, book.commit)
    folder = Path(app.outdir)
    write_executed(book, folder / "_sources" / "chapters")
    first_page = app.config.root_doc
    text = heads.description(app.env.get_doctree(first_page))
    heads.write_other_pages(book.project, folder, first_page, text)
    if book.is_whole:
        write_downloads(book, folder / "chapters")
    facts = {
        "profile": book.profile,
        "commit": book.commit,
        "date": history.date_of(book.project, book.commit),
    }
    (folder / PROVENANCE).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    written = json.dumps(book.digests, indent=1)
    Path(app.doctreedir, WRITTEN).write_text(written + "\n", encoding="utf-8")
