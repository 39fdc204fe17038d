"""Where things are: the chapters in the table of contents, the profiles, the build folders."""

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import click
import yaml
from sphinx_external_toc.parsing import MalformedError, parse_toc_yaml

from lib.book.parameters import Parameter, load_yaml, read_parameters, resolve
from lib.validation import nearest

PROFILES = ("quick", "paper")
PUBLISHED = "paper"
# each time the same ones, not to be changed: it takes long
plain_values = lru_cache(maxsize=16)(load_yaml)


class BookError(click.ClickException):
    """An error that is told to the reader without a traceback."""


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
        for suffix in ("", ".ipynb", ".md"):
            inside = name.startswith("chapters/") and ".." not in name
            if inside and (self.root / f"{name}{suffix}").is_file():
                return self.root / f"{name}{suffix}"
        raise BookError(
            f"{self.root / '_toc.yml'} names {name}, but chapters/ has no such .ipynb or .md"
        )

    @property
    def config(self) -> dict:
        """The settings in ``_config.yml``; none if there is no such file."""
        return read_mapping(self.root / "_config.yml")

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
        """Return the heading of a chapter as its notebook has it; without one, the chapter's name."""
        cells = read_cells(self.notebook(chapter))
        lines = [
            line
            for cell in cells
            if cell["cell_type"] == "markdown"
            for line in cell["source"].splitlines()
        ]
        return next(
            (line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), chapter
        )

    def find(self, name: str) -> str:
        """Return the chapter that `name` (or the path of its notebook) means; a near miss names the nearest."""
        wanted = name.removeprefix("./").removeprefix("chapters/").removesuffix(".ipynb")
        if wanted in self.chapters:
            return wanted
        raise BookError(
            f"no chapter {name!r}{nearest(wanted, self.chapters)} (`book list` shows them all)"
        )

    def record(self, chapter: str) -> Path:
        """Return where the recorded rows of a chapter are: see `lib.experiments.record`."""
        return self.root / "data" / "recorded" / f"{chapter}.csv.gz"

    def profile(self, name: str, chapter: str) -> dict:
        """Return the parameters that a profile gives to a chapter."""
        path = self.root / "chapters" / "profiles.yml"
        profiles = read_mapping(path)
        chapters = _mapping(f"{path}: {name}", profiles.get(name))
        for kind, names, known in (
            ("profile", profiles, list(PROFILES)),
            ("chapter", chapters, self.chapters),
        ):
            for unknown in set(names) - set(known):
                raise BookError(f"{path}: no {kind} {unknown!r}{nearest(str(unknown), known)}")
        return _mapping(f"{path}: {name}: {chapter}", chapters.get(chapter))

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


@contextmanager
def naming(chapter: str):
    """Make an error in parameters a BookError that names their chapter."""
    try:
        yield
    except ValueError as error:
        raise BookError(f"{chapter}: {error}") from error


def parameters_of(project: Project, chapter: str) -> dict[str, Parameter]:
    """Return the parameters of a chapter by name; BookError if its parameters cell cannot be read."""
    with naming(chapter):
        return read_parameters(read_cells(project.notebook(chapter)))


def settle(project: Project, chapter: str, *layers: dict) -> tuple[dict, dict]:
    """Return the values that are set and all values, defaults included, of a chapter; BookError if one is wrong."""
    parameters = parameters_of(project, chapter)
    with naming(chapter):
        overrides = resolve(parameters, *layers)
    return overrides, {
        name: overrides.get(name, parameter.default) for name, parameter in parameters.items()
    }


def read_mapping(path: Path) -> dict:
    """Return the lines `name: value` of a YAML file; nothing if there is no such file."""
    try:
        return _mapping(str(path), plain_values(read_text(path)) if path.exists() else None)
    except yaml.YAMLError as error:
        raise BookError(f"{path}: {error}") from error


def _mapping(place: str, values) -> dict:
    if not isinstance(values, dict | None):
        raise BookError(f"{place}: expected lines `name: value`")
    return values or {}


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, whatever the locale is; BookError if it cannot be read."""
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
    """Return the cells of a notebook, each with type, metadata and source; BookError if it has none."""
    return parse_cells(read_bytes(path), path)


def parse_cells(contents: bytes, path: Path) -> list[dict]:
    """Return the cells of a notebook that has these contents (see `read_cells`); an error names its path."""
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BookError(f"{path} cannot be read: {error}") from error
    try:
        cells = json.loads(text)["cells"]
        return [
            {**cell, "metadata": cell["metadata"], "source": "".join(cell["source"])}
            for cell in cells
        ]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise BookError(f"{path} is not a notebook: {error!r}") from error


def read_notebook(path: Path):
    """Return a valid notebook; BookError if the file is none."""
    import nbformat  # takes longer than all else that `book list` needs

    text = read_text(path)
    try:
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # nbformat lets through whatever goes wrong with a strange file
        raise BookError(f"{path} is not a valid notebook: {error}") from error
    return notebook
