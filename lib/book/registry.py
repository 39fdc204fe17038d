"""The rules of claims that were fixed before any result: statistic, region, number of trials."""

import json
import re
from collections import Counter
from typing import NamedTuple

from lib.book.history import first_commit, git, missing_history
from lib.book.pages import render
from lib.book.project import BookError, Project, read_text
from lib.book.verdicts import FILE, settings_of
from lib.claims import read_register
from lib.files import write_whole

FILES = ("chapters/registered.yml", FILE)
# Each commit with the lines that it changes, whatever the reader's settings of git are.
HISTORY = (
    "-c",
    "log.diffMerges=separate",
    "log",
    "--patch",
    "--unified=0",
    "--reverse",
    "--first-parent",
    "-m",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--format=%x00%h %cs",
)
# Lines of such a commit: an entry of the register is an object of JSON, a verdict is a word.
ENTRY_ADDED = re.compile(r"^\+([a-z0-9-]+: \{.*)", re.MULTILINE)
ENTRY_REMOVED = re.compile(r"^-([a-z0-9-]+: \{.*)", re.MULTILINE)
VERDICT_ADDED = re.compile(r"^\+([a-z0-9-]+):(?! \{)", re.MULTILINE)
ENTRY_FIELDS = ("statistic", "region", "margin", "least", "unit")
WORDED_AFTER = "worded after results were seen"


class _Rule(NamedTuple):
    """What decides the verdict of one setting."""

    lower: float | None  # ends of the region; None: it has no end there
    upper: float | None
    margin: float
    min_trials: int
    results_were_seen: bool  # before the rule was fixed


def read_entries(project: Project) -> dict[str, dict]:
    """Return the entries of the book's register (see `lib.claims.read_register`)."""
    path = project.root / FILES[0]
    if not path.exists():
        return {}
    try:
        return read_register(read_text(path))
    except ValueError as error:
        raise BookError(f"{path}: a line must be `claim: {{...}}`, in JSON; {error}") from error


def rules_for(project: Project, code: str) -> dict[str, dict]:
    """Return the entries, by id, of the claims whose ids stand in a chapter's code.

    Settings without a rule of their own are left out, as listing them decides nothing.
    """
    rules = {}
    for id, entry in read_entries(project).items():
        if f'"{id}"' in code:
            settings = entry.get("settings", {})
            own_rules = {name: rule for name, rule in settings.items() if rule}
            rules[id] = entry | {"settings": own_rules}
    return rules


def register(project: Project, claims: list[dict]) -> list[str]:
    """Write each new setting into its claim's entry, drop what is gone; return the new ids.

    A claim that has no entry is an error that says what to write.
    """
    entries = read_entries(project)
    new_ids = []
    for claim in claims:
        if claim["id"] not in entries:
            setting = claim["settings"][0]
            entry = {name: setting[name] for name in ENTRY_FIELDS}
            line = _line(claim["id"], entry | {"settings": {}})
            raise BookError(f"{FILES[0]} needs a line such as\n{line}")
        registered = entries[claim["id"]].get("settings", {})
        ids = sorted(setting["id"] for setting in claim["settings"])
        entries[claim["id"]]["settings"] = {id: registered.get(id, {}) for id in ids}
        new_ids += [id for id in ids if id not in registered]
    lines = [_line(id, entries[id]) for id in sorted(claim["id"] for claim in claims)]
    write_whole(project.root / FILES[0], f"{render('registered.txt')}\n{''.join(lines)}")
    return sorted(new_ids)


def require_registered(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting whose rule is not the registered one.

    Region, margin and least number of trials are compared.
    """
    registered_rules = _rules_by_setting(read_entries(project))
    lines = []
    for setting in settings_of(claims):
        id = setting["id"]
        rule = _rule(setting)[:4]
        registered = registered_rules[id][:4] if id in registered_rules else "not"
        if rule != registered:
            lines.append(f"{id}: {rule} here, {registered} registered")
    if lines:
        advice = (
            "`book claims --register` adds what is new; "
            "an entry that changes counts as worded after its results"
        )
        raise BookError(
            "claims differ from chapters/registered.yml:\n  " + "\n  ".join([*lines, advice])
        )


def require_history(project: Project) -> None:
    """Raise BookError where the history cannot say which settings were registered in advance.

    The message has a remedy.
    """
    reason = history_gap(project)
    if reason:
        raise BookError(
            f"{reason}: since when settings are registered is not known, "
            "and the pages do not say it"
        )


def registrations(project: Project) -> dict[str, str]:
    """Return since when the rule of each setting is as now: date and commit, or `WORDED_AFTER`.

    A rule is region, margin and least number of trials. A statistic may be reworded; one that becomes
    another needs another id. Empty where the history is not here from its beginning: what it lacks
    may have come before any result.
    """
    commits = []
    if not history_gap(project):
        commits = git(project, *HISTORY, "--", *FILES).split("\0")[1:]
    register_lines = Counter()  # of the register as of a commit
    rules = {}  # by setting, as of a commit
    rule_commits = {}  # by setting: number of the commit that made its rule
    verdict_commits = {}  # by setting: number of the commit with its first verdict
    for number, commit in enumerate(commits):
        register_lines.update(ENTRY_ADDED.findall(commit))
        register_lines.subtract(ENTRY_REMOVED.findall(commit))
        previous_rules = rules
        rules = _rules_by_setting(read_register("\n".join(register_lines.elements())))
        for id, rule in rules.items():
            if previous_rules.get(id) != rule:
                rule_commits[id] = number
        for id in VERDICT_ADDED.findall(commit):
            verdict_commits.setdefault(id, number)
    present_rules = _rules_by_setting(read_entries(project))
    words = {}
    for id, rule in rules.items():
        if present_rules.get(id) != rule:  # changed since the last commit
            continue
        has_verdict_later = rule_commits[id] < verdict_commits.get(id, len(commits))
        if has_verdict_later and not rule.results_were_seen:
            commit, date = commits[rule_commits[id]].split()[:2]
            words[id] = f"registered {date}, commit {commit}"
        else:
            words[id] = WORDED_AFTER
    return words


def history_gap(project: Project) -> str | None:
    """Return why the history cannot say what was registered before its results; None if it can.

    The reason has a remedy.
    """
    reason = missing_history(project)
    if reason:
        return reason
    first_files = git(project, "ls-tree", "--name-only", first_commit(project), "--", *FILES)
    if first_files == "\n".join(FILES):
        return (
            f"the history of {project.root} begins with results that are older; "
            "clone the book's repository"
        )
    # in a partial clone whose origin cannot be asked
    if git(project, *HISTORY, "--", *FILES) is None:
        return f"`git log --patch` fails in {project.root}; `git fsck` says what is missing"
    return None


def _rules_by_setting(entries: dict[str, dict]) -> dict[str, _Rule]:
    """Return the rule of each setting: that of its claim, but for what it has of its own.

    Until 2026-11-22 an entry was of a setting, and had no settings.
    """
    rules = {}
    for id, entry in entries.items():
        for setting, own_rule in entry.get("settings", {id: {}}).items():
            rules[setting] = _rule(entry | own_rule)
    return rules


def _rule(entry: dict) -> _Rule:
    """Return the rule of an entry, or of a setting; ends of regions are rounded as in claims."""
    lower, upper = entry["region"]
    return _Rule(
        lower=_round_end(lower),
        upper=_round_end(upper),
        margin=_round_end(entry.get("margin", 0.0)),
        min_trials=entry["least"],
        results_were_seen=entry.get("seen", False),
    )


def _round_end(end: float | None) -> float | None:
    return None if end is None else float(f"{end:.6g}")


def _line(id: str, entry: dict) -> str:
    return f"{id}: {json.dumps(entry, ensure_ascii=False)}\n"
