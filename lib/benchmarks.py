"""Measured speed and growth (`make bench`), as the book shows them."""

import json

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from lib.base.files import DATA

FOLDER = DATA / "benchmarks"
RESULTS = FOLDER / "speed.json"
SCALING = FOLDER / "scaling.json"


def read_benchmarks(path=RESULTS):
    """Read how fast learners and peers are.

    Parameters
    ----------
    path : Path
        Of results in JSON, with "rows" and "machine".

    Returns
    -------
    rows : DataFrame
        job, ours, peer, unit, ratio, ratio_median, ratio_low, ratio_high, target, aim: one
        comparison a row.
    machine : dict
        What it ran on, with versions.

    Raises
    ------
    ValueError
        If there is no such file.
    """
    results = _read(path)
    return pd.DataFrame(results["rows"]), results["machine"]


def read_scaling():
    """Read how time and memory grow.

    Returns
    -------
    times : DataFrame
        axis ("s", "n", "restarts", "k", "rows", "classes", "models"), learner, value, seconds.
    panels : DataFrame
        n_attributes, learner, seconds a model of a whole learning curve.
    details : dict
        efficiency (of two workers, each repetition), peaks (MiB, by learner), sizes, setting,
        machine, date; and learners, once they were measured: a row for each learner of lib
        (learner, data, seconds and memory in MiB at each size, None where a fit was stopped, and
        the exponent of its growth), sizes, cap in seconds, columns, machine, date.
    """
    details = _read(SCALING)
    times = pd.DataFrame(details.pop("rows"))
    panels = pd.DataFrame(details.pop("panels"))
    return times, panels, details


def _read(path):
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `make bench` writes them")
    return json.loads(path.read_text(encoding="utf-8"))


def growth(times):
    """Fit seconds = start + rate x value^power to each curve, start and rate not negative.

    The fit has the least sum of squared relative errors. The power is 2 for "cov" over "n", else 1.

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
        # COV estimates the covariance of every pair of attributes; all else is linear
        power = 2 if (learner, axis) == ("cov", "n") else 1
        seconds = curve["seconds"].to_numpy()
        values = curve["value"].to_numpy(float)
        terms = np.stack([np.ones(len(curve)), values**power], axis=1)
        # divided by the measured seconds, residuals are relative errors
        (start, rate), _ = nnls(terms / seconds[:, None], np.ones(len(curve)))
        relative_errors = terms @ [start, rate] / seconds - 1
        rows.append(
            {
                "axis": axis,
                "learner": learner,
                "power": power,
                "start": start,
                "rate": rate,
                "error": np.abs(relative_errors).max(),
            }
        )
    return pd.DataFrame(rows, columns=["axis", "learner", "power", "start", "rate", "error"])
