"""Normalised performance T, and paired comparisons of it over the same models."""

import numpy as np
import pandas as pd

from lib.evaluation.intervals import LEVEL, Estimate, mean_interval
from lib.validation import check_choice, check_real

# what rounding leaves of a gain of exactly 0
_NO_GAIN = 1e-12
_COLUMNS = ("model", "size", "learner", "accuracy", "best", "constant")


def normalized_performance(frame, min_gain=0.02):
    """T of each learner at each sample size, over models.

    T = (accuracy - constant) / (best - constant) of one model is the part of the possible gain over
    the best constant that a learner achieves. Where the gain is 0, T is undefined, and where it is
    tiny, T is noise: the mean is over models with a gain of at least `min_gain`, beside the ratio
    of means over all models.

    Parameters
    ----------
    frame : DataFrame
        As `lib.experiments.cia_learning_curves` returns it.
    min_gain : float in [0, 1)
        Smallest best - constant of a model that counts in `t`; with 0, every model with a gain
        above 0 counts.

    Returns
    -------
    DataFrame
        size, learner, t (mean), se (its standard error), t_pooled (ratio of means), n_models and
        n_set_aside.

    Raises
    ------
    ValueError
        If `min_gain` is out of range, or `frame` lacks a column or has a model, size and learner
        twice.

    References
    ----------
    Grove & Roth (1997), section 7 (T) and footnote 5 (standard error).
    """
    _check_frame(frame, min_gain)
    rows = []
    for (size, learner), part in frame.groupby(["size", "learner"], sort=True, observed=True):
        t = share_of_gain(part["accuracy"], part["best"], part["constant"], min_gain).dropna()
        gain = (part["best"] - part["constant"]).sum()
        pooled = (part["accuracy"] - part["constant"]).sum() / gain if gain > 0 else np.nan
        rows.append((size, learner, t.mean(), t.sem(), pooled, len(t), len(part) - len(t)))
    return pd.DataFrame(
        rows, columns=["size", "learner", "t", "se", "t_pooled", "n_models", "n_set_aside"]
    )


def t_by_model(frame, learner, min_gain=0.02):
    """T of one learner on each model, sizes as columns.

    Parameters
    ----------
    frame : DataFrame
        As in `normalized_performance`.
    learner : str
        One of those in `frame`.
    min_gain : float in [0, 1)
        As in `normalized_performance`.

    Returns
    -------
    DataFrame of shape (n_models, n_sizes), indexed by model; models with too small a gain are left
    out.
    """
    _check_frame(frame, min_gain)
    check_choice("learner", learner, frame["learner"].unique())
    rows = frame[frame["learner"] == learner]
    t = share_of_gain(rows["accuracy"], rows["best"], rows["constant"], min_gain)
    return rows.assign(t=t).pivot(index="model", columns="size", values="t").dropna(how="all")


def paired_differences(frame, first, second, min_gain=0.02):
    """T of `first` minus T of `second` on each model.

    Parameters
    ----------
    frame : DataFrame
        As in `normalized_performance`.
    first, second : str
        Learners in `frame`.
    min_gain : float in [0, 1)
        As in `normalized_performance`.

    Returns
    -------
    DataFrame of shape (n_models, n_sizes)
        As `t_by_model` returns it.
    """
    return t_by_model(frame, first, min_gain) - t_by_model(frame, second, min_gain)


def largest_mean_t(frames, learners, min_gain=0.02):
    """Largest mean T of any of `learners` at any size of any of `frames`, with a conservative simultaneous interval.

    Parameters
    ----------
    frames : sequence of DataFrames
        Each as in `normalized_performance`.
    learners : sequence of str
    min_gain : float in [0, 1)

    Returns
    -------
    Estimate
        With the smallest n of any mean; NaN and n = 0 where no model counts.
    """
    columns = [
        t
        for frame in frames
        for name in learners
        for _, t in t_by_model(frame, name, min_gain).items()
    ]
    groups = [t.dropna() for t in columns if t.notna().any()]
    estimates = [mean_interval(t, 1 - (1 - LEVEL) / len(groups)) for t in groups]
    if not estimates:
        return Estimate(np.nan, np.nan, np.nan, 0)
    return Estimate(*(max(e[i] for e in estimates) for i in range(3)), min(e.n for e in estimates))


def mean_difference(frame, first, second, min_gain=0.02):
    """Mean paired difference in T over all sizes: one number a model, then mean and interval over models.

    Parameters
    ----------
    frame, first, second, min_gain
        As in `paired_differences`.

    Returns
    -------
    Estimate
    """
    return mean_interval(paired_differences(frame, first, second, min_gain).mean(axis=1).dropna())


def share_of_gain(accuracy, best, constant, min_gain=0.0):
    """T, the share of the gain best - constant that an accuracy has; NaN where there is less than `min_gain` to gain.

    Parameters
    ----------
    accuracy, best, constant : float, or array or Series of one shape
    min_gain : float in [0, 1)
        With 0, every gain above 0 counts.

    Returns
    -------
    float or array-like
    """
    check_real("min_gain", min_gain, 0, 1, open_high=True)
    accuracy, best, constant = (
        np.asarray(part) if isinstance(part, list | tuple) else part
        for part in (accuracy, best, constant)
    )
    gain = best - constant
    return (accuracy - constant) / np.where((gain >= min_gain) & (gain > _NO_GAIN), gain, np.nan)


def _check_frame(frame, min_gain):
    check_real("min_gain", min_gain, 0, 1, open_high=True)
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"frame must be a DataFrame; got {type(frame).__name__}")
    missing = [c for c in _COLUMNS if c not in frame.columns]
    if missing:
        raise ValueError(
            f"frame must have the columns {', '.join(_COLUMNS)}; missing: {', '.join(missing)}"
        )
    if frame.duplicated(["model", "size", "learner"]).any():
        raise ValueError(
            "frame must hold one row for each model, size and learner; select one panel first"
        )
