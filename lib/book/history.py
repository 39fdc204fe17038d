"""What git knows of the book: the commit, what differs from it, and whether the history is all there."""

import os
import re
import subprocess

from lib.book.project import BookError, Project

NO_COMMIT = "no commit"
CHANGED = " + uncommitted changes"
COMMIT = re.compile(r"[0-9a-f]{7,64}")
# What git sets for a hook: a build that it calls would ask the hook's repository, not the book's.
OF_A_HOOK = (
    *(
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
    ),
    *(
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_SHALLOW_FILE",
        "GIT_GRAFT_FILE",
    ),
)


def git(project: Project, *arguments: str) -> str | None:
    """Return what git answers in the book's folder; None if it fails, or there is no git."""
    process = _call(project, *arguments)
    return None if process is None or process.returncode else process.stdout.rstrip("\n")


def _call(project: Project, *arguments: str) -> subprocess.CompletedProcess | None:
    environment = {name: value for name, value in os.environ.items() if name not in OF_A_HOOK}
    environment["GIT_OPTIONAL_LOCKS"] = "0"  # a question is in nobody's way who commits meanwhile
    command = ["git", "-C", str(project.root), *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", env=environment
        )
    except OSError:  # there is no git on the PATH, or it may not be run
        return None


def head(project: Project) -> str | None:
    """Return the commit that is checked out; None if there is none that has the book.

    A repository around the book's folder counts only if it tracks the book's table of contents: a
    tarball that was unpacked inside another project is not of that project's commit.
    """
    if git(project, "ls-files", "--error-unmatch", "--", "_toc.yml") is None:
        return None
    return git(project, "rev-parse", "--short=10", "HEAD")


def changes(project: Project) -> list[str]:
    """Return the files that differ from the commit that is checked out, as paths from the book's folder.

    Files that are new count, too; those that git is told to ignore only below data/ and lib/, where
    numbers come from; and files at whose changes git is told not to look (``git update-index
    --assume-unchanged``), as nobody knows.

    Raises
    ------
    BookError
        If git cannot tell.
    """
    # in full, whatever the reader's settings of git leave out
    options = (
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=none",
    )
    status = git(project, "status", *options, "--", ".")
    tags = git(project, "ls-files", "-v", "-z", "--", ".")
    if status is None or tags is None:
        raise BookError(
            f"`git status` fails in {project.root}: repair the repository, or build in a new clone"
        )
    # paths begin at the top of the repository
    prefix = git(project, "rev-parse", "--show-prefix") or ""
    differing = [entry[3:].removeprefix(prefix) for entry in status.split("\0") if entry]
    unwatched = [entry[2:] for entry in tags.split("\0") if re.match("[a-z]", entry)]
    # a sparse checkout lacks them
    skipped = [entry[2:] for entry in tags.split("\0") if entry.startswith("S ")]
    present = [name for name in skipped if (project.root / name).exists()]
    options = ("-z", "--others", "--ignored", "--exclude-standard")
    ignored = (git(project, "ls-files", *options, "--", "data", "lib") or "").split("\0")
    counted = [name for name in ignored if name and "__pycache__" not in name]
    return list(dict.fromkeys([*differing, *unwatched, *present, *counted]))


def commit(project: Project) -> str:
    """Return the commit that is checked out, followed by `CHANGED` if files differ from it, or `NO_COMMIT`."""
    commit = head(project)
    if commit is None:
        return NO_COMMIT
    return commit + CHANGED if changes(project) else commit


def commit_markup(commit: str) -> str:
    """Return as MyST what a page says of a commit that `commit` has returned."""
    return COMMIT.sub(r"commit `\g<0>`", commit, count=1)


def commit_since(project: Project, start: str) -> str:
    """Return the commit of work that was begun at one and ends now: with `CHANGED`, if it is another one now."""
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
    commit = head(project)
    if commit is None:
        raise BookError(
            f"{project.root} has no commit that results could be of: {_why_no_commit(project)}"
        )
    files = [name for name in changes(project) if not name.startswith(f"{free_folder}/")]
    if files:
        remedy = "commit them, or put them aside by `git stash --include-untracked`"
        raise BookError(
            "\n  ".join([f"{len(files)} files differ from commit {commit}; {remedy}:", *files])
        )
    return commit


def date_of(project: Project, commit: str) -> str:
    """Return the day of a commit, such as 2026-01-31, with or without changes; empty if there is none."""
    match = COMMIT.match(commit)
    return (
        match
        and git(project, "show", "--no-patch", "--no-show-signature", "--format=%cs", match[0])
        or ""
    )


def is_ancestor(project: Project, commit: str) -> bool:
    """Whether the commit that is checked out is this one or came after it; never of one with changes."""
    if not COMMIT.fullmatch(commit) or head(project) is None:
        return False
    return git(project, "merge-base", "--is-ancestor", commit, "HEAD") is not None


def first_commit(project: Project) -> str:
    """Return the commit with which the history begins."""
    return git(project, "rev-list", "--first-parent", "--max-parents=0", "HEAD") or ""


def is_shallow(project: Project) -> bool:
    """Whether the repository is a shallow clone, which has only the last commits."""
    return git(project, "rev-parse", "--is-shallow-repository") == "true"


def missing_history(project: Project) -> str | None:
    """Return why the history is not here from its beginning, and what would help; None if it is."""
    if head(project) is None:
        return f"{project.root} has no history: {_why_no_commit(project)}"
    if is_shallow(project):
        return f"{project.root} is a shallow clone, whose history is cut; `git fetch --unshallow` completes it"
    if git(project, "for-each-ref", "--count=1", "refs/replace") or _has_grafts(project):
        return f"the history of {project.root} is altered by `git replace` or grafts; `git replace -d` removes them"
    return None


def _has_grafts(project: Project) -> bool:
    path = project.root / (git(project, "rev-parse", "--git-path", "info/grafts") or "none")
    return path.is_file() and path.stat().st_size > 0


def _why_no_commit(project: Project) -> str:
    process = _call(project, "rev-parse", "HEAD")
    if process is None:
        return "git is not on the PATH; on Debian, `apt install git`"
    if process.returncode:
        answer = next(iter(process.stderr.splitlines()), "")
        return f"git answers {answer!r}; make a clone of the book's repository"
    return "the repository around it does not track its _toc.yml; make a clone of the book's repository"
