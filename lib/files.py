"""Where the book's files are, which there are, and how one is written: whole or not at all."""

import os
from pathlib import Path
from uuid import uuid4

LIB = Path(__file__).parent  # not resolved: what stands beside a linked folder is not the book's
DATA = LIB.parent / "data"


def files_below(folder, pattern="*"):
    """Return the paths of the files below a folder, also in folders that are links, in order."""
    paths = (
        Path(place, name) for place, _, names in os.walk(folder, followlinks=True) for name in names
    )
    return sorted(
        path
        for path in paths
        if path.match(pattern) and "__pycache__" not in path.parts and path.is_file()
    )


def write_whole(path, contents):
    """Write bytes, or text as UTF-8, aside and move them to their place, where nobody ever finds half of them."""
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            file.write(contents.encode() if isinstance(contents, str) else contents)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
