"""Whether the packages that are installed are those of the lock file, with which the published numbers were made."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from lib.book.project import BookError, read_text

REMEDY = "run `make -B env`"  # without -B, make knows of the lock file only, which has not changed
MOST_NAMED = 20


def differences(lock: Path) -> list[str]:
    """Return a line for each package whose installed version is not that of the lock file, for this platform.

    Raises
    ------
    BookError
        If the lock file is missing, cannot be read or has a line that is no requirement.
    """
    requirements = [_requirement(lock, number, line) for number, line in _lines(read_text(lock))]
    wanted = [r for r in requirements if r.marker is None or r.marker.evaluate()]
    return [line for line in map(_difference, wanted) if line]


def require_locked(lock: Path) -> None:
    """Raise BookError naming the packages that are not as in the lock file."""
    found = differences(lock)
    if found:
        more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        lines = [f"the environment is not that of {lock.name}; {REMEDY}:", *found[:MOST_NAMED], *more]
        raise BookError("\n  ".join(lines))


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines that name a package, without the hashes, which follow indented."""
    lines = [(number, line.rstrip("\\ ")) for number, line in enumerate(text.splitlines(), start=1)]
    return [(number, line) for number, line in lines if line and not re.match(r"\s|#|--hash", line)]


def _requirement(lock: Path, number: int, line: str) -> Requirement:
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise BookError(f"{lock}, line {number}: {line!r} is no requirement ({error}); restore the file") from error
    if [specifier.operator for specifier in requirement.specifier] != ["=="]:
        raise BookError(f"{lock}, line {number}: {line!r} does not say NAME==VERSION; restore the file")
    return requirement


def _difference(requirement: Requirement) -> str:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed, {_locked(requirement)}"
    if requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"installed {requirement.name} {installed}, {_locked(requirement)}"


def _locked(requirement: Requirement) -> str:
    return f"requirements.lock has {next(iter(requirement.specifier)).version}"
