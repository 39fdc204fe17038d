"""RELIEF-F: attributes that differ between near rows of other classes, and not between near rows of one class."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from lib.compiled import compiled
from lib.relevance.distance import difference, scaled_rows
from lib.validation import check_integer, optional


def relieff(X, y, n_draws=None, n_neighbours=10, random_state=None):
    """Weigh each attribute by how well it tells near rows of different classes apart.

    For a row drawn of class y, with B nearest rows in each class c of frequency p_c, the weight of attribute j grows by

    ``sum over c != y of p_c / (1 - p_y) mean |x_j - miss_j|  -  mean |x_j - hit_j|``,

    and the weights are means over the rows drawn.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Differences of floats and integers are divided by their range; all other columns are categories, whose values
        are alike or not. None may be missing.
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
    Kononenko (1994), "Estimating attributes: analysis and extensions of RELIEF". Dietterich (1997), Table 4, in whose
    print the fractions are damaged.
    """
    check_integer("n_neighbours", n_neighbours, 1)
    values, classes, target = scaled_rows(BaseEstimator(), X, y)
    n_draws = optional(check_integer, "n_draws", n_draws, 1, len(target)) or len(target)
    order = check_random_state(random_state).permutation(len(target))
    target = target[order]
    shares = np.bincount(target, minlength=len(classes)) / len(target)
    return _weights(values[order], target, shares, n_draws, n_neighbours)


@compiled()
def _weights(values, target, shares, n_draws, n_neighbours):
    """Weights of the attributes from the first rows; of equally near rows the first count."""
    weights, n_classes = np.zeros(values.shape[1]), len(shares)
    near = np.zeros((n_classes, n_neighbours), np.int64)
    for row in range(n_draws):
        distances = np.full((n_classes, n_neighbours), np.inf)
        for other in range(len(values)):
            if other != row:
                far = 0.0
                for j in range(values.shape[1]):
                    far += difference(values[row, j], values[other, j])
                _insert(distances[target[other]], near[target[other]], far, other)
        for c in range(n_classes):
            n_near = (distances[c] < np.inf).sum()
            factor = -1.0 if c == target[row] else shares[c] / (1 - shares[target[row]])
            for other in near[c, :n_near]:
                for j in range(values.shape[1]):
                    far = difference(values[row, j], values[other, j])
                    weights[j] += factor * far / (n_near * n_draws)
    return weights


@compiled()
def _insert(distances, rows, far, row):
    """Put a row among the nearest ones, which are sorted, if it is nearer than the last."""
    i = len(distances) - 1
    if far >= distances[i]:
        return
    while i > 0 and distances[i - 1] > far:
        distances[i], rows[i] = distances[i - 1], rows[i - 1]
        i -= 1
    distances[i], rows[i] = far, row
