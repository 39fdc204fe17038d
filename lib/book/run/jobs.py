"""Runs of chapters whose results are kept: several at once, none without need."""

import fcntl
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import active_children
from pathlib import Path

import click
from joblib import cpu_count

from lib.base.files import write_whole
from lib.base.sources import changed_modules
from lib.book.run import history
from lib.book.run.blocks import execute_stored
from lib.book.run.keys import (
    Snapshot,
    is_fresh,
    modules_of,
    read_execution_note,
    take_snapshot,
    write_execution_note,
)
from lib.book.run.project import (
    COSTS,
    BookError,
    Project,
    parse_cells,
    read_cells,
    read_mapping,
    resolve_parameters,
)

UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")  # in YAML, unless it is escaped


@dataclass(frozen=True)
class Job:
    """One run of a chapter.

    Parameters
    ----------
    name : str
        Its name: in a sweep the values that are its own, as the name of its folder.
    chapter : str
    overrides : dict
        All values that are set.
    notebook : Path
        Where the executed notebook goes.
    swept : dict
        The values that are its own in a sweep.
    status : {"not run", "executed", "reused", "FAILED"}
        What became of it.
    seconds : float
        How long it took.
    message : str
        Why it failed; otherwise empty.
    """

    name: str
    chapter: str
    overrides: dict
    notebook: Path
    swept: dict = field(default_factory=dict)
    status: str = "not run"
    seconds: float = 0.0
    message: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it has finished."""
        return self.status in ("executed", "reused")

    @property
    def parameters(self) -> Path:
        """The file of the values that are set, for `book run -f`."""
        return self.notebook.with_suffix(".parameters.yml")

    @property
    def page(self) -> Path:
        """Where `lib.book.pages.site.build_page` makes its page, if it is to have one."""
        folder = self.notebook.with_name(f"{self.notebook.stem}-html")
        return folder / "html" / "chapters" / f"{self.chapter}.html"


@contextmanager
def locked(folder: Path, output: Path | None = None) -> Iterator[None]:
    """Lock a folder, made if need be, for this process; BookError if another process has it.

    The system releases the lock when the process ends, however it ends. Attempts at notebooks that
    such a process left are removed.

    Parameters
    ----------
    folder : Path
    output : Path, optional
        What the error says is being written: by default into the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BookError(
                f"another command is writing {output or f'into {folder}'}; "
                "start again when it has ended"
            ) from error
        for attempt in folder.rglob("*.part-*.ipynb"):
            attempt.unlink()
        yield


def lock_of(project: Project, output: Path) -> AbstractContextManager[None]:
    """Return the lock of a file that a command writes; it lies below _build, not beside the file.

    Raises
    ------
    BookError
        On entering, if another command of this book is writing the file.
    """
    name = hashlib.sha256(str(output).encode()).hexdigest()
    return locked(project.root / "_build" / "locks" / name, output)


def run_all(
    project: Project,
    jobs: dict[str, Job],
    n_parallel: int | None,
    finish_job: Callable[[Job], Job] | None = None,
) -> None:
    """Bring jobs up to date, several at a time, and replace each in `jobs` as it ends.

    An interruption leaves those that have finished. One that fails stops no other. Runs at the same
    time share the cores: with more processes than cores all of them take longer.

    Parameters
    ----------
    project : Project
    jobs : dict of str to Job
        By name; changed in place.
    n_parallel : int, optional
        How many run at the same time; by default as many as there are cores.
    finish_job : callable, optional
        Called with each job that is done; returns what takes its place.

    Raises
    ------
    BookError
        When all have ended, if some have failed.
    """
    snapshots = {
        name: take_snapshot(project, job.chapter, job.overrides) for name, job in jobs.items()
    }
    n_stale = sum(not is_fresh(job.notebook, snapshots[name].key) for name, job in jobs.items())
    n_parallel = n_parallel or cpu_count()
    n_running = max(min(n_parallel, n_stale), 1)
    cores = max(cpu_count() // n_running, 1)

    # in threads, each of which waits for the process of a kernel
    def work(job):
        job = bring_up_to_date(project, job, snapshots[job.name], cores)
        if finish_job is not None and job.is_done:
            return finish_job(job)
        return job

    with ThreadPoolExecutor(n_parallel) as pool:
        futures = [pool.submit(work, job) for job in jobs.values()]
        try:
            for n_ended, future in enumerate(as_completed(futures), start=1):
                job = future.result()
                jobs[job.name] = job
                duration = "" if job.status == "reused" else f" in {job.seconds:.0f} s"
                click.echo(f"{job.name}: {job.status}{duration} ({n_ended} of {len(jobs)})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Again and again, as a thread may be about to start its kernel.
            while wait(futures, timeout=1).not_done:
                for kernel in active_children():
                    kernel.kill()
            raise
    failures = [f"{job.name}: {job.message}" for job in jobs.values() if job.status == "FAILED"]
    if failures:
        summary = f"{len(failures)} of {len(jobs)} runs failed:"
        raise BookError("\n  ".join([summary, *failures]))


def bring_up_to_date(
    project: Project, job: Job, snapshot: Snapshot, cores: int | None = None
) -> Job:
    """Execute a job, unless its results have the key of the snapshot; return what became of it.

    The notebook of the snapshot runs, on so many cores, with lib as this process has it. A run is
    not used if anything else that it may have read is not at its end as it was at its beginning.
    """
    if is_fresh(job.notebook, snapshot.key):
        seconds = read_execution_note(job.notebook)["seconds"]
        return replace(job, status="reused", seconds=seconds)
    write_parameters(job)
    # Before the run, as it may be killed: no page outlives its results, no note its notebook.
    job.page.unlink(missing_ok=True)
    job.notebook.with_suffix(".json").unlink(missing_ok=True)
    commit_at_start = history.commit(project)
    start = time.monotonic()
    try:
        notes = execute_stored(
            project,
            job.chapter,
            job.overrides,
            job.notebook,
            f"{job.name}: ",
            cores=cores,
            notebook=snapshot.notebook,
        )
    except (BookError, OSError) as error:
        return replace(job, status="FAILED", message=str(error))
    job = replace(job, seconds=time.monotonic() - start)
    snapshot_at_end = take_snapshot(project, job.chapter, job.overrides)
    reason = reason_not_to_use(snapshot, snapshot_at_end, notes)
    if reason:
        return replace(job, status="FAILED", message=reason)
    commit = history.commit_since(project, commit_at_start)
    write_execution_note(job.notebook, snapshot_at_end.key, job.seconds, commit)
    return replace(job, status="executed")


def reason_not_to_use(start: Snapshot, end: Snapshot, notes: list[dict]) -> str:
    """Return why the key of a run lacks some of the sources of its results; empty if it has all.

    Parameters
    ----------
    start, end : Snapshot
        Of when the run began and ended.
    notes : list of dict
        Notes of the run: see `lib.trials.notes`.
    """
    modules = changed_modules(modules_of(parse_cells(start.notebook, "the notebook that ran")))
    if modules:
        return f"{modules[0]} has changed while it ran; start again"
    # The second part of a key may change, as data may be fetched while a chapter runs.
    if end.key.partition("-")[0] != start.key.partition("-")[0]:
        return "its sources changed while it ran; start again"
    changed_data = _changed_data(start, end, notes)
    if changed_data:
        names = ", ".join(sorted(changed_data))
        return f"what can be had of {names} changed while it ran; start again"
    return ""


def _changed_data(start: Snapshot, end: Snapshot, notes: list[dict]) -> set[str]:
    """Return the data that are not shipped of which it is unknown whether a run had them."""
    available_at_start = _available_data(start)
    available_at_end = _available_data(end)
    absent_sets = set()  # for which recorded rows stand in
    for note in notes:
        if note["kind"] == "absent":
            absent_sets.update(note["sets"])
    # Rows of texts have other names; all texts are available, or none. Where WordNet is missing,
    # rows with parts of speech are recorded ones, whether there are texts or not.
    if "texts" in end.availability and absent_sets:
        has_tags = end.availability.get("wordnet") != "not available"
        absent_sets = {"texts"} if has_tags else set()
    taken_away = available_at_start - available_at_end
    arrived_too_late = absent_sets & available_at_end
    return taken_away | arrived_too_late


def _available_data(snapshot: Snapshot) -> set[str]:
    statuses = snapshot.availability.items()
    return {name for name, status in statuses if status != "not available"}


def write_parameters(job: Job) -> None:
    """Write a job's values as its file; as in JSON, so that text stays text."""
    job.parameters.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in job.overrides.items()
    ]
    text = UNWRITABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", "".join(lines))
    write_whole(job.parameters, text)


def plan_jobs(project: Project, profile: str, chapters: list[str]) -> dict[str, Job]:
    """Return the job of each chapter; BookError if a parameter of one is wrong.

    The chapter that takes longest comes first, so that none is left to run alone at the end.
    """
    costs = read_mapping(project.root / COSTS)
    seconds = {chapter: cost["processor"] for chapter, cost in costs.items()}
    longest_first = sorted(chapters, key=lambda chapter: -seconds.get(chapter, 0))
    return {chapter: job_of(project, profile, chapter) for chapter in longest_first}


def job_of(project: Project, profile: str, chapter: str) -> Job:
    """Return the job whose results a profile shows of a chapter."""
    overrides, _ = resolve_parameters(project, chapter, project.profile(profile, chapter))
    return Job(
        name=chapter,
        chapter=chapter,
        overrides=overrides,
        notebook=project.executed(profile, chapter),
    )


def is_stale(project: Project, job: Job) -> bool:
    """Whether a job has no results of the sources as they are now."""
    key = take_snapshot(project, job.chapter, job.overrides).key
    return not is_fresh(job.notebook, key)


def require_fresh(project: Project, profile: str) -> None:
    """Raise BookError unless every chapter has results of the sources as they are now."""
    jobs = [job_of(project, profile, chapter) for chapter in project.chapters]
    stale = []
    for job in jobs:
        modules = changed_modules(modules_of(read_cells(project.notebook(job.chapter))))
        if modules:
            raise BookError(f"{modules[0]} has changed since this command began; start again")
        if is_stale(project, job):
            stale.append(job.chapter)
    if stale:
        raise BookError(f"not up to date: {', '.join(stale)}; run `book build --profile {profile}`")
