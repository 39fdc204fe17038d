"""Trials: seeded, in blocks, run anywhere with the same results, stored and resumed.

    trials.use(n_jobs=n_jobs, engine=engine)  # once a chapter
    results = trials.run(trial, cases, n_trials=100, seed=0)

calls `trial(seeds, *case)`, which yields rows, and returns all rows as one frame.
"""

from lib.trials.options import use
from lib.trials.seeds import Seeds

__all__ = ["Seeds", "run", "use"]


def __getattr__(name):
    """Import `run` when it is first asked for: what only looks at stored results starts faster."""
    if name != "run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lib.trials.runner import run

    return run
