"""Which results may be used again: a key over everything that a chapter's numbers come from."""

import hashlib
import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lib.base import sources
from lib.base.files import files_below, write_whole
from lib.book.run.claim_rules import rules_for
from lib.book.run.parameters import check_values, read_parameters
from lib.book.run.project import (
    FINDING_CELL,
    Project,
    errors_name,
    parse_cells,
    read_bytes,
    read_cells,
)
from lib.book.run.remote_data import remote_data_status
from lib.trials.source_key import PACKAGES, digest
from lib.trials.store import NOT_READ, runtime_fingerprint

PRESS = "lib.book"
# packages that draw a chapter's figures and word its texts
DRAWING = ("matplotlib", "seaborn", "ipython", "jinja2")
RUNNER = f"{PRESS}.run.execution"  # with what it imports, this runs any chapter


@dataclass(frozen=True)
class Snapshot:
    """The sources of a run of a chapter, as they were when its key was made.

    Parameters
    ----------
    key : str
        See `fingerprint`.
    notebook : bytes
        The notebook of the key, which is what runs, whatever becomes of its file.
    availability : dict of str to str
        Status of the data that are not shipped: see `lib.book.run.remote_data.remote_data_status`.
    """

    key: str
    notebook: bytes
    availability: dict[str, str]


def file_digest(path: Path) -> str:
    """Return the sha256 of a file, or "absent"."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"


def data_file_digests(project: Project) -> dict[str, str]:
    """Return the sha256 of each file below ``data/``, by its path there.

    Recorded rows are left out, as a chapter reads its own only, copies of the register, and what
    no chapter reads.
    """
    folder = project.root / "data"
    digests = {}
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(("recorded/", "registered/")) and not name.endswith(NOT_READ):
            digests[name] = file_digest(path)
    return digests


def parameter_file_digests(cells: list[dict], values: dict) -> dict[str, str]:
    """Return the sha256 of each file that a parameter names, by the name of the parameter."""
    digests = {}
    for name, parameter in read_parameters(cells).items():
        if parameter.is_file and values.get(name):
            digests[name] = file_digest(Path(values[name]))
    return digests


def take_snapshot(project: Project, chapter: str, overrides: dict) -> Snapshot:
    """Return the key of a run of a chapter with these values set, and its sources."""
    path = project.notebook(chapter)
    notebook = read_bytes(path)
    cells = parse_cells(notebook, path)
    with errors_name(chapter):
        parameters = read_parameters(cells)
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        values = defaults | check_values(parameters, overrides)
    statuses = remote_data_status(project, cells, values)
    return Snapshot(
        key=_key(project, chapter, cells, values),
        notebook=notebook,
        availability={name: status for name, (status, _) in statuses.items()},
    )


def fingerprint(project: Project, chapter: str, parameters: dict) -> str:
    """Return the key of a chapter's results, in two parts.

    The first is a digest of the notebook, the parameters and the files that they name, the
    registered rules of its claims, the shipped data, the recorded rows, the modules of lib that it
    reaches, the versions of packages as they are installed, Python with its flags, and the machine.
    The second is a digest of the status of the data that are not shipped, which a chapter may fetch
    while it runs.
    """
    return _key(project, chapter, read_cells(project.notebook(chapter)), parameters)


def _key(project: Project, chapter: str, cells: list[dict], parameters: dict) -> str:
    # without those of lib, data and packages, which are ingredients of their own below
    own_ingredients = {"lib", "data", *PACKAGES.values()}
    machine = {
        name: value for name, value in runtime_fingerprint().items() if name not in own_ingredients
    }
    # read anew each time: a package may be changed beside the lock, also while a chapter runs
    packages = {name: version(name) for name in (*PACKAGES.values(), *DRAWING)}
    ingredients = {
        # and not the outputs that are stored, nor the finding that is copied from them
        "notebook": [
            [cell["cell_type"], cell["metadata"], cell["source"]]
            for cell in cells
            if cell.get("id") != FINDING_CELL
        ],
        "parameters": parameters,
        "files": parameter_file_digests(cells, parameters),
        "registered": rules_for(project, "\n".join(cell["source"] for cell in cells)),
        "data": data_file_digests(project),
        "record": file_digest(project.record(chapter)),
        "lib": sources.module_digests(modules_of(cells)),
        "environment": [packages, sys.version, list(sys.flags)],
        "machine": machine,
    }
    # a part of its own: results of a run that has fetched data may be used
    statuses = remote_data_status(project, cells, parameters)
    return f"{digest(ingredients)}-{digest(statuses)}"


def modules_of(cells: list[dict]) -> set[str]:
    """Return the modules of lib that decide what a notebook shows: all that it or its run reaches.

    Of a notebook with ``import lib``, or with a cell that Python cannot parse, it is all of lib but
    its press.
    """
    names = {RUNNER}
    for cell in cells:
        if cell["cell_type"] == "code":
            try:
                names |= sources.imported_names(cell["source"])
            except SyntaxError:  # such as a line of IPython's own
                names.add(sources.PACKAGE)
    if sources.PACKAGE in names:
        names |= {name for name in sources.SOURCES if not name.startswith(PRESS)}
    return sources.closure(names)


def code_digests(project: Project, chapter: str) -> dict[str, str]:
    """Return digests of a chapter's "code" and of the modules of "lib" that it reaches.

    Comments and text change neither.
    """
    code, modules = _digests_of_cells(project, chapter)
    return {"code": digest(code), "lib": digest(modules)}


def chapter_code_digest(project: Project, chapter: str) -> str:
    """Return a digest of a chapter's code and of lib, which comments and text do not change."""
    return digest(_digests_of_cells(project, chapter))


def _digests_of_cells(project, chapter):
    """Return the digests of a chapter's code cells, and of the modules that they reach."""
    cells = read_cells(project.notebook(chapter))
    code = [sources.source_digest(c["source"]) for c in cells if c["cell_type"] == "code"]
    return code, sources.module_digests(modules_of(cells))


def is_fresh(executed: Path, key: str) -> bool:
    """Whether an executed notebook was made under this key and has not been touched since."""
    note = read_execution_note(executed)
    return note.get("key") == key and note.get("sha256") == file_digest(executed)


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
        "sha256": file_digest(executed),
        "seconds": round(float(seconds), 1),
        "commit": commit,
    }
    write_whole(executed.with_suffix(".json"), json.dumps(note, indent=1) + "\n")
