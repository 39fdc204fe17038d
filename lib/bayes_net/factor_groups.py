"""Groups of factors that are looked up together, so that a row sums a few logs instead of many.

A group has consecutive factors. Each combination of their cells that occurs in the data is a joint
value, whose log is summed once for all rows that have it.
"""

import numpy as np

from lib.base.compiled import compiled


def find_cells(values, needed, scopes, strides, offsets):
    """Find the cell in which each row reads each factor, and the factors that messages sum.

    Parameters
    ----------
    values : ndarray of int32, shape (n_variables, n_rows)
        Codes, -1 where missing.
    needed : ndarray of bool, shape (n_variables, n_rows)
        Where False, the variable and its factor are left out, as they sum to one.
    scopes, strides : ndarray of int, shape (n_factors, width)
        Variables of each factor and their steps in it; unused columns are -1.
    offsets : ndarray of int, shape (n_factors + 1,)
        First cell of each factor, and the end.

    Returns
    -------
    cells : ndarray of uint32, shape (n_factors, n_rows)
        The cell after the last, `offsets[-1]`, where a row does not read the factor.
    summed : ndarray of bool, shape (n_factors, n_rows)
        Factors of which a variable is missing, where they are needed.
    """
    cells = np.empty((len(scopes), values.shape[1]), np.uint32)
    summed = np.zeros(cells.shape, bool)
    is_missing = values < 0
    has_missing = is_missing.any(axis=1)
    # one factor after the other: its rows stay in the processor's cache
    for f in range(len(scopes)):
        cells[f] = offsets[f]
        for variable, stride in zip(scopes[f], strides[f], strict=True):
            if variable >= 0:
                # where a code is -1 the cell is wrong, and set below
                cells[f] += (values[variable] * np.int32(stride)).view(np.uint32)
                if has_missing[variable]:
                    summed[f] |= is_missing[variable]
    # factor f is the table of variable f
    summed &= needed
    cells[summed | ~needed] = offsets[-1]
    return cells, summed


def group_factors(cells, offsets, max_values):
    """Group factors, and find the joint value of each group in each row.

    Parameters
    ----------
    cells : ndarray of uint32, shape (n_factors, n_rows)
        As `find_cells` returns them.
    offsets : ndarray of intp, shape (n_factors + 1,)
    max_values : int
        Most joint values of a group of more than one factor.

    Returns
    -------
    joint_values : ndarray of uint32, shape (n_rows, n_groups)
        Number of the joint value of each group, different ones for different groups.
    group_cells : ndarray of uint32, shape (n_joint_values, width)
        Cells of each joint value, filled with the cell after the last.
    """
    n_factors, n_rows = cells.shape
    numbers = np.empty((n_factors, n_rows), np.uint32)
    sizes = np.empty(n_factors, np.intp)
    first_factors = np.empty(n_factors + 1, np.intp)
    n_groups = find_groups(cells, offsets, max_values, numbers, sizes, first_factors)
    widths = np.diff(first_factors[: n_groups + 1])
    starts = np.concatenate([[0], np.cumsum(sizes[:n_groups])])
    joint_values = (numbers[:n_groups] + starts[:-1, None]).T.astype(np.uint32, order="C")
    group_cells = np.full((starts[-1], widths.max()), offsets[-1], np.uint32)
    for g in range(n_groups):
        for i in range(widths[g]):  # all rows with the same joint value have the same cell
            group_cells[joint_values[:, g], i] = cells[first_factors[g] + i]
    return joint_values, group_cells


@compiled(error_model="numpy")
def find_groups(cells, offsets, max_values, numbers, sizes, first_factors):
    """Set the joint value of each group in each row, how many there are, and its first factor.

    Return the number of groups. A factor joins the group before it if that leaves at most
    `max_values` joint values, and a table of all possible ones is not much longer than the rows.
    """
    n_factors, n_rows = cells.shape
    codes = np.empty(n_rows, np.uint32)
    joint = np.empty(n_rows, np.uint32)
    n_groups = 0
    for f in range(n_factors):
        size = offsets[f + 1] - offsets[f] + 1  # the last code: the factor is not read
        for r in range(n_rows):
            codes[r] = min(cells[f, r] - offsets[f], size - 1)
        # try to join the group before it
        last = n_groups - 1
        if n_groups > 0 and sizes[last] * size <= 8 * n_rows:
            for r in range(n_rows):
                joint[r] = numbers[last, r] * size + codes[r]
            n_values = number_codes(joint, sizes[last] * size)
            if n_values <= max_values:
                for r in range(n_rows):
                    numbers[last, r] = joint[r]
                sizes[last] = n_values
                continue
        # or begin a new one
        sizes[n_groups] = number_codes(codes, size)
        for r in range(n_rows):
            numbers[n_groups, r] = codes[r]
        first_factors[n_groups] = f
        n_groups += 1
    first_factors[n_groups] = n_factors
    return n_groups


@compiled(error_model="numpy")
def number_codes(codes, size):
    """Replace codes below `size` by their numbers among those that occur; return how many do."""
    number = np.zeros(size, np.uint32)
    for code in codes:
        number[code] = 1
    for code in range(1, size):
        number[code] += number[code - 1]
    for r in range(len(codes)):
        codes[r] = number[codes[r]] - 1
    return np.intp(number[-1])
