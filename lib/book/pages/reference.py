"""The reference page of data sets, made from the project's own files."""

import csv

from lib.book.rendering import render


def data_sets(book) -> str:
    """Return the tables of data sets in ``data/manifest.csv`` as MyST text.

    There is a table for each way to get the data; in a table, data sets are sorted by name.

    Parameters
    ----------
    book : lib.book.pages.book.Book
    """
    path = book.project.root / "data" / "manifest.csv"
    with open(path, newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    return render("data_sets.md", entries=entries).strip()
