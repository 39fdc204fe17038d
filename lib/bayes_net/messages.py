"""Message passing: variables that are missing are summed out, each different sum only once.

It is bucket elimination on the junction tree of the network (`Factors.buckets`): a message sums
one variable out of the product of its inputs, which are factors and earlier messages (Koller &
Friedman, 2009, chapters 9 and 10; Dechter, 1999). Rows with the same inputs share a message.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np
from numba import njit

from lib.base.compiled import compiled
from lib.bayes_net.duplicates import merge_duplicates

LOWEST = 1e-300  # of table entries and sums, so that their logarithms are finite
MANY_INPUTS = 32  # factors whose product might underflow


class Messages(NamedTuple):
    """Messages in the order in which they are computed, as arrays of int32.

    A message is the sum, over the values of a variable, of the product of its inputs: factors given
    what is observed, and messages. It has a cell for each joint value of the variables that are
    left. An input is read at a base and offsets from there: for each cell, for each value of the
    variable that is summed out.

    Attributes
    ----------
    widths : shape (n_messages,)
        Number of values that are summed over.
    starts : shape (n_messages + 1,)
        First cell of each message, after the cells of factors.
    pointers : shape (n_messages + 1,)
        First input of each message.
    bases : shape (n_inputs,)
        First cell that an input reads.
    sources : shape (n_inputs,)
        Message that an input is, -1 for a factor.
    places : shape (n_inputs,)
        Where the offsets of an input begin.
    offsets : shape (n_offsets,)
    """

    widths: np.ndarray
    starts: np.ndarray
    pointers: np.ndarray
    bases: np.ndarray
    sources: np.ndarray
    places: np.ndarray
    offsets: np.ndarray

    @property
    def largest_product(self):
        """Largest number of products that are summed to one message."""
        return int((self.widths * np.diff(self.starts)).max(initial=0))


class Slot(NamedTuple):
    """One factor or message of a clique's product, in each row, before equal messages are merged.

    Attributes
    ----------
    base : ndarray, shape (n_rows,)
        First cell that is read, -1 in rows without this input.
    strides : ndarray, shape (n_rows, n_clique_variables)
    source : ndarray, shape (n_rows,)
        Number of the message, -1 for a factor.
    """

    base: np.ndarray
    strides: np.ndarray
    source: np.ndarray


class Sent(NamedTuple):
    """Message of a clique in each row: its first cell, -1 where none is sent, steps and number.

    The steps are arrays (n_rows,) by variable.
    """

    start: np.ndarray
    strides: dict
    number: np.ndarray


class Inputs(NamedTuple):
    """Inputs of some messages: of each its message, base, source and number of offsets."""

    message: np.ndarray
    base: np.ndarray
    source: np.ndarray
    offsets: np.ndarray


def find_messages(factors, values, hidden, has_hidden):
    """Find the messages that sum missing variables out, and those with which this ends.

    Parameters
    ----------
    factors : Factors
    values : ndarray of int, shape (n_rows, n_variables)
        Any where missing.
    hidden : ndarray of bool, shape (n_rows, n_variables)
        Missing variables that are to be summed out.
    has_hidden : ndarray of bool, shape (n_factors, n_rows)
        Which factors have such variables.

    Returns
    -------
    messages : Messages
        Each after those that it needs.
    ends : ndarray of int, shape (n_rows, n)
        Messages over no variable, of which each row has up to n; the number of all messages where
        it has fewer.
    """
    n_rows = len(values)
    n_messages = 0
    n_cells = int(factors.offsets[-1]) + 1  # one for what is left out
    sent = []  # of each clique, for the cliques that receive it
    ends = [np.full(n_rows, -1)]
    widths = []
    starts = []
    inputs = []
    offsets = []
    buckets = factors.buckets if has_hidden.any() else ()  # else there is nothing to sum out
    for clique, clique_factors, received in buckets:
        clique_hidden = hidden[:, clique]
        sizes = np.where(clique_hidden, factors.network.sizes[list(clique)], 1)
        slots = [
            _slot_of_factor(factors, f, clique, values, clique_hidden, has_hidden[f])
            for f in clique_factors
        ]
        slots += [_slot_of_message(clique, sent[b]) for b in received]
        # rows whose inputs and hidden variables are the same share a message
        keys = np.column_stack([*(slot.base for slot in slots), clique_hidden])
        rows = np.flatnonzero((keys[:, : len(slots)] >= 0).any(axis=1))
        index, first = _number_distinct(keys[rows])
        first_rows = rows[first]
        for slot in slots:
            _add_inputs(slot, sizes, first_rows, n_messages, inputs, offsets)
        # the clique's first variable is summed out; the others number the cells, the first fastest
        steps = np.cumprod(np.insert(sizes[:, 1:], 0, 1, axis=1), axis=1)
        cells_per_message = steps[first_rows, -1]
        widths.append(sizes[first_rows, 0])
        starts.append(n_cells + np.cumsum(cells_per_message) - cells_per_message)
        # message of each row, and its first cell
        number = np.full(n_rows, -1)
        number[rows] = n_messages + index
        start = np.full(n_rows, -1)
        start[rows] = starts[-1][index]
        # what no variable is left of ends here: it is a term of the row's score
        has_cells = clique_hidden[:, 1:].any(axis=1)
        ends.append(np.where(has_cells, -1, number))
        strides = (steps[:, :-1] * clique_hidden[:, 1:]).T
        strides_by_variable = dict(zip(clique[1:], strides, strict=True))
        sent.append(Sent(np.where(has_cells, start, -1), strides_by_variable, number))
        n_messages += len(first_rows)
        n_cells += int(cells_per_message.sum())
    starts.append([n_cells])
    messages = _assemble(widths, starts, inputs, offsets, n_messages)
    ends = -np.sort(-np.column_stack(ends), axis=1)
    most_ends = (ends >= 0).sum(axis=1).max(initial=0)
    return messages, np.where(ends < 0, n_messages, ends)[:, :most_ends]


def _slot_of_factor(factors, f, clique, values, clique_hidden, has_hidden):
    strides = np.array([factors.steps[f].get(v, 0) for v in clique])
    base = factors.offsets[f] + np.where(clique_hidden, 0, values[:, clique]) @ strides
    return Slot(
        base=np.where(has_hidden, base, -1),
        strides=np.broadcast_to(strides, clique_hidden.shape),
        source=np.full(len(values), -1),
    )


def _slot_of_message(clique, sent):
    zeros = np.zeros(len(sent.start), int)
    strides = np.column_stack([sent.strides.get(v, zeros) for v in clique])
    return Slot(base=sent.start, strides=strides, source=sent.number)


def _add_inputs(slot, sizes, first_rows, n_messages, inputs, offsets):
    """Append what new messages, one for each of `first_rows`, read in a slot."""
    new = np.flatnonzero(slot.base[first_rows] >= 0)
    rows = first_rows[new]
    kind, examples = _number_distinct(np.column_stack([sizes[rows], slot.strides[rows]]))
    inputs.append(
        Inputs(
            message=n_messages + new,
            base=slot.base[rows],
            source=slot.source[rows],
            offsets=len(offsets) + kind,
        )
    )
    for row in rows[examples]:
        steps = [
            np.arange(size) * stride
            for size, stride in zip(sizes[row], slot.strides[row], strict=True)
        ]
        offsets.append(reduce(np.add.outer, steps[::-1]).ravel())


def _assemble(widths, starts, inputs, offsets, n_messages):
    """Return the messages, their inputs in the order of the messages."""
    owners = _concatenate([new.message for new in inputs])
    bases = _concatenate([new.base for new in inputs])
    sources = _concatenate([new.source for new in inputs])
    offset_numbers = _concatenate([new.offsets for new in inputs])
    offset_starts = _concatenate([np.cumsum([0, *map(len, offsets)])])
    order = np.argsort(owners, kind="stable")
    return Messages(
        widths=_concatenate(widths),
        starts=_concatenate(starts),
        pointers=_concatenate([np.searchsorted(owners[order], np.arange(n_messages + 1))]),
        bases=bases[order],
        sources=sources[order],
        places=offset_starts[offset_numbers][order],
        offsets=_concatenate(offsets),
    )


def _number_distinct(keys):
    """Return the number of each row among the different ones, and a row of each."""
    number = merge_duplicates(keys, keys.max(axis=0, initial=0) + 1)[1]
    example = np.empty(number.max(initial=-1) + 1, np.intp)
    example[number] = np.arange(len(keys))
    return number, example


def _concatenate(arrays):
    """Return one array of int32, empty if there is none."""
    return np.concatenate([np.empty(0, np.int32), *arrays], dtype=np.int32, casting="unsafe")


@compiled(error_model="numpy")
def reachable_messages(messages, terms, first_message):
    """Numbers of the messages that rows need, directly or through other messages.

    `terms` (n_rows, n_terms) from `first_message` on are messages; the last one is none.
    """
    n_messages = len(messages.widths)
    is_reachable = np.zeros(n_messages + 1, np.bool_)
    for r in range(terms.shape[0]):
        for i in range(terms.shape[1]):
            if terms[r, i] >= first_message:
                is_reachable[terms[r, i] - first_message] = True
    n_reachable = 0
    for m in range(n_messages - 1, -1, -1):
        if is_reachable[m]:
            n_reachable += 1
            for i in range(messages.pointers[m], messages.pointers[m + 1]):
                if messages.sources[i] >= 0:
                    is_reachable[messages.sources[i]] = True
    numbers = np.empty(n_reachable, np.intp)
    n_reachable = 0
    for m in range(n_messages):
        if is_reachable[m]:
            numbers[n_reachable] = m
            n_reachable += 1
    return numbers


@compiled(error_model="numpy")
def collect(messages, reachable, factor_logs, cells, product, message_logs):
    """Compute the messages, leaves first: the upward pass of message passing.

    `cells` (n_cells, n_classes) are set to the factors, whose logs are `factor_logs`, and to the
    `reachable` messages, each divided by its largest cell. `message_logs` (n_messages, n_classes)
    gets the log of what they and all that they are made of are divided by. `product`
    (messages.largest_product, n_classes) holds products meanwhile.
    """
    n_classes = cells.shape[1]
    for cell in range(len(factor_logs)):
        for c in range(n_classes):
            cells[cell, c] = np.exp(factor_logs[cell, c])
    scale = np.empty(n_classes)
    for m in reachable:
        # _multiply writes the shift of its products into message_logs[m]
        _multiply(m, messages, cells, product, message_logs[m])
        for c in range(n_classes):
            scale[c] = 0.0
        p = 0
        width = messages.widths[m]
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                total = 0.0
                for q in range(p, p + width):
                    total += product[q, c]
                cells[s, c] = total
                scale[c] = max(scale[c], total)
            p += width
        # the scales of all that the message is made of
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            source = messages.sources[i]
            if source >= 0:
                for c in range(n_classes):
                    message_logs[m, c] += message_logs[source, c]
        for c in range(n_classes):
            message_logs[m, c] += np.log(max(scale[c], LOWEST))
            if scale[c] == 0.0:
                scale[c] = 1.0
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                cells[s, c] /= scale[c]


@compiled(error_model="numpy")
def distribute(messages, reachable, cells, product, weights, beliefs):
    """Add to the beliefs in each factor's cell: the downward pass of message passing.

    Last first, each message hands what is believed of its cells on to its inputs. `weights`
    (n_messages, n_classes) are the derivatives of the objective by the logs of the messages that
    end, and `beliefs` (n_cells, n_classes) those by the logs of cells. The beliefs in messages are
    0 before and after. `product` is as in `collect`.
    """
    n_classes = cells.shape[1]
    shift = np.empty(n_classes)
    for m in reachable[::-1]:
        n_products = _multiply(m, messages, cells, product, shift)
        # a message that ends has one cell
        p = 0
        width = messages.widths[m]
        for c in range(n_classes):
            beliefs[messages.starts[m], c] += weights[m, c]
        for s in range(messages.starts[m], messages.starts[m + 1]):
            for c in range(n_classes):
                total = 0.0
                for q in range(p, p + width):
                    total += product[q, c]
                # a total of 0 has products of 0 only
                ratio = beliefs[s, c] / total if total > LOWEST else 0.0
                beliefs[s, c] = 0.0
                for q in range(p, p + width):
                    product[q, c] *= ratio
            p += width
        # d ln(sum of products) / d ln(input) is the input's share of the sum
        for i in range(messages.pointers[m], messages.pointers[m + 1]):
            base = messages.bases[i]
            place = messages.places[i]
            for p in range(n_products):
                index = base + messages.offsets[place + p]
                for c in range(n_classes):
                    beliefs[index, c] += product[p, c]


# Compiled into each caller: calls that hand over many arrays take longer than the little that is
# done with them.
@njit(inline="always", error_model="numpy")
def _multiply(m, messages, cells, product, shift):
    """Set the products of the inputs of message m, times exp(-shift); return how many there are.

    Products of many inputs, which might underflow, are sums of logs with a shift for each class;
    else the shift is 0.
    """
    n_classes = cells.shape[1]
    first = messages.pointers[m]
    last = messages.pointers[m + 1]
    n_products = messages.widths[m] * (messages.starts[m + 1] - messages.starts[m])
    by_logs = last - first > MANY_INPUTS
    for p in range(n_products):
        for c in range(n_classes):
            product[p, c] = 0.0 if by_logs else 1.0
    for c in range(n_classes):
        shift[c] = 0.0
    for i in range(first, last):
        base = messages.bases[i]
        place = messages.places[i]
        for p in range(n_products):
            index = base + messages.offsets[place + p]
            for c in range(n_classes):
                if by_logs:
                    product[p, c] += np.log(max(cells[index, c], LOWEST))
                else:
                    product[p, c] *= cells[index, c]
    if by_logs:
        # less the largest, so that one of the products is 1
        for c in range(n_classes):
            shift[c] = product[0, c]
            for p in range(1, n_products):
                shift[c] = max(shift[c], product[p, c])
            for p in range(n_products):
                product[p, c] = np.exp(product[p, c] - shift[c])
    return n_products
