"""Marginal likelihoods of complete data under Dirichlet priors, as sums over the joint values of sets of variables."""

import math

import numpy as np
import pandas as pd
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from lib.discretize.columns import checked_frame
from lib.structures.encoding import discrete_codes
from lib.structures.information import JointCounts, check_codes

LARGE = 1e5  # imaginary rows of a cell from which on a difference of ln Gamma loses digits
LEAST = 1e-300  # imaginary rows of a cell


class DirichletCounts(JointCounts):
    """ln P(data of a variable | its parents) with the variable's table summed out, for the priors of K2 and BDeu.

    With alpha imaginary rows in each cell of a family's table, the score is a difference of two
    sums of

        ln Gamma(n + alpha) - ln Gamma(alpha)

    over the cells that have rows: one over the joint values of the family, and one over those of
    the parents alone, which have the imaginary rows of all their cells. The sums are remembered, so
    each set of variables is counted once.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_variables)
        Value v of each variable as 0 .. sizes[v] - 1; none is missing, as these sums are known for
        complete data only.
    sizes : array of int, shape (n_variables,)

    Raises
    ------
    ValueError
        If a code is none of its variable's.

    References
    ----------
    Cooper & Herskovits (1992), Theorem 1; Heckerman, Geiger & Chickering (1995), section 5.
    """

    def __init__(self, codes, sizes):
        super().__init__(check_codes("codes", codes, sizes, 0), sizes)

    def k2(self, child, parents):
        """Score of a family with one imaginary row a cell: the uniform prior of K2."""
        return self.mass(parents | {child}, 1.0) - self.mass(parents, float(self.sizes[child]))

    def bdeu(self, child, parents, equivalent_sample_size):
        """Score of a family with `equivalent_sample_size` imaginary rows in all, the same in each cell."""
        if not 0 < equivalent_sample_size < math.inf:
            allowed = "equivalent_sample_size must be a finite number above 0"
            raise ValueError(f"{allowed}; got {equivalent_sample_size!r}")
        alpha = equivalent_sample_size / min(math.prod(self.sizes[v] for v in parents), 10**300)
        return self.mass(parents | {child}, alpha / self.sizes[child]) - self.mass(parents, alpha)

    def mass(self, variables, alpha):
        """Sum of ln Gamma(n + alpha) - ln Gamma(alpha) over the joint values of a frozenset of variables."""
        alpha = max(alpha, LEAST)
        if (variables, alpha) not in self._sums:
            counts = self._counts(variables, frozenset())
            counts = counts[counts > 0]
            self._sums[variables, alpha] = float(_log_rising(alpha, counts).sum())
        return self._sums[variables, alpha]


def _log_rising(alpha, counts):
    """Ln Gamma(n + alpha) - ln Gamma(alpha) = ln of alpha (alpha + 1) ... (alpha + n - 1), for each of `counts`."""
    if alpha < LARGE:
        return gammaln(counts + alpha) - gammaln(alpha)
    # the difference of Stirling's series, whose next term is below 1e-17
    total = counts + alpha
    return (
        (alpha - 0.5) * np.log1p(counts / alpha)
        + counts * np.log(total)
        - counts
        + (1 / total - 1 / alpha) / 12
    )


def complete_codes(X):
    """Codes of the columns of `X` and the number of values of each, where there is no class and nothing is missing.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Discrete columns without missing values; floats must be whole numbers.

    Returns
    -------
    codes : ndarray of int, shape (n_samples, n_attributes)
    sizes : ndarray of int, shape (n_attributes,)
        The declared categories of a category dtype, and otherwise the values observed: 1 for a
        constant column.

    Raises
    ------
    ValueError
        If `X` has no row, or a missing value, fractions or infinity somewhere.
    """
    X = checked_frame(BaseEstimator(), X, reset=True)
    codes, sizes = discrete_codes(X, np.zeros(len(X), dtype=int))
    codes, sizes = codes[:, 1:], sizes[1:]
    missing = np.argwhere(codes < 0)
    if len(missing):
        raise ValueError(
            f"X must have no missing values; row {missing[0][0]}, column {missing[0][1]} is missing"
        )
    declared = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes])
    constant = ~declared & (codes == codes[0]).all(axis=0)
    return np.where(constant, 0, codes), np.where(constant, 1, sizes)
