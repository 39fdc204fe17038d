"""The pages of the last build: whether the next one may go on from them."""

import json
from pathlib import Path

from lib.base import sources
from lib.base.files import LIB, files_below, write_whole
from lib.book.run.keys import file_digest
from lib.book.run.project import BookError, Project, read_text
from lib.trials.source_key import digest

NOTE = "pages.json"  # beside the pages: what they have in common, and each file as it was written
PRESS = "lib.book"
FILES = ("_toc.yml", "_config.yml", "references.bib", "requirements.lock")


def earlier_pages(folder: Path) -> Path:
    """Return where pages of a build folder are kept whose chapters may have changed."""
    return folder / "_build" / "earlier"


def common_digest(project: Project) -> str:
    """Return a digest of what all pages have in common: contents, settings, style, the press.

    The titles of all pages are part of it, as bars at the side and at the foot of a page have them.
    """
    root = project.root
    paths = [root / name for name in FILES] + files_below(root / "assets")
    templates = files_below(LIB / "book", "templates/*")
    modules = [name for name in sources.SOURCES if name.startswith(PRESS)]
    ingredients = {
        "titles": {str(path.relative_to(root)): _title(project, path) for path in project.pages},
        "files": {str(path.relative_to(root)): file_digest(path) for path in paths},
        "templates": {str(path.relative_to(LIB)): file_digest(path) for path in templates},
        "press": sources.module_digests(modules),
    }
    return digest(ingredients)


def _title(project: Project, page: Path) -> str:
    if page.suffix == ".ipynb":
        chapter = page.relative_to(project.root / "chapters").with_suffix("").as_posix()
        return project.heading(chapter)
    lines = read_text(page).splitlines()
    return next((line for line in lines if line.startswith("# ")), "")


def note_pages(folder: Path, common: str) -> None:
    """Note of the pages in a build folder what they have in common, and each file as it is now."""
    note = {"common": common, "files": _file_digests(folder / "html")}
    write_whole(folder / NOTE, json.dumps(note, indent=1) + "\n")


def note_files(folder: Path) -> None:
    """Note each file beside the pages in a build folder as it is now, as one was added to them."""
    note_pages(folder, _read_note(folder).get("common", ""))


def reason_to_make_all(folder: Path, common: str) -> str:
    """Return why no earlier page may be used again; empty if those may that show the same."""
    note = _read_note(folder)
    if note.get("common") != common:
        return "the contents, settings or style of the book, or the press, have changed"
    names = _changed_files(note, earlier_pages(folder))
    return f"{_in_words(names)} changed since the last build" if names else ""


def require_pages_as_built(folder: Path) -> None:
    """Raise BookError if a file beside the pages in a build folder is not as it was written."""
    names = _changed_files(_read_note(folder), folder / "html")
    if names:
        raise BookError(
            f"{_in_words(names)} changed since the pages in {folder / 'html'} were built; "
            f"run `book build --profile {folder.name}`"
        )


def _changed_files(note: dict, pages: Path) -> list[str]:
    """Return the names of files that differ between a note and a folder, or are in one of them."""
    written = note.get("files", {})
    present = _file_digests(pages)
    names = sorted(written.keys() | present.keys())
    return [name for name in names if written.get(name) != present.get(name)]


def _file_digests(pages: Path) -> dict[str, str]:
    return {path.relative_to(pages).as_posix(): file_digest(path) for path in files_below(pages)}


def _in_words(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more files"


def _read_note(folder: Path) -> dict:
    """Return the note of a build folder; empty if there is none, or if it is damaged."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
