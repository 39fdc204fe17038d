"""Sums over missing values by messages: each distinct one is computed once, whatever number of rows needs it."""

from collections import namedtuple
from functools import reduce

import numpy as np
from numba import njit

from lib.bayes_net.packing import merged
from lib.compiled import compiled

LOWEST = 1e-300  # of table entries and sums, so that their logarithms are finite
MANY = 32  # factors whose product might underflow

# A message is the sum, over the values of a variable, of the product of its inputs: factors given
# what is observed, and messages. It has a cell for each joint value of the variables that are left.
# widths    (n_messages,) number of values that are summed over starts    (n_messages + 1,) first
# cell of each pointers  (n_messages + 1,) first input of each An input is read at a base and
# offsets from there: for each cell, for each value of the variable. Its offsets begin at one of the
# `places`; `sources` has the message that it is, or -1.
Messages = namedtuple("Messages", "widths starts pointers bases sources places offsets")
# An input of each row's message before equal ones are found: strides (n_rows, n_variables) of the
# clique's variables, base and source (n_rows,); a row without it has the base -1.
Slot = namedtuple("Slot", "base strides source")


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
        Messages over no variable, of which each row has up to n; the number of all messages where
        it has fewer.
    """
    # a cell is for what is left out
    n_rows, n_found, n_cells = len(values), 0, int(factors.offsets[-1]) + 1
    sent, ends, widths, starts, inputs, offsets = [], [np.full(n_rows, -1)], [], [], [], []
    for clique, own, received in factors.buckets if live.any() else ():
        hidden = free[:, clique]
        sizes = np.where(hidden, factors.network.sizes[list(clique)], 1)
        slots = [_slot_of_factor(factors, f, clique, values, hidden, live[f]) for f in own]
        slots += [_slot_of_message(clique, *sent[b]) for b in received]
        keys = np.column_stack([*(slot.base for slot in slots), hidden])
        rows = np.flatnonzero((keys[:, : len(slots)] >= 0).any(axis=1))
        index, first = _distinct(keys[rows])
        first = rows[first]
        for slot in slots:
            _add_inputs(slot, sizes, first, n_found, inputs, offsets)
        steps = np.cumprod(np.insert(sizes[:, 1:], 0, 1, axis=1), axis=1)
        n_own = steps[first, -1]
        widths.append(sizes[first, 0])
        starts.append(n_cells + np.cumsum(n_own) - n_own)
        number, start = np.full(n_rows, -1), np.full(n_rows, -1)
        number[rows], start[rows] = n_found + index, starts[-1][index]
        left = hidden[:, 1:].any(axis=1)
        ends.append(np.where(left, -1, number))
        steps = dict(zip(clique[1:], (steps[:, :-1] * hidden[:, 1:]).T, strict=True))
        sent.append((np.where(left, start, -1), steps, number))
        n_found, n_cells = n_found + len(first), n_cells + int(n_own.sum())
    starts.append([n_cells])
    messages = Messages(
        _joined(widths), _joined(starts), *_by_message(inputs, offsets, n_found), _joined(offsets)
    )
    ends = -np.sort(-np.column_stack(ends), axis=1)
    return messages, np.where(ends < 0, n_found, ends)[:, : (ends >= 0).sum(axis=1).max(initial=0)]


def _slot_of_factor(factors, f, clique, values, hidden, live):
    strides = np.array([factors.steps[f].get(v, 0) for v in clique])
    base = factors.offsets[f] + np.where(hidden, 0, values[:, clique]) @ strides
    return Slot(
        np.where(live, base, -1), np.broadcast_to(strides, hidden.shape), np.full(len(values), -1)
    )


def _slot_of_message(clique, start, steps, number):
    return Slot(
        start, np.column_stack([steps.get(v, np.zeros(len(start), int)) for v in clique]), number
    )


def _add_inputs(slot, sizes, first, n_found, inputs, offsets):
    """Add what the messages of rows `first` read in a slot to `inputs`: message, base, source, number of offsets."""
    alive = np.flatnonzero(slot.base[first] >= 0)
    some = first[alive]
    kind, examples = _distinct(np.column_stack([sizes[some], slot.strides[some]]))
    inputs.append((n_found + alive, slot.base[some], slot.source[some], len(offsets) + kind))
    for row in some[examples]:
        steps = [
            np.arange(size) * stride
            for size, stride in zip(sizes[row], slot.strides[row], strict=True)
        ]
        offsets.append(reduce(np.add.outer, steps[::-1]).ravel())


def _by_message(inputs, offsets, n_found):
    """Pointers, and bases, sources and places of inputs in the order of the messages."""
    owners, bases, sources, numbers = (_joined([each[i] for each in inputs]) for i in range(4))
    order = np.argsort(owners, kind="stable")
    places = _joined([np.cumsum([0, *map(len, offsets)])])[numbers]
    pointers = _joined([np.searchsorted(owners[order], np.arange(n_found + 1))])
    return pointers, bases[order], sources[order], places[order]


def _distinct(keys):
    """Return the number of each row among the different ones, and a row of each."""
    number = merged(keys, keys.max(axis=0, initial=0) + 1)[1]
    first = np.empty(number.max(initial=-1) + 1, np.intp)
    first[number] = np.arange(len(keys))
    return number, first


def _joined(arrays):
    return np.concatenate([np.empty(0, np.int32), *arrays], dtype=np.int32, casting="unsafe")


@compiled(error_model="numpy")
def needed_messages(messages, picks, first):
    """Messages that the rows need; `picks` (n_rows, n) from `first` on are messages."""
    used = np.zeros(len(messages.starts), np.bool_)
    for pick in picks.flat:
        if pick >= first:
            used[pick - first] = True
    used[-1] = False
    for m in range(len(used) - 2, -1, -1):
        if used[m]:
            for i in range(messages.pointers[m], messages.pointers[m + 1]):
                if messages.sources[i] >= 0:
                    used[messages.sources[i]] = True
    return np.flatnonzero(used)


@compiled(error_model="numpy")
def collect(messages, used, work, logs):
    """Set the cells of the messages that are `used` in `work` (n_cells, n_classes), divided by the largest.

    To `logs` (n_messages, n_classes) goes the log of what they and all before them are divided by.
    """
    product, scale, n_classes = _room(messages, used, work), np.empty(work.shape[1]), work.shape[1]
    for m in used:
        _multiply(m, messages, work, product, logs[m])
        for c in range(n_classes):
            scale[c] = 0.0
        p, width = 0, messages.widths[m]
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                total = 0.0
                for q in range(p, p + width):
                    total += product[q, c]
                work[s, c] = total
                scale[c] = max(scale[c], total)
            p += width
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            source = messages.sources[i]
            if source >= 0:
                for c in range(n_classes):
                    logs[m, c] += logs[source, c]
        for c in range(n_classes):
            logs[m, c] += np.log(max(scale[c], LOWEST))
            if scale[c] == 0.0:
                scale[c] = 1.0
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                work[s, c] /= scale[c]


@compiled(error_model="numpy")
def distribute(messages, used, work, weights, beliefs):
    """Add to the beliefs of each factor's cell (n_cells, n_classes) its probability, times the weight of the end.

    The last first, each message hands on what is believed of its cells, `weights` (n_messages,
    n_classes) to begin with, to its inputs; its own beliefs are 0 before and after.
    """
    product, shift, n_classes = _room(messages, used, work), np.empty(work.shape[1]), work.shape[1]
    for m in used[::-1]:
        n_products = _multiply(m, messages, work, product, shift)
        p, width = 0, messages.widths[m]
        for c in range(n_classes):
            beliefs[messages.starts[m], c] += weights[m, c]
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                total = 0.0
                for q in range(p, p + width):
                    total += product[q, c]
                # 0 as all products that it sums
                outer = beliefs[s, c] / total if total > LOWEST else 0.0
                beliefs[s, c] = 0.0
                for q in range(p, p + width):
                    product[q, c] *= outer
            p += width
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            base, place = messages.bases[i], messages.places[i]
            for p in range(n_products):
                index = base + messages.offsets[place + p]
                for c in range(n_classes):
                    beliefs[index, c] += product[p, c]


# Compiled into each caller: calls that hand over many arrays take longer than the little that is
# done with them.
@njit(inline="always", error_model="numpy")
def _room(messages, used, work):
    largest = 1
    for m in used:
        largest = max(largest, messages.widths[m] * (messages.starts[m + 1] - messages.starts[m]))
    return np.empty((largest, work.shape[1]))


@njit(inline="always", error_model="numpy")
def _multiply(m, messages, work, product, shift):
    """Set the products of the inputs, for each class, times exp(-shift); return how many there are."""
    first, last, n_classes = messages.pointers[m], messages.pointers[m + 1], work.shape[1]
    n_products, many = (
        messages.widths[m] * (messages.starts[m + 1] - messages.starts[m]),
        last - first > MANY,
    )
    for p in range(n_products):
        for c in range(n_classes):
            product[p, c] = 0.0 if many else 1.0
    for c in range(n_classes):
        shift[c] = 0.0
    for i in range(first, last):
        base, place = messages.bases[i], messages.places[i]
        for p in range(n_products):
            index = base + messages.offsets[place + p]
            for c in range(n_classes):
                if many:
                    product[p, c] += np.log(max(work[index, c], LOWEST))
                else:
                    product[p, c] *= work[index, c]
    if many:
        for c in range(n_classes):
            shift[c] = product[:n_products, c].max()
            for p in range(n_products):
                product[p, c] = np.exp(product[p, c] - shift[c])
    return n_products
