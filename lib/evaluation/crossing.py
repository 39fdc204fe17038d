"""The sample size from which one learner stays ahead of another."""

import numpy as np

from lib.evaluation.intervals import LEVEL, Estimate
from lib.evaluation.performance import paired_differences
from lib.validation import check_generator

RESAMPLES = 1000


def crossing_size(frame, first, second, rng, min_gain=0.02):
    """Sample size from which `first` stays ahead of `second` in mean T.

    Interpolated between sizes on a log scale; infinite if `second` is ahead at the largest size,
    the smallest size if `first` is ahead everywhere. The interval of 95% is of percentiles over
    1000 resamples of the models.

    Parameters
    ----------
    frame, first, second, min_gain
        As in `paired_differences`.
    rng : numpy.random.Generator

    Returns
    -------
    Estimate
    """
    crossings, n, _ = _resampled_crossings(frame, first, second, rng, min_gain)
    return Estimate(float(crossings[-1]), *_percentiles(crossings), n)


def crossing_ratio(frame, other, first, second, rng, min_gain=0.02):
    """Crossing size on `frame` divided by that on `other`, as a base-10 logarithm, over independent models.

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
    panels = [_resampled_crossings(panel, first, second, rng, min_gain) for panel in (frame, other)]
    before = np.all([crossings == sizes[0] for crossings, _, sizes in panels], axis=0)
    beyond = np.all([crossings > sizes[-1] for crossings, _, sizes in panels], axis=0)
    ratio = np.subtract(
        *(np.log10(np.minimum(crossings, 2 * sizes[-1])) for crossings, _, sizes in panels)
    )
    low, high = (_percentiles(ratio, (before | beyond)[:-1], end) for end in (-np.inf, np.inf))
    return Estimate(float(ratio[-1]), low[0], high[1], min(n for _, n, _ in panels))


def _resampled_crossings(frame, first, second, rng, min_gain):
    """Crossings of resamples, then that of all models; their number, and the sizes."""
    check_generator("rng", rng)
    differences = paired_differences(frame, first, second, min_gain).dropna()
    sizes, values = differences.columns.to_numpy(dtype=float), differences.to_numpy()
    if not len(values):
        return np.full(RESAMPLES + 1, np.nan), 0, sizes
    draws = rng.integers(len(values), size=(RESAMPLES, len(values)))
    means = np.append(values[draws].mean(axis=1), values.mean(axis=0)[None], axis=0)
    return _crossings(sizes, means), len(values), sizes


def _percentiles(values, unordered=False, end=np.nan):
    """Ends of the percentile interval of all `values` but the last, widened to contain that one."""
    resampled = np.where(unordered, end, values[:-1])
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return float(min(low, values[-1])), float(max(high, values[-1]))


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
