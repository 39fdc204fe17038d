"""What was fixed of each setting before its results were seen: statistic, region, least number of trials."""

import json
import re

from lib.book.project import BookError, Project, git, read_mapping, write_whole
from lib.book.verdicts import FILE, settings_of

HEADER = """\
# What decides each setting of a claim: its statistic, the region in which the sentence is true, the least number of
# independent trials. An entry is committed before the setting's first run at the published scale; the scorecard shows
# the commit, or that the entry is younger than the first verdict, or was `seen`: in a smaller run, or in tables
# that were published before. `book claims --register` adds what is new.
"""
FIELDS = ("statistic", "region", "least")
FILES = ("chapters/registered.yml", FILE)
AFTER = "worded after results were seen"


def register(project: Project, claims: list[dict]) -> list[str]:
    """Write an entry for each setting that has none, drop those of settings that are gone; return the new ids."""
    entries = read_mapping(project.root / FILES[0])
    settings = {setting["id"]: {name: setting[name] for name in FIELDS} for setting in settings_of(claims)}
    lines = [f"{id}: {json.dumps(settings[id] | entries.get(id, {}), ensure_ascii=False)}\n" for id in sorted(settings)]
    write_whole(project.root / FILES[0], HEADER + "".join(lines))
    return sorted(settings.keys() - entries.keys())


def require_registered(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting that is not as it is registered."""
    entries = read_mapping(project.root / FILES[0])
    lines = []
    for setting in settings_of(claims):
        entry = entries.get(setting["id"])
        other = [name for name in FIELDS if entry and entry.get(name) != setting[name]]
        lines += [f"{setting['id']}: not registered"] if entry is None else []
        lines += [f"{setting['id']}: {name} is {setting[name]}, registered {entry.get(name)}" for name in other]
    if lines:
        advice = "`book claims --register` adds what is new; an entry that changes counts as worded after its results"
        raise BookError("claims differ from chapters/registered.yml:\n  " + "\n  ".join([*lines, advice]))


def registrations(project: Project) -> dict[str, str]:
    """Return since when region and least number of a setting are as now: date and commit, or that results came first.

    A statistic may be reworded; one that becomes another needs another id. Empty where the history is not at hand.
    """
    commits = (git(project, "log", "--reverse", "--format=%h %cs", "--", *FILES) or "").splitlines()
    since, first, entries = {}, {}, {}  # numbers of commits, by setting
    for number, commit in enumerate(commits):
        texts = [git(project, "show", f"{commit.split()[0]}:./{file}") or "" for file in FILES]
        before, entries = entries, {id: _decisive(entry) for id, entry in _read(texts[0]).items()}
        since |= {id: number for id, decisive in entries.items() if before.get(id) != decisive}
        first = dict.fromkeys(re.findall("^([a-z0-9-]+):", texts[1], re.MULTILINE), number) | first
    now = read_mapping(project.root / FILES[0])
    told = {}
    for id in [id for id, decisive in entries.items() if id in now and _decisive(now[id]) == decisive]:
        in_advance = since[id] < first.get(id, len(commits)) and not now[id].get("seen")
        told[id] = "registered {1}, commit {0}".format(*commits[since[id]].split()) if in_advance else AFTER
    return told


def _decisive(entry: dict) -> tuple:
    return tuple(entry["region"]), entry["least"]


def _read(text: str) -> dict[str, dict]:
    return {id: json.loads(entry) for id, entry in re.findall(r"^([a-z0-9-]+): (\{.*\})$", text, re.MULTILINE)}
