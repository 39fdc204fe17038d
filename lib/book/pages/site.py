"""Call Sphinx for the pages of the book, or for the page of one run by itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import yaml

from lib.book.pages import PROFILE
from lib.book.pages.earlier import (
    common_digest,
    earlier_pages,
    note_pages,
    reason_to_make_all,
)
from lib.book.pages.runs import SHOWN, Run
from lib.book.run.project import BookError, Project


def put_pages_aside(project: Project, profile: str) -> None:
    """Move the pages of a profile aside, so that none outlives its results.

    `build_site` goes on from them.
    """
    folder = project.build_folder(profile)
    earlier = earlier_pages(folder)
    if (folder / "html").exists():
        shutil.rmtree(earlier, ignore_errors=True)
        earlier.parent.mkdir(exist_ok=True)
        (folder / "html").replace(earlier)


def build_site(project: Project, profile: str, strict: bool = False, stored: bool = False) -> Path:
    """Build the HTML of the book and return its first page.

    It shows the chapters as they were executed, or, if `stored`, the runs that notebooks store.
    Only pages that show something else than before are made. All are made if something has changed
    that they have in common, such as the contents, or a file beside them; and in a strict build, as
    Sphinx warns of nothing in other pages.
    """
    put_pages_aside(project, profile)
    folder = project.build_folder(profile)
    earlier = earlier_pages(folder)
    unfinished = folder / "_build" / "html"
    shutil.rmtree(unfinished, ignore_errors=True)
    common = common_digest(project)
    reason = ""
    if earlier.exists() and not strict:
        reason = reason_to_make_all(folder, common)
    if reason:
        click.echo(f"all pages are made: {reason}")
    if strict or reason or not earlier.exists():
        shutil.rmtree(folder / "_build", ignore_errors=True)
    else:
        earlier.replace(unfinished)
    shown = "stored" if stored else "executed"
    page = make_html(project.root, folder, strict, {PROFILE: profile, SHOWN: shown})
    note_pages(folder, common)
    return page


def build_page(project: Project, run: Run) -> Path:
    """Build the HTML of one run and its references beside its notebook, and return the page."""
    folder = run.path.with_name(f"{run.path.stem}-html")
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source"
    chapter = source / "chapters" / f"{run.chapter}.ipynb"
    chapter.parent.mkdir(parents=True)
    shutil.copy(run.path, chapter)
    shutil.copy(project.root / "chapters" / "references.md", source / "chapters")
    shutil.copy(project.root / "references.bib", source)
    if (project.root / "assets").exists():
        shutil.copytree(project.root / "assets", source / "assets")
    toc = {
        "format": "jb-book",
        "root": f"chapters/{run.chapter}",
        "chapters": [{"file": "chapters/references"}],
    }
    (source / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    config = project.config
    shown = {
        "root": str(project.root),
        "chapter": run.chapter,
        "path": str(run.path),
        "overrides": run.overrides,
        "scale": run.scale,
        "commit": run.commit,
    }
    sphinx = config.get("sphinx") or {}
    sphinx = {**sphinx, "config": {**(sphinx.get("config") or {}), "book_run": shown}}
    text = yaml.safe_dump({**config, "sphinx": sphinx}, sort_keys=False, allow_unicode=True)
    (source / "_config.yml").write_text(text, encoding="utf-8")
    make_html(source, folder, strict=False, variables={})
    return folder / "html" / "chapters" / f"{run.chapter}.html"


def make_html(source: Path, folder: Path, strict: bool, variables: dict[str, str]) -> Path:
    """Let jupyter-book make the pages of a source folder in `folder/html`; return the first.

    Parameters
    ----------
    source, folder : Path
    strict : bool
        Whether a warning is an error.
    variables : dict of str to str
        Added to the environment of jupyter-book.

    Raises
    ------
    BookError
        If jupyter-book fails. Then there are no pages, and no traces of them.
    """
    command = [sys.executable, "-m", "lib.book.pages", "build", source, "--path-output", folder]
    command.append("--quiet")
    if strict:
        command += ["-W", "-n", "--keep-going"]
    process = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        # Sphinx reads files in the encoding of the locale
        env={**os.environ, "PYTHONUTF8": "1", **variables},
    )
    log = folder / "site.log"
    log.write_text(process.stdout + process.stderr, encoding="utf-8")
    if process.returncode:
        shutil.rmtree(folder / "_build", ignore_errors=True)
        raise BookError(f"the site was not built:\n{process.stderr.strip()}\nall messages: {log}")
    (folder / "_build" / "html").replace(folder / "html")
    return folder / "html" / "index.html"
