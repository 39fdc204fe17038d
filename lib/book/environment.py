"""Whether the packages that are installed are those of the lock file, with which the published numbers were made."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.markers import InvalidMarker, Marker

from lib.book.project import BookError, read_text

REMEDY = "run `make -B env`"  # without -B, make knows of the lock file only, which has not changed
PIN = re.compile(r"([\w.-]+)==([^ ;]+)(?: *; *(.+))?")
MOST_NAMED = 20


def differences(lock: Path) -> list[str]:
    """Return a line for each package whose installed version is not that of the lock file, for this platform."""
    lines = [line for line in read_text(lock).splitlines() if re.match(r"[^\s#]", line)]  # hashes are indented
    pins = {line: PIN.fullmatch(line.rstrip("\\ ")) for line in lines}
    wrong = [line for line, pin in pins.items() if pin is None]
    if wrong:
        raise BookError(f"{lock}: {wrong[0]!r} is no line NAME==VERSION; restore the file")
    try:
        wanted = [pin.groups() for pin in pins.values() if not pin[3] or Marker(pin[3]).evaluate()]
    except InvalidMarker as error:
        raise BookError(f"{lock}: {error}; restore the file") from error
    found = [(name, locked, _installed(name)) for name, locked, _ in wanted]
    return [f"{name} is {here}, {lock.name} has {locked}" for name, locked, here in found if here != locked]


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
        return "not installed"
