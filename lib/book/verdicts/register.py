"""The register: what decides each claim, since when, and what was fixed before its results."""

import json
from collections import Counter
from datetime import date
from typing import NamedTuple

from lib.base.files import write_whole
from lib.book.rendering import render
from lib.book.run.claim_rules import REGISTER, read_entries, read_lines, without_registration
from lib.book.run.project import (
    PROFILES,
    BookError,
    Project,
    read_cells,
    read_mapping,
    read_notebook,
    resolve_parameters,
)
from lib.book.verdicts.chapter_claims import FILE, claims_in, settings_of

RULE = ("region", "least", "unit")  # fields that decide, but for the margin
FROZEN = "data/registered"  # a copy of the register for each day on which it changed
WORDS = {
    "all": "registered on {date}, before results",
    "rule": "rule registered on {date}; margin or scale fixed after results were seen",
    "none": "worded after results were seen, as now since {date}",
}


class Registration(NamedTuple):
    """When the rule of a setting was fixed, and what was fixed before its results were seen.

    Attributes
    ----------
    registered : str
        The day when the rule was fixed, such as 2026-01-31.
    before : str
        "all": rule, margin and scale; "rule": the rule alone, which is the region, the least number
        of units and what they are; "none".
    """

    registered: str
    before: str

    @property
    def words(self) -> str:
        """The registration as the scorecard says it."""
        return WORDS[self.before].format(date=self.registered)


def registrations(project: Project) -> dict[str, Registration]:
    """Return the registration of each setting that has one."""
    return {
        id: Registration(setting["registered"], setting["before"])
        for id, setting in _settings(read_entries(project)).items()
        if "before" in setting
    }


def require_registered(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting whose rule is not the registered one.

    Region, margin and least number of units are compared. The newest frozen copy must be that of
    the register and of the published profile as they are.
    """
    entries = read_entries(project)
    registered = _settings(entries)
    lines = []
    for setting in settings_of(claims):
        id = setting["id"]
        rule = _rule_words(setting)
        registered_rule = _rule_words(registered[id]) if id in registered else "not"
        if rule != registered_rule:
            lines.append(f"{id}: {rule} here; {registered_rule} registered")
    if entries and _lines_to_freeze(project, entries) != _frozen_lines(project):
        lines.append(f"{FROZEN}/ has no copy of the register and the published profile as they are")
    if lines:
        advice = "`book register` notes what has changed, and new settings of claims that are there"
        raise BookError(f"claims differ from {REGISTER}:\n  " + "\n  ".join([*lines, advice]))


def register(project: Project, chapters: list[str]) -> list[str]:
    """Note what is new or has changed in the register, and freeze a copy of it.

    Parameters
    ----------
    project : Project
    chapters : list of str
        Whose claims are noted; the copy has those of others as they were noted last.

    Returns
    -------
    list of str
        A line for each setting whose registration is new or another one.
    """
    entries = read_entries(project)
    frozen_lines = _frozen_lines(project)
    frozen_settings = _settings(frozen_lines)
    previous = registrations(project)
    noted_names = set()
    for chapter in chapters:
        claims = _claims_shown(project, chapter)
        _list_settings(entries, claims)
        ids_with_results = set(read_mapping(project.root / FILE))
        for setting in settings_of(claims):
            if setting["low"] is not None:  # an interval, also of too little data
                ids_with_results.add(setting["id"])
        is_rescaled = _is_rescaled(project, chapter, frozen_lines)
        code = "\n".join(cell["source"] for cell in read_cells(project.notebook(chapter)))
        claim_ids = [id for id in entries if f'"{id}"' in code or f"'{id}'" in code]
        for id in claim_ids:
            entries[id] = _note_registrations(
                entries[id], frozen_settings, ids_with_results, is_rescaled
            )
        noted_names |= {chapter, *claim_ids}
    _write(project, REGISTER, entries)
    copied_lines = {}
    for name, line in _lines_to_freeze(project, entries).items():
        if name in noted_names:
            copied_lines[name] = line
        elif name in frozen_lines:
            copied_lines[name] = frozen_lines[name]
    if copied_lines != frozen_lines:
        (project.root / FROZEN).mkdir(parents=True, exist_ok=True)
        _write(project, f"{FROZEN}/{date.today()}.yml", copied_lines)
    changes = []
    for id, registration in registrations(project).items():
        if previous.get(id) != registration:
            changes.append(f"{id}: {registration.words}")
    return changes


def _settings(entries: dict[str, dict]) -> dict[str, dict]:
    """Return what is registered for each setting: as for its claim, but for what it has itself."""
    settings = {}
    for entry in entries.values():
        for id, own_fields in entry.get("settings", {}).items():
            settings[id] = entry | own_fields
    return settings


def _lines_to_freeze(project: Project, entries: dict[str, dict]) -> dict[str, dict]:
    """Return the entries, and the values that each chapter is published with."""
    return entries | {chapter: _published_values(project, chapter) for chapter in project.chapters}


def _published_values(project: Project, chapter: str) -> dict:
    """Return the defaults of a chapter, but for those that only say where trials run."""
    _, values = resolve_parameters(project, chapter)
    return {name: value for name, value in values.items() if name not in ("n_jobs", "engine")}


def _frozen_lines(project: Project) -> dict[str, dict]:
    """Return the lines of the newest frozen copy."""
    copies = sorted((project.root / FROZEN).glob("*.yml"))
    return read_lines(copies[-1]) if copies else {}


def _write(project: Project, file: str, lines: dict[str, dict]) -> None:
    text = f"{render('registered.txt')}\n"
    for name in sorted(lines):
        text += f"{name}: {json.dumps(lines[name], ensure_ascii=False)}\n"
    write_whole(project.root / file, text)


def _list_settings(entries: dict[str, dict], claims: list[dict]) -> None:
    """Add to the entries of claims the settings that they have."""
    for claim in claims:
        if claim["id"] in entries:
            settings = entries[claim["id"]].setdefault("settings", {})
            for setting in claim["settings"]:
                settings.setdefault(setting["id"], {})


def _claims_shown(project: Project, chapter: str) -> list[dict]:
    """Return the claims that a chapter's notebook shows, as stored and as executed."""
    claims = []
    executed_notebooks = [project.executed(profile, chapter) for profile in PROFILES]
    for path in (project.notebook(chapter), *executed_notebooks):
        if path.exists():
            claims += claims_in(read_notebook(path))
    return claims


def _is_rescaled(project: Project, chapter: str, frozen_lines: dict[str, dict]) -> bool:
    """Whether a published value is another one; a new seed is no other scale."""
    values = _published_values(project, chapter)
    for name, value in frozen_lines.get(chapter, {}).items():
        if name != "n_jobs" and not name.endswith("seed") and values.get(name) != value:
            return True
    return False


def _note_registrations(
    entry: dict, frozen_settings: dict, ids_with_results: set[str], is_rescaled: bool
) -> dict:
    """Return an entry that says how most of its settings are registered, and how the others are."""
    registration_of = {}
    for id, own_fields in entry.get("settings", {}).items():
        registration_of[id] = _registration(
            entry | own_fields, frozen_settings.get(id), id in ids_with_results, is_rescaled
        )
    if not registration_of:
        return entry
    most_common = Counter(registration_of.values()).most_common(1)[0][0]._asdict()
    settings = {}
    for id, registration in registration_of.items():
        settings[id] = without_registration(entry["settings"][id])
        for name, value in registration._asdict().items():
            if value != most_common[name]:
                settings[id][name] = value
    rule = without_registration(entry)
    del rule["settings"]  # they stand last
    return rule | most_common | {"settings": settings}


def _registration(
    setting: dict, frozen_setting: dict | None, has_result: bool, is_rescaled: bool
) -> Registration:
    """Return the registration of a setting, which is new or was frozen as it was then."""
    if frozen_setting is None or any(
        setting.get(name) != frozen_setting.get(name) for name in RULE
    ):
        return Registration(date.today().isoformat(), "none" if has_result else "all")
    registration = Registration(frozen_setting["registered"], frozen_setting["before"])
    has_other_margin = setting.get("margin") != frozen_setting.get("margin")
    if registration.before == "all" and has_result and (has_other_margin or is_rescaled):
        return registration._replace(before="rule")
    return registration


def _rule_words(setting: dict) -> str:
    """Return the rule of a setting; ends of regions and margins are rounded as in claims."""
    low, high = (None if end is None else float(f"{end:.6g}") for end in setting["region"])
    margin = setting.get("margin", 0.0)
    return f"region [{low}, {high}], margin {margin:.6g}, least {setting['least']}"
