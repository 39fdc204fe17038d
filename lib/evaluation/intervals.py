"""Estimates with their confidence intervals."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from lib.validation import check_real


class Estimate(NamedTuple):
    """A value, the ends of its confidence interval and the number of independent trials behind it.

    A named tuple of value, low, high (float) and n (int).
    """

    value: float
    low: float
    high: float
    n: int


def mean_interval(values, confidence=0.95):
    """Mean of independent `values` with its t interval.

    Parameters
    ----------
    values : array-like of shape (n,)
    confidence : float in (0, 1)

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
    """Difference of the means of two independent samples, mean(a) - mean(b), with Welch's t interval.

    Parameters
    ----------
    a, b : array-like of shape (n_a,) and (n_b,)
    confidence : float in (0, 1)

    Returns
    -------
    Estimate
        With the smaller of n_a and n_b; infinite ends if that is below 2.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(len(a), len(b)) < 2:
        difference = a.mean() - b.mean() if min(len(a), len(b)) else np.nan
        return Estimate(float(difference), -np.inf, np.inf, min(len(a), len(b)))
    difference = a.mean() - b.mean()
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(confidence)
    return Estimate(float(difference), float(interval.low), float(interval.high), min(len(a), len(b)))


def proportion_interval(n_found, n, confidence=0.95):
    """Part of `n` independent trials, n_found / n, with Wilson's interval.

    Parameters
    ----------
    n_found, n : int
        With n_found from 0 to n.
    confidence : float in (0, 1)

    Returns
    -------
    Estimate
        From 0 to 1 and with value NaN for no trial at all.

    References
    ----------
    Wilson (1927), formula for a proportion.
    """
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    if n == 0:
        return Estimate(np.nan, 0.0, 1.0, 0)
    part, z = n_found / n, stats.norm.ppf((1 + confidence) / 2)
    middle = (part + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(part * (1 - part) / n + z**2 / (4 * n**2))
    return Estimate(float(part), float(np.clip(middle - half, 0, part)), float(np.clip(middle + half, part, 1)), n)
