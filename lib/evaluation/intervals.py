"""Estimates with their confidence intervals."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from lib.validation import check_real


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


def mean_contrast(a, b, confidence=0.95):
    """Difference of the means of two independent samples, mean(a) - mean(b), with Welch's t interval."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(len(a), len(b)) < 2:
        difference = a.mean() - b.mean() if min(len(a), len(b)) else np.nan
        return Estimate(float(difference), -np.inf, np.inf, min(len(a), len(b)))
    difference = a.mean() - b.mean()
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(confidence)
    return Estimate(float(difference), float(interval.low), float(interval.high), min(len(a), len(b)))
