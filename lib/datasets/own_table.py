"""A table of your own: what its columns are, and what is odd about it in plain words.

`read` leaves out rows that no learner can use, types the columns one by one, and looks at the
whole. Each step returns remarks. Nothing leaves the machine.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from lib.base.validation import check_choice, nearest
from lib.datasets.own_columns import (
    Remark,
    examples,
    parse_numbers,
    same_but_for_case,
    typed_column,
)
from lib.datasets.own_files import read_csv, read_parquet

__all__ = ["OwnTable", "read"]

READERS = {".csv": read_csv, ".tsv": read_csv, ".txt": read_csv, ".parquet": read_parquet}
MIN_ROWS = 40
MIN_CLASS_ROWS = 5
MAX_NUMBERS = 20  # different numbers that can be classes
IMBALANCE = 0.8  # share of the largest class
MAX_NAMES = 6  # of columns in one remark
MAX_LISTED = 30  # columns that an error names
MIN_REPEATS = 4  # rows a value, on average; with fewer, columns agree by chance


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Attributes and classes of a file, and what there is to say about them.

    Attributes
    ----------
    name : str
        The file's name without its suffix.
    X : DataFrame of shape (n_samples, n_attributes)
        Columns are float or category; missing values are NaN.
    y : ndarray of shape (n_samples,), str
        Class of each row.
    remarks : DataFrame
        Columns `column` (empty for the whole table, several names where the same is said of them),
        `found`, and `done`: what was done about it, or what the reader can do.
    sha256 : str
        Of the file.
    n_rows : int
        Rows of the file, with those that are left out.
    """

    name: str
    X: pd.DataFrame = field(repr=False)
    y: np.ndarray = field(repr=False)
    remarks: pd.DataFrame = field(repr=False)
    sha256: str
    n_rows: int


def read(table, target):
    """Read a file whose first line names its columns, to predict one of them from the others.

    Parameters
    ----------
    table : str or path
        A CSV file (with comma, semicolon or tab, in UTF-8 or Latin-1) or a Parquet file.
    target : str
        The column that is to be predicted.

    Returns
    -------
    OwnTable

    Raises
    ------
    ValueError
        If the file cannot be read or has no such column, if fewer than two classes or forty rows
        can be used, or if the target is a quantity.
    """
    path = Path(table)
    read_file = READERS[check_choice("the suffix of table", path.suffix.lower(), READERS)]
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise ValueError(f"table {str(path)!r} cannot be read: {error.strerror}") from error
    text, decimal = read_file(contents, path.name)
    repeated = text.columns[text.columns.duplicated()]
    if len(repeated):
        raise ValueError(f"{path.name} has two columns {repeated[0]!r}: rename one of them")
    if target not in text.columns:
        names = ", ".join(map(repr, text.columns[:MAX_LISTED]))
        raise ValueError(
            f"target must be a column that the first line of {path.name} names: {names}; "
            f"got {target!r}{nearest(target, text.columns)}"
        )

    n_rows = len(text)
    text, remarks = _usable_rows(text, target, decimal)
    if decimal == ",":
        sentence = "Its numbers have decimal commas."
        remarks.append(Remark("", sentence, "Read so; a point separates thousands."))
    y = text.pop(target).to_numpy(dtype=str)
    columns = {}
    for name, column in text.items():
        values, column_remarks = typed_column(name, column, decimal)
        remarks += column_remarks
        if values is not None:
            columns[name] = values
    if not columns:
        raise ValueError(f"{path.name} has no column from which {target!r} could be predicted")
    X = pd.DataFrame(columns)
    for check in (_leaks, _same_columns, _missing_values, _repeated_rows, _proportions):
        remarks += check(X, y)
    return OwnTable(
        name=path.stem,
        X=X,
        y=y,
        remarks=_as_frame(remarks),
        sha256=hashlib.sha256(contents).hexdigest(),
        n_rows=n_rows,
    )


def _usable_rows(text, target, decimal):
    """Return the rows whose class is known and not too rare, and remarks on the others."""
    y = text[target].dropna()
    remarks = []
    n_unknown = len(text) - len(y)
    if n_unknown:
        remarks.append(Remark(target, f"Rows without a class: {n_unknown}.", "Left out."))
    are_numbers = parse_numbers(y, decimal).notna().all()
    if are_numbers and y.nunique() > MAX_NUMBERS:
        raise ValueError(
            f"target {target!r} holds {y.nunique()} different numbers; these learners predict "
            "classes: cut a quantity into classes first, such as with pandas.cut, or write codes as "
            "text, such as c1"
        )
    counts = y.value_counts()
    rare = counts[counts < MIN_CLASS_ROWS]
    if len(rare):
        sentence = (
            f"Classes with fewer than {MIN_CLASS_ROWS} rows: {len(rare)}, {examples(rare.index)}."
        )
        remarks.append(Remark(target, sentence, f"Left out, {rare.sum()} rows in all."))
    y = y[~y.isin(rare.index)]
    if y.nunique() < 2:
        raise ValueError(
            f"target {target!r} has {len(counts)} different values, of which {y.nunique()} occur "
            f"{MIN_CLASS_ROWS} times or more: choose a column with at least two such classes"
        )
    if len(y) < MIN_ROWS:
        raise ValueError(
            f"{len(y)} rows have a class that can be learned; at least {MIN_ROWS} are needed"
        )
    remarks += same_but_for_case(target, y.drop_duplicates())
    return text.loc[y.index].reset_index(drop=True), remarks


def _leaks(X, y):
    """Remark on columns that tell the class without error."""
    names = [name for name, column in X.items() if _determines(column, y)]
    done = "Kept; is it known when you predict? If not, remove it from the file."
    return [Remark(name, "It predicts the class without error.", done) for name in names]


def _determines(column, y):
    """Whether each value has one class, or each class one range of numbers."""
    pairs = pd.DataFrame({"value": column, "y": y}).drop_duplicates().sort_values("value")
    if pairs["value"].duplicated().any():
        return False
    if len(pairs) * MIN_REPEATS <= len(y):
        return True
    n_ranges = (pairs["y"] != pairs["y"].shift()).sum()
    is_number = column.dtype == float
    return is_number and n_ranges == len(set(y))


def _same_columns(X, y):
    """Remark on columns of which each value goes with one value of an earlier column."""
    first = {}
    remarks = []
    for name, column in X.items():
        codes, values = pd.factorize(column)
        pattern = codes.tobytes()
        if len(values) * MIN_REPEATS > len(codes):  # the values must be the same, too
            pattern = pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes()
        original = first.setdefault(pattern, name)
        if original != name:
            sentence = f"It says the same as {original}, perhaps in other words."
            done = "Kept; naive Bayes counts such evidence twice: remove one from the file."
            remarks.append(Remark(name, sentence, done))
    return remarks


def _missing_values(X, y):
    """Remark on columns with gaps, and on each that is mostly empty."""
    shares = X.isna().mean()
    gaps = shares[shares > 0]
    if gaps.empty:
        return []
    remarks = []
    for name, share in gaps[gaps > 0.5].items():
        remarks.append(Remark(name, f"{share:.0%} of its values are missing.", "Kept."))
    sentence = (
        f"Values are missing in {len(gaps)} of {len(shares)} columns, "
        f"most often in {gaps.idxmax()} ({gaps.max():.1%})."
    )
    return [*remarks, Remark("", sentence, "Kept as missing.")]


def _repeated_rows(X, y):
    n_repeated = pd.concat([X, pd.Series(y)], axis=1).duplicated().sum()
    if n_repeated == 0:
        return []
    sentence = f"Rows that are the same as an earlier one: {n_repeated}."
    done = "Kept; copies can stand in training and test part at once, and flatter all learners."
    return [Remark("", sentence, done)]


def _proportions(X, y):
    """Remark on unequal classes, and on fewer rows than columns."""
    remarks = []
    shares = pd.Series(y).value_counts(normalize=True)
    if shares.iloc[0] >= IMBALANCE:
        sentence = (
            f"Always predicting {shares.index[0]!r} is right in {shares.iloc[0]:.0%} of the rows."
        )
        remarks.append(Remark("", sentence, "Compare accuracies with this number."))
    if len(X) < X.shape[1]:
        sentence = f"There are fewer rows ({len(X)}) than columns ({X.shape[1]})."
        remarks.append(Remark("", sentence, "Trust wide intervals; more rows help most."))
    return remarks


def _as_frame(remarks):
    """Return remarks as a frame, with columns of which the same is said in one row."""
    columns = {}
    for remark in remarks:
        columns.setdefault((remark.found, remark.done), []).append(remark.column)
    rows = []
    for words, names in columns.items():
        if len(names) > MAX_NAMES:
            names = [*names[: MAX_NAMES - 1], "..."]
        rows.append(Remark(", ".join(names), *words))
    return pd.DataFrame(rows, columns=Remark._fields)
