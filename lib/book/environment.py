"""Whether the packages that are installed are those of the lock file, with which the published numbers were made."""

import re
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lib.book.project import BookError, read_text


def require_locked(lock: Path) -> None:
    """Raise BookError naming the packages whose installed version is not that of the lock file."""
    # without -B, make knows of the lock file only, which has not changed
    if other := unlocked(lock):
        raise BookError(
            "\n  ".join([f"the environment is not that of {lock.name}; run `make -B env`:", *other])
        )


def unlocked(lock: Path) -> list[str]:
    """Return a line for each package whose installed version is not that of the lock file, for this platform."""
    lines = re.findall(r"^[^\s#].*", read_text(lock), re.MULTILINE)  # hashes are indented
    pins = [Requirement(line.rstrip("\\ ")) for line in lines]
    wanted = {
        pin.name: str(pin.specifier) for pin in pins if pin.marker is None or pin.marker.evaluate()
    }
    versions = {name: installed().get(name, "not installed") for name in wanted}
    return [
        f"{n} is {versions[n]}, {lock.name} has {pin}"
        for n, pin in wanted.items()
        if f"=={versions[n]}" != pin
    ]


@cache
def installed() -> dict[str, str]:
    """Return the version of each package that is installed."""
    return {canonicalize_name(package.name): package.version for package in distributions()}
