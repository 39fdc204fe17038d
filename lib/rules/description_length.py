"""How many bits describe rules and the rows on which they are wrong."""

import numpy as np
from scipy.special import xlog1py, xlogy


def possible_conditions(table):
    """Number of conditions that rules for a `Table` can have: a category each, two for each value of a number."""
    sizes = table.columns.sizes
    return max(
        1,
        sum(
            len(values) * (1 if size else 2)
            for values, size in zip(table.values, sizes, strict=True)
        ),
    )


def subset_bits(n, k, share):
    """Bits that say which k of n things are marked, where each is expected to be with probability `share`."""
    return -(xlogy(k, share) + xlog1py(n - k, -share)) / np.log(2)


def rule_bits(k, n_possible):
    """Bits of a rule with k conditions among `n_possible`, half of them, as these come in any order (Cohen 1995)."""
    size = np.log2(np.maximum(k, 1))
    size = size + 2 * np.log2(np.maximum(size, 1))
    return 0.5 * (size + subset_bits(n_possible, k, np.minimum(k / n_possible, 1)))


def exception_bits(right, wrong, positive, negative, share):
    """Bits that say which rows are wrong, beginning with the larger of the two sides (Quinlan 1995).

    Parameters
    ----------
    right, wrong : int or ndarray
        Rows that are covered, of the class and of others.
    positive, negative : int
        All rows, of the class and of others.
    share : float in (0, 1)
        Part of the errors that is expected among the covered rows.
    """
    missed, covered = positive - right, right + wrong
    uncovered, errors = positive + negative - covered, wrong + missed
    larger = covered > uncovered
    of_covered = np.where(larger, share * errors, wrong) / np.maximum(covered, 1)
    of_uncovered = np.where(larger, missed, (1 - share) * errors) / np.maximum(uncovered, 1)
    bits = subset_bits(covered, wrong, np.minimum(of_covered, 1))
    return (
        np.log2(positive + negative + 1)
        + bits
        + subset_bits(uncovered, missed, np.minimum(of_uncovered, 1))
    )
