"""Which run of each chapter the pages show: the last one under the present key, or the published."""

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lib.book.rendering import render
from lib.book.run import history
from lib.book.run.keys import file_digest, read_execution_note, write_execution_note
from lib.book.run.project import PUBLISHED, Project, read_text
from lib.book.run.variables import command_environment
from lib.trials.source_key import digest

SCALES = {PUBLISHED: "as published", "quick": "the quick scale of the tests"}
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "when-the-model-is-wrong")
FRESH = "lib.book.pages.fresh"  # the module that says which chapters are up to date
# Set by `book build`: "stored" before chapters are executed, and "executed" when it has just brought
# every chapter up to date. Otherwise those are shown as executed whose results are up to date.
SHOWN = "BOOK_SHOWN"


@dataclass(frozen=True)
class Run:
    """The run of a chapter whose numbers its page shows.

    Parameters
    ----------
    chapter : str
    path : Path
        The notebook as it was executed, or as the repository has it.
    overrides : dict
        The values that were set for the run.
    scale : str
        Where they come from, such as "as published".
    commit : str
        That of the run, as `lib.book.run.history.commit` says it.
    is_stored : bool
        Whether it is the published run that the repository has, and was not executed here.
    """

    chapter: str
    path: Path
    overrides: dict
    scale: str
    commit: str = ""
    is_stored: bool = False

    @cached_property
    def notebook(self) -> NotebookNode:
        """The notebook, which nobody may change."""
        return nbformat.v4.reads(read_text(self.path))


def runs_of(project: Project, profile: str, present_commit: str) -> dict[str, Run]:
    """Return the run of each chapter that the pages of a profile show.

    `present_commit` is that of the project as it is, as `lib.book.run.history.commit` says it.
    """
    fresh_chapters = _fresh_chapters(project, profile)
    runs = {}
    for chapter in project.chapters:
        if chapter in fresh_chapters:
            runs[chapter] = Run(
                chapter,
                project.executed(profile, chapter),
                project.profile(profile, chapter),
                scale=SCALES[profile],
                commit=commit_of(project, project.executed(profile, chapter), present_commit),
            )
        else:
            runs[chapter] = stored_run(project, chapter)
    return runs


def stored_run(project: Project, chapter: str) -> Run:
    """Return the published run of a chapter, which its notebook stores."""
    path = project.notebook(chapter)
    published = json.loads(read_text(path))["metadata"].get("published", {})
    commit = published.get("commit", history.NO_COMMIT)
    return Run(chapter, path, {}, SCALES[PUBLISHED], commit, is_stored=True)


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


def note_commit(project: Project, profile: str, commit: str) -> None:
    """Note a commit beside results that are of none, so that they stay those of this commit.

    Otherwise they would be said to be of each commit that follows, and their pages made again.

    Parameters
    ----------
    project : Project
    profile : str
        Whose executed notebooks have all been found fresh at this commit.
    commit : str
        As `lib.book.run.history.commit` says it; nothing is noted if files differ from it.
    """
    if not history.COMMIT.fullmatch(commit):
        return
    for chapter in project.chapters:
        executed = project.executed(profile, chapter)
        if not commit_of(project, executed, ""):
            note = read_execution_note(executed)
            write_execution_note(executed, note["key"], note["seconds"], commit)


def provenance(run: Run, data: dict[str, str]) -> str:
    """Return as MyST how a chapter's numbers were made: commit, scale, data and versions.

    Parameters
    ----------
    run : Run
    data : dict of str to str
        As `lib.book.run.keys.data_file_digests` returns it.
    """
    text = render(
        "provenance.md",
        run=run,
        commit=history.commit_markup(run.commit),
        data=data,
        sha256=digest(data),
        python=platform.python_version(),
        versions={package: version(package) for package in SHOWN_VERSIONS},
        site="../" * f"chapters/{run.chapter}".count("/"),
    )
    return text.strip()


def _fresh_chapters(project: Project, profile: str) -> list[str]:
    """Return the chapters whose executed notebook has the key of the sources as they are."""
    executed = [name for name in project.chapters if project.executed(profile, name).exists()]
    shown = os.environ.get(SHOWN)
    if shown == "stored":
        return []
    if not executed or shown == "executed":
        return executed
    # Keys hold the flags of Python, which are those of the command, and not of `jupyter-book`.
    command = [sys.executable, "-m", FRESH, str(project.root), profile, *executed]
    process = subprocess.run(
        command, env=command_environment(), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(process.stdout)
