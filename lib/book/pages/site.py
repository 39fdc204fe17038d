"""Build the book's HTML, which works without a network, from executed chapters and other pages."""

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

from lib.book.pages.arrangement import arrange
from lib.book.pages.finish import finish
from lib.book.pages.reference import data_sets, parameter_tables
from lib.book.pages.scorecard import scorecard, write_downloads
from lib.book.pages.unknown import find_glued
from lib.book.rendering import render
from lib.book.run import history, repository
from lib.book.run.keys import data_digests, read_execution_note
from lib.book.run.keys import digest as file_digest
from lib.book.run.project import BookError, Project, parameters_of, resolve_parameters
from lib.files import write_whole
from lib.trials.description import digest

# what takes the place of a comment such as <!-- scorecard --> in a page
GENERATED = {"scorecard": scorecard, "data-sets": data_sets, "settings": parameter_tables}

# the chapter that glues the picture of the first page, and its name
TITLE_PICTURE = ("explorer", "title_picture")

# MIME types of what MyST-NB's glue stores begin with this, here for pictures.
GLUED_IMAGE = "application/papermill.record/image/"

PROVENANCE = "provenance.json"  # beside the pages: their profile, commit and date
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "when-the-model-is-wrong")

# Starts jupyter-book. Its pages are millions of objects, few of which are ever garbage: collecting
# it took half of the time.
JUPYTER_BOOK = (
    "import gc; gc.set_threshold(2_000_000, 20, 100); "
    "from jupyter_book.cli.main import main; main()"
)


def build_site(project: Project, profile: str, strict: bool = False) -> Path:
    """Build the HTML of the book from the executed chapters and return its first page."""
    folder = project.build_folder(profile)
    source = _stage_shared_files(project, folder)
    present_commit = history.commit(project)
    _stage_text_pages(project, profile, source)

    commits = {}
    for chapter in project.chapters:
        executed = project.executed(profile, chapter)
        commits[chapter] = commit_of(project, executed, present_commit)
        overrides = project.profile(profile, chapter)
        stage_notebook(
            project,
            chapter,
            executed,
            source,
            scale=f"profile {profile}",
            overrides=overrides,
            commit=commits[chapter],
        )

    chapter, picture = TITLE_PICTURE
    if chapter in project.chapters:
        write_glued_figure(project.executed(profile, chapter), picture, source / "chapters")
    write_downloads(project, profile, source / "chapters", present_commit, commits)

    first_page = make_html(project, source, folder, strict)
    facts = {
        "profile": profile,
        "commit": present_commit,
        "date": history.date_of(project, present_commit),
    }
    write_whole(first_page.with_name(PROVENANCE), json.dumps(facts, indent=1) + "\n")
    return first_page


def write_glued_figure(executed: Path, name: str, folder: Path) -> None:
    """Write the figure that an executed chapter has glued as `name` into `folder`.

    It is written in the formats that the notebook has, SVG and PNG. MyST-NB can refer to a figure
    that another page has glued, but only as PNG, without a caption or an alternative text.
    """
    notebook = nbformat.read(executed, as_version=4)
    figure = find_glued(notebook.cells).get(name, {})
    svg = figure.get(f"{GLUED_IMAGE}svg+xml")
    if svg:  # notebooks as they are stored in the repository have PNG only
        (folder / f"{name}.svg").write_bytes(svg.encode())
    png = figure.get(f"{GLUED_IMAGE}png")
    if png:
        (folder / f"{name}.png").write_bytes(b64decode(png))


def build_page(
    project: Project, chapter: str, executed: Path, overrides: dict, scale: str, commit: str
) -> Path:
    """Build the HTML of one executed chapter and its references, and return the chapter's page.

    Parameters
    ----------
    project : Project
    chapter : str
    executed : Path
        The executed notebook. The pages are made in a folder beside it.
    overrides : dict
        The values that were set for the run.
    scale : str
        Where they come from, such as "profile paper".
    commit : str
        That of the run, as `lib.book.run.history.commit` says it.
    """
    folder = executed.with_name(f"{executed.stem}-html")
    source = _stage_shared_files(project, folder)
    toc = {
        "format": "jb-book",
        "root": f"chapters/{chapter}",
        "chapters": [{"file": "chapters/references"}],
    }
    _write(source / "_toc.yml", yaml.safe_dump(toc))
    stage_notebook(project, chapter, executed, source, scale, overrides, commit)
    shutil.copy(project.root / "chapters" / "references.md", source / "chapters")
    first_page = make_html(project, source, folder, strict=False)
    return first_page.with_name("chapters") / f"{chapter}.html"


def stage_notebook(
    project: Project,
    chapter: str,
    executed: Path,
    source: Path,
    scale: str,
    overrides: dict,
    commit: str,
) -> None:
    """Write a notebook as it was executed, for download, and as the page of the chapter.

    The provenance of its numbers ends both. See `build_page` for the parameters; `source` is the
    folder with the staged pages.
    """
    notebook = nbformat.read(executed, as_version=4)
    footer = nbformat.v4.new_markdown_cell(
        provenance(project, chapter, scale, commit), id="provenance"
    )

    def write_notebook(folder: str) -> None:
        with_footer = nbformat.v4.new_notebook(
            cells=[*notebook.cells, footer], metadata=notebook.metadata
        )
        _write(source / folder / f"{chapter}.ipynb", nbformat.writes(with_footer))

    write_notebook("executed")  # first, because the arrangement changes the cells
    _, values = resolve_parameters(project, chapter, overrides)
    notebook.cells = arrange(notebook.cells, parameters_of(project, chapter), values, scale)
    write_notebook("chapters")


def provenance(project: Project, chapter: str, scale: str, commit: str) -> str:
    """Return as MyST how a chapter's numbers were made: commit, parameters, data and versions."""
    data = data_digests(project)
    text = render(
        "provenance.md",
        chapter=chapter,
        commit=history.commit_markup(commit),
        scale=scale,
        data=data,
        sha256=digest(data),
        python=platform.python_version(),
        versions={package: version(package) for package in SHOWN_VERSIONS},
    )
    return text.strip()


def commit_of(project: Project, executed: Path, present_commit: str) -> str:
    """Return the commit whose notebook, code and data gave an executed notebook that is fresh.

    It is the commit at which the notebook was executed, if the sources were those of that commit
    and the commit is in the history. Otherwise it is the present one: the key of fresh results
    proves that their sources have not changed.

    Parameters
    ----------
    project : Project
    executed : Path
        A notebook that `lib.book.run.keys.is_fresh`.
    present_commit : str
        The commit of the project as it is, as `lib.book.run.history.commit` says it.
    """
    execution = read_execution_note(executed)
    is_of_notebook = execution.get("sha256") == file_digest(executed)
    executed_commit = execution.get("commit", "") if is_of_notebook else ""
    return executed_commit if history.is_ancestor(project, executed_commit) else present_commit


def make_html(project: Project, source: Path, folder: Path, strict: bool) -> Path:
    """Make the HTML of staged pages in `folder` and return its first page.

    Raises
    ------
    BookError
        If jupyter-book fails; in a strict build, also if it warns.
    """
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", source, "--path-output", folder]
    command += ["--quiet", "--all"]
    if strict:
        command += ["-W", "-n", "--keep-going"]
    shutil.rmtree(folder / "_build", ignore_errors=True)
    process = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        cwd=project.root,  # jupyter-book imports modules from the working directory
        env={**os.environ, "PYTHONUTF8": "1"},  # and reads files in the encoding of the locale
    )
    log = folder / "site.log"
    log.write_text(process.stdout + process.stderr, encoding="utf-8")
    if process.returncode:
        raise BookError(f"the site was not built:\n{process.stderr.strip()}\nall messages: {log}")

    # Old pages go first: if a later step fails, nobody takes them for the new ones.
    shutil.rmtree(folder / "html", ignore_errors=True)
    html = folder / "_build" / "html"
    # The theme links to the source of each page: for a chapter, the notebook as it was executed.
    shutil.copytree(source / "executed", html / "_sources" / "chapters", dirs_exist_ok=True)
    finish(project, html)
    html.replace(folder / "html")
    return folder / "html" / "index.html"


def without_banner(config: dict) -> dict:
    """Return jupyter-book's configuration without the banner.

    The banner says that the pages were made by jupyter-book alone, not by `book build`.
    """
    config = deepcopy(config)
    sphinx = (config.get("sphinx") or {}).get("config") or {}
    (sphinx.get("html_theme_options") or {}).pop("announcement", None)
    return config


def _stage_shared_files(project: Project, folder: Path) -> Path:
    """Make a new folder for sources below `folder`, with what all pages share, and return it."""
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


def _stage_text_pages(project: Project, profile: str, source: Path) -> None:
    """Write the pages that are no notebooks into `source`, with what is generated for them."""
    for page in project.pages:
        if page.suffix != ".md":
            continue
        text = page.read_text(encoding="utf-8")
        for name, generate in GENERATED.items():
            marker = f"<!-- {name} -->"
            if marker in text:
                text = text.replace(marker, generate(project, profile))
        _write(source / page.relative_to(project.root), text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
