"""A chapter once for each value of a parameter, or each combination of values, in folders side by side."""

import csv
import hashlib
import itertools
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

import click
import yaml

from lib.book import site
from lib.book.build import pass_on, run_book
from lib.book.cache import fingerprint, is_fresh, read_record, write_record
from lib.book.execution import parameters_of, settle
from lib.book.parameters import LISTS, Parameter, ParameterError, load_yaml
from lib.book.project import BookError, Project, write_whole
from lib.book.verdicts import write_claims

MOST_RUNS = 500
LONGEST_NAME = 100
UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")  # in YAML, unless it is escaped
UNSAFE = re.compile(r"[^\w.=,+-]", re.ASCII)
MARK = "sweep.json"


@dataclass(frozen=True)
class Run:
    """One run of a sweep.

    Parameters
    ----------
    name : str
        The values that are its own, as the name of its folder.
    swept : dict
        These values.
    given : dict
        All values that are set, the fixed ones included.
    notebook : Path
        Where the executed notebook goes.
    status : {"not run", "executed", "reused", "FAILED"}
        What became of it.
    """

    name: str
    swept: dict
    given: dict
    notebook: Path
    status: str = "not run"
    seconds: float = 0.0
    message: str = ""
    page: Path | None = None

    @property
    def claims(self) -> list[dict]:
        """The records of its claims; none unless it has finished."""
        if self.status not in ("executed", "reused"):
            return []
        return json.loads(self.notebook.with_suffix(".claims.json").read_text(encoding="utf-8"))


def plan(project: Project, chapter: str, folder: Path, options: tuple, *layers: dict) -> list[Run]:
    """Return the runs that options NAME VALUES ask for, over fixed values in layers; BookError if one is wrong."""
    values = {}
    for name, text in options:
        if name in values:
            raise BookError(f"{name} is given twice; write all of its values after one -p, with commas")
        values[name] = _values(project, chapter, name, text)
    swept = [name for name in values if len(values[name]) > 1]
    if not swept:
        raise BookError("no parameter has several values, such as `-p seed 1,2,3`; `book run` makes a single run")
    combinations = [dict(zip(values, chosen, strict=True)) for chosen in _combinations(values)]
    runs = []
    for chosen, name in zip(combinations, _names(combinations, swept), strict=True):
        given, _ = settle(project, chapter, *layers, chosen)
        notebook = folder / name / f"{Path(chapter).name}.ipynb"
        runs.append(Run(name, {key: chosen[key] for key in swept}, given, notebook))
    return runs


def execute_all(
    project: Project, chapter: str, runs: list[Run], jobs: int | None, html: bool, finished: Callable[[Run], None]
) -> None:
    """Execute the runs whose results are not up to date, and call `finished` with each as it ends.

    One that fails does not stop the others. An interruption leaves those that have finished.
    """
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        futures = [pool.submit(_finish, project, chapter, run, html) for run in runs]
        try:
            for future in as_completed(futures):
                finished(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def claim_folder(folder: Path, chapter: str) -> None:
    """Make a folder the place of a chapter's sweep; BookError if it holds anything else."""
    mark, claim = folder / MARK, json.dumps({"chapter": chapter}) + "\n"
    if mark.exists() and mark.read_bytes() != claim.encode():
        raise BookError(f"{folder} holds a sweep of another chapter; choose another folder")
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise BookError(f"{folder} holds other files; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(mark, claim)


def show_value(value) -> str:
    """Return a parameter's value in short: a list without quotes, everything else as it is typed."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _values(project: Project, chapter: str, name: str, text: str) -> list:
    parameters = parameters_of(project, chapter)
    if name not in parameters:
        settle(project, chapter, {name: text})  # an error that names the nearest
    try:
        values = [parameters[name].check(value) for value in _split(parameters[name], text)]
    except ParameterError as error:
        raise BookError(f"{chapter}: {error}") from error
    repeated = [value for position, value in enumerate(values) if value in values[:position]]
    if repeated:
        raise BookError(f"{chapter}: {name} = {show_value(repeated[0])} is given twice")
    return values


def _split(parameter: Parameter, text: str) -> list:
    """Return the values that a text lists; an element of a list parameter's text is a list of its own."""
    is_list = set(parameter.options) & set(LISTS)
    try:
        values = load_yaml(f"[{text}]") if is_list else next(csv.reader([text], skipinitialspace=True), [""])
    except (csv.Error, yaml.YAMLError) as error:
        raise ParameterError(f"{parameter.name} = {text!r}: expected values of {parameter.expected}") from error
    if not is_list:
        return [parameter.parse(value) for value in values]
    if "None" in parameter.options:
        values = [None if value == "None" else value for value in values]
    return [value if isinstance(value, list) or value is None else [value] for value in values]


def _combinations(values: dict[str, list]) -> list[tuple]:
    number = 1
    for of_one in values.values():
        number *= len(of_one)
    if number > MOST_RUNS:
        raise BookError(f"{number} runs are too many; {MOST_RUNS} are the most: give fewer values")
    return list(itertools.product(*values.values()))


def _names(combinations: list[dict], swept: list[str]) -> list[str]:
    """Return names that any file system takes; where one had to be changed or is not alone, a digest is added."""
    texts = [",".join(f"{name}={_name_of(chosen[name])}" for name in swept) for chosen in combinations]
    clean = [UNSAFE.sub("_", text)[:LONGEST_NAME] for text in texts]
    folded = [name.casefold() for name in clean]
    digests = [hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:8] for chosen in combinations]
    plain = [name == text and folded.count(name.casefold()) == 1 for name, text in zip(clean, texts, strict=True)]
    return [n if alone else f"{n}-{d}" for n, d, alone in zip(clean, digests, plain, strict=True)]


def _name_of(value) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _finish(project: Project, chapter: str, run: Run, html: bool) -> Run:
    run = _update(project, chapter, run)
    if not html or run.status == "FAILED":
        return run
    page = _page_folder(run) / "html" / "chapters" / f"{chapter}.html"
    if run.status == "executed" or not page.exists():
        try:
            page = site.build_page(project, chapter, run.notebook, run.given, f"sweep, {run.name}")
        except BookError as error:
            return replace(run, status="FAILED", message=error.message)
    return replace(run, page=page)


def _page_folder(run: Run) -> Path:
    return run.notebook.with_name(f"{run.notebook.stem}-html")


def _update(project: Project, chapter: str, run: Run) -> Run:
    key = _key(project, chapter, run)
    if is_fresh(run.notebook, key) and run.notebook.with_suffix(".claims.json").exists():
        return replace(run, status="reused", seconds=read_record(run.notebook)["seconds"])
    file = _write_parameters(run)
    run.notebook.with_suffix(".json").unlink(missing_ok=True)
    shutil.rmtree(_page_folder(run), ignore_errors=True)  # no page outlives its results
    start = time.monotonic()
    process = run_book(project, "run", chapter, "-f", file, "-o", run.notebook)
    run = replace(run, seconds=time.monotonic() - start)
    if process.returncode:
        return replace(run, status="FAILED", message=process.stderr.strip())
    if _key(project, chapter, run) != key:
        return replace(run, status="FAILED", message="its sources changed while it ran; sweep again")
    write_claims(run.notebook)
    write_record(run.notebook, key, run.seconds)
    pass_on(process, run.name)
    return replace(run, status="executed")


def _key(project: Project, chapter: str, run: Run) -> str:
    return fingerprint(project, chapter, settle(project, chapter, run.given)[1])


def _write_parameters(run: Run) -> Path:
    """Write the values as a file for `book run -f` and return its path; as in JSON, so that text stays text."""
    file = run.notebook.with_name("parameters.yml")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in run.given.items())
    write_whole(file, UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
    return file


def announce(runs: list[Run]) -> None:
    """Say how many runs there will be, and over what."""
    swept = {name: dict.fromkeys(show_value(run.swept[name]) for run in runs) for name in runs[0].swept}
    click.echo(f"{len(runs)} runs: " + "; ".join(f"{name} = {', '.join(shown)}" for name, shown in swept.items()))
