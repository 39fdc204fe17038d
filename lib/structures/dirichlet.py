"""Marginal likelihoods of complete data under Dirichlet priors, as sums over the joint values of sets of variables."""

import math

import numpy as np
from scipy.special import gammaln

from lib.structures.codes import discrete_codes
from lib.structures.information import JointCounts


class DirichletCounts(JointCounts):
    """ln P(data of a variable | its parents) with the variable's table summed out, for the priors of K2 and BDeu.

    With alpha imaginary rows in each cell of a family's table, the score is a difference of two sums of

        ln Gamma(n + alpha) - ln Gamma(alpha)

    over the cells that have rows: one over the joint values of the family, and one over those of the parents alone,
    which have the imaginary rows of all their cells. The sums are remembered, so each set of variables is counted once.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_variables)
        Value v of each variable as 0 .. sizes[v] - 1; none is missing, as these sums are known for complete data only.
    sizes : array of int, shape (n_variables,)

    References
    ----------
    Cooper & Herskovits (1992), Theorem 1; Heckerman, Geiger & Chickering (1995), section 5.
    """

    def k2(self, child, parents):
        """Score of a family with one imaginary row a cell: the uniform prior of K2."""
        return self.mass(parents | {child}, 1.0) - self.mass(parents, float(self.sizes[child]))

    def bdeu(self, child, parents, equivalent_sample_size):
        """Score of a family with `equivalent_sample_size` imaginary rows in all, the same in each cell."""
        alpha = equivalent_sample_size / math.prod(self.sizes[v] for v in parents)
        return self.mass(parents | {child}, alpha / self.sizes[child]) - self.mass(parents, alpha)

    def mass(self, variables, alpha):
        """Sum of ln Gamma(n + alpha) - ln Gamma(alpha) over the joint values of a frozenset of variables."""
        if (variables, alpha) not in self._sums:
            counts = self._counts(variables, frozenset())
            counts = counts[counts > 0]
            self._sums[variables, alpha] = float((gammaln(counts + alpha) - gammaln(alpha)).sum())
        return self._sums[variables, alpha]


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

    Raises
    ------
    ValueError
        If `X` has no row, or a missing value, fractions or infinity somewhere.
    """
    codes, sizes = discrete_codes(X, np.zeros(len(X), dtype=int))
    missing = np.argwhere(codes[:, 1:] < 0)
    if len(missing):
        raise ValueError(f"X must have no missing values; row {missing[0][0]}, column {missing[0][1]} is missing")
    return codes[:, 1:], sizes[1:]
