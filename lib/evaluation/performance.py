"""Normalised performance T, and paired comparisons of it over the same models."""

import numpy as np
import pandas as pd

from lib.base.validation import check_choice, check_real
from lib.evaluation.intervals import LEVEL, Estimate, mean_interval

_NO_GAIN = 1e-12  # what rounding leaves of a gain of exactly 0
_COLUMNS = ("model", "size", "learner", "accuracy", "best", "constant")


def normalized_performance(frame, min_gain=0.02):
    """T of each learner at each sample size, over models.

    T = (accuracy - constant) / (best - constant) of one model is the share of the possible gain
    over the best constant prediction that a learner achieves. Where the gain is 0, T is undefined,
    and where it is tiny, T is noise: so the mean is over models with a gain of at least `min_gain`.
    The ratio of means is over all models.

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
    for (size, learner), trials in frame.groupby(["size", "learner"], sort=True, observed=True):
        t = share_of_gain(trials["accuracy"], trials["best"], trials["constant"], min_gain).dropna()
        possible_gain = (trials["best"] - trials["constant"]).sum()
        achieved_gain = (trials["accuracy"] - trials["constant"]).sum()
        rows.append(
            {
                "size": size,
                "learner": learner,
                "t": t.mean(),
                "se": t.sem(),
                # a ratio of sums needs no model set aside
                "t_pooled": achieved_gain / possible_gain if possible_gain > 0 else np.nan,
                "n_models": len(t),
                "n_set_aside": len(trials) - len(t),
            }
        )
    columns = ["size", "learner", "t", "se", "t_pooled", "n_models", "n_set_aside"]
    return pd.DataFrame(rows, columns=columns)


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
    trials = frame[frame["learner"] == learner]
    t = share_of_gain(trials["accuracy"], trials["best"], trials["constant"], min_gain)
    return trials.assign(t=t).pivot(index="model", columns="size", values="t").dropna(how="all")


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
    """Largest mean T of any learner at any size of any frame, with a simultaneous interval.

    The interval is conservative: Bonferroni's, over all the means.

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
    samples = []
    for frame in frames:
        for learner in learners:
            for _, t in t_by_model(frame, learner, min_gain).items():
                if t.notna().any():
                    samples.append(t.dropna())
    if not samples:
        return Estimate(np.nan, np.nan, np.nan, 0)
    confidence = 1 - (1 - LEVEL) / len(samples)  # Bonferroni
    estimates = [mean_interval(t, confidence) for t in samples]
    return Estimate(
        value=max(estimate.value for estimate in estimates),
        low=max(estimate.low for estimate in estimates),
        high=max(estimate.high for estimate in estimates),
        n=min(estimate.n for estimate in estimates),
    )


def mean_difference(frame, first, second, min_gain=0.02):
    """Mean paired difference in T over all sizes, with its interval over models.

    Parameters
    ----------
    frame, first, second, min_gain
        As in `paired_differences`.

    Returns
    -------
    Estimate
    """
    # sizes of one model are not independent: each model gives one number
    by_model = paired_differences(frame, first, second, min_gain).mean(axis=1)
    return mean_interval(by_model.dropna())


def share_of_gain(accuracy, best, constant, min_gain=0.0):
    """T, the share of the gain best - constant that an accuracy achieves.

    Parameters
    ----------
    accuracy, best, constant : float, or array or Series of one shape
    min_gain : float in [0, 1)
        With 0, every gain above 0 counts.

    Returns
    -------
    float or array-like
        NaN where best - constant is below `min_gain`.
    """
    check_real("min_gain", min_gain, 0, 1, open_high=True)
    accuracy = _as_array_if_sequence(accuracy)
    best = _as_array_if_sequence(best)
    constant = _as_array_if_sequence(constant)
    gain = best - constant
    is_enough = (gain >= min_gain) & (gain > _NO_GAIN)
    return (accuracy - constant) / np.where(is_enough, gain, np.nan)


def _as_array_if_sequence(values):
    return np.asarray(values) if isinstance(values, list | tuple) else values


def _check_frame(frame, min_gain):
    check_real("min_gain", min_gain, 0, 1, open_high=True)
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"frame must be a DataFrame; got {type(frame).__name__}")
    missing = [column for column in _COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(
            f"frame must have the columns {', '.join(_COLUMNS)}; missing: {', '.join(missing)}"
        )
    if frame.duplicated(["model", "size", "learner"]).any():
        raise ValueError(
            "frame must hold one row for each model, size and learner; select one panel first"
        )
