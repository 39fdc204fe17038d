"""Which results may be used again: a key over everything that a chapter's numbers come from."""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from lib import sources
from lib.book.run.environment import version_mismatches
from lib.book.run.parameters import check_values, read_parameters
from lib.book.run.project import (
    CONFIG,
    PROFILES_FILE,
    PUBLISHED,
    SECONDS,
    Project,
    errors_name,
    parse_cells,
    read_bytes,
    read_cells,
    read_mapping,
    resolve_parameters,
)
from lib.book.run.remote_data import remote_data_status
from lib.book.run.rules import rules_for
from lib.datasets.availability import file_names, unverified_paths
from lib.files import files_below, write_whole
from lib.trials import description
from lib.trials.store import runtime_fingerprint

PRESS = "lib.book"
RUN = f"{PRESS}.run"  # the modules of this folder run a chapter; the rest of lib.book makes pages


@dataclass(frozen=True)
class Snapshot:
    """The sources of a run of a chapter, as they were when its key was made.

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
        Status of the data that are not shipped: see `lib.book.run.remote_data.remote_data_status`.
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
    """Return the key of a run of a chapter with these values set, and its sources."""
    path = project.notebook(chapter)
    notebook = read_bytes(path)
    cells = parse_cells(notebook, path)
    with errors_name(chapter):
        parameters = read_parameters(cells)
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        values = defaults | check_values(parameters, overrides)
    # Times before contents: a change in between shows in the times of the next snapshot.
    times = _times_of_files(project, chapter, values)
    statuses = remote_data_status(project, cells, values)
    return Snapshot(
        key=_key(project, chapter, cells, values),
        notebook=notebook,
        times=times,
        availability={name: status for name, (status, _) in statuses.items()},
    )


def _times_of_files(project: Project, chapter: str, values: dict) -> dict[str, int]:
    """Return when each file that a chapter may read was last changed, in ns, by its path."""
    data = project.root / "data"
    files = [project.root / "chapters" / "registered.yml", project.record(chapter)]
    files += [path for path in files_below(data) if data / "recorded" not in path.parents]
    if values.get("folder"):
        files += files_below(project.root / values["folder"])
    return {str(path): path.stat().st_ctime_ns for path in files if path.exists()}


def fingerprint(project: Project, chapter: str, parameters: dict) -> str:
    """Return the key of a chapter's results, in two parts.

    The first is a digest of the notebook, the parameters, the registered rules of its claims, the
    shipped data, the recorded rows, the lock file, installed packages that differ from it, lib,
    Python with its flags, and the machine. The second is a digest of the status of the data that
    are not shipped, which a chapter may fetch while it runs.
    """
    return _key(project, chapter, read_cells(project.notebook(chapter)), parameters)


def _key(project: Project, chapter: str, cells: list[dict], parameters: dict) -> str:
    lock = project.root / "requirements.lock"
    shipped_data = {
        path: sha256
        for path, sha256 in data_digests(project).items()
        if not path.startswith("recorded/")
    }
    # without those of lib and data, which are ingredients of their own below
    machine = {
        name: value for name, value in runtime_fingerprint().items() if name not in ("lib", "data")
    }
    ingredients = {
        # and not the outputs that are stored
        "notebook": [[cell["cell_type"], cell["metadata"], cell["source"]] for cell in cells],
        "parameters": parameters,
        "registered": rules_for(project, "\n".join(cell["source"] for cell in cells)),
        "data": shipped_data,
        "record": digest(project.record(chapter)),
        "published": _published_scale(project, chapter),
        "lock": digest(lock),
        "lib": sources.module_digests(modules_of_chapters()),
        "environment": [version_mismatches(lock), sys.version, list(sys.flags)],
        "machine": machine,
    }
    # a part of its own: results of a run that has fetched data may be used
    statuses = remote_data_status(project, cells, parameters)
    return f"{description.digest(ingredients)}-{description.digest(statuses)}"


def _published_scale(project: Project, chapter: str) -> list:
    """Return what `lib.report.scale` reads: published values, how long they take, the address."""
    seconds = read_mapping(project.root / SECONDS).get(chapter)
    address = (project.config.get("html") or {}).get("baseurl")
    return [project.profile(PUBLISHED, chapter), seconds, address]


def modules_of_chapters() -> set[str]:
    """Return the modules of lib that decide what a chapter's notebook shows.

    All of lib.book.run are among them, with what they import, and all of lib but lib.book.
    """
    decisive = [name for name in sources.SOURCES if name.startswith(f"{RUN}.")]
    decisive += [name for name in sources.SOURCES if not name.startswith(PRESS)]
    return sources.closure(decisive)


def lib_has_changed() -> bool:
    """Whether files of lib that a chapter may run differ from the code in this process."""
    sources_in_files = sources.read_sources()
    modules = modules_of_chapters()
    if not modules <= sources_in_files.keys():
        return True
    in_files = sources.module_digests(modules, sources_in_files)
    return in_files != sources.module_digests(modules)


def code_digest(project: Project, chapter: str) -> str:
    """Return a digest of a chapter's code and of lib, which comments and text do not change."""
    cells = read_cells(project.notebook(chapter))
    code = [sources.source_digest(c["source"]) for c in cells if c["cell_type"] == "code"]
    return description.digest([code, sources.module_digests(modules_of_chapters())])


def files_in_no_key(
    project: Project, chapter: str, overrides: dict, notes: list[dict]
) -> list[str]:
    """Return the files that a run of a chapter has read and that its key does not hold.

    The key holds data/, the published scale, texts in the folder that a parameter names, and the
    status of copies in mirrors. `remote_data_status` reads these copies, too, to check them.

    Parameters
    ----------
    project : Project
    chapter : str
    overrides : dict
        Values that are set.
    notes : list of dict
        Notes of the run: see `lib.trials.notes`.
    """
    paths_read = {note["path"] for note in notes if note["kind"] in ("opened", "read")}
    paths = [Path(path).resolve() for path in unverified_paths(paths_read)]
    if not paths:
        return []
    _, values = resolve_parameters(project, chapter, overrides)
    texts = (project.root / values["folder"]).resolve() if values.get("folder") else None
    data = (project.root / "data").resolve()
    record = project.record(chapter).resolve()
    statuses = remote_data_status(project, read_cells(project.notebook(chapter)), values)
    names = file_names(statuses)
    scale_files = [(project.root / name).resolve() for name in (CONFIG, PROFILES_FILE, SECONDS)]

    def is_in_key(path):
        is_record_of_another = data / "recorded" in path.parents and path != record
        is_data = data in path.parents and not is_record_of_another
        is_of_scale = path in scale_files
        return (
            is_data or is_of_scale or path.parent == texts or path.name.removesuffix(".gz") in names
        )

    return [str(path) for path in paths if not is_in_key(path)]


def is_fresh(executed: Path, key: str) -> bool:
    """Whether an executed notebook was made under this key and has not been touched since."""
    note = read_execution_note(executed)
    return note.get("key") == key and note.get("sha256") == digest(executed)


def read_execution_note(executed: Path) -> dict:
    """Return the note beside an executed notebook: key, sha256, seconds and commit.

    Empty if there is none, or if it is damaged.
    """
    fields = {"key": str, "sha256": str, "seconds": float, "commit": str}
    try:
        note = json.loads(executed.with_suffix(".json").read_text(encoding="utf-8"))
        is_whole = all(type(note[name]) is kind for name, kind in fields.items())
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return note if is_whole else {}


def write_execution_note(executed: Path, key: str, seconds: float, commit: str) -> None:
    """Note under which key and commit a notebook was executed, its sha256 and how long it took."""
    note = {
        "key": key,
        "sha256": digest(executed),
        "seconds": round(float(seconds), 1),
        "commit": commit,
    }
    write_whole(executed.with_suffix(".json"), json.dumps(note, indent=1) + "\n")
