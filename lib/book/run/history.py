"""What git knows of the book: its commit, and the files that differ from it."""

import os
import re
import subprocess

from lib.book.run.project import BookError, Project

NO_COMMIT = "no commit"
CHANGED = " + uncommitted changes"
COMMIT = re.compile(r"[0-9a-f]{7,64}")


def git(project: Project, *arguments: str) -> str | None:
    """Return what git answers in the book's folder; None if it fails, or there is no git."""
    # without what git sets for a hook: it would answer for the hook's repository, not the book's
    environment = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    environment["GIT_OPTIONAL_LOCKS"] = "0"  # a question must not block whoever commits meanwhile
    command = ["git", "-C", str(project.root), *arguments]
    try:
        process = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", env=environment
        )
    except OSError:  # there is no git on the PATH, or it may not be run
        return None
    return None if process.returncode else process.stdout.rstrip("\n")


def head(project: Project) -> str | None:
    """Return the commit that is checked out; None if there is none that has the book.

    A repository around the book's folder counts only if it tracks the book's table of contents: a
    tarball that was unpacked inside another project is not of that project's commit.
    """
    if git(project, "ls-files", "--error-unmatch", "--", "_toc.yml") is None:
        return None
    return git(project, "rev-parse", "--short=10", "HEAD")


def changes(project: Project) -> list[str]:
    """Return the files that differ from the commit that is checked out.

    New files differ, too. Files that git is told to ignore differ only below data/ and lib/, where
    numbers come from. Paths begin at the book's folder.

    Raises
    ------
    BookError
        If git cannot tell.
    """
    # in full, whatever the reader's settings of git leave out
    status_options = ("--porcelain", "-z", "--untracked-files=all", "--no-renames")
    status = git(project, "status", *status_options, "--", ".")
    if status is None:
        raise BookError(
            f"`git status` fails in {project.root}: repair the repository, or build in a new clone"
        )
    # paths of the status begin at the top of the repository
    prefix = git(project, "rev-parse", "--show-prefix") or ""
    differing = [entry[3:].removeprefix(prefix) for entry in status.split("\0") if entry]
    ignored_options = ("-z", "--others", "--ignored", "--exclude-standard")
    ignored = git(project, "ls-files", *ignored_options, "--", "data", "lib") or ""
    sources = [name for name in ignored.split("\0") if name and "__pycache__" not in name]
    return differing + sources


def commit(project: Project) -> str:
    """Return the commit that is checked out, or `NO_COMMIT`; `CHANGED` ends it if files differ."""
    checked_out = head(project)
    if checked_out is None:
        return NO_COMMIT
    return checked_out + CHANGED if changes(project) else checked_out


def commit_markup(commit: str) -> str:
    """Return a commit, as `commit` returns it, in the MyST markup of a page."""
    return COMMIT.sub(r"commit `\g<0>`", commit, count=1)


def commit_since(project: Project, start: str) -> str:
    """Return the commit of work that began at `start`; `CHANGED` ends it if that is not its end."""
    if start == NO_COMMIT or commit(project) == start:
        return start
    return start.removesuffix(CHANGED) + CHANGED


def require_commit(project: Project, free_folder: str) -> str:
    """Return the commit that is checked out, from which nothing may differ.

    Parameters
    ----------
    project : Project
    free_folder : str
        A folder, relative to the book's, whose files may differ.

    Raises
    ------
    BookError
        If there is no commit, or other files differ from it.
    """
    checked_out = head(project)
    if checked_out is None:
        raise BookError(
            f"{project.root} has no commit that results could be of: "
            "make a clone of the book's repository, by git"
        )
    files = [name for name in changes(project) if not name.startswith(f"{free_folder}/")]
    if files:
        remedy = "commit them, or put them aside by `git stash --include-untracked`"
        message = f"{len(files)} files differ from commit {checked_out}; {remedy}:"
        raise BookError("\n  ".join([message, *files]))
    return checked_out


def date_of(project: Project, commit: str) -> str:
    """Return the day of a commit, such as 2026-01-31; empty if there is no such commit.

    Changes since it, which `CHANGED` stands for, are passed over.
    """
    match = COMMIT.match(commit)
    if match is None:
        return ""
    options = ("--no-patch", "--no-show-signature", "--format=%cs")
    return git(project, "show", *options, match[0]) or ""


def is_ancestor(project: Project, commit: str) -> bool:
    """Whether the commit that is checked out is this one or came after it.

    Work with changes that are not committed is no ancestor.
    """
    if not COMMIT.fullmatch(commit) or head(project) is None:
        return False
    return git(project, "merge-base", "--is-ancestor", commit, "HEAD") is not None
