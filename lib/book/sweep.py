"""A chapter once for each value of a parameter, or each combination of values: the runs, and their claims compared."""

import csv
import itertools
import json
import math
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click
import pandas as pd

from lib.book import history, site
from lib.book.jobs import Job
from lib.book.pages import render
from lib.book.parameters import LISTS, Parameter, ParameterError
from lib.book.project import BookError, Project, naming, parameters_of, read_notebook, settle
from lib.book.scorecard import COLUMNS, as_row
from lib.book.unknown import GLUED, INTERVAL, glued
from lib.book.verdicts import claims_in, settings_of
from lib.files import write_whole
from lib.trials.description import digest

MOST_RUNS = 500
LONGEST_NAME = 100
UNSAFE = re.compile(r"[^\w.=,+-]", re.ASCII)
MARK = "sweep.json"
CITED = re.compile(r"\{glue:text\}`(\w+)[^`]*`")
# a number, and both ends of its interval
BOUNDED = re.compile(rf"{CITED.pattern}[^`{{\[]*{INTERVAL.pattern}")
# of an abbreviation its words, too
MARKS = re.compile(r"\*\*|\$|\{abbr\}`| \([^`()]*\)`|\{[\w:]+\}|^#+ |^- ")
# a colon in the words of an abbreviation ends none
SENTENCE = re.compile(r"(?<=[.:;])\s+(?![^`(]*\)`)|\n\n+")
ESTIMATE = ("value", "low", "high")
FIELDS = [name for name in COLUMNS if name not in ("chapter", "anchor", "registered")]


def plan(project: Project, chapter: str, folder: Path, options: tuple, *layers: dict) -> list[Job]:
    """Return the runs that options NAME VALUES ask for, over fixed values in layers; BookError if one is wrong."""
    values = {}
    for name, text in options:
        if name in values:
            raise BookError(
                f"{name} is given twice; write all of its values after one -p, with commas"
            )
        values[name] = _values(project, chapter, name, text)
    swept = [name for name in values if len(values[name]) > 1]
    if not swept:
        raise BookError(
            "no parameter has several values, such as `-p seed 1,2,3`; `book run` makes a single run"
        )
    number = math.prod(map(len, values.values()))
    if number > MOST_RUNS:
        raise BookError(f"{number} runs are too many; {MOST_RUNS} are the most: give fewer values")
    combinations = [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]
    runs = []
    for combination, name in zip(combinations, _names(combinations, swept), strict=True):
        overrides, _ = settle(project, chapter, *layers, combination)
        notebook = folder / name / f"{Path(chapter).name}.ipynb"
        runs.append(
            Job(name, chapter, overrides, notebook, {key: combination[key] for key in swept})
        )
    return runs


def make_page(project: Project, run: Job, start_commit: str) -> Job:
    """Make the page of a run that has finished, unless there is one of its results."""
    if run.status == "executed" or not run.page.exists():
        commit = _commit_of(project, run, start_commit)
        try:
            site.build_page(
                project, run.chapter, run.notebook, run.overrides, f"sweep, {run.name}", commit
            )
        except BookError as error:
            return replace(run, status="FAILED", message=error.message)
    return run


def claim_folder(folder: Path, chapter: str) -> None:
    """Make a folder the place of a chapter's sweep; BookError if it holds anything else."""
    mark, claim = folder / MARK, json.dumps({"chapter": chapter}) + "\n"
    is_own = mark.exists() and mark.read_bytes() == claim.encode()
    if folder.exists() and any(folder.iterdir()) and not is_own:
        raise BookError(
            f"{folder} holds other files, or a sweep of another chapter; choose another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(mark, claim)


def show_value(value) -> str:
    """Return a parameter's value in short: a list without quotes, everything else as it is typed."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _values(project: Project, chapter: str, name: str, text: str) -> list:
    parameters = parameters_of(project, chapter)
    if name not in parameters:
        settle(project, chapter, {name: text})  # an error that names the nearest
    with naming(chapter):
        values = [parameters[name].check(value) for value in _split(parameters[name], text)]
    repeated = [value for position, value in enumerate(values) if value in values[:position]]
    if repeated:
        raise BookError(f"{chapter}: {name} = {show_value(repeated[0])} is given twice")
    return values


def _split(parameter: Parameter, text: str) -> list:
    """Return the values that a text lists; an element of a list parameter's text is a list of its own."""
    if set(parameter.options) & set(LISTS):
        texts = re.findall(r"\[[^\]]*\]?|[^,\s][^,]*", text)
    else:
        try:
            texts = next(csv.reader([text], skipinitialspace=True), [""])
        except csv.Error as error:
            raise ParameterError(
                f"{parameter.name} = {text!r}: expected values of {parameter.expected}"
            ) from error
    return [parameter.parse(value) for value in texts]


def _names(combinations: list[dict], swept: list[str]) -> list[str]:
    """Return names that any file system takes; where one had to be changed or is not alone, a digest is added."""
    texts = [
        ",".join(f"{name}={_name_of(combination[name])}" for name in swept)
        for combination in combinations
    ]
    names = [UNSAFE.sub("_", text)[:LONGEST_NAME] for text in texts]
    often = Counter(map(str.casefold, names))
    plain = [
        name == text and often[name.casefold()] == 1
        for name, text in zip(names, texts, strict=True)
    ]
    together = zip(names, plain, combinations, strict=True)
    return [
        name if alone else f"{name}-{digest(combination)[:8]}"
        for name, alone, combination in together
    ]


def _name_of(value) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def announce(runs: list[Job]) -> None:
    """Say how many runs there will be, and over what."""
    swept = {
        name: dict.fromkeys(show_value(run.swept[name]) for run in runs) for name in runs[0].swept
    }
    click.echo(
        f"{len(runs)} runs: "
        + "; ".join(f"{name} = {', '.join(values)}" for name, values in swept.items())
    )


def _commit_of(project: Project, run: Job, start_commit: str) -> str:
    """Return the commit of a run's results, which had the key of their sources when the sweep began or later."""
    return site.commit_of(project, run.notebook, history.commit_since(project, start_commit))


def write_pages(
    project: Project, folder: Path, chapter: str, runs: list[Job], start_commit: str
) -> Path:
    """Write ``index.html``, ``claims.csv`` and ``numbers.csv`` into a sweep's folder and return the page.

    `start_commit` is that at which the sweep began, as `lib.book.history.commit` says it.
    """
    notebooks = {run.name: read_notebook(run.notebook) for run in runs if run.is_done}
    claims = {
        run.name: settings_of(claims_in(notebooks[run.name])) if run.is_done else [] for run in runs
    }
    numbers = numbers_in(notebooks)
    commits = {run.name: _commit_of(project, run, start_commit) for run in runs if run.is_done}
    values = {
        "places": places(runs),
        "rows": compare(claims),
        "numbers": numbers,
        "commits": commits,
    }
    write_whole(
        folder / "index.html",
        render("sweep.html", folder=folder, chapter=chapter, runs=runs, **values),
    )
    own = {
        run.name: {"run": run.name, "commit": commits.get(run.name, "")}
        | {name: show_value(value) for name, value in run.swept.items()}
        for run in runs
    }
    of_claims = [
        own[name] | as_row(record) for name, records in claims.items() for record in records
    ]
    of_numbers = [
        own[run] | {"number": n["name"]} | found
        for n in numbers
        for run, found in n["runs"].items()
    ]
    for name, rows, fields in (
        ("claims", of_claims, FIELDS),
        ("numbers", of_numbers, ["number", *ESTIMATE, "commit"]),
    ):
        table = pd.DataFrame(rows, columns=["run", *runs[0].swept, *fields])
        write_whole(folder / f"{name}.csv", table.to_csv(index=False))
    return folder / "index.html"


def numbers_in(notebooks: dict) -> list[dict]:
    """Return the numbers that sentences of the chapter cite and that runs differ in: name, sentence, by run the value.

    The ends of its interval, where it has one, belong to a number.
    """
    by_run = {run: dict(_numbers(glued(notebook.cells))) for run, notebook in notebooks.items()}
    texts = [
        cell.source
        for notebook in notebooks.values()
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    ]
    named = {names[0]: names for text in texts for names in BOUNDED.findall(text)}
    parts = [part for text in texts for part in SENTENCE.split(INTERVAL.sub("", text))[::-1]]
    numbers = []
    for name, sentence in {name: part for part in parts for name in CITED.findall(part)}.items():
        names = named.get(name, [name])
        found = {
            run: sum((own.get(n, []) for n in names), [])
            for run, own in by_run.items()
            if name in own
        }
        runs = {
            run: dict(zip(ESTIMATE, x if len(x) == 3 else x[:1], strict=False))
            for run, x in found.items()
        }
        if len({own["value"] for own in runs.values()}) > 1:
            text = CITED.sub(lambda match, name=name: "▮" if match[1] == name else "…", sentence)
            numbers.append({"name": name, "sentence": MARKS.sub("", text), "runs": runs})
    return numbers


def _numbers(records: dict):
    for name, data in records.items():
        text = str(data.get(GLUED + "plain", "")).strip("'").replace(",", "").replace("−", "-")
        with suppress(AttributeError, ValueError):
            # an interval, then a remark
            told = re.fullmatch(r"(\S+)(?: \[(\S+) (\S+)\])?(?: [\[(].*)?", text)
            numbers = [float(number) for number in told.groups() if number]
            if all(map(math.isfinite, numbers)):
                yield name, numbers


def places(runs: list[Job]) -> dict[str, float]:
    """Return where each run stands, from 0 to 1: by its value, if one number is swept, else in their order."""
    swept = [[*run.swept.values()] for run in runs]
    plain = all(len(own) == 1 and isinstance(own[0], int | float) for own in swept)
    at = [own[0] for own in swept] if plain else range(len(runs))
    return {
        run.name: (x - min(at)) / (max(at) - min(at) or 1) for run, x in zip(runs, at, strict=True)
    }


def compare(claims: dict[str, list[dict]]) -> list[dict[str, dict | None]]:
    """Return for each setting of a claim, in reading order, its record in each run."""
    by_run = {run: {record["id"]: record for record in records} for run, records in claims.items()}
    ids = dict.fromkeys(id for records in by_run.values() for id in records)
    return [{run: records.get(id) for run, records in by_run.items()} for id in ids]
