"""A new chapter: a small notebook that runs, its line in the contents, its quick scale."""

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.base.files import write_whole
from lib.book.publish import prepare
from lib.book.run.kernels import KERNELSPEC
from lib.book.run.project import QUICK, BookError, Project

TEMPLATE = Path(__file__).parent / "templates" / "new_chapter.txt"
CELL = re.compile(r"^%% (markdown|code)(.*)$", re.MULTILINE)
TO_DO = """\
Written: {notebook}; listed in _toc.yml and tests/quick.yml. What is left to do:
 1. Write the experiment in the notebook; its defaults are published, tests/quick.yml has a smaller scale.
 2. Add what decides its claims to chapters/registered.yml, with the ids of their settings and
    the primary one, which decides; run `book register {name}`, and commit what it wrote before outputs are stored.
 3. Add new works to references.bib and new words to chapters/reference/glossary.md.
 4. Run `book refresh {name}` to store the outputs of its quick run, and `make test`.
 5. Run `book publish {name}`; record verdicts by `book claims --record`, its time in
    chapters/seconds.yml.
 6. Say in CHANGELOG.md what is new."""


def new_chapter(project: Project, name: str, title: str) -> str:
    """Add a chapter to the book and return what is left to do.

    Parameters
    ----------
    project : Project
    name : str
        PART/NAME, where PART is the folder of other chapters, such as "cia".
    title : str

    Raises
    ------
    BookError
        If the name is not of that form or is taken, or there is no such part.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", name):
        raise BookError(f"the chapter must be called PART/NAME in small letters; got {name!r}")
    # each once, in reading order
    parts = dict.fromkeys(chapter.split("/")[0] for chapter in project.chapters if "/" in chapter)
    part = name.split("/")[0]
    if part not in parts:
        raise BookError(f"there is no part {part!r}; it must be one of {', '.join(parts)}")
    path = project.notebook(name)
    if path.exists():
        raise BookError(f"{path} is there already")
    contents = _list_chapter(project, part, name)
    quick = project.root / QUICK
    scales = f"{quick.read_text(encoding='utf-8')}{name}: {{n_models: 5, n_jobs: 1}}\n"
    notebook = make_notebook(name, title)
    write_whole(path, nbformat.writes(notebook) + "\n")
    prepare(project, name)
    write_whole(project.root / "_toc.yml", contents)
    write_whole(quick, scales)
    return TO_DO.format(notebook=path, name=name)


def make_notebook(name: str, title: str) -> NotebookNode:
    """Return the notebook that the template describes: cells begin with ``%% KIND TAGS``."""
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("TITLE", title).replace("PART/NAME", name)
    text = text.replace("NAME", name.partition("/")[2].replace("_", "-"))
    # kind, tags and source of one cell after the other, behind what stands before the first
    _, *pieces = CELL.split(text)
    notebook = new_notebook(metadata={"kernelspec": KERNELSPEC})
    for kind, tags, source in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        make_cell = new_markdown_cell if kind == "markdown" else new_code_cell
        cell = make_cell(source.strip(), metadata={"tags": tags.split()})
        cell["id"] = f"cell-{len(notebook.cells)}"
        notebook.cells.append(cell)
    return notebook


def _list_chapter(project: Project, part: str, name: str) -> str:
    """Return the table of contents with the chapter after the last one of its part."""
    lines = (project.root / "_toc.yml").read_text(encoding="utf-8").splitlines()
    chapters_of_part = [i for i, line in enumerate(lines) if f"file: chapters/{part}/" in line]
    last = chapters_of_part[-1]
    indent, _, _ = lines[last].partition("-")
    lines.insert(last + 1, f"{indent}- file: chapters/{name}")
    return "\n".join(lines) + "\n"
