"""Tree-augmented naive Bayes."""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from lib.structures.encoding import discrete_codes
from lib.structures.information import conditional_mutual_information

DECIMALS = 12


def tan(X, y):
    """Parents of tree-augmented naive Bayes: of all trees over the attributes, the likeliest one.

    The tree is a maximum spanning tree of the conditional mutual information I(E_i; E_j | C),
    directed away from the first attribute; the class is a parent of all attributes.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Discrete columns; floats must be whole numbers. NaN and None are missing values: the
        information of two attributes comes from the rows where both are observed.
    y : array of shape (n_samples,)
        The class of each row.

    Returns
    -------
    parents : tuple of tuples of int
        Variable 0 is the class, variable i the attribute in column i - 1.

    Raises
    ------
    ValueError
        If `X` has fractions or infinity, `y` lacks a class, or the lengths differ.

    Notes
    -----
    Of pairs with the same information, to 12 decimals, the first one in the order of columns is
    preferred.

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), section 4.1, the procedure Construct-TAN.
    """
    return tan_from_codes(*discrete_codes(X, y))


def tan_from_codes(codes, sizes, weights=None):
    """Like `tan`, from codes (n_samples, n + 1) with the class first and -1 for missing; sizes (n + 1,).

    With `weights` (n_samples,), a row counts as so many.
    """
    information = conditional_mutual_information(codes, sizes, weights)
    if len(information) < 2:
        return ((), (0,))[: len(sizes)]
    return ((), (0,), *((0, int(i) + 1) for i in tree_parents(information)))


def tree_parents(weights):
    """Parent of each variable but the first in a maximum spanning tree, directed away from the first.

    It is Kruskal's, to which only the order matters: ranks tell a weight of zero from no link at
    all.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Of the links; those above the diagonal count, and of equal ones, to 12 decimals, the first
        is preferred.

    Returns
    -------
    parents : ndarray of int, shape (n - 1,)
    """
    pairs = np.triu_indices(len(weights), 1)
    order = np.argsort(-weights[pairs].round(DECIMALS), kind="stable")
    ranks = np.zeros(weights.shape)
    ranks[pairs[0][order], pairs[1][order]] = np.arange(1, len(order) + 1)
    return breadth_first_order(minimum_spanning_tree(ranks), 0, directed=False)[1][1:]
