"""Claims out of executed notebooks: gather them, and compare their verdicts with the expected."""

from collections import Counter
from typing import NamedTuple

import nbformat
import yaml
from scipy import stats

from lib.base.files import write_whole
from lib.book.rendering import render
from lib.book.run.project import BookError, Project, read_mapping, read_notebook
from lib.book.run.remote_data import find_missing_data
from lib.claims import CLAIMS_JSON, MANY_DEGREES, STABLE, primary_setting, rerun_words

FILE = "chapters/verdicts.yml"
N_LISTED = 10  # settings that a warning about unstable verdicts names


def claims_in(notebook: nbformat.NotebookNode) -> list[dict]:
    """Return the claims that an executed notebook shows, each once, with settings."""
    claims = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = output.get("data", {}).get(CLAIMS_JSON, [])
            claims += [claim for claim in shown if claim not in claims]
    return claims


def settings_of(claims: list[dict]) -> list[dict]:
    """Return every setting of claims, with the fields of its claim, whose id is its `claim`."""
    settings = []
    for claim in claims:
        for setting in claim["settings"]:
            settings.append({**claim, "claim": claim["id"], **setting})
    return settings


def deciding_settings(claims: list[dict]) -> list[dict]:
    """Return the setting that decides each claim, as `settings_of` has it; none of a table."""
    ids = {primary_setting(claim)["id"] for claim in claims if claim["kind"] != "table"}
    return [setting for setting in settings_of(claims) if setting["id"] in ids]


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
    """Write the verdicts of all claims as the ones to expect, by the setting that decides."""
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
    """Return the deciding settings of which other units may well say otherwise, least sure first."""
    unstable = []
    for setting in deciding_settings(claims):
        chance = setting["rerun_chance"]
        if chance is not None and chance < STABLE:
            unstable.append(setting)
    return sorted(unstable, key=lambda setting: setting["rerun_chance"])


class Turns(NamedTuple):
    """How many claims would have another verdict, on average.

    Attributes
    ----------
    other_numbers : float
        In another run, with other random numbers.
    n_numbers : int
        Of these, what another run draws anew decides.
    other_data : float
        With other data sets or files of the same kind.
    n_data : int
        These are about data sets or files.
    """

    other_numbers: float
    n_numbers: int
    other_data: float
    n_data: int


def expected_turns(claims: list[dict]) -> Turns:
    """Return how many claims would have another verdict in another run, and with other data."""
    numbers, data = [], []
    for setting in deciding_settings(claims):
        chances = numbers if setting["is_drawn"] else data
        chances.append(setting["rerun_chance"])
        if setting["is_over_sets"]:
            data.append(setting["other_sets_chance"])
    numbers = [chance for chance in numbers if chance is not None]
    data = [chance for chance in data if chance is not None]
    return Turns(len(numbers) - sum(numbers), len(numbers), len(data) - sum(data), len(data))


class Signs(NamedTuple):
    """How sure the signs are of the claims that hold and have a direction.

    Attributes
    ----------
    n_directional : int
    expected_wrong : float
        How many of them should have the wrong sign, by their intervals.
    expected_wrong_like : float
        The same for other data sets, where the interval is about those that were run.
    n_beyond : int
        How many lie beyond the margin with the whole interval.
    """

    n_directional: int
    expected_wrong: float
    expected_wrong_like: float
    n_beyond: int


def sign_errors(claims: list[dict]) -> Signs:
    """Return how sure the signs are of the claims that hold and have a direction."""
    n_directional = n_beyond = 0
    expected_wrong = expected_wrong_like = 0.0
    for setting in deciding_settings(claims):
        ends = [end for end in setting["region"] if end is not None]
        if setting["verdict"] != "holds" or setting["exact"] or len(ends) != 1:
            continue
        side = "low" if setting["region"][1] is None else "high"
        n_directional += 1
        n_beyond += abs(setting[side] - ends[0]) > setting["margin"]
        degrees = MANY_DEGREES if setting["is_over_sets"] else max(setting["n"] - 1, 1)
        chance = _wrong_sign(setting["value"] - ends[0], setting["value"] - setting[side], degrees)
        expected_wrong += chance
        if setting["is_over_sets"]:
            half_width = setting["value"] - setting[f"like_{side}"]
            chance = _wrong_sign(setting["value"] - ends[0], half_width, setting["n"] - 1)
        expected_wrong_like += chance
    return Signs(n_directional, expected_wrong, expected_wrong_like, n_beyond)


def _wrong_sign(distance: float, half_width: float, degrees: int) -> float:
    """Return the chance that what lies so far from a cut-off lies beyond it, by its t interval."""
    if not half_width:  # an interval may end at its value, as at a share of 1
        return 0.0
    t = stats.t(degrees)
    return float(t.sf(abs(distance / half_width) * t.ppf(0.975)))


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
    counts = f"{len(unstable)} of {len(deciding_settings(claims))} verdicts"
    chance = f"has a chance of more than {1 - STABLE:.0%} to turn each of {counts}"
    raise BookError(f"a re-run at the same scale {chance}:\n  " + "\n  ".join(lines))


def _verdicts_by_setting(claims: list[dict]) -> dict[str, str]:
    return {setting["id"]: setting["verdict"] for setting in deciding_settings(claims)}
