"""Batches of rows that bound memory, scaling against overflow, and checks of boolean matrices."""

import numpy as np

# MiB of small batches, which stay in the processor's cache
CACHE = 4
# MiB of working arrays of a learner, beside the sample and matrices of all pairs of attributes
LIMIT = 256


def row_batches(n_rows, row_bytes, memory=64):
    """Return slices of one row or more whose working arrays take at most `memory` MiB.

    Parameters
    ----------
    n_rows : int
    row_bytes : int
        Bytes of working arrays that a row takes.
    memory : float
        In MiB.

    Returns
    -------
    batches : list of slice
    """
    batch_size = max(1, int(memory * 2**20 // row_bytes))
    batches = []
    for start in range(0, n_rows, batch_size):
        batches.append(slice(start, min(start + batch_size, n_rows)))
    return batches


def scale_by_power_of_two(values):
    """Return each column divided by a power of two, so that no square overflows, and the powers.

    Sums and squares of the values that are returned neither overflow nor vanish, as the largest
    magnitude of each column is from 0.5 up to 1. Dividing a float by a power of two changes its
    exponent alone, so that no digit is lost, except by numbers 2^1022 times smaller than the
    largest of their column. Means and deviations of the original values are those of the scaled
    ones by ``np.ldexp(scaled_mean, exponents)``.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,) or (n_rows, n_columns)
        Finite, or NaN where missing.

    Returns
    -------
    scaled : ndarray of the shape of `values`
        ``values / 2 ** exponents``.
    exponents : int, or ndarray of int of shape (n_columns,)
        0 for columns without a value, or of zeros only.
    """
    largest = np.fmax.reduce(np.abs(values), axis=0, initial=0)  # fmax passes over NaN
    _, exponents = np.frexp(largest)
    return np.ldexp(values, -exponents), exponents


def take_rows(values, rows):
    """Return these rows of an array, a sparse matrix, or a frame or series of pandas."""
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def check_boolean_matrix(name, values):
    """Return a 2-d array of 0/1 values as uint8.

    Raises
    ------
    ValueError
        If the array is not 2-d; or it names the first value that is neither 0 nor 1.
    """
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"{name} must have shape (n_samples, n_attributes); got {values.shape}")
    # The two types in which matrices usually come need no comparison of each value
    is_boolean = values.dtype == bool or (values.dtype == np.uint8 and values.max(initial=0) <= 1)
    if not is_boolean:
        is_wrong = (values != 0) & (values != 1)
        if is_wrong.any():
            row, column = np.argwhere(is_wrong)[0]
            raise _not_boolean(name, values[row, column], row, column)
    return np.ascontiguousarray(values, dtype=np.uint8)


def check_sparse_boolean_matrix(name, values):
    """Return a CSR matrix of 0/1 values without stored zeros.

    Raises
    ------
    ValueError
        If a value is neither 0 nor 1; the message names the first one.
    """
    if values.has_canonical_format and (values.data == 1).all():
        return values
    values = values.copy()
    values.sum_duplicates()
    values.eliminate_zeros()
    wrong_entries = np.flatnonzero(values.data != 1)
    if len(wrong_entries):
        entry = wrong_entries[0]
        # Entries of row i are those from indptr[i] up to indptr[i + 1]
        row = np.searchsorted(values.indptr, entry, side="right") - 1
        raise _not_boolean(name, values.data[entry], row, values.indices[entry])
    return values


def _not_boolean(name, value, row, column):
    return ValueError(
        f"{name} must hold only 0 and 1; got {value!r} at row {row}, column {column} "
        "(binarise the attributes first)"
    )
