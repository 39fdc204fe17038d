"""The trial runner: seeded, in parallel, with progress; the same results for any number of workers."""

import os
from pathlib import Path

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


def run_trials(trial, n_trials, seed=0, n_jobs=1, block_size=5, description=None, labels=None, finished=None):
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
        Of the progress bar, which only shows in a terminal. Where the environment variable BOOK_PROGRESS names a file,
        it always holds one line that says how far the trials are.
    labels : sequence of str, optional
        Names of the trials in `finished`; the first word, such as the data set, is shown as progress.
    finished : lib.experiments.finished.FinishedTrials, optional
        Trials found there are not run again; each that is run is stored there as soon as it ends.

    Returns
    -------
    DataFrame
    """
    n_trials = check_integer("n_trials", n_trials, 1)
    check_jobs(n_jobs)
    seeds = trial_seeds(seed, n_trials)
    labels = [""] * n_trials if labels is None else list(labels)
    if len(labels) != n_trials or (finished and len(set(labels)) < n_trials):
        raise ValueError(f"labels must hold one for each of {n_trials} trials, each once if they are stored")
    blocks = [range(start, min(start + block_size, n_trials)) for start in range(0, n_trials, block_size)]
    with parallel_config("loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(n_jobs, len(blocks)), return_as="generator")
        results = pool(
            delayed(_run_block)(trial, block, [(seeds[i], labels[i]) for i in block], finished) for block in blocks
        )
        frames = list(_shown(results, [labels[block[-1]].partition(" ")[0] for block in blocks], description))
    return pd.concat(frames, ignore_index=True)


def _shown(results, words, description):
    """Yield the results, and show for each how far they are."""
    file = os.environ.get("BOOK_PROGRESS")
    with tqdm(total=len(words), desc=description, disable=None, leave=False) as bar:
        for done, (result, word) in enumerate(zip(results, words, strict=True), 1):
            bar.set_postfix_str(word, refresh=False)
            bar.update()
            if file:
                line = [description, word, f"{done}/{len(words)}"]
                Path(file).write_text(" ".join(filter(None, line)), encoding="utf-8")
            yield result


def check_jobs(n_jobs):
    """Raise ValueError unless `n_jobs` is -1 or a positive integer."""
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)


def _run_block(trial, indices, about, finished):
    with threadpool_limits(1, user_api="blas"):
        frames = [_run(trial, i, *given, finished) for i, given in zip(indices, about, strict=True)]
    return pd.concat(frames, ignore_index=True)


def _run(trial, index, seed, label, finished):
    frame = finished.read(label) if finished else None
    if frame is None:
        frame = trial(index, seed)
        if finished:
            finished.write(label, frame)
    return frame
