"""Write a figure that a chapter glued beside its page, for pages that cannot glue it from there."""

from base64 import b64decode
from pathlib import Path

import nbformat

_PREFIX = "application/papermill.record/image/"


def write_glued_figure(executed: Path, name: str, folder: Path) -> list[Path]:
    """Write figure `name` of an executed chapter in the formats that it has into `folder`, and return them.

    Glueing a figure from another page is not offered by MyST-NB: its reference takes PNG only, without caption or
    alternative text.
    """
    for cell in nbformat.read(executed, as_version=4).cells:
        for output in cell.get("outputs", []):
            if output.get("metadata", {}).get("scrapbook", {}).get("name") == name:
                return _write(output["data"], folder / name)
    return []


def _write(data: dict, path: Path) -> list[Path]:
    written = []
    if f"{_PREFIX}svg+xml" in data:  # a stored notebook has PNG only
        written.append(path.with_suffix(".svg"))
        written[-1].write_text(data[f"{_PREFIX}svg+xml"], encoding="utf-8")
    written.append(path.with_suffix(".png"))
    written[-1].write_bytes(b64decode(data[f"{_PREFIX}png"]))
    return written
