"""The one loop of Winnow, compiled."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def train(rows, positive, order, weights, average, step, promotion, demotion, threshold, margin, inclusive):
    """Present ``rows[order]`` once, updating `weights` in place after each mistake or thin margin.

    Parameters
    ----------
    rows : (s, m) uint8; positive : (s,) bool; order : (v,) int64, rows in the order of presentation
    weights : (m,) float64, updated in place
    average : (m,) float64, updated in place, or (0,) where no average is wanted
        Sum over presentations t of t times the change of the weights at t, so that the mean of the weights
        over T presentations is weights - average / T at the cost of updates only.
    step : int
        Presentations before this call.

    Returns
    -------
    mistakes, updates : int
    """
    mistakes = updates = 0
    m = weights.shape[0]
    averaging = average.shape[0] > 0
    for t in range(order.shape[0]):
        i = order[t]
        z = 0.0
        for j in range(m):
            z += weights[j] if rows[i, j] else 0.0
        label = positive[i]
        mistaken = (z > threshold or (inclusive and z == threshold)) != label
        mistakes += mistaken
        if mistaken or abs(z - threshold) < margin:
            updates += 1
            gain = (promotion if label else demotion) - 1.0
            late_gain = gain * (step + t + 1.0)
            if averaging:
                for j in range(m):
                    active = weights[j] if rows[i, j] else 0.0
                    average[j] += late_gain * active
                    weights[j] += gain * active
            else:
                for j in range(m):
                    weights[j] += gain * weights[j] if rows[i, j] else 0.0
    return mistakes, updates


@njit(nogil=True, cache=True)
def train_members(rows, positive, orders, weights, average, promotion, demotion, threshold, margin, inclusive):
    """Train each member on its own order of rows; orders (members, v), weights and average (members, m)."""
    for i in range(orders.shape[0]):
        train(rows, positive, orders[i], weights[i], average[i], 0, promotion, demotion, threshold, margin, inclusive)


def doubled(X):
    """The 2n attributes (x, 1 - x) of Grove & Roth, section 6."""
    return np.hstack([X, 1 - X])
