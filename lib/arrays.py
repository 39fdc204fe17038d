"""Boolean matrices, and batches of rows, so that what is computed from them takes a bounded amount of memory."""

import numpy as np

CACHE = 4  # MiB: small batches, which stay in the processor's cache
# MiB of working arrays of a learner, beside the sample and matrices of all pairs of attributes
LIMIT = 256


def row_batches(n_rows, row_bytes, memory=64):
    """Slices of one row or more whose working arrays, of `row_bytes` a row, take at most `memory` MiB."""
    size = max(1, int(memory * 2**20 // row_bytes))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def check_boolean_matrix(name, values):
    """Return a 2-d array of 0/1 values as uint8; ValueError names the first value that is neither."""
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"{name} must have shape (n_samples, n_attributes); got {values.shape}")
    small = values.dtype == bool or (values.dtype == np.uint8 and values.max(initial=0) <= 1)
    if not small and (wrong := (values != 0) & (values != 1)).any():
        row, column = np.argwhere(wrong)[0]
        raise _not_boolean(name, values[row, column], row, column)
    return np.ascontiguousarray(values, dtype=np.uint8)


def check_sparse_boolean_matrix(name, values):
    """Return a CSR matrix of 0/1 values without stored zeros; ValueError names the first value that is neither."""
    if values.has_canonical_format and (values.data == 1).all():
        return values
    values = values.copy()
    values.sum_duplicates()
    values.eliminate_zeros()
    wrong = np.flatnonzero(values.data != 1)
    if len(wrong):
        row = np.searchsorted(values.indptr, wrong[0], side="right") - 1
        raise _not_boolean(name, values.data[wrong[0]], row, values.indices[wrong[0]])
    return values


def _not_boolean(name, value, row, column):
    where = f"at row {row}, column {column}"
    return ValueError(
        f"{name} must hold only 0 and 1; got {value!r} {where} (binarise the attributes first)"
    )
