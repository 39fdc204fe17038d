"""A chapter as it is committed: its defaults' outputs, figures as small PNG, a first cell that says what to install."""

from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from PIL import Image

from lib.book.execution import execute
from lib.book.pages import render
from lib.book.project import Project, read_notebook
from lib.book.repository import address
from lib.files import write_whole

ID = "first-cell"


def refresh(project: Project, chapter: str) -> Path:
    """Run a chapter with its defaults, store the outputs in its notebook and return its path."""
    path = project.notebook(chapter)
    put_first_cell(path, address(project.config))
    attempt = project.root / "_build" / "refresh" / f"{chapter}.ipynb"
    execute(project, chapter, {}, attempt)
    write_whole(path, nbformat.writes(with_small_figures(read_notebook(attempt))) + "\n")
    return path


def first_cell(address: str) -> NotebookNode:
    """Return the cell for a repository's address; without one, the reader has to know it."""
    source = render("first_cell.txt", address=address or "ADDRESS-OF-THIS-REPOSITORY").strip()
    return new_code_cell(source, id=ID, metadata={"tags": ["remove-cell"]})


def put_first_cell(path: Path, address: str) -> None:
    """Write the cell into a notebook, after its title, in place of an older one."""
    notebook = read_notebook(path)
    others = [cell for cell in notebook.cells if cell.get("id") != ID]
    notebook.cells = [*others[:1], first_cell(address), *others[1:]]
    write_whole(path, nbformat.writes(notebook) + "\n")


def with_small_figures(notebook: NotebookNode) -> NotebookNode:
    """Keep each figure in one format, which GitHub and a notebook that is not trusted show, too."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for png in [name for name in data if name.endswith("image/png")]:
                data[png] = _small(data[png])
                data.pop(png.replace("png", "svg+xml"), None)
    return notebook


def _small(png: str) -> str:
    image = Image.open(BytesIO(b64decode(png))).convert("RGB")
    file = BytesIO()
    # by maximal coverage: the median cut would give up the colours of few pixels, a legend's for
    # example
    image.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        file, "PNG", optimize=True
    )
    return b64encode(file.getvalue()).decode("ascii")
