"""Facts about each data set (data/manifest.csv) and the columns of its files (data/schema.toml)."""

import csv
import tomllib
from dataclasses import dataclass
from functools import lru_cache

from lib.base.files import DATA

ALIASES = {"diabetes": "pima"}


@dataclass(frozen=True)
class Entry:
    """One row of the manifest.

    Attributes
    ----------
    kind : {"shipped", "derived", "synthetic", "packaged", "uci", "excluded"}
        Where the set comes from: a file of data/, the set that `files` names, a definition,
        scikit-learn, files at `address`, or nowhere, for the reason in `changes`.
    family : str
        The name that it shares with all sets of the same rows, patients or institute's records.
    unconfirmed : tuple of str
        Files whose sha256 was never compared with that of the bytes at UCI.
    """

    name: str
    title: str
    kind: str
    family: str
    files: tuple
    sha256: tuple
    unconfirmed: tuple
    schema: str
    rows: int
    attributes: int
    classes: int
    missing: int
    n_train: int | None
    uci_id: str
    doi: str
    licence: str
    address: str
    citation: str
    changes: str

    @property
    def columns(self):
        """Pairs (name, kind) of the columns of its files, in their order; a kind may be empty."""
        pairs = []
        for column in self.option("columns", "").split():
            name, _, kind = column.partition(":")
            pairs.append((name, kind))
        return pairs

    def option(self, name, default):
        """A reading option of the schema."""
        if self.schema not in schemas():
            raise ValueError(
                f"data/schema.toml has no {self.schema!r}; {restore_words('data/schema.toml')}"
            )
        return schemas()[self.schema].get(name, default)


def restore_words(path):
    """Say how a file gets the bytes again that were committed.

    It has to go first: git passes over a file that it believes to be unchanged, as one whose line
    ends it has converted.
    """
    return f"delete it, then restore it with `git checkout -- {path}`"


@lru_cache
def schemas():
    """Tables of data/schema.toml."""
    return _read_list("schema.toml", lambda file: tomllib.loads(file.read()))


@lru_cache
def catalogue():
    """Entries of data/manifest.csv by name."""
    return _read_list("manifest.csv", _parse_manifest)


def _read_list(name, parse):
    """What `parse` makes of an open file of data/; ValueError says how to restore a damaged one."""
    if not DATA.is_dir():
        raise ValueError(
            f"there is no folder {str(DATA)!r}: "
            "`pip install --editable .` in a clone of the repository"
        )
    try:
        with open(DATA / name, newline="", encoding="utf-8") as file:
            return parse(file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, csv.Error) as error:
        raise ValueError(
            f"data/{name} cannot be read ({error}); {restore_words(f'data/{name}')}"
        ) from error


def _parse_manifest(file):
    return {row["name"]: _parse_entry(row) for row in csv.DictReader(file)}


def _parse_entry(row):
    """The entry of one row of the manifest, in which every field is text."""
    fields = dict(row)
    for name in ("files", "sha256", "unconfirmed"):
        fields[name] = tuple(row[name].split())
    for name in ("rows", "attributes", "classes", "missing"):
        fields[name] = int(row[name] or 0)
    fields["n_train"] = int(row["n_train"]) if row["n_train"] else None
    fields["family"] = row["family"] or row["name"]  # most sets are alone
    fields["schema"] = row["schema"] or row["name"]  # most sets have a schema of their own
    return Entry(**fields)
