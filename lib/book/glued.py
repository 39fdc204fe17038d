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
    svg, png = data.get(f"{_PREFIX}svg+xml"), data.get(f"{_PREFIX}png")  # a stored notebook has PNG only
    contents = {".svg": svg and svg.encode(), ".png": png and b64decode(png)}
    written = {path.with_suffix(suffix): content for suffix, content in contents.items() if content}
    for file, content in written.items():
        file.write_bytes(content)
    return list(written)
