"""The scorecard: every claim of the book by paper, with verdicts, intervals and a filter."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd
from pybtex.database import parse_file
from scipy import stats

from lib.base.validation import nearest
from lib.book.range_plot import region_ends
from lib.book.rendering import render
from lib.book.run.claim_rules import read_entries
from lib.book.run.project import PUBLISHED, BookError, Project, read_mapping
from lib.book.verdicts.chapter_claims import (
    deciding_settings,
    expected_turns,
    settings_of,
    sign_errors,
    unstable_settings,
)
from lib.claims import KINDS, STABLE, as_number, overall, primary_setting

OWN = "this book"  # the paper of what we expected ourselves, which is counted apart

COLUMNS = (
    "id",
    "claim",
    "paper",
    "chapter",
    "verdict",
    "kind",
    "primary",
    "sentence",
    "words",
    "quote",
    "statistic",
    "value",
    "low",
    "high",
    "like_low",
    "like_high",
    "n",
    "unit",
    "least",
    "region_low",
    "region_high",
    "margin",
    "rerun_chance",
    "other_sets_chance",
    "is_drawn",
    "deciding",
    "paper_value",
    "paper_source",
    "anchor",
    "central",
    "exact",
    "data",
    "recorded",
    "registered",
    "scale",
    "commit",
)


# columns that are empty for settings which decide nothing
OF_WHAT_DECIDES = ("verdict", "rerun_chance", "other_sets_chance", "deciding")


def scorecard(book) -> str:
    """Return the scorecard of a book as MyST text.

    It has the central claims of each paper, counts of verdicts, and a filter for the list of
    claims.

    Parameters
    ----------
    book : lib.book.pages.book.Book
    """
    project = book.project
    all_claims = [{**claim, "verdict": overall(claim)} for claim in book.claims]
    claims = of_papers(all_claims)
    registration_of = book.registrations
    # dicts instead of sets: in the order of the claims
    keys = dict.fromkeys(claim["paper"] for claim in claims)
    outcomes = _outcomes_by_registration(book)
    before = outcomes["all"] + outcomes["rule"]  # results were seen
    after = outcomes["none"]
    papers = {key: _cite(project, key) for key in keys}
    own = {OWN: "what we expected ourselves"} if len(claims) < len(all_claims) else {}
    chapters = dict.fromkeys(claim["chapter"] for claim in all_claims)
    return render(
        "scorecard.md",
        all_claims=all_claims,
        own=OWN,
        claims=claims,
        settings=settings_of(claims),
        papers=papers,
        filters=papers | own,
        chapters={chapter: project.heading(chapter) for chapter in chapters},
        kinds=KINDS,
        places={"inside": "inside our interval", "outside": "outside our interval"},
        verdicts={kind: f"{symbol} {kind}" for kind, symbol in KINDS.items()},
        twins=_twins(all_claims),
        reasons={id: entry.get("why", "") for id, entry in read_entries(project).items()},
        registrations={id: entry.words for id, entry in registration_of.items()},
        n_registered={when: verdicts.total() for when, verdicts in outcomes.items()},
        before=before,
        after=after,
        registration_p=_p_of_equal_shares(before, after),
        sizes=_sizes(project),
        signs=sign_errors(claims),
        turns=expected_turns(claims),
        unstable=unstable_settings(claims),
        stable=STABLE,
        is_published=book.profile == PUBLISHED,
        profile=book.profile,
    )


def of_papers(claims: list[dict]) -> list[dict]:
    """Return the claims that are sentences of a paper, not what we expected ourselves."""
    return [claim for claim in claims if claim["paper"] != OWN]


def _twins(claims: list[dict]) -> dict[str, list[dict]]:
    """Return of each claim the others of its chapter that the same number decides.

    It is the same where statistic, value, interval and units are: counts of few units agree by
    chance, too.
    """
    groups = defaultdict(list)
    for claim in claims:
        primary = primary_setting(claim)
        number = tuple(primary[name] for name in ("statistic", "value", "low", "high", "n", "unit"))
        groups[claim["chapter"], number].append(claim)
    return {
        claim["id"]: [other for other in group if other is not claim]
        for group in groups.values()
        for claim in group
    }


def _sizes(project: Project) -> dict[str, float]:
    """Return the smallest difference that matters of each quantity."""
    path = project.root / "chapters" / "sizes.yml"
    return read_mapping(path) if path.exists() else {}


def _outcomes_by_registration(book) -> dict[str, Counter]:
    """Return the verdicts of the claims of which "all", the "rule" or "none" was fixed before.

    Exact claims are left out.
    """
    outcomes = {"all": Counter(), "rule": Counter(), "none": Counter()}
    for setting in deciding_settings(of_papers(book.claims)):
        if setting["id"] in book.registrations and not setting["exact"]:
            outcomes[book.registrations[setting["id"]].before][setting["verdict"]] += 1
    return outcomes


def _p_of_equal_shares(before: Counter, after: Counter) -> float:
    """Return Fisher's exact p that as large a share fails of the claims that hold or fail."""
    table = [[outcomes["holds"], outcomes["fails"]] for outcomes in (before, after)]
    return float(stats.fisher_exact(table).pvalue)


def counts_sentence(book) -> str:
    """Return what became of all sentences, and how sure it is."""
    claims = of_papers(book.claims)
    counts = Counter(overall(claim) for claim in claims)
    turns = expected_turns(claims)
    exact = [primary_setting(claim) for claim in claims if overall(claim) == "exact"]
    n_true = sum(setting["verdict"] == "holds" for setting in exact)
    return (
        f"Of {len(claims)} sentences of the four papers {counts['holds']} hold, for "
        f"{counts['fails']} the opposite holds, {counts['negligible']} are about a difference too "
        f"small to matter, and {counts['undecided'] + counts['too little data']} are not decided; "
        f"{len(exact)} are exact, of which {n_true} hold, and {counts['table']} about a single file "
        "or list are shown without a verdict. With other random numbers about "
        f"{turns.other_numbers:.0f} verdicts would change, with other data sets of the same kind "
        f"about {turns.other_data:.0f}."
    )


def write_downloads(book, folder: Path) -> None:
    """Write all claims of a book into a folder, as ``claims.json`` and ``claims.csv``.

    Parameters
    ----------
    book : lib.book.pages.book.Book
    folder : Path
        Where the scorecard's page is.
    """
    claims = []
    for claim in book.claims:
        run = book.runs[claim["chapter"]]
        claims.append({**claim, "scale": run.scale, "commit": run.commit or book.commit})
    contents = {
        "title": book.project.title,
        "profile": book.profile,
        "commit": book.commit,
        "note": render("claims.txt").strip(),
        "claims": claims,
    }
    text = json.dumps(contents, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "claims.json").write_text(text + "\n", encoding="utf-8")

    registration_of = book.registrations
    rows = []
    for setting in settings_of(claims):
        row = as_row(setting)
        if setting["id"] != setting["primary"] or setting["kind"] == "table":
            row |= dict.fromkeys(OF_WHAT_DECIDES, "")
        has_entry = setting["id"] in registration_of
        row["registered"] = registration_of[setting["id"]].words if has_entry else ""
        rows.append(row)
    pd.DataFrame(rows, columns=COLUMNS).to_csv(folder / "claims.csv", index=False)


def as_row(setting: dict) -> dict:
    """Return a setting as a row of a table: unknown numbers are empty, infinite ones inf or -inf.

    Parameters
    ----------
    setting : dict
        One of those that `lib.book.verdicts.chapter_claims.settings_of` returns.
    """
    row = {name: value for name, value in setting.items() if name != "region"}
    for name in ("value", "low", "high", "like_low", "like_high"):
        row[name] = "" if setting[name] is None else as_number(setting[name])
    row["region_low"], row["region_high"] = region_ends(setting)
    return row


def _cite(project: Project, paper: str) -> str:
    """Return the authors and the year of a paper in references.bib, such as "A and B, 1997"."""
    entries = parse_file(project.root / "references.bib").entries
    if paper not in entries:
        raise BookError(
            f"references.bib lacks {paper!r}{nearest(paper, list(entries))}, which claims are about"
        )
    names = [" ".join(person.last_names) for person in entries[paper].persons["author"]]
    authors = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    year = entries[paper].fields.get("year")
    return f"{authors}, {year}" if year else authors
