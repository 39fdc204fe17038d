"""The page "Write a chapter": what it says is done in a copy of the book, and passes the tests."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import REPOSITORY

from lib.book.new_chapter import claim_id
from lib.book.run.claim_rules import REGISTER, read_entries
from lib.book.run.project import Project, read_cells, read_notebook
from lib.claims import CLAIMS_JSON

PAGE = (REPOSITORY / "chapters" / "writing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
NAME = "generative/few_examples"  # the chapter of the page
UNCHANGED = "my_paper/few_words"  # a chapter as `book new` writes it
LEFT_OUT = (".*", "_build", "numba", "shared", "browser", "peers")
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with=tests/nbval_sanitize.cfg"]
CHECKS = ["tests/test_published.py", "tests/test_commands.py", "tests/book/test_pages.py"]
CALLS = """\
import json, sys
from lib.book.cli import cli
for words in json.loads(sys.argv[1]):
    cli(words, standalone_mode=False)
"""


def blocks(language):
    """The blocks of the page in a language, in their order."""
    return [source for name, source in BLOCK.findall(PAGE) if name == language]


def book_commands():
    """The words of each command of `book` on the page, by its name."""
    lines = "\n".join(blocks("bash")).splitlines()
    commands = [words[1:] for words in map(shlex.split, lines) if words[0] == "book"]
    return {words[0]: words for words in commands}


def run_python(project, *arguments):
    """Run Python in the copy, with the lib of the copy, and return what it prints."""
    process = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=project.root,
        env=os.environ | {"PYTHONPATH": str(project.root)},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}"
    return process.stdout


def call_book(project, *commands):
    """Call commands of `book` one after the other, in one process, as starting one takes long."""
    return run_python(project, "-c", CALLS, json.dumps(commands))


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Project:
    """A copy of the book with two new chapters, of which the page changes one."""
    root = tmp_path_factory.mktemp("copy") / "book"
    shutil.copytree(REPOSITORY, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
    output = call_book(Project(root), ["new", UNCHANGED], book_commands()["new"])
    assert f"running {NAME} at the quick scale" in output
    return Project(root)


def put_cells(path: Path) -> None:
    """Put each block of Python into the cell that begins with the same comment."""
    notebook = read_notebook(path)
    for source in blocks("python"):
        comment, _, _ = source.partition("\n")
        (cell,) = [cell for cell in notebook.cells if cell.source.startswith(f"{comment}\n")]
        cell.source = source
    nbformat.write(notebook, path)


def put_entry(project: Project) -> str:
    """Put the entry of the page into the register, in place of the one that was written."""
    path = project.root / REGISTER
    (entry,) = blocks("yaml")
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(f"{claim_id(NAME)}: ")]
    assert len(kept) == len(lines) - 1
    path.write_text("\n".join([*kept, entry, ""]), encoding="utf-8")
    return entry.partition(":")[0]


def check_chapters(project: Project) -> None:
    """Run what the tests of the book and the linter ask of both chapters."""
    compared = project.root / "_build" / "nbval" / f"{NAME}.ipynb"
    compared.parent.mkdir(parents=True)
    compared.touch()  # pytest wants a path to be there before it makes the notebook
    options = ["-p", "no:cacheprovider", "-k", "few_examples or few_words", *NBVAL]
    run_python(project, "-m", "pytest", *options, compared, *CHECKS)
    paths = [project.notebook(name) for name in (NAME, UNCHANGED)]
    run_python(project, "-m", "ruff", "check", "--no-cache", *paths)
    run_python(project, "-m", "ruff", "format", "--check", "--no-cache", *paths)


def test_what_the_page_says_publishes_a_verdict(copy):
    put_cells(copy.notebook(NAME))
    id = put_entry(copy)
    commands = book_commands()
    steps = [commands[name] for name in ("register", "refresh", "publish")]
    assert "before results" in call_book(copy, *steps)
    assert read_entries(copy)[id]["before"] == "all"
    check_chapters(copy)
    cells = read_cells(copy.notebook(NAME))
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    (claims,) = [o["data"][CLAIMS_JSON] for o in outputs if CLAIMS_JSON in o.get("data", {})]
    (claim,) = claims
    assert (claim["id"], claim["paper"]) == (id, "ngjordan2002")
    for setting in claim["settings"]:
        assert setting["low"] < setting["value"] < setting["high"]
        assert setting["verdict"] != "too little data"


def test_the_register_has_each_new_claim_in_its_place(copy):
    ids = list(read_entries(copy))
    assert ids == sorted(ids)
    code = "\n".join(cell["source"] for cell in read_cells(copy.notebook(UNCHANGED)))
    assert [id for id in ids if f'"{id}",' in code] == [claim_id(UNCHANGED)]
