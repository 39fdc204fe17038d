"""Message passing on the bucket tree, one row at a time and for all classes at once."""

import numpy as np

from lib.bayes_net.compiled import compiled, inlined

LOWEST = 1e-300  # of table entries and sums, so that their logarithms are finite
MANY = 32  # factors whose product might underflow


@compiled
def collect(x, free, live, roots, tree, work, beliefs, scales, shifts, scores):
    """Sum out the missing variables of one row, leaves first.

    Parameters
    ----------
    x : (n_variables,) values, any where missing
    free : (n_variables,) bool
        Missing variables to be summed out.
    live : (n_factors + n_buckets,) bool
        Which factors have a free variable; set for the messages that are sent on.
    roots : (n_buckets,) bool
        Set where a message has no free variable left: it is a factor of the result.
    work : (n_cells + n_messages, n_classes)
        Factors first; messages are stored after them, each divided by its largest value.
    beliefs : as `work`
        Cells of messages are set to 0.
    scales, shifts : (n_buckets, n_classes)
        What the messages were divided by, and the logs that were taken from products of many factors before.
    scores : (n_classes,)
        The log of the sum is added.
    """
    n_classes = work.shape[1]
    n_factors = live.shape[0] - tree.order.shape[0]
    alive, base = np.empty(tree.slots.shape[0], np.intp), np.empty(tree.slots.shape[0], np.intp)
    index, digits = np.empty_like(base), np.empty(tree.cliques.shape[1], np.intp)
    total, product = np.empty(n_classes), np.empty(n_classes)
    for b in range(tree.order.shape[0]):
        n_alive, n_free, n_cells, n_own, start = _prepare(b, x, free, live, tree, alive, base, digits)
        roots[b] = n_alive > 0 and n_free == 0
        live[n_factors + b] = n_alive > 0 and n_free > 0
        if n_alive == 0:
            continue
        scale, shift = scales[b], shifts[b]
        scale[:], shift[:] = 0.0, 0.0
        if n_alive > MANY:
            shift[:] = -np.inf
            for s in range(n_cells):
                _position(s, b, n_free, start, tree, alive, n_alive, base, index, digits)
                for _ in range(n_own):
                    _add_logs(work, n_alive, index, product)
                    for c in range(n_classes):
                        shift[c] = max(shift[c], product[c])
                    for k in range(n_alive):
                        index[k] += tree.strides[alive[k], 0]
        for s in range(n_cells):
            cell = _position(s, b, n_free, start, tree, alive, n_alive, base, index, digits)
            total[:] = 0.0
            for _ in range(n_own):
                _multiply(work, n_alive, index, shift, product)
                for c in range(n_classes):
                    total[c] += product[c]
                for k in range(n_alive):
                    index[k] += tree.strides[alive[k], 0]
            for c in range(n_classes):
                work[cell, c] = total[c]
                beliefs[cell, c] = 0.0
                scale[c] = max(scale[c], total[c])
        for c in range(n_classes):
            scores[c] += np.log(max(scale[c], LOWEST)) + shift[c]
            if scale[c] == 0.0:
                scale[c] = 1.0
        for s in range(n_cells):
            cell = _position(s, b, n_free, start, tree, alive, 0, base, index, digits)
            for c in range(n_classes):
                work[cell, c] /= scale[c]


@compiled
def distribute(x, free, live, roots, tree, work, beliefs, scales, shifts, weights):
    """Add to the `beliefs` of each live factor's cell its probability given the row, times the class's weight."""
    n_classes = work.shape[1]
    n_factors = live.shape[0] - tree.order.shape[0]
    alive, base = np.empty(tree.slots.shape[0], np.intp), np.empty(tree.slots.shape[0], np.intp)
    index, digits = np.empty_like(base), np.empty(tree.cliques.shape[1], np.intp)
    outer, product = np.empty(n_classes), np.empty(n_classes)
    for b in range(tree.order.shape[0] - 1, -1, -1):
        if not (roots[b] or live[n_factors + b]):
            continue
        n_alive, n_free, n_cells, n_own, start = _prepare(b, x, free, live, tree, alive, base, digits)
        for s in range(n_cells):
            cell = _position(s, b, n_free, start, tree, alive, n_alive, base, index, digits)
            for c in range(n_classes):
                # where the message is 0, so are all products that it sums
                below = work[cell, c] * scales[b, c]
                above = weights[c] if roots[b] else beliefs[cell, c]
                outer[c] = above / below if below > LOWEST else 0.0
            for _ in range(n_own):
                _multiply(work, n_alive, index, shifts[b], product)
                for k in range(n_alive):
                    i = index[k]
                    for c in range(n_classes):
                        beliefs[i, c] += outer[c] * product[c]
                    index[k] += tree.strides[alive[k], 0]


@inlined
def _prepare(b, x, free, live, tree, alive, base, digits):
    """Inputs of a bucket that are alive, where each begins given the row, and the bucket's free variables."""
    n_alive = n_free = 0
    n_cells, start = 1, tree.message_offsets[b]
    for k in range(tree.pointers[b], tree.pointers[b + 1]):
        if live[tree.slots[k]]:
            alive[n_alive], base[n_alive] = k, tree.offsets[k]
            n_alive += 1
    if n_alive == 0:
        return 0, 0, 0, 0, 0
    for q in range(tree.widths[b]):
        v = tree.cliques[b, q]
        if not free[v]:
            start += tree.message_strides[b, q] * x[v]
            for k in range(n_alive):
                base[k] += tree.strides[alive[k], q] * x[v]
        elif q > 0:
            digits[n_free] = q
            n_free += 1
            n_cells *= tree.sizes[v]
    own = tree.cliques[b, 0]
    return n_alive, n_free, n_cells, tree.sizes[own] if free[own] else 1, start


@inlined
def _position(s, b, n_free, start, tree, alive, n_alive, base, index, digits):
    """Set where the inputs are read for the s-th assignment to the free separators; return its message cell."""
    for k in range(n_alive):
        index[k] = base[k]
    for j in range(n_free):
        q = digits[j]
        size = tree.sizes[tree.cliques[b, q]]
        digit = s if j == n_free - 1 else s % size
        s = s // size if j < n_free - 1 else 0
        start += digit * tree.message_strides[b, q]
        for k in range(n_alive):
            index[k] += digit * tree.strides[alive[k], q]
    return start


@inlined
def _multiply(work, n_alive, index, shift, product):
    """Product of the inputs at `index`, for each class; if they are many, times exp(-shift)."""
    if n_alive > MANY:
        _add_logs(work, n_alive, index, product)
        for c in range(product.shape[0]):
            product[c] = np.exp(product[c] - shift[c])
    else:
        first = index[0]
        for c in range(product.shape[0]):
            product[c] = work[first, c]
        for k in range(1, n_alive):
            i = index[k]
            for c in range(product.shape[0]):
                product[c] *= work[i, c]


@compiled
def _add_logs(work, n_alive, index, total):
    total[:] = 0.0
    for k in range(n_alive):
        for c in range(total.shape[0]):
            total[c] += np.log(max(work[index[k], c], LOWEST))
