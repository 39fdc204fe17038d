"""From the bytes of a file to attributes and target."""

import re

import numpy as np
import pandas as pd

TRUE = ("t", "y", "yes", "true", "1")
FALSE = ("f", "n", "no", "false", "0")


def rows(data, entry):
    """The fields of each row of one file of `entry`, without the lines before the first row."""
    separator = entry.option("separator", ",")
    n_columns = len(entry.columns)
    n_header_lines = 1 if entry.kind == "shipped" else entry.option("skip", 0)
    lines = data.decode("utf-8").splitlines()[n_header_lines:]
    for number in entry.option("broken", ()):  # a row that continues on the next line
        lines[number - 1 : number + 1] = ["".join(lines[number - 1 : number + 1])]
    fields = [split(line, separator) for line in lines if line.strip()]
    for number, row in enumerate(fields, 1):
        if len(row) != n_columns:
            raise ValueError(
                f"{entry.name}: row {number} has {len(row)} fields; expected {n_columns}"
            )
    return fields


def split(line, separator):
    """Fields of a line; a separator "" is white space, one of several characters a pattern."""
    fields = re.split(separator, line) if len(separator) > 1 else line.split(separator or None)
    return [field.strip() for field in fields]


def frame(fields, entry):
    """Attributes and target of rows of fields.

    Parameters
    ----------
    fields : list of list of str
        As `rows` returns them.
    entry : lib.datasets.catalogue.Entry

    Returns
    -------
    X : DataFrame of float, category and bool columns; missing values are NaN
    y : ndarray of str

    Raises
    ------
    ValueError
        If a column has a value that its kind does not allow.
    """
    text = pd.DataFrame(fields, columns=[name for name, _ in entry.columns], dtype=object)
    if entry.option("lower", False):
        text = text.apply(lambda column: column.str.lower())
    attributes = {}
    for name, kind in entry.columns:
        if kind == "target":
            target = name
        elif kind != "drop":
            attributes[name] = _parse_column(text[name], kind)
    y = text[target].replace(entry.option("names", {})).to_numpy(dtype=str)
    if entry.option("positive", False):  # a degree of illness becomes ill or not
        y = (y.astype(float) > 0).astype(int).astype("U1")
    return pd.DataFrame(attributes), y


def _parse_column(text, kind):
    """Values of a column of the kind number, bool, "1..10" (a range of categories) or "" (any)."""
    text = text.where(text != "?", np.nan)
    if kind == "number":
        return _parse_numbers(text)
    if kind == "bool":
        return _parse_booleans(text)
    if kind:
        low, high = map(int, kind.split(".."))
        categories = [str(value) for value in range(low, high + 1)]
    else:
        categories = sorted(text.dropna().unique(), key=category_order)
    _refuse(text, text.notna() & ~text.isin(categories), categories)
    return pd.Categorical(text, categories=categories)


def _parse_numbers(text):
    values = text.astype(float)  # which takes "inf" and "1e999", too
    _refuse(text, text.notna() & ~np.isfinite(values), "numbers and ?")
    return values


def _parse_booleans(text):
    _refuse(text, ~text.isin((*TRUE, *FALSE)), f"{TRUE} and {FALSE}")
    return text.isin(TRUE)


def _refuse(text, is_wrong, allowed):
    """Raise ValueError if any value of a column is wrong."""
    if is_wrong.any():
        raise ValueError(f"column {text.name} must hold only {allowed}; got {set(text[is_wrong])}")


def category_order(value):
    """The key that sorts categories: numbers by size, then words by alphabet."""
    try:
        return (0, float(value), value)
    except ValueError:
        return (1, 0.0, value)
