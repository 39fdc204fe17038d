"""The tables P(v | c) of discrete columns, one below the other."""

import numpy as np
from scipy.sparse import csr_array

from lib.discretize.columns import MISSING


class Tables:
    """Which row of the tables each value has; the first row of each table is that of a missing value.

    Parameters
    ----------
    coding : Coding
        Of the discrete columns.
    """

    def __init__(self, coding):
        self.coding, self.sizes = coding, coding.sizes
        self.starts = np.cumsum(self.sizes + 1) - self.sizes - 1
        self.n_rows = int((self.sizes + 1).sum())

    def rows(self, X):
        """Row of each value of the DataFrame `X`, (n_samples, n_columns); never seen values count as missing."""
        return np.maximum(self.coding(X), MISSING) - MISSING + self.starts

    def indicators(self, rows):
        """Return `rows` as a sparse matrix (n_samples, n_rows) of ones."""
        n, d = rows.shape
        return csr_array(
            (np.ones(n * d), rows.ravel(), np.arange(n + 1) * d), shape=(n, self.n_rows)
        )

    def counts(self, rows, y, n_classes, weights=1.0):
        """How often each value comes with each class, (n_rows, n_classes), by weights (n_samples,); 0 for missing."""
        members = np.eye(n_classes)[y] * np.reshape(weights, (-1, 1))
        counts = self.indicators(rows).T @ members
        counts[self.starts] = 0
        return counts

    def proportions(self, counts, smoothing):
        """P(v | c) from `counts`, (n_rows, n_classes); uniform where there is nothing to count."""
        n = np.repeat(np.add.reduceat(counts, self.starts, axis=0), self.sizes + 1, axis=0)
        size = np.repeat(self.sizes, self.sizes + 1)[:, None]
        total = n + smoothing * size
        uniform = np.broadcast_to(1 / np.maximum(size, 1), counts.shape)
        return np.divide(counts + smoothing, total, out=uniform.copy(), where=total > 0)

    def logs(self, proportions):
        """Ln P(v | c), where a missing value, which is left out of products, has 0."""
        with np.errstate(divide="ignore"):
            logs = np.log(proportions)
        logs[self.starts] = 0
        return logs
