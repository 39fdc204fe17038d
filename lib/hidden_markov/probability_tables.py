"""Tables of probabilities: how they are checked, and how they are made of counts."""

import reprlib

import numpy as np

from lib.base.validation import probability_divisors


def normalise_rows(counts, default=0.0):
    """Divide rows by their sums; a row that is all zero becomes that of `default`."""
    totals = counts.sum(axis=1, keepdims=True)
    has_counts = totals > 0
    return np.where(has_counts, counts / np.where(has_counts, totals, 1), default)


def logarithms(*tables):
    """Return the logarithm of each table; that of 0 is -inf."""
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


def to_array(name, value, dtype=None):
    """Return an array, or raise ValueError that names the parameter."""
    try:
        return np.array(value, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of one shape and type ({error}); got {reprlib.repr(value)}"
        ) from error


def probabilities(name, table, shape):
    """Return `table` as an array of floats, with rows divided by their sums of nearly 1.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    table : array of one or two dimensions
    shape : tuple of int
        The shape that the table must have; the last number is None where rows may have any length
        of at least 1.

    Raises
    ------
    ValueError
        If the table has another shape, or a row has a negative number or a sum that is not 1, but
        for rounding as in `probability_divisors`.
    """
    table = to_array(name, table, float)
    if shape[-1] is None:
        row_length = table.shape[-1] if table.ndim else 1
        shape = (*shape[:-1], max(row_length, 1))
    if table.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, and rows that sum to 1; got shape {table.shape}"
        )
    divisors = probability_divisors(
        table.sum(axis=-1),
        table.min(axis=-1),
        lambda *row: f"row {row[0]} of {name}" if row else name,
    )
    return table / divisors[..., None]


def check_tables(start, transitions, emissions, suffix=""):
    """Return the three tables of a model as arrays, or raise ValueError that names what is wrong.

    `suffix` is added to the names of the tables in messages.
    """
    start = probabilities("start" + suffix, start, (None,))
    n_states = len(start)
    transitions = probabilities("transitions" + suffix, transitions, (n_states, n_states))
    emissions = probabilities("emissions" + suffix, emissions, (n_states, None))
    return start, transitions, emissions
