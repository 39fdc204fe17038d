"""Several learners over several data sets: average ranks, Friedman's test and Nemenyi's critical difference."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from lib.evaluation.intervals import LEVEL
from lib.validation import check_integer, check_real

TIE = 1e-12  # of a score: rounding may take equal scores as far apart
EPS = np.finfo(float).eps


class RankComparison(NamedTuple):
    """Average ranks (1 is best), the difference that is significant, Friedman's test and groups not told apart.

    A named tuple of ranks (Series by learner), critical_difference (float), p_friedman (float) and
    groups (list of lists of learners).
    """

    ranks: pd.Series
    critical_difference: float
    p_friedman: float
    groups: list


def compare_ranks(scores, confidence=LEVEL):
    """Rank learners on each data set and say which average ranks differ.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_learners)
        Higher is better; at least two data sets and three learners, no gaps. Scores of a data set
        that differ by no more than rounding, in twelve digits, share a rank. Without names of
        columns learners are 0, 1, 2, ...
    confidence : float in (0, 1)

    Returns
    -------
    RankComparison
        ranks in rising order; groups are the largest sets of neighbours whose ranks differ by less
        than the critical difference. The test is asymptotic; with few data sets its p-value is
        rough, and 0 where all of them have the same order.

    Raises
    ------
    ValueError
        If there are too few rows or columns, or a score is missing or no number.

    References
    ----------
    Demsar (2006), section 3.2.2: Friedman's test with Iman and Davenport's F, Nemenyi's critical
    difference.
    """
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    try:
        scores = pd.DataFrame(scores).astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores must be a table of numbers: {error}") from None
    n, k = scores.shape
    if n < 2 or k < 3 or scores.isna().any(axis=None):
        allowed = "at least 2 data sets (rows) and 3 learners (columns) without gaps"
        raise ValueError(
            f"scores must have {allowed}; got {n} x {k} with {scores.isna().to_numpy().sum()} missing"
        )
    # equal scores share a rank, also where only the order of summation tells them apart
    scores = pd.DataFrame([_levels(row) for row in scores.to_numpy()], columns=scores.columns)
    ranks = (-scores).rank(axis=1).mean().sort_values(kind="stable")
    difference = nemenyi_difference(k, n, confidence)
    return RankComparison(ranks, difference, _friedman(scores), _groups(ranks, difference))


def nemenyi_difference(n_learners, n_datasets, confidence=LEVEL):
    """Smallest significant difference of average ranks: q sqrt(k (k + 1) / 6 N).

    Parameters
    ----------
    n_learners, n_datasets : int, at least 2 and 1
        k and N.
    confidence : float in (0, 1)
        Of all pairs together.

    Returns
    -------
    float

    References
    ----------
    Demsar (2006), section 3.2.2.
    """
    n_learners, n_datasets = (
        check_integer("n_learners", n_learners, 2),
        check_integer("n_datasets", n_datasets, 1),
    )
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    q = stats.studentized_range.ppf(confidence, n_learners, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_learners * (n_learners + 1) / (6 * n_datasets)))


def _levels(row):
    """Number the different scores of a row from the lowest on; those that only rounding tells apart have one number.

    Rounding is relative to the score itself, or that of a sum of the row's largest, whose rest is
    nearly 0.
    """
    order = np.argsort(row, kind="stable")
    below, above = row[order][:-1], row[order][1:]
    largest = np.abs(row[np.isfinite(row)]).max(initial=0.0)
    same = np.isclose(below, above, rtol=TIE, atol=8 * EPS * largest)
    levels = np.zeros(len(row), dtype=int)
    levels[order[1:]] = np.cumsum(~same)
    return levels


def _friedman(scores):
    """P-value of Iman and Davenport's F with (k - 1) and (k - 1)(N - 1) degrees of freedom; ties as SciPy has them."""
    n, k = scores.shape
    if (scores.nunique(axis=1) == 1).all():
        return 1.0
    chi = stats.friedmanchisquare(*scores.to_numpy().T).statistic
    if np.isclose(chi, n * (k - 1)):  # the same order everywhere
        return 0.0
    return float(stats.f.sf((n - 1) * chi / (n * (k - 1) - chi), k - 1, (k - 1) * (n - 1)))


def _groups(ranks, difference):
    """Neighbours that differ by less, from each learner on, where that reaches further than from the one before."""
    ends = np.searchsorted(ranks, ranks + difference)
    further = (np.diff(ends, prepend=0) > 0) & (ends - np.arange(len(ends)) > 1)
    return [list(ranks.index[start : ends[start]]) for start in np.flatnonzero(further)]
