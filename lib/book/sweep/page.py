"""What a sweep leaves in its folder: a page of each run, one that compares them, and a table."""

from collections import Counter
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
from lib.book.sweep.plan import show_value
from lib.book.verdicts.chapter_claims import claims_in, settings_of

NOT_OF_A_SWEEP = ("chapter", "anchor", "registered", "scale")
CLAIM_FIELDS = [name for name in COLUMNS if name not in NOT_OF_A_SWEEP]
TOO_LITTLE = "too little data"

# By the name of each run that tests it, a setting of a claim.
Row = dict[str, dict]


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
) -> str:
    """Write ``index.html`` and ``claims.csv``; return what they say in one line.

    Parameters
    ----------
    project : Project
    folder : Path
        Where the sweep is.
    chapter : str
    runs : list of Job
        As they ended. Those that failed have no claims.
    start_commit : str
        That at which the sweep began, as `lib.book.run.history.commit` says it.
    """
    settings = {}
    commits = {}
    for run in runs:
        if run.is_done:
            settings[run.name] = settings_of(claims_in(read_notebook(run.notebook)))
            commits[run.name] = _commit_of(project, run, start_commit)
    rows = rows_by_setting(settings)
    words = summary(rows)
    write_whole(folder / "index.html", comparison_page(folder, chapter, runs, rows, commits, words))

    table = []
    for run in runs:
        swept_values = {name: show_value(value) for name, value in run.swept.items()}
        for setting in settings.get(run.name, []):
            run_columns = {"run": run.name, "commit": commits[run.name], **swept_values}
            table.append(run_columns | as_row(setting))
    columns = ["run", *runs[0].swept, *CLAIM_FIELDS]
    write_whole(folder / "claims.csv", pd.DataFrame(table, columns=columns).to_csv(index=False))
    return words


def rows_by_setting(settings: dict[str, list[dict]]) -> list[Row]:
    """Return a row for each setting in which a claim is tested, in reading order.

    Parameters
    ----------
    settings : dict of str to list of dict
        The settings of each run, with what their claims say, too.
    """
    rows = {}
    for run, settings_of_run in settings.items():
        for setting in settings_of_run:
            rows.setdefault(setting["id"], {})[run] = setting
    return list(rows.values())


def differs(setting: dict, row: Row) -> bool:
    """Return whether a setting has another verdict than in the first run that tests it.

    Too little data in a run is no verdict, so that it neither agrees with another nor differs.
    """
    first = next(iter(row.values()))
    verdicts = {setting["verdict"], first["verdict"]}
    return len(verdicts) > 1 and TOO_LITTLE not in verdicts


def has_difference(row: Row) -> bool:
    """Return whether some run has another verdict on a setting than the first."""
    return any(differs(setting, row) for setting in row.values())


def summary(rows: list[Row]) -> str:
    """Return on how many settings a run differs from the first, or has too little data.

    Such as "11 settings: 1 with another verdict than in the first run, 10 with too little data".
    """
    if not rows:
        return "No claims"
    n_different = sum(has_difference(row) for row in rows)
    noun = "setting" if len(rows) == 1 else "settings"
    words = f"{len(rows)} {noun}: {n_different} with another verdict than in the first run"
    n_too_little = sum(
        any(setting["verdict"] == TOO_LITTLE for setting in row.values()) for row in rows
    )
    return f"{words}, {n_too_little} with {TOO_LITTLE} in some run" if n_too_little else words


def comparison_page(
    folder: Path,
    chapter: str,
    runs: list[Job],
    rows: list[Row],
    commits: dict[str, str],
    words: str,
) -> str:
    """Return the page that compares runs, in HTML; its links are relative to the folder."""
    verdicts = {run.name: Counter() for run in runs}
    for row in rows:
        for run, setting in row.items():
            verdicts[run][setting["verdict"]] += 1
    return render(
        "sweep.html",
        folder=folder,
        chapter=chapter,
        runs=runs,
        summary=words,
        rows=rows,
        verdicts=verdicts,
        commits=commits,
        different=[row for row in rows if has_difference(row)],
        differs=differs,
        show_value=show_value,
    )


def _commit_of(project: Project, run: Job, start_commit: str) -> str:
    """Return the commit of a run's results, which fitted their sources after the sweep began."""
    return commit_of(project, run.notebook, history.commit_since(project, start_commit))
