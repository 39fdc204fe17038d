"""Any table as a DataFrame whose columns have the types of their values.

The dtype of a column tells a learner whether it holds numbers, truth values or categories. An array
of objects, a list of rows or a frame of another library has lost these dtypes, or has others. This
module restores them from the values.
"""

from decimal import Decimal
from numbers import Real

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

# A text column of which this share of values are numbers is meant to be one of numbers
NUMERIC_SHARE = 0.9
# What pandas.api.types.infer_dtype calls columns of text, and of numbers that are not all integers
TEXT_TYPES = ("string", "bytes", "empty")
FRACTION_TYPES = ("floating", "mixed-integer-float", "decimal")
MIXED_TYPES = ("mixed", "mixed-integer")


def as_table(X):
    """Return frames of any library as a DataFrame, and lists of rows as an array of objects.

    Parameters
    ----------
    X : frame or array or list
        A DataFrame, a frame of polars, Arrow or another library that narwhals knows, an array, or a
        list of rows.

    Returns
    -------
    X : DataFrame or array
        An array is returned unchanged, unless it is masked: then the masked values are NaN.

    Raises
    ------
    ValueError
        If the rows of a list are not equally long.
    """
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, np.ma.MaskedArray):
        return X if X.ndim != 2 else X.astype(object).filled(np.nan)
    if isinstance(X, list | tuple):
        return _array_of_rows(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    columns = {column.name: _pandas_column(column) for column in frame.iter_columns()}
    return pd.DataFrame(columns)


def _array_of_rows(rows):
    """Return a list of rows as an array of objects: any other would turn numbers to text."""
    first_length = _row_length(rows[0]) if len(rows) else None
    for number, row in enumerate(rows):
        if _row_length(row) != first_length:
            examples = f"row 0 is {rows[0]!r}, row {number} is {row!r}"
            raise ValueError(f"rows of X must be equally long; {examples}")
    return np.array(rows, dtype=object)


def _row_length(row):
    """Return the number of values of a row, or None if it is no sequence of values."""
    is_sequence = np.ndim(row) == 1 or isinstance(row, list | tuple)
    return len(row) if is_sequence else None


def _pandas_column(column):
    """Return a column of narwhals as a DataFrame takes it.

    It is an array where there are numbers or truth values only, and objects with missing values.
    """
    dtype = column.dtype
    if isinstance(dtype, nw.Enum):
        return pd.Categorical(column.to_list(), categories=list(dtype.categories))
    # A Categorical of polars declares no categories: it is a way to store text
    if isinstance(dtype, nw.Categorical) and not column.implementation.is_polars():
        return pd.Categorical(column.to_list(), categories=column.cat.get_categories().to_list())
    is_numeric = dtype.is_integer() or dtype.is_float()
    if (is_numeric or isinstance(dtype, nw.Boolean)) and column.null_count() == 0:
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object)


def typed_columns(X):
    """Return a DataFrame in which columns of objects have the dtype of their values.

    Truth values become bool, whole numbers int64, and other numbers, be they floats, decimals or
    fractions, float64; with missing values the first two become boolean and Int64 of pandas. Text
    stays, as do columns without any value and columns of another dtype than object. Columns of
    float16, of which pandas makes no index, become float64.

    Raises
    ------
    ValueError
        If the values of a column are dates, complex, lists, or others that are neither numbers nor
        names.
    """
    needs_type = [_needs_type(dtype) for dtype in X.dtypes.to_numpy()]
    if not any(needs_type):
        return X
    columns = []
    for (_, column), is_untyped in zip(X.items(), needs_type, strict=True):
        columns.append(_typed_column(column) if is_untyped else column)
    return pd.concat(columns, axis=1, keys=X.columns)


def _needs_type(dtype):
    """Whether the values of a column, and not its dtype, say what it holds."""
    if dtype == np.float16:
        return True
    return dtype.kind == "O" and isinstance(dtype, np.dtype | pd.ArrowDtype)


def _typed_column(column):
    """Return a column with the dtype of its values, or raise ValueError."""
    if column.dtype == np.float16:
        return column.astype(float)
    if isinstance(column.dtype, pd.ArrowDtype):
        if issubclass(column.dtype.type, pd.CategoricalDtype.type):
            return _categories_of_arrow(column)
        column = column.astype(object)
    inferred = infer_dtype(column, skipna=True)
    if inferred in TEXT_TYPES:
        return column
    is_missing = column.isna()
    if inferred == "boolean":
        return column.astype("boolean" if is_missing.any() else bool)
    if inferred == "integer":
        return _whole_numbers(column, is_missing.any())
    if inferred in FRACTION_TYPES:
        return _floats(column)
    values = column[~is_missing]
    if inferred in MIXED_TYPES:
        if _are_all(values, Real | Decimal):
            return _floats(column)
        if _are_all(values, str | bytes | Real):
            return column
    example = f"{values.iloc[0]!r}, a {type(values.iloc[0]).__name__}"
    allowed = "numbers, truth values or text"
    raise ValueError(f"column {column.name!r} must hold {allowed}; got {example}")


def _are_all(values, types):
    return all(isinstance(value, types) for value in values)


def _categories_of_arrow(column):
    """Return a dictionary column of Arrow as categories, with those that occur in no row."""
    chunks = column.array.__arrow_array__().unify_dictionaries()
    return pd.Series(chunks.to_pandas().array, index=column.index)


def _whole_numbers(column, any_missing):
    """Return whole numbers as int64 or Int64, or as floats where they are too large for these."""
    try:
        return column.astype("Int64" if any_missing else "int64")
    except (OverflowError, TypeError, ValueError):
        return _floats(column)


def _floats(column):
    return pd.Series(column.to_numpy(dtype=float, na_value=np.nan), index=column.index)


def check_text(X):
    """Raise ValueError if nearly all values of a text column are numbers.

    As categories, numbers would tell a learner little. Categories that are declared, by a category
    dtype, may look as they like.
    """
    for position, dtype in enumerate(X.dtypes.to_numpy()):
        if dtype.kind in "OU" and not isinstance(dtype, pd.CategoricalDtype):
            _check_text_column(X.columns[position], X.iloc[:, position])


def _check_text_column(name, column):
    # Distinct values are enough, which in most columns are few; they are in the order of rows
    codes, texts = pd.factorize(column.array)
    texts = np.asarray(texts, dtype=object)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))  # without missing values
    is_number = pd.notna(pd.to_numeric(texts, errors="coerce"))
    n_values = counts.sum()
    n_numbers = counts[is_number].sum()
    if n_values == 0 or n_numbers / n_values < NUMERIC_SHARE:
        return
    number = texts[is_number][0]
    other_texts = texts[~is_number][:3].tolist()
    remedy = "convert them with pandas.to_numeric"
    if other_texts:
        remedy = f"read them with na_values={other_texts}"
    raise ValueError(
        f"column {name!r} is text, but {n_numbers} of its {n_values} values are numbers, "
        f"such as {number!r}: {remedy}, or, if they are names, make the column a category, "
        "with astype('category')"
    )
