"""Measured speed, growth and precision (`make bench`), as the book shows them; every reader raises ValueError."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls

FOLDER = Path(__file__).parents[1] / "data" / "benchmarks"
RESULTS, SCALING = FOLDER / "speed.json", FOLDER / "scaling.json"
PRECISION, BUILDS = FOLDER / "precision.json", FOLDER / "builds.json"
QUADRATIC = {("cov", "n")}  # every pair of attributes has a covariance; all else is linear


def read_benchmarks(path=RESULTS):
    """Read how fast learners and peers are.

    Returns
    -------
    rows : DataFrame
        job, ours, peer, unit, ratio, ratio_low, ratio_high, target, aim: one comparison a row.
    machine : dict
        What it ran on, with versions.
    """
    rows, about = _read(path, "make bench", ["machine"], rows="")
    return rows, about["machine"]


def read_scaling(path=SCALING):
    """Read how time and memory grow.

    Returns
    -------
    times : DataFrame
        axis ("s", "n", "restarts", "models"), learner, value, seconds.
    panels : DataFrame
        n_attributes, learner, seconds a model of a whole learning curve.
    about : dict
        efficiency (of two workers, each repetition), peaks (MiB, by learner), sizes, setting, machine, date.
    """
    tables = {"rows": "axis learner value seconds", "panels": "n_attributes learner seconds"}
    return _read(path, "make bench", [], **tables)


def read_precision(path=PRECISION):
    """Read what searches in float32 and in float64 give at every point of the published learning curves of EM.

    Returns
    -------
    rows : DataFrame
        chapter, n_attributes, n_hidden, difficulty, hidden_weights, size, learner, n_models, then of each arithmetic
        mean T (t32, t64), its pooled ratio (pooled32, pooled64) and mean accuracy (accuracy32, accuracy64), se: the
        standard error of t32, share_different: the share of the models whose accuracy differs at all, and of these the
        largest_change of accuracy and the largest likelihood_gap, a difference of log likelihoods per example.
    about : dict
        bounds of the differences in t and accuracy; difficulty: n_models and largest_difference of their B; machine;
        date.
    """
    columns = "chapter n_attributes n_hidden difficulty hidden_weights size learner n_models t32 t64 se pooled32 "
    columns += "pooled64 accuracy32 accuracy64 share_different largest_change likelihood_gap"
    return _read(
        path, "python -m tests.benchmarks.precision", ["bounds", "difficulty", "machine", "date"], rows=columns
    )


def read_builds(path=BUILDS):
    """Read how the notebooks' outputs compare under other builds of numpy and kernels of other processors.

    Returns
    -------
    rows : DataFrame
        variant, numpy, blas (libraries with versions), kernel (of the processor for which BLAS works), simd (numpy's
        optional vector code), chapters (number), compared and different (outputs), missing and words (of the different
        ones: only on one side, different in more than numbers), largest_relative (difference of a number), verdicts
        (that differ) and places (of the differences).
    about : dict
        cannot: variants for which the processor lacks something; machine, date.
    """
    columns = (
        "variant numpy blas kernel simd chapters compared different missing words largest_relative verdicts places"
    )
    return _read(path, "python -m tests.benchmarks.builds", ["cannot", "machine", "date"], rows=columns)


def _read(path, command, names, **columns):
    """Read the tables named in `columns`, and a dict of everything else, which must have `names`."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `{command}` writes them")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        tables = [pd.DataFrame(about.pop(name)) for name in columns]
        for table, needed in zip(tables, columns.values(), strict=True):
            table[needed.split()]
        return *tables, about | {name: about[name] for name in names} | {"machine": dict(about["machine"])}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the benchmark results at path={path} are broken; `{command}` writes them anew") from error


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
    for (axis, learner), curve in times.groupby(["axis", "learner"], sort=False):
        power, seconds = 2 if (learner, axis) in QUADRATIC else 1, curve["seconds"].to_numpy()
        terms = np.stack([np.ones(len(curve)), curve["value"].to_numpy(float) ** power], axis=1)
        (start, rate), _ = nnls(terms / seconds[:, None], np.ones(len(curve)))
        error = np.abs(terms @ [start, rate] / seconds - 1).max()
        rows.append((axis, learner, power, start, rate, error))
    return pd.DataFrame(rows, columns=["axis", "learner", "power", "start", "rate", "error"])
