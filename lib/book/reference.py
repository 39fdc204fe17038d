"""Reference pages made from the project's own files: the data sets, and the settings of every profile."""

import csv

from lib.book.cache import read_record
from lib.book.pages import render
from lib.book.project import Project, parameters_of, settle


def data_sets(project: Project, profile: str) -> str:
    """Return the tables of data sets as MyST text, from ``data/manifest.csv``: one a group, sorted by name."""
    with open(project.root / "data" / "manifest.csv", newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    return render("data_sets.md", entries=entries).strip()


def settings(project: Project, profile: str) -> str:
    """Return as MyST text what a profile gives to each chapter, and how long the chapter took here."""
    chapters = [_settings(project, profile, chapter) for chapter in project.chapters]
    return render("settings.md", chapters=chapters, profile=profile).strip()


def _settings(project: Project, profile: str, chapter: str) -> dict:
    _, values = settle(project, chapter, project.profile(profile, chapter))
    parameters, heading = parameters_of(project, chapter), project.heading(chapter)
    seconds = read_record(project.executed(profile, chapter)).get("seconds")
    return {
        "name": chapter,
        "heading": heading,
        "parameters": parameters,
        "settings": values,
        "seconds": seconds,
    }
