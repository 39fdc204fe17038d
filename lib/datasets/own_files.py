"""Somebody's own file as a frame of text: CSV as spreadsheets write it, or Parquet."""

import csv
import io

import numpy as np
import pandas as pd

SEPARATORS = (",", ";", "\t")
MISSING = ("", "?", "na", "n/a", "#n/a", "nan", "null")


def read_csv(contents, name):
    """Return the fields of a CSV file, missing values as NaN, and its decimal sign.

    Parameters
    ----------
    contents : bytes
        UTF-8, or else taken for Latin-1. The first line names the columns.
    name : str
        Of the file, for errors.

    Returns
    -------
    text : DataFrame of str
    decimal : {".", ","}

    Raises
    ------
    ValueError
        If it is no table, or a line has another number of fields than the first.
    """
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = contents.decode("latin-1")
    if "\0" in text:
        raise ValueError(f"{name} is no text file: save the table as CSV, in UTF-8")
    separator = max(SEPARATORS, key=lambda sign: len(next(_rows(text, sign, name), [])))
    header, *rows = list(_rows(text, separator, name)) or [[]]
    if len(header) < 2:
        raise ValueError(
            f"the first line of {name} names fewer than two columns: separate their names, and the "
            "fields of each row, by commas, semicolons or tabs"
        )
    names = [column or f"column {number}" for number, column in enumerate(header, start=1)]
    frame = _without_missing(pd.DataFrame(rows, columns=names, dtype=object))
    if separator == ",":
        return frame, "."
    n_commas = _count(frame, r"[-+]?\d+,\d+")
    return frame, "," if n_commas > _count(frame, r"[-+]?\d+\.\d+") else "."


def _rows(text, separator, name):
    """Yield the fields of each line that is not empty; ValueError if a line has more or less."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    n_columns = None
    try:
        for row in reader:
            n_columns = n_columns or len(row)
            if row and len(row) != n_columns:
                raise ValueError(
                    f"{name}, line {reader.line_num}: {len(row)} fields, but the first line names "
                    f"{n_columns} columns; put a field that holds {separator!r} in quotes"
                )
            if row:
                yield [value.strip() for value in row]
    except csv.Error as error:
        raise ValueError(f"{name}, line {reader.line_num}: {error}") from error


def read_parquet(contents, name):
    """Return the columns of a Parquet file as `read_csv` returns those of a CSV file.

    Raises
    ------
    ValueError
        If it is damaged, or if pyarrow, which pandas needs for it, is not installed.
    """
    try:
        frame = pd.read_parquet(io.BytesIO(contents))
    except ImportError as error:
        raise ValueError(
            f"{name}: Parquet needs a package: `pip install pyarrow`, or save the table as CSV"
        ) from error
    except Exception as error:  # pyarrow lets through whatever goes wrong with a damaged file
        raise ValueError(f"{name} is no Parquet file: {error}") from error
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    text = frame.astype(object).map(str, na_action="ignore")
    return _without_missing(text.rename(columns=str)), "."


def _without_missing(text):
    return text.mask(text.isna() | text.map(lambda value: str(value).lower() in MISSING), np.nan)


def _count(text, pattern):
    """How many values fit a pattern."""
    return sum(column.str.fullmatch(pattern).eq(True).sum() for _, column in text.items())
