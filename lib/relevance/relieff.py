"""RELIEF-F: attributes differ between near rows of other classes, and not within a class."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from lib.compiled import compiled
from lib.relevance.distance import difference, distances, scaled_rows
from lib.validation import check_integer, optional


def relieff(X, y, n_draws=None, n_neighbours=10, random_state=None):
    """Weigh each attribute by how well it tells near rows of different classes apart.

    For a row drawn of class y, with B nearest rows in each class c of frequency p_c, the weight of
    attribute j grows by

    ``sum over c != y of p_c / (1 - p_y) mean |x_j - miss_j|  -  mean |x_j - hit_j|``,

    and the weights are means over the rows drawn.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Differences of floats and integers are divided by their range; all other columns are
        categories, whose values are alike or not. None may be missing.
    y : array of shape (n_samples,)
        Two classes or more.
    n_draws : int from 1 to n_samples, or None
        Rows drawn without repetition, L in the survey; None takes all.
    n_neighbours : int, at least 1
        Of each class, B in the survey; all of a class that has fewer.
    random_state : int, RandomState or None
        Draws the rows, and decides which of equally near ones count.

    Returns
    -------
    weights : ndarray of shape (n_attributes,)
        From -1 to 1.

    Raises
    ------
    ValueError
        If a number is out of range, or X and y are not as said.

    References
    ----------
    Kononenko (1994), "Estimating attributes: analysis and extensions of RELIEF". Dietterich (1997),
    Table 4, in whose print the fractions are damaged.
    """
    check_integer("n_neighbours", n_neighbours, 1)
    columns, target = scaled_rows(BaseEstimator(), X, y)
    n_samples = len(target)
    n_draws = optional(check_integer, "n_draws", n_draws, 1, n_samples) or n_samples
    # in random order, the first rows are those drawn, and the first of equally near rows is random
    order = check_random_state(random_state).permutation(n_samples)
    return _weights(columns[:, order], target[order], np.bincount(target), n_draws, n_neighbours)


@compiled()
def _weights(columns, target, class_sizes, n_draws, n_neighbours):
    """Weights of the attributes from the first rows; of equally near rows the first count."""
    n_attributes = len(columns)
    weights = np.zeros(n_attributes)
    attributes = np.arange(n_attributes)
    frequencies = class_sizes / len(target)
    for row in range(n_draws):
        row_distances = distances(columns, attributes, row)
        for c in range(len(class_sizes)):
            is_hit = c == target[row]
            # hits count against an attribute, misses for it, by how frequent their class is
            factor = -1.0 if is_hit else frequencies[c] / (1 - frequencies[target[row]])
            class_distances = np.where(target == c, row_distances, np.inf)
            n_nearest = min(n_neighbours, class_sizes[c] - is_hit)  # the row itself is no hit
            for _ in range(n_nearest):
                neighbour = class_distances.argmin()
                class_distances[neighbour] = np.inf
                for j in attributes:
                    gap = difference(columns[j, row], columns[j, neighbour])
                    weights[j] += factor * gap / (n_nearest * n_draws)
    return weights
