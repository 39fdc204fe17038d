"""Claims out of executed notebooks: gather them, compare them with what is recorded, make the scorecard."""

import json
from collections import Counter

import nbformat
import yaml

from lib.book.cache import missing_data
from lib.book.pages import render
from lib.book.project import BookError, Project, read_mapping, read_notebook
from lib.claims import CLAIMS_JSON
from lib.files import write_whole

FILE = "chapters/verdicts.yml"


def claims_in(notebook: nbformat.NotebookNode) -> list[dict]:
    """Return the claims that an executed notebook shows or glues, each once, with their settings."""
    claims = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for mime, value in output.get("data", {}).items():
                if mime.endswith(CLAIMS_JSON):
                    records = json.loads(value) if isinstance(value, str) else value
                    claims += [record for record in records if record not in claims]
    return claims


def settings_of(claims: list[dict]) -> list[dict]:
    """Return every setting as a record that has what its claim says, too, whose id is its `claim`."""
    return [
        {**claim, "claim": claim["id"], **setting}
        for claim in claims
        for setting in claim["settings"]
    ]


def read_claims(project: Project, profile: str) -> list[dict]:
    """Return the claims of the last build in reading order, each with its chapter."""
    executed = {chapter: project.executed(profile, chapter) for chapter in project.chapters}
    notebooks = {chapter: read_notebook(path) for chapter, path in executed.items()}
    claims = [
        {"chapter": chapter, **record}
        for chapter, nb in notebooks.items()
        for record in claims_in(nb)
    ]
    for kind, records in (("claims", claims), ("settings", settings_of(claims))):
        repeated = [
            id for id, count in Counter(record["id"] for record in records).items() if count > 1
        ]
        if repeated:
            raise BookError(f"{kind} with the same id: {', '.join(repeated)}")
    return claims


def record(project: Project, claims: list[dict]) -> None:
    """Write the verdicts of all settings as the ones to expect."""
    verdicts = {setting["id"]: setting["verdict"] for setting in settings_of(claims)}
    write_whole(project.root / FILE, f"{render('verdicts.txt')}\n{yaml.safe_dump(verdicts)}")


def require_recorded(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting whose verdict is not the recorded one."""
    recorded = read_mapping(project.root / FILE)
    actual = {setting["id"]: setting["verdict"] for setting in settings_of(claims)}
    lines = [
        f"{id}: recorded {recorded.get(id, 'nothing')}, found {actual.get(id, 'no such setting')}"
        for id in sorted(recorded.keys() | actual.keys())
        if recorded.get(id) != actual.get(id)
    ]
    if lines:
        absent = sorted(
            {name for chapter in project.chapters for name in missing_data(project, chapter)}
        )
        advice = "if the change is meant, `book claims --record` records the verdicts"
        advice = (
            f"nothing is to be recorded as long as {', '.join(absent)} cannot be had"
            if absent
            else advice
        )
        raise BookError(
            "verdicts differ from chapters/verdicts.yml:\n  " + "\n  ".join(lines) + f"\n{advice}"
        )
