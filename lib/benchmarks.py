"""Measured speed and growth (`make bench`), as the book shows them."""

import json

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from lib.files import DATA

FOLDER = DATA / "benchmarks"
RESULTS, SCALING = FOLDER / "speed.json", FOLDER / "scaling.json"


def read_benchmarks(path=RESULTS):
    """Read how fast learners and peers are.

    Returns
    -------
    rows : DataFrame
        job, ours, peer, unit, ratio, ratio_median, ratio_low, ratio_high, target, aim: one
        comparison a row.
    machine : dict
        What it ran on, with versions.
    """
    about = _read(path)
    return pd.DataFrame(about["rows"]), about["machine"]


def read_scaling():
    """Read how time and memory grow.

    Returns
    -------
    times : DataFrame
        axis ("s", "n", "restarts", "k", "rows", "classes", "models"), learner, value, seconds.
    panels : DataFrame
        n_attributes, learner, seconds a model of a whole learning curve.
    about : dict
        efficiency (of two workers, each repetition), peaks (MiB, by learner), sizes, setting,
        machine, date.
    """
    about = _read(SCALING)
    return *(pd.DataFrame(about.pop(name)) for name in ("rows", "panels")), about


def _read(path):
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `make bench` writes them")
    return json.loads(path.read_text(encoding="utf-8"))


def growth(times):
    """Fit seconds = start + rate x value (x value^2 for "cov" over "n"), start and rate not negative, for each curve.

    The fit has the least sum of squared relative errors.

    Parameters
    ----------
    times : DataFrame
        axis, learner, value, seconds, as `read_scaling` returns them.

    Returns
    -------
    DataFrame
        axis, learner, power (1 or 2), start, rate, error (the largest relative one of the curve's
        points).
    """
    rows = []
    for (axis, learner), curve in times.groupby(["axis", "learner"], sort=False):
        # every pair of attributes has a covariance; all else is linear
        power, seconds = 2 if (learner, axis) == ("cov", "n") else 1, curve["seconds"].to_numpy()
        terms = np.stack([np.ones(len(curve)), curve["value"].to_numpy(float) ** power], axis=1)
        (start, rate), _ = nnls(terms / seconds[:, None], np.ones(len(curve)))
        rows.append(
            (axis, learner, power, start, rate, np.abs(terms @ [start, rate] / seconds - 1).max())
        )
    return pd.DataFrame(rows, columns=["axis", "learner", "power", "start", "rate", "error"])
