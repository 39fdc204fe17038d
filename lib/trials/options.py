"""How and where the trials of this process run.

A chapter sets options with `use`; the driver of the book sets them for the kernel of a chapter in
one variable of the environment. Those of `use` take precedence.
"""

import json
import os
from dataclasses import dataclass, fields, replace

from lib.base.validation import check_engine, check_integer

# JSON of an `Options`, from the driver of the book to the kernel of a chapter
VARIABLE = "BOOK_TRIALS"
RESULTS = "BOOK_RESULTS"  # the folder for results, where nothing else names one


@dataclass(frozen=True)
class Options:
    """Options that all trials of a process share.

    Parameters
    ----------
    n_jobs : int
        Worker processes of this machine, -1 for all cores.
    engine : str
        "local", or the address of a Dask scheduler.
    results : str, optional
        Folder in which finished blocks are stored and looked up.
    verify : sequence (seed, share), optional
        Run this share of the stored blocks again, drawn by the seed, and compare.
    notes, progress : str, optional
        Files for the notes of an experiment (`lib.trials.notes`) and for its progress.
    record : sequence (path, commit, code), optional
        File for rows that are to be recorded, and the commit and the digest of the code that
        computes them (see `lib.experiments.record`).
    code : str, optional
        Digest of the code that runs now, to compare with that of recorded rows.
    """

    n_jobs: int = 1
    engine: str = "local"
    results: str | None = None
    verify: tuple | None = None
    notes: str | None = None
    progress: str | None = None
    record: tuple | None = None
    code: str | None = None


_set_by_use = {}


def current_options():
    """Return the `Options` that hold now."""
    if text := os.environ.get(VARIABLE):
        options = Options(**json.loads(text))
    else:
        options = Options(results=os.environ.get(RESULTS) or None)
    return replace(options, **_set_by_use)


class use:  # noqa: N801
    """Set how trials run from now on or, as a context manager, inside a ``with`` statement.

    Parameters
    ----------
    options
        n_jobs (worker processes, -1 for all cores), engine ("local", or the address of a Dask
        scheduler), results (a folder in which finished blocks are kept), and what else
        `lib.trials.options.Options` has, for the command `book`.

    Raises
    ------
    ValueError
        If `n_jobs` or `engine` is out of range.
    TypeError
        If an option is not known.
    """

    def __init__(self, **options):
        allowed = [field.name for field in fields(Options)]
        for name in options:
            if name not in allowed:
                raise TypeError(f"{name!r} is no option of trials; they are {', '.join(allowed)}")
        new = Options(**options)
        check_workers(new.n_jobs, new.engine)
        self._previous = dict(_set_by_use)
        _set_by_use.update(options)

    def __enter__(self):
        return current_options()

    def __exit__(self, *_):
        _set_by_use.clear()
        _set_by_use.update(self._previous)


def check_workers(n_jobs, engine="local"):
    """Raise ValueError unless `n_jobs` is -1 or a positive integer and `engine` is valid."""
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)
    check_engine(engine)
