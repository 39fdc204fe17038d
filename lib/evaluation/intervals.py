"""Estimates with their confidence intervals."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from lib.base.validation import check_generator, check_integer, check_numbers, check_real

LEVEL = 0.95  # of intervals where no other confidence can be chosen
TIE = 1e-12  # relative difference by which rounding may take equal scores apart
EPS = np.finfo(float).eps


class Estimate(NamedTuple):
    """A value, the ends of its confidence interval and the number of independent trials behind it.

    A named tuple of value, low, high (float) and n (int).
    """

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def exact(cls, value, n=1):
        """A value without uncertainty, from `n` trials."""
        return cls(value, value, value, n)


def mean_interval(values, confidence=LEVEL, shared=0.0):
    """Mean of `values` with its t interval.

    Parameters
    ----------
    values : array-like of shape (n,)
    confidence : float in (0, 1)
    shared : float, at least 0
        As in `standard_error`; 0 for independent values.

    Returns
    -------
    Estimate
        With infinite ends for fewer than two values; without width where they are equal but for
        rounding; NaN where one of them is.
    """
    values = to_sample("values", values)
    shared = check_real("shared", shared, 0)
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    n = len(values)
    if n == 0:
        return Estimate(np.nan, -np.inf, np.inf, 0)
    mean = values.mean()
    if n == 1:
        return Estimate(float(mean), -np.inf, np.inf, 1)
    t_quantile = stats.t.ppf((1 + confidence) / 2, n - 1)
    half_width = t_quantile * standard_error(values, shared)
    return Estimate(float(mean), float(mean - half_width), float(mean + half_width), n)


def mean_ratio(numerators, denominators):
    """Geometric mean of paired ratios with its interval, the t interval of their logarithms.

    So a ratio and its inverse count alike.

    Parameters
    ----------
    numerators, denominators : array-like of shape (n,), positive

    Returns
    -------
    Estimate
    """
    ratios = np.asarray(numerators, float) / np.asarray(denominators, float)
    if not (ratios > 0).all():
        raise ValueError(f"numerators and denominators must be positive; got ratios {ratios}")
    logs = mean_interval(np.log(ratios))
    value, low, high = (float(np.exp(end)) for end in logs[:3])
    return Estimate(value, low, high, logs.n)


def to_sample(name, values):
    """Return values as float of shape (n,), or raise a ValueError that names them."""
    values = check_numbers(name, values, "numbers, of shape (n,)")
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n,); got {values.shape}")
    return values


def are_tied(a, b):
    """Return where two arrays of scores are equal, or only rounding tells them apart.

    That is where they agree in twelve digits, or differ by no more than the rounding of a sum of
    the largest scores along the last axis, which may cancel to nearly 0.
    """
    scores = np.maximum(np.abs(a), np.abs(b))
    is_finite = np.isfinite(scores)
    largest = scores.max(axis=-1, keepdims=True, where=is_finite, initial=0.0)
    return np.isclose(a, b, rtol=TIE, atol=8 * EPS * largest)


def are_constant(values):
    """Return whether finite numbers along the last axis are equal but for rounding, (...,)."""
    first = values[..., :1]
    return (are_tied(values, first) & np.isfinite(first)).all(axis=-1)


def standard_error(values, shared=0.0):
    """Standard error of the mean, sqrt((1/n + shared) s^2); 0 where only rounding is spread.

    Parameters
    ----------
    values : ndarray of shape (n,), n at least 2
    shared : float, at least 0
        0 for independent values; test / train for scores of resampled splits of the same rows,
        whose training sets overlap.

    References
    ----------
    Nadeau & Bengio (2003), section 4: the corrected resampled variance.
    """
    if are_constant(values):
        return 0.0
    return np.sqrt((1 / len(values) + shared) * values.var(ddof=1))


def skewed_mean(values, rng, worst=()):
    """Mean of `values` with a BCa bootstrap interval of 95%, for a skewed distribution.

    That is for independent values of which most are alike and a few far away.

    Parameters
    ----------
    values : array-like of shape (n,)
    rng : numpy.random.Generator
        Draws the resamples.
    worst : float, optional
        One such value is added for the lower end, where a sample may hold none of the rare ones. No
        end lies above the largest value.

    Returns
    -------
    Estimate
        With infinite ends for fewer than two values; with no spread where they are all equal; NaN
        where one of them is.

    References
    ----------
    Efron (1987), section 6.
    """
    check_generator("rng", rng)
    values = to_sample("values", values)
    worst = to_sample("worst", np.atleast_1d(worst))
    if not np.isfinite(worst).all():
        raise ValueError(f"worst must be finite; got {worst.tolist()}")
    if len(values) < 2 or are_constant(values) or np.isnan(values).any():
        return mean_interval(values)
    interval = _bca_interval(values, rng)
    cautious_interval = _bca_interval(np.append(values, worst), rng)
    mean = float(values.mean())
    # An end is NaN where BCa's acceleration is undefined; fmin and fmax then take the mean.
    low = float(np.fmin(cautious_interval.low, mean))
    high = float(np.fmax(interval.high, mean))
    return Estimate(mean, low, high, len(values))


def _bca_interval(sample, rng):
    """Interval of the mean, bias-corrected and accelerated: Efron (1987), section 6."""
    result = stats.bootstrap((sample,), np.mean, confidence_level=LEVEL, method="BCa", rng=rng)
    return result.confidence_interval


def smallest_mean(values):
    """Smallest of the means of columns, with an interval of 95% that allows for the picking.

    Each end is the smallest one of all columns, whose intervals allow for their number (Bonferroni).
    A column whose n values are all the same says that few others differ, not that none does: by the
    rule of three up to 3 / n of them may, here by as much as the largest value of any column.

    Parameters
    ----------
    values : array-like of shape (n, n_columns)
        Values of the same n trials.

    Returns
    -------
    Estimate
        With infinite ends for fewer than two trials; NaN where a value is.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"values must have shape (n, n_columns); got {values.shape}")
    n, n_columns = values.shape
    confidence = 1 - (1 - LEVEL) / n_columns
    estimates = []
    for column in values.T:
        estimate = mean_interval(column, confidence)
        if n > 1 and are_constant(column):
            half_width = min(3 / n, 1) * np.abs(values).max()
            low, high = estimate.value - half_width, estimate.value + half_width
            estimate = estimate._replace(low=float(low), high=float(high))
        estimates.append(estimate)
    return Estimate(*np.min(estimates, axis=0)[:3].tolist(), n)


def for_picking(n_estimates):
    """Return the confidence of each of several intervals that hold together with 95% (Bonferroni).

    See `smallest_of`.
    """
    return 1 - (1 - LEVEL) / check_integer("n_estimates", n_estimates, 1)


def smallest_of(estimates):
    """Smallest of several estimates, whose intervals have the confidence `for_picking`.

    Where all intervals hold their true values, the smallest true value lies between the smallest
    lower and the smallest upper end.

    Parameters
    ----------
    estimates : list of Estimate or OverSets
        Of the same number of intervals each.

    Returns
    -------
    Estimate or OverSets
        With the smallest of their numbers of trials.
    """
    first, *_ = estimates
    fields = np.min(np.asarray(estimates, dtype=float), axis=0).tolist()
    return type(first)(*fields)._replace(n=int(fields[3]))


def largest_of(estimates):
    """Largest of several estimates, as `smallest_of` the smallest one."""
    smallest = smallest_of([_negated(estimate) for estimate in estimates])
    return _negated(smallest)


def largest_size_of(estimates):
    """Largest of several estimates regardless of their signs, as `smallest_of` the smallest one."""
    return largest_of([_size(estimate) for estimate in estimates])


def _negated(estimate):
    value, low, high, n, *like_ends = estimate
    return type(estimate)(-value, -high, -low, n, *(-end for end in reversed(like_ends)))


def _size(estimate):
    """Return an estimate of an absolute value."""
    value, low, high, n, *like_ends = estimate
    ends = [*_ends_of_size(low, high)]
    if like_ends:
        ends += _ends_of_size(*like_ends)
    return type(estimate)(abs(value), *ends[:2], n, *ends[2:])


def _ends_of_size(low, high):
    return max(low, -high, 0.0), max(-low, high)


def widen_to_rows(estimate, n_rows):
    """Interval of a difference in accuracy, at least as wide as the rows of its file allow.

    Folds that agree by chance do not make a small file say more than its rows can: other rows would
    differ by one at least, or, where the learners never differ, on up to 3 / n of n rows (the rule
    of three).

    Parameters
    ----------
    estimate : tuple of value, low, high and n
        A difference of shares of the rows of one file.
    n_rows : int, at least 1
        Rows of the file.

    Returns
    -------
    Estimate
        With ends at least 1 / `n_rows` from the value, or 3 / `n_rows` where they were equal.
    """
    n_rows = check_integer("n_rows", n_rows, 1)
    value, low, high, n = estimate
    half_width = (3 if low == high else 1) / n_rows
    return Estimate(value, min(low, value - half_width), max(high, value + half_width), n)


def median_interval(values):
    """Median of `values` with the interval between two order statistics that holds it with 95%.

    Parameters
    ----------
    values : array-like of shape (n,)
        NaN is left out.

    Returns
    -------
    Estimate
        With the number of values that are not NaN; infinite ends for fewer than six.
    """
    values = np.asarray(values, dtype=float)
    values = np.sort(to_sample("values", values[~np.isnan(values)]))
    n = len(values)
    median = float(np.median(values)) if n else np.nan
    rank = int(stats.binom.ppf((1 - LEVEL) / 2, n, 0.5)) if n else 0
    if rank == 0:  # too few values for an interval
        return Estimate(median, -np.inf, np.inf, n)
    # from the rank-th smallest to the rank-th largest value
    return Estimate(median, float(values[rank - 1]), float(values[n - rank]), n)


def mean_contrast(a, b):
    """Difference of means, mean(a) - mean(b), of independent samples with Welch's 95% interval.

    Parameters
    ----------
    a, b : array-like of shape (n_a,) and (n_b,)

    Returns
    -------
    Estimate
        With the smaller of n_a and n_b; infinite ends if that is below 2; NaN where a value is.
    """
    a = to_sample("a", a)
    b = to_sample("b", b)
    n = min(len(a), len(b))
    if n == 0:
        return Estimate(np.nan, -np.inf, np.inf, 0)
    difference = float(a.mean() - b.mean())
    if n == 1:
        return Estimate(difference, -np.inf, np.inf, 1)
    if are_constant(np.append(a, b)):
        return Estimate.exact(0.0, n)
    if are_constant(a) and are_constant(b):  # for which Welch's degrees of freedom are 0 / 0
        return Estimate.exact(difference, n)
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(LEVEL)
    return Estimate(difference, float(interval.low), float(interval.high), n)


def proportion_interval(count, n):
    """Share of `n` independent trials, count / n, with Wilson's interval of 95%.

    Parameters
    ----------
    count : float
        From 0 to n; a trial that is undecided may count as a half.
    n : int, at least 0

    Returns
    -------
    Estimate
        From 0 to 1 and with value NaN for no trial at all.

    Raises
    ------
    ValueError
        If `n` is no integer of at least 0, or `count` no number from 0 to n.

    References
    ----------
    Wilson (1927): the score interval.
    """
    n = check_integer("n", n, 0)
    count = check_real("count", count, 0, n)
    if n == 0:
        return Estimate(np.nan, 0.0, 1.0, 0)
    share = count / n
    z = stats.norm.ppf((1 + LEVEL) / 2)
    # the roots p of (share - p)^2 = z^2 p (1 - p) / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half_width = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # the share itself is always inside, which rounding can miss where it is 0 or 1
    low = float(np.clip(centre - half_width, 0, share))
    high = float(np.clip(centre + half_width, share, 1))
    return Estimate(float(share), low, high, n)
