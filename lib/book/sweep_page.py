"""The page that compares the claims of a sweep's runs, and all of its claims as one table."""

import csv
import io
import math
from collections import Counter
from html import escape
from pathlib import Path
from urllib.parse import quote

from lib.book.project import write_whole
from lib.book.range_plot import as_number, range_plot, region_ends
from lib.book.scorecard import as_row
from lib.book.sweep import Run, show_value
from lib.claims import SYMBOLS, estimate, region_words

FIELDS = (
    *("id", "paper", "verdict", "sentence", "quote", "statistic"),
    *("value", "low", "high", "n", "paper_value", "region_low", "region_high"),
)
STYLE = """\
:root { color-scheme: light dark; --page: #ffffff; --text: #1b1f24; --muted: #4d5663; --line: #c9d0d8; --row: #f3f5f7;
  --link: #00588a; --holds: #116329; --fails: #a40e26; --ambiguous: #6b4e00; --true: #cfe5d5; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --text: #e4e8ec; --muted: #b3bcc7; --line: #454e59;
  --row: #1d232a; --link: #6cc0f5; --holds: #6fdc8c; --fails: #ffa4a9; --ambiguous: #f1c75b; --true: #1f4a2c; } }
body { background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 90rem; padding: 1rem; }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.5vw, 2.2rem); line-height: 1.2; }
a { color: var(--link); }
code { overflow-wrap: anywhere; }
td a { white-space: nowrap; }
.runs pre { min-width: 16rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
.wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0.4rem 0.6rem; text-align: left; vertical-align: top; }
thead th { background: var(--row); }
.claims td, .claims thead th { min-width: 12rem; }
.claims tbody th { background: var(--page); font-weight: 400; left: 0; max-width: 22rem; min-width: 9rem;
  position: sticky; }
.claims .differs th { border-left: 4px solid var(--ambiguous); }
.note { color: var(--muted); display: block; font-size: 0.8125rem; }
.verdict { display: block; font-weight: 600; white-space: nowrap; }
.holds { color: var(--holds); } .fails, .FAILED { color: var(--fails); } .ambiguous { color: var(--ambiguous); }
.range { display: block; margin-top: 0.2rem; max-width: 13.75rem; overflow: visible; width: 100%; }
.range .axis { stroke: var(--line); }
.range .region { fill: var(--true); }
.range .edge { stroke: var(--muted); stroke-dasharray: 3 2; stroke-width: 1.5; }
.range .interval { fill: none; stroke: currentcolor; stroke-width: 2; }
.range .value { fill: currentcolor; }
.range text { fill: var(--muted); font: 12px system-ui, sans-serif; text-anchor: middle; }
@media (max-width: 40rem) { .claims tbody th { max-width: 9rem; } .claims td { min-width: 10rem; } }
"""


def write_pages(folder: Path, chapter: str, runs: list[Run]) -> Path:
    """Write ``index.html`` and ``claims.csv`` into a sweep's folder and return the page."""
    claims = {run.name: {record["id"]: record for record in run.claims} for run in runs}
    page = folder / "index.html"
    write_whole(page, _page(folder, chapter, runs, claims))
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(_table(runs, claims))
    write_whole(folder / "claims.csv", table.getvalue())
    return page


def _table(runs: list[Run], claims: dict) -> list[list]:
    """Return a row for each claim of each run: the run, its own values, the claim."""
    rows = [["run", *runs[0].swept, *FIELDS]]
    for run in runs:
        values = [show_value(value) for value in run.swept.values()]
        for row in map(as_row, claims[run.name].values()):
            rows.append([run.name, *values, *(row[field] for field in FIELDS)])
    return rows


def _page(folder: Path, chapter: str, runs: list[Run], claims: dict) -> str:
    title = f"{chapter} for several values of {' and '.join(runs[0].swept)}"
    fixed = {name: value for name, value in runs[0].given.items() if name not in runs[0].swept}
    others = ", ".join(f"<code>{escape(f'{n} = {show_value(v)}')}</code>" for n, v in fixed.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<p>{_counts(runs)} {f"In all of them {others}; every other parameter has" if others else "Every other parameter has"}
the chapter's default.</p>
<h2>Where the verdicts differ</h2>
{_differences(runs, claims)}
<h2>Every claim in every run</h2>
{_claims(runs, claims)}
<h2>The runs</h2>
{_runs(folder, runs)}
</main>
</body>
</html>
"""


def _counts(runs: list[Run]) -> str:
    counts = Counter(run.status for run in runs)
    return f"{len(runs)} runs: " + ", ".join(f"{number} {status}" for status, number in counts.items()) + "."


def _verdicts(id: str, runs: list[Run], claims: dict) -> dict[str, list[str]]:
    """Return the names of the runs that test a claim, by its verdict there."""
    found = {}
    for run in runs:
        if id in claims[run.name]:
            found.setdefault(claims[run.name][id]["verdict"], []).append(run.name)
    return found


def _sentences(claims: dict) -> dict[str, dict]:
    """Return one record for each claim that any run has, in reading order."""
    return {id: record for of_run in reversed(claims.values()) for id, record in of_run.items()}


def _differences(runs: list[Run], claims: dict) -> str:
    lines, together = [], 0
    for id, record in _sentences(claims).items():
        verdicts = _verdicts(id, runs, claims)
        together += sum(map(len, verdicts.values())) > 1
        if len(verdicts) > 1:
            parts = (f"{_verdict(v)} for {escape('; '.join(names))}" for v, names in verdicts.items())
            lines.append(f"<li>{escape(record['sentence'])} <br>{', <br>'.join(parts)}.</li>")
    compared = f"<p>Claims tested in more than one run: {together}. With different verdicts: {len(lines)}.</p>"
    return f"{compared}\n<ul>\n{chr(10).join(lines)}\n</ul>" if lines else compared


def _claims(runs: list[Run], claims: dict) -> str:
    records = _sentences(claims)
    if not records:
        return "<p>No run has claims.</p>"
    head = "".join(f'<th scope="col">{escape(run.name)}</th>' for run in runs)
    rows = "\n".join(_claim(id, record, runs, claims) for id, record in records.items())
    return f"""<p>A claim holds where its interval lies inside the values for which it is true, the shaded part of the
plot; it fails where the interval lies outside, and is ambiguous otherwise. The plots of a line share a scale; an arrow
goes on beyond it. The same numbers are in <a href="claims.csv">claims.csv</a>.</p>
<div class="wide" role="region" aria-label="Every claim in every run" tabindex="0">
<table class="claims">
<thead><tr><th scope="col">Claim</th>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _claim(id: str, record: dict, runs: list[Run], claims: dict) -> str:
    differs = len(_verdicts(id, runs, claims)) > 1
    of_runs = [claims[run.name].get(id) for run in runs]
    scale = _scale([found for found in of_runs if found])
    cells = "".join(f"<td>{_cell(found, run, scale)}</td>" for found, run in zip(of_runs, runs, strict=True))
    note = f"{record['statistic']}; holds if {region_words(record)}"
    remark = "<strong>Verdicts differ.</strong>" if differs else ""
    kind = ' class="differs"' if differs else ""
    sentence = f'{escape(record["sentence"])} {remark}<span class="note">{escape(note)}</span>'
    return f'<tr{kind}><th scope="row">{sentence}</th>{cells}</tr>'


def _cell(record: dict | None, run: Run, scale: tuple | None) -> str:
    if record is None:
        return "not tested" if run.status in ("executed", "reused") else escape(run.status.lower())
    plot = "" if record["value"] is None else range_plot(record, scale)
    return f"{_verdict(record['verdict'], 'verdict')}{escape(estimate(record))}{plot}"


def _verdict(verdict: str, kind: str = "") -> str:
    symbol = SYMBOLS.get(verdict, "")
    return f'<span class="{escape(f"{kind} {verdict}".strip())}">{escape(f"{symbol} {verdict}".strip())}</span>'


def _scale(records: list[dict]) -> tuple[float, float] | None:
    """Return the least and the greatest finite number of a claim's plots; None if they do not span anything."""
    numbers = [as_number(record[name]) for record in records for name in ("low", "value", "high")]
    edges = [edge for record in records for edge in region_ends(record)]
    finite = [number for number in (*numbers, *edges) if math.isfinite(number)]
    return (min(finite), max(finite)) if finite and min(finite) < max(finite) else None


def _runs(folder: Path, runs: list[Run]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in ("Run", "State", "Seconds", "Files"))
    rows = "\n".join(_run(folder, run) for run in runs)
    return f"""<div class="wide" role="region" aria-label="The runs" tabindex="0">
<table class="runs">
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _run(folder: Path, run: Run) -> str:
    files = {"page": run.page, "notebook": run.notebook, "parameters": run.notebook.with_name("parameters.yml")}
    links = [_link(folder, title, path) for title, path in files.items() if path and path.exists()]
    error = f"<pre>{escape(run.message)}</pre>" if run.message else ""
    state = f'<span class="{run.status.replace(" ", "-")}">{escape(run.status)}</span>{error}'
    seconds = f"{run.seconds:.0f}" if run.seconds else "—"
    cells = f"<td>{state}</td><td>{seconds}</td><td>{', '.join(links)}</td>"
    return f'<tr><th scope="row">{escape(run.name)}</th>{cells}</tr>'


def _link(folder: Path, title: str, path: Path) -> str:
    return f'<a href="{escape(quote(path.relative_to(folder).as_posix()))}">{title}</a>'
