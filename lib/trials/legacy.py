"""What experiments call until they call `lib.trials.run`."""

from dataclasses import dataclass

import numpy as np

from lib.trials.context import check_workers
from lib.trials.runner import _run
from lib.validation import check_integer


def trial_seeds(seed, n_trials):
    """One independent SeedSequence a trial, whatever the number of trials: see `trial_seed`."""
    seed = check_integer("seed", seed, 0)
    return [trial_seed(seed, index) for index in range(n_trials)]


def trial_seed(seed, index):
    """The SeedSequence of one trial, with spawn key (index,)."""
    return np.random.SeedSequence(seed, spawn_key=(index,))


def keyed_seed(trial_seed, *key):
    """A SeedSequence for one purpose within a trial, such as (size, learner), that adding others leaves alone."""
    return np.random.SeedSequence(trial_seed.entropy, spawn_key=(*trial_seed.spawn_key, *key))


@dataclass(frozen=True)
class _Seeded:
    """Trials by number, each with its own of `trial_seeds`."""

    trial: object
    seed: int

    def __call__(self, index):
        return self.trial(index, trial_seed(self.seed, index))


def run_trials(trial, n_trials, seed=0, n_jobs=1, engine="local", seconds=0.5, description=None):
    """Run ``trial(index, seed_sequence)`` for every index and concatenate the frames in the order of trials.

    Parameters
    ----------
    trial : callable that can be pickled, returning a DataFrame of numbers, truth values and text
    n_trials : int, at least 1
    seed : int, at least 0
    n_jobs, engine, seconds, description
        See `run_cases`.

    Returns
    -------
    DataFrame
    """
    n_trials = check_integer("n_trials", n_trials, 1)
    seeded = _Seeded(trial, check_integer("seed", seed, 0))
    return run_cases(seeded, [(i,) for i in range(n_trials)], n_jobs, engine, seconds, description=description)


def run_cases(trial, cases, n_jobs=1, engine="local", seconds=0.5, groups=None, description=None):
    """Run ``trial(*case)`` for every case and concatenate the frames in the order of cases.

    Cases are cut into blocks of consecutive ones of about `BLOCK_SECONDS`, each of which computes in one thread. How
    they are cut depends on neither `n_jobs` nor `engine`, nor does anything else in the result. Where a folder for
    results is named (see `lib.trials.use`), each block is stored when it is finished, and blocks found
    there are not run again.

    Parameters
    ----------
    trial : callable that can be pickled, returning a DataFrame of numbers, truth values and text
        Its random numbers may depend on its settings and the case only.
    cases : sequence of tuples, at least one
    n_jobs : int
        Worker processes of this machine; -1 for all cores.
    engine : str
        "local", or the address of a Dask scheduler, whose workers must have the same code.
    seconds : float, or a sequence with one for each case
        What a case takes, roughly.
    groups : sequence of str, optional
        A word for each case, shown as progress; no block holds cases of two groups.
    description : str, optional
        Of the progress bar, which only shows in a terminal.

    Returns
    -------
    DataFrame
    """
    check_workers(n_jobs, engine)
    name = description or "trials"
    groups = [""] * len(cases) if groups is None else groups
    return _run(trial, cases, np.broadcast_to(seconds, len(cases)), groups, name, n_jobs, engine)
