"""Marginal likelihoods of complete data under Dirichlet priors."""

import math

import numpy as np
import pandas as pd
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from lib.discretize.columns import checked_frame
from lib.structures.encoding import discrete_codes
from lib.structures.information import JointCounts, check_codes

# Imaginary rows of a cell from which on a difference of two ln Gamma loses digits
LARGE_ALPHA = 1e5
# Fewer imaginary rows of a cell count as so many: ln Gamma of 0 is infinite
MIN_ALPHA = 1e-300


class DirichletCounts(JointCounts):
    """Scores of families by K2 and BDeu: ln P(data of a variable | data of its parents).

    The variable's table is integrated out. With alpha imaginary rows in each cell of a family's
    table, the score is a difference of two sums of

        ln Gamma(n + alpha) - ln Gamma(alpha)

    over the cells that have rows: one sum is over the joint values of the family, and one over
    those of the parents alone, which have the imaginary rows of all their cells. The sums are
    stored, so that each set of variables is counted once.

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
        """Score of a family with as many imaginary rows in each cell.

        Parameters
        ----------
        child : int
        parents : frozenset of int
        equivalent_sample_size : float, above 0
            Imaginary rows in all.
        """
        if not 0 < equivalent_sample_size < math.inf:
            allowed = "equivalent_sample_size must be a finite number above 0"
            raise ValueError(f"{allowed}; got {equivalent_sample_size!r}")
        n_joint_values = math.prod(self.sizes[v] for v in parents)
        alpha = equivalent_sample_size / min(n_joint_values, 10**300)  # no float is much larger
        return self.mass(parents | {child}, alpha / self.sizes[child]) - self.mass(parents, alpha)

    def mass(self, variables, alpha):
        """Sum of ln Gamma(n + alpha) - ln Gamma(alpha) over the joint values of `variables`.

        Parameters
        ----------
        variables : frozenset of int
        alpha : float
            Imaginary rows of each joint value.
        """
        alpha = max(alpha, MIN_ALPHA)
        if (variables, alpha) not in self._sums:
            counts = self._counts(variables, frozenset())
            counts = counts[counts > 0]
            self._sums[variables, alpha] = float(_log_rising_factorial(alpha, counts).sum())
        return self._sums[variables, alpha]


def _log_rising_factorial(alpha, counts):
    """Return ln Gamma(n + alpha) - ln Gamma(alpha) of each count n.

    It is the logarithm of alpha (alpha + 1) ... (alpha + n - 1).
    """
    if alpha < LARGE_ALPHA:
        return gammaln(counts + alpha) - gammaln(alpha)
    # The difference of two of Stirling's series, whose next term is below 1e-17
    total = counts + alpha
    return (
        (alpha - 0.5) * np.log1p(counts / alpha)
        + counts * np.log(total)
        - counts
        + (1 / total - 1 / alpha) / 12
    )


def complete_codes(X):
    """Return codes of the columns of `X`, where there is no class and no value is missing.

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
    one_class = np.zeros(len(X), dtype=int)
    codes, sizes = discrete_codes(X, one_class)
    codes = codes[:, 1:]
    sizes = sizes[1:]
    missing = np.argwhere(codes < 0)
    if len(missing):
        row, column = missing[0]
        raise ValueError(f"X must have no missing values; row {row}, column {column} is missing")
    # A constant column has 1 value here, where `discrete_codes` counts 2, unless it declares more
    is_declared = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes])
    is_constant = ~is_declared & (codes == codes[0]).all(axis=0)
    return np.where(is_constant, 0, codes), np.where(is_constant, 1, sizes)
