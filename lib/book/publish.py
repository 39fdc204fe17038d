"""A chapter as it is committed: outputs of its published run, small figures, a first cell that says what to install."""

from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from PIL import Image

from lib.base.files import write_whole
from lib.book.pages.reports import summary_of
from lib.book.rendering import render
from lib.book.repository import address
from lib.book.run.jobs import Job
from lib.book.run.keys import code_digests
from lib.book.run.project import FINDING_CELL, Project, read_notebook

ID = "first-cell"
FOLDED_CODE = {"hide-input", "hide-cell", "remove-input", "remove-cell"}  # tags of pages
FOLDED_OUTPUTS = {"hide-cell"}  # of solutions


def prepare(project: Project, chapter: str) -> None:
    """Put in the cell that says what to install, and fold; before a chapter is executed."""
    path = project.notebook(chapter)
    notebook = read_notebook(path)
    put_first_cell(notebook, address(project.config))
    fold(notebook)
    write_whole(path, nbformat.writes(notebook) + "\n")


def publish(project: Project, job: Job, commit: str) -> Path:
    """Store the outputs of a chapter's published run in its notebook, and return its path.

    What its summary says stands below the title, too. The notebook notes what its outputs are of:
    the commit, as `lib.book.run.history.commit` says it, and digests of its code and of the modules
    of lib that it reaches.
    """
    path = project.notebook(job.chapter)
    notebook = read_notebook(path)
    executed_cells = {cell.id: cell for cell in read_notebook(job.notebook).cells}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = executed_cells[cell.id].outputs
            cell.execution_count = executed_cells[cell.id].execution_count
    shrink_figures(notebook)
    put_finding(notebook)
    digests = code_digests(project, job.chapter)
    notebook.metadata["published"] = {"commit": commit, **digests}
    write_whole(path, nbformat.writes(notebook) + "\n")
    return path


def put_finding(notebook: NotebookNode) -> None:
    """Put what the summary of a published run says below the title, in place of what stood there."""
    notebook.cells = [cell for cell in notebook.cells if cell.id != FINDING_CELL]
    words = summary_of(notebook)
    if words:
        source = f"<!-- published -->\n{words}\n<!-- end -->"
        notebook.cells.insert(1, new_markdown_cell(source, id=FINDING_CELL))


def fold(notebook: NotebookNode) -> None:
    """Fold in JupyterLab what a page folds or leaves out: code, and the outputs of solutions."""
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        folded = {}
        if tags & FOLDED_CODE:
            folded["source_hidden"] = True
        if tags & FOLDED_OUTPUTS:
            folded["outputs_hidden"] = True
        if folded:
            cell.metadata["jupyter"] = folded
        else:
            cell.metadata.pop("jupyter", None)


def first_cell(address: str) -> NotebookNode:
    """Return the cell that says what to install from the repository's address.

    Without an address, the reader has to know it.
    """
    source = render("first_cell.txt", address=address or "ADDRESS-OF-THIS-REPOSITORY").strip()
    return new_code_cell(source, id=ID, metadata={"tags": ["remove-cell"]})


def put_first_cell(notebook: NotebookNode, address: str) -> None:
    """Put the cell into a notebook, after its title, in place of an older one."""
    notebook.cells = [cell for cell in notebook.cells if cell.id != ID]
    notebook.cells.insert(1, first_cell(address))


def shrink_figures(notebook: NotebookNode) -> None:
    """Keep each figure as a small PNG only, which GitHub and untrusted notebooks show, too."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for png in [name for name in data if name.endswith("image/png")]:
                data[png] = _quantize_png(data[png])
                data.pop(png.replace("png", "svg+xml"), None)


def _quantize_png(png: str) -> str:
    """Return a PNG, in base64, in 128 colours."""
    image = Image.open(BytesIO(b64decode(png))).convert("RGB")
    file = BytesIO()
    # By maximal coverage: the median cut would lose the colours of few pixels, as in a legend.
    quantized = image.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    quantized.save(file, "PNG", optimize=True)
    return b64encode(file.getvalue()).decode("ascii")
