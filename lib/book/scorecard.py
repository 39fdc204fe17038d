"""The scorecard: every claim of the book by paper, with its verdict, its interval, and a way to pick some of them."""

import csv
import json
import re
from html import escape
from pathlib import Path

from pybtex.database import parse_file

from lib.book.parameters import nearest
from lib.book.project import PUBLISHED, BookError, Project
from lib.book.range_plot import as_number, range_plot, region_ends
from lib.book.verdicts import read_claims
from lib.claims import SYMBOLS, badge, estimate, literal, paper_says, region_words, verdict_counts

SCRIPT = '<script src="../_static/scorecard.js" defer></script>'
MEANING = {
    "holds": "the whole interval lies where the sentence is true",
    "fails": "none of it does",
    "ambiguous": "the interval lies on both sides of the cut-off, or a number is missing",
}
PICTURE = (
    "In a picture the band is where the sentence is true, the dashed line its cut-off, the dot our value and the bar "
    "its interval. An arrow goes on beyond the picture. Each picture has a scale of its own."
)
NULLS = (
    "A number that is null is unknown; an end of a region that is null is infinite; an infinite number is ∞ or −∞. "
    "low and high are the ends of the interval around value, n is the number of trials behind it, region is where the "
    "sentence is true."
)
COLUMNS = (
    *("id", "paper", "chapter", "verdict", "sentence", "quote", "statistic"),
    *("value", "low", "high", "n", "region_low", "region_high", "paper_value", "anchor"),
)


def scorecard(project: Project, profile: str) -> str:
    """Return the scorecard of a profile as MyST text: counts, key and filter, then one list of claims a paper."""
    claims = read_claims(project, profile)
    papers = {paper: _authors(project, paper) for paper in _distinct(claims, "paper")}
    chapters = {chapter: project.heading(chapter) for chapter in _distinct(claims, "chapter")}
    parts = [
        _scale(profile),
        verdict_counts(claims),
        _counts("paper", papers, claims),
        f"<details><summary>By chapter</summary>{_counts('chapter', chapters, claims)}</details>",
        _key(),
        _chance(claims),
        _filter(papers, chapters),
        *(_paper(paper, papers[paper], chapters, claims) for paper in papers),
        SCRIPT,
    ]
    return "\n\n".join(filter(None, parts))


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
        "note": NULLS,
        "claims": claims,
    }
    text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "claims.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "claims.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(as_row(claim) for claim in claims)


def as_row(claim: dict) -> dict:
    """Return a claim as a row of numbers and texts: unknown is empty, infinite is inf or -inf."""
    numbers = {name: "" if claim[name] is None else as_number(claim[name]) for name in ("value", "low", "high")}
    ends = dict(zip(("region_low", "region_high"), region_ends(claim), strict=True))
    return {name: value for name, value in claim.items() if name != "region"} | numbers | ends


def _scale(profile: str) -> str:
    if profile == PUBLISHED:
        return ""
    note = f"These are numbers of the *{profile}* profile, a smaller scale than the one that is published."
    return f"```{{warning}}\n{note}\n```"


def _distinct(claims: list[dict], field: str) -> list[str]:
    return list(dict.fromkeys(claim[field] for claim in claims))


def _authors(project: Project, paper: str) -> str:
    entries = parse_file(project.root / "references.bib").entries
    if paper not in entries:
        raise BookError(
            f"claims are about {paper!r}, which references.bib does not have{nearest(paper, list(entries))}"
        )
    names = [" ".join(person.last_names) for person in entries[paper].persons["author"]]
    authors = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return ", ".join(filter(None, (authors, entries[paper].fields.get("year"))))


def _counts(field: str, names: dict[str, str], claims: list[dict]) -> str:
    """Return a table of the number of claims by paper or chapter and verdict, with a bar of them below each name."""
    verdicts = {name: [c["verdict"] for c in claims if c[field] == name] for name in names}
    longest = max(map(len, verdicts.values()), default=1)
    heads = "".join(f'<th scope="col" class="verdict-{v}">{symbol} {v}</th>' for v, symbol in SYMBOLS.items())
    head = f'<thead><tr><th scope="col">{field.capitalize()}</th>{heads}<th scope="col">all</th></tr></thead>'
    rows = "".join(
        _counts_row(escape(title) + _bar(verdicts[name], longest), verdicts[name], f'data-{field}="{escape(name)}"')
        for name, title in names.items()
    )
    total = _counts_row("All", [claim["verdict"] for claim in claims])
    caption = f"<caption>Claims by {field} and verdict</caption>"
    return f'<table class="scorecard-counts">{caption}{head}<tbody>{rows}</tbody><tfoot>{total}</tfoot></table>'


def _counts_row(header: str, verdicts: list[str], pick: str = "") -> str:
    cells = "".join(f'<td {pick} data-verdict="{verdict}">{verdicts.count(verdict)}</td>' for verdict in SYMBOLS)
    return f'<tr><th scope="row">{header}</th>{cells}<td {pick}>{len(verdicts)}</td></tr>'


def _bar(verdicts: list[str], longest: int) -> str:
    """Return a stacked bar of the verdicts, as long as they are many."""
    shares = {verdict: 100 * verdicts.count(verdict) / longest for verdict in SYMBOLS if verdict in verdicts}
    parts = "".join(
        f'<i class="verdict-{verdict}" style="width:{share:.2f}%"></i>' for verdict, share in shares.items()
    )
    return f'<span class="bar" aria-hidden="true">{parts}</span>'


def _key() -> str:
    """Return what the three verdicts mean, each with a picture that stands for all of its kind."""
    items = ""
    for verdict, value in (("holds", 0.8), ("fails", -0.8), ("ambiguous", 0.2)):
        numbers = {"value": value, "low": value - 0.5, "high": value + 0.5, "region": (0, None)}
        items += f"<li>{badge(verdict)} {range_plot(numbers | {'verdict': verdict})} {MEANING[verdict]}</li>"
    return f'<ul class="scorecard-key">{items}</ul>\n\n{PICTURE}'


def _chance(claims: list[dict]) -> str:
    n = sum(claim["low"] != claim["high"] for claim in claims)
    if not n:
        return ""
    return (
        f"The intervals are at 95% unless the statistic says otherwise. By chance about one in twenty, here some "
        f"{n / 20:.0f} of {n}, misses the true value; a verdict is wrong only where the cut-off lies between the two, "
        f"which is rarer. Claims without an interval: {len(claims) - n}."
    )


def _filter(papers: dict[str, str], chapters: dict[str, str]) -> str:
    verdicts = {verdict: f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items()}
    selects = _select("paper", papers) + _select("chapter", chapters) + _select("verdict", verdicts)
    search = '<label>Search <input id="scorecard-search" type="search" autocomplete="off"></label>'
    reset = '<button id="scorecard-reset" type="button">Show all</button>'
    count = '<p id="scorecard-count" role="status" aria-live="polite"></p>'
    opening = '<form id="scorecard-filter" role="search" aria-label="Filter the claims" hidden>'
    return f"{opening}{selects}{search}{reset}{count}</form>"


def _select(field: str, names: dict[str, str]) -> str:
    options = "".join(f'<option value="{escape(name)}">{escape(title)}</option>' for name, title in names.items())
    every = f'<option value="">all {field}s</option>'
    return f'<label>{field.capitalize()} <select id="scorecard-{field}">{every}{options}</select></label>'


def _paper(paper: str, authors: str, chapters: dict[str, str], claims: list[dict]) -> str:
    ours = [claim for claim in claims if claim["paper"] == paper]
    parts = [f"## {literal(authors)}", f"{{cite}}`{paper}`", verdict_counts(ours)]
    for chapter in _distinct(ours, "chapter"):
        items = "\n".join(_claim(claim) for claim in ours if claim["chapter"] == chapter)
        parts.append(f"### [{chapters[chapter]}]({chapter}.ipynb)")
        parts.append(f'<ul class="claims">\n{items}\n</ul>')
    return "\n\n".join(parts)


def _claim(claim: dict) -> str:
    """Return a claim as an item of a list; its sentence is a MyST link, so that the build checks where it leads."""
    place = f"#{claim['anchor']}" if claim["anchor"] else f"{claim['chapter']}.ipynb"
    fields = "".join(f' data-{name}="{escape(claim[name])}"' for name in ("paper", "chapter", "verdict"))
    return (
        f'<li class="claim" id="claim-{claim["id"]}"{fields}>{badge(claim["verdict"])}\n\n'
        f"[{_literal(claim['sentence'])}]({place})\n\n"
        f'<div class="claim-words">{_html(paper_says(claim))}</div>\n'
        f'<div class="claim-statistic">{_html(claim["statistic"])}</div>\n'
        f'<div class="claim-range">{range_plot(claim)}\n<b>{_html(estimate(claim))}</b> '
        f"holds if {_html(region_words(claim))}</div></li>"
    )


def _literal(text: str) -> str:
    """Return text as MyST that shows it as it is."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))


def _html(text: str) -> str:
    return escape(re.sub(r"[\r\n]+", " ", text))
