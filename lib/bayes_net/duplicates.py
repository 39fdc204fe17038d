"""Equal rows of a table of codes are merged."""

import numpy as np


def merge_duplicates(values, sizes):
    """Return the different rows of a table, and for each row the number of its equal among them.

    Parameters
    ----------
    values : ndarray of int, shape (n_rows, n_columns)
        Codes below the size of their column; -1 where missing.
    sizes : sequence of int, shape (n_columns,)

    Returns
    -------
    distinct : ndarray, shape (n_distinct, n_columns)
    index : ndarray of intp, shape (n_rows,)
        `distinct[index]` are the rows.
    """
    if values.shape[1] == 0:
        return values[:1], np.zeros(len(values), dtype=np.intp)
    n_bits = np.log2(np.asarray(sizes, dtype=float) + 1).sum()
    if n_bits < 62:  # a row is one integer of 64 bits, in a mixed radix
        radices = np.asarray(sizes[:0:-1], dtype=np.int64) + 1
        place_values = np.concatenate([np.cumprod(radices)[::-1], [1]])
        keys = (values.astype(np.int64) + 1) @ place_values
    else:
        bytes_per_row = 4 * values.shape[1]
        keys = np.ascontiguousarray(values, dtype=np.int32).view(f"V{bytes_per_row}").ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return values[first], index
