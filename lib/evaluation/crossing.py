"""The sample size from which one learner stays ahead of another."""

import numpy as np

from lib.evaluation.intervals import Estimate
from lib.evaluation.normalized import paired_differences
from lib.validation import check_generator, check_integer, check_real


def crossing_size(frame, first, second, rng, min_gain=0.02, confidence=0.95, n_resamples=1000):
    """Sample size from which `first` stays ahead of `second` in mean T.

    Interpolated between sizes on a log scale; infinite if `second` is ahead at the largest size, the smallest size
    if `first` is ahead everywhere. The interval is of percentiles over resampled models.

    Parameters
    ----------
    frame, first, second, min_gain, confidence
        As in `paired_comparison`.
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

    Parameters
    ----------
    frame, other : DataFrame
        Each as in `normalized_performance`.
    first, second, rng, min_gain, confidence, n_resamples
        As in `crossing_size`.

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
