"""The reference pages of data sets and parameters, made from the project's own files."""

import csv

from lib.book.rendering import render
from lib.book.run.keys import read_execution_note
from lib.book.run.project import Project, parameters_of, resolve_parameters


def data_sets(project: Project, profile: str) -> str:
    """Return the tables of data sets in ``data/manifest.csv`` as MyST text.

    There is a table for each way to get the data; in a table, data sets are sorted by name. The
    tables are the same in every profile.
    """
    with open(project.root / "data" / "manifest.csv", newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    return render("data_sets.md", entries=entries).strip()


def parameter_tables(project: Project, profile: str) -> str:
    """Return as MyST text which parameters a profile sets in each chapter.

    The text also has the seconds that the chapter took here.
    """
    chapters = [_describe_chapter(project, profile, chapter) for chapter in project.chapters]
    return render("settings.md", chapters=chapters, profile=profile).strip()


def _describe_chapter(project: Project, profile: str, chapter: str) -> dict:
    """Return what the template shows of a chapter; None for the seconds if it has not run here."""
    _, values = resolve_parameters(project, chapter, project.profile(profile, chapter))
    execution = read_execution_note(project.executed(profile, chapter))
    return {
        "name": chapter,
        "heading": project.heading(chapter),
        "parameters": parameters_of(project, chapter),
        "parameter_values": values,
        "seconds": execution.get("seconds"),
    }
