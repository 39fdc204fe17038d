"""The data sets of the book: `load` one, or ask `available` which can be had now."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from lib.base.validation import check_choice, check_integer
from lib.datasets import downloads, packaged, synthetic, table
from lib.datasets.catalogue import ALIASES, catalogue
from lib.datasets.downloads import NotAvailableError

__all__ = ["Dataset", "NotAvailableError", "available", "family", "load", "names"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Attributes, target and origin of a data set.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_attributes)
        Columns are float, category (the domain is that of the whole file) or bool; missing values
        are NaN.
    y : ndarray of shape (n_samples,), str
    source : str
        shipped, packaged, synthetic, mirror or cache.
    changes : str
        What differs from the files at `address`.
    sha256 : tuple of str
        Of the files read, or of the table drawn.
    n_train : int or None
        The first `n_train` rows are the published training set.
    """

    name: str
    title: str
    X: pd.DataFrame = field(repr=False)
    y: np.ndarray = field(repr=False)
    source: str
    address: str
    doi: str
    licence: str
    citation: str
    changes: str
    sha256: tuple
    n_train: int | None

    def complete_rows(self):
        """Return the data set without the rows that have missing values.

        The domains of the attributes stay.
        """
        is_complete = ~self.X.isna().any(axis=1).to_numpy()
        n_train = None if self.n_train is None else int(is_complete[: self.n_train].sum())
        change = "rows with missing values left out"
        return replace(
            self,
            X=self.X[is_complete].reset_index(drop=True),
            y=self.y[is_complete],
            n_train=n_train,
            changes=f"{self.changes}; {change}" if self.changes else change,
        )


def names():
    """Names of all data sets that `load` knows."""
    return [name for name, entry in catalogue().items() if entry.kind != "excluded"]


def family(name):
    """Name of the family of data sets that `name` belongs to, most often its own.

    Sets of one family have rows in common, or the same patients under other classes or in other
    codes: results on them are no independent witnesses, and count once where data sets are counted.

    Parameters
    ----------
    name : str
        One of `names()`, or "diabetes" for pima.

    Raises
    ------
    ValueError
        If there is no such set; the message names the nearest.
    """
    check_choice("name", name, [*catalogue(), *ALIASES])
    return catalogue()[ALIASES.get(name, name)].family


def load(name):
    """Load a data set, verifying the sha256 of each file read.

    Parameters
    ----------
    name : str
        One of `names()`, or "diabetes" for pima.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such set (the message names the nearest) or a shipped file is damaged.
    NotAvailableError
        If the set is not shipped and its files can be had neither from UCI_MIRROR, the cache nor
        UCI.
    """
    # excluded sets are known, too: their message says why they are
    check_choice("name", name, [*catalogue(), *ALIASES])
    entry = catalogue()[ALIASES.get(name, name)]
    if entry.kind == "excluded":
        raise ValueError(f"{name} cannot be loaded: {entry.changes}")
    X, y, source, digests = _read(entry)
    return Dataset(
        name=entry.name,
        title=entry.title,
        X=X,
        y=y,
        source=source,
        address=entry.address,
        doi=entry.doi,
        licence=entry.licence,
        citation=entry.citation,
        changes=entry.changes,
        sha256=digests,
        n_train=entry.n_train,
    )


def _read(entry):
    """Attributes, target, source and sha256."""
    if entry.kind == "derived":
        X, y, source, digests = _read(catalogue()[entry.files[0]])
        X, y = _derive(entry.name, X, y)
        return X, y, source, digests
    if entry.kind in ("synthetic", "packaged"):
        make = synthetic.generate if entry.kind == "synthetic" else packaged.read
        X, y = make(entry.name)
        digest = downloads.sha256(X.assign(target=y).to_csv(index=False).encode())
        return X, y, entry.kind, (digest,)
    contents, source = downloads.read_files(entry)
    X, y = _parse(tuple(contents), entry)
    if len(y) != entry.rows:
        raise ValueError(
            f"{entry.name}: its files have {len(y)} rows; expected {entry.rows}, "
            "as in data/manifest.csv"
        )
    return X.copy(), y.copy(), source, entry.sha256  # copies, as _parse remembers its own


def _derive(name, X, y):
    """Attributes and target of "votes1" from those of "vote", or of "glass2" from "glass"."""
    if name == "votes1":  # without the attribute that tells most
        return X.drop(columns="physician_fee_freeze"), y
    # window glass, float processed (types 1 and 3) or not (type 2)
    is_window = np.isin(y, ["1", "2", "3"])
    process = np.where(y[is_window] == "2", "non-float", "float")
    return X[is_window].reset_index(drop=True), process


@lru_cache
def _parse(contents, entry):
    """Attributes and target of files with these contents, which trials ask for again and again."""
    rows = []
    for data in contents:
        rows.extend(table.rows(data, entry))
    return table.frame(rows, entry)


def available():
    """List which data sets can be had now, without using the network.

    Returns
    -------
    DataFrame
        A row for each set: name, title, status (shipped, cached, mirrored or not available),
        reason, rows, attributes, classes, missing, licence, doi.
    """
    rows = []
    for entry in catalogue().values():
        origin = catalogue()[entry.files[0]] if entry.kind == "derived" else entry
        status, reason = downloads.download_status(origin)
        row = {
            "name": entry.name,
            "title": entry.title,
            "status": status,
            "reason": reason,
            "rows": entry.rows,
            "attributes": entry.attributes,
            "classes": entry.classes,
            "missing": entry.missing,
            "licence": entry.licence,
            "doi": entry.doi,
        }
        rows.append(row)
    return pd.DataFrame(rows)
