"""Mixed columns as trees take them: one matrix of floats, and the ranks of their values."""

from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import (
    Coding,
    check_kinds,
    checked_frame,
    column_kinds,
    continuous_values,
)
from lib.estimators import MixedInput, most_probable


class Columns:
    """How columns become numbers: floats and integers stay, all others get the numbers of their categories.

    Attributes
    ----------
    names : list
    sizes : ndarray of int
        Number of categories of each column, 0 for numbers.
    categories : dict of column -> Index
        Of the columns that have no numbers.
    """

    def __init__(self, X):
        self.names, self.kinds = X.columns.tolist(), column_kinds(X)
        numeric = np.array([kind in ("continuous", "integer") for kind in self.kinds])
        self.numbers, discrete = np.flatnonzero(numeric), np.flatnonzero(~numeric)
        self.coding = Coding(X, discrete) if len(discrete) else None
        self.sizes = np.zeros(X.shape[1], np.int64)
        self.sizes[discrete] = np.maximum(self.coding.sizes, 1) if len(discrete) else 0
        categories = self.coding.categories if len(discrete) else []
        self.categories = dict(zip(X.columns[discrete], categories, strict=True))

    def matrix(self, X):
        """Values of a DataFrame, (n_samples, n_columns); NaN where missing, or not known as a category."""
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
            if not self._same_categories(other, name):
                how = "make it as Table(X, columns) with the columns of the Table of fit"
                raise ValueError(
                    f"column {name!r} of the Table has other categories than in fit: {how}"
                )
        return table

    def _same_categories(self, other, name):
        if name not in self.categories or name not in other.categories:
            return False
        return self.categories[name].equals(other.categories[name])


class Table:
    """Rows of a DataFrame made ready for many trees, whose `fit` and `predict` take it in its place.

    Parameters
    ----------
    X : DataFrame
    columns : Columns, optional
        Of the table of `fit`, so that categories have the same numbers in new rows.
    """

    def __init__(self, X, columns=None):
        self.columns = Columns(X) if columns is None else columns
        self.matrix = self.columns.matrix(X)
        self.shape, self.complete = self.matrix.shape, not np.isnan(self.matrix).any()

    def __len__(self):
        return len(self.matrix)

    @cached_property
    def values(self):
        """Sorted different values of each column that has numbers, and all codes of the others."""
        known = [column[~np.isnan(column)] for column in self.matrix.T]
        sizes = self.columns.sizes
        return [
            np.arange(size) if size else np.unique(v) for v, size in zip(known, sizes, strict=True)
        ]

    @cached_property
    def codes(self):
        """Rank of each value among those of its column, (n_columns, n_samples); -1 for missing."""
        columns = zip(self.matrix.T, self.values, strict=True)
        return np.array(
            [np.where(np.isnan(x), -1, np.searchsorted(v, x)) for x, v in columns], np.int32
        )

    @cached_property
    def by_row(self):
        """The codes once more, those of a row side by side, (n_samples, n_columns)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def ranked(self):
        """Where the values of each column begin in one list of them all, and that list."""
        return np.cumsum([0] + [len(values) for values in self.values])[:-1], np.concatenate(
            self.values
        )


class TableClassifier(MixedInput, ClassifierMixin, BaseEstimator):
    """Takes tables in place of frames, and predicts the most probable class."""

    def predict(self, X):
        """The most probable class of each row, (n_samples,), or that with the most votes; of equals the first."""
        best = most_probable(self.predict_proba(X))
        return self.classes_[best]

    def _inputs(self, X):
        """New rows as they were in `fit`: a table, or a frame, where there are no `_columns`."""
        check_is_fitted(self)
        if isinstance(X, Table):
            return X if self._columns is None else self._columns.check(X)
        X = checked_frame(self, X, reset=False)
        return X if self._columns is None else Table(X, self._columns)
