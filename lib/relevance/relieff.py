"""RELIEF-F: attributes differ between near rows of other classes, and not within a class."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from lib.base.compiled import compiled
from lib.base.validation import check_integer, optional
from lib.relevance.distance import difference, distances, scaled_rows


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

    Notes
    -----
    Each row drawn is compared with all others. So the time of the default, which draws all, grows
    with the square of their number: for 50 attributes some 7 seconds at 20,000 rows, and half an
    hour at 200,000, where 500 draws take 4 seconds. Memory is that of the table.

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
    # `take` leaves each column in one piece; an index array would lay them out row by row
    columns = np.take(columns, order, axis=1)
    return _weights(columns, target[order], np.bincount(target), n_draws, n_neighbours)


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
            n_nearest = min(n_neighbours, class_sizes[c] - is_hit)  # the row itself is no hit
            for neighbour in _nearest(row_distances, target, c, n_nearest):
                for j in attributes:
                    gap = difference(columns[j, row], columns[j, neighbour])
                    weights[j] += factor * gap / (n_nearest * n_draws)
    return weights


@compiled()
def _nearest(row_distances, target, c, n_nearest):
    """The rows of class c that are nearest, nearest first; of equally near ones the first."""
    nearest = np.zeros(n_nearest, np.int64)
    n_found = 0
    farthest = np.inf  # beyond it no row counts
    for i in range(len(target)):
        # in this order, as most rows are too far: a branch on random classes takes longer
        if row_distances[i] >= farthest or target[i] != c:
            continue
        place = n_found
        while place > 0 and row_distances[nearest[place - 1]] > row_distances[i]:
            place -= 1
        if place == n_nearest:
            continue
        n_found = min(n_found + 1, n_nearest)
        for k in range(n_found - 1, place, -1):
            nearest[k] = nearest[k - 1]
        nearest[place] = i
        if n_found == n_nearest:
            farthest = row_distances[nearest[n_nearest - 1]]
    return nearest
