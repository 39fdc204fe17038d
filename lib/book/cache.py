"""Which results may be used again: a key over everything that a chapter's numbers come from."""

import hashlib
import json
import sys
from functools import cache
from pathlib import Path

from lib.book.environment import unlocked
from lib.book.parameters import PARSING
from lib.book.project import PUBLISHED, Project, read_cells, settle
from lib.files import files_below, write_whole
from lib.trials import description
from lib.trials.elsewhere import fetched
from lib.trials.store import SOURCES, workplace

EXECUTING = ("book/execution.py", "book/parameters.py")


def digest(path: Path) -> str:
    """Return the sha256 of a file, or "absent"."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"


def data_digests(project: Project) -> dict[str, str]:
    """Return the sha256 of each file below ``data/``, by its path there."""
    folder = project.root / "data"
    return {path.relative_to(folder).as_posix(): digest(path) for path in files_below(folder)}


def fingerprint(project: Project, chapter: str, parameters: dict) -> str:
    """Return the key of a chapter's results, in two parts.

    The first is of notebook, parameters, what decides the claims, data, recorded rows, lock file and what is installed
    otherwise, lib, Python and processor. The second is of the data that are not shipped, which a chapter may fetch
    while it runs.
    """
    from lib.book.registry import deciding  # which imports this module

    cells = read_cells(project.notebook(chapter))  # and not the outputs that are stored
    ingredients = {
        "notebook": [[cell["cell_type"], cell["metadata"], cell["source"]] for cell in cells],
        "parameters": parameters,
        "registered": deciding(project, "\n".join(cell["source"] for cell in cells)),
        "data": {path: sha256 for path, sha256 in data_digests(project).items() if not path.startswith("recorded/")},
        "record": digest(project.record(chapter)),
        "lock": digest(project.root / "requirements.lock"),
        "lib": _library(project),
        "environment": [unlocked(project.root / "requirements.lock"), sys.version, list(sys.flags)],
        "machine": {name: value for name, value in workplace().items() if name not in SOURCES},
    }
    return "-".join(map(description.digest, (ingredients, data_elsewhere(cells, parameters))))


def data_elsewhere(cells: list[dict], parameters: dict) -> dict[str, tuple[str, str]]:
    """Return what can be had (status and reason) of what is not shipped: data sets that parameters name, and texts.

    A chapter needs texts if one of its cells has the word read_texts; its parameter folder may name one's own.
    """
    names = {word for value in parameters.values() for word in (value if isinstance(value, list) else [value])}
    names |= {"texts"} if any("read_texts" in cell["source"] for cell in cells) else set()
    return fetched(names, parameters.get("folder") or None)


def missing_data(project: Project, chapter: str) -> list[str]:
    """Return what cannot be had of the data sets that a chapter names as it is published, or of the texts it needs."""
    _, values = settle(project, chapter, project.profile(PUBLISHED, chapter))
    elsewhere = data_elsewhere(read_cells(project.notebook(chapter)), values)
    return [name for name, (status, _) in elsewhere.items() if status == "not available"]


def _library(project: Project) -> dict[str, str]:
    """Return a digest of what a chapter may run: the code in lib but for the part of the driver that makes pages."""
    folder = project.root / "lib"
    paths = {path.relative_to(folder).as_posix(): path for path in files_below(folder, "*.py")}
    run = {name: path for name, path in paths.items() if not name.startswith("book/") or name in EXECUTING}
    return {name: _code_digest(path.read_bytes()) for name, path in run.items()}


@cache
def _code_digest(source: bytes) -> str:
    try:
        with PARSING:
            return description.code_digest(source)
    except SyntaxError:  # the chapter that imports it will say so
        return hashlib.sha256(source).hexdigest()


def is_fresh(executed: Path, key: str) -> bool:
    """Return whether an executed notebook was made under this key and has not been touched since."""
    record = read_record(executed)
    return record.get("key") == key and record.get("sha256") == digest(executed)


def read_record(executed: Path) -> dict:
    """Return what was noted when a notebook was executed: key, sha256 and seconds; empty if nothing was."""
    try:
        record = json.loads(executed.with_suffix(".json").read_text(encoding="utf-8"))
        return record if [type(record[field]) for field in ("key", "sha256", "seconds")] == [str, str, float] else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def write_record(executed: Path, key: str, seconds: float) -> None:
    """Note under which key a notebook was executed, its sha256 and how long it took."""
    record = {"key": key, "sha256": digest(executed), "seconds": round(float(seconds), 1)}
    write_whole(executed.with_suffix(".json"), json.dumps(record, indent=1) + "\n")
