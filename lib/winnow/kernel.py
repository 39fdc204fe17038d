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
    axis = 1 if rows.shape[1] % LANES else None  # without an axis numpy takes a quarter of the time
    return np.packbits(rows, axis, bitorder="little").reshape(len(rows), -1), rows.shape[1]


def _sweep(updating=False, averaging=False, careful=False):
    """Make a pass over weights (w / 8, 2, 8), of eight x and their 1 - x in turn, in LLVM's words: numba's are slower.

    The active weights of `row` are multiplied by `factor`, if careful except those below `floor`,
    and `moment` times what each gains is added to its average. What the sweep returns is Z of the
    row `following` then.
    """

    def generate(context, builder, signature, arguments):
        kinds = signature.args[:3]
        bits, *sums = (
            context.make_array(kind)(context, builder, a)
            for kind, a in zip(kinds, arguments, strict=False)
        )
        width = unpack_tuple(builder, bits.shape)[1]
        rows = [builder.gep(bits.data, [builder.mul(i, width)]) for i in arguments[3:5]]
        weights, average = (builder.bitcast(array.data, _VECTOR.as_pointer()) for array in sums)
        factor, moment, floor = (
            _shuffle(builder, builder.bitcast(a, _ONE), [0] * LANES) for a in arguments[5:]
        )
        one, nothing = (ir.Constant(_VECTOR, [number] * LANES) for number in (1.0, -0.0))
        late_gain = builder.fmul(builder.fsub(factor, one), moment)
        z = alloca_once_value(builder, nothing)
        with for_range(builder, width) as loop:
            here, there = (builder.load(builder.gep(row, [loop.index])) for row in rows)
            present, absent, found = (
                builder.bitcast(byte, _CHOICE) for byte in (here, builder.not_(here), there)
            )
            halves = []
            first = builder.shl(loop.index, width.type(1))
            for active, k in (present, first), (absent, builder.or_(first, width.type(1))):
                weight = builder.load(builder.gep(weights, [k]), align=8)
                if careful:
                    active = builder.and_(active, builder.fcmp_ordered(">=", weight, floor))
                if averaging:
                    mean = builder.gep(average, [k])
                    late = builder.select(active, builder.fmul(late_gain, weight), nothing)
                    builder.store(builder.fadd(builder.load(mean, align=8), late), mean, align=8)
                # times 1 where a weight stays, as the next load would wait for a store of some
                # lanes
                if updating:
                    weight = builder.fmul(builder.select(active, factor, one), weight)
                    builder.store(weight, builder.gep(weights, [k]), align=8)
                halves.append(weight)
            builder.store(builder.fadd(builder.load(z), builder.select(found, *halves)), z)
        total = builder.load(z)
        for half in 4, 2, 1:
            parts = range(half), range(half, 2 * half)
            total = builder.fadd(*(_shuffle(builder, total, part) for part in parts))
        return builder.bitcast(total, ir.DoubleType())

    @intrinsic
    def sweep(typing, bits, weights, average, row, following, factor, moment, floor):
        return types.float64(
            bits, weights, average, row, following, factor, moment, floor
        ), generate

    return sweep


def _shuffle(builder, vector, lanes):
    return builder.shuffle_vector(
        vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
    )


_look, _update, _update_averages, _update_carefully = (_sweep(*[True] * i) for i in range(4))


@compiled()
def _zeros(size):
    """Zeros (size,) from the beginning of a cache line on, as a vector in two of them takes twice as long."""
    zeros = np.zeros(size + LANES)
    return zeros[-(zeros.ctypes.data // zeros.itemsize) % LANES :][:size]


@compiled()
def train(
    bits,
    n,
    positive,
    order,
    n_passes,
    weights,
    average,
    step,
    promotion,
    demotion,
    reached,
    above,
    below,
):
    """Present the rows `order` in each pass, updating `weights` in place after each mistake or thin margin.

    A demotion leaves out the weights that it would take below the smallest normal number.

    Parameters
    ----------
    bits, n : rows, as from `pack`
    positive : (s,) bool; order : (v,) int64, rows in the order of presentation
    weights : (n,) float64, or (2n,) for the attributes (x, 1 - x), updated in place
    average : float64 like `weights`, updated in place, or (0,) where no average is wanted
        Sum over presentations t of t times the change of the weights at t, so that the mean of the
        weights over T presentations is weights - average / T at the cost of updates only.
    step : int
        Presentations before this call.
    reached, above, below : float
        Z predicts 1 from `reached` on; it stands where the label is 1 from `above` on, where it is
        0 below `below`.

    Returns
    -------
    mistakes, updates : int
    """
    mistakes = updates = place = 0
    averaging, width = average.shape[0] > 0, LANES * bits.shape[1]
    places = np.arange(weights.shape[0]) % n
    places += LANES * (places // LANES)
    places[n:] += LANES
    wide, wide_average = _zeros(2 * width), _zeros(2 * width)
    wide[places], wide_average[places[: average.shape[0]]] = weights, average
    floor = LOWEST / demotion
    least, careful = weights.min(), False  # no weight is less
    # where Z, its sign turned for label 0, stands
    marks = np.array([np.nextafter(-below, np.inf), above])
    following = np.uintp(order[0])
    z = _look(bits, wide, wide_average, following, following, 1.0, 0.0, 0.0)
    for t in range(n_passes * order.shape[0]):
        place = place + 1 if place + 1 < order.shape[0] else 0
        i, following = following, np.uintp(order[place])
        label = positive[i]
        # Where updates are many, a branch on the label, known long before Z, tells the processor
        # what Z will be; where they are few, it could not foretell the branch itself. Asked in one
        # number, or LLVM puts the label first.
        way = np.uint8(label) + 2 * np.uint8(8 * updates > t)
        if way < 2:
            mistakes += (z >= reached) != label
            stands = (2.0 * label - 1.0) * z >= marks[int(label)]
        elif way == 3:
            mistakes += z < reached
            stands = z >= above
        else:
            mistakes += z >= reached
            stands = z < below
        if stands:
            z = _look(bits, wide, wide_average, i, following, 1.0, 0.0, 0.0)
            continue
        updates += 1
        factor, low = (promotion, 0.0) if label else (demotion, floor)
        if least < low and not careful:
            least = wide[places].min()
            careful = least < low
        least *= min(factor, 1.0)
        if careful:
            z = _update_carefully(
                bits, wide, wide_average, i, following, factor, step + t + 1.0, low
            )
        elif averaging:
            z = _update_averages(
                bits, wide, wide_average, i, following, factor, step + t + 1.0, low
            )
        else:
            z = _update(bits, wide, wide_average, i, following, factor, 0.0, low)
    assign(weights, wide[places])
    assign(average, wide_average[places[: average.shape[0]]])
    return mistakes, updates


@compiled()
def train_active(
    indptr,
    indices,
    positive,
    order,
    n_passes,
    weights,
    average,
    step,
    promotion,
    demotion,
    reached,
    above,
    below,
):
    """Do the same as `train` at a cost that follows the active attributes.

    Those of row i are ``indices[indptr[i] : indptr[i + 1]]``; unsigned integers are twice as fast.
    """
    mistakes = updates = 0
    averaging = average.shape[0] > 0
    for t in range(n_passes * order.shape[0]):
        i = order[t % order.shape[0]]
        start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
        z = _total(indices, start, stop, weights)
        label = positive[i]
        mistakes += (z >= reached) != label
        if not (z >= above if label else z < below):
            updates += 1
            gain, low = (promotion - 1.0, 0.0) if label else (demotion - 1.0, LOWEST / demotion)
            late_gain = gain * (step + t + 1.0)
            for k in range(start, stop):
                j = indices[k]
                weight = weights[j]
                # the first test spares products below LOWEST, which take a hundred times as long
                if weight >= low and weight + gain * weight >= LOWEST:
                    weights[j] = weight + gain * weight
                    if averaging:
                        average[j] += late_gain * weight
    return mistakes, updates


@compiled()
def train_parts(
    indptr,
    indices,
    sizes,
    rows,
    positive,
    order,
    n_passes,
    weights,
    average,
    step,
    promotion,
    demotion,
    *marks,
):
    """Do the same as `train_active` with presentations that are less than one.

    Presentation p, as `order` numbers them, is of row ``rows[p]``; ``sizes[p]``, in (0, 1], is the
    power of its factor, and what it counts in `step` and the average.
    """
    mistakes = updates = 0
    for t in range(n_passes * order.shape[0]):
        p = order[t % order.shape[0]]
        size, row = sizes[p], rows[p : p + 1]
        # train_active itself adds 1 to the presentations before
        moment, factors = step + size - 1.0, (promotion**size, demotion**size)
        found = train_active(
            indptr, indices, positive, row, 1, weights, average, moment, *factors, *marks
        )
        mistakes += found[0]
        updates += found[1]
        step += size
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
