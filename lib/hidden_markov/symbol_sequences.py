"""Sequences of symbols as one array, the form in which the algorithms take them."""

import numpy as np

from lib.hidden_markov.probability_tables import to_array

# a larger alphabet, of which the sequences cannot hold all symbols, must be asked for
MANY_SYMBOLS = 1_000_000


def joined(sequences, n_symbols=None):
    """Join sequences into one array.

    Parameters
    ----------
    sequences : sequence of sequences of int
        Symbols 0, 1, ...; at least one sequence, and at least one symbol in each.
    n_symbols : int, optional
        Size of the alphabet.

    Returns
    -------
    symbols : ndarray of int64, shape (n_steps,)
        All sequences, one after the other.
    ends : ndarray of int, shape (n_sequences + 1,)
        Where each sequence begins, and where the last one ends.

    Raises
    ------
    ValueError
        If there is no sequence, or one of them is empty or holds what is no symbol.
    """
    if not np.iterable(sequences):
        raise ValueError(f"sequences must be a list of sequences of symbols; got {sequences!r}")
    arrays = [to_array(f"sequence {i}", sequence) for i, sequence in enumerate(sequences)]
    if not arrays:
        raise ValueError("sequences must hold at least one sequence; got none")
    for i, array in enumerate(arrays):
        _check_sequence(i, array, n_symbols)
    largest = max(int(array.max()) for array in arrays)
    lengths = [len(array) for array in arrays]
    n_steps = sum(lengths)
    if n_symbols is None and largest >= max(MANY_SYMBOLS, n_steps):
        remedy = "number the symbols that occur 0, 1, ..., or give n_symbols"
        raise ValueError(
            f"symbol {largest} is too large for {n_steps} steps without n_symbols; {remedy}"
        )
    return np.concatenate(arrays).astype(np.int64), np.cumsum([0, *lengths])


def _check_sequence(number, array, n_symbols):
    """Raise ValueError unless an array is one row of symbols of the alphabet."""
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            f"sequence {number} must be one row of at least one integer; "
            f"got {array.dtype} of {array.shape}"
        )
    outside = np.flatnonzero((array < 0) | (array >= (n_symbols or np.inf)))
    if len(outside):
        position = outside[0]
        allowed = "at least 0" if n_symbols is None else f"from 0 to {n_symbols - 1}"
        raise ValueError(
            f"symbol {array[position]} of sequence {number}, position {position}, must be {allowed}"
        )
