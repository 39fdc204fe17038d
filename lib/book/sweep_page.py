"""The page that compares the claims of a sweep's runs, and all of its claims as one table."""

import math
from collections import Counter
from pathlib import Path

import pandas as pd

from lib.book.jobs import Job
from lib.book.pages import render
from lib.book.project import write_whole
from lib.book.range_plot import as_number, region_ends
from lib.book.scorecard import COLUMNS, as_row
from lib.book.sweep import show_value

FIELDS = [name for name in COLUMNS if name not in ("chapter", "anchor")]


def write_pages(folder: Path, chapter: str, runs: list[Job]) -> Path:
    """Write ``index.html`` and ``claims.csv`` into a sweep's folder and return the page."""
    claims = {run.name: run.claims for run in runs}
    page = folder / "index.html"
    write_whole(page, page_text(folder, chapter, runs, claims))
    rows = [_values(run) | as_row(record) for run in runs for record in claims[run.name]]
    table = pd.DataFrame(rows, columns=["run", *runs[0].swept, *FIELDS])
    write_whole(folder / "claims.csv", table.to_csv(index=False))
    return page


def page_text(folder: Path, chapter: str, runs: list[Job], claims: dict[str, list[dict]]) -> str:
    """Return the page, for the claims of each run by its name."""
    swept = list(runs[0].swept)
    fixed = [f"{name} = {show_value(value)}" for name, value in runs[0].given.items() if name not in swept]
    states, rows = Counter(run.status for run in runs), compare(claims)
    return render(
        "sweep.html", folder=folder, chapter=chapter, runs=runs, swept=swept, fixed=fixed, states=states, rows=rows
    )


def compare(claims: dict[str, list[dict]]) -> list[dict]:
    """Return for each claim, in reading order: a record, those of all runs, the runs by verdict, the plots' scale."""
    by_run = [{record["id"]: record for record in records} for records in claims.values()]
    ids = {id: record for of_run in reversed(by_run) for id, record in of_run.items()}
    return [
        _row(record, dict(zip(claims, (of_run.get(id) for of_run in by_run), strict=True)))
        for id, record in ids.items()
    ]


def _row(record: dict, of_runs: dict[str, dict | None]) -> dict:
    tested = {name: found for name, found in of_runs.items() if found}
    verdicts = {}
    for name, found in tested.items():
        verdicts.setdefault(found["verdict"], []).append(name)
    facts = {"together": len(tested) > 1, "differs": len(verdicts) > 1, "scale": shared_scale(list(tested.values()))}
    return {"record": record, "of_runs": list(of_runs.values()), "verdicts": verdicts, **facts}


def shared_scale(records: list[dict]) -> tuple[float, float] | None:
    """Return the least and the greatest finite number of a claim's plots; None if they do not span anything."""
    numbers = [as_number(record[name]) for record in records for name in ("low", "value", "high")]
    edges = [edge for record in records for edge in region_ends(record)]
    finite = [number for number in (*numbers, *edges) if math.isfinite(number)]
    return (min(finite), max(finite)) if finite and min(finite) < max(finite) else None


def _values(run: Job) -> dict[str, str]:
    return {"run": run.name} | {name: show_value(value) for name, value in run.swept.items()}
