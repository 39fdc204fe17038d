"""How far two rows are apart: the sum of the differences of their attributes, each from 0 to 1."""

import numpy as np

from lib.base.compiled import compiled
from lib.discretize.columns import (
    checked_frame,
    checked_target,
    column_kinds,
    continuous_values,
)
from lib.trees.ranked_columns import Table


def scaled_rows(estimator, X, y):
    """Check examples, and return their values as `distances` takes them, and their classes.

    Parameters
    ----------
    estimator : estimator
        Remembers the names of the columns.
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Floats and integers are numbers and are brought to [0, 1], all others are categories.
    y : array of shape (n_samples,)

    Returns
    -------
    columns : ndarray of shape (n_attributes, n_samples)
        Of numbers from 0 to 1; of categories their numbers.
    target : ndarray of int (n_samples,)
        The number of each row's class.

    Raises
    ------
    ValueError
        If a value is missing or infinite, `y` lacks a label, there is one class only, or the
        lengths differ.
    """
    frame = checked_frame(estimator, X, reset=True)
    classes, target = checked_target(frame, y)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes or more; got one class: {classes[0]}")
    check_complete(frame)
    table = Table(frame)
    values = table.matrix
    low = values.min(axis=0)
    high = values.max(axis=0)
    # Columns whose range would overflow are halved first. That changes no digit.
    overflows = high / 2 - low / 2 > np.finfo(float).max / 2
    halves = np.where(overflows, 0.5, 1.0)
    values = values * halves
    low = low * halves
    high = high * halves
    is_category = table.columns.sizes > 0
    span = np.where(is_category | (high == low), 1.0, high - low)
    offset = np.where(is_category, 0.0, low)
    return np.ascontiguousarray(((values - offset) / span).T), target


def check_complete(frame):
    """Raise ValueError if a value of a typed DataFrame is missing or infinite; it says which."""
    is_numeric = [kind in ("integer", "continuous") for kind in column_kinds(frame)]
    continuous_values(frame, np.flatnonzero(is_numeric))
    missing = np.argwhere(frame.isna().to_numpy())
    if len(missing):
        row, column = missing[0]
        raise ValueError(
            "X must not hold missing values; "
            f"got NaN in column {frame.columns[column]!r}, row {row}"
        )


@compiled()
def difference(value, other_value):
    """Return how far two values of an attribute are apart, at most 1.

    So different categories are 1 apart, whatever their numbers.
    """
    return min(abs(value - other_value), 1.0)


@compiled()
def distances(columns, attributes, row):
    """Return how far all rows are from one, (n_samples,), by some of the attributes.

    The row is infinitely far from itself, so that it is no neighbour of its own.
    """
    totals = np.zeros(columns.shape[1])
    for j in attributes:
        column = columns[j]
        value = column[row]
        for i in range(len(totals)):
            totals[i] += difference(column[i], value)
    totals[row] = np.inf
    return totals
