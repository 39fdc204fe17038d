"""How far two rows are from each other: the sum of the differences of their attributes, each from 0 to 1."""

import numpy as np

from lib.compiled import compiled
from lib.discretize.columns import checked_frame, checked_target
from lib.trees.ranked_columns import Table


def scaled_rows(estimator, X, y):
    """Return what distances are of, after checks: values and the number of each row's class.

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

    Raises
    ------
    ValueError
        If a value is missing or infinite, `y` lacks a class, there is one class only, or the
        lengths differ.
    """
    frame = checked_frame(estimator, X, reset=True)
    classes, target = checked_target(frame, y)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes or more; got one class: {classes[0]}")
    table = complete_table(frame)
    values, categorical = table.matrix, table.columns.sizes > 0
    low, high = values.min(axis=0), values.max(axis=0)
    # of columns whose range would overflow
    halves = np.where(high / 2 - low / 2 > np.finfo(float).max / 2, 0.5, 1.0)
    values, low, high = values * halves, low * halves, high * halves
    span = np.where(categorical | (high == low), 1.0, high - low)
    return np.ascontiguousarray(((values - np.where(categorical, 0.0, low)) / span).T), target


def complete_table(frame):
    """Return the `Table` of a typed DataFrame; ValueError names a missing or infinite value."""
    table = Table(frame)
    for row, column in np.argwhere(np.isnan(table.matrix)):
        raise ValueError(
            f"X must not hold missing values; got NaN in column {frame.columns[column]!r}, row {row}"
        )
    return table


@compiled()
def distances(columns, attributes, row):
    """Return how far all rows are from one by some of the attributes; it is infinitely far from itself.

    Two rows differ by at most 1 in an attribute, and so do those of different categories, whatever
    their numbers.
    """
    far = np.zeros(columns.shape[1])
    for j in attributes:
        column, own = columns[j], columns[j, row]
        for other in range(len(far)):
            far[other] += min(abs(column[other] - own), 1.0)
    far[row] = np.inf
    return far
