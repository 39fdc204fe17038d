"""Means over data sets, with two intervals: on these sets, and on sets like these."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from lib.base.validation import check_real
from lib.evaluation.intervals import LEVEL, mean_interval, standard_error


class OverSets(NamedTuple):
    """A mean over families of data sets, with an interval for each of two questions.

    Attributes
    ----------
    value : float
    low, high : float
        On these sets: what other training and test rows of the same sets would do to the mean.
    n : int
        Families of data sets.
    like_low, like_high : float
        On sets like these: what other families, drawn from where these come from, would do to it.
    """

    value: float
    low: float
    high: float
    n: int
    like_low: float
    like_high: float


def mean_over_sets(differences, test_fraction, family_of, row_errors=None, confidence=LEVEL):
    """Mean of differences over families of data sets, each of which counts once.

    A sentence about the sets that an experiment ran is decided by the interval on these sets. Its
    variance is the sum of those of the sets, as of strata. Sets of one family share rows, so that
    the standard error of their mean is taken as the mean of theirs. The spread between sets holds
    that within them: where the corrected variance, a cautious one, makes the wider interval, the
    interval for sets like these is that on these sets, too.

    Parameters
    ----------
    differences : Series
        Of two learners' scores on a split, indexed by data set and split, in this order.
    test_fraction : float in [0, 1), or Series of them by data set
        Share of a set's rows that a split tests. Splits share training rows: see `standard_error`.
        0 for samples of a made task, which share none.
    family_of : callable
        Takes the name of a data set and returns that of its family, as `lib.datasets.family` does.
    row_errors : Series, optional
        By name, standard errors that come from the rows tested (`paired_row_error`), of sets whose
        splits all test the same ones. To these the variance between splits is added, as of runs
        with other random numbers.
    confidence : float in (0, 1)

    Returns
    -------
    OverSets
        Both intervals are infinite where there is a single family and it has a single split, and no
        row error.

    Raises
    ------
    ValueError
        If the index has a single level, or a number is out of range.

    References
    ----------
    Nadeau & Bengio (2003), section 4, for a set; Satterthwaite (1946) for the degrees of freedom.
    """
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    if differences.index.nlevels < 2:
        raise ValueError(
            f"differences must be indexed by data set and split; got {differences.index.names}"
        )
    row_errors = {} if row_errors is None else dict(row_errors)
    sets = []
    for name, values in differences.groupby(level=0, sort=False):
        values = values.to_numpy()
        if name in row_errors:
            error, degrees = _error_of_runs(values, row_errors[name]), np.inf
        else:
            fraction = test_fraction[name] if np.ndim(test_fraction) else test_fraction
            error, degrees = _error_of_splits(values, fraction), max(len(values) - 1, 1)
        sets.append((family_of(name), values.mean(), error, degrees))
    sets = pd.DataFrame(sets, columns=["family", "mean", "error", "degrees"])
    families = sets.groupby("family", sort=False).agg(
        {"mean": "mean", "error": "mean", "degrees": "min"}
    )

    like_these = mean_interval(families["mean"], confidence)
    variances = families["error"] ** 2
    half_width = np.inf
    if np.isfinite(variances).all():
        # the sum over degrees is 0 where all are infinite, or all variances 0
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = variances.sum() ** 2 / (variances**2 / families["degrees"]).sum()
        degrees = np.inf if np.isnan(degrees) else degrees
        error = np.sqrt(variances.sum()) / len(families)
        half_width = stats.t.ppf((1 + confidence) / 2, degrees) * error
    half_width = min(half_width, like_these.high - like_these.value)
    low, high = like_these.value - half_width, like_these.value + half_width
    return OverSets(like_these.value, float(low), float(high), *like_these[3:], *like_these[1:3])


def paired_row_error(first, second, n_rows):
    """Standard error of a difference of two error rates on the same test rows, cautiously.

    On how many rows just one of two classifiers is wrong is at most the sum of their mistakes, so
    that the variance is at most (first + second) / n. Where neither is ever wrong, other rows could
    still be: by the rule of three up to 3 of n.

    Parameters
    ----------
    first, second : float or array-like
        Error rates, in [0, 1].
    n_rows : int or array-like
        Test rows, at least 1.

    Returns
    -------
    float or ndarray
    """
    total = np.maximum(np.add(first, second), 3 / np.asarray(n_rows))
    return np.sqrt(total / n_rows)


def _error_of_splits(values, fraction):
    fraction = check_real("test_fraction", fraction, 0, 1, open_high=True)
    return standard_error(values, fraction / (1 - fraction)) if len(values) > 1 else np.inf


def _error_of_runs(values, row_error):
    variance = values.var(ddof=1) / len(values) if len(values) > 1 else 0.0
    return np.sqrt(row_error**2 + variance)
