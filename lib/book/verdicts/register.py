"""The rules of claims that were fixed before any result: statistic, region, number of trials."""

import json
import re
from collections import Counter
from typing import NamedTuple

import yaml

from lib.base.files import write_whole
from lib.book.rendering import render
from lib.book.run.claim_rules import REGISTER, read_entries
from lib.book.run.history import first_commit, git, missing_history
from lib.book.run.parameters import load_yaml
from lib.book.run.project import BookError, Project
from lib.book.verdicts import scales
from lib.book.verdicts.chapter_claims import FILE, settings_of
from lib.claims import read_register

FILES = (REGISTER, FILE)
# Each commit with the lines that it changes, whatever settings and attributes git is given.
HISTORY = (
    "-c",
    "log.diffMerges=separate",
    "-c",
    "log.showRoot=true",
    "log",
    "--patch",
    "--text",
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
# When what decides a setting was fixed.
BEFORE = "registered before results were seen"
SCALED_AFTER = "registered before, with a margin or a scale that was fixed after results were seen"
WORDED_AFTER = "worded after results were seen"


class _Rule(NamedTuple):
    """What decides the verdict of one setting."""

    lower: float | None  # ends of the region; None: it has no end there
    upper: float | None
    min_trials: int
    results_were_seen: bool  # before the rule was fixed


class _Decisive(NamedTuple):
    """All that decides the verdict of one setting, but for what is measured."""

    rule: _Rule
    margin: float
    scale: str  # the profile's values, in JSON


class SettingHistory(NamedTuple):
    """When what decides a setting was fixed.

    Attributes
    ----------
    decisive : _Decisive
        As in the last commit.
    since : dict of str to int
        Number of the commit that made each part of it as it is.
    first_verdict : int
        Number of the first commit with a verdict of the setting, or of all commits.
    commits : list of str
        Date and name of each commit.
    """

    decisive: _Decisive
    since: dict[str, int]
    first_verdict: int
    commits: list[str]

    @property
    def is_worded_after(self) -> bool:
        """Whether the rule is younger than a result of the setting."""
        return self.since["rule"] >= self.first_verdict or self.decisive.rule.results_were_seen


class Registration(NamedTuple):
    """Since when what decides a setting is as now."""

    kind: str  # BEFORE, SCALED_AFTER or WORDED_AFTER
    words: str


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
            raise BookError(f"{REGISTER} needs a line such as\n{line}")
        registered = entries[claim["id"]].get("settings", {})
        ids = sorted(setting["id"] for setting in claim["settings"])
        entries[claim["id"]]["settings"] = {id: registered.get(id, {}) for id in ids}
        new_ids += [id for id in ids if id not in registered]
    lines = [_line(id, entries[id]) for id in sorted(claim["id"] for claim in claims)]
    write_whole(project.root / REGISTER, f"{render('registered.txt')}\n{''.join(lines)}")
    return sorted(new_ids)


def require_registered(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting whose rule is not the registered one.

    Region, margin and least number of trials are compared.
    """
    registered_rules = _rules_by_setting(read_entries(project))
    lines = []
    for setting in settings_of(claims):
        id = setting["id"]
        rule = _words(_rule(setting), setting["margin"])
        registered = "not"
        if id in registered_rules:
            registered = _words(*registered_rules[id])
        if rule != registered:
            lines.append(f"{id}: {rule} here; {registered} registered")
    if lines:
        advice = (
            "`book claims --register` adds what is new; "
            "an entry that changes counts as worded after its results"
        )
        raise BookError(
            "claims differ from chapters/registered.yml:\n  " + "\n  ".join([*lines, advice])
        )


def _words(rule, margin):
    return (
        f"region [{rule.lower}, {rule.upper}], margin {_round_end(margin)}, least {rule.min_trials}"
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


def registrations(project: Project) -> dict[str, Registration]:
    """Return for each setting since when what decides it is as now.

    What decides is the rule (region and least number of units), the margin, and the scale: the
    values of the published profile that the claim's cell reads, sizes and seed among them. A
    statistic may be reworded; one that becomes another needs another id. Empty where the history is
    not here from its beginning: what it lacks may have come before any result.
    """
    entries = read_entries(project)
    parameters = scales.claim_parameters(project, list(entries))
    present = _decisive_by_setting(entries, _scales(parameters, scales.read_profiles(project)))
    return {
        id: _registration(setting)
        for id, setting in setting_histories(project, parameters).items()
        if present.get(id) == setting.decisive  # not changed since the last commit
    }


def setting_histories(project: Project, parameters: dict) -> dict[str, SettingHistory]:
    """Return since when what decides each registered setting is as it is in the last commit.

    Parameters
    ----------
    project : Project
    parameters : dict
        As `lib.book.verdicts.scales.claim_parameters` returns them.

    Returns
    -------
    dict
        By the id of the setting; empty where the history is not here from its beginning.
    """
    commits = []
    if not history_gap(project):
        commits = git(project, *HISTORY, "--", *FILES, scales.FILE).split("\0")[1:]
    register_lines = Counter()  # of the register as of a commit
    claim_scales = {}  # by claim, as of a commit
    decisive = {}  # by setting, as of a commit
    since = {}  # by setting: number of the commit that made its rule, its margin and its scale
    verdict_commits = {}  # by setting: number of the commit with its first verdict
    for number, commit in enumerate(commits):
        register_file, verdicts_file, profiles_file = _split_by_file(commit)
        register_lines.update(ENTRY_ADDED.findall(register_file))
        register_lines.subtract(ENTRY_REMOVED.findall(register_file))
        if profiles_file:
            claim_scales = _scales(parameters, _profiles_at(project, commit.split()[0]))
        previous = decisive
        entries = read_register("\n".join(register_lines.elements()))
        decisive = _decisive_by_setting(entries, claim_scales)
        for id, parts in decisive.items():
            for name, part in parts._asdict().items():
                if id not in previous or getattr(previous[id], name) != part:
                    since.setdefault(id, {})[name] = number
        for id in VERDICT_ADDED.findall(verdicts_file):
            verdict_commits.setdefault(id, number)
    words = [_date_and_commit(commit) for commit in commits]
    return {
        id: SettingHistory(parts, since[id], verdict_commits.get(id, len(commits)), words)
        for id, parts in decisive.items()
    }


def _split_by_file(commit):
    """Return the lines that a commit changes in the register, the verdicts and the profiles."""
    sections = re.split(r"^diff --git ", commit, flags=re.MULTILINE)[1:]
    changes = dict.fromkeys((*FILES, scales.FILE), "")
    for section in sections:
        header = section.partition("\n")[0]
        for path in changes:
            if header.endswith(path):
                changes[path] = section
    return changes.values()


def _registration(history):
    """Return the registration that the history of a setting gives."""
    if history.is_worded_after:
        latest = history.commits[max(history.since.values())]
        return Registration(WORDED_AFTER, f"{WORDED_AFTER}, as now since {latest}")
    words = f"registered {history.commits[history.since['rule']]}"
    late = {
        name: history.since[name]
        for name in ("margin", "scale")
        if history.since[name] >= history.first_verdict
    }
    if not late:
        return Registration(BEFORE, words)
    latest = history.commits[max(late.values())]
    return Registration(SCALED_AFTER, f"{words}; {' and '.join(late)} as now since {latest}")


def _date_and_commit(commit):
    hash_, date = commit.split()[:2]
    return f"{date}, commit {hash_}"


def _profiles_at(project, commit):
    """Return what the profiles said in a commit; nothing where they cannot be read as they are.

    It is kept below _build: a commit never changes, and to read YAML takes long.
    """
    path = project.root / "_build" / "profiles" / f"{commit}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    text = git(project, "show", f"{commit}:./{scales.FILE}")
    try:
        profiles = load_yaml(text or "")
    except yaml.YAMLError:
        profiles = {}
    profiles = profiles if isinstance(profiles, dict) else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(profiles))
    return profiles


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


def _rules_by_setting(entries: dict[str, dict]) -> dict[str, tuple[_Rule, float]]:
    """Return rule and margin of each setting: those of its claim, but for what it has of its own.

    Until 2026-11-22 an entry was of a setting, and had no settings.
    """
    rules = {}
    for id, entry in entries.items():
        for setting, own_rule in entry.get("settings", {id: {}}).items():
            complete = entry | own_rule
            rules[setting] = _rule(complete), _round_end(complete.get("margin", 0.0))
    return rules


def _scales(parameters, profiles):
    """Return the scale of each claim as JSON."""
    return {
        id: json.dumps(scales.scale(profiles, claim), sort_keys=True)
        for id, claim in parameters.items()
    }


def _decisive_by_setting(entries, claim_scales):
    """Return what decides each setting, for the register and the scales of one commit."""
    claim_of = {}
    for id, entry in entries.items():
        for setting in entry.get("settings", {id: {}}):
            claim_of[setting] = id
    decisive = {}
    for id, (rule, margin) in _rules_by_setting(entries).items():
        decisive[id] = _Decisive(rule, margin, claim_scales.get(claim_of[id], ""))
    return decisive


def _rule(entry: dict) -> _Rule:
    """Return the rule of an entry, or of a setting; ends of regions are rounded as in claims."""
    lower, upper = entry["region"]
    return _Rule(
        lower=_round_end(lower),
        upper=_round_end(upper),
        min_trials=entry["least"],
        results_were_seen=entry.get("seen", False),
    )


def _round_end(end: float | None) -> float | None:
    return None if end is None else float(f"{end:.6g}")


def _line(id: str, entry: dict) -> str:
    return f"{id}: {json.dumps(entry, ensure_ascii=False)}\n"
