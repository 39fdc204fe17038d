"""The tables P(v | c) of discrete columns, one below the other."""

import numpy as np
from scipy.sparse import csr_array

from lib.discretize.columns import MISSING


class Tables:
    """Which row of the tables each value has.

    The first row of each table is that of a missing value. As all tables are one array, the log
    joint probability of an example is a sum of rows: a product of a sparse matrix and this array.

    Parameters
    ----------
    coding : Coding
        Of the discrete columns.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_columns,)
        Number of values each column can have.
    starts : ndarray of int, shape (n_columns,)
        First row of each table.
    n_rows : int
        Of all tables together.
    """

    def __init__(self, coding):
        self.coding = coding
        self.sizes = coding.sizes
        n_table_rows = self.sizes + 1
        self.starts = np.cumsum(n_table_rows) - n_table_rows
        self.n_rows = int(n_table_rows.sum())

    def rows(self, X):
        """Return the row of each value of the DataFrame `X`, (n_samples, n_columns).

        A value that was never seen counts as missing.
        """
        codes = np.maximum(self.coding(X), MISSING)
        return codes - MISSING + self.starts

    def indicators(self, rows):
        """Return `rows` as a sparse matrix (n_samples, n_rows) of ones."""
        n_samples, n_columns = rows.shape
        ones = np.ones(n_samples * n_columns)
        row_ends = np.arange(n_samples + 1) * n_columns
        return csr_array((ones, rows.ravel(), row_ends), shape=(n_samples, self.n_rows))

    def counts(self, rows, y, n_classes, weights=1.0):
        """Count how often each value comes with each class; missing values have counts of 0.

        Parameters
        ----------
        rows : ndarray of int, shape (n_samples, n_columns)
        y : ndarray of int, shape (n_samples,)
        n_classes : int
        weights : number or ndarray of shape (n_samples,)
            How often each example counts.

        Returns
        -------
        counts : ndarray of float, shape (n_rows, n_classes)
        """
        weighted_classes = np.eye(n_classes)[y] * np.reshape(weights, (-1, 1))
        counts = self.indicators(rows).T @ weighted_classes
        counts[self.starts] = 0
        return counts

    def proportions(self, counts, smoothing):
        """Return P(v | c) = (count + smoothing) / (n + smoothing m), (n_rows, n_classes).

        It is uniform where there is nothing to count.
        """
        n_table_rows = self.sizes + 1
        n = np.repeat(np.add.reduceat(counts, self.starts, axis=0), n_table_rows, axis=0)
        m = np.repeat(self.sizes, n_table_rows)[:, None]
        total = n + smoothing * m
        uniform = np.broadcast_to(1 / np.maximum(m, 1), counts.shape)
        return np.divide(counts + smoothing, total, out=uniform.copy(), where=total > 0)

    def logs(self, proportions):
        """Return ln P(v | c); it is 0 for a missing value, which is left out of products."""
        with np.errstate(divide="ignore"):
            logs = np.log(proportions)
        logs[self.starts] = 0
        return logs
