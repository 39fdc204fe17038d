"""Tree-augmented naive Bayes."""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from lib.structures.encoding import discrete_codes
from lib.structures.information import conditional_mutual_information

# To which weights of links are compared
DECIMALS = 12


def tan(X, y):
    """Parents of tree-augmented naive Bayes, with the likeliest of all trees over the attributes.

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
        If `X` has fractions or infinity, `y` lacks a label, or the lengths differ.

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
    """Learn like `tan`, from the codes of the class and the attributes.

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
    parents : tuple of tuples of int
    """
    information = conditional_mutual_information(codes, sizes, weights)
    n_attributes = len(information)
    parents = [(), (0,)][: n_attributes + 1]  # of the class and the root of the tree
    if n_attributes > 1:
        parents += [(0, int(attribute) + 1) for attribute in tree_parents(information)]
    return tuple(parents)


def tree_parents(weights):
    """Parent of each variable but the first in a maximum spanning tree.

    The tree is directed away from the first variable.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Of the links; those above the diagonal count, and of equal ones, to 12 decimals, the first
        is preferred.

    Returns
    -------
    parents : ndarray of int, shape (n - 1,)
    """
    rows, columns = np.triu_indices(len(weights), 1)
    order = np.argsort(-weights[rows, columns].round(DECIMALS), kind="stable")
    # By Kruskal's algorithm, the tree depends on the order of the weights only. Ranks from 1 on
    # replace them, as scipy takes a weight of 0 for no link at all.
    ranks = np.zeros(weights.shape)
    ranks[rows[order], columns[order]] = np.arange(1, len(order) + 1)
    tree = minimum_spanning_tree(ranks)
    _, predecessors = breadth_first_order(tree, 0, directed=False)
    return predecessors[1:]
