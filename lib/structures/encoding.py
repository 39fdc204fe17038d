"""Attributes and class as codes 0, 1, ... of their values."""

import numpy as np
from sklearn.base import BaseEstimator

from lib.discretize.columns import (
    MISSING,
    Coding,
    checked_frame,
    checked_target,
    column_kinds,
    continuous_values,
)


class DiscreteCoding(Coding):
    """Codes of all columns of a DataFrame, where a value that was never seen counts as missing.

    Parameters
    ----------
    X : DataFrame
        After `checked_frame`.

    Attributes
    ----------
    categories : list of Index
        The values of each column, in the order of their codes.
    sizes : ndarray of shape (n_attributes,)
        Number of values each column can have: the declared categories of a category dtype, and
        otherwise those observed, but at least 2; so a column without any value has 2, or its
        declared ones.
    """

    def __init__(self, X):
        super().__init__(X, np.arange(X.shape[1]))
        # A category dtype may declare nothing, but a table has a column at least
        self.sizes = np.maximum(self.sizes, 1)

    def __call__(self, X):
        """Return the code of each value, (n_samples, n_attributes), in 0 .. size - 1.

        A value that is missing, or was never seen, has the code -1.

        Raises
        ------
        ValueError
            If a column is not discrete.
        """
        check_discrete(X)
        return np.maximum(super().__call__(X), MISSING)


def check_discrete(X):
    """Raise ValueError if a column of the DataFrame `X` has numbers that are not whole.

    NaN is a missing value.
    """
    for position, kind in enumerate(column_kinds(X)):
        if kind != "continuous":
            continue
        values = continuous_values(X, [position])[:, 0]
        has_fraction = (values != np.floor(values)) & ~np.isnan(values)
        if has_fraction.any():
            row = np.argmax(has_fraction)
            example = f"column {X.columns[position]!r} has {values[row]} in row {row}"
            advice = "discretise first, for example with lib.discretize.EntropyDiscretizer"
            raise ValueError(f"columns must hold whole numbers or NaN; {example}: {advice}")


def discrete_codes(X, y):
    """Return codes of the class and the attributes, and the number of values of each.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Of any columns that `check_discrete` allows; NaN and None are missing values.
    y : array of shape (n_samples,)
        The class of each row, none missing.

    Returns
    -------
    codes : ndarray of int, shape (n_samples, n_attributes + 1)
        The class in column 0; -1 is a missing value.
    sizes : ndarray of int, shape (n_attributes + 1,)

    Raises
    ------
    ValueError
        If `X` is not discrete or infinite somewhere, `y` lacks a label, or the lengths differ.
    """
    X = checked_frame(BaseEstimator(), X, reset=True)
    classes, y = checked_target(X, y)
    coding = DiscreteCoding(X)
    codes = np.column_stack([y, coding(X)])
    sizes = np.append(len(classes), coding.sizes)
    return codes, sizes
