"""Message passing on the bucket tree, one row at a time and for all classes at once."""

from collections import namedtuple

import numpy as np

from lib.bayes_net.compiled import compiled, inlined

LOWEST = 1e-300  # of table entries and sums, so that their logarithms are finite
MANY = 32  # factors whose product might underflow

# What the passes over one row after the other write to. Cells (n_cells + n_messages, n_classes):
#   work     the factors, then the messages, each divided by its largest value
#   beliefs  what `distribute` adds up
# Buckets, (n_buckets, n_classes), (n_factors + n_buckets,) and (n_buckets,):
#   scales   what each message was divided by;  shifts  logs taken from products of many factors before
#   live     which factors and messages have a free variable;  roots  which messages have none left
# Inputs of one bucket: alive (their numbers), base (where each begins given the row), index (where it is read);
# digits (free variables of the separator); total and product (n_classes,).
Workspace = namedtuple("Workspace", "work beliefs scales shifts live roots alive base index digits total product")
Bucket = namedtuple("Bucket", "number n_alive n_free n_cells n_own start")


@compiled
def workspace(tree, n_factors):
    """Return a `Workspace` without the factors."""
    n_buckets, n_classes, shape = len(tree.order), tree.lookup.shape[1], (tree.n_total, tree.lookup.shape[1])
    messages, classes = np.empty((2, n_buckets, n_classes)), np.empty((2, n_classes))
    inputs, digits = np.empty((3, len(tree.slots)), np.intp), np.empty(tree.cliques.shape[1], np.intp)
    live, roots = np.zeros(n_factors + n_buckets, np.bool_), np.zeros(n_buckets, np.bool_)
    cells = np.empty(shape), np.zeros(shape), messages[0], messages[1], live, roots
    return Workspace(*cells, inputs[0], inputs[1], inputs[2], digits, classes[0], classes[1])


@compiled
def collect(x, free, live, tree, space, scores):
    """Sum out the missing variables of one row, leaves first, and add the log of the sum to `scores` (n_classes,).

    The row has the values `x` (n_variables,), any where missing, and sums over the variables that are `free`
    (n_variables,) in the factors that are `live` (n_factors,).
    """
    n_factors, total, product = len(live), space.total, space.product
    space.live[:n_factors] = live
    for b in range(len(tree.order)):
        bucket = _bucket(b, x, free, tree, space)
        space.roots[b] = bucket.n_alive > 0 and bucket.n_free == 0
        space.live[n_factors + b] = bucket.n_alive > 0 and bucket.n_free > 0
        if bucket.n_alive == 0:
            continue
        scale, shift = space.scales[b], space.shifts[b]
        scale[:], shift[:] = 0.0, 0.0
        if bucket.n_alive > MANY:
            _set_shift(bucket, tree, space, shift)
        for s in range(bucket.n_cells):
            cell = _position(s, bucket, bucket.n_alive, tree, space)
            total[:] = 0.0
            for _ in range(bucket.n_own):
                _multiply(bucket, space, shift)
                for c in range(len(total)):
                    total[c] += product[c]
                _advance(bucket, tree, space)
            for c in range(len(total)):
                space.work[cell, c] = total[c]
                space.beliefs[cell, c] = 0.0
                scale[c] = max(scale[c], total[c])
        for c in range(len(total)):
            scores[c] += np.log(max(scale[c], LOWEST)) + shift[c]
            if scale[c] == 0.0:
                scale[c] = 1.0
        for s in range(bucket.n_cells):
            cell = _position(s, bucket, 0, tree, space)
            for c in range(len(total)):
                space.work[cell, c] /= scale[c]


@compiled
def distribute(x, free, tree, space, weights):
    """Add to the beliefs of each live factor's cell its probability given the row, times the class's weight."""
    n_factors, outer = len(space.live) - len(tree.order), space.total
    for b in range(len(tree.order) - 1, -1, -1):
        if not (space.roots[b] or space.live[n_factors + b]):
            continue
        bucket = _bucket(b, x, free, tree, space)
        for s in range(bucket.n_cells):
            cell = _position(s, bucket, bucket.n_alive, tree, space)
            for c in range(len(outer)):
                # where the message is 0, so are all products that it sums
                below = space.work[cell, c] * space.scales[b, c]
                above = weights[c] if space.roots[b] else space.beliefs[cell, c]
                outer[c] = above / below if below > LOWEST else 0.0
            for _ in range(bucket.n_own):
                _multiply(bucket, space, space.shifts[b])
                for k in range(bucket.n_alive):
                    i = space.index[k]
                    for c in range(len(outer)):
                        space.beliefs[i, c] += outer[c] * space.product[c]
                _advance(bucket, tree, space)


@inlined
def _bucket(b, x, free, tree, space):
    """Find the inputs of a bucket that are alive, where each begins given the row, and the free variables."""
    n_alive = n_free = 0
    n_cells, start = 1, tree.message_offsets[b]
    for k in range(tree.pointers[b], tree.pointers[b + 1]):
        if space.live[tree.slots[k]]:
            space.alive[n_alive], space.base[n_alive] = k, tree.offsets[k]
            n_alive += 1
    if n_alive > 0:
        for q in range(tree.widths[b]):
            v = tree.cliques[b, q]
            if not free[v]:
                start += tree.message_strides[b, q] * x[v]
                for k in range(n_alive):
                    space.base[k] += tree.strides[space.alive[k], q] * x[v]
            elif q > 0:
                space.digits[n_free] = q
                n_free += 1
                n_cells *= tree.sizes[v]
    own = tree.cliques[b, 0]
    return Bucket(b, n_alive, n_free, n_cells, tree.sizes[own] if free[own] else 1, start)


@inlined
def _position(s, bucket, n_inputs, tree, space):
    """Set where the inputs are read for the s-th assignment to the free separators; return its message cell."""
    cell = bucket.start
    for k in range(n_inputs):
        space.index[k] = space.base[k]
    for j in range(bucket.n_free):
        q = space.digits[j]
        size = tree.sizes[tree.cliques[bucket.number, q]]
        digit = s if j == bucket.n_free - 1 else s % size
        s = s // size if j < bucket.n_free - 1 else 0
        cell += digit * tree.message_strides[bucket.number, q]
        for k in range(n_inputs):
            space.index[k] += digit * tree.strides[space.alive[k], q]
    return cell


@inlined
def _advance(bucket, tree, space):
    """Go on to the next value of the bucket's own variable."""
    for k in range(bucket.n_alive):
        space.index[k] += tree.strides[space.alive[k], 0]


@inlined
def _multiply(bucket, space, shift):
    """Set the product of the inputs at `index`, for each class; if they are many, times exp(-shift)."""
    work, index, product = space.work, space.index, space.product
    if bucket.n_alive > MANY:
        _add_logs(work, bucket.n_alive, index, product)
        for c in range(len(product)):
            product[c] = np.exp(product[c] - shift[c])
    else:
        first = index[0]
        for c in range(len(product)):
            product[c] = work[first, c]
        for k in range(1, bucket.n_alive):
            i = index[k]
            for c in range(len(product)):
                product[c] *= work[i, c]


@compiled
def _set_shift(bucket, tree, space, shift):
    """Set the largest log of a product of the inputs, for each class."""
    shift[:] = -np.inf
    for s in range(bucket.n_cells):
        _position(s, bucket, bucket.n_alive, tree, space)
        for _ in range(bucket.n_own):
            _add_logs(space.work, bucket.n_alive, space.index, space.product)
            for c in range(len(shift)):
                shift[c] = max(shift[c], space.product[c])
            _advance(bucket, tree, space)


@compiled
def _add_logs(work, n_alive, index, total):
    total[:] = 0.0
    for k in range(n_alive):
        for c in range(total.shape[0]):
            total[c] += np.log(max(work[index[k], c], LOWEST))
