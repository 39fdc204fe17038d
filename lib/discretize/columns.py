"""Columns of a DataFrame by the kind of their values, and the codes of those that are not continuous."""

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from lib.discretize.typed import as_table, check_text, typed_columns

KINDS = {
    "b": "boolean",
    "i": "integer",
    "u": "integer",
    "f": "continuous",
    "O": "categorical",
    "U": "categorical",
}
MISSING, NEW = -1, -2
BOOL = np.dtype(bool)
TRUTH = pd.Index([False, True], dtype=object)


def checked_frame(estimator, X, reset):
    """Return `X` as a DataFrame of typed columns, after checks of names and sizes, and of being fitted without `reset`.

    Columns are typed by their values wherever they come from, see `lib.discretize.typed`. Columns
    of an array, and columns whose names are not strings, are called x0, x1, ..., as in
    scikit-learn.

    Parameters
    ----------
    estimator : estimator
        Remembers the names and the number of the columns.
    X : DataFrame, frame of polars or Arrow, array or list of rows, of shape (n_samples, n_columns)
    reset : bool
        Whether this is `fit`, where text of which nearly all is numbers is refused.

    Raises
    ------
    ValueError
        If `X` is no table, is empty, has other columns than in `fit` or two of one name, or a
        column of dates, say.
    """
    if not reset:
        check_is_fitted(estimator)
    X = as_table(X)
    if isinstance(X, pd.DataFrame):
        _check_names_and_size(estimator, X, reset)
        if not hasattr(estimator, "feature_names_in_"):
            X = X.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)
    else:
        X = validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    X = typed_columns(X)
    if reset:
        check_text(X)
    return X


def _check_names_and_size(estimator, X, reset):
    if not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"columns of X must have different names; {name!r} comes twice")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    for count, what in zip(X.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )


def checked_target(X, y):
    """Return the sorted classes of `y` and the number of each row's class."""
    y = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, y)
    if not y.dtype.isnative:  # pandas takes no other
        y = y.astype(y.dtype.newbyteorder("="))
    codes, classes = pd.factorize(y, sort=True)
    if (codes < 0).any():
        raise ValueError(f"y contains NaN: no class is given in row {np.argmin(codes)}")
    classes = np.asarray(classes)
    labels = pd.Series(classes).infer_objects().to_numpy() if classes.dtype.kind == "O" else classes
    if labels.dtype.kind not in "biuOUT":
        check_classification_targets(labels)
    return classes, codes


def column_kinds(X):
    """List "boolean", "integer", "continuous" or "categorical" for each column, by its dtype."""
    kinds = [_kind(dtype) for dtype in X.dtypes.to_numpy()]
    if None in kinds:
        i, allowed = kinds.index(None), "bool, category, string, object, integers and floats"
        raise ValueError(
            f"column {X.columns[i]!r} has dtype {X.dtypes.iloc[i]}; allowed are {allowed}"
        )
    return kinds


def _kind(dtype):
    if dtype.kind == "O" and not isinstance(dtype, np.dtype | pd.CategoricalDtype | pd.StringDtype):
        return None  # periods and intervals
    return KINDS.get(dtype.kind)


def check_kinds(X, fitted):
    """Raise ValueError if a continuous column is not a number any more, or a boolean one became a number.

    A column without any value is of every kind.
    """
    for name, before, now in zip(X.columns, fitted, column_kinds(X), strict=True):
        numeric = now in ("integer", "continuous")
        changed = (before == "continuous" and not numeric) or (before == "boolean" and numeric)
        if changed and X[name].notna().any():
            raise ValueError(f"column {name!r} was {before} in fit; got {X[name].dtype}")


def continuous_values(X, positions):
    """Return the columns at `positions` as floats with NaN for missing; ValueError names an infinite one."""
    values = X.iloc[:, positions].to_numpy(dtype=float, na_value=np.nan)
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        where = f"in column {X.columns[positions[column]]!r}, row {row}"
        raise ValueError(f"X must not hold infinity; got {values[row, column]} {where}")
    return values


def _categories(X, position, dtype):
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories
    return TRUTH if dtype.kind == "b" else pd.Categorical(X.iloc[:, position].array).categories


class Coding:
    """Codes of the discrete columns of a DataFrame.

    Parameters
    ----------
    X : DataFrame
    positions : ndarray of int
        Where the discrete columns are in `X`.

    Attributes
    ----------
    categories : list of Index
        For each discrete column; bools have False and True.
    sizes : ndarray of int
        Number of values each column can have: of declared categories, or of observed ones but at
        least 2.
    """

    def __init__(self, X, positions):
        self.positions = positions
        dtypes = X.dtypes.to_numpy()[positions]
        self.categories = [
            _categories(X, i, dtype) for i, dtype in zip(positions, dtypes, strict=True)
        ]
        least = [0 if isinstance(dtype, pd.CategoricalDtype) else 2 for dtype in dtypes]
        self.sizes = np.maximum(least, [len(categories) for categories in self.categories]).astype(
            np.intp
        )
        self._truth = np.array([categories is TRUTH for categories in self.categories], dtype=bool)
        self._kinds = column_kinds(X.iloc[:, positions])

    def __call__(self, X):
        """Number of each value among the categories of its column, (n_samples, n_discrete), or MISSING or NEW.

        A column of another type than in `fit`, with no value that is known, is a ValueError:
        strings for integers, say.
        """
        codes = np.empty((len(X), len(self.positions)), dtype=np.intp)
        plain = self._truth & np.array(
            [dtype is BOOL for dtype in X.dtypes.to_numpy()[self.positions]], dtype=bool
        )
        if plain.any():
            codes[:, plain] = X.iloc[:, self.positions[plain]].to_numpy()
        if not plain.all():
            columns = [column.array for _, column in X.items()]
            for j in np.flatnonzero(~plain):
                codes[:, j] = _codes(columns[self.positions[j]], self.categories[j])
        for j in np.flatnonzero((codes < 0).all(axis=0)):
            column, fitted = X.iloc[:, self.positions[j]].dropna(), self._kinds[j]
            kinds = {
                "number" if kind in ("integer", "continuous") else kind
                for kind in (fitted, _kind(column.dtype))
            }
            if len(column) and len(kinds) == 2:
                raise ValueError(
                    f"column {column.name!r} was {fitted} in fit; got {column.iloc[0]!r} ({column.dtype})"
                )
        return codes


def _codes(values, categories):
    if not isinstance(values.dtype, pd.CategoricalDtype):
        codes = categories.get_indexer(values)
        unknown = codes < 0
        if unknown.any():
            codes[unknown & ~pd.isna(values)] = NEW
        return codes
    own = values.categories
    if own is categories or own.equals(categories):
        return values.codes
    lookup = categories.get_indexer(own)
    lookup[lookup < 0] = NEW
    return np.append(lookup, MISSING)[values.codes]
