"""How time grows with the size of a problem: measured times (`make bench`) and their fits."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from lib.benchmarks import RESULTS

SCALING = RESULTS.with_name("scaling.json")
QUADRATIC = {("cov", "n")}  # every pair of attributes has a covariance; all else is linear
NAMES = {"em": "EM", "cov": "COV", "winnow": "Winnow"}


def read_scaling(path=SCALING):
    """Read how time and memory grew when `make bench` was run.

    Returns
    -------
    times : DataFrame
        axis ("s", "n", "restarts", "models"), learner, value, seconds.
    panels : DataFrame
        n_attributes, learner, seconds a model of a whole learning curve.
    about : dict
        efficiency (of two workers, each repetition), peaks (MiB, by learner), sizes, setting, machine, date.

    Raises
    ------
    ValueError
        If there is no such file, or it is broken.
    """
    path = Path(path)
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `make bench` writes them")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        times, panels = (pd.DataFrame(results.pop(name)) for name in ("rows", "panels"))
        return times[["axis", "learner", "value", "seconds"]], panels[["n_attributes", "learner", "seconds"]], results
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the benchmark results at path={path} are broken; `make bench` writes them anew") from error


def growth(times):
    """Fit seconds = start + rate x value (x value^2 for `QUADRATIC`), start and rate not negative, for each curve.

    The fit has the least sum of squared relative errors.

    Parameters
    ----------
    times : DataFrame
        axis, learner, value, seconds, as `read_scaling` returns them.

    Returns
    -------
    DataFrame
        axis, learner, power (1 or 2), start, rate, error (the largest relative one of the curve's points).
    """
    rows = []
    for (axis, learner), part in times.groupby(["axis", "learner"], sort=False):
        power = 2 if (learner, axis) in QUADRATIC else 1
        terms = np.stack([np.ones(len(part)), part["value"].to_numpy(float) ** power], axis=1)
        (start, rate), _ = nnls(terms / part["seconds"].to_numpy()[:, None], np.ones(len(part)))
        error = np.abs(terms @ [start, rate] / part["seconds"].to_numpy() - 1).max()
        rows.append((axis, learner, power, start, rate, error))
    return pd.DataFrame(rows, columns=["axis", "learner", "power", "start", "rate", "error"])


def plan(panels, about, n_models, n_attributes, n_workers):
    """What an experiment with many models would cost on a cluster, from measured times.

    Parameters
    ----------
    panels, about
        As `read_scaling` returns them.
    n_models, n_attributes, n_workers : int, at least 1

    Returns
    -------
    DataFrame
        quantity, value (text with unit).
    """
    cost = {name: _interpolated(part, name, n_attributes) for name, part in panels.groupby("learner", sort=False)}
    calibration = cost.pop("calibration")
    hours = n_models * sum(cost.values()) / 3600
    efficiency = float(np.median(about["efficiency"]))
    block = about["block"]
    rows = [(f"one model, {NAMES.get(name, name)}", f"{seconds:,.1f} s") for name, seconds in cost.items()]
    rows += [
        ("all models on one core", f"{hours:,.0f} hours"),
        (f"on {n_workers} cores at {efficiency:.0%} efficiency", f"{hours / n_workers / efficiency:,.1f} hours"),
        ("calibration, once, before", f"{calibration:,.0f} s"),
        ("blocks", f"{n_models:,}"),
        ("sent and returned for a block", f"{block['sent'] / 1e3:.1f} kB and {block['returned'] / 1e3:.1f} kB"),
        ("stored in all", f"{n_models * block['returned'] / 1e6:,.0f} MB"),
        (f"memory of a worker (measured at n = {block['attributes']:,})", f"{block['memory']:,.0f} MiB"),
    ]
    return pd.DataFrame(rows, columns=["quantity", "value"])


def _interpolated(part, learner, n):
    """Seconds at n: as measured, or else of the fitted growth."""
    known = dict(zip(part["n_attributes"], part["seconds"], strict=True))
    if n in known:
        return known[n]
    fit = growth(part.rename(columns={"n_attributes": "value"}).assign(axis="n")).iloc[0]
    return fit["start"] + fit["rate"] * float(n) ** fit["power"]
