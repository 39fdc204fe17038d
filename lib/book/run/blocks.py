"""Finished blocks of trials: those that a run found, those that are stored, and their check."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click
from tqdm import tqdm

from lib.base.sources import DIGITS
from lib.book.run import execution
from lib.book.run.history import require_commit
from lib.book.run.keys import chapter_code_digest
from lib.book.run.project import BookError, Project
from lib.book.run.remote_data import find_missing_data
from lib.trials.store import SUMMARY, environment

# kinds of notes that are counted, or said in another way (see `lib.trials.notes.KINDS`)
SILENT = ("found", "verified", "absent")


@dataclass(frozen=True)
class StoredExperiment:
    """A folder of finished blocks of one experiment.

    Parameters
    ----------
    folder : Path
    name : str
        Name of the experiment, "unknown" if the folder does not say it.
    n_blocks : int
    size : int
        Of all files, in bytes.
    is_current : bool
        Whether the code, data, packages and Python are those that the blocks were made with.
    """

    folder: Path
    name: str
    n_blocks: int
    size: int
    is_current: bool


def execute_stored(
    project: Project, chapter: str, values: dict, output: Path, prefix: str = "", **settings
) -> list[dict]:
    """Execute a chapter, with its finished blocks stored and found again; return its notes.

    Parameters
    ----------
    project : Project
    chapter : str
    values : dict
        Values that are set.
    output : Path
    prefix : str
        Beginning of the lines that say what was found.
    **settings
        Further arguments of `lib.book.run.execution.execute`.

    Returns
    -------
    list of dict
        What the kernel noted: see `lib.trials.notes`.
    """
    click.echo(f"{prefix or f'{chapter}: '}started")
    notes = []

    def report(new_notes):
        notes.extend(new_notes)
        _print_notes(project, prefix, new_notes)

    execution.execute(
        project,
        chapter,
        values,
        output,
        report,
        results=str(project.results),
        code=chapter_code_digest(project, chapter),
        **settings,
    )
    return notes


def verify(project: Project, chapter: str, values: dict, share: float, seed: int) -> Counter:
    """Run a share of each experiment's stored blocks again and compare.

    Returns
    -------
    Counter
        Numbers of blocks that were run again ("verified") and of all that are stored ("found").

    Raises
    ------
    BookError
        If a block is not what its trials give now, or not all blocks of the chapter are stored.
    """
    counts = Counter()

    def report(notes):
        _print_notes(project, "", [note for note in notes if note["kind"] != "found"])
        for note in notes:
            counts[note["kind"]] += note.get("blocks", 0)

    execution.execute(
        project,
        chapter,
        values,
        project.root / "_build" / "verify" / f"{chapter}.ipynb",
        report,
        results=str(project.results),
        verify=[seed, share],
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
    missing_data = find_missing_data(project, chapter)
    if missing_data:
        remedy = "set UCI_MIRROR, TEXTS_MIRROR or WORDNET, or fetch them first"
        raise BookError(f"{chapter} cannot be recorded without {', '.join(missing_data)}: {remedy}")
    # other records may differ from the commit: a chapter reads its own only
    commit = require_commit(project, "data/recorded")
    code = chapter_code_digest(project, chapter)
    overrides = {}  # as it is published
    output = project.root / "_build" / "record" / f"{chapter}.ipynb"
    new_record = output.with_suffix(".csv.gz")
    new_record.unlink(missing_ok=True)
    execute_stored(project, chapter, overrides, output, record=[str(new_record), commit, code])
    if not new_record.exists():
        raise BookError(f"{chapter} has no rows to record: see lib.experiments.record")
    commit_at_end = require_commit(project, "data/recorded")
    if (commit_at_end, chapter_code_digest(project, chapter)) != (commit, code):
        raise BookError(f"{chapter}: its sources changed while it ran; start again")
    path = project.record(chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    return new_record.replace(path)


def _print_notes(project: Project, prefix: str, notes: list[dict]) -> None:
    """Print how many blocks were found, and a warning for each note that is not silent."""
    finds = [note for note in notes if note["kind"] == "found"]
    if finds:
        n_found = sum(note["blocks"] for note in finds)
        n_blocks = sum(note["all"] for note in finds)
        click.echo(
            f"{prefix}found {n_found} of {n_blocks} blocks of the experiments begun before, "
            f"in {project.results}"
        )
    for note in notes:
        if note["kind"] not in SILENT:
            _print_warning(f"{prefix}Warning: {note['message']}")


def _print_warning(text: str) -> None:
    click.secho(text, fg="yellow", err=True)


def stored_experiments(folder: Path) -> list[StoredExperiment]:
    """Return the stored experiments in a folder, largest first; other files there are ignored."""
    experiments = []
    for path in folder.glob("*"):
        # `book cache --clear` removes the folders, wherever BOOK_RESULTS points: only sure ones
        is_key = re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", path.name)
        if is_key and path.is_dir() and not path.is_symlink():
            experiments.append(_read_experiment(path))
    return sorted(experiments, key=lambda experiment: (-experiment.size, experiment.name))


def _read_experiment(folder: Path) -> StoredExperiment:
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        name = str(summary["name"])
        is_current = summary["environment"] == environment(frozenset(summary["modules"]))
    except (OSError, ValueError, LookupError, TypeError):  # no summary, or a damaged one
        name = "unknown"
        is_current = False
    return StoredExperiment(
        folder=folder,
        name=name,
        n_blocks=len(list(folder.glob("*.block"))),
        size=sum(path.stat().st_size for path in folder.iterdir() if path.exists()),
        is_current=is_current,
    )


def experiments_table(folder: Path, experiments: list[StoredExperiment]) -> str:
    """Return a table of the stored experiments in a folder."""
    if not experiments:
        return f"nothing is stored in {folder}"
    lines = [" blocks      size  made by  experiment"]
    for experiment in experiments:
        size = tqdm.format_sizeof(experiment.size, "B")
        age = "current" if experiment.is_current else "old"
        lines.append(f"{experiment.n_blocks:7} {size:>9}  {age:8} {experiment.name}")
    lines.append(f"{folder}: {total_size(experiments)}")
    return "\n".join(lines)


def total_size(experiments: list[StoredExperiment]) -> str:
    """Return how many blocks there are, and how large they are."""
    n_blocks = sum(experiment.n_blocks for experiment in experiments)
    size = sum(experiment.size for experiment in experiments)
    return f"{n_blocks} blocks, {tqdm.format_sizeof(size, 'B')}"
