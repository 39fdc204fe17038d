"""The first code cell of a chapter, which says what to install where the book is not: on Colab, for example."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from lib.book.project import read_notebook, write_whole

ID = "first-cell"
SOURCE = '''\
# Where the book is installed, this does nothing.
import importlib.util

if importlib.util.find_spec("lib") is None:
    message = """The book's package lib is not installed here. Run this in a cell of its own, once:

    !git clone --depth 1 {address} book
    %pip install --quiet --editable ./book

Then restart the kernel (on Colab: Runtime, Restart session) and run all cells.{hint}"""
    raise ModuleNotFoundError(message)'''
UNKNOWN = "\nADDRESS is that of the repository from which this notebook came."


def first_cell(address: str) -> NotebookNode:
    """Return the cell for a repository's address; without one, the reader is told where to take it from."""
    source = SOURCE.format(address=address or "ADDRESS", hint="" if address else UNKNOWN)
    return new_code_cell(source, id=ID, metadata={"tags": ["remove-cell"]})


def put_first_cell(path: Path, address: str) -> bool:
    """Write the cell into a notebook, after its title or in place of an older one; return whether it was changed."""
    notebook = read_notebook(path)
    cell, others = first_cell(address), [c for c in notebook.cells if c.get("id") != ID]
    old = [c for c in notebook.cells if c.get("id") == ID]
    title = int(bool(others) and others[0].cell_type == "markdown")
    place = notebook.cells.index(old[0]) if old else None
    if place == title and (old[0].source, old[0].metadata) == (cell.source, cell.metadata):
        return False
    notebook.cells = [*others[:title], cell, *others[title:]]
    write_whole(path, nbformat.writes(notebook) + "\n")
    return True
