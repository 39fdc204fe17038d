"""Where things are: the chapters in the table of contents, the quick scale, the build folders."""

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import click
import yaml
from sphinx_external_toc.parsing import MalformedError, parse_toc_yaml

from lib.base.validation import nearest
from lib.book.run.parameters import Parameter, check_values, load_yaml, read_parameters

PROFILES = ("quick", "paper")
PUBLISHED = "paper"
CONFIG = "_config.yml"
FINDING_CELL = "published-finding"  # id of the cell that opens a notebook with what was found
QUICK = "tests/quick.yml"  # values of the small scale, which only tests have
COSTS = "chapters/costs.yml"  # processor seconds and memory of each chapter at the published scale


@lru_cache(maxsize=16)
def _load_yaml_once(text: str):
    """Return what `load_yaml` returns, the same object for the same text: do not change it.

    A command asks for the same profiles again for each chapter, and parsing them takes long.
    """
    return load_yaml(text)


class BookError(click.ClickException):
    """An error whose message the reader sees without a traceback."""


@dataclass(frozen=True)
class Project:
    """A book's folder: ``_toc.yml``, ``_config.yml``, ``chapters/``, ``lib/`` and ``data/``."""

    root: Path

    @cached_property
    def pages(self) -> list[Path]:
        """The files that the table of contents names, in reading order."""
        path = self.root / "_toc.yml"
        try:
            names = list(parse_toc_yaml(path))
        except FileNotFoundError:
            raise BookError(
                f"{self.root} is no clone of the book: make one, or name it by --root"
            ) from None
        except (OSError, UnicodeDecodeError, yaml.YAMLError, MalformedError) as error:
            raise BookError(f"{path}: {error}") from error
        return [self._page(name) for name in names]

    def _page(self, name: str) -> Path:
        is_in_chapters = name.startswith("chapters/") and ".." not in name
        for suffix in ("", ".ipynb", ".md"):
            path = self.root / f"{name}{suffix}"
            if is_in_chapters and path.is_file():
                return path
        raise BookError(
            f"{self.root / '_toc.yml'} names {name}, but chapters/ has no such .ipynb or .md"
        )

    @property
    def config(self) -> dict:
        """The settings in ``_config.yml``; none if there is no such file."""
        return read_mapping(self.root / CONFIG)

    @property
    def title(self) -> str:
        """The book's title; without one, the name of its folder."""
        return str(self.config.get("title") or self.root.name)

    @property
    def chapters(self) -> list[str]:
        """Names of the notebooks among the pages, such as ``cia/curves``."""
        notebooks = [page for page in self.pages if page.suffix == ".ipynb"]
        return [
            page.relative_to(self.root / "chapters").with_suffix("").as_posix()
            for page in notebooks
        ]

    def notebook(self, chapter: str) -> Path:
        """Return the notebook of a chapter as it is committed."""
        return self.root / "chapters" / f"{chapter}.ipynb"

    def heading(self, chapter: str) -> str:
        """Return the first heading of a chapter's notebook; without one, the chapter's name."""
        for cell in read_cells(self.notebook(chapter)):
            if cell["cell_type"] == "markdown":
                for line in cell["source"].splitlines():
                    if line.startswith("# "):
                        return line.removeprefix("# ").strip()
        return chapter

    def find(self, name: str) -> str:
        """Return the chapter that a name, or the path of a notebook, stands for.

        Raises
        ------
        BookError
            If there is none; it names the nearest.
        """
        chapter = name.removeprefix("./").removeprefix("chapters/").removesuffix(".ipynb")
        if chapter in self.chapters:
            return chapter
        raise BookError(
            f"no chapter {name!r}{nearest(chapter, self.chapters)} (`book list` shows them all)"
        )

    def record(self, chapter: str) -> Path:
        """Return where the recorded rows of a chapter are: see `lib.experiments.record`."""
        return self.root / "data" / "recorded" / f"{chapter}.csv.gz"

    def profile(self, name: str, chapter: str) -> dict:
        """Return the parameters that a profile gives to a chapter.

        The published one gives none: the defaults are what is published.
        """
        if name == PUBLISHED:
            return {}
        path = self.root / QUICK
        chapters = read_mapping(path)
        _require_known(path, "chapter", chapters, self.chapters)
        return _check_mapping(f"{path}: {chapter}", chapters.get(chapter))

    def build_folder(self, profile: str) -> Path:
        """Return the folder that holds everything made in a profile."""
        return self.root / "_build" / profile

    @property
    def results(self) -> Path:
        """The folder of finished blocks of trials: see `lib.trials.store`."""
        return Path(os.environ.get("BOOK_RESULTS") or self.root / "_build" / "results").resolve()

    def executed(self, profile: str, chapter: str) -> Path:
        """Return where the executed notebook of a chapter is kept."""
        return self.build_folder(profile) / "executed" / f"{chapter}.ipynb"


def _require_known(path: Path, kind: str, names: dict, known_names: list[str]) -> None:
    """Raise BookError for a name in a file that is not known; it names the nearest."""
    for name in names:
        if name not in known_names:
            raise BookError(f"{path}: no {kind} {name!r}{nearest(str(name), known_names)}")


@contextmanager
def errors_name(chapter: str):
    """Make an error in parameters a BookError that names their chapter."""
    try:
        yield
    except ValueError as error:
        raise BookError(f"{chapter}: {error}") from error


def parameters_of(project: Project, chapter: str) -> dict[str, Parameter]:
    """Return the parameters of a chapter by name; BookError if their cell cannot be read."""
    with errors_name(chapter):
        return read_parameters(read_cells(project.notebook(chapter)))


def resolve_parameters(project: Project, chapter: str, *layers: dict) -> tuple[dict, dict]:
    """Return the values that layers set for a chapter, and the values of all its parameters.

    Parameters
    ----------
    project : Project
    chapter : str
    *layers : dict
        Values by the name of their parameter; a later layer takes precedence.

    Returns
    -------
    overrides, values : dict
        The checked values that are set; and these with the defaults of all other parameters.

    Raises
    ------
    BookError
        If a name or a value is wrong.
    """
    parameters = parameters_of(project, chapter)
    with errors_name(chapter):
        overrides = check_values(parameters, *layers)
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    return overrides, defaults | overrides


def read_mapping(path: Path) -> dict:
    """Return the lines `name: value` of a YAML file; nothing if there is no such file."""
    if not path.exists():
        return {}
    try:
        return _check_mapping(str(path), _load_yaml_once(read_text(path)))
    except yaml.YAMLError as error:
        raise BookError(f"{path}: {error}") from error


def _check_mapping(place: str, values) -> dict:
    """Return the values, an empty dict for None; BookError names the place of anything else."""
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BookError(f"{place}: expected lines `name: value`")
    return values


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, whatever the locale is; BookError if that fails."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"{path} cannot be read: {error}") from error


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file; BookError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BookError(f"{path} cannot be read: {error}") from error


def read_cells(path: Path) -> list[dict]:
    """Return the cells of a notebook (see `parse_cells`); BookError if it has none."""
    return parse_cells(read_bytes(path), path)


def parse_cells(contents: bytes, path: Path) -> list[dict]:
    """Return the cells of a notebook with these contents; an error names its path.

    Each is a dict of nbformat with cell_type, metadata and source; the source is one text, although
    a file may have it in lines.
    """
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BookError(f"{path} cannot be read: {error}") from error
    try:
        cells = []
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            cells.append({**cell, "metadata": cell["metadata"], "source": source})
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise BookError(f"{path} is not a notebook: {error!r}") from error
    return cells


def read_notebook(path: Path):
    """Return a valid notebook; BookError if the file is none."""
    import nbformat  # here, as it takes longer than all else that `book list` needs

    text = read_text(path)
    try:
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # nbformat lets through whatever goes wrong with a strange file
        raise BookError(f"{path} is not a valid notebook: {error}") from error
    return notebook
