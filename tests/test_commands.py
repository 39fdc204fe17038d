"""The commands that chapters and pages show: quick checks of what they say, and (`make commands`) a run of each.

A chapter's commands are run in the repository and write into a temporary folder.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
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
from lib.book.project import Project, parameters_of, resolve_parameters
from lib.book.remote_data import find_missing_data
from lib.datasets.downloads import cache_folder

PROJECT = Project(Path(__file__).parents[1])
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
# set by `make commands`: each command takes about a minute
RUN_ALL = os.environ.get("RUN_COMMANDS")


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
    return [
        Command(re.search(r"(?!chapters)\b\w+/\w+", line)[0], line) for line in lines if "/" in line
    ]


COMMANDS = [
    Command(chapter, line) for chapter in PROJECT.chapters for line in lines_of(text_of(chapter))
]
PAGES = page_commands("running.md")


def given(command):
    """Return the values that a command sets, checked; a sweep's in a list, one for each run."""
    if command.kind == "book run":
        options = cli.commands["run"].make_context("run", command.words[2:], obj=PROJECT).params
        parameters = parameters_of(PROJECT, options["chapter"])
        values = {
            n: parameters[n].parse(text) if n in parameters else text
            for n, text in options["pairs"]
        }
        return resolve_parameters(PROJECT, options["chapter"], values)[0]
    if command.kind == "book sweep":
        options = cli.commands["sweep"].make_context("sweep", command.words[2:], obj=PROJECT).params
        runs = sweep.plan(PROJECT, options["chapter"], Path("nowhere"), options["pairs"])
        return [run.overrides for run in runs]
    if command.kind == "book verify":
        options = (
            cli.commands["verify"].make_context("verify", command.words[2:], obj=PROJECT).params
        )
        return {"chapters": options["chapters"]}
    options = papermill_command.make_context("papermill", command.words[1:]).params
    assert options["notebook_path"] == f"chapters/{command.chapter}.ipynb"
    values = {name: papermill_value(text) for name, text in options["parameters"]}
    for text in options["parameters_yaml"]:
        values |= yaml.safe_load(text)
    checked = resolve_parameters(PROJECT, command.chapter, values)[0]
    assert checked == values, (
        "papermill does not convert: the value must have its type as it is written"
    )
    return checked


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_each_chapter_has_the_two_commands_with_the_same_values(chapter):
    commands = {command.kind: command for command in COMMANDS if command.chapter == chapter}
    assert {"book run", "papermill"} <= set(commands) <= {"book run", "papermill", "book sweep"}
    for kind in {"book run", "book sweep"} & set(commands):
        assert commands[kind].words[2] == chapter
    assert given(commands["book run"]) == given(commands["papermill"]) != {}


@pytest.mark.parametrize("command", [*COMMANDS, *PAGES], ids=lambda command: command.line)
def test_each_command_sets_what_may_be_set(command):
    assert given(command)


@pytest.mark.parametrize("wrong", [("n_model", "4"), ("difficulty", "2")])
def test_the_page_shows_errors_as_they_are(wrong):
    result = CliRunner().invoke(cli, ["run", "cia/curves", "-p", *wrong])
    assert result.exit_code == 1
    assert result.output.strip() in (PROJECT.root / "chapters" / "running.md").read_text(
        encoding="utf-8"
    )


def with_texts(command):
    """Return the command with a folder that has the books for one's own; skip it where its texts cannot be had."""
    if "texts" in find_missing_data(PROJECT, command.chapter):
        pytest.skip(
            f"{command.chapter} needs texts: set TEXTS_MIRROR, or fetch them by read_texts() of lib.texts"
        )
    folder = os.environ.get("TEXTS_MIRROR", str(cache_folder()))
    return Command(command.chapter, command.line.replace("my-books", folder))


@pytest.mark.skipif(not RUN_ALL, reason="make commands")
@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: f"{command.chapter}-{command.kind}"
)
def test_each_command_works(command, tmp_path):
    command = with_texts(command)
    words, swept = command.words, command.kind == "book sweep"
    output = tmp_path / ("sweep" if swept else "out.ipynb")
    if command.kind == "papermill":
        words[words.index("out.ipynb")] = str(output)
    else:
        words += ["-o", str(output)]
    script = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
    process = subprocess.run(script, cwd=PROJECT.root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
    assert "not stored" not in process.stdout + process.stderr
    check = assert_swept if swept else assert_executed
    check(output, given(command))
    for page in tmp_path.glob(f"out-html/html/chapters/{command.chapter}.html"):
        assert_told(BeautifulSoup(page.read_bytes(), "html.parser").article)


def assert_told(article):
    """A page says nothing of what its run did not find."""
    unresolved = [
        at.text for at in article.select("code.xref:not(a *), .bibtex-citation:not(:has(a))")
    ]
    for code in article.select("pre, script, style"):
        code.decompose()
    assert (
        unresolved,
        re.findall(r".*(?:\b(?:nan|inf)\b|\[(?:−∞|0),\s∞\]).*", article.get_text()),
    ) == ([], [])


def assert_executed(path, values):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    [injected] = [cell for cell in cells if INJECTED in cell.metadata.get("tags", [])]
    found = {}
    exec(injected.source, found)
    assert {name: found[name] for name in values} == values


def assert_swept(folder, runs):
    notebooks = sorted(folder.glob("*/*.ipynb"))
    found = [yaml.safe_load(path.with_suffix(".parameters.yml").read_text()) for path in notebooks]
    assert sorted(map(str, found)) == sorted(map(str, runs))
    for path, values in zip(notebooks, found, strict=True):
        assert_executed(path, values)
    rows = csv.DictReader((folder / "claims.csv").read_text(encoding="utf-8").splitlines())
    assert {row["run"] for row in rows} <= {path.parent.name for path in notebooks}
    assert f"{len(runs)} executed" in (folder / "index.html").read_text(encoding="utf-8")
