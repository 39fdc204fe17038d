"""How and where the trials of this process run: what `use` has set, or what the driver says in one variable."""

import json
import os
from dataclasses import dataclass, replace

from lib.validation import check_engine, check_integer

# JSON of a Context, from the driver of the book to the kernel of a chapter
VARIABLE = "BOOK_TRIALS"
RESULTS = "BOOK_RESULTS"  # the folder for results, where nothing else names one


@dataclass(frozen=True)
class Context:
    """Settings that trials share.

    Parameters
    ----------
    n_jobs : int
        Worker processes of this machine, -1 for all cores.
    engine : str
        "local", or the address of a Dask scheduler.
    results : str, optional
        Folder in which finished blocks are kept and looked for.
    verify : sequence (seed, share), optional
        Run this share of the stored blocks again, drawn by the seed, and compare.
    notes, progress : str, optional
        Files for what an experiment has to tell, and for how far it is.
    record : sequence (path, commit, code), optional
        File for rows that are to be recorded, and the commit and the digest of the code that they
        are of (see `lib.experiments.record`).
    code : str, optional
        Digest of the code that now runs, to compare with that of recorded rows.
    """

    n_jobs: int = 1
    engine: str = "local"
    results: str | None = None
    verify: tuple | None = None
    notes: str | None = None
    progress: str | None = None
    record: tuple | None = None
    code: str | None = None


_SETTINGS = {}


def current():
    """Return the Context that holds now."""
    written = os.environ.get(VARIABLE)
    outside = json.loads(written) if written else {"results": os.environ.get(RESULTS) or None}
    return replace(Context(**outside), **_SETTINGS)


class use:  # noqa: N801
    """Set how trials run from now on or, as a context manager, inside a ``with`` statement.

    Parameters
    ----------
    settings
        Fields of `Context`: n_jobs, engine, results, ...

    Raises
    ------
    ValueError
        If `n_jobs` or `engine` is out of range.
    TypeError
        If a setting is not known.
    """

    def __init__(self, **settings):
        new = Context(**settings)
        check_workers(new.n_jobs, new.engine)
        self._before = dict(_SETTINGS)
        _SETTINGS.update(settings)

    def __enter__(self):
        return current()

    def __exit__(self, *_):
        _SETTINGS.clear()
        _SETTINGS.update(self._before)


def check_workers(n_jobs, engine="local"):
    """Raise ValueError unless `n_jobs` is -1 or a positive integer and `engine` passes `check_engine`."""
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)
    check_engine(engine)
