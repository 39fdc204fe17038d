"""The commands that chapters and pages show: what they say, and (`make commands`) a run of each.

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

from lib.book.cli import cli
from lib.book.run.parameters import INJECTED
from lib.book.run.project import (
    COSTS,
    Project,
    parameters_of,
    read_mapping,
    resolve_parameters,
)
from lib.book.run.remote_data import find_missing_data
from lib.book.sweep.plan import plan_runs
from lib.datasets.downloads import download_folder

PROJECT = Project(Path(__file__).parents[1])
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
INDENTED = re.compile(r"^    \.venv/bin/((?:book|papermill) .*)$", re.MULTILINE)  # in README.md
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
        """Its name, with the subcommand of `book`."""
        if self.words[0] == "book":
            return f"book {self.words[1]}"
        return self.words[0]


def lines_of(text):
    """The lines of all blocks of bash."""
    lines = []
    for block in BASH.findall(text):
        lines += block.strip().splitlines()
    return lines


def text_of(chapter):
    cells = nbformat.read(PROJECT.notebook(chapter), as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def page_commands(name):
    """The commands of a page that name a chapter."""
    text = (PROJECT.root / name).read_text(encoding="utf-8")
    lines = [line.partition("  #")[0].strip() for line in INDENTED.findall(text)]
    commands = []
    for line in [*lines_of(text), *lines]:
        if line.split()[0] in ("book", "papermill") and "/" in line:
            chapter = re.search(r"(?!chapters)\b\w+/\w+", line)[0]
            commands.append(Command(chapter, line))
    return commands


def chapter_commands():
    commands = []
    for chapter in PROJECT.chapters:
        commands += [Command(chapter, line) for line in lines_of(text_of(chapter))]
    return commands


COMMANDS = chapter_commands()
PAGES = []
for page in ("chapters/running.md", "chapters/teaching.md", "README.md"):
    PAGES += page_commands(page)


def book_options(command):
    """The options of a command of `book`, as click reads them."""
    name = command.words[1]
    return cli.commands[name].make_context(name, command.words[2:], obj=PROJECT).params


def run_values(command):
    """The values that `book run` sets by -p."""
    options = book_options(command)
    parameters = parameters_of(PROJECT, options["chapter"])
    values = {}
    for name, text in options["pairs"]:
        values[name] = parameters[name].parse(text) if name in parameters else text
    return resolve_parameters(PROJECT, options["chapter"], values)[0]


def papermill_values(command):
    """The values that papermill sets, which have their type as they are written."""
    options = papermill_command.make_context("papermill", command.words[1:]).params
    assert options["notebook_path"] == f"chapters/{command.chapter}.ipynb"
    values = {name: papermill_value(text) for name, text in options["parameters"]}
    for text in options["parameters_yaml"]:
        values |= yaml.safe_load(text)
    resolved_values = resolve_parameters(PROJECT, command.chapter, values)[0]
    assert resolved_values == values, "papermill does not convert: the value must have its type"
    return resolved_values


def values_of(command):
    """Return the values that a command sets, checked; a sweep's in a list, one for each run."""
    if command.kind == "book run":
        return run_values(command)
    if command.kind == "book sweep":
        options = book_options(command)
        runs = plan_runs(PROJECT, options["chapter"], Path("nowhere"), options["pairs"])
        return [run.overrides for run in runs]
    if command.kind == "book verify":
        return {"chapters": book_options(command)["chapters"]}
    return papermill_values(command)


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_each_chapter_has_a_command_and_others_with_the_same_values(chapter):
    # the first of each kind
    printed = reversed(COMMANDS)
    commands = {command.kind: command for command in printed if command.chapter == chapter}
    assert {"book run"} <= set(commands) <= {"book run", "papermill", "book sweep"}
    for kind in {"book run", "book sweep"} & set(commands):
        assert commands[kind].words[2] == chapter
    values = values_of(commands["book run"])
    assert values
    assert values_of(commands.get("papermill", commands["book run"])) == values


@pytest.mark.parametrize(
    "command",
    [command for command in [*COMMANDS, *PAGES] if command.kind in ("book run", "book sweep")],
    ids=lambda command: command.line,
)
def test_a_printed_command_decides_claims(command):
    """At the quick scale of the tests most claims have too little data."""
    assert book_options(command)["profile"] is None


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_a_chapter_says_how_long_its_commands_take(chapter):
    costs = read_mapping(PROJECT.root / COSTS)
    if chapter in costs and not chapter.startswith("appendix/"):  # which show what is recorded
        assert f"{duration_words(costs[chapter]['processor'] / 2)} on two cores" in text_of(chapter)


def test_a_chapter_needs_little_memory():
    memory = {name: cost["memory"] for name, cost in read_mapping(PROJECT.root / COSTS).items()}
    assert max(memory.values()) <= 2


def duration_words(seconds):
    """A duration such as "about 3 minutes"."""
    minutes = round(seconds / 60)
    if minutes == 0:
        return "less than a minute"
    return "about a minute" if minutes == 1 else f"about {minutes} minutes"


@pytest.mark.parametrize("command", [*COMMANDS, *PAGES], ids=lambda command: command.line)
def test_each_command_sets_what_may_be_set(command):
    assert values_of(command)


@pytest.mark.parametrize("pair", [("n_model", "4"), ("difficulty", "2")])
def test_the_page_shows_errors_as_they_are(pair):
    result = CliRunner().invoke(cli, ["run", "cia/curves", "-p", *pair])
    assert result.exit_code == 1
    page = (PROJECT.root / "chapters" / "running.md").read_text(encoding="utf-8")
    assert result.output.strip() in page


def with_texts(command):
    """Return the command with the folder of the books; skip it where its texts are unavailable."""
    if "texts" in find_missing_data(PROJECT, command.chapter):
        remedy = "set TEXTS_MIRROR, or fetch them by read_texts() of lib.datasets.texts"
        pytest.skip(f"{command.chapter} needs texts: {remedy}")
    folder = os.environ.get("TEXTS_MIRROR", str(download_folder()))
    return Command(command.chapter, command.line.replace("my-books", folder))


@pytest.mark.skipif(not RUN_ALL, reason="make commands")
@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: f"{command.chapter}-{command.kind}"
)
def test_each_command_works(command, tmp_path):
    command = with_texts(command)
    words = command.words
    is_sweep = command.kind == "book sweep"
    output = tmp_path / ("sweep" if is_sweep else "out.ipynb")
    if command.kind == "papermill":
        words[words.index("out.ipynb")] = str(output)
    else:  # at the quick scale: whether the command works, not what it finds
        words += ["--profile", "quick"]
    if command.kind != "papermill":
        words += ["-o", str(output)]
    script = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
    process = subprocess.run(script, cwd=PROJECT.root, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
    assert "not stored" not in process.stdout + process.stderr
    if is_sweep:
        assert_sweep(output, values_of(command))
    else:
        assert_executed(output, values_of(command))
    for page in tmp_path.glob(f"out-html/html/chapters/{command.chapter}.html"):
        assert_no_gaps(BeautifulSoup(page.read_bytes(), "html.parser").article)


def assert_no_gaps(article):
    """A page has no reference without a target, and no number that its run did not find."""
    references = article.select("code.xref:not(a *), .bibtex-citation:not(:has(a))")
    assert [reference.text for reference in references] == []
    for code in article.select("pre, script, style"):
        code.decompose()
    assert re.findall(r".*(?:\b(?:nan|inf)\b|\[(?:−∞|0),\s∞\]).*", article.get_text()) == []


def assert_executed(path, values):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    [parameter_cell] = [cell for cell in cells if INJECTED in cell.metadata.get("tags", [])]
    names = {}
    exec(parameter_cell.source, names)
    assert {name: names[name] for name in values} == values


def assert_sweep(folder, runs):
    notebooks = sorted(folder.glob("*/*.ipynb"))
    parameter_files = [path.with_suffix(".parameters.yml") for path in notebooks]
    parameters = [yaml.safe_load(path.read_text()) for path in parameter_files]
    assert sorted(map(str, parameters)) == sorted(map(str, runs))
    for path, values in zip(notebooks, parameters, strict=True):
        assert_executed(path, values)
    rows = csv.DictReader((folder / "claims.csv").read_text(encoding="utf-8").splitlines())
    assert {row["run"] for row in rows} <= {path.parent.name for path in notebooks}
    assert f"{len(runs)} executed" in (folder / "index.html").read_text(encoding="utf-8")
