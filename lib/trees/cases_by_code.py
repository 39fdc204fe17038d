"""The cases of a node in the order of an attribute's codes, as tests are scored in this order.

Codes are small whole numbers, so cases are counted rather than compared: in a table of codes and
classes where that is small, else by a radix sort of the codes.
"""

from typing import NamedTuple

import numpy as np

from lib.trees.node_cases import entry_kernel, kernel

MAX_CODES = 256  # for each class, so that a table of their weights stays in the cache
KEY_SHIFT = 32  # a key has the code above these bits, and the number of the case in them
CASE_MASK = (1 << KEY_SHIFT) - 1

# One case, or where there are few codes all cases of a code and a class
ENTRY = np.dtype([("code", np.int64), ("label", np.int64), ("weight", np.float64)])


class CodeOrder(NamedTuple):
    """Arrays in which cases are put in order."""

    entries: np.ndarray  # of ENTRY (2 n_samples,)
    code_class_weights: np.ndarray  # (2 n_samples,), all 0 between calls
    keys: np.ndarray  # (n_samples,)
    spare_keys: np.ndarray
    offsets: np.ndarray  # (4 n_samples + 2,)


def new_code_order(n_rows):
    """Return arrays in which up to `n_rows` cases are put in order."""
    return CodeOrder(
        entries=np.empty(2 * n_rows, ENTRY),
        code_class_weights=np.zeros(2 * n_rows),
        keys=np.empty(n_rows, np.int64),
        spare_keys=np.empty(n_rows, np.int64),
        offsets=np.empty(4 * n_rows + 2, np.int64),
    )


@kernel
def list_entries(codes, highest_code, data, cases, labels, class_weights, work):
    """List the cases that have a value in `work.entries`, by code; returns how many entries it has.

    Parameters
    ----------
    codes : ndarray of int32 (n_samples,)
        Of one attribute.
    highest_code : int
    data : Data
    cases : ndarray of CASE (n,)
    labels : ndarray of int (n,)
        The class of each case, numbered among those that the node has.
    class_weights : ndarray of float (n_node_classes,)
        Weights of the node's classes; becomes those of the cases with a value.
    work : CodeOrder
    """
    n_classes = len(class_weights)
    n_known = len(cases)
    low = np.int64(0)
    high = highest_code
    max_cells = MAX_CODES * data.n_classes
    # where all is known and a table small enough for all codes, the weights are those of the node
    if not data.is_complete or (high + 1) * n_classes > min(max_cells, 2 * n_known):
        low, high, n_known = code_range(codes, cases, labels, class_weights)
    if (high - low + 1) * n_classes <= min(max_cells, 2 * n_known):
        for i in range(len(cases)):
            code = codes[cases[i].row]
            if code >= 0:
                cell = (code - low) * n_classes + labels[i]
                work.code_class_weights[cell] += cases[i].weight
        return list_cells(low, high, n_classes, work)

    n_entries = 0
    for i in range(len(cases)):
        code = np.int64(codes[cases[i].row])
        if code >= 0:
            work.keys[n_entries] = (code << KEY_SHIFT) | i
            n_entries += 1
    sort_by_code(work.keys[:n_entries], low, high - low, work.spare_keys, work.offsets)
    for j in range(n_entries):
        i = work.keys[j] & CASE_MASK
        entry = work.entries[j]
        entry.code = work.keys[j] >> KEY_SHIFT
        entry.label = labels[i]
        entry.weight = cases[i].weight
    return n_entries


@kernel
def code_range(codes, cases, labels, class_weights):
    """Return the lowest and the highest code, and how many cases have one.

    `class_weights` becomes the weights of these cases by class.
    """
    low = np.int64(2**31)
    high = np.int64(-1)
    n_known = 0
    for c in range(len(class_weights)):
        class_weights[c] = 0.0
    for i in range(len(cases)):
        code = np.int64(codes[cases[i].row])
        if code >= 0:
            low = min(low, code)
            high = max(high, code)
            n_known += 1
            class_weights[labels[i]] += cases[i].weight
    return low, high, n_known


@kernel
def list_cells(low, high, n_classes, work):
    """List the cells with cases in `work.entries`, and empty them; returns how many there are."""
    n_entries = 0
    for cell in range((high - low + 1) * n_classes):
        weight = work.code_class_weights[cell]
        if weight > 0:
            entry = work.entries[n_entries]
            entry.code = low + cell // n_classes
            entry.label = cell % n_classes
            entry.weight = weight
            work.code_class_weights[cell] = 0.0
            n_entries += 1
    return n_entries


@entry_kernel
def sort_by_code(keys, low, span, spare_keys, offsets):
    """Sort keys by their codes, in place; those of one code stay in order.

    A radix sort, least significant digit first, each digit by counting.

    Parameters
    ----------
    keys : ndarray of int (n,)
        Codes, from `low` to `low + span`, above KEY_SHIFT bits that do not count.
    low, span : int
    spare_keys : ndarray of int (n,)
    offsets : ndarray of int (4 n + 2,)
    """
    first_key = low << KEY_SHIFT
    # a digit has at most 4 n values, so that counting takes no longer than moving keys
    digit_bits = 1
    while 1 << digit_bits <= min(span, 2 * len(keys) - 1):
        digit_bits += 1
    mask = (1 << digit_bits) - 1
    shift = KEY_SHIFT
    remaining = span
    while remaining > 0:
        for digit in range(mask + 2):
            offsets[digit] = 0
        for i in range(len(keys)):
            spare_keys[i] = keys[i]
            digit = ((keys[i] - first_key) >> shift) & mask
            offsets[digit + 1] += 1
        # now the number of keys with a lower digit: where those of the digit begin
        for digit in range(mask):
            offsets[digit + 1] += offsets[digit]
        for i in range(len(keys)):
            digit = ((spare_keys[i] - first_key) >> shift) & mask
            keys[offsets[digit]] = spare_keys[i]
            offsets[digit] += 1
        shift += digit_bits
        remaining >>= digit_bits
