"""From the bytes of a file to attributes and target."""

import re

import numpy as np
import pandas as pd

TRUE = ("t", "y", "yes", "true", "1")
FALSE = ("f", "n", "no", "false", "0")


def rows(data, entry):
    """The fields of each row of one file of `entry`, without the lines before the first row."""
    separator, n_columns = entry.option("separator", ","), len(entry.columns)
    skip = 1 if entry.kind == "shipped" else entry.option("skip", 0)
    text = data.decode("utf-8").splitlines()[skip:]
    for number in entry.option("broken", ()):  # a row that continues on the next line
        text[number - 1 : number + 1] = ["".join(text[number - 1 : number + 1])]
    fields = [split(line, separator) for line in text if line.strip()]
    for number, row in enumerate(fields, 1):
        if len(row) != n_columns:
            raise ValueError(
                f"{entry.name}: row {number} has {len(row)} fields; expected {n_columns}"
            )
    return fields


def split(line, separator):
    """Fields of a line; "" separates by white space, several characters are a regular expression."""
    fields = re.split(separator, line) if len(separator) > 1 else line.split(separator or None)
    return [field.strip() for field in fields]


def frame(fields, entry):
    """Attributes and target of rows of fields.

    Returns
    -------
    X : DataFrame of float, category and bool columns; missing values are NaN
    y : ndarray of str
    """
    text = pd.DataFrame(fields, columns=[name for name, _ in entry.columns], dtype=object)
    if entry.option("lower", False):
        text = text.apply(lambda column: column.str.lower())
    kinds = dict(entry.columns)
    target = next(name for name, kind in kinds.items() if kind == "target")
    attributes = {
        name: _column(text[name], kind)
        for name, kind in kinds.items()
        if kind not in ("target", "drop")
    }
    y = text[target].replace(entry.option("names", {})).to_numpy(dtype=str)
    if entry.option("positive", False):
        y = (y.astype(float) > 0).astype(int).astype("U1")
    return pd.DataFrame(attributes), y


def _column(text, kind):
    present = text.where(text != "?", np.nan)
    if kind == "number":
        return _numbers(present)
    if kind == "bool":
        return _boolean(present)
    if kind:
        low, high = map(int, kind.split(".."))
        return _categories(present, [str(value) for value in range(low, high + 1)])
    return _categories(present, sorted(present.dropna().unique(), key=_order))


def _numbers(text):
    values = text.astype(float)
    _check(text, text.notna() & ~np.isfinite(values), "numbers and ?")
    return values


def _boolean(text):
    _check(text, ~text.isin((*TRUE, *FALSE)), f"{TRUE} and {FALSE}")
    return text.isin(TRUE)


def _categories(text, categories):
    _check(text, text.notna() & ~text.isin(categories), categories)
    return pd.Categorical(text, categories=categories)


def _check(text, wrong, allowed):
    if wrong.any():
        raise ValueError(f"column {text.name} must hold only {allowed}; got {set(text[wrong])}")


def _order(value):
    """Numbers by size, then words by alphabet."""
    try:
        return (0, float(value), value)
    except ValueError:
        return (1, 0.0, value)
