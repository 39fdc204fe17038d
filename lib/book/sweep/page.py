"""What a sweep leaves in its folder: a page of each run, one that compares them, two tables."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from lib.base.files import write_whole
from lib.book.pages import site
from lib.book.pages.runs import Run, commit_of
from lib.book.pages.scorecard import COLUMNS, as_row
from lib.book.rendering import render
from lib.book.run import history
from lib.book.run.jobs import Job
from lib.book.run.project import BookError, Project, read_notebook
from lib.book.sweep.chart import axis_of, chart
from lib.book.sweep.compare import (
    DIFFERENT,
    TOO_LITTLE,
    compare,
    main_numbers,
    numbers_in,
    outcome,
    summary,
)
from lib.book.sweep.numbers import ESTIMATE
from lib.book.sweep.plan import show_value
from lib.book.verdicts.chapter_claims import claims_in, settings_of

NOT_OF_A_SWEEP = ("chapter", "anchor", "registered", "scale")
CLAIM_FIELDS = [name for name in COLUMNS if name not in NOT_OF_A_SWEEP]
NUMBER_FIELDS = ["number", *ESTIMATE, "commit"]


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


def write_pages(
    project: Project,
    folder: Path,
    chapter: str,
    runs: list[Job],
    start_commit: str,
    advice: str = "",
) -> str:
    """Write ``index.html``, ``claims.csv`` and ``numbers.csv``; return what they say in one line.

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
    advice : str
        What to do where runs have too little data (see `lib.book.verdicts.run_summary.advice`).
    """
    notebooks = {run.name: read_notebook(run.notebook) for run in runs if run.is_done}
    commits = {run.name: _commit_of(project, run, start_commit) for run in runs if run.is_done}
    settings = {run.name: [] for run in runs}
    for name, notebook in notebooks.items():
        settings[name] = settings_of(claims_in(notebook))
    rows = compare(settings)
    numbers = numbers_in(notebooks)
    differing_numbers = [number for number in numbers if number.differs]
    words = summary(rows)
    if advice and TOO_LITTLE in words:
        words += f"; {advice}"

    page = render(
        "sweep.html",
        folder=folder,
        chapter=chapter,
        runs=runs,
        axis=axis_of(runs),
        summary=words,
        rows=rows,
        differing=[row for row in rows if outcome(row) == DIFFERENT],
        numbers=differing_numbers,
        main_numbers=main_numbers(numbers, rows),
        chart=chart,
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
    for number in differing_numbers:
        for name, estimate in number.runs.items():
            number_rows.append({**run_columns[name], "number": number.name, **estimate})
    swept = list(runs[0].swept)
    _write_table(folder / "claims.csv", claim_rows, ["run", *swept, *CLAIM_FIELDS])
    _write_table(folder / "numbers.csv", number_rows, ["run", *swept, *NUMBER_FIELDS])
    return words


def _commit_of(project: Project, run: Job, start_commit: str) -> str:
    """Return the commit of a run's results, which fitted their sources after the sweep began."""
    return commit_of(project, run.notebook, history.commit_since(project, start_commit))


def _write_table(path: Path, rows: list[dict], columns: list[str]) -> None:
    write_whole(path, pd.DataFrame(rows, columns=columns).to_csv(index=False))
