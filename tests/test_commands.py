"""The commands that chapters and pages show: quick checks of what they say, and (`make commands`) a run of each.

A chapter's commands are run in the repository and write into a temporary folder.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from click.testing import CliRunner
from papermill.cli import _resolve_type as papermill_value
from papermill.cli import papermill as papermill_command

from lib.book import sweep
from lib.book.cli import cli
from lib.book.execution import INJECTED
from lib.book.project import Project, parameters_of, settle
from lib.datasets import NotAvailableError
from lib.texts import read_texts

PROJECT = Project(Path(__file__).parents[1])
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
RUN_ALL = os.environ.get("RUN_COMMANDS")  # set by `make commands`: each command takes about a minute


@dataclass(frozen=True)
class Command:
    """A command line of a chapter."""

    chapter: str
    line: str

    @property
    def words(self):
        return shlex.split(self.line)

    @property
    def kind(self):
        return self.words[0] if self.words[0] != "book" else f"book {self.words[1]}"


def lines_of(text):
    return [line for block in BASH.findall(text) for line in block.strip().splitlines()]


def text_of(chapter):
    cells = nbformat.read(PROJECT.notebook(chapter), as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def page_commands(name):
    text = (PROJECT.root / "chapters" / name).read_text(encoding="utf-8")
    lines = [line for line in lines_of(text) if line.split()[0] in ("book", "papermill")]
    return [Command(re.search(r"(?!chapters)\b\w+/\w+", line)[0], line) for line in lines if "/" in line]


COMMANDS = [Command(chapter, line) for chapter in PROJECT.chapters for line in lines_of(text_of(chapter))]
PAGES = page_commands("running.md")


def given(command):
    """Return the values that a command sets, checked; a sweep's in a list, one for each run."""
    if command.kind == "book run":
        options = cli.commands["run"].make_context("run", command.words[2:], obj=PROJECT).params
        parameters = parameters_of(PROJECT, options["chapter"])
        values = {n: parameters[n].parse(text) if n in parameters else text for n, text in options["pairs"]}
        return settle(PROJECT, options["chapter"], values)[0]
    if command.kind == "book sweep":
        options = cli.commands["sweep"].make_context("sweep", command.words[2:], obj=PROJECT).params
        runs = sweep.plan(PROJECT, options["chapter"], Path("nowhere"), options["pairs"])
        return [run.given for run in runs]
    if command.kind == "book verify":
        options = cli.commands["verify"].make_context("verify", command.words[2:], obj=PROJECT).params
        return {"chapters": options["chapters"]}
    options = papermill_command.make_context("papermill", command.words[1:]).params
    assert options["notebook_path"] == f"chapters/{command.chapter}.ipynb"
    values = {name: papermill_value(text) for name, text in options["parameters"]}
    for text in options["parameters_yaml"]:
        values |= yaml.safe_load(text)
    checked = settle(PROJECT, command.chapter, values)[0]
    assert checked == values, "papermill does not convert: the value must have its type as it is written"
    return checked


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_each_chapter_has_the_two_commands_with_the_same_values(chapter):
    commands = {command.kind: command for command in COMMANDS if command.chapter == chapter}
    assert {"book run", "papermill"} <= set(commands) <= {"book run", "papermill", "book sweep"}
    for kind in ("book run", "book sweep"):
        if kind in commands:
            assert commands[kind].words[2] == chapter
    assert given(commands["book run"]) == given(commands["papermill"]) != {}


@pytest.mark.parametrize("command", [*COMMANDS, *PAGES], ids=lambda command: command.line)
def test_each_command_sets_what_may_be_set(command):
    assert given(command)


@pytest.mark.parametrize("wrong", [("n_model", "4"), ("difficulty", "2")])
def test_the_page_shows_errors_as_they_are(wrong):
    result = CliRunner().invoke(cli, ["run", "cia/curves", "-p", *wrong])
    assert result.exit_code == 1
    assert result.output.strip() in (PROJECT.root / "chapters" / "running.md").read_text(encoding="utf-8")


def with_texts(command, folder):
    """Return the command with the books in the folder that it has for one's own; skip it where they cannot be had."""
    if "read_texts" not in PROJECT.notebook(command.chapter).read_text(encoding="utf-8"):
        return command
    try:
        books = read_texts()
    except NotAvailableError as error:
        pytest.skip(f"{command.chapter} needs texts: {error}")
    for name, text in books.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return replace(command, line=command.line.replace("my-books", str(folder)))


@pytest.mark.skipif(not RUN_ALL, reason="make commands")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.chapter}-{command.kind}")
def test_each_command_works(command, tmp_path):
    command = with_texts(command, tmp_path)
    words = command.words
    if command.kind == "papermill":
        output = tmp_path / "out.ipynb"
        words[words.index("out.ipynb")] = str(output)
    else:
        output = tmp_path / ("sweep" if command.kind == "book sweep" else "out.ipynb")
        words += ["-o", str(output)]
    script = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
    process = subprocess.run(script, cwd=PROJECT.root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
    if command.kind == "book sweep":
        assert_swept(output, given(command))
    else:
        assert_executed(output, given(command))
    for page in tmp_path.glob(f"out-html/html/chapters/{command.chapter}.html"):
        assert_told(BeautifulSoup(page.read_bytes(), "html.parser").article)


def assert_told(article):
    """A page says nothing of what its run did not find."""
    unresolved = [at.text for at in article.select("code.xref:not(a *), .bibtex-citation:not(:has(a))")]
    for code in article.select("pre, script, style"):
        code.decompose()
    assert (unresolved, re.findall(r".*(?:\b(?:nan|inf)\b|\[(?:−∞|0),\s∞\]).*", article.get_text())) == ([], [])


def assert_executed(path, values):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    injected = [cell for cell in cells if INJECTED in cell.metadata.get("tags", [])]
    assert len(injected) == 1
    found = {}
    exec(injected[0].source, found)
    assert {name: found[name] for name in values} == values


def assert_swept(folder, runs):
    notebooks = sorted(folder.glob("*/*.ipynb"))
    found = [yaml.safe_load(path.with_suffix(".parameters.yml").read_text()) for path in notebooks]
    assert sorted(map(str, found)) == sorted(map(str, runs))
    for path, values in zip(notebooks, found, strict=True):
        assert_executed(path, values)
    with open(folder / "claims.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} <= {path.parent.name for path in notebooks}
    assert f"{len(runs)} executed" in (folder / "index.html").read_text(encoding="utf-8")
