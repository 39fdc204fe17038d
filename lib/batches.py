"""Batches of rows, so that what is computed from them takes a bounded amount of memory."""

CACHE = 4  # MiB: small batches, which stay in the processor's cache
LIMIT = 256  # MiB of working arrays of a learner, beside the sample and matrices of all pairs of attributes


def row_batches(n_rows, row_bytes, memory=64):
    """Slices of one row or more whose working arrays, of `row_bytes` a row, take at most `memory` MiB."""
    size = max(1, int(memory * 2**20 // row_bytes))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
