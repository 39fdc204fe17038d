"""What is known of each data set: data/manifest.csv and, for the columns of its files, data/schema.toml."""

import csv
import tomllib
from dataclasses import dataclass
from functools import lru_cache

from lib.files import DATA

ALIASES = {"diabetes": "pima"}
RESTORE = "`git checkout --"


@dataclass(frozen=True)
class Entry:
    """One row of the manifest.

    `kind` says where the set comes from: shipped (a file of data/), derived (from the set named in
    `files`), synthetic (a definition), uci (files at `address`) or excluded (for the reason in
    `changes`). `unconfirmed` are the files whose sha256 was never compared with that of the bytes
    at UCI.
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
        return [column.partition(":")[::2] for column in self.option("columns", "").split()]

    def option(self, name, default):
        """A reading option of the schema."""
        if self.schema not in schemas():
            raise ValueError(
                f"data/schema.toml has no {self.schema!r}; restore it with {RESTORE} data/schema.toml`"
            )
        return schemas()[self.schema].get(name, default)


@lru_cache
def schemas():
    """Tables of data/schema.toml."""
    return _read("schema.toml", lambda file: tomllib.loads(file.read()))


@lru_cache
def catalogue():
    """Entries of data/manifest.csv by name."""
    return _read(
        "manifest.csv", lambda file: {row["name"]: _entry(row) for row in csv.DictReader(file)}
    )


def _read(name, parse):
    if not DATA.is_dir():
        raise ValueError(
            f"there is no folder {str(DATA)!r}: `pip install --editable .` in a clone of the repository"
        )
    try:
        with open(DATA / name, newline="", encoding="utf-8") as file:
            return parse(file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, csv.Error) as error:
        raise ValueError(
            f"data/{name} cannot be read ({error}); restore it with {RESTORE} data/{name}`"
        ) from error


def _entry(row):
    lists = {key: tuple(row[key].split()) for key in ("files", "sha256", "unconfirmed")}
    numbers = {key: int(row[key] or 0) for key in ("rows", "attributes", "classes", "missing")}
    n_train = int(row["n_train"]) if row["n_train"] else None
    return Entry(
        **{**row, **lists, **numbers, "n_train": n_train, "schema": row["schema"] or row["name"]}
    )
