"""Discretisation by least entropy and minimum description length."""

import numpy as np
import pandas as pd

from lib.discretize.bins import Discretizer

# Boundary points whose entropies differ by less are equally good
TIE = 1e-12


class EntropyDiscretizer(Discretizer):
    """Cut each numeric column where the entropy of the classes falls most, by Fayyad and Irani.

    A column is cut again as long as a cut shortens the description of the classes.

    A range S of N examples is cut at the boundary point T of least class information entropy
    ``E(T) = (|S1| Ent(S1) + |S2| Ent(S2)) / N``, and so are S1 and S2 in turn, if::

        Ent(S) - E(T) > log2(N - 1) / N + (log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N

    where k, k1 and k2 are the numbers of classes present. Boundary points are midpoints between
    neighbouring values that do not both belong to one and the same class; of equally good ones the
    lowest is taken. Missing values are ignored; other columns pass unchanged; a column without a
    cut has the single value "all".

    Attributes
    ----------
    cut_points_ : dict of column -> ndarray
        Increasing; empty where no cut was accepted.
    bins_ : dict of column -> Bins

    References
    ----------
    Fayyad & Irani (1993), sections 2 and 3; the criterion is that of their section 3.
    """

    def _cuts(self, values, y, n_classes):
        """Return the accepted cut points, increasing."""
        lows, highs, counts = _blocks(values, y, n_classes)
        cumulative = np.vstack([np.zeros(n_classes), counts.cumsum(axis=0)])
        ranges = [(0, len(counts))]  # of blocks, that may yet be cut
        accepted = []
        while ranges:
            start, stop = ranges.pop()
            cut = _best_cut(cumulative[start : stop + 1])
            if cut:
                accepted.append(start + cut)
                ranges.append((start, start + cut))
                ranges.append((start + cut, stop))
        blocks = np.sort(np.array(accepted, dtype=np.intp))  # each cut is below one of these
        low = highs[blocks - 1]
        high = lows[blocks]
        middle = low + (high / 2 - low / 2)  # half of each, as high - low may overflow
        # Where rounding makes the middle of two neighbouring floats the upper one, cut at the lower
        return np.where(middle < high, middle, low)


def _blocks(values, y, n_classes):
    """Lowest and highest value, and class counts, of the runs of values between boundary points.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    y : ndarray of int, shape (n,)
    n_classes : int

    Returns
    -------
    lows, highs : ndarray of shape (n_blocks,)
        Increasing.
    counts : ndarray of int, shape (n_blocks, n_classes)
    """
    codes, distinct = pd.factorize(values, sort=True)
    n_distinct = len(distinct)
    cells = codes * n_classes + y
    counts = np.bincount(cells, minlength=n_distinct * n_classes).reshape(-1, n_classes)
    # The only class of the examples with a value, or -1 where there are several
    is_pure = (counts > 0).sum(axis=1) == 1
    pure_class = np.where(is_pure, counts.argmax(axis=1), -1)
    # Fayyad & Irani, section 2: no best cut lies between two values of one and the same class
    is_boundary = (pure_class[1:] != pure_class[:-1]) | (pure_class[1:] < 0)
    starts = np.flatnonzero(np.append(True, is_boundary)[:n_distinct])
    ends = np.append(starts[1:], n_distinct)[: len(starts)] - 1
    return distinct[starts], distinct[ends], np.add.reduceat(counts, starts, axis=0)


def _best_cut(cumulative):
    """Return the block before which to cut a range of blocks, or 0 if no cut is accepted.

    Parameters
    ----------
    cumulative : ndarray of shape (n_blocks + 1, n_classes)
        Class counts below each block of the range, and below its end; a range of two blocks has two
        classes at least.
    """
    total = cumulative[-1] - cumulative[0]
    counts_below = cumulative[1:-1] - cumulative[0]
    if len(counts_below) == 0:
        return 0
    counts_above = total - counts_below
    n = total.sum()
    # E(T) of each boundary point T
    cut_entropy = (_information(counts_below) + _information(counts_above)) / n
    best = np.flatnonzero(cut_entropy <= cut_entropy.min() + TIE)[0]
    entropy = _information(total) / n
    gain = entropy - cut_entropy[best]
    if gain > _least_gain(total, entropy, counts_below[best], counts_above[best]):
        return best + 1
    return 0


def _information(counts):
    """Return the number of examples times the entropy of their classes in bits, (...,)."""
    n = counts.sum(axis=-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    return n * np.log2(n) - (counts * logs).sum(axis=-1)


def _least_gain(total, entropy, below, above):
    """Return the gain above which a cut shortens the description (Fayyad & Irani, section 3).

    This is the right side of the criterion in `EntropyDiscretizer`: the bits that tell where the
    cut is, and which classes are on either side, for each example.

    Parameters
    ----------
    total, below, above : ndarray of shape (n_classes,)
        Class counts of S, S1 and S2.
    entropy : float
        Ent(S) in bits.
    """
    n = total.sum()
    k = np.count_nonzero(total)
    k1 = np.count_nonzero(below)
    k2 = np.count_nonzero(above)
    entropy_below = _information(below) / below.sum()
    entropy_above = _information(above) / above.sum()
    # log2(3^k - 2), where 3^k may overflow
    log_partitions = k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)
    class_bits = k * entropy - k1 * entropy_below - k2 * entropy_above
    return (np.log2(n - 1) + log_partitions - class_bits) / n
