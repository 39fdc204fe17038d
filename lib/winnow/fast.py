"""Winnow's loop, compiled: equal to `lib.winnow.online.present_examples`, but for rounding.

`train` takes rows of 0 and 1 and has all attributes, or all and their complements, in view.
`train_active` takes lists of the active attributes, so that its time follows their number.
"""

import numpy as np

from lib.base.compiled import assign, compiled

LANES = 8  # sums side by side, which the processor adds as one vector
LOWEST = np.finfo(float).tiny  # the smallest normal number


def pad_columns(rows):
    """Add columns of zeros to rows (s, n) until their number is a multiple of `LANES`."""
    missing = -rows.shape[1] % LANES
    return np.pad(rows, ((0, 0), (0, missing))) if missing else rows


@compiled()
def train(rows, n, labels, order, n_passes, weights, weighted_changes, n_presented, rule):
    """Present the rows `order` in each pass, changing `weights` where the rule says so.

    Parameters
    ----------
    rows : (s, w) uint8
        As from `pad_columns`.
    n : int
        Attributes; columns beyond them are padding.
    labels : (s,) bool
    order : (v,) int64
        Rows in the order of presentation.
    n_passes : int
    weights : (n,) float64, or (2n,) for the attributes (x, 1 - x)
        Changed in place.
    weighted_changes : float64 like `weights`, or (0,) where no average is wanted
        Sum over presentations t = 1, 2, ... of t times the change of the weights at t, changed in
        place. The mean of the weights over T presentations is weights - weighted_changes / T, at
        the cost of updates only.
    n_presented : float
        Presentations before this call.
    rule : UpdateRule

    Returns
    -------
    n_mistakes, n_updates : int
    """
    present, absent = _split_weights(weights, n, rows.shape[1])
    present_changes, absent_changes = _split_weights(weighted_changes, n, rows.shape[1])
    averaging = len(weighted_changes) > 0
    lanes = np.zeros(LANES)
    n_mistakes = 0
    n_updates = 0
    for _ in range(n_passes):
        for i in order:
            z = _weight_sum(rows, i, present, absent, lanes)
            n_presented += 1.0
            mistaken, updating = _judge(z, labels[i], rule)
            n_mistakes += mistaken
            if updating:
                n_updates += 1
                factor, floor = _factor(labels[i], rule)
                if averaging:
                    _multiply_and_add(
                        rows,
                        i,
                        present,
                        absent,
                        factor,
                        floor,
                        n_presented,
                        present_changes,
                        absent_changes,
                    )
                else:
                    _multiply_weights(rows, i, present, absent, factor, floor)
    _join_weights(present, absent, n, weights)
    _join_weights(present_changes, absent_changes, n, weighted_changes)
    return n_mistakes, n_updates


@compiled()
def _judge(z, label, rule):
    """Whether a prediction is wrong, and whether it is wrong or near the threshold."""
    mistaken = ((z > rule.threshold) | (rule.inclusive & (z == rule.threshold))) != label
    near_threshold = (z > rule.threshold - rule.margin) & (z < rule.threshold + rule.margin)
    return mistaken, mistaken | near_threshold


@compiled()
def _factor(label, rule):
    """The factor of an update, and the least weight that it may multiply without underflow."""
    return (rule.promotion, 0.0) if label else (rule.demotion, LOWEST / rule.demotion)


@compiled()
def _weight_sum(rows, i, present, absent, lanes):
    """Z of a row: eight sums side by side, added in an order that no processor changes.

    They are stored in `lanes`, from which LLVM sees that they are one vector.
    """
    z0 = z1 = z2 = z3 = z4 = z5 = z6 = z7 = 0.0
    for j in range(0, rows.shape[1], LANES):
        z0 += _active_weight(rows, i, present, absent, j)
        z1 += _active_weight(rows, i, present, absent, j + 1)
        z2 += _active_weight(rows, i, present, absent, j + 2)
        z3 += _active_weight(rows, i, present, absent, j + 3)
        z4 += _active_weight(rows, i, present, absent, j + 4)
        z5 += _active_weight(rows, i, present, absent, j + 5)
        z6 += _active_weight(rows, i, present, absent, j + 6)
        z7 += _active_weight(rows, i, present, absent, j + 7)
    lanes[0] = z0
    lanes[1] = z1
    lanes[2] = z2
    lanes[3] = z3
    lanes[4] = z4
    lanes[5] = z5
    lanes[6] = z6
    lanes[7] = z7
    even = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6])
    odd = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7])
    return even + odd


@compiled()
def _active_weight(rows, i, present, absent, j):
    # both are read, whichever it is: a branch on random bits takes twenty times as long
    weight = present[j]
    complement_weight = absent[j]
    return weight if rows[i, j] else complement_weight


@compiled()
def _multiply_weights(rows, i, present, absent, factor, floor):
    """Multiply the weights of active attributes and complements, except those below `floor`."""
    # times 1 where a weight stays: the loop becomes one over vectors
    for j in range(rows.shape[1]):
        is_present = rows[i, j] != 0
        weight = present[j]
        complement_weight = absent[j]
        present[j] = weight * (factor if is_present & (weight >= floor) else 1.0)
        absent[j] = complement_weight * (
            1.0 if is_present | (complement_weight < floor) else factor
        )


@compiled()
def _multiply_and_add(
    rows, i, present, absent, factor, floor, n_presented, present_changes, absent_changes
):
    """Do the same as `_multiply_weights`, and add to `weighted_changes`."""
    timed_gain = (factor - 1.0) * n_presented
    for j in range(rows.shape[1]):
        is_present = rows[i, j] != 0
        weight = present[j]
        is_updated = is_present & (weight >= floor)
        present_changes[j] += timed_gain * weight if is_updated else 0.0
        present[j] = weight * (factor if is_updated else 1.0)
    for j in range(rows.shape[1]):
        is_absent = rows[i, j] == 0
        weight = absent[j]
        is_updated = is_absent & (weight >= floor)
        absent_changes[j] += timed_gain * weight if is_updated else 0.0
        absent[j] = weight * (factor if is_updated else 1.0)


@compiled()
def _split_weights(weights, n, width):
    """Weights of the n attributes and of their complements, each padded with zeros to (width,)."""
    present = np.zeros(width)
    absent = np.zeros(width)
    assign(present[: len(weights[:n])], weights[:n])
    assign(absent[: len(weights[n:])], weights[n:])
    return present, absent


@compiled()
def _join_weights(present, absent, n, weights):
    """Write back what `_split_weights` took apart; `assign` leaves out the padding."""
    assign(weights[:n], present)
    assign(weights[n:], absent)


@compiled()
def train_active(
    indptr, indices, labels, order, sizes, n_passes, weights, weighted_changes, n_presented, rule
):
    """Do the same as `train` for rows whose active attributes are listed.

    Parameters
    ----------
    indptr, indices : unsigned integers, which are twice as fast as signed ones
        Row i has the active attributes ``indices[indptr[i] : indptr[i + 1]]``.
    sizes : (v,) float64 in (0, 1]
        What part of a presentation each of `order` is: the power of its factor, and what it counts
        in the average.
    labels, order, n_passes, weights, weighted_changes, n_presented, rule
        As in `train`.

    Returns
    -------
    n_mistakes, n_updates : int
    """
    averaging = len(weighted_changes) > 0
    n_mistakes = 0
    n_updates = 0
    for _ in range(n_passes):
        for p in range(len(order)):
            i = order[p]
            start = np.intp(indptr[i])
            stop = np.intp(indptr[i + 1])
            z = _active_sum(indices, start, stop, weights)
            n_presented += sizes[p]
            mistaken, updating = _judge(z, labels[i], rule)
            n_mistakes += mistaken
            if not updating:
                continue
            n_updates += 1
            factor, floor = _factor(labels[i], rule)
            if sizes[p] < 1.0:
                factor **= sizes[p]
                floor = 0.0 if labels[i] else LOWEST / factor
            gain = factor - 1.0
            timed_gain = gain * n_presented
            for k in range(start, stop):
                j = indices[k]
                weight = weights[j]
                # Both tests keep weights normal numbers. The first spares most products that are
                # not, which take a hundred times as long; the second sees those that rounding lets
                # through.
                if weight >= floor and weight + gain * weight >= LOWEST:
                    weights[j] = weight + gain * weight
                    if averaging:
                        weighted_changes[j] += timed_gain * weight
    return n_mistakes, n_updates


@compiled()
def active_sums(indptr, indices, weights):
    """Z of each row of active attributes for each row of weights (k, m): shape (s, k)."""
    z = np.empty((len(indptr) - 1, len(weights)))
    for i in range(z.shape[0]):
        start = np.intp(indptr[i])
        stop = np.intp(indptr[i + 1])
        for k in range(z.shape[1]):
            z[i, k] = _active_sum(indices, start, stop, weights[k])
    return z


@compiled()
def _active_sum(indices, start, stop, weights):
    # four sums, so that additions need not wait for each other
    a = b = c = d = 0.0
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
