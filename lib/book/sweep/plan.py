"""The runs of a sweep: checked values, a name and a folder for each combination."""

import csv
import itertools
import json
import math
import re
from collections import Counter
from pathlib import Path

import click

from lib.base.files import write_whole
from lib.book.run.jobs import Job
from lib.book.run.parameters import LISTS, Parameter, ParameterError
from lib.book.run.project import (
    BookError,
    Project,
    errors_name,
    parameters_of,
    resolve_parameters,
)
from lib.trials.source_key import digest

MAX_RUNS = 500
MAX_NAME_LENGTH = 100  # of a run's folder, without a digest
UNSAFE = re.compile(r"[^\w.=,+-]", re.ASCII)  # signs that not every file system takes in a name
OWNER_FILE = "sweep.json"  # says of which chapter's sweep a folder is the place


def plan_runs(
    project: Project, chapter: str, folder: Path, options: tuple, *layers: dict
) -> list[Job]:
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
