"""Places of the book's files; listing a folder; writing a file whole or not at all."""

import os
from pathlib import Path
from uuid import uuid4

LIB = Path(__file__).parents[1]  # not resolved: the parent of a linked folder is not the book's
DATA = LIB.parent / "data"


def files_below(folder, pattern="*"):
    """Return the sorted paths of the files below a folder, also in folders that are links."""
    paths = []
    for place, _, names in os.walk(folder, followlinks=True):
        paths += [Path(place, name) for name in names]
    paths = [path for path in paths if path.match(pattern) and "__pycache__" not in path.parts]
    return sorted(path for path in paths if path.is_file())


def write_whole(path, contents):
    """Write bytes, or text as UTF-8, to another file and then move it to its place.

    So nobody ever finds half of the contents there.
    """
    if isinstance(contents, str):
        contents = contents.encode()
    unfinished = path.with_name(f".{uuid4().hex}.part")
    try:
        with open(unfinished, "xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
