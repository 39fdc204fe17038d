"""Mixed columns as trees take them: one matrix of floats, and the ranks of their values."""

from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lib.base.estimators import MixedInput, most_probable
from lib.discretize.columns import (
    Coding,
    check_kinds,
    checked_frame,
    column_kinds,
    continuous_values,
)


class Columns:
    """How the columns of a DataFrame become floats; categories become their numbers.

    Attributes
    ----------
    names : list
    kinds : list of str
        See `lib.discretize.columns.column_kinds`.
    numbers : ndarray of int
        Positions of the columns of floats and integers.
    coding : Coding or None
        Of all other columns; None if there are none.
    sizes : ndarray of int (n_columns,)
        Number of categories of each column, 0 for numbers.
    categories : dict of column -> Index
        Of the columns that have no numbers.
    """

    def __init__(self, X):
        self.names = X.columns.tolist()
        self.kinds = column_kinds(X)
        is_numeric = np.array([kind in ("continuous", "integer") for kind in self.kinds])
        self.numbers = np.flatnonzero(is_numeric)
        self.sizes = np.zeros(X.shape[1], np.int64)
        self.coding = None
        self.categories = {}
        discrete = np.flatnonzero(~is_numeric)
        if len(discrete):
            self.coding = Coding(X, discrete)
            # a column whose values are all missing has one category, that nothing has
            self.sizes[discrete] = np.maximum(self.coding.sizes, 1)
            names = X.columns[discrete]
            self.categories = dict(zip(names, self.coding.categories, strict=True))

    def matrix(self, X):
        """Return the values of a DataFrame, (n_samples, n_columns).

        They are NaN where a value is missing, or not known as a category.
        """
        check_kinds(X, self.kinds)
        matrix = np.empty(X.shape)
        matrix[:, self.numbers] = continuous_values(X, self.numbers)
        if self.coding is not None:
            codes = self.coding(X)
            matrix[:, self.coding.positions] = np.where(codes < 0, np.nan, codes)
        return matrix

    def check(self, table):
        """Return a table whose columns are these, with the same categories, or raise ValueError."""
        other = table.columns
        if other is self:
            return table
        if other.names != self.names:
            raise ValueError(
                f"X must have the columns of fit, {self.names}; got a Table of {other.names}"
            )
        for name in {**self.categories, **other.categories}:
            if not _equal_categories(self.categories.get(name), other.categories.get(name)):
                raise ValueError(
                    f"column {name!r} of the Table has other categories than in fit: "
                    "make it as Table(X, columns) with the columns of the Table of fit"
                )
        return table


def _equal_categories(first, second):
    """Return whether two columns have the same categories, or, both being None, no categories."""
    if first is None or second is None:
        return first is second
    return first.equals(second)


class Table:
    """Rows of a DataFrame made ready for many trees, which take it in place of the DataFrame.

    Parameters
    ----------
    X : DataFrame
    columns : Columns, optional
        Of the table of `fit`, so that categories have the same numbers in new rows.

    Attributes
    ----------
    columns : Columns
    matrix : ndarray of float (n_samples, n_columns)
        Numbers, and numbers of categories; NaN where missing. Whole numbers from 2^53 on lose their
        last digits.
    shape : tuple of int
    complete : bool
        Whether no value is missing.
    """

    def __init__(self, X, columns=None):
        self.columns = Columns(X) if columns is None else columns
        self.matrix = self.columns.matrix(X)
        self.shape = self.matrix.shape
        self.complete = not np.isnan(self.matrix).any()

    def __len__(self):
        return len(self.matrix)

    @cached_property
    def values(self):
        """Sorted different values of each column that has numbers, and all codes of the others."""
        values = []
        for column, n_categories in zip(self.matrix.T, self.columns.sizes, strict=True):
            if n_categories:
                # floats, as numbers are: kernels are compiled for one type
                values.append(np.arange(float(n_categories)))
            else:
                values.append(np.unique(column[~np.isnan(column)]))
        return values

    @cached_property
    def codes(self):
        """Rank of each value among those of its column, (n_columns, n_samples); -1 for missing."""
        codes = np.empty(self.shape[::-1], np.int32)
        for j, (column, values) in enumerate(zip(self.matrix.T, self.values, strict=True)):
            codes[j] = np.where(np.isnan(column), -1, np.searchsorted(values, column))
        return codes

    @cached_property
    def by_row(self):
        """The codes once more, those of a row side by side, (n_samples, n_columns)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def ranked(self):
        """Where the values of each column begin in one list of them all, and that list."""
        lengths = [len(values) for values in self.values]
        starts = np.cumsum([0, *lengths])[:-1]
        return starts, np.concatenate(self.values)


class TableClassifier(MixedInput, ClassifierMixin, BaseEstimator):
    """A classifier that takes tables in place of frames, and predicts the most probable class."""

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of equals the first.

        Of an ensemble, the class with the most votes.
        """
        best = most_probable(self.predict_proba(X))
        return self.classes_[best]

    def _inputs(self, X):
        """Return new rows as they were in `fit`: a table, or without `_columns` a frame."""
        check_is_fitted(self)
        if isinstance(X, Table):
            return X if self._columns is None else self._columns.check(X)
        X = checked_frame(self, X, reset=False)
        return X if self._columns is None else Table(X, self._columns)
