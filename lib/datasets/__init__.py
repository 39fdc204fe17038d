"""The data sets of the book: `load` one, or see with `available` which can be had and why others cannot."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from lib.datasets import downloads, synthetic, table
from lib.datasets.catalogue import ALIASES, catalogue
from lib.datasets.downloads import NotAvailableError
from lib.validation import check_choice, check_integer

__all__ = ["Dataset", "NotAvailableError", "available", "load", "names"]


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
        shipped, synthetic, mirror or cache.
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
        """The data set without the rows that have missing values; the domains of the attributes stay."""
        complete = ~self.X.isna().any(axis=1).to_numpy()
        n_train = None if self.n_train is None else int(complete[: self.n_train].sum())
        changes = "; ".join(filter(None, [self.changes, "rows with missing values left out"]))
        X = self.X[complete].reset_index(drop=True)
        return replace(self, X=X, y=self.y[complete], n_train=n_train, changes=changes)


def names():
    """Names of all data sets that `load` knows."""
    return [name for name, entry in catalogue().items() if entry.kind != "excluded"]


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
    check_choice("name", name, [*catalogue(), *ALIASES])
    entry = catalogue()[ALIASES.get(name, name)]
    if entry.kind == "excluded":
        raise ValueError(f"{name} cannot be loaded: {entry.changes}")
    X, y, source, digests = _contents(entry)
    shared = ("name", "title", "address", "doi", "licence", "citation", "changes", "n_train")
    return Dataset(
        X=X, y=y, source=source, sha256=digests, **{key: getattr(entry, key) for key in shared}
    )


def _contents(entry):
    """Attributes, target, source and sha256."""
    if entry.kind == "derived":
        X, y, source, digests = _contents(catalogue()[entry.files[0]])
        if entry.name == "votes1":  # without the one that tells most
            return X.drop(columns="physician_fee_freeze"), y, source, digests
        # window glass, float processed (types 1 and 3) or not (type 2)
        window = np.isin(y, ["1", "2", "3"])
        return (
            X[window].reset_index(drop=True),
            np.where(y[window] == "2", "non-float", "float"),
            source,
            digests,
        )
    if entry.kind == "synthetic":
        X, y = synthetic.generate(entry.name)
        digest = downloads.sha256(X.assign(target=y).to_csv(index=False).encode())
        return X, y, "synthetic", (digest,)
    contents, source = downloads.read(entry)
    X, y = _parsed(tuple(contents), entry)
    if len(y) != entry.rows:
        raise ValueError(
            f"{entry.name}: its files have {len(y)} rows; expected {entry.rows}, as in data/manifest.csv"
        )
    return X.copy(), y.copy(), source, entry.sha256


@lru_cache
def _parsed(contents, entry):
    """Attributes and target of files with these contents, which trials ask for again and again."""
    return table.frame([row for data in contents for row in table.rows(data, entry)], entry)


def available():
    """Which data sets can be had now; uses no network.

    Returns
    -------
    DataFrame
        A row for each set: name, title, status (shipped, cached, mirrored or not available),
        reason, rows, attributes, classes, missing, licence, doi.
    """
    rows = []
    for entry in catalogue().values():
        status, reason = downloads.status(
            catalogue()[entry.files[0]] if entry.kind == "derived" else entry
        )
        facts = {
            key: getattr(entry, key)
            for key in ("rows", "attributes", "classes", "missing", "licence", "doi")
        }
        rows.append(
            {"name": entry.name, "title": entry.title, "status": status, "reason": reason, **facts}
        )
    return pd.DataFrame(rows)
