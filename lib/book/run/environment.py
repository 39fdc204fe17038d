"""Compares the installed packages with the lock file, that of the published numbers."""

import re
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lib.book.run.project import BookError, read_text


def require_locked(lock: Path) -> None:
    """Raise BookError naming the packages whose installed version is not that of the lock file."""
    mismatches = version_mismatches(lock)
    if mismatches:
        # without -B, make knows of the lock file only, which has not changed
        message = f"the environment is not that of {lock.name}; run `make -B env`:"
        raise BookError("\n  ".join([message, *mismatches]))


def version_mismatches(lock: Path) -> list[str]:
    """Return a line for each package whose installed version is not that of the lock file.

    Packages that the lock file has for other platforms only are passed over.
    """
    lines = re.findall(r"^[^\s#].*", read_text(lock), re.MULTILINE)  # hashes are indented
    versions = installed_versions()
    mismatches = []
    for line in lines:
        requirement = Requirement(line.rstrip("\\ "))
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        version = versions.get(requirement.name, "not installed")
        if f"=={version}" != str(requirement.specifier):
            mismatches.append(
                f"{requirement.name} is {version}, {lock.name} has {requirement.specifier}"
            )
    return mismatches


@cache
def installed_versions() -> dict[str, str]:
    """Return the version of each installed package, by its canonical name."""
    return {canonicalize_name(package.name): package.version for package in distributions()}
