"""Claims out of executed notebooks: gather them, and compare their verdicts with the expected."""

import json
from collections import Counter

import nbformat
import yaml

from lib.base.files import write_whole
from lib.book.rendering import render
from lib.book.run.project import BookError, Project, read_mapping, read_notebook
from lib.book.run.remote_data import find_missing_data
from lib.claims import CLAIMS_JSON, rerun_words

FILE = "chapters/verdicts.yml"
N_LISTED = 10  # settings that a warning about unstable verdicts names
STABLE = 0.8  # chance that a re-run gives the same verdict, from which on a verdict is stable


def claims_in(notebook: nbformat.NotebookNode) -> list[dict]:
    """Return the claims that an executed notebook shows or glues, each once, with settings."""
    claims = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for mime, value in output.get("data", {}).items():
                if mime.endswith(CLAIMS_JSON):
                    output_claims = json.loads(value) if isinstance(value, str) else value
                    # a claim is glued for the text and may be shown by its cell, too
                    claims += [claim for claim in output_claims if claim not in claims]
    return claims


def settings_of(claims: list[dict]) -> list[dict]:
    """Return every setting of claims, with the fields of its claim, whose id is its `claim`."""
    settings = []
    for claim in claims:
        for setting in claim["settings"]:
            settings.append({**claim, "claim": claim["id"], **setting})
    return settings


def read_claims(project: Project, profile: str) -> list[dict]:
    """Return the claims of the last build in reading order, each with its chapter."""
    # All notebooks are read first: one that cannot be read is an error before those of claims.
    notebooks = {
        chapter: read_notebook(project.executed(profile, chapter)) for chapter in project.chapters
    }
    return claims_of(notebooks)


def claims_of(notebooks: dict[str, nbformat.NotebookNode]) -> list[dict]:
    """Return the claims of executed chapters in their order, each with its chapter."""
    claims = []
    for chapter, notebook in notebooks.items():
        claims += [{"chapter": chapter, **claim} for claim in claims_in(notebook)]
    _require_unique_ids("claims", claims)
    _require_unique_ids("settings", settings_of(claims))
    return claims


def _require_unique_ids(kind: str, items: list[dict]) -> None:
    counts = Counter(item["id"] for item in items)
    repeated = [id for id, count in counts.items() if count > 1]
    if repeated:
        raise BookError(f"{kind} with the same id: {', '.join(repeated)}")


def write_verdicts(project: Project, claims: list[dict]) -> None:
    """Write the verdicts of all settings as the ones to expect."""
    verdicts = _verdicts_by_setting(claims)
    write_whole(project.root / FILE, f"{render('verdicts.txt')}\n{yaml.safe_dump(verdicts)}")


def require_same_verdicts(project: Project, claims: list[dict]) -> None:
    """Raise BookError with a line for each setting whose verdict is not the expected one."""
    expected = read_mapping(project.root / FILE)
    actual = _verdicts_by_setting(claims)
    lines = []
    for id in sorted(expected.keys() | actual.keys()):
        if expected.get(id) != actual.get(id):
            lines.append(
                f"{id}: recorded {expected.get(id, 'nothing')}, "
                f"found {actual.get(id, 'no such setting')}"
            )
    if not lines:
        return
    missing_data = set()
    for chapter in project.chapters:
        missing_data.update(find_missing_data(project, chapter))
    if missing_data:
        names = ", ".join(sorted(missing_data))
        advice = f"nothing is to be recorded as long as {names} cannot be had"
    else:
        advice = "if the change is meant, `book claims --record` records the verdicts"
    raise BookError(
        "verdicts differ from chapters/verdicts.yml:\n  " + "\n  ".join(lines) + f"\n{advice}"
    )


def unstable_settings(claims: list[dict]) -> list[dict]:
    """Return the settings of which a re-run may well have another verdict, the least sure first."""
    unstable = []
    for setting in settings_of(claims):
        chance = setting["rerun_chance"]
        if chance is not None and chance < STABLE:
            unstable.append(setting)
    return sorted(unstable, key=lambda setting: setting["rerun_chance"])


def expected_turns(claims: list[dict]) -> float:
    """Return how many settings would have another verdict in a re-run, on average."""
    chances = [setting["rerun_chance"] for setting in settings_of(claims)]
    return sum(1 - chance for chance in chances if chance is not None)


def require_stable(claims: list[dict]) -> None:
    """Raise BookError if a re-run may have another verdict on some setting.

    The message counts these settings and has a line for each of those that are least sure.
    """
    unstable = unstable_settings(claims)
    if not unstable:
        return
    lines = [
        f"{setting['id']}: {setting['verdict']}, the same with a chance of {rerun_words(setting)}"
        for setting in unstable[:N_LISTED]
    ]
    if len(unstable) > N_LISTED:
        lines.append("...; `book claims` shows the chance of each setting")
    counts = f"{len(unstable)} of {len(settings_of(claims))} verdicts"
    chance = f"has a chance of more than {1 - STABLE:.0%} to turn each of {counts}"
    raise BookError(f"a re-run at the same scale {chance}:\n  " + "\n  ".join(lines))


def _verdicts_by_setting(claims: list[dict]) -> dict[str, str]:
    return {setting["id"]: setting["verdict"] for setting in settings_of(claims)}
