"""The likeliest tree over all variables."""

import numpy as np
from sklearn.base import BaseEstimator

from lib.discretize.columns import checked_frame
from lib.structures.encoding import discrete_codes
from lib.structures.tan import tan_from_codes


def chow_liu(X):
    """Parents of each variable in the likeliest tree, by the algorithm of Chow and Liu.

    It is a maximum spanning tree of the mutual information of all pairs of variables, directed away
    from the first. The direction is arbitrary: all directions away from a root make the same
    distributions.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_variables)
        Discrete columns; floats must be whole numbers. NaN and None are missing values: the
        information of two variables comes from the rows where both are observed.

    Returns
    -------
    parents : tuple of tuples of int
        Variable v is the one in column v; the first has no parent, each other one has one.

    Raises
    ------
    ValueError
        If `X` has no row, or fractions or infinity somewhere.

    Notes
    -----
    It is the tree of tree-augmented naive Bayes where there is only one class. Of pairs with the
    same information, to 12 decimals, the first one in the order of columns is preferred.

    References
    ----------
    Chow & Liu (1968), section III.
    """
    X = checked_frame(BaseEstimator(), X, reset=True)
    one_class = np.zeros(len(X), dtype=int)
    codes, sizes = discrete_codes(X, one_class)
    # I(A; B | C) is I(A; B) where C is constant. Variable 0, the class, is dropped again.
    families = tan_from_codes(codes, sizes)[1:]
    return tuple(tuple(parent - 1 for parent in family[1:]) for family in families)
