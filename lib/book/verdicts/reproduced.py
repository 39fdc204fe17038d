"""What a build has reproduced: each number and verdict beside the one that the notebook stores."""

import math

from lib.book.run.project import PUBLISHED, Project, read_notebook
from lib.claims import CLAIMS_JSON

TOLERANCE = 1e-6  # relative; a sum in another order differs by less
N_LISTED = 20  # differences that are listed

# Cells, by chapter and id, whose numbers other processors move, with the relative tolerance that
# covers the arithmetic kernels that were tried: OpenBLAS for Haswell and for Prescott, numba for a
# generic processor and for this one. nbval does not compare their text (nbval-ignore-output).
MOVING = {
    # ends of a BCa interval of six models, which counts resamples equal to the sample's mean
    ("cia/curves", "cell-43"): 0.05,
    # members of a vote of networks disagree on another example or two
    ("ensembles/votes", "378d609b"): 0.01,
    ("ensembles/votes", "cac2a28a"): 0.01,
}


def displayed(outputs: list) -> dict:
    """Return the numbers and claims that outputs of a cell have, by their place.

    A place is such as ("0", "numbers", "gain", "low"), or ("2", "claims", "a-claim", "verdict").
    """
    places = {}
    for i, output in enumerate(outputs):
        metadata = output.get("metadata", {})
        if "numbers" in metadata:
            _add(places, (str(i), "numbers"), metadata["numbers"])
        for claim in output.get("data", {}).get(CLAIMS_JSON, []):
            for setting in claim["settings"]:
                found = _found(setting, decides=setting["id"] == claim["primary"])
                _add(places, (str(i), "claims", setting["id"]), found)
    return places


def _found(setting: dict, decides: bool) -> dict:
    """Return what a run found in a setting, with a verdict if it decides its claim."""
    names = ["value", "low", "high", "n", *(["verdict"] if decides else [])]
    return {name: setting[name] for name in names}


def _add(places: dict, place: tuple, value) -> None:
    """Add the numbers and texts in a JSON value to those by place."""
    if isinstance(value, dict):
        for name, part in value.items():
            _add(places, (*place, str(name)), part)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            _add(places, (*place, str(i)), part)
    else:
        places[place] = value


def differences(stored: dict, found: dict, tolerance: float = TOLERANCE) -> list[str]:
    """Return a line for each place where two cells display something else."""
    lines = []
    for place in sorted(stored.keys() | found.keys()):
        one, other = stored.get(place, "nothing"), found.get(place, "nothing")
        if not _are_same(one, other, tolerance):
            lines.append(f"{'/'.join(place)}: {one!r} stored, {other!r} found")
    return lines


def _are_same(one, other, tolerance) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        if math.isnan(one) and math.isnan(other):
            return True
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return one == other


def reproduction_lines(project: Project) -> list[str]:
    """Return what a build at the published scale has reproduced of what the notebooks store.

    Such as "2,140 of 2,140 displayed numbers and 271 of 271 verdicts are as published", and a line
    for each that is not, with both values.
    """
    n_numbers = n_verdicts = 0
    lines, verdict_lines = [], []
    for chapter in project.chapters:
        stored_cells = {cell.id: cell for cell in read_notebook(project.notebook(chapter)).cells}
        for cell in read_notebook(project.executed(PUBLISHED, chapter)).cells:
            stored = displayed(stored_cells[cell.id].get("outputs", []))
            found = displayed(cell.get("outputs", []))
            known = MOVING.get((chapter, cell.id))
            for line in differences(stored, found):
                is_verdict = "/verdict: " in line
                note = " (moves with the processor)" if known and not is_verdict else ""
                (verdict_lines if is_verdict else lines).append(f"{chapter}: {line}{note}")
            n_verdicts += sum(place[-1] == "verdict" for place in found)
            n_numbers += sum(isinstance(value, int | float) for value in found.values())
    head = (
        f"{n_numbers - len(lines):,} of {n_numbers:,} displayed numbers and "
        f"{n_verdicts - len(verdict_lines):,} of {n_verdicts:,} verdicts are as published"
    )
    listed = [*verdict_lines, *lines]
    more = [f"... and {len(listed) - N_LISTED:,} more"] if len(listed) > N_LISTED else []
    return [head, *(f"  {line}" for line in listed[:N_LISTED]), *more]
