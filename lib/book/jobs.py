"""Runs of chapters whose results are kept: several at once, none without need."""

import fcntl
import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import active_children
from pathlib import Path

import click
from joblib import cpu_count

from lib.book import history
from lib.book.blocks import execute_stored
from lib.book.cache import (
    Snapshot,
    files_in_no_key,
    is_fresh,
    lib_has_changed,
    read_record,
    take_snapshot,
    write_record,
)
from lib.book.project import BookError, Project, read_mapping, settle
from lib.files import write_whole

UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")  # in YAML, unless it is escaped


@dataclass(frozen=True)
class Job:
    """One run of a chapter.

    Parameters
    ----------
    name : str
        What it is called: in a sweep the values that are its own, as the name of its folder.
    chapter : str
    overrides : dict
        All values that are set.
    notebook : Path
        Where the executed notebook goes.
    swept : dict
        The values that are its own in a sweep.
    status : {"not run", "executed", "reused", "FAILED"}
        What became of it.
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
        """Where `lib.book.site.build_page` makes its page, if it is to have one."""
        return (
            self.notebook.with_name(f"{self.notebook.stem}-html")
            / "html"
            / "chapters"
            / f"{self.chapter}.html"
        )


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, for this process; BookError if another process holds it.

    The system lets go of it when the process ends, however it ends. Attempts that such a process
    left are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".held").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BookError(
                f"another command is writing into {folder}; start again when it has ended"
            ) from error
        for attempt in folder.rglob("*.part-*.ipynb"):
            attempt.unlink()
        yield


def run_all(
    project: Project,
    jobs: dict[str, Job],
    at_once: int | None,
    then: Callable[[Job], Job] | None = None,
) -> None:
    """Bring jobs up to date, do `then` with each, and put it as it is then in its place in `jobs`.

    An interruption leaves those that have finished. One that fails stops no other. Runs at the same
    time share the cores: with more processes than cores all of them take longer.

    Raises
    ------
    BookError
        When all have ended, if some have failed.
    """
    snapshots = {
        name: take_snapshot(project, job.chapter, job.overrides) for name, job in jobs.items()
    }
    at_once = at_once or cpu_count()
    n_runs = (
        min(
            at_once,
            sum(not is_fresh(job.notebook, snapshots[name].key) for name, job in jobs.items()),
        )
        or 1
    )

    def work(job):
        job = bring_up_to_date(project, job, snapshots[job.name], max(cpu_count() // n_runs, 1))
        return then(job) if then and job.is_done else job

    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(work, job) for job in jobs.values()]
        try:
            for n_ended, future in enumerate(as_completed(futures), start=1):
                job = future.result()
                jobs[job.name] = job
                took = "" if job.status == "reused" else f" in {job.seconds:.0f} s"
                click.echo(f"{job.name}: {job.status}{took} ({n_ended} of {len(jobs)})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while wait(futures, timeout=1).not_done:
                for kernel in active_children():
                    kernel.kill()
            raise
    failed = [f"{job.name}: {job.message}" for job in jobs.values() if job.status == "FAILED"]
    if failed:
        raise BookError("\n  ".join([f"{len(failed)} of {len(jobs)} runs failed:", *failed]))


def bring_up_to_date(
    project: Project, job: Job, snapshot: Snapshot, cores: int | None = None
) -> Job:
    """Execute a job with so many cores, unless what it made before has its key; return what became of it.

    What runs is the notebook of the snapshot, with lib as this process has it. A run during which
    anything else that it may have read was changed, even if it was changed back, is not used.
    """
    if is_fresh(job.notebook, snapshot.key):
        return replace(job, status="reused", seconds=read_record(job.notebook)["seconds"])
    write_parameters(job)
    job.page.unlink(missing_ok=True)  # no page outlives its results
    job.notebook.with_suffix(".json").unlink(missing_ok=True)
    commit_at_start, start = history.commit(project), time.monotonic()
    try:
        settings = {"cores": cores, "notebook": snapshot.notebook}
        notes = execute_stored(
            project, job.chapter, job.overrides, job.notebook, f"{job.name}: ", **settings
        )
    except (BookError, OSError) as error:
        return replace(job, status="FAILED", message=str(error))
    job = replace(job, seconds=time.monotonic() - start)
    after = take_snapshot(project, job.chapter, job.overrides)
    if why := reason_not_to_use(project, job, snapshot, after, notes):
        return replace(job, status="FAILED", message=why)
    write_record(
        job.notebook, after.key, job.seconds, history.commit_since(project, commit_at_start)
    )
    return replace(job, status="executed")


def reason_not_to_use(
    project: Project, job: Job, before: Snapshot, after: Snapshot, notes: list[dict]
) -> str:
    """Return why the key of a run says not all that its results come from; nothing if it does."""
    if lib_has_changed() or after.key.partition("-")[0] != before.key.partition("-")[0]:
        return "its sources changed while it ran; start again"
    if touched := [
        path
        for path in before.times | after.times
        if before.times.get(path) != after.times.get(path)
    ]:
        others = f" and {len(touched) - 3} more" if len(touched) > 3 else ""
        return f"{', '.join(touched[:3])}{others} changed while it ran, if only for a time; start again"
    if read := files_in_no_key(project, job.chapter, job.overrides, notes):
        return f"it read {', '.join(read)}, which no key holds: put it into data/"
    available_before = {
        name for name, status in before.availability.items() if status != "not available"
    }
    available_after = {
        name for name, status in after.availability.items() if status != "not available"
    }
    recorded_sets = {name for note in notes if note["kind"] == "absent" for name in note["sets"]}
    if "texts" in after.availability:  # whose rows have other names, all available or none
        recorded_sets = {"texts"} if recorded_sets else set()
    # taken away while it ran, or there by the end although recorded rows stand in
    if changed := available_before - available_after | recorded_sets & available_after:
        return f"what can be had of {', '.join(sorted(changed))} changed while it ran; start again"
    return ""


def write_parameters(job: Job) -> None:
    """Write a job's values as its file; as in JSON, so that text stays text."""
    job.parameters.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in job.overrides.items()
    )
    write_whole(job.parameters, UNWRITABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def plan(project: Project, profile: str, chapters: list[str]) -> dict[str, Job]:
    """Return the job of each chapter; first the one that takes longest. BookError if a parameter of one is wrong."""
    seconds = read_mapping(project.root / "chapters" / "seconds.yml")
    longest_first = sorted(chapters, key=lambda chapter: -seconds.get(chapter, 0))
    return {chapter: job_of(project, profile, chapter) for chapter in longest_first}


def job_of(project: Project, profile: str, chapter: str) -> Job:
    """Return the job whose results a profile shows of a chapter."""
    overrides = settle(project, chapter, project.profile(profile, chapter))[0]
    return Job(chapter, chapter, overrides, project.executed(profile, chapter))


def require_fresh(project: Project, profile: str) -> None:
    """Raise BookError unless every chapter of the book has results from the sources as they are now."""
    jobs = [job_of(project, profile, chapter) for chapter in project.chapters]
    if lib_has_changed():
        raise BookError("lib has changed since this command began; start again")
    keys = {job.chapter: take_snapshot(project, job.chapter, job.overrides).key for job in jobs}
    stale = [job.chapter for job in jobs if not is_fresh(job.notebook, keys[job.chapter])]
    if stale:
        raise BookError(f"not up to date: {', '.join(stale)}; run `book build --profile {profile}`")
