"""Mutual information of discrete variables from counts; a missing value (-1) leaves out its row."""

import itertools

import numpy as np
from scipy.special import xlogy

from lib.discretize.columns import MISSING

REMEMBERED = 2**20  # sums: half a gigabyte at most
DENSE = 4  # a table of this many entries per row is still counted faster than sorted
# joint values of variables beyond which they are numbered anew, as an integer would not hold them
MANY = 2**62


def check_codes(name, codes, sizes, lowest):
    """Return `codes` as an array (n, len(sizes)); ValueError unless each column is from `lowest` to its size less one.

    Parameters
    ----------
    name : str
        Of the codes, for the error.
    codes : array of int, shape (n, n_variables)
    sizes : sequence of int
        Number of values of each variable.
    lowest : int
        0, or -1 where values may be missing.
    """
    codes, sizes = np.asarray(codes), np.asarray(sizes)
    if codes.ndim != 2 or codes.shape[1:] != sizes.shape or codes.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers of shape (n, {sizes.size}); got {codes.dtype} of {codes.shape}"
        )
    wrong = (codes < lowest) | (codes >= sizes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        allowed = f"from {lowest} to {sizes[column] - 1} in column {column}"
        raise ValueError(f"{name} must be {allowed}; got {codes[row, column]} in row {row}")
    return codes


class JointCounts:
    """Sums of n log n over the joint values of sets of variables: entropies and informations are made of these.

    Sums are remembered, the first `REMEMBERED` of them: of complete data, each set of variables is
    counted once.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_variables)
        Value v of each variable as 0 .. sizes[v] - 1, or -1 where missing.
    sizes : array of int, shape (n_variables,)
    weights : ndarray of shape (n_samples,), optional
        How many rows each one stands for.

    Raises
    ------
    ValueError
        If a code is none of its variable's.
    """

    def __init__(self, codes, sizes, weights=None):
        if len(sizes) == 0:
            raise ValueError("codes must have a column for each variable, at least one; got none")
        self._weights = weights
        codes = check_codes("codes", codes, sizes, MISSING)
        self._columns = np.ascontiguousarray(codes.T, dtype=np.intp)
        self.sizes = np.asarray(sizes).tolist()
        self._observed = self._columns >= 0
        self._incomplete = frozenset(np.flatnonzero(~self._observed.all(axis=1)).tolist())
        counts = np.arange(len(codes) + 1)
        self._n_log_n = counts * np.log(np.maximum(counts, 1))
        self._sums = {}

    def n_rows(self, variables):
        """Number of rows, or their weight, where all of a frozenset of variables are observed."""
        rows = self._rows(variables & self._incomplete)
        return int(rows.sum()) if self._weights is None else float(self._weights[rows].sum())

    def information(self, i, j, given):
        """I(i; j | given) in nats times the number of rows, in those where i, j and frozenset `given` are observed."""
        incomplete = (given | {i, j}) & self._incomplete
        joint, of_i, of_j = self._sum(given | {i, j}, incomplete), given | {i}, given | {j}
        return (
            joint
            - self._sum(of_i, incomplete)
            - self._sum(of_j, incomplete)
            + self._sum(given, incomplete)
        )

    def _sum(self, variables, incomplete):
        """Sum of n log n over the values of `variables`, in the rows where all `incomplete` ones are observed."""
        key = variables, incomplete
        found = self._sums.get(key)
        if found is None:
            counts = self._counts(variables, incomplete)
            found = (
                self._n_log_n.take(counts) if self._weights is None else xlogy(counts, counts)
            ).sum()
            if len(self._sums) < REMEMBERED:
                self._sums[key] = found
        return found

    def _counts(self, variables, incomplete):
        """How often the joint values occur; those of a wide table that do not occur may be left out."""
        values, size = np.zeros(self._columns.shape[1], dtype=np.intp), 1
        for v in sorted(variables):
            if size * self.sizes[v] > MANY:
                found, values = np.unique(values, return_inverse=True)
                size = len(found)
            values *= self.sizes[v]
            values += self._columns[v]
            size *= self.sizes[v]
        if self._weights is not None:
            rows = self._rows(incomplete)
            return np.bincount(np.unique(values[rows], return_inverse=True)[1], self._weights[rows])
        if incomplete:
            values = values[self._rows(incomplete)]
        return (
            np.bincount(values)
            if size <= DENSE * len(values)
            else np.unique(values, return_counts=True)[1]
        )

    def _rows(self, incomplete):
        return self._observed[sorted(incomplete)].all(axis=0)


def conditional_mutual_information(codes, sizes, weights=None):
    """I(E_i; E_j | C) of all pairs of attributes in nats.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n + 1)
        The class in column 0, the n attributes in the others; -1 is a missing value.
    sizes : array of int, shape (n + 1,)
        Number of values of each.
    weights : ndarray of shape (n_samples,), optional
        How many rows each one stands for.

    Returns
    -------
    information : ndarray of shape (n, n)
        Symmetric and not negative. The diagonal is the entropy H(E_i | C).

    Notes
    -----
    Each pair is counted in the rows where both are observed; if there is none, the information is
    0.

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), section 4.1.
    """
    counts, n, label = JointCounts(codes, sizes, weights), len(sizes) - 1, frozenset([0])
    information = np.zeros((n, n))
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        n_rows = counts.n_rows(label | {i + 1, j + 1})
        information[i, j] = information[j, i] = counts.information(i + 1, j + 1, label) / (
            n_rows or 1
        )
    return np.maximum(information, 0)
