"""Finished blocks of trials: what a run found of them, what there is, and whether it can be had again."""

import json
import re
from collections import Counter, namedtuple
from pathlib import Path

import click
from tqdm import tqdm

from lib.book import execution
from lib.book.cache import code_digest, files_in_no_key, missing_data
from lib.book.history import require_commit
from lib.book.project import PUBLISHED, BookError, Project, settle
from lib.trials.description import DIGITS
from lib.trials.store import SUMMARY, environment

# kinds of notes that are counted, or said in another way
SILENT = ("found", "verified", "absent", "opened")
Stored = namedtuple("Stored", "folder name n_blocks size current")
Stored.__doc__ = "A folder of finished blocks, and whether they are of what is here now."


def execute_stored(
    project: Project, chapter: str, values: dict, output: Path, name="", **settings
) -> list[dict]:
    """Execute a chapter whose finished blocks are stored and found again, and say after `name` how many were found.

    `settings` are further arguments of `lib.book.execution.execute`. Returns what the kernel noted.
    """
    click.echo(f"{name or f'{chapter}: '}started")
    noted = []

    def report(notes):
        noted.extend(notes)
        _say(project, name, notes)
        cells = [note for note in notes if note["kind"] == "opened"]
        for path in files_in_no_key(project, chapter, values, cells):
            click.secho(
                f"{name}Warning: a cell read {path}, which no key holds: put it into data/",
                fg="yellow",
                err=True,
            )

    results, code = str(project.results), code_digest(project, chapter)
    execution.execute(
        project, chapter, values, output, report, results=results, code=code, **settings
    )
    return noted


def verify(project: Project, chapter: str, values: dict, part: float, seed: int) -> Counter:
    """Run part of each experiment's stored blocks again; count them (verified) and all (found).

    Raises
    ------
    BookError
        If a block is not what its trials give now, or not all blocks of the chapter are stored.
    """
    output = project.root / "_build" / "verify" / f"{chapter}.ipynb"
    counts = Counter()

    def report(notes):
        _say(project, "", [note for note in notes if note["kind"] != "found"])
        for note in notes:
            counts[note["kind"]] += note.get("blocks", 0)

    execution.execute(
        project, chapter, values, output, report, results=str(project.results), verify=[seed, part]
    )
    return counts


def record(project: Project, chapter: str) -> Path:
    """Run a chapter as it is published and record the rows that it asks for; return their file.

    Raises
    ------
    BookError
        If data that the chapter needs are not here, files differ from the commit, or the chapter
        records nothing.
    """
    if absent := missing_data(project, chapter):
        remedy = "set UCI_MIRROR or TEXTS_MIRROR, or fetch them first"
        raise BookError(f"{chapter} cannot be recorded without {', '.join(absent)}: {remedy}")
    # no record but that of a chapter itself is read by it
    commit = require_commit(project, "data/recorded")
    code = code_digest(project, chapter)
    overrides = settle(project, chapter, project.profile(PUBLISHED, chapter))[0]
    output = project.root / "_build" / "record" / f"{chapter}.ipynb"
    part, path = output.with_suffix(".csv.gz"), project.record(chapter)
    part.unlink(missing_ok=True)
    execute_stored(project, chapter, overrides, output, record=[str(part), commit, code])
    if not part.exists():
        raise BookError(f"{chapter} has no rows to record: see lib.experiments.record")
    if (require_commit(project, "data/recorded"), code_digest(project, chapter)) != (commit, code):
        raise BookError(f"{chapter}: its sources changed while it ran; start again")
    path.parent.mkdir(parents=True, exist_ok=True)
    return part.replace(path)


def _say(project: Project, name: str, notes: list[dict]) -> None:
    finds = [note for note in notes if note["kind"] == "found"]
    if finds:
        n_blocks, n_all = (sum(note[field] for note in finds) for field in ("blocks", "all"))
        click.echo(
            f"{name}found {n_blocks} of {n_all} blocks of the experiments begun before, in {project.results}"
        )
    for note in notes:
        if note["kind"] not in SILENT:
            click.secho(f"{name}Warning: {note['message']}", fg="yellow", err=True)


def stored_experiments(root: Path) -> list[Stored]:
    """Return what each folder of blocks in `root` holds, largest first; whatever else is there is none."""
    paths = [path for path in root.glob("*") if re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", path.name)]
    experiments = [_stored(path) for path in paths if path.is_dir() and not path.is_symlink()]
    return sorted(experiments, key=lambda experiment: (-experiment.size, experiment.name))


def _stored(folder: Path) -> Stored:
    try:
        about = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        name, current = str(about["name"]), about["environment"] == environment(about["settings"])
    except (OSError, ValueError, LookupError, TypeError):
        name, current = "unknown", False
    size = sum(path.stat().st_size for path in folder.iterdir() if path.exists())
    return Stored(folder, name, sum(1 for _ in folder.glob("*.block")), size, current)


def show(folder: Path, experiments: list[Stored]) -> str:
    """Return a table of stored experiments."""
    if not experiments:
        return f"nothing is stored in {folder}"
    lines = [
        f"{e.n_blocks:7} {tqdm.format_sizeof(e.size, 'B'):>9}  {'current' if e.current else 'old':8} {e.name}"
        for e in experiments
    ]
    return "\n".join(
        [" blocks      size  made by  experiment", *lines, f"{folder}: {total(experiments)}"]
    )


def total(experiments: list) -> str:
    """Return how many blocks there are, and how large they are."""
    return f"{sum(e.n_blocks for e in experiments)} blocks, {tqdm.format_sizeof(sum(e.size for e in experiments), 'B')}"
