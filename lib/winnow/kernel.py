"""The one loop of Winnow, compiled: over rows of 0 and 1 as bits, and over lists of the active attributes."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once_value, for_range, unpack_tuple
from numba.extending import intrinsic

from lib.compiled import assign, compiled

LANES = 8  # weights in a vector of the processor, among which a byte of a row chooses
LOWEST = np.finfo(float).tiny
_ONE, _VECTOR = ir.VectorType(ir.DoubleType(), 1), ir.VectorType(ir.DoubleType(), LANES)
_CHOICE = ir.VectorType(ir.IntType(1), LANES)


def pack(rows):
    """Bytes (s, ceil(n / 8)) of the rows (s, n) of 0 and 1, the first attribute in the lowest bit; and n."""
    return np.packbits(rows, axis=1, bitorder="little"), rows.shape[1]


def _sweep(updating, averaging):
    """Make a pass over weights (2, w), of x and 1 - x, eight at a time, in LLVM's words: numba's are slower.

    The active weights of `row` are multiplied by `factor`, except below `LOWEST`, and `late_gain` times each is
    added to its average. What the sweep returns is Z of the row `following` then.
    """

    def generate(context, builder, signature, arguments):
        kinds = signature.args[:3]
        bits, *sums = (context.make_array(kind)(context, builder, a) for kind, a in zip(kinds, arguments, strict=False))
        width = unpack_tuple(builder, bits.shape)[1]
        rows = [builder.gep(bits.data, [builder.mul(i, width)]) for i in arguments[3:5]]
        weights, average = (builder.bitcast(array.data, _VECTOR.as_pointer()) for array in sums)
        factor, late_gain = (_shuffle(builder, builder.bitcast(a, _ONE), [0] * LANES) for a in arguments[5:])
        lowest, nothing = (ir.Constant(_VECTOR, [number] * LANES) for number in (LOWEST, 0.0))
        z = alloca_once_value(builder, nothing)
        with for_range(builder, width) as loop:
            present, found = (builder.bitcast(builder.load(builder.gep(row, [loop.index])), _CHOICE) for row in rows)
            halves = []
            for active, k in (present, loop.index), (builder.not_(present), builder.add(loop.index, width)):
                weight = builder.load(builder.gep(weights, [k]), align=8)
                if updating:
                    changed = builder.fmul(factor, weight)
                    active = builder.and_(active, builder.fcmp_ordered(">=", changed, lowest))
                    if averaging:
                        mean = builder.gep(average, [k])
                        late = builder.fmul(late_gain, builder.select(active, weight, nothing))
                        builder.store(builder.fadd(builder.load(mean, align=8), late), mean, align=8)
                    weight = builder.select(active, changed, weight)
                    builder.store(weight, builder.gep(weights, [k]), align=8)
                halves.append(weight)
            builder.store(builder.fadd(builder.load(z), builder.select(found, *halves)), z)
        total = builder.load(z)
        for half in 4, 2, 1:
            parts = range(half), range(half, 2 * half)
            total = builder.fadd(*(_shuffle(builder, total, part) for part in parts))
        return builder.bitcast(total, ir.DoubleType())

    @intrinsic
    def sweep(typing, bits, weights, average, row, following, factor, late_gain):
        return types.float64(bits, weights, average, row, following, factor, late_gain), generate

    return sweep


def _shuffle(builder, vector, lanes):
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes)))


_look, _update, _update_averages = _sweep(False, False), _sweep(True, False), _sweep(True, True)


@compiled()
def train(bits, n, positive, order, weights, average, step, promotion, demotion, threshold, margin, inclusive):
    """Present the rows `order` once, updating `weights` in place after each mistake or thin margin.

    A demotion leaves out the weights that it would take below the smallest normal number.

    Parameters
    ----------
    bits, n : rows, as from `pack`
    positive : (s,) bool; order : (v,) int64, rows in the order of presentation
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
    mistakes = updates = 0
    averaging, width = average.shape[0] > 0, LANES * bits.shape[1]
    places = np.arange(weights.shape[0])
    places[n:] += width - n
    wide, wide_average = np.zeros(2 * width), np.zeros(2 * width if averaging else 0)
    wide[places], wide_average[places[: average.shape[0]]] = weights, average
    z = _look(bits, wide, wide_average, order[0], order[0], 1.0, 0.0)
    for t in range(order.shape[0]):
        i, following = order[t], order[min(t + 1, order.shape[0] - 1)]
        label = positive[i]
        # bitwise, as a branch on labels that no processor can foretell would take longer than Z
        mistaken = ((z > threshold) | (inclusive & (z == threshold))) != label
        mistakes += mistaken
        if not (mistaken | (abs(z - threshold) < margin)):
            z = _look(bits, wide, wide_average, i, following, 1.0, 0.0)
            continue
        updates += 1
        factor = promotion if label else demotion
        late_gain = (factor - 1.0) * (step + t + 1.0)
        if averaging:
            z = _update_averages(bits, wide, wide_average, i, following, factor, late_gain)
        else:
            z = _update(bits, wide, wide_average, i, following, factor, late_gain)
    assign(weights, wide[places])
    assign(average, wide_average[places[: average.shape[0]]])
    return mistakes, updates


@compiled()
def train_active(
    indptr, indices, positive, order, weights, average, step, promotion, demotion, threshold, margin, inclusive
):
    """Do the same as `train` at a cost that follows the active attributes.

    Those of row i are ``indices[indptr[i] : indptr[i + 1]]``; unsigned integers are twice as fast.
    """
    mistakes = updates = 0
    averaging = average.shape[0] > 0
    for t in range(order.shape[0]):
        i = order[t]
        start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
        z = _total(indices, start, stop, weights)
        label = positive[i]
        mistaken = ((z > threshold) | (inclusive & (z == threshold))) != label
        mistakes += mistaken
        if mistaken | (abs(z - threshold) < margin):
            updates += 1
            gain = (promotion if label else demotion) - 1.0
            late_gain = gain * (step + t + 1.0)
            for k in range(start, stop):
                j = indices[k]
                weight = weights[j]
                if weight + gain * weight >= LOWEST:
                    weights[j] = weight + gain * weight
                    if averaging:
                        average[j] += late_gain * weight
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
