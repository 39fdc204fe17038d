"""Bring every chapter up to date: each in a process of its own, several at once, longest first."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from lib.book.cache import fingerprint, is_fresh, read_record, write_record
from lib.book.execution import settle
from lib.book.project import BookError, Project
from lib.book.verdicts import write_claims

LIBRARY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What became of a chapter in a build."""

    chapter: str
    status: str
    seconds: float
    message: str = ""


def bring_up_to_date(project: Project, profile: str, chapters: list[str], jobs: int | None) -> list[Outcome]:
    """Execute those of the chapters whose results are not up to date.

    Every chapter's parameters are checked before the first one runs; one that fails does not stop the others.
    """
    keys = {chapter: current_key(project, profile, chapter) for chapter in chapters}

    def previous_time(chapter):
        return read_record(project.executed(profile, chapter)).get("seconds", float("inf"))

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        longest_first = sorted(chapters, key=previous_time, reverse=True)
        futures = {c: pool.submit(_update, project, profile, c, keys[c]) for c in longest_first}
        try:
            return [futures[chapter].result() for chapter in chapters]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def take_stored(project: Project, profile: str) -> None:
    """Take the committed notebooks with their outputs for executed ones, which never count as up to date."""
    for chapter in project.chapters:
        executed = project.executed(profile, chapter)
        executed.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project.notebook(chapter), executed)
        executed.with_suffix(".json").unlink(missing_ok=True)


def current_key(project: Project, profile: str, chapter: str) -> str:
    """Return the key that a chapter's results must have now."""
    _, values = settle(project, chapter, project.profile(profile, chapter))
    return fingerprint(project, chapter, values)


def require_fresh(project: Project, profile: str) -> None:
    """Raise BookError unless every chapter of the book has results from the sources as they are now."""
    keys = {chapter: current_key(project, profile, chapter) for chapter in project.chapters}
    stale = [chapter for chapter, key in keys.items() if not is_fresh(project.executed(profile, chapter), key)]
    if stale:
        raise BookError(f"not up to date: {', '.join(stale)}; run `book build --profile {profile}`")


def run_book(project: Project, *arguments) -> subprocess.CompletedProcess:
    """Run the command in a process of its own, which takes no other `lib` from the folder it was called in."""
    command = [sys.executable, "-m", "lib.book", "--root", project.root, *arguments]
    return subprocess.run(command, capture_output=True, cwd=LIBRARY, encoding="utf-8", errors="replace")


def pass_on(process: subprocess.CompletedProcess, name: str) -> None:
    """Print what a run of the command found stored and its warnings, each line after a name."""
    for line in process.stdout.splitlines() + process.stderr.splitlines():
        if line.startswith(("found ", "Warning: ")):
            click.echo(f"{name}: {line}")


def _update(project: Project, profile: str, chapter: str, key: str) -> Outcome:
    executed = project.executed(profile, chapter)
    if is_fresh(executed, key):
        return Outcome(chapter, "cached", read_record(executed)["seconds"])
    attempt = project.build_folder(profile) / "attempts" / f"{chapter}.ipynb"
    executed.with_suffix(".json").unlink(missing_ok=True)
    start = time.monotonic()
    process = run_book(project, "run", chapter, "--profile", profile, "-o", attempt)
    seconds = time.monotonic() - start
    if process.returncode:
        return Outcome(chapter, "FAILED", seconds, process.stderr.strip())
    if current_key(project, profile, chapter) != key:
        return Outcome(chapter, "FAILED", seconds, f"{chapter}: its sources changed while it ran; build again")
    executed.parent.mkdir(parents=True, exist_ok=True)
    attempt.replace(executed)
    write_claims(executed)
    write_record(executed, key, seconds)
    pass_on(process, chapter)
    click.echo(f"{chapter}: executed in {seconds:.0f} s")
    return Outcome(chapter, "executed", seconds)


def show(outcomes: list[Outcome]) -> str:
    """Return a table of the chapters, and below it the message of each that failed."""
    width = max((len(outcome.chapter) for outcome in outcomes), default=0)
    lines = [f"{outcome.chapter:<{width}}  {outcome.seconds:8.1f} s  {outcome.status}" for outcome in outcomes]
    return "\n".join(lines + [outcome.message for outcome in outcomes if outcome.message])
