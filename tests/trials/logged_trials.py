"""Trials that write into a log, so that tests see which blocks were found and which were run."""

import os
import time

import pandas as pd

from lib import trials

N_TRIALS = 10
N_BLOCKS = 5


def two_normals(seeds, scale=1.0, pause=0.0):
    """Two rows of a trial, which is written into a log."""
    with open(os.environ["TRIAL_LOG"], "a") as log:
        log.write(f"{seeds.number}\n")
    time.sleep(pause)
    for value in scale * seeds.rng().normal(size=2):
        yield {
            "index": seeds.number,
            "value": value,
            "word": "Ärger, 雪",
            "odd": seeds.number % 2 == 1,
        }


def run(n_trials=N_TRIALS, seed=3, case=(), trial=two_normals, **settings):
    """Run the trials, two a block."""
    return trials.run(
        trial,
        [case],
        n_trials=n_trials,
        seed=seed,
        seconds=1.0,  # which lets a block hold two
        name="trials",
        **settings,
    )


def assert_same(frame, expected):
    """Check that two frames are equal to the last bit."""
    pd.testing.assert_frame_equal(frame, expected, check_exact=True)
