"""Checked tables, the kinds of their columns, and the codes of those that are not continuous."""

import warnings

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from lib.discretize.column_types import as_table, check_text, typed_columns

# By the kind of a dtype, as numpy abbreviates it
KINDS = {
    "b": "boolean",
    "i": "integer",
    "u": "integer",
    "f": "continuous",
    "O": "categorical",
    "U": "categorical",
}
# Codes of values that are no category
MISSING = -1
UNSEEN = -2
BOOL = np.dtype(bool)
TRUTH_VALUES = pd.Index([False, True], dtype=object)
# Fewer values may all differ by chance
LEAST_IDENTIFIERS = 20


def checked_frame(estimator, X, reset):
    """Return `X` as a DataFrame of typed columns, after checks of their names and number.

    Columns are typed by their values wherever they come from, see `lib.discretize.column_types`.
    They have the names of `fit`, also where new rows are an array. Columns of an array in `fit`,
    and columns whose names are not strings, are called x0, x1, ..., as in scikit-learn.

    Parameters
    ----------
    estimator : estimator
        Remembers the names and the number of the columns.
    X : DataFrame, frame of polars or Arrow, array or list of rows, of shape (n_samples, n_columns)
    reset : bool
        Whether this is `fit`, where text of which nearly all is numbers is refused; otherwise the
        estimator has to be fitted.

    Raises
    ------
    NotFittedError
        If this is not `fit`, and the estimator is not fitted.
    ValueError
        If `X` is no table, is empty, has other columns than in `fit` or two of one name, or a
        column of dates, say.

    Warns
    -----
    UserWarning
        By scikit-learn, if only one of the tables of `fit` and of new rows has names.
    """
    if not reset:
        check_is_fitted(estimator)
    X = as_table(X)
    if isinstance(X, pd.DataFrame):
        _check_names_and_size(estimator, X, reset)
    else:
        X = pd.DataFrame(
            validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
        )
    numbered_names = [f"x{i}" for i in range(X.shape[1])]
    names = getattr(estimator, "feature_names_in_", numbered_names)
    X = typed_columns(X.set_axis(names, axis=1))
    if reset:
        check_text(X)
    return X


def checked_numbers(estimator, X, reset, min_samples=1):
    """Return `X` as floats, after the checks of `checked_frame`; truth values become 0 and 1.

    Parameters
    ----------
    estimator, X, reset
        As for `checked_frame`.
    min_samples : int, at least 1

    Returns
    -------
    values : ndarray of float, shape (n_samples, n_columns)

    Raises
    ------
    ValueError
        As `checked_frame` does; and if a column holds text or categories, a value is missing or
        infinite, or there are fewer than `min_samples` rows.
    """
    X = checked_frame(estimator, X, reset)
    for name, kind in zip(X.columns, column_kinds(X), strict=True):
        values = X[name].dropna()
        if kind == "categorical" and len(values):
            advice = "make booleans of categories first, for example with lib.discretize.OneHot"
            raise ValueError(f"column {name!r} must hold numbers; got {values.iloc[0]!r}: {advice}")
    return check_array(
        X, dtype=float, ensure_min_samples=min_samples, estimator=estimator, input_name="X"
    )


def _check_names_and_size(estimator, X, reset):
    if not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"columns of X must have different names; {name!r} comes twice")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    # In the words of scikit-learn, whose checks of estimators look for them
    for count, unit in zip(X.shape, ("sample", "feature"), strict=True):
        if count == 0:
            shape = f"(shape={X.shape})"
            raise ValueError(
                f"Found array with 0 {unit}(s) {shape} while a minimum of 1 is required."
            )


def checked_target(X, y):
    """Return the sorted classes of `y` and the number of each row's class.

    Parameters
    ----------
    X : table of n_samples rows
    y : array of shape (n_samples,)

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of int, shape (n_samples,)

    Raises
    ------
    ValueError
        If `y` lacks a label, has numbers with fractions, or is not as long as `X`.
    """
    y = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, y)
    if not y.dtype.isnative:  # pandas takes only numbers in the byte order of the machine
        y = y.astype(y.dtype.newbyteorder("="))
    codes, classes = pd.factorize(y, sort=True)
    if (codes < 0).any():
        raise ValueError(f"y contains NaN: no class is given in row {np.argmin(codes)}")
    classes = np.asarray(classes)
    labels = classes
    if classes.dtype.kind == "O":
        labels = pd.Series(classes).infer_objects().to_numpy()
    # Whole numbers and text need no check, which is slow
    if labels.dtype.kind not in "biuOUT":
        check_classification_targets(labels)
    return classes, codes


def column_kinds(X):
    """List "boolean", "integer", "continuous" or "categorical" for each column, by its dtype."""
    kinds = [_kind(dtype) for dtype in X.dtypes.to_numpy()]
    if None in kinds:
        position = kinds.index(None)
        name = X.columns[position]
        dtype = X.dtypes.iloc[position]
        allowed = "bool, category, string, object, integers and floats"
        raise ValueError(f"column {name!r} has dtype {dtype}; allowed are {allowed}")
    return kinds


def _kind(dtype):
    """Return the kind of a column by its dtype, or None if no learner takes it."""
    if dtype.kind == "O" and not isinstance(dtype, np.dtype | pd.CategoricalDtype | pd.StringDtype):
        return None  # periods and intervals
    return KINDS.get(dtype.kind)


def _is_numeric(kind):
    return kind in ("integer", "continuous")


def check_kinds(X, kinds_in_fit):
    """Raise ValueError if a continuous column does not hold numbers, or a boolean one does.

    A column without any value is of every kind.
    """
    for name, kind_in_fit, kind in zip(X.columns, kinds_in_fit, column_kinds(X), strict=True):
        has_changed = (kind_in_fit == "continuous" and not _is_numeric(kind)) or (
            kind_in_fit == "boolean" and _is_numeric(kind)
        )
        if has_changed and X[name].notna().any():
            raise ValueError(f"column {name!r} was {kind_in_fit} in fit; got {X[name].dtype}")


def continuous_values(X, positions):
    """Return the columns at `positions` as floats with NaN for missing values.

    Raises
    ------
    ValueError
        If a value is infinite; the message says which.
    """
    values = X.iloc[:, positions].to_numpy(dtype=float, na_value=np.nan)
    is_infinite = np.isinf(values)
    if is_infinite.any():
        row, column = np.argwhere(is_infinite)[0]
        place = f"in column {X.columns[positions[column]]!r}, row {row}"
        raise ValueError(f"X must not hold infinity; got {values[row, column]} {place}")
    return values


def _categories(X, position, dtype):
    """Return the Index of the values that the discrete column at `position` can have."""
    if dtype.kind == "b":
        return TRUTH_VALUES
    # Declared categories, most often few, are looked at only where there are enough to warn of
    if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories) <= LEAST_IDENTIFIERS / 2:
        return dtype.categories
    column = pd.Categorical(X.iloc[:, position].array)
    if _are_identifiers(column.codes):
        _warn_of_identifiers(X.columns[position], dtype)
    return column.categories


def _are_identifiers(codes):
    """Return whether more than half of the values of a column occur once, by their codes.

    This share estimates the probability that the next row has a value which was never seen (Good
    1953).
    """
    counts = np.bincount(codes[codes >= 0])
    n_values = counts.sum()
    return n_values >= LEAST_IDENTIFIERS and np.count_nonzero(counts == 1) > n_values / 2


def _warn_of_identifiers(name, dtype):
    remedy = "drop an identifier"
    if dtype.kind in "iuf":
        quantity = "put a quantity into bins, with lib.discretize.EntropyDiscretizer, or give it to"
        remedy = f"{quantity} NaiveBayes as floats; {remedy}"
    message = (
        f"column {name!r} counts as categories, but most of its values occur once, so that new "
        f"rows will have others: {remedy}"
    )
    warnings.warn(message, stacklevel=2)


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

    Warns
    -----
    UserWarning
        If a column that is not boolean has 20 values at least, and more than half of them occur
        once.
    """

    def __init__(self, X, positions):
        self.positions = positions
        dtypes = X.dtypes.to_numpy()[positions]
        self.categories = []
        sizes = []
        for position, dtype in zip(positions, dtypes, strict=True):
            categories = _categories(X, position, dtype)
            fewest = 0 if isinstance(dtype, pd.CategoricalDtype) else 2
            self.categories.append(categories)
            sizes.append(max(fewest, len(categories)))
        self.sizes = np.array(sizes, dtype=np.intp)
        is_truth = [categories is TRUTH_VALUES for categories in self.categories]
        self._is_truth = np.array(is_truth, dtype=bool)
        self._kinds = column_kinds(X.iloc[:, positions])

    def __call__(self, X):
        """Return the number of each value among the categories of its column, or MISSING or UNSEEN.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        codes : ndarray of int, shape (n_samples, n_discrete)

        Raises
        ------
        ValueError
            If a column is of another type than in `fit`, with no value that is a category: strings
            where integers were, say.
        """
        codes = np.empty((len(X), len(self.positions)), dtype=np.intp)
        dtypes = X.dtypes.to_numpy()[self.positions]
        # False and True are codes already; all such columns are copied at once
        is_code = self._is_truth & np.array([dtype is BOOL for dtype in dtypes], dtype=bool)
        if is_code.any():
            codes[:, is_code] = X.iloc[:, self.positions[is_code]].to_numpy()
        if not is_code.all():
            columns = [column.array for _, column in X.items()]
            for j in np.flatnonzero(~is_code):
                codes[:, j] = _codes(columns[self.positions[j]], self.categories[j])
        for j in np.flatnonzero((codes < 0).all(axis=0)):
            self._check_type(X.iloc[:, self.positions[j]], self._kinds[j])
        return codes

    @staticmethod
    def _check_type(column, kind_in_fit):
        """Raise ValueError if a column without any category has values of another type."""
        values = column.dropna()
        kind = _kind(column.dtype)
        are_numbers = _is_numeric(kind) and _is_numeric(kind_in_fit)
        if len(values) and kind != kind_in_fit and not are_numbers:
            example = f"{values.iloc[0]!r} ({values.dtype})"
            raise ValueError(f"column {values.name!r} was {kind_in_fit} in fit; got {example}")


def _codes(values, categories):
    """Return the number of each of an array of pandas among `categories`, or MISSING or UNSEEN."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        codes = categories.get_indexer(values)
        is_unknown = codes < 0
        if is_unknown.any():
            codes[is_unknown & ~pd.isna(values)] = UNSEEN
        return codes
    if values.categories is categories or values.categories.equals(categories):
        return values.codes
    # Translate codes by a table whose last entry, at -1, is that of missing values
    code_of_category = categories.get_indexer(values.categories)
    code_of_category[code_of_category < 0] = UNSEEN
    return np.append(code_of_category, MISSING)[values.codes]
