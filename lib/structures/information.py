"""Mutual information of discrete variables from counts; a missing value (-1) leaves out its row."""

import itertools

import numpy as np
from scipy.special import xlogy

from lib.discretize.columns import MISSING

# Sums that are stored: half a gigabyte at most
MAX_STORED_SUMS = 2**20
# A table of this many entries per row is still counted faster than the rows are sorted
DENSE = 4
# Where variables have more joint values, these are numbered again, so that int64 holds the numbers
MAX_JOINT_VALUES = 2**62


def check_codes(name, codes, sizes, lowest):
    """Return `codes` as an array (n, n_variables) after a check of their type and range.

    Parameters
    ----------
    name : str
        Of the codes, for the error.
    codes : array of int, shape (n, n_variables)
    sizes : sequence of int
        Number of values of each variable.
    lowest : int
        0, or -1 where values may be missing.

    Raises
    ------
    ValueError
        If a code is below `lowest`, or not below the size of its variable, or no integer.
    """
    codes = np.asarray(codes)
    sizes = np.asarray(sizes)
    if codes.ndim != 2 or codes.shape[1:] != sizes.shape or codes.dtype.kind not in "iu":
        allowed = f"integers of shape (n, {sizes.size})"
        raise ValueError(f"{name} must be {allowed}; got {codes.dtype} of {codes.shape}")
    is_wrong = (codes < lowest) | (codes >= sizes)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        allowed = f"from {lowest} to {sizes[column] - 1} in column {column}"
        raise ValueError(f"{name} must be {allowed}; got {codes[row, column]} in row {row}")
    return codes


class JointCounts:
    """Entropies and mutual informations, as sums of n log n over the joint values of variables.

    The first `MAX_STORED_SUMS` sums are stored: of complete data, each set of variables is counted
    once.

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

    def information(self, i, j, condition):
        """I(i; j | condition) in nats times the number of rows where all of these are observed.

        Parameters
        ----------
        i, j : int
            Two variables.
        condition : frozenset of int
            Other variables.
        """
        incomplete = (condition | {i, j}) & self._incomplete
        # n I(i; j | z) = n (H(i, z) + H(j, z) - H(i, j, z) - H(z)), and n H = n log n - sum
        return (
            self._sum(condition | {i, j}, incomplete)
            - self._sum(condition | {i}, incomplete)
            - self._sum(condition | {j}, incomplete)
            + self._sum(condition, incomplete)
        )

    def _sum(self, variables, incomplete):
        """Sum of n log n over the joint values of `variables`.

        Only rows count where all variables of `incomplete` are observed.
        """
        key = variables, incomplete
        n_log_n = self._sums.get(key)
        if n_log_n is None:
            counts = self._counts(variables, incomplete)
            # Whole numbers have their n log n in a table
            terms = self._n_log_n.take(counts) if self._weights is None else xlogy(counts, counts)
            n_log_n = terms.sum()
            if len(self._sums) < MAX_STORED_SUMS:
                self._sums[key] = n_log_n
        return n_log_n

    def _counts(self, variables, incomplete):
        """Count the joint values of `variables`.

        Values of a wide table that do not occur may be left out.
        """
        # The joint value is one number whose digits, of different bases, are the codes
        values = np.zeros(self._columns.shape[1], dtype=np.intp)
        n_values = 1
        for v in sorted(variables):
            if n_values * self.sizes[v] > MAX_JOINT_VALUES:
                distinct, values = np.unique(values, return_inverse=True)
                n_values = len(distinct)
            values *= self.sizes[v]
            values += self._columns[v]
            n_values *= self.sizes[v]
        if self._weights is not None:
            rows = self._rows(incomplete)
            _, values = np.unique(values[rows], return_inverse=True)
            return np.bincount(values, self._weights[rows])
        if incomplete:
            values = values[self._rows(incomplete)]
        if n_values <= DENSE * len(values):
            return np.bincount(values)
        _, counts = np.unique(values, return_counts=True)
        return counts

    def _rows(self, incomplete):
        """Whether all variables of `incomplete` are observed in each row, (n_samples,)."""
        return self._observed[sorted(incomplete)].all(axis=0)


def conditional_mutual_information(codes, sizes, weights=None):
    """Mutual information I(E_i; E_j | C) of all pairs of attributes, given the class, in nats.

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
    counts = JointCounts(codes, sizes, weights)
    label = frozenset([0])
    n = len(sizes) - 1
    information = np.zeros((n, n))
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        n_rows = counts.n_rows(label | {i + 1, j + 1})
        pair_information = counts.information(i + 1, j + 1, label) / (n_rows or 1)
        information[i, j] = pair_information
        information[j, i] = pair_information
    return np.maximum(information, 0)  # but for rounding, none is below 0
