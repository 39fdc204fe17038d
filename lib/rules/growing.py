"""A rule grows by the conditions with the most information, until it is never wrong on the rows it grows on."""

import numpy as np

from lib.compiled import assign, compiled

EQUAL, AT_MOST, AT_LEAST = 0, 1, 2


@compiled()
def grow(codes, sizes, positive, rows, start, least):
    """Add conditions to a rule while one has a positive gain (FOIL's) and the rule covers negative rows.

    Parameters
    ----------
    codes : ndarray of int32 (n_columns, n_samples)
        Ranks of numbers, numbers of categories; -1 where missing.
    sizes : ndarray of int (n_columns,)
        Number of categories, 0 for numbers.
    positive : ndarray of bool (n_samples,)
    rows : ndarray of int
        Rows to grow on.
    start : ndarray of int (n_conditions, 3)
        Attribute, kind and code of the conditions to begin with.
    least : int
        Positive rows that a condition leaves at least.

    Returns
    -------
    conditions : ndarray of int (n_conditions, 3)
    n_scanned : int
        Values looked at: attributes times rows, summed over the conditions.
    """
    conditions = np.zeros((len(start) + len(rows), 3), np.int64)
    n, n_scanned = len(start), 0
    for i, condition in enumerate(start):
        assign(conditions[i], condition)
        rows = rows[passes(codes, condition, rows)]
    while 0 < positive[rows].sum() < len(rows):
        n_scanned += len(rows) * len(codes)
        condition, gain = best_condition(codes, sizes, positive, rows, least)
        if gain <= 0:
            break
        assign(conditions[n], condition)
        rows = rows[passes(codes, condition, rows)]
        n += 1
    return conditions[:n].copy(), n_scanned


@compiled()
def passes(codes, condition, rows):
    """Return which of the rows pass a condition."""
    values, code = codes[condition[0]][rows], condition[2]
    if condition[1] == EQUAL:
        return values == code
    return (values >= code) if condition[1] == AT_LEAST else (values <= code) & (values >= 0)


@compiled()
def best_condition(codes, sizes, positive, rows, least):
    """Return the condition that gains most, p (log2 p / (p + n) - log2 P / (P + N)), and how much."""
    best, condition = 0.0, np.zeros(3, np.int64)
    n_positive, n_rows = positive[rows].sum(), len(rows)
    before = np.log2(n_positive / n_rows)
    for j in range(len(codes)):
        keys = np.sort(2 * codes[j][rows] + positive[rows])
        keys = keys[np.searchsorted(keys, 0) :]
        known, ones, i = len(keys), (keys % 2).sum(), 0
        passed = seen = 0
        while i < known:
            code, first, first_ones = keys[i] // 2, i, seen
            while i < known and keys[i] // 2 == code:
                seen += keys[i] % 2
                i += 1
            if sizes[j] > 0:
                trials = ((EQUAL, seen - first_ones, i - first), (EQUAL, 0, 0))
            else:
                trials = ((AT_MOST, seen, i), (AT_LEAST, ones - first_ones, known - first))
            for kind, p, passed in trials:
                if p >= least and passed < n_rows and p * (np.log2(p / passed) - before) > best:
                    best = p * (np.log2(p / passed) - before)
                    condition[0], condition[1], condition[2] = j, kind, code
    return condition, best
