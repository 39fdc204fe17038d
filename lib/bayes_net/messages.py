"""Sums over missing values by messages: each distinct one is computed once, whatever number of rows needs it."""

from collections import namedtuple

import numpy as np

from lib.bayes_net.compiled import compiled, inlined
from lib.bayes_net.packing import merged

LOWEST = 1e-300  # of table entries and sums, so that their logarithms are finite
MANY = 32  # factors whose product might underflow

# A message is the sum, over a variable, of the product of its inputs: factors given what is observed, and messages.
#   dims      (n_messages, width) sizes: of the variable summed out, then of those that are left, 1 where none is
#   starts    (n_messages,) first cell, of which there is one for each value of those that are left
#   pointers  (n_messages + 1,) where its inputs begin
# Of each input: the cell that it is read at first (bases), steps for each of the dims (strides), (n_inputs, width), and
# the message that it is, or -1 (sources).
Messages = namedtuple("Messages", "dims starts pointers bases strides sources n_cells")


def find_messages(factors, values, free, live):
    """Find the messages that sum missing variables out, and those with which this ends.

    A row that has the same inputs as another has the same message.

    Parameters
    ----------
    factors : Factors
    values : ndarray of int, shape (n_rows, n_variables)
        Any where missing.
    free : ndarray of bool, shape (n_rows, n_variables)
        Missing variables that are to be summed out.
    live : ndarray of bool, shape (n_factors, n_rows)
        Which factors have such variables.

    Returns
    -------
    Messages
        Those that others need before them.
    ends : ndarray of int, shape (n_rows, n)
        Messages over no variable, of which each row has up to n; the number of all messages where it has fewer.
    """
    n_rows, n_found, n_cells = len(values), 0, factors.n_cells + 1  # one cell is for what is left out
    sent, ends, dims, starts, inputs = [], [np.full(n_rows, -1)], [], [], []
    for clique, own, received in factors.buckets if live.any() else ():
        hidden, shape = free[:, clique], (n_rows, len(clique))
        slots = []  # base, strides and source of each input, for each row
        for f in own:
            strides = np.array([factors.steps[f].get(v, 0) for v in clique])
            base = factors.offsets[f] + np.where(hidden, 0, values[:, clique]) @ strides
            slots.append((np.where(live[f], base, -1), np.broadcast_to(strides, shape), np.full(n_rows, -1)))
        for b in received:
            base, steps, source = sent[b]
            strides = np.column_stack([steps[v] if v in steps else np.zeros(n_rows, np.intp) for v in clique])
            slots.append((base, strides, source))
        keys = np.column_stack([*(base for base, *_ in slots), hidden])
        rows = np.flatnonzero((keys[:, : len(slots)] >= 0).any(axis=1))
        _, index = merged(keys[rows], keys.max(axis=0) + 1)
        first = np.empty(index.max(initial=-1) + 1, np.intp)
        first[index] = rows
        order = np.argsort(~hidden[first, 1:], axis=1, kind="stable") + 1
        order = np.insert(order, 0, 0, axis=1)  # variables that are left come before those that are observed
        for base, strides, source in slots:
            alive = np.flatnonzero(base[first] >= 0)
            some = first[alive]
            strides = np.take_along_axis(strides[some], order[alive], axis=1)
            inputs.append((n_found + alive, base[some], source[some], strides))
        sizes = np.where(hidden, factors.network.sizes[list(clique)], 1)
        steps = np.cumprod(np.insert(sizes[:, 1:], 0, 1, axis=1), axis=1)  # the first of those that are left is fastest
        ending = n_cells + np.cumsum(steps[first, -1])
        number, start = np.full(n_rows, -1), np.full(n_rows, -1)
        number[rows], start[rows] = n_found + index, (ending - steps[first, -1])[index]
        dims.append(np.take_along_axis(sizes[first], order, axis=1))
        starts.append(start[first])
        left = hidden[:, 1:].any(axis=1)
        ends.append(np.where(left, -1, number))
        steps = dict(zip(clique[1:], (steps[:, :-1] * hidden[:, 1:]).T, strict=True))
        sent.append((np.where(left, start, -1), steps, number))
        n_found, n_cells = n_found + len(first), int(ending[-1]) if len(ending) else n_cells
    ends = -np.sort(-np.column_stack(ends), axis=1)
    ends = np.where(ends < 0, n_found, ends)[:, : (ends >= 0).sum(axis=1).max(initial=0)]
    width = max((each.shape[1] for each in dims), default=1)
    owners, bases, sources = (_joined([each[i] for each in inputs]) for i in range(3))
    strides = _joined([_padded(each[3], width, 0) for each in inputs], (0, width))
    order = np.argsort(owners, kind="stable")
    pointers = np.searchsorted(owners[order], np.arange(n_found + 1)).astype(np.int32)
    dims = _joined([_padded(each, width, 1) for each in dims], (0, width))
    return Messages(dims, _joined(starts), pointers, bases[order], strides[order], sources[order], n_cells), ends


def _joined(arrays, shape=(0,)):
    return np.concatenate([np.empty(shape, np.int32), *arrays], dtype=np.int32, casting="unsafe")


def _padded(array, width, value):
    return np.pad(array, [(0, 0), (0, width - array.shape[1])], constant_values=value)


@compiled
def needed_messages(messages, picks, first, wanted):
    """Messages that the rows need that are `wanted` (n_rows,); `picks` from `first` on are messages."""
    used = np.zeros(len(messages.starts) + 1, np.bool_)
    for r in range(len(wanted)):
        if wanted[r]:
            for pick in picks[r]:
                if pick >= first:
                    used[pick - first] = True
    used[-1] = False
    for m in range(len(used) - 2, -1, -1):
        if used[m]:
            for i in range(messages.pointers[m], messages.pointers[m + 1]):
                if messages.sources[i] >= 0:
                    used[messages.sources[i]] = True
    return np.flatnonzero(used)


@compiled
def collect(messages, used, work, logs):
    """Set the cells of the messages that are `used` in `work` (n_cells, n_classes), divided by the largest.

    To `logs` (n_messages, n_classes) goes the log of what they and all before them are divided by.
    """
    n_classes, product, digits = work.shape[1], _room(messages, used, work), np.zeros(messages.dims.shape[1], np.intp)
    scale = np.empty(n_classes)
    for m in used:
        _multiply(m, messages, work, product, digits, logs[m])
        n_own, start = messages.dims[m, 0], messages.starts[m]
        scale[:] = 0.0
        n_cells = _cells(m, messages)
        for s in range(n_cells):
            for c in range(n_classes):
                total = 0.0
                for p in range(s * n_own, (s + 1) * n_own):
                    total += product[p, c]
                work[start + s, c] = total
                scale[c] = max(scale[c], total)
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            if messages.sources[i] >= 0:
                logs[m] += logs[messages.sources[i]]
        for c in range(n_classes):
            logs[m, c] += np.log(max(scale[c], LOWEST))
            if scale[c] == 0.0:
                scale[c] = 1.0
        for s in range(n_cells):
            for c in range(n_classes):
                work[start + s, c] /= scale[c]


@compiled
def distribute(messages, used, work, weights, beliefs):
    """Add to the beliefs of each factor's cell (n_cells, n_classes) its probability, times the weight of the end.

    The last first, each message hands on what is believed of its cells, `weights` (n_messages, n_classes) to begin
    with, to its inputs; its own beliefs are 0 before and after.
    """
    n_classes, product, digits = work.shape[1], _room(messages, used, work), np.zeros(messages.dims.shape[1], np.intp)
    shift = np.empty(n_classes)
    for m in used[::-1]:
        _multiply(m, messages, work, product, digits, shift)
        n_own, start = messages.dims[m, 0], messages.starts[m]
        n_cells = _cells(m, messages)
        for c in range(n_classes):
            beliefs[start, c] += weights[m, c]
        for s in range(n_cells):
            for c in range(n_classes):
                total = 0.0
                for p in range(s * n_own, (s + 1) * n_own):
                    total += product[p, c]
                outer = beliefs[start + s, c] / total if total > LOWEST else 0.0  # 0 as all products that it sums
                beliefs[start + s, c] = 0.0
                for p in range(s * n_own, (s + 1) * n_own):
                    product[p, c] *= outer
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            base = messages.bases[i]
            for s in range(n_cells):
                index = base
                for p in range(s * n_own, (s + 1) * n_own):
                    for c in range(n_classes):
                        beliefs[index, c] += product[p, c]
                    index += messages.strides[i, 0]
                base = _next(base, m, i, messages, digits)


@inlined
def _room(messages, used, work):
    largest = 1
    for m in used:
        largest = max(largest, messages.dims[m, 0] * _cells(m, messages))
    return np.empty((largest, work.shape[1]))


@inlined
def _cells(m, messages):
    n_cells = 1
    for q in range(1, messages.dims.shape[1]):
        n_cells *= messages.dims[m, q]
    return n_cells


@inlined
def _next(base, m, i, messages, digits):
    """Where an input begins for the next values of the variables that are left; after the last, for the first."""
    for q in range(1, messages.dims.shape[1]):
        digits[q] += 1
        base += messages.strides[i, q]
        if digits[q] < messages.dims[m, q]:
            break
        base -= messages.dims[m, q] * messages.strides[i, q]
        digits[q] = 0
    return base


@inlined
def _multiply(m, messages, work, product, digits, shift):
    """Set the product of the inputs, for each cell, each value of the variable and each class, times exp(-shift)."""
    n_own, first, last = messages.dims[m, 0], messages.pointers[m], messages.pointers[m + 1]
    n_cells, n_classes = _cells(m, messages), work.shape[1]
    many = last - first > MANY
    for i in range(first, last):
        base = messages.bases[i]
        for s in range(n_cells):
            index = base
            for p in range(s * n_own, (s + 1) * n_own):
                for c in range(n_classes):
                    value = np.log(max(work[index, c], LOWEST)) if many else work[index, c]
                    if i == first:
                        product[p, c] = value
                    elif many:
                        product[p, c] += value
                    else:
                        product[p, c] *= value
                index += messages.strides[i, 0]
            base = _next(base, m, i, messages, digits)
    shift[:] = 0.0
    if many:
        for c in range(n_classes):
            shift[c] = product[: n_cells * n_own, c].max()
            for p in range(n_cells * n_own):
                product[p, c] = np.exp(product[p, c] - shift[c])
