"""Whether the packages that are installed are those of the lock file, with which the published numbers were made."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from lib.book.project import BookError, read_text

REMEDY = "run `make -B env`"  # without -B, make knows of the lock file only, which has not changed
MOST_NAMED = 20


def differences(lock: Path) -> list[str]:
    """Return a line for each package whose installed version is not that of the lock file, for this platform."""
    lines = re.findall(r"^[^\s#].*", read_text(lock), re.MULTILINE)  # hashes are indented
    try:
        pins = [Requirement(line.rstrip("\\ ")) for line in lines]
    except InvalidRequirement as error:
        raise BookError(f"{lock}: {error}; restore the file") from error
    wanted = {pin.name: str(pin.specifier) for pin in pins if pin.marker is None or pin.marker.evaluate()}
    installed = {name: _installed(name) for name in wanted}
    return [
        f"{name} is {installed[name] or 'not installed'}, {lock.name} has {locked}"
        for name, locked in wanted.items()
        if f"=={installed[name]}" != locked
    ]


def require_locked(lock: Path) -> None:
    """Raise BookError naming the packages that are not as in the lock file."""
    lines = differences(lock)
    if lines:
        more = [f"and {len(lines) - MOST_NAMED} more"] if len(lines) > MOST_NAMED else []
        head = f"the environment is not that of {lock.name}; {REMEDY}:"
        raise BookError("\n  ".join([head, *lines[:MOST_NAMED], *more]))


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
