"""Numbers that cells display as JSON (see `lib.report`), compared with those that are stored."""

import math

from lib.claims import CLAIMS_JSON

TOLERANCE = 1e-6  # relative

# Cells, by chapter and id, whose numbers other arithmetic kernels move, with the relative tolerance
# that covers the kernels that were tried: OpenBLAS for Haswell and for Prescott, numba for a
# generic processor and for this one. nbval does not compare their text (nbval-ignore-output).
MOVING = {
    # ends of a BCa interval of six models, which counts resamples equal to the sample's mean
    ("cia/curves", "two-shows"): 0.05,
    ("cia/curves", "cell-43"): 0.05,
    # a mean difference of Winnows whose margin is chosen by cross-validation, where ties turn
    ("cia/curves", "margin-shows"): 0.01,
    # members of a vote of networks disagree on another example or two
    ("ensembles/votes", "378d609b"): 0.01,
    ("ensembles/votes", "cac2a28a"): 0.01,
}


def displayed(outputs: list) -> list:
    """Return the numbers and the claims of each output that has them, in order."""
    numbers = []
    for output in outputs:
        metadata = output.get("metadata", {})
        if "numbers" in metadata:
            numbers.append(metadata["numbers"])
            numbers.append(output.get("data", {}).get(CLAIMS_JSON))
    return numbers


def differences(stored, found, tolerance: float = TOLERANCE, place: str = "") -> list[str]:
    """Return a line for each place where two JSON values differ by more than a tolerance."""
    if isinstance(stored, dict) and isinstance(found, dict):
        lines = [f"{place}/{name}: not in both" for name in stored.keys() ^ found.keys()]
        for name in stored.keys() & found.keys():
            lines += differences(stored[name], found[name], tolerance, f"{place}/{name}")
        return sorted(lines)
    if isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            return [f"{place}: {len(stored)} stored, {len(found)} found"]
        lines = []
        for i, (one, other) in enumerate(zip(stored, found, strict=True)):
            lines += differences(one, other, tolerance, f"{place}[{i}]")
        return lines
    if isinstance(stored, int | float) and isinstance(found, int | float):
        is_same = math.isclose(stored, found, rel_tol=tolerance, abs_tol=tolerance)
    else:
        is_same = stored == found
    return [] if is_same else [f"{place}: {stored!r} stored, {found!r} found"]
