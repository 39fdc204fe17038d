"""Stage executed chapters with the book's other pages and turn them into HTML that works without a network."""

import json
import os
import platform
import shutil
import subprocess
import sys
from base64 import b64decode
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path

import nbformat
import yaml

from lib.book import history, repository
from lib.book.arrangement import arrange
from lib.book.cache import data_digests, read_record
from lib.book.cache import digest as file_digest
from lib.book.finish import finish
from lib.book.pages import render
from lib.book.project import BookError, Project, parameters_of, settle
from lib.book.reference import data_sets, settings
from lib.book.scorecard import scorecard, write_downloads
from lib.book.unknown import glued
from lib.files import write_whole
from lib.trials.description import digest

# What a page has in place of a comment such as <!-- scorecard -->.
PARTS = {"scorecard": scorecard, "data-sets": data_sets, "settings": settings}
# the chapter that glues the picture of the first page, and its name
TITLE_PICTURE = ("explorer", "title_picture")
GLUED = "application/papermill.record/image/"
PROVENANCE = "provenance.json"  # beside the pages: what they are of
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "when-the-model-is-wrong")


def build_site(project: Project, profile: str, strict: bool = False) -> Path:
    """Build the HTML of the book from the executed chapters and return its first page."""
    folder = project.build_folder(profile)
    source = _staged(project, folder)
    commit = history.commit(project)
    commits = {
        name: commit_of(project, project.executed(profile, name), commit)
        for name in project.chapters
    }
    for page in project.pages:
        if page.suffix == ".md":
            text = page.read_text(encoding="utf-8")
            for name, part in PARTS.items():
                if (marker := f"<!-- {name} -->") in text:
                    text = text.replace(marker, part(project, profile))
            _write(source / page.relative_to(project.root), text)
    for chapter in project.chapters:
        executed, overrides = project.executed(profile, chapter), project.profile(profile, chapter)
        stage_notebook(
            project, chapter, executed, source, f"profile {profile}", overrides, commits[chapter]
        )
    chapter, picture = TITLE_PICTURE
    if chapter in project.chapters:
        write_glued_figure(project.executed(profile, chapter), picture, source / "chapters")
    write_downloads(project, profile, source / "chapters", commit, commits)
    page = make_html(project, source, folder, strict)
    facts = {"profile": profile, "commit": commit, "date": history.date_of(project, commit)}
    write_whole(page.with_name(PROVENANCE), json.dumps(facts, indent=1) + "\n")
    return page


def write_glued_figure(executed: Path, name: str, folder: Path) -> None:
    """Write figure `name` of an executed chapter in the formats that it has into `folder`.

    Glueing a figure from another page is not offered by MyST-NB: its reference takes PNG only,
    without caption or alternative text.
    """
    figure = glued(nbformat.read(executed, as_version=4).cells).get(name, {})
    svg, png = (figure.get(f"{GLUED}{kind}") for kind in ("svg+xml", "png"))  # stored: PNG only
    for suffix, content in ((".svg", svg and svg.encode()), (".png", png and b64decode(png))):
        if content:
            (folder / f"{name}{suffix}").write_bytes(content)


def build_page(
    project: Project, chapter: str, executed: Path, overrides: dict, scale: str, commit: str
) -> Path:
    """Build the HTML of one executed chapter, and of what it cites, beside its notebook and return the page.

    `commit` is that of the run, as `lib.book.history.commit` says it.
    """
    folder = executed.with_name(f"{executed.stem}-html")
    source = _staged(project, folder)
    toc = {
        "format": "jb-book",
        "root": f"chapters/{chapter}",
        "chapters": [{"file": "chapters/references"}],
    }
    _write(source / "_toc.yml", yaml.safe_dump(toc))
    stage_notebook(project, chapter, executed, source, scale, overrides, commit)
    shutil.copy(project.root / "chapters" / "references.md", source / "chapters")
    return (
        make_html(project, source, folder, strict=False).with_name("chapters") / f"{chapter}.html"
    )


def stage_notebook(
    project: Project,
    chapter: str,
    executed: Path,
    source: Path,
    scale: str,
    overrides: dict,
    commit: str,
) -> None:
    """Write the notebook as it ran, for readers to take along, and as the page shows it; provenance ends both."""
    notebook = nbformat.read(executed, as_version=4)
    footer = nbformat.v4.new_markdown_cell(
        provenance(project, chapter, scale, commit), id="provenance"
    )
    _, values = settle(project, chapter, overrides)
    for folder in ("executed", "chapters"):
        if folder == "chapters":
            notebook.cells = arrange(notebook.cells, parameters_of(project, chapter), values, scale)
        shown = nbformat.v4.new_notebook(
            cells=[*notebook.cells, footer], metadata=notebook.metadata
        )
        _write(source / folder / f"{chapter}.ipynb", nbformat.writes(shown))


def provenance(project: Project, chapter: str, scale: str, commit: str) -> str:
    """Return as MyST how a chapter's numbers were made: commit, parameters, data and versions."""
    data = data_digests(project)
    return render(
        "provenance.md",
        chapter=chapter,
        commit=history.commit_markup(commit),
        scale=scale,
        data=data,
        sha256=digest(data),
        python=platform.python_version(),
        versions={package: version(package) for package in SHOWN_VERSIONS},
    ).strip()


def commit_of(project: Project, executed: Path, present_commit: str) -> str:
    """Return the commit whose notebook, code and data gave an executed notebook that is fresh.

    It is the one at which the notebook was executed, if nothing differed from it and it is in the
    history. Otherwise it is that of now: the key of fresh results proves that their sources are
    what they were.

    Parameters
    ----------
    project : Project
    executed : Path
        A notebook that `lib.book.cache.is_fresh`.
    present_commit : str
        That of now, as `lib.book.history.commit` says it.
    """
    record = read_record(executed)
    is_of_notebook = record.get("sha256") == file_digest(executed)
    executed_commit = record.get("commit", "") if is_of_notebook else ""
    return executed_commit if history.is_ancestor(project, executed_commit) else present_commit


def make_html(project: Project, source: Path, folder: Path, strict: bool) -> Path:
    """Make the staged pages and return the first; in a strict build a warning is an error."""
    # pages are millions of objects, few of which are ever garbage: looking for it took half of the
    # time
    calm = "import gc; gc.set_threshold(2_000_000, 20, 100)"
    jupyter_book = [sys.executable, "-c", f"{calm}; from jupyter_book.cli.main import main; main()"]
    command = [*jupyter_book, "build", source, "--path-output", folder, "--quiet", "--all"]
    command += ["-W", "-n", "--keep-going"] if strict else []
    shutil.rmtree(folder / "_build", ignore_errors=True)
    # jupyter-book reads in the encoding of the locale, and modules from the folder in which it is
    # called
    place = {"cwd": project.root, "env": {**os.environ, "PYTHONUTF8": "1"}}
    process = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", **place
    )
    (folder / "site.log").write_text(process.stdout + process.stderr, encoding="utf-8")
    if process.returncode:
        raise BookError(
            f"the site was not built:\n{process.stderr.strip()}\nall messages: {folder / 'site.log'}"
        )
    shutil.rmtree(folder / "html", ignore_errors=True)
    made = folder / "_build" / "html"
    # the theme's download
    shutil.copytree(source / "executed", made / "_sources" / "chapters", dirs_exist_ok=True)
    finish(project, made)
    made.replace(folder / "html")
    return folder / "html" / "index.html"


def _staged(project: Project, folder: Path) -> Path:
    """Return a new folder with what all pages share."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("_toc.yml", "references.bib"):
        if (project.root / name).exists():
            shutil.copy(project.root / name, source)
    config = without_banner(repository.configure(project.config))
    _write(source / "_config.yml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    if (project.root / "assets").exists():
        shutil.copytree(project.root / "assets", source / "assets")
    return source


def without_banner(config: dict) -> dict:
    """Return jupyter-book's configuration without the banner, which is for pages that no `book build` has made."""
    config = deepcopy(config)
    sphinx = (config.get("sphinx") or {}).get("config") or {}
    (sphinx.get("html_theme_options") or {}).pop("announcement", None)
    return config


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
