"""Normalised performance, paired comparisons, intervals and tests."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from lib.validation import check_choice, check_generator, check_integer, check_real

# what rounding leaves of a gain of exactly 0
_NO_GAIN = 1e-12
_COLUMNS = ("model", "size", "learner", "accuracy", "best", "constant")


class Estimate(NamedTuple):
    """A value, the ends of its confidence interval and the number of independent trials behind it."""

    value: float
    low: float
    high: float
    n: int


def mean_interval(values, confidence=0.95):
    """Mean of independent `values` with its t interval.

    Returns
    -------
    Estimate
        With infinite ends for fewer than two values.
    """
    values = np.asarray(values, dtype=float)
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    if len(values) < 2:
        return Estimate(float(values.mean()) if len(values) else np.nan, -np.inf, np.inf, len(values))
    half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Estimate(float(values.mean()), float(values.mean() - half), float(values.mean() + half), len(values))


def normalized_performance(frame, min_gain=0.02):
    """T of each learner at each sample size, over models.

    T = (accuracy - constant) / (best - constant) of one model is the part of the possible gain over the best
    constant that a learner achieves. Where the gain is 0, T is undefined, and where it is tiny, T is noise: the
    mean is over models with a gain of at least `min_gain`, beside the ratio of means over all models.

    Parameters
    ----------
    frame : DataFrame
        As `lib.experiments.cia_learning_curves` returns it.
    min_gain : float in [0, 1)
        Smallest best - constant of a model that counts in `t`; with 0, every model with a gain above 0 counts.

    Returns
    -------
    DataFrame
        size, learner, t (mean), se (its standard error), t_pooled (ratio of means), n_models and n_set_aside.

    References
    ----------
    Grove & Roth (1997), section 7 (T) and footnote 5 (standard error).
    """
    _check_frame(frame, min_gain)
    rows = []
    for (size, learner), part in frame.groupby(["size", "learner"], sort=True, observed=True):
        t = _ratios(part, min_gain).dropna()
        gain = (part["best"] - part["constant"]).sum()
        pooled = (part["accuracy"] - part["constant"]).sum() / gain if gain > 0 else np.nan
        se = t.std(ddof=1) / np.sqrt(len(t)) if len(t) > 1 else np.nan
        mean = t.mean() if len(t) else np.nan
        rows.append((size, learner, mean, se, pooled, len(t), len(part) - len(t)))
    return pd.DataFrame(rows, columns=["size", "learner", "t", "se", "t_pooled", "n_models", "n_set_aside"])


def t_by_model(frame, learner, min_gain=0.02):
    """T of one learner on each model, sizes as columns.

    Returns
    -------
    DataFrame of shape (n_models, n_sizes), indexed by model; models with too small a gain are left out.
    """
    _check_frame(frame, min_gain)
    check_choice("learner", learner, frame["learner"].unique())
    rows = frame[frame["learner"] == learner]
    return rows.assign(t=_ratios(rows, min_gain)).pivot(index="model", columns="size", values="t").dropna(how="all")


def paired_differences(frame, first, second, min_gain=0.02):
    """T of `first` minus T of `second` on each model, as in `t_by_model`."""
    return t_by_model(frame, first, min_gain) - t_by_model(frame, second, min_gain)


def paired_comparison(frame, first, second, min_gain=0.02, confidence=0.95, simultaneous=False):
    """Mean difference in T of two learners over the same models, with an interval at each size.

    Parameters
    ----------
    simultaneous : bool
        Widen the intervals (Bonferroni) so that all sizes hold together with the confidence.

    Returns
    -------
    DataFrame
        size, difference, low, high, median, n_models.
    """
    differences = paired_differences(frame, first, second, min_gain)
    level = 1 - (1 - confidence) / differences.shape[1] if simultaneous else confidence
    rows = []
    for size, column in differences.items():
        estimate = mean_interval(column.dropna(), level)
        rows.append((size, estimate.value, estimate.low, estimate.high, column.median(), estimate.n))
    return pd.DataFrame(rows, columns=["size", "difference", "low", "high", "median", "n_models"])


def smallest_difference(frame, first, second, min_gain=0.02, confidence=0.95):
    """Smallest mean paired difference over all sizes, with a conservative interval (simultaneous over sizes)."""
    table = paired_comparison(frame, first, second, min_gain, confidence, simultaneous=True)
    return Estimate(table["difference"].min(), table["low"].min(), table["high"].min(), int(table["n_models"].min()))


def largest_difference(frame, first, second, min_gain=0.02, confidence=0.95):
    """Largest mean paired difference over all sizes, with a conservative interval (simultaneous over sizes)."""
    value, low, high, n = smallest_difference(frame, second, first, min_gain, confidence)
    return Estimate(-value, -high, -low, n)


def largest_mean_t(frames, learners, min_gain=0.02, confidence=0.95):
    """Largest mean T of any of `learners` at any size of any of `frames`, with a conservative simultaneous interval."""
    columns = [t for frame in frames for name in learners for _, t in t_by_model(frame, name, min_gain).items()]
    groups = [column.dropna() for column in columns]
    groups = [t for t in groups if len(t)]
    estimates = [mean_interval(t, 1 - (1 - confidence) / len(groups)) for t in groups]
    if not estimates:
        return Estimate(np.nan, np.nan, np.nan, 0)
    return Estimate(*(max(e[i] for e in estimates) for i in range(3)), min(e.n for e in estimates))


def mean_difference(frame, first, second, min_gain=0.02, confidence=0.95):
    """Mean paired difference in T over all sizes: one number a model, then mean and interval over models."""
    return mean_interval(paired_differences(frame, first, second, min_gain).mean(axis=1).dropna(), confidence)


def mean_contrast(a, b, confidence=0.95):
    """Difference of the means of two independent samples, mean(a) - mean(b), with Welch's t interval."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(len(a), len(b)) < 2:
        difference = a.mean() - b.mean() if min(len(a), len(b)) else np.nan
        return Estimate(float(difference), -np.inf, np.inf, min(len(a), len(b)))
    difference = a.mean() - b.mean()
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(confidence)
    return Estimate(float(difference), float(interval.low), float(interval.high), min(len(a), len(b)))


def crossing_size(frame, first, second, rng, min_gain=0.02, confidence=0.95, n_resamples=1000):
    """Sample size from which `first` stays ahead of `second` in mean T.

    Interpolated between sizes on a log scale; infinite if `second` is ahead at the largest size, the smallest size
    if `first` is ahead everywhere. The interval is of percentiles over resampled models.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_resamples : int, at least 1

    Returns
    -------
    Estimate
    """
    value, resampled, n, _ = _resampled_crossings(frame, first, second, rng, min_gain, n_resamples)
    return Estimate(value, *_percentiles(resampled, confidence, value), n)


def crossing_ratio(frame, other, first, second, rng, min_gain=0.02, confidence=0.95, n_resamples=1000):
    """Crossing size on `frame` divided by that on `other`, as a base-10 logarithm, over independent models.

    A crossing beyond the largest size counts as twice that size.

    Returns
    -------
    Estimate
        Positive where `first` gets ahead of `second` later on `frame`.
    """
    logs, counts = [], []
    for panel in (frame, other):
        value, resampled, n, largest = _resampled_crossings(panel, first, second, rng, min_gain, n_resamples)
        logs.append(np.log10(np.minimum(np.append(resampled, value), 2 * largest)))
        counts.append(n)
    ratio = logs[0] - logs[1]
    return Estimate(float(ratio[-1]), *_percentiles(ratio[:-1], confidence, ratio[-1]), min(counts))


def _resampled_crossings(frame, first, second, rng, min_gain, n_resamples):
    check_integer("n_resamples", n_resamples, 1)
    check_generator("rng", rng)
    differences = paired_differences(frame, first, second, min_gain).dropna()
    sizes, values = differences.columns.to_numpy(dtype=float), differences.to_numpy()
    if not len(values):
        return np.nan, np.full(n_resamples, np.nan), 0, sizes[-1]
    chosen = rng.integers(len(values), size=(n_resamples, len(values)))
    resampled = _crossings(sizes, values[chosen].mean(axis=1))
    return float(_crossings(sizes, values.mean(axis=0)[None])[0]), resampled, len(values), sizes[-1]


def _percentiles(resampled, confidence, value):
    """Ends of the percentile interval, widened to contain `value`."""
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], method="inverted_cdf")
    return float(min(low, value)), float(max(high, value))


def _crossings(sizes, curves):
    """Crossing of each curve (c, n_sizes) from at or below 0 to above it for good."""
    behind = curves <= 0
    last = np.where(behind.any(axis=1), len(sizes) - 1 - np.argmax(behind[:, ::-1], axis=1), -1)
    crossings = np.full(len(curves), sizes[0])
    crossings[last == len(sizes) - 1] = np.inf
    inner = (last >= 0) & (last < len(sizes) - 1)
    i = last[inner]
    before, after = curves[inner, i], curves[inner, i + 1]
    logs = np.log(sizes)
    crossings[inner] = np.exp(logs[i] - before / (after - before) * (logs[i + 1] - logs[i]))
    return crossings


def paired_t_test(a, b):
    """Two-sided paired t-test of equal means.

    Returns
    -------
    t : float
    p : float
    """
    return _t_test(a, b, 0.0)


def corrected_t_test(a, b, test_fraction):
    """Two-sided t-test for scores of repeated cross-validation or resampling, corrected for shared training data.

    The variance of the mean of J differences is taken as (1/J + test/train) s^2 instead of s^2 / J.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Scores of two learners on the same J splits.
    test_fraction : float in (0, 1)
        Part of the examples in the test set of a split (0.2 for 5 folds).

    References
    ----------
    Nadeau & Bengio (2003), section 4.
    """
    test_fraction = check_real("test_fraction", test_fraction, 0, 1, open_low=True, open_high=True)
    return _t_test(a, b, test_fraction / (1 - test_fraction))


def _t_test(a, b, extra):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValueError(f"a and b must be one-dimensional, equally long, with at least 2; got {a.shape} and {b.shape}")
    difference = a - b
    error = np.sqrt((1 / len(a) + extra) * difference.var(ddof=1))
    if error == 0:
        return (0.0, 1.0) if difference[0] == 0 else (float(np.sign(difference[0]) * np.inf), 0.0)
    t = difference.mean() / error
    return float(t), float(2 * stats.t.sf(abs(t), len(a) - 1))


def _ratios(rows, min_gain):
    """T of each row, NaN where there is too little to gain."""
    gain = rows["best"] - rows["constant"]
    return (rows["accuracy"] - rows["constant"]) / gain.where((gain >= min_gain) & (gain > _NO_GAIN))


def _check_frame(frame, min_gain):
    check_real("min_gain", min_gain, 0, 1, open_high=True)
    missing = [c for c in _COLUMNS if c not in frame.columns]
    if missing:
        raise ValueError(f"frame must have the columns {', '.join(_COLUMNS)}; missing: {', '.join(missing)}")
    if frame.duplicated(["model", "size", "learner"]).any():
        raise ValueError("frame must hold one row for each model, size and learner; select one panel first")
