"""Run a chapter once for each combination of parameter values, and compare its claims."""

import csv
import itertools
import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
import nbformat
import pandas as pd

from lib.book.pages import site
from lib.book.pages.runs import Run, commit_of
from lib.book.pages.scorecard import COLUMNS, as_row
from lib.book.pages.unknown import GLUED_TEXT, INTERVAL, find_glued
from lib.book.rendering import render
from lib.book.run import history
from lib.book.run.jobs import Job
from lib.book.run.parameters import LISTS, Parameter, ParameterError
from lib.book.run.project import (
    BookError,
    Project,
    errors_name,
    parameters_of,
    read_notebook,
    resolve_parameters,
)
from lib.book.verdicts.recorded import claims_in, settings_of
from lib.files import write_whole
from lib.trials.description import digest

MAX_RUNS = 500
MAX_NAME_LENGTH = 100  # of a run's folder, without a digest
UNSAFE = re.compile(r"[^\w.=,+-]", re.ASCII)  # signs that not every file system takes in a name
OWNER_FILE = "sweep.json"  # says of which chapter's sweep a folder is the place

ESTIMATE = ("value", "low", "high")
NOT_OF_A_SWEEP = ("chapter", "anchor", "registered", "scale")
CLAIM_FIELDS = [name for name in COLUMNS if name not in NOT_OF_A_SWEEP]
NUMBER_FIELDS = ["number", *ESTIMATE, "commit"]

# The numbers of a chapter are compared as its text shows them: it glues a number under a name, and
# sentences cite the name, with MyST-NB's role {glue:text}`name:format`. The patterns below find
# names in the source of text cells, and numbers in what was glued.

# A number that is cited; the group is its name.
CITED = re.compile(r"\{glue:text\}`(\w+)[^`]*`")

# A number with an interval behind it, whose ends are numbers with names of their own:
# {glue:text}`mean` points [{glue:text}`low`, {glue:text}`high`]. The groups are the three names.
BOUNDED = re.compile(
    rf"""
    {CITED.pattern}
    [^`{{\[]*  # words in between, such as a unit, but no other role or bracket
    {INTERVAL.pattern}
    """,
    re.VERBOSE,
)

# Where a sentence ends. So does a clause: a reader of the table needs the words near the number.
SENTENCE_END = re.compile(
    r"""
    (?<= [.:;] ) \s+
    (?! [^`(]* \)` )  # not inside {abbr}`term (its meaning: some words)`
    | \n\n+           # a paragraph
    """,
    re.VERBOSE,
)

# Markup that a table without MyST leaves out.
MARKUP = re.compile(
    r"""
    \*\* | \$                # bold, formulas
    | \{abbr\}`              # an abbreviation begins,
    | [ ]\( [^`()]* \)`      # its meaning and its end
    | \{[\w:]+\}             # the names of other roles
    | ^\#+[ ] | ^-[ ]        # the sign of a heading or an item
    """,
    re.VERBOSE,
)

# A number as it was glued, perhaps as text: 0.7, 0.7 [0.6, 0.8], or 0.7 [0.6, 0.8] (30 trials).
# Commas, which also separate thousands, are removed before.
ESTIMATE_TEXT = re.compile(
    r"""
    (\S+)                          # the value
    (?: [ ]\[ (\S+)[ ](\S+) \] )?  # its interval
    (?: [ ][\[(] .* )?             # a remark in brackets
    """,
    re.VERBOSE,
)


def plan(project: Project, chapter: str, folder: Path, options: tuple, *layers: dict) -> list[Job]:
    """Return the runs of a sweep.

    Parameters
    ----------
    project : Project
    chapter : str
    folder : Path
        Where each run has a folder of its own.
    options : tuple of (str, str)
        Names of parameters, and texts that list their values.
    *layers : dict
        Values that are the same in all runs; later layers win, and options win over them.

    Raises
    ------
    BookError
        If a name or a value is wrong or given twice, if no parameter has several values, or if
        there are more than `MAX_RUNS` combinations.
    """
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
            "no parameter has several values, such as `-p seed 1,2,3`; "
            "`book run` makes a single run"
        )
    n_runs = math.prod(len(choices) for choices in values.values())
    if n_runs > MAX_RUNS:
        raise BookError(f"{n_runs} runs are too many; {MAX_RUNS} are the most: give fewer values")

    combinations = [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]
    runs = []
    for combination, name in zip(combinations, _names(combinations, swept), strict=True):
        overrides, _ = resolve_parameters(project, chapter, *layers, combination)
        notebook = folder / name / f"{Path(chapter).name}.ipynb"
        swept_values = {parameter: combination[parameter] for parameter in swept}
        runs.append(Job(name, chapter, overrides, notebook, swept_values))
    return runs


def make_page(project: Project, run: Job, start_commit: str) -> Job:
    """Make the page of a run that has finished, unless it has one, and return the run.

    The run that is returned has failed if its page cannot be made.
    """
    if run.status != "executed" and run.page.exists():
        return run
    commit = _commit_of(project, run, start_commit)
    scale = f"sweep, {run.name}"
    try:
        site.build_page(project, Run(run.chapter, run.notebook, run.overrides, scale, commit))
    except BookError as error:
        return replace(run, status="FAILED", message=error.message)
    return run


def claim_folder(folder: Path, chapter: str) -> None:
    """Make a folder the place of a chapter's sweep; BookError if it holds anything else."""
    owner_file = folder / OWNER_FILE
    owner = json.dumps({"chapter": chapter}) + "\n"
    is_own = owner_file.exists() and owner_file.read_bytes() == owner.encode()
    if folder.exists() and any(folder.iterdir()) and not is_own:
        raise BookError(
            f"{folder} holds other files, or a sweep of another chapter; choose another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(owner_file, owner)


def show_value(value) -> str:
    """Return a parameter's value as short text: a list without quotes, all else as it is typed."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def announce(runs: list[Job]) -> None:
    """Print how many runs there will be, and the values of the parameters that differ."""
    phrases = []
    for name in runs[0].swept:
        values = dict.fromkeys(show_value(run.swept[name]) for run in runs)
        phrases.append(f"{name} = {', '.join(values)}")
    click.echo(f"{len(runs)} runs: {'; '.join(phrases)}")


def write_pages(
    project: Project, folder: Path, chapter: str, runs: list[Job], start_commit: str
) -> Path:
    """Write ``index.html``, ``claims.csv`` and ``numbers.csv`` of a sweep and return the page.

    Parameters
    ----------
    project : Project
    folder : Path
        Where the sweep is.
    chapter : str
    runs : list of Job
        As they ended. Those that failed have no claims and no numbers.
    start_commit : str
        That at which the sweep began, as `lib.book.run.history.commit` says it.
    """
    notebooks = {run.name: read_notebook(run.notebook) for run in runs if run.is_done}
    commits = {run.name: _commit_of(project, run, start_commit) for run in runs if run.is_done}
    settings = {run.name: [] for run in runs}
    for name, notebook in notebooks.items():
        settings[name] = settings_of(claims_in(notebook))
    numbers = numbers_in(notebooks)

    page = render(
        "sweep.html",
        folder=folder,
        chapter=chapter,
        runs=runs,
        places=places(runs),
        rows=compare(settings),
        numbers=numbers,
        commits=commits,
    )
    write_whole(folder / "index.html", page)

    run_columns = {}
    for run in runs:
        swept_values = {name: show_value(value) for name, value in run.swept.items()}
        run_columns[run.name] = {
            "run": run.name,
            "commit": commits.get(run.name, ""),
            **swept_values,
        }
    claim_rows = []
    for name, settings_of_run in settings.items():
        claim_rows += [run_columns[name] | as_row(setting) for setting in settings_of_run]
    number_rows = []
    for number in numbers:
        for name, estimate in number["runs"].items():
            number_rows.append({**run_columns[name], "number": number["name"], **estimate})
    swept = list(runs[0].swept)
    _write_table(folder / "claims.csv", claim_rows, ["run", *swept, *CLAIM_FIELDS])
    _write_table(folder / "numbers.csv", number_rows, ["run", *swept, *NUMBER_FIELDS])
    return folder / "index.html"


def numbers_in(notebooks: dict[str, nbformat.NotebookNode]) -> list[dict]:
    """Return the numbers that sentences of the chapter cite and in which the runs differ.

    Parameters
    ----------
    notebooks : dict of str to notebook
        The executed notebook of each run.

    Returns
    -------
    list of dict
        For each number its ``name``, the ``sentence`` that cites it, with ▮ in its place and …
        for other numbers, and ``runs``: for each run a dict with the ``value``, and ``low`` and
        ``high`` if it has an interval.
    """
    glued_numbers = {run: _glued_numbers(notebook) for run, notebook in notebooks.items()}
    texts = []
    for notebook in notebooks.values():
        texts += [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]

    numbers = []
    bound_names = _bound_names(texts)
    for name, sentence in _citing_sentences(texts).items():
        runs = {}
        for run, glued in glued_numbers.items():
            if name in glued:
                bounds = [glued.get(bound, []) for bound in bound_names.get(name, ())]
                runs[run] = _estimate([glued[name], *bounds])
        if len({estimate["value"] for estimate in runs.values()}) > 1:
            numbers.append({"name": name, "sentence": _blank(sentence, name), "runs": runs})
    return numbers


def places(runs: list[Job]) -> dict[str, float]:
    """Return the place of each run on the axis of a plot, from 0 to 1.

    It is given by the swept value, if one number is swept, and by the order of the runs otherwise.
    """
    swept_values = [list(run.swept.values()) for run in runs]
    positions = [values[0] for values in swept_values]
    is_axis = len(runs[0].swept) == 1 and all(isinstance(x, int | float) for x in positions)
    if not is_axis:
        positions = range(len(runs))
    first = min(positions)
    width = max(positions) - first or 1  # 1 if all are at the same place
    return {
        run.name: (position - first) / width for run, position in zip(runs, positions, strict=True)
    }


def compare(settings: dict[str, list[dict]]) -> list[dict[str, dict | None]]:
    """Return a row for each setting in which a claim is tested, in reading order.

    Parameters
    ----------
    settings : dict of str to list of dict
        The settings of each run, with what their claims say, too.

    Returns
    -------
    list of dict
        For each run the setting as the run tested it, or None if it did not.
    """
    settings_by_id = {
        run: {setting["id"]: setting for setting in settings_of_run}
        for run, settings_of_run in settings.items()
    }
    # dict instead of set: in the order in which they come
    ids = dict.fromkeys(itertools.chain.from_iterable(settings_by_id.values()))
    return [
        {run: by_id.get(setting_id) for run, by_id in settings_by_id.items()} for setting_id in ids
    ]


def _values(project: Project, chapter: str, name: str, text: str) -> list:
    """Return the checked values that a text lists for a parameter; BookError if one is wrong."""
    parameters = parameters_of(project, chapter)
    if name not in parameters:
        resolve_parameters(
            project, chapter, {name: text}
        )  # raises an error that says the nearest name
    with errors_name(chapter):
        values = [parameters[name].check(value) for value in _split(parameters[name], text)]
    for position, value in enumerate(values):
        if value in values[:position]:
            raise BookError(f"{chapter}: {name} = {show_value(value)} is given twice")
    return values


def _split(parameter: Parameter, text: str) -> list:
    """Return the values that a text lists, which are separated by commas.

    For a parameter that is a list, each value is either in brackets, or a list of one element.
    """
    if set(parameter.options) & set(LISTS):
        in_brackets = r"\[[^\]]*\]?"
        element = r"[^,\s][^,]*"
        texts = re.findall(f"{in_brackets}|{element}", text)
    else:
        try:
            texts = next(csv.reader([text], skipinitialspace=True), [""])
        except csv.Error as error:
            raise ParameterError(
                f"{parameter.name} = {text!r}: expected values of {parameter.expected}"
            ) from error
    return [parameter.parse(value) for value in texts]


def _names(combinations: list[dict], swept: list[str]) -> list[str]:
    """Return a name for each combination of values, such as n_models=2,noise=0.5.

    Any file system takes it, including those that ignore case. A digest is added if a text had to
    be changed for that, or if two combinations would have the same name.
    """
    texts = []
    for combination in combinations:
        assignments = [f"{name}={_in_name(combination[name])}" for name in swept]
        texts.append(",".join(assignments))
    safe_texts = [UNSAFE.sub("_", text)[:MAX_NAME_LENGTH] for text in texts]
    counts = Counter(text.casefold() for text in safe_texts)
    names = []
    for combination, text, safe_text in zip(combinations, texts, safe_texts, strict=True):
        if safe_text == text and counts[text.casefold()] == 1:
            names.append(text)
        else:
            names.append(f"{safe_text}-{digest(combination)[:8]}")
    return names


def _in_name(value) -> str:
    """Return a parameter's value as a part of a name."""
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _commit_of(project: Project, run: Job, start_commit: str) -> str:
    """Return the commit of a run's results, which fitted their sources after the sweep began."""
    return commit_of(project, run.notebook, history.commit_since(project, start_commit))


def _write_table(path: Path, rows: list[dict], columns: list[str]) -> None:
    write_whole(path, pd.DataFrame(rows, columns=columns).to_csv(index=False))


def _glued_numbers(notebook: nbformat.NotebookNode) -> dict[str, list[float]]:
    """Return what a notebook has glued as numbers: by name the value, or value, low and high."""
    numbers = {}
    for name, representations in find_glued(notebook.cells).items():
        text = str(representations.get(GLUED_TEXT + "plain", ""))
        text = text.strip("'").replace(",", "").replace("−", "-")
        match = ESTIMATE_TEXT.fullmatch(text)
        if not match:
            continue
        try:
            estimate = [float(number) for number in match.groups() if number]
        except ValueError:  # a word
            continue
        if all(math.isfinite(number) for number in estimate):
            numbers[name] = estimate
    return numbers


def _bound_names(texts: list[str]) -> dict[str, tuple[str, str]]:
    """Return for each number that is cited with an interval the names of the interval's ends."""
    bound_names = {}
    for text in texts:
        for name, low, high in BOUNDED.findall(text):
            bound_names[name] = (low, high)
    return bound_names


def _citing_sentences(texts: list[str]) -> dict[str, str]:
    """Return for each number the first sentence that cites it in the last text that does."""
    sentences = {}
    for text in texts:
        without_intervals = INTERVAL.sub("", text)
        # Backwards, because the last entry stays: for each text its first sentence.
        for sentence in reversed(SENTENCE_END.split(without_intervals)):
            for name in CITED.findall(sentence):
                sentences[name] = sentence
    return sentences


def _estimate(numbers: list[list[float]]) -> dict[str, float]:
    """Return a number as a dict of its value and, if both are known, the ends of its interval.

    Parameters
    ----------
    numbers : list of list of float
        What was glued under the name of the number, and under those of its ends, if it is cited
        with an interval: one number each, or three if it was glued with an interval.
    """
    estimate = list(itertools.chain.from_iterable(numbers))
    if len(estimate) != len(ESTIMATE):
        return {"value": estimate[0]}
    return dict(zip(ESTIMATE, estimate, strict=True))


def _blank(sentence: str, name: str) -> str:
    """Return a sentence without markup, with ▮ for the number `name` and … for all others."""

    def replace_number(match: re.Match) -> str:
        return "▮" if match[1] == name else "…"

    return MARKUP.sub("", CITED.sub(replace_number, sentence))
