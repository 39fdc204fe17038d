"""One command at a time in a folder of results: two that write the same files would mix theirs."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.book.project import BookError


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, for this process; BookError if another process holds it.

    The system lets go of it when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".held").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BookError(f"another command is writing into {folder}; start again when it has ended") from error
        yield
