"""What was fixed of each claim and setting before its results were seen: statistic, region, least number of trials."""

import json
import re
from collections import Counter

from lib.book.history import first_commit, git, missing_history
from lib.book.pages import render
from lib.book.project import BookError, Project, read_text
from lib.book.verdicts import FILE, settings_of
from lib.claims import read_register
from lib.files import write_whole

FILES = ("chapters/registered.yml", FILE)
# Each commit with the lines that it changes, whatever the reader's settings of git are.
HISTORY = (
    *(
        "-c",
        "log.diffMerges=separate",
        "log",
        "--patch",
        "--unified=0",
        "--reverse",
        "--first-parent",
        "-m",
    ),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--format=%x00%h %cs"),
)
AFTER = "worded after results were seen"


def entries_of(project: Project) -> dict[str, dict]:
    """Return the entries of the book's register (see `lib.claims.read_register`)."""
    path = project.root / FILES[0]
    try:
        return read_register(read_text(path)) if path.exists() else {}
    except ValueError as error:
        raise BookError(f"{path}: a line must be `claim: {{...}}`, in JSON; {error}") from error


def deciding(project: Project, code: str) -> dict[str, dict]:
    """Return what decides the claims whose ids stand in a chapter's code; that a setting is listed decides nothing."""
    entries = {id: entry for id, entry in entries_of(project).items() if f'"{id}"' in code}
    settings = {id: entry.get("settings", {}).items() for id, entry in entries.items()}
    return {
        id: entries[id] | {"settings": {name: own for name, own in settings[id] if own}}
        for id in entries
    }


def register(project: Project, claims: list[dict]) -> list[str]:
    """Write each new setting into its claim's entry, drop what is gone; return the new ids.

    A claim that has no entry is an error that says what to write.
    """
    entries, new = entries_of(project), []
    for claim in claims:
        if claim["id"] not in entries:
            entry = {
                name: claim["settings"][0][name] for name in ("statistic", "region", "least")
            } | {"settings": {}}
            raise BookError(f"{FILES[0]} needs a line such as\n{_line(claim['id'], entry)}")
        known = entries[claim["id"]].get("settings", {})
        ids = sorted(setting["id"] for setting in claim["settings"])
        entries[claim["id"]]["settings"] = {id: known.get(id, {}) for id in ids}
        new += [id for id in ids if id not in known]
    lines = [_line(id, entries[id]) for id in sorted(claim["id"] for claim in claims)]
    write_whole(project.root / FILES[0], f"{render('registered.txt')}\n{''.join(lines)}")
    return sorted(new)


def require_registered(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting that is not registered, or whose region or least number differs."""
    fixed = {id: decisive[:3] for id, decisive in _by_setting(entries_of(project)).items()}
    ours = {setting["id"]: _decisive(setting)[:3] for setting in settings_of(claims)}
    lines = [
        f"{id}: {ours[id]} here, {fixed.get(id, 'not')} registered"
        for id in ours
        if ours[id] != fixed.get(id)
    ]
    if lines:
        advice = "`book claims --register` adds what is new; an entry that changes counts as worded after its results"
        raise BookError(
            "claims differ from chapters/registered.yml:\n  " + "\n  ".join([*lines, advice])
        )


def require_history(project: Project) -> None:
    """Raise BookError, with a remedy, where the history cannot say which settings were registered in advance."""
    if reason := history_gap(project):
        raise BookError(
            f"{reason}: since when settings are registered is not known, and the pages do not say it"
        )


def registrations(project: Project) -> dict[str, str]:
    """Return since when region and least number of a setting are as now: date and commit, or that results came first.

    A statistic may be reworded; one that becomes another needs another id. Empty where the history
    is not here from its beginning: what it lacks may have come before any result.
    """
    commits = [] if history_gap(project) else git(project, *HISTORY, "--", *FILES).split("\0")[1:]
    # since, first: numbers of commits, by setting
    since, first, entries, lines = {}, {}, {}, Counter()
    for number, commit in enumerate(commits):
        lines.update(re.findall(r"^\+([a-z0-9-]+: \{.*)", commit, re.MULTILINE))
        lines.subtract(re.findall(r"^-([a-z0-9-]+: \{.*)", commit, re.MULTILINE))
        before, entries = entries, _by_setting(read_register("\n".join(lines.elements())))
        since |= {id: number for id, decisive in entries.items() if before.get(id) != decisive}
        first = (
            dict.fromkeys(re.findall(r"^\+([a-z0-9-]+):(?! \{)", commit, re.MULTILINE), number)
            | first
        )
    words = {}
    for id, decisive in entries.items() & _by_setting(entries_of(project)).items():
        in_advance = since[id] < first.get(id, len(commits)) and not decisive[-1]
        words[id] = (
            "registered {1}, commit {0}".format(*commits[since[id]].split()[:2])
            if in_advance
            else AFTER
        )
    return words


def history_gap(project: Project) -> str | None:
    """Return why the history cannot say what was registered before its results, with a remedy; None if it can."""
    if reason := missing_history(project):
        return reason
    if git(project, "ls-tree", "--name-only", first_commit(project), "--", *FILES) == "\n".join(
        FILES
    ):
        return f"the history of {project.root} begins with results that are older; clone the book's repository"
    # in a partial clone whose origin cannot be asked
    if git(project, *HISTORY, "--", *FILES) is None:
        return f"`git log --patch` fails in {project.root}; `git fsck` says what is missing"
    return None


def _by_setting(entries: dict[str, dict]) -> dict[str, tuple]:
    """Return what decides each setting; until 2026-11-22 an entry was of a setting."""
    settings = {id: entry.get("settings", {id: {}}).items() for id, entry in entries.items()}
    return {name: _decisive(entries[id] | own) for id in entries for name, own in settings[id]}


def _decisive(entry: dict) -> tuple:
    """Return region, as records round it, and least number of an entry; and whether results had been seen."""
    ends = [end if end is None else float(f"{end:.6g}") for end in entry["region"]]
    return *ends, entry["least"], entry.get("seen", False)


def _line(id: str, entry: dict) -> str:
    return f"{id}: {json.dumps(entry, ensure_ascii=False)}\n"
