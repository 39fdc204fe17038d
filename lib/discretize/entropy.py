"""Discretisation by least entropy and minimum description length."""

import numpy as np
import pandas as pd

from lib.discretize.bins import Discretizer

TIE = 1e-12


class EntropyDiscretizer(Discretizer):
    """Cut each numeric column where the entropy of the classes falls most, as long as that shortens the description.

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
        waiting, accepted = [(0, len(counts))], []
        while waiting:
            start, stop = waiting.pop()
            cut = _best_cut(cumulative[start : stop + 1])
            if cut:
                accepted.append(start + cut)
                waiting += [(start, start + cut), (start + cut, stop)]
        after = np.sort(np.array(accepted, dtype=np.intp))
        low, high = highs[after - 1], lows[after]
        middle = low + (high / 2 - low / 2)  # as (high - low) / 2, which may overflow
        # below `high` even where rounding says otherwise
        return np.where(middle < high, middle, low)


def _blocks(values, y, n_classes):
    """Lowest and highest value, and class counts, of the runs of values between neighbouring boundary points."""
    numbers, distinct = pd.factorize(values, sort=True)
    counts = np.bincount(numbers * n_classes + y, minlength=len(distinct) * n_classes).reshape(
        -1, n_classes
    )
    pure = np.where((counts > 0).sum(axis=1) == 1, counts.argmax(axis=1), -1)
    starts = np.flatnonzero(
        np.append(True, (pure[1:] != pure[:-1]) | (pure[1:] < 0))[: len(distinct)]
    )
    ends = np.append(starts[1:], len(distinct))[: len(starts)] - 1
    return distinct[starts], distinct[ends], np.add.reduceat(counts, starts, axis=0)


def _best_cut(cumulative):
    """Where to cut a range, given the class counts below each of its boundary points; 0 if nowhere.

    A range with a boundary point inside has two classes at least.
    """
    below, total = cumulative[1:-1] - cumulative[0], cumulative[-1] - cumulative[0]
    if len(below) == 0:
        return 0
    above, n = total - below, total.sum()
    both = (_information(below) + _information(above)) / n
    best = np.flatnonzero(both <= both.min() + TIE)[0]
    entropy = _information(total) / n
    entropies = [entropy, *(_information(s[best]) / s[best].sum() for s in (below, above))]
    numbers = [np.count_nonzero(s) for s in (total, below[best], above[best])]
    return best + 1 if entropy - both[best] > _description_length(n, numbers, entropies) else 0


def _information(counts):
    """Number of examples times the entropy of their classes in bits, along the last axis."""
    n = counts.sum(axis=-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    return n * np.log2(n) - (counts * logs).sum(axis=-1)


def _description_length(n, numbers, entropies):
    """Least gain that pays for a cut of `n` examples, given k and Ent of S, S1 and S2 (Fayyad & Irani, section 3)."""
    k = numbers[0]
    log_partitions = k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)
    changes = k * entropies[0] - numbers[1] * entropies[1] - numbers[2] * entropies[2]
    return (np.log2(n - 1) + log_partitions - changes) / n
