"""Several learners over several data sets: Demsar's comparison of average ranks.

That is Friedman's test and Nemenyi's critical difference.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from lib.base.validation import check_integer, check_real
from lib.evaluation.intervals import LEVEL, are_tied


class RankComparison(NamedTuple):
    """Average ranks of learners and which of them differ.

    A named tuple of ranks (Series by learner; 1 is best), critical_difference (float; Nemenyi's),
    p_friedman (float) and groups (list of lists of learners that cannot be told apart).
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
    n_datasets, n_learners = scores.shape
    n_missing = int(scores.isna().to_numpy().sum())
    if n_datasets < 2 or n_learners < 3 or n_missing:
        allowed = "at least 2 data sets (rows) and 3 learners (columns) without gaps"
        shape = f"{n_datasets} x {n_learners}"
        raise ValueError(f"scores must have {allowed}; got {shape} with {n_missing} missing")
    # equal scores share a rank, also where only the order of summation tells them apart
    levels = [_score_levels(row) for row in scores.to_numpy()]
    levels = pd.DataFrame(levels, columns=scores.columns)
    ranks = (-levels).rank(axis=1).mean().sort_values(kind="stable")
    difference = nemenyi_difference(n_learners, n_datasets, confidence)
    return RankComparison(
        ranks=ranks,
        critical_difference=difference,
        p_friedman=_friedman_p_value(levels),
        groups=_groups(ranks, difference),
    )


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
    n_learners = check_integer("n_learners", n_learners, 2)
    n_datasets = check_integer("n_datasets", n_datasets, 1)
    confidence = check_real("confidence", confidence, 0, 1, open_low=True, open_high=True)
    # Demsar's Table 5(a): the studentised range over sqrt(2)
    q = stats.studentized_range.ppf(confidence, n_learners, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_learners * (n_learners + 1) / (6 * n_datasets)))


def _score_levels(row):
    """Number the different scores of a row, the lowest as 0; tied scores have one number."""
    order = np.argsort(row, kind="stable")
    rising = row[order]
    same_as_next = are_tied(rising[:-1], rising[1:])
    levels = np.zeros(len(row), dtype=int)
    levels[order[1:]] = np.cumsum(~same_as_next)
    return levels


def _friedman_p_value(scores):
    """P-value of Iman and Davenport's F with k - 1 and (k - 1)(N - 1) degrees of freedom.

    SciPy's statistic is corrected for ties.
    """
    n_datasets, n_learners = scores.shape
    if (scores.nunique(axis=1) == 1).all():
        return 1.0
    chi_square = stats.friedmanchisquare(*scores.to_numpy().T).statistic
    largest = n_datasets * (n_learners - 1)
    if np.isclose(chi_square, largest):  # the same order on every data set: F is infinite
        return 0.0
    # Iman & Davenport (1980), less conservative than chi square
    f = (n_datasets - 1) * chi_square / (largest - chi_square)
    return float(stats.f.sf(f, n_learners - 1, (n_learners - 1) * (n_datasets - 1)))


def _groups(ranks, difference):
    """The largest sets of two neighbours or more whose ranks differ by less than `difference`."""
    # learners start ... ends[start] - 1 are those that differ from `start` by less
    ends = np.searchsorted(ranks, ranks + difference)
    reaches_further = np.diff(ends, prepend=0) > 0  # than the group of the learner before it
    has_neighbours = ends - np.arange(len(ends)) > 1
    starts = np.flatnonzero(reaches_further & has_neighbours)
    return [list(ranks.index[start : ends[start]]) for start in starts]
