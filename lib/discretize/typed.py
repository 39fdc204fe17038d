"""Any table as a DataFrame whose columns have the types of their values.

A learner is told by the dtype of a column whether it holds numbers, truth values or categories. An
array of objects, a list of rows or a frame of another library has lost these dtypes, or has others;
here they are found from the values.
"""

from decimal import Decimal
from numbers import Real

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

# of the values of a text column that are numbers: it is meant to be one of numbers
NEARLY_ALL = 0.9
WORDS = ("string", "bytes", "empty")
FRACTIONS = ("floating", "mixed-integer-float", "decimal")


def as_table(X):
    """Return `X` as a DataFrame if it has rows of objects or is a frame of any library, and else unchanged.

    Parameters
    ----------
    X : DataFrame, frame of polars, Arrow or another library that narwhals knows, array, or list of
    rows

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
    if isinstance(frame, nw.DataFrame):
        return pd.DataFrame(
            {column.name: _pandas_column(column) for column in frame.iter_columns()}
        )
    return X


def _array_of_rows(rows):
    """Return a list of rows as an array of objects, so that numbers beside text do not become text."""
    lengths = [
        len(row) if np.ndim(row) == 1 or isinstance(row, list | tuple) else None for row in rows
    ]
    for number, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"rows of X must be equally long; row 0 is {rows[0]!r}, row {number} is {rows[number]!r}"
            )
    return np.array(rows, dtype=object)


def _pandas_column(column):
    """Return a column of narwhals for a DataFrame: an array where it has numbers or truth values only."""
    dtype = column.dtype
    if isinstance(dtype, nw.Enum):
        return pd.Categorical(column.to_list(), categories=list(dtype.categories))
    # there they are just text
    if isinstance(dtype, nw.Categorical) and not column.implementation.is_polars():
        return pd.Categorical(column.to_list(), categories=column.cat.get_categories().to_list())
    plain = dtype.is_integer() or dtype.is_float() or isinstance(dtype, nw.Boolean)
    if plain and column.null_count() == 0:
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object)


def typed_columns(X):
    """Return a DataFrame in which columns of objects have the dtype of their values; others stay as they are.

    Truth values become bool, whole numbers int64, and other numbers, be they floats, decimals or
    fractions, float64; with missing values the first two become boolean and Int64 of pandas. Text
    stays, as do columns without any value. Columns of float16, of which pandas makes no index,
    become float64.

    Raises
    ------
    ValueError
        If the values of a column are dates, complex, lists, or others that are neither numbers nor
        names.
    """
    typed = {
        position: _typed_column(X.columns[position], X.iloc[:, position])
        for position, dtype in enumerate(X.dtypes.to_numpy())
        if dtype == np.float16
        or (dtype.kind == "O" and isinstance(dtype, np.dtype | pd.ArrowDtype))
    }
    if not typed:
        return X
    columns = [typed.get(position, column) for position, (_, column) in enumerate(X.items())]
    return pd.concat(columns, axis=1, keys=X.columns)


def _typed_column(name, column):
    if column.dtype == np.float16:
        return column.astype(float)
    if isinstance(column.dtype, pd.ArrowDtype):
        if issubclass(column.dtype.type, pd.CategoricalDtype.type):
            return _decoded(column)
        column = column.astype(object)
    inferred = infer_dtype(column, skipna=True)
    if inferred in WORDS:
        return column
    missing = column.isna()
    if inferred == "boolean":
        return column.astype("boolean" if missing.any() else bool)
    if inferred == "integer" and (whole := _whole_numbers(column, missing.any())) is not None:
        return whole
    values = column[~missing]
    mixed = inferred in ("mixed", "mixed-integer")
    if (
        inferred in FRACTIONS
        or inferred == "integer"
        or (mixed and _are_all(values, Real | Decimal))
    ):
        return pd.Series(column.to_numpy(dtype=float, na_value=np.nan), index=column.index)
    if mixed and _are_all(values, str | bytes | Real):
        return column
    found = f"{values.iloc[0]!r}, a {type(values.iloc[0]).__name__}"
    raise ValueError(f"column {name!r} must hold numbers, truth values or text; got {found}")


def _are_all(values, types):
    return all(isinstance(value, types) for value in values)


def _decoded(column):
    """Return an Arrow column of a dictionary as a pandas column of categories, all that it declares."""
    chunks = column.array.__arrow_array__().unify_dictionaries()
    return pd.Series(chunks.to_pandas().array, index=column.index)


def _whole_numbers(column, any_missing):
    """Return whole numbers as int64 or Int64, or None where they are too large for that."""
    try:
        return column.astype("Int64" if any_missing else "int64")
    except (OverflowError, TypeError, ValueError):
        return None


def check_text(X):
    """Raise ValueError if nearly all values of a text column are numbers, which as categories would tell little.

    Categories that are declared, by a category dtype, may look as they like.
    """
    for position, dtype in enumerate(X.dtypes.to_numpy()):
        if dtype.kind not in "OU" or isinstance(dtype, pd.CategoricalDtype):
            continue
        text = X.iloc[:, position].dropna().astype(object)
        numeric = pd.to_numeric(text, errors="coerce").notna()
        if len(text) == 0 or numeric.mean() < NEARLY_ALL:
            continue
        name, number = X.columns[position], text[numeric].iloc[0]
        others = text[~numeric].unique()[:3].tolist()
        remedy = (
            f"read them with na_values={others}"
            if others
            else "convert them with pandas.to_numeric"
        )
        raise ValueError(
            f"column {name!r} is text, but {numeric.sum()} of its {len(text)} values are numbers, such as {number!r}: "
            f"{remedy}, or, if they are names, make the column a category, with astype('category')"
        )
