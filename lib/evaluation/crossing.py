"""The sample size from which one learner stays ahead of another."""

from typing import NamedTuple

import numpy as np

from lib.base.validation import check_generator
from lib.evaluation.intervals import LEVEL, TIE, Estimate
from lib.evaluation.performance import paired_differences

RESAMPLES = 1000


class _Bootstrap(NamedTuple):
    """Crossing sizes of resampled models."""

    resampled: np.ndarray  # (RESAMPLES,): crossing size of each resample
    observed: float  # crossing size of the models as they are
    sizes: np.ndarray  # (n_sizes,): sample sizes tried, rising
    n_models: int


def crossing_size(frame, first, second, rng, min_gain=0.02):
    """Sample size from which `first` stays ahead of `second` in mean T.

    Interpolated between sizes on a log scale; infinite if `second` is ahead at the largest size,
    the smallest size if `first` is ahead everywhere. The interval is the 95% percentile interval
    of a bootstrap with 1000 resamples of the models.

    Parameters
    ----------
    frame, first, second, min_gain
        As in `paired_differences`.
    rng : numpy.random.Generator

    Returns
    -------
    Estimate
    """
    bootstrap = _bootstrap_crossings(frame, first, second, rng, min_gain)
    low, high = _percentile_interval(bootstrap.resampled, bootstrap.observed)
    return Estimate(bootstrap.observed, low, high, bootstrap.n_models)


def crossing_ratio(frame, other, first, second, rng, min_gain=0.02):
    """Base-10 logarithm of the crossing size on `frame` divided by that on `other`.

    The two frames are independent samples.

    A crossing beyond the largest size counts as twice that size. Two crossings beyond the largest
    sizes, or two at or before the smallest, cannot be ordered: such a resample counts as minus
    infinity for the lower end of the interval and as infinity for the upper one.

    Parameters
    ----------
    frame, other : DataFrame
        Each as in `normalized_performance`.
    first, second, rng, min_gain
        As in `crossing_size`.

    Returns
    -------
    Estimate
        Positive where `first` gets ahead of `second` later on `frame`; with infinite ends where
        more resamples than a tail of the interval holds cannot be ordered.
    """
    numerator = _bootstrap_crossings(frame, first, second, rng, min_gain)
    denominator = _bootstrap_crossings(other, first, second, rng, min_gain)
    at_smallest = numerator.resampled == numerator.sizes[0]
    at_smallest &= denominator.resampled == denominator.sizes[0]
    beyond_largest = numerator.resampled > numerator.sizes[-1]
    beyond_largest &= denominator.resampled > denominator.sizes[-1]
    unordered = at_smallest | beyond_largest

    log_ratios = _log_crossing(numerator.resampled, numerator.sizes)
    log_ratios = log_ratios - _log_crossing(denominator.resampled, denominator.sizes)
    observed = _log_crossing(numerator.observed, numerator.sizes)
    observed = float(observed - _log_crossing(denominator.observed, denominator.sizes))

    # resamples that cannot be ordered count against each end
    low, _ = _percentile_interval(np.where(unordered, -np.inf, log_ratios), observed)
    _, high = _percentile_interval(np.where(unordered, np.inf, log_ratios), observed)
    n_models = min(numerator.n_models, denominator.n_models)
    return Estimate(observed, low, high, n_models)


def _log_crossing(crossings, sizes):
    """Base-10 logarithm of crossing sizes, one beyond the largest size as twice that size."""
    return np.log10(np.minimum(crossings, 2 * sizes[-1]))


def _bootstrap_crossings(frame, first, second, rng, min_gain):
    """Crossing sizes of resamples of the models; all NaN where no model counts."""
    check_generator("rng", rng)
    # a model counts if its gain is large enough at every size
    differences = paired_differences(frame, first, second, min_gain).dropna()
    sizes = differences.columns.to_numpy(dtype=float)
    values = differences.to_numpy()
    n_models = len(values)
    if n_models == 0:
        return _Bootstrap(np.full(RESAMPLES, np.nan), np.nan, sizes, n_models)
    draws = rng.integers(n_models, size=(RESAMPLES, n_models))
    resampled = _crossing_sizes(sizes, values[draws].mean(axis=1))
    [observed] = _crossing_sizes(sizes, values.mean(axis=0)[None])
    return _Bootstrap(resampled, float(observed), sizes, n_models)


def _percentile_interval(resampled, observed):
    """Ends of the percentile interval, widened to contain the observed value."""
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    # a quantile that is one of the values stays finite beside infinite ones
    low, high = np.quantile(resampled, tails, method="inverted_cdf")
    return float(min(low, observed)), float(max(high, observed))


def _crossing_sizes(sizes, curves):
    """Size at which each curve crosses from at or below 0 to above it for good.

    `curves` has shape (n_curves, n_sizes), the result (n_curves,).
    """
    curves = np.where(np.abs(curves) <= TIE, 0.0, curves)  # T is of the order of 1
    n_sizes = len(sizes)
    behind = curves <= 0
    last_behind = n_sizes - 1 - np.argmax(behind[:, ::-1], axis=1)
    last_behind = np.where(behind.any(axis=1), last_behind, -1)

    crossings = np.full(len(curves), sizes[0])
    crossings[last_behind == n_sizes - 1] = np.inf

    # linear interpolation in log size, between the last size behind and the next one
    inner = (last_behind >= 0) & (last_behind < n_sizes - 1)
    i = last_behind[inner]
    y_low = curves[inner, i]
    y_high = curves[inner, i + 1]
    log_sizes = np.log(sizes)
    step = log_sizes[i + 1] - log_sizes[i]
    crossings[inner] = np.exp(log_sizes[i] - y_low / (y_high - y_low) * step)
    return crossings
