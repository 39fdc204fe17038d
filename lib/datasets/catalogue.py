"""What is known of each data set: data/manifest.csv and, for the columns of its files, data/schema.toml."""

import csv
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
ALIASES = {"diabetes": "pima"}


@dataclass(frozen=True)
class Entry:
    """One row of the manifest.

    `kind` says where the set comes from: shipped (a file of data/), derived (from the set named in `files`),
    synthetic (a definition), uci (files at `address`) or excluded (for the reason in `changes`). `unconfirmed`
    are the files whose sha256 was never compared with that of the bytes at UCI.
    """

    name: str
    title: str
    kind: str
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
        """Pairs (name, kind) of the columns of its files, in their order."""
        return [column.partition(":")[::2] for column in schemas()[self.schema]["columns"].split()]

    def option(self, name, default):
        """A reading option of the schema."""
        return schemas()[self.schema].get(name, default)


@lru_cache
def schemas():
    """Tables of data/schema.toml."""
    return tomllib.loads((DATA / "schema.toml").read_text(encoding="utf-8"))


@lru_cache
def catalogue():
    """Entries of data/manifest.csv by name."""
    with open(DATA / "manifest.csv", newline="", encoding="utf-8") as file:
        return {row["name"]: _entry(row) for row in csv.DictReader(file)}


def _entry(row):
    lists = {key: tuple(row[key].split()) for key in ("files", "sha256", "unconfirmed")}
    numbers = {key: int(row[key] or 0) for key in ("rows", "attributes", "classes", "missing")}
    n_train = int(row["n_train"]) if row["n_train"] else None
    return Entry(**{**row, **lists, **numbers, "n_train": n_train, "schema": row["schema"] or row["name"]})
