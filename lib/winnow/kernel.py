"""The one loop of Winnow, compiled: over rows of 0 and 1, and over lists of the active attributes."""

import numpy as np
from numba import njit

from lib.compiled import compiled

compiled_fast = compiled(fastmath={"reassoc", "contract", "nsz"})
LOWEST = np.finfo(float).tiny
SOON = 64  # presentations


@njit(nogil=True, inline="always")
def _update(x, active, weights, average, gain, late_gain):
    """Change the weights of the attributes whose value in `x` is `active`, and their averages."""
    for j in range(weights.shape[0]):
        weight = weights[j] if x[j] == active else 0.0
        average[j] += late_gain * weight
        weights[j] += gain * weight


@compiled_fast
def train(rows, positive, order, weights, average, step, promotion, demotion, threshold, margin, inclusive):
    """Present ``rows[order]`` once, updating `weights` in place after each mistake or thin margin.

    A demotion leaves out the weights that it would take below the smallest normal number. They are looked for
    only while the smallest of all weights is within `SOON` demotions of it.

    Parameters
    ----------
    rows : (s, n) uint8; positive : (s,) bool; order : (v,) int64, rows in the order of presentation
    weights : (n,) float64, or (2n,) for the attributes (x, 1 - x), updated in place
    average : float64 like `weights`, updated in place, or (0,) where no average is wanted
        Sum over presentations t of t times the change of the weights at t, so that the mean of the weights
        over T presentations is weights - average / T at the cost of updates only.
    step : int
        Presentations before this call.

    Returns
    -------
    mistakes, updates : int
    """
    mistakes = updates = check = 0
    n, averaging, careful = rows.shape[1], average.shape[0] > 0, False
    present, absent, presents, absents = weights[:n], weights[n:], average[:n], average[n:]
    for t in range(order.shape[0]):
        x, label = rows[order[t]], positive[order[t]]
        z = 0.0
        if absent.shape[0] > 0:
            for j in range(n):
                weight, other = present[j], absent[j]
                z += weight if x[j] else other
        else:
            for j in range(n):
                z += present[j] if x[j] else 0.0
        # bitwise, as a branch on labels that no processor can foretell would take longer than Z
        mistaken = ((z > threshold) | (inclusive & (z == threshold))) != label
        mistakes += mistaken
        if mistaken | (abs(z - threshold) < margin):
            updates += 1
            if t >= check:
                left = _demotions_left(weights, demotion)
                careful, check = left < SOON, t + max(left, SOON)
            if careful and not label:
                active = np.flatnonzero(np.concatenate((x != 0, x == 0))[: weights.shape[0]])
                _demote_carefully(active, weights, average, demotion, step + t + 1.0)
                continue
            gain = (promotion if label else demotion) - 1.0
            late_gain = gain * (step + t + 1.0)
            if averaging:
                _update(x, 1, present, presents, gain, late_gain)
                _update(x, 0, absent, absents, gain, late_gain)
            else:
                for j in range(n):
                    present[j] += gain * present[j] if x[j] else 0.0
                for j in range(absent.shape[0]):
                    absent[j] += 0.0 if x[j] else gain * absent[j]
    return mistakes, updates


@compiled()
def train_active(
    indptr, indices, positive, order, weights, average, step, promotion, demotion, threshold, margin, inclusive
):
    """Do the same as `train` at a cost that follows the active attributes.

    Those of row i are ``indices[indptr[i] : indptr[i + 1]]``; unsigned integers are twice as fast.
    """
    mistakes = updates = check = 0
    averaging, careful = average.shape[0] > 0, False
    for t in range(order.shape[0]):
        i = order[t]
        start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
        z = _total(indices, start, stop, weights)
        label = positive[i]
        mistaken = ((z > threshold) | (inclusive & (z == threshold))) != label
        mistakes += mistaken
        if mistaken | (abs(z - threshold) < margin):
            updates += 1
            if t >= check:
                left = _demotions_left(weights, demotion)
                careful, check = left < SOON, t + max(left, SOON)
            if careful and not label:
                _demote_carefully(indices[start:stop], weights, average, demotion, step + t + 1.0)
                continue
            gain = (promotion if label else demotion) - 1.0
            late_gain = gain * (step + t + 1.0)
            for k in range(start, stop):
                j = indices[k]
                if averaging:
                    average[j] += late_gain * weights[j]
                weights[j] += gain * weights[j]
    return mistakes, updates


@compiled()
def totals(indptr, indices, weights):
    """Z of each row of active attributes for each row of weights (k, m): shape (s, k)."""
    z = np.empty((indptr.shape[0] - 1, weights.shape[0]))
    for i in range(z.shape[0]):
        for k in range(z.shape[1]):
            z[i, k] = _total(indices, np.intp(indptr[i]), np.intp(indptr[i + 1]), weights[k])
    return z


@compiled()
def _total(indices, start, stop, weights):
    a = b = c = d = 0.0  # four sums, so that additions need not wait for each other
    k = start
    while k + 4 <= stop:
        a += weights[indices[k]]
        b += weights[indices[k + 1]]
        c += weights[indices[k + 2]]
        d += weights[indices[k + 3]]
        k += 4
    while k < stop:
        a += weights[indices[k]]
        k += 1
    return (a + b) + (c + d)


@compiled()
def _demotions_left(weights, demotion):
    return int(np.log(2 * LOWEST / weights.min()) / np.log(demotion))


@compiled()
def _demote_carefully(active, weights, average, demotion, presented):
    for j in active:
        demoted = weights[j] * demotion
        if demoted >= LOWEST:
            if average.shape[0] > 0:
                average[j] += presented * (demoted - weights[j])
            weights[j] = demoted
