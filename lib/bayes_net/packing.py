"""Layout of rows for the compiled loops: rows merged, the cells that factors are looked up in, packs of factors."""

import numpy as np

from lib.compiled import assign, compiled


def merged(values, sizes):
    """Return the different rows of `values` (n, m), -1 where missing, and the number of each row among them."""
    if values.shape[1] == 0:
        return values[:1], np.zeros(len(values), dtype=np.intp)
    if np.log2(np.asarray(sizes, dtype=float) + 1).sum() < 62:
        steps = np.concatenate(
            [np.cumprod(np.asarray(sizes[:0:-1], dtype=np.int64) + 1)[::-1], [1]]
        )
        keys = (values.astype(np.int64) + 1) @ steps
    else:
        keys = np.ascontiguousarray(values, dtype=np.int32).view(f"V{4 * values.shape[1]}").ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return values[first], index


@compiled(error_model="numpy")
def factor_cells(values, needed, scopes, strides, offsets):
    """Which cell each row looks each factor up in, and which factors are to be summed; both (n_factors, n_rows).

    What is not looked up has the cell after the last. `values` and `needed` are (n_variables,
    n_rows), `scopes` and `strides` (n_factors, width), filled with -1.
    """
    shape = len(scopes), values.shape[1]
    cells, live = np.empty(shape, np.uint32), np.zeros(shape, np.bool_)
    for f in range(shape[0]):
        own, summed, left_out = cells[f], live[f], np.uint32(offsets[-1])
        own[:] = offsets[f]
        for i in range(scopes.shape[1]):
            if scopes[f, i] >= 0:
                column, stride = values[scopes[f, i]], np.int32(strides[f, i])
                for r in range(shape[1]):
                    own[r] += np.uint32(column[r] * stride)
                    summed[r] |= column[r] < 0
        for r in range(shape[1]):
            summed[r] &= needed[f, r]  # factor f is the table of variable f
            own[r] = own[r] if needed[f, r] and not summed[r] else left_out
    return cells, live


@compiled(error_model="numpy")
def packed(cells, offsets, largest):
    """Which joint values of a pack of factors each row has, (n_rows, n_packs), and their cells (n_values, width).

    A pack is of factors that follow each other and of at most `largest` joint values, if it is of
    several.
    """
    numbers, sizes, begins = _grouped(cells, offsets, largest)
    width, start, left_out = np.diff(np.array(begins)).max(), 0, offsets[-1]
    picks = np.empty((cells.shape[1], len(sizes)), np.uint32)
    packs = np.full((sum(sizes), width), left_out, np.uint32)
    for g in range(len(sizes)):
        for r in range(len(picks)):
            pick = start + numbers[g, r]
            picks[r, g] = pick
            if packs[pick, 0] == left_out:  # unless a row with this pick has come before
                for i in range(begins[g + 1] - begins[g]):
                    packs[pick, i] = cells[begins[g] + i, r]
        start += sizes[g]
    return picks, packs


@compiled(error_model="numpy")
def _grouped(cells, offsets, largest):
    """Number of each pack's joint value in each row, how many there are, and the pack's first factor; then the end."""
    n_factors, n_rows = cells.shape
    numbers, sizes, begins = np.empty((n_factors, n_rows), np.uint32), [0] * 0, [0] * 0
    code, joint = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint32)
    for f in range(n_factors):
        size = offsets[f + 1] - offsets[f]
        for r in range(n_rows):
            code[r] = min(cells[f, r] - offsets[f], size)
        if len(sizes) > 0 and sizes[-1] * (size + 1) <= 8 * n_rows:
            last = numbers[len(sizes) - 1]
            for r in range(n_rows):
                joint[r] = last[r] * (size + 1) + code[r]
            n_values = _number(joint, sizes[-1] * (size + 1))
            if n_values <= largest:
                assign(last, joint)
                sizes[-1] = n_values
                continue
        sizes.append(_number(code, size + 1))
        begins.append(f)
        assign(numbers[len(begins) - 1], code)
    begins.append(n_factors)
    return numbers, sizes, begins


@compiled(error_model="numpy")
def _number(codes, size):
    """Put in place of each code, less than `size`, its number among those that occur; return how many do."""
    number = np.zeros(size, np.uint32)
    for code in codes:
        number[code] = 1
    for code in range(1, size):
        number[code] += number[code - 1]
    for r in range(len(codes)):
        codes[r] = number[codes[r]] - 1
    return np.intp(number[-1])
