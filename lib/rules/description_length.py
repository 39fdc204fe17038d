"""Description length: how many bits describe rules and the rows on which they are wrong."""

import numpy as np
from scipy.special import xlog1py, xlogy

REDUNDANCY = 0.5  # a rule's conditions may come in any order, so it takes half of the bits


def possible_conditions(table):
    """Return how many conditions the rules for a `Table` can have, at least 1."""
    n_conditions = 0
    for values, n_categories in zip(table.values, table.columns.sizes, strict=True):
        # one for each category, "<=" and ">=" for each value of a number
        n_conditions += len(values) if n_categories else 2 * len(values)
    return max(1, n_conditions)


def subset_bits(n, k, share):
    """Return how many bits say which k of n things are marked (Quinlan 1995; Cohen 1995).

    Each is expected to be marked with probability `share`.
    """
    return -(xlogy(k, share) + xlog1py(n - k, -share)) / np.log(2)


def rule_bits(k, n_possible):
    """Return how many bits describe a rule with k of `n_possible` conditions (Cohen 1995)."""
    # the number k itself takes log2 k bits, and log2 of this twice
    size = np.log2(np.maximum(k, 1))
    size = size + 2 * np.log2(np.maximum(size, 1))
    return REDUNDANCY * (size + subset_bits(n_possible, k, np.minimum(k / n_possible, 1)))


def exception_bits(right, wrong, positive, negative, share):
    """Return how many bits say on which rows rules are wrong (Quinlan 1995).

    First, errors among the larger of the two sides, covered rows and others, are named, with the
    rate that `share` lets expect. Then those of the other side are, whose number is known by then.

    Parameters
    ----------
    right, wrong : int or ndarray
        Rows that are covered, of the class and of others.
    positive, negative : int
        All rows, of the class and of others.
    share : float in (0, 1)
        Part of the errors that is expected among the covered rows.
    """
    missed = positive - right
    covered = right + wrong
    uncovered = positive + negative - covered
    errors = wrong + missed
    covered_is_larger = covered > uncovered
    covered_errors = np.where(covered_is_larger, share * errors, wrong)
    uncovered_errors = np.where(covered_is_larger, missed, (1 - share) * errors)
    covered_rate = np.minimum(covered_errors / np.maximum(covered, 1), 1)
    uncovered_rate = np.minimum(uncovered_errors / np.maximum(uncovered, 1), 1)
    return (
        np.log2(positive + negative + 1)
        + subset_bits(covered, wrong, covered_rate)
        + subset_bits(uncovered, missed, uncovered_rate)
    )
