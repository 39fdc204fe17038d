"""The reference pages of data sets and parameters, made from the project's own files."""

import csv

from lib.book.rendering import render
from lib.book.run.keys import read_execution_note
from lib.book.run.project import parameters_of, resolve_parameters


def data_sets(book) -> str:
    """Return the tables of data sets in ``data/manifest.csv`` as MyST text.

    There is a table for each way to get the data; in a table, data sets are sorted by name. The
    tables are the same in every profile.

    Parameters
    ----------
    book : lib.book.pages.book.Book
    """
    path = book.project.root / "data" / "manifest.csv"
    with open(path, newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    return render("data_sets.md", entries=entries).strip()


def parameter_tables(book) -> str:
    """Return as MyST text which parameters the run of each chapter set.

    The text also has the seconds that the chapter took here.

    Parameters
    ----------
    book : lib.book.pages.book.Book
    """
    chapters = [_describe_run(book, run) for run in book.runs.values()]
    return render("settings.md", chapters=chapters).strip()


def _describe_run(book, run) -> dict:
    """Return what the template shows of a run; None for the seconds if it was not made here."""
    _, values = resolve_parameters(book.project, run.chapter, run.overrides)
    execution = {} if run.is_stored else read_execution_note(run.path)
    return {
        "name": run.chapter,
        "heading": book.project.heading(run.chapter),
        "parameters": parameters_of(book.project, run.chapter),
        "parameter_values": values,
        "scale": run.scale,
        "seconds": execution.get("seconds"),
    }
