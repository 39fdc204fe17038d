"""Reference pages made from the project's own files: the data sets, and the settings of every profile."""

import csv

from lib.book.cache import read_record
from lib.book.pages import render
from lib.book.project import BookError, Project, parameters_of, settle

GROUPS = {
    "Shipped with the book": ("shipped", "derived", "synthetic"),
    "Fetched when asked for": ("uci",),
    "Not to be had": ("excluded",),
}
DOI = "https://doi.org/"
NO_RESULT = ("n_jobs", "engine")  # parameters that change no result


def data_sets(project: Project, profile: str) -> str:
    """Return the tables of data sets as MyST text, from ``data/manifest.csv``: one a group, sorted by name."""
    path = project.root / "data" / "manifest.csv"
    with open(path, newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    known = [kind for kinds in GROUPS.values() for kind in kinds]
    for entry in entries:
        if entry["kind"] not in known:
            raise BookError(f"{path}: {entry['name']} has the kind {entry['kind']!r}; allowed: {', '.join(known)}")
    groups = {title: [entry for entry in entries if entry["kind"] in kinds] for title, kinds in GROUPS.items()}
    return render("data_sets.md", groups=groups, doi_org=DOI).strip()


def settings(project: Project, profile: str) -> str:
    """Return as MyST text what a profile gives to each chapter, and how long the chapter took here."""
    chapters = [_settings(project, profile, chapter) for chapter in project.chapters]
    return render("settings.md", chapters=chapters, profile=profile).strip()


def _settings(project: Project, profile: str, chapter: str) -> dict:
    _, values = settle(project, chapter, project.profile(profile, chapter))
    changed = [
        (name, parameter.default, values[name])
        for name, parameter in parameters_of(project, chapter).items()
        if values[name] != parameter.default and name not in NO_RESULT
    ]
    seconds = read_record(project.executed(profile, chapter)).get("seconds")
    heading = project.heading(chapter)
    return {"name": chapter, "heading": heading, "settings": values, "changed": changed, "seconds": seconds}
