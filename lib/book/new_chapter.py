"""A new chapter: a small notebook that passes the tests, and its line in each list that has one."""

import json
import re
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.database import parse_file

from lib.base.files import write_whole
from lib.base.validation import nearest
from lib.book import quick
from lib.book.publish import prepare
from lib.book.run.claim_rules import REGISTER, read_entries
from lib.book.run.jobs import lock_of
from lib.book.run.kernels import KERNELSPEC
from lib.book.run.project import QUICK, BookError, Project, read_text

TEMPLATE = Path(__file__).parent / "templates" / "new_chapter.txt"
# kind, id, tags and source of a cell
CELL = re.compile(r"^%% (markdown|code) (\S+)([^\n]*)\n(.*?)(?=^%% |\Z)", re.MULTILINE | re.DOTALL)
LAST_PART = "The book"  # caption of the part before which a new one is put
QUICK_VALUES = "{n_models: 5, n_jobs: 1}"
RULE = {
    "statistic": "error rate of logistic regression − naive Bayes after {n_examples} examples, mean over random models",
    "region": [0, None],
    "margin": 0.01,
    "least": 30,
    "unit": "random models",
    "quantity": "error",
    "why": "the only setting",
}
TO_DO = """\
Written: {notebook}, which passes `make test` as it is. chapters/writing.md shows the rest:
 1. Write your experiment and claim in the notebook; a smaller scale stands in {quick}.
 2. What decides the claim goes into {register}: `book register {name}`, and commit.
 3. `book refresh {name}` after each change of its code; then `make test`.
 4. `book publish {name}`; after a `make book`, `book claims --record`.
 5. New works in references.bib, new words in chapters/reference/glossary.md.
 6. Its time and memory in chapters/costs.yml, what is new in CHANGELOG.md."""


def new_chapter(project: Project, name: str, title: str, paper: str) -> str:
    """Add a chapter to the book, run it at the quick scale, and return what is left to do.

    Parameters
    ----------
    project : Project
    name : str
        PART/NAME. PART is the folder of other chapters, such as "cia", or a new part.
    title : str
    paper : str
        Key in ``references.bib`` of the paper whose claim it tests.

    Raises
    ------
    BookError
        If the name is not of that form or is taken, or references.bib has no such paper.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", name):
        raise BookError(f"the chapter must be called PART/NAME in small letters; got {name!r}")
    path = project.notebook(name)
    if path.exists():
        raise BookError(
            f"{path} is there already; `book refresh {name}` runs it again at the quick scale"
        )
    works = list(parse_file(project.root / "references.bib").entries)
    if paper not in works:
        raise BookError(f"add {paper!r} to references.bib first{nearest(paper, works)}")
    if claim_id(name) in read_entries(project):
        raise BookError(f"{REGISTER} has a claim {claim_id(name)!r}: choose another name")
    contents = list_chapter(project, name)
    register = list_claim(project, claim_id(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, nbformat.writes(make_notebook(name, title, paper)) + "\n")
    prepare(project, name)
    scales = read_text(project.root / QUICK).rstrip("\n")
    write_whole(project.root / QUICK, f"{scales}\n{name}: {QUICK_VALUES}\n")
    write_whole(project.root / REGISTER, register)
    write_whole(project.root / "_toc.yml", contents)
    click.echo(f"running {name} at the quick scale, for {quick.FOLDER}/ ...")
    project = Project(project.root)  # which reads the contents once
    with lock_of(project, quick.quick_outputs(project, name)):
        quick.refresh(project, name)
    return TO_DO.format(notebook=path, name=name, quick=QUICK, register=REGISTER)


def claim_id(name: str) -> str:
    """Return the id of a chapter's first claim, such as "part-a-name" for "part/a_name"."""
    return re.sub("[/_]+", "-", name).strip("-")


def make_notebook(name: str, title: str, paper: str) -> NotebookNode:
    """Return the notebook that the template describes: cells begin with ``%% KIND ID TAGS``."""
    text = TEMPLATE.read_text(encoding="utf-8")
    words = {"PART/NAME": name, "CLAIM": claim_id(name), "PAPER": paper, "TITLE": title}
    for word, value in words.items():  # the title last, which may have any words
        text = text.replace(word, value)
    notebook = new_notebook(metadata={"kernelspec": KERNELSPEC})
    for kind, cell_id, tags, source in CELL.findall(text):
        make_cell = new_markdown_cell if kind == "markdown" else new_code_cell
        cell = make_cell(source.strip(), metadata={"tags": tags.split()})
        cell["id"] = cell_id
        notebook.cells.append(cell)
    return notebook


def list_chapter(project: Project, name: str) -> str:
    """Return the table of contents with a chapter: the last one of its part, or in a new part."""
    lines = read_text(project.root / "_toc.yml").splitlines()
    part, _, _ = name.partition("/")
    siblings = [i for i, line in enumerate(lines) if f"file: chapters/{part}/" in line]
    if siblings:
        position = siblings[-1] + 1
        indent, _, _ = lines[siblings[-1]].partition("-")
        entry = []
    else:
        captions = [i for i, line in enumerate(lines) if "- caption:" in line]
        closing = [i for i in captions if lines[i].endswith(f"caption: {LAST_PART}")]
        position = closing[0] if closing else captions[0]
        outer, _, _ = lines[position].partition("-")
        indent = f"{outer}    "
        caption = part.replace("_", " ").capitalize()
        entry = [f"{outer}- caption: {caption}", f"{outer}  chapters:"]
    entry.append(f"{indent}- file: chapters/{name}")
    return "\n".join([*lines[:position], *entry, *lines[position:]]) + "\n"


def list_claim(project: Project, claim: str) -> str:
    """Return the register with a claim, which no `book register` has noted; lines are sorted."""
    path = project.root / REGISTER
    lines = read_text(path).splitlines() if path.exists() else []
    n_comments = sum(line.startswith("#") for line in lines)
    entry = {**RULE, "primary": claim, "settings": {claim: {}}}
    claims = [*lines[n_comments:], f"{claim}: {json.dumps(entry, ensure_ascii=False)}"]
    claims.sort(key=lambda line: line.partition(": ")[0])
    return "\n".join([*lines[:n_comments], *claims]) + "\n"
