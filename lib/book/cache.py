"""Which results may be used again: a key over everything that a chapter's numbers come from."""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from lib import sources
from lib.book.environment import unlocked
from lib.book.parameters import read_parameters, resolve
from lib.book.project import PUBLISHED, Project, naming, parse_cells, read_bytes, read_cells, settle
from lib.datasets.availability import file_names, remote_status, unverified_paths
from lib.files import files_below, write_whole
from lib.trials import description
from lib.trials.store import runtime_fingerprint

PRESS = "lib.book"
# with all that it imports; the rest of the press makes pages of what has run
RUNS_A_CHAPTER = f"{PRESS}.execution"


@dataclass(frozen=True)
class Snapshot:
    """What a chapter is run from, as it was when its key was made.

    Parameters
    ----------
    key : str
        See `fingerprint`.
    notebook : bytes
        The notebook of the key, which is what runs, whatever becomes of its file.
    times : dict of str to int
        When each file that a running chapter may read was last changed, in ns by the clock of the
        file system, which notices also what is changed and changed back.
    availability : dict of str to str
        What could be had of the data that are not shipped: see `remote_data_status`.
    """

    key: str
    notebook: bytes
    times: dict[str, int]
    availability: dict[str, str]


def digest(path: Path) -> str:
    """Return the sha256 of a file, or "absent"."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"


def data_digests(project: Project) -> dict[str, str]:
    """Return the sha256 of each file below ``data/``, by its path there."""
    folder = project.root / "data"
    return {path.relative_to(folder).as_posix(): digest(path) for path in files_below(folder)}


def take_snapshot(project: Project, chapter: str, overrides: dict) -> Snapshot:
    """Return the key of a run of a chapter with these values set, and what it is to be run from."""
    data, recorded = files_below(project.root / "data"), project.root / "data" / "recorded"
    files = [project.root / "chapters" / "registered.yml", project.record(chapter)]
    files += [path for path in data if recorded not in path.parents]
    notebook = read_bytes(project.notebook(chapter))
    cells = parse_cells(notebook, project.notebook(chapter))
    with naming(chapter):
        parameters = read_parameters(cells)
        values = {name: parameter.default for name, parameter in parameters.items()} | resolve(
            parameters, overrides
        )
    files += files_below(project.root / values["folder"]) if values.get("folder") else []
    times = {str(path): path.stat().st_ctime_ns for path in files if path.exists()}
    availability = {
        name: status for name, (status, _) in remote_data_status(project, cells, values).items()
    }
    return Snapshot(_key(project, chapter, cells, values), notebook, times, availability)


def fingerprint(project: Project, chapter: str, parameters: dict) -> str:
    """Return the key of a chapter's results, in two parts.

    The first is of notebook, parameters, what decides the claims, data, recorded rows, lock file
    and what is installed otherwise, lib and the settings in which it runs, Python and processor.
    The second is of the data that are not shipped, which a chapter may fetch while it runs.
    """
    return _key(project, chapter, read_cells(project.notebook(chapter)), parameters)


def _key(project: Project, chapter: str, cells: list[dict], parameters: dict) -> str:
    from lib.book.registry import deciding  # which imports this module

    here = {
        name: value for name, value in runtime_fingerprint().items() if name not in ("lib", "data")
    }
    ingredients = {
        # and not the outputs that are stored
        "notebook": [[cell["cell_type"], cell["metadata"], cell["source"]] for cell in cells],
        "parameters": parameters,
        "registered": deciding(project, "\n".join(cell["source"] for cell in cells)),
        "data": {
            path: sha256
            for path, sha256 in data_digests(project).items()
            if not path.startswith("recorded/")
        },
        "record": digest(project.record(chapter)),
        "lock": digest(project.root / "requirements.lock"),
        "lib": sources.module_digests(modules_of_chapters()),
        "environment": [unlocked(project.root / "requirements.lock"), sys.version, list(sys.flags)],
        "machine": here,
    }
    return "-".join(
        map(description.digest, (ingredients, remote_data_status(project, cells, parameters)))
    )


def modules_of_chapters() -> set[str]:
    """Return the modules of lib that a chapter may run: all but the part of the press that makes pages."""
    run = sources.closure([RUNS_A_CHAPTER])
    return {name for name in sources.SOURCES if name in run or not name.startswith(PRESS)}


def lib_has_changed() -> bool:
    """Return whether the code of lib that a chapter may run is another in its files than in this process."""
    now, names = sources.read_sources(), modules_of_chapters()
    if not names <= now.keys():
        return True
    return sources.module_digests(names, now) != sources.module_digests(names)


def code_digest(project: Project, chapter: str) -> str:
    """Return a digest of the code that a chapter's numbers come from: its cells and lib, without words about them."""
    cells = [
        cell["source"]
        for cell in read_cells(project.notebook(chapter))
        if cell["cell_type"] == "code"
    ]
    return description.digest(
        [list(map(sources.source_digest, cells)), sources.module_digests(modules_of_chapters())]
    )


def remote_data_status(
    project: Project, cells: list[dict], parameters: dict
) -> dict[str, tuple[str, str]]:
    """Return what can be had (status and reason) of what is not shipped and a chapter may take.

    These are the data sets that its parameters name; texts if one of its cells has the word
    read_texts, those of its parameter folder if it has one (from the folder of the book on, in
    which chapters run); and what only a mirror has, if it calls read_mirrored.
    """
    names = {
        word
        for value in parameters.values()
        for word in (value if isinstance(value, list) else [value])
    }
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    names |= {
        word
        for word, call in (("texts", "read_texts"), ("mirrored", "read_mirrored("))
        if call in code
    }
    folder = project.root / parameters["folder"] if parameters.get("folder") else None
    return remote_status(names, folder)


def files_in_no_key(
    project: Project, chapter: str, overrides: dict, notes: list[dict]
) -> list[str]:
    """Return the files that a run of a chapter with these values has read, as it noted, and that its key does not hold.

    It holds data/, texts in the folder that a parameter names, and what `remote_data_status` tells of
    mirrors. Copies in a mirror whose contents are checked are read, too, by whoever asks what can
    be had.
    """
    paths = [
        Path(path).resolve()
        for path in unverified_paths({n["path"] for n in notes if n["kind"] in ("opened", "read")})
    ]
    if not paths:
        return []
    values = settle(project, chapter, overrides)[1]
    texts = (project.root / values["folder"]).resolve() if values.get("folder") else None
    data = (project.root / "data").resolve()
    names = file_names(remote_data_status(project, read_cells(project.notebook(chapter)), values))

    def is_keyed(path):
        is_other_record = (
            data / "recorded" in path.parents and path != project.record(chapter).resolve()
        )
        is_data = data in path.parents and not is_other_record
        return is_data or path.parent == texts or path.name.removesuffix(".gz") in names

    return [str(path) for path in paths if not is_keyed(path)]


def missing_data(project: Project, chapter: str) -> list[str]:
    """Return what cannot be had of the data sets that a chapter names as it is published, or of the texts it needs."""
    _, values = settle(project, chapter, project.profile(PUBLISHED, chapter))
    statuses = remote_data_status(project, read_cells(project.notebook(chapter)), values)
    return [name for name, (status, _) in statuses.items() if status == "not available"]


def is_fresh(executed: Path, key: str) -> bool:
    """Return whether an executed notebook was made under this key and has not been touched since."""
    record = read_record(executed)
    return record.get("key") == key and record.get("sha256") == digest(executed)


def read_record(executed: Path) -> dict:
    """Return what was noted when a notebook was executed: key, sha256, seconds and commit; empty if nothing was."""
    fields = {"key": str, "sha256": str, "seconds": float, "commit": str}
    try:
        record = json.loads(executed.with_suffix(".json").read_text(encoding="utf-8"))
        return record if all(type(record[name]) is kind for name, kind in fields.items()) else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def write_record(executed: Path, key: str, seconds: float, commit: str) -> None:
    """Note under which key and commit a notebook was executed, its sha256 and how long it took."""
    record = {
        "key": key,
        "sha256": digest(executed),
        "seconds": round(float(seconds), 1),
        "commit": commit,
    }
    write_whole(executed.with_suffix(".json"), json.dumps(record, indent=1) + "\n")
