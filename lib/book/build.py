"""The chapters of a build: brought up to date longest first, or taken as they are stored."""

import shutil

from lib.book.cache import is_fresh, read_record
from lib.book.jobs import Job, job_key
from lib.book.project import BookError, Project, settle


def plan(project: Project, profile: str, chapters: list[str]) -> dict[str, Job]:
    """Return the job of each chapter; first the one that took longest. BookError if a parameter of one is wrong."""

    def previous_time(chapter):
        return read_record(project.executed(profile, chapter)).get("seconds", float("inf"))

    return {chapter: job_of(project, profile, chapter) for chapter in sorted(chapters, key=previous_time, reverse=True)}


def job_of(project: Project, profile: str, chapter: str) -> Job:
    """Return the job whose results a profile shows of a chapter."""
    given = settle(project, chapter, project.profile(profile, chapter))[0]
    return Job(chapter, chapter, given, project.executed(profile, chapter))


def take_stored(project: Project, profile: str) -> None:
    """Take the committed notebooks with their outputs for executed ones, which never count as up to date."""
    for chapter in project.chapters:
        executed = project.executed(profile, chapter)
        executed.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project.notebook(chapter), executed)
        executed.with_suffix(".json").unlink(missing_ok=True)


def require_fresh(project: Project, profile: str) -> None:
    """Raise BookError unless every chapter of the book has results from the sources as they are now."""
    jobs = [job_of(project, profile, chapter) for chapter in project.chapters]
    stale = [job.chapter for job in jobs if not is_fresh(job.notebook, job_key(project, job))]
    if stale:
        raise BookError(f"not up to date: {', '.join(stale)}; run `book build --profile {profile}`")
