"""What the pages of one build are made of, worked out once, before any of them is read."""

import hashlib
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from lib.book.pages.arrangement import arrange
from lib.book.pages.findings import FINDING, fill_findings, finding_of
from lib.book.pages.reference import data_sets
from lib.book.pages.reports import mend_links
from lib.book.pages.runs import Run, provenance, runs_of
from lib.book.pages.scorecard import counts_sentence, scorecard
from lib.book.run import history
from lib.book.run.keys import data_file_digests
from lib.book.run.project import Project, parameters_of, read_text, resolve_parameters
from lib.book.verdicts.chapter_claims import claims_of
from lib.book.verdicts.register import Registration, registrations

# [words](../running.md), in parentheses or not, but not to the references
PAGE_LINK = re.compile(
    r"""
    [ ]\(\[how\]\([^)]*\)\)            # "in a clone ([how](../running.md))": gone
    | \[([^\]]*)\]\(
      (?!\S*references\.md) [^):]* \.(?:md|ipynb) (?:\#[^)]*)?
      \)
    """,
    re.VERBOSE,
)


class Book:
    """The runs that pages show, and the text of each page before Sphinx reads it.

    Parameters
    ----------
    project : Project
    profile : str
    runs : dict of str to Run, optional
        The run of each chapter that has a page; by default those of the profile.

    Attributes
    ----------
    commit : str
        That of the pages, as `lib.book.run.history.commit` says it.
    """

    # what each directive shows
    generators: dict[str, Callable[["Book"], str]] = {
        "scorecard": scorecard,
        "data-sets": data_sets,
    }

    def __init__(self, project: Project, profile: str, runs: dict[str, Run] | None = None):
        self.project = project
        self.profile = profile
        self.is_whole = runs is None
        # before any text is read, so that a commit that is made meanwhile is noticed
        self.commit = history.commit(project)
        self.runs = runs_of(project, profile, self.commit) if runs is None else runs
        self._generated = {}

    @cached_property
    def data(self) -> dict[str, str]:
        """The sha256 of each file of the book's data."""
        return data_file_digests(self.project)

    @cached_property
    def claims(self) -> list[dict]:
        """The claims of all chapters in reading order, each with its chapter."""
        return claims_of({chapter: run.notebook for chapter, run in self.runs.items()})

    @cached_property
    def registrations(self) -> dict[str, Registration]:
        """When the rule of each setting was fixed."""
        return registrations(self.project)

    def generated(self, name: str) -> str:
        """Return as MyST what a directive shows."""
        if name not in self._generated:
            self._generated[name] = self.generators[name](self)
        return self._generated[name]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each page by its name: MyST, or a notebook arranged as a page."""
        texts = {}
        if self.is_whole:
            for path in self.project.pages:
                name = path.relative_to(self.project.root).with_suffix("").as_posix()
                if path.suffix == ".md":
                    texts[name] = mend_links(self.filled(path), set())
        for chapter, run in self.runs.items():
            texts[f"chapters/{chapter}"] = self._chapter_text(run)
        return texts

    def filled(self, path: Path) -> str:
        """Return the text of a page's file in which findings are those of the runs."""
        text = read_text(path)
        place = path.relative_to(self.project.root).as_posix()
        if path.suffix == ".md" or not FINDING.search(text):
            return self._filled(text, place)
        notebook = nbformat.reads(text, as_version=4)
        self._fill_cells(notebook, place)
        return nbformat.writes(notebook) + "\n"

    def _filled(self, text: str, place: str) -> str:
        return fill_findings(text, finding_of(self.runs, place, lambda: counts_sentence(self)))

    def _fill_cells(self, notebook: NotebookNode, place: str) -> None:
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = self._filled(cell.source, place)

    def _chapter_text(self, run: Run) -> str:
        """Return the notebook of a run, arranged as a page, with its provenance at the foot."""
        _, values = resolve_parameters(self.project, run.chapter, run.overrides)
        parameters = parameters_of(self.project, run.chapter)
        notebook = nbformat.from_dict(run.notebook)  # a copy, which is changed
        if self.is_whole:
            self._fill_cells(notebook, f"chapters/{run.chapter}.ipynb")
        cells = arrange(notebook.cells, parameters, values, run.scale)
        if not self.is_whole:
            leave_out_links(cells)
        cells.append(new_markdown_cell(provenance(run, self.data)))
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"  # the same in each build
        return nbformat.writes(new_notebook(cells=cells, metadata=notebook.metadata))

    def executed_text(self, run: Run) -> str:
        """Return the notebook of a run as it was executed, with its provenance at the foot."""
        foot = new_markdown_cell(provenance(run, self.data), id="provenance")
        cells = [*run.notebook.cells, foot]
        return nbformat.writes(new_notebook(cells=cells, metadata=run.notebook.metadata))

    @cached_property
    def digests(self) -> dict[str, str]:
        """A digest, for each page, of all that it shows."""
        return {name: self._digest(text) for name, text in self.texts.items()}

    def _digest(self, text: str) -> str:
        parts = [text]
        parts += [self.generated(name) for name in self.generators if f"```{{{name}}}" in text]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def write_executed(book: Book, folder: Path) -> None:
    """Write each notebook as it was executed into a folder, where pages link to it."""
    for chapter, run in book.runs.items():
        path = folder / f"{chapter}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(book.executed_text(run), encoding="utf-8")


def leave_out_links(cells: list) -> None:
    """Make words of links to other chapters, for a page by itself; changes the cells of text."""
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = PAGE_LINK.sub(lambda match: match[1] or "", cell.source)
