"""The scorecard: every claim of the book by paper, with its verdict, its interval, and a way to pick some of them."""

import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd
from pybtex.database import parse_file

from lib.book.pages import render
from lib.book.project import PUBLISHED, BookError, Project
from lib.book.range_plot import as_number, region_ends
from lib.book.verdicts import read_claims
from lib.claims import SYMBOLS
from lib.validation import nearest

COLUMNS = (
    *("id", "paper", "chapter", "verdict", "sentence", "quote", "statistic"),
    *("value", "low", "high", "n", "region_low", "region_high", "paper_value", "anchor"),
)


def scorecard(project: Project, profile: str) -> str:
    """Return the scorecard of a profile as MyST text: counts, key and filter, then one list of claims a paper."""
    claims = read_claims(project, profile)
    tallies = {field: Counter(claim[field] for claim in claims) for field in ("paper", "chapter")}
    return render(
        "scorecard.md",
        claims=claims,
        papers={paper: _authors(project, paper) for paper in tallies["paper"]},
        chapters={chapter: project.heading(chapter) for chapter in tallies["chapter"]},
        verdicts={verdict: f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items()},
        longest={field: max(tally.values(), default=1) for field, tally in tallies.items()},
        n_intervals=sum(claim["low"] != claim["high"] for claim in claims),
        profile=profile,
        published=PUBLISHED,
    )


def write_downloads(project: Project, profile: str, folder: Path, commit: str) -> None:
    """Write all claims of a profile into a folder, as ``claims.json`` and ``claims.csv``.

    Parameters
    ----------
    project : Project
    profile : str
    folder : Path
        Where the scorecard's source is staged.
    commit : str
        What the pages were made from, as `lib.book.site.commit` says it.
    """
    claims = read_claims(project, profile)
    header = {
        "title": project.title,
        "profile": profile,
        "commit": re.sub("^commit |`", "", commit),
        "note": render("claims.txt").strip(),
        "claims": claims,
    }
    text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "claims.json").write_text(text + "\n", encoding="utf-8")
    pd.DataFrame(map(as_row, claims), columns=COLUMNS).to_csv(folder / "claims.csv", index=False)


def as_row(claim: dict) -> dict:
    """Return a claim as a row of numbers and texts: unknown is empty, infinite is inf or -inf."""
    numbers = {name: "" if claim[name] is None else as_number(claim[name]) for name in ("value", "low", "high")}
    ends = dict(zip(("region_low", "region_high"), region_ends(claim), strict=True))
    return {name: value for name, value in claim.items() if name != "region"} | numbers | ends


def _authors(project: Project, paper: str) -> str:
    entries = parse_file(project.root / "references.bib").entries
    if paper not in entries:
        raise BookError(
            f"references.bib does not have {paper!r}{nearest(paper, list(entries))}, which claims are about"
        )
    names = [" ".join(person.last_names) for person in entries[paper].persons["author"]]
    authors = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return ", ".join(filter(None, (authors, entries[paper].fields.get("year"))))
