"""The trial runner: seeded, in parallel, with progress; the same results for any number of workers."""

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from lib.validation import check_integer


def trial_seeds(seed, n_trials):
    """One independent SeedSequence a trial: trial i has spawn key (i,), whatever the number of trials."""
    seed = check_integer("seed", seed, 0)
    return np.random.SeedSequence(seed).spawn(n_trials)


def keyed_seed(trial_seed, *key):
    """A SeedSequence for one purpose within a trial, such as (size, learner), that adding others leaves alone."""
    return np.random.SeedSequence(trial_seed.entropy, spawn_key=(*trial_seed.spawn_key, *key))


def run_trials(trial, n_trials, seed=0, n_jobs=1, block_size=5, description=None):
    """Run ``trial(index, seed_sequence)`` for every index and concatenate the frames in the order of trials.

    Blocks of trials depend on `block_size` only and every block computes in one BLAS thread, so that the result is the
    same for any `n_jobs`.

    Parameters
    ----------
    trial : callable that can be pickled, returning a DataFrame
    n_trials : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes; -1 for all cores.
    description : str, optional
        Of the progress bar, which only shows in a terminal.

    Returns
    -------
    DataFrame
    """
    n_trials = check_integer("n_trials", n_trials, 1)
    check_jobs(n_jobs)
    seeds = trial_seeds(seed, n_trials)
    blocks = [range(start, min(start + block_size, n_trials)) for start in range(0, n_trials, block_size)]
    with parallel_config("loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(n_jobs, len(blocks)), return_as="generator")
        results = pool(delayed(_run_block)(trial, block, [seeds[i] for i in block]) for block in blocks)
        frames = list(tqdm(results, total=len(blocks), desc=description, disable=None, leave=False))
    return pd.concat(frames, ignore_index=True)


def check_jobs(n_jobs):
    """Raise ValueError unless `n_jobs` is -1 or a positive integer."""
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)


def _run_block(trial, indices, seeds):
    with threadpool_limits(1, user_api="blas"):
        return pd.concat([trial(index, seed) for index, seed in zip(indices, seeds, strict=True)], ignore_index=True)
