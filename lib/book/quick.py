"""The quick run of a chapter, which only tests have: its outputs, and the notebook that nbval reads."""

import json
import os
from copy import deepcopy
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from lib.base.files import write_whole
from lib.book.run.execution import execute
from lib.book.run.parameters import INJECTED, TAG
from lib.book.run.project import Project, read_notebook, read_text

FOLDER = "tests/quick"  # outputs by the id of their cell, a file a chapter
NO_FIGURES = {"BOOK_FIGURES": "off"}  # numbers are compared, not pictures


def quick_outputs(project: Project, chapter: str) -> Path:
    """Return where the outputs of a chapter's quick run are."""
    return project.root / FOLDER / f"{chapter}.json"


def refresh(project: Project, chapter: str) -> Path:
    """Run a chapter at the quick scale, store its outputs and return their file."""
    executed = project.root / "_build" / "refresh" / f"{chapter}.ipynb"
    with patch.dict(os.environ, NO_FIGURES):
        execute(project, chapter, project.profile("quick", chapter), executed)
    outputs = {
        cell.id: cell.outputs
        for cell in read_notebook(executed).cells
        if cell.cell_type == "code" and cell.outputs
    }
    path = quick_outputs(project, chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(outputs, indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(path, text + "\n")
    return path


def quick_notebook(project: Project, chapter: str) -> NotebookNode:
    """Return a chapter with the values and the outputs of its quick run, as nbval compares them."""
    notebook = deepcopy(read_notebook(project.notebook(chapter)))
    outputs = json.loads(read_text(quick_outputs(project, chapter)))
    values = project.profile("quick", chapter)
    cells = []
    for number, cell in enumerate(notebook.cells):
        cells.append(cell)
        if cell.cell_type != "code":
            continue
        cell.outputs = [nbformat.from_dict(output) for output in outputs.get(cell.id, [])]
        cell.execution_count = number  # nbval takes a cell without one for one that never ran
        if TAG in cell.metadata.get("tags", []):
            lines = [f"{name} = {value!r}" for name, value in values.items()]
            cells.append(new_code_cell("\n".join(lines), id=INJECTED))
    notebook.cells = cells
    return notebook


def write_notebooks(project: Project, folder: Path) -> None:
    """Write the quick notebooks of all chapters that have outputs into a folder."""
    for chapter in project.chapters:
        if quick_outputs(project, chapter).exists():
            path = folder / f"{chapter}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, nbformat.writes(quick_notebook(project, chapter)) + "\n")
