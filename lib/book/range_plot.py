"""A claim's interval as a small picture: where the sentence is true, where the interval lies."""

import math

WIDTH = 220  # of the template, in pixels
BORDER = 14  # pixels kept free at both sides, for arrows and for the region beyond an edge
RADIUS = 3.5  # of the dot
CHARACTER = 6.4  # pixels of a digit of an edge's label
FAR = 30  # times as wide as value and edges: an end so far out is an arrow


def geometry(record: dict, together: list[dict]) -> dict:
    """Return what the template draws, in pixels: the region, its edges, the interval's line, the dot, the labels.

    Positions are linear; an end that is infinite or far out is an arrow at the border.

    Parameters
    ----------
    record : dict
        A record of `lib.claims.Setting.to_dict`.
    together : list of dict
        The records whose plots share a scale.
    """
    value, low, high = (as_number(record[name]) for name in ("value", "low", "high"))
    left, right = domain(together)

    def place(x: float) -> float:
        return min(max(BORDER + (WIDTH - 2 * BORDER) * (x - left) / (right - left), 0), WIDTH)

    edges = [edge for edge in region_ends(record) if math.isfinite(edge)]
    places = [] if math.isnan(low) or math.isnan(high) or low == high else [place(low), place(high)]
    return {
        "region": list(map(place, region_ends(record))),
        "edges": list(map(place, edges)),
        "ends": [
            (min(max(at, 1), WIDTH - 1), "bar" if 1 < at < WIDTH - 1 else "arrow") for at in places
        ],
        "dot": None if math.isnan(value) else min(max(place(value), RADIUS), WIDTH - RADIUS),
        "labels": _labels(edges, place),
    }


def as_number(number: float | str | None) -> float:
    """Return a number of a claim's record as a float; null is NaN."""
    if number is None:
        return math.nan
    return (
        float(number.replace("∞", "inf").replace("−", "-"))
        if isinstance(number, str)
        else float(number)
    )


def region_ends(record: dict) -> tuple[float, float]:
    """Return the ends of the region in which a claim is true; null is an infinite end."""
    low, high = record["region"]
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def domain(records: list[dict]) -> tuple[float, float]:
    """Return the ends of a scale for settings: all finite numbers, but for ends of intervals that are far out."""
    near = [
        x for r in records for x in (as_number(r["value"]), *region_ends(r)) if math.isfinite(x)
    ] or [0.0]
    reach = FAR * (max(near) - min(near)) or math.inf
    ends = [as_number(r[name]) for r in records for name in ("low", "high")]
    inside = near + [
        x for x in ends if math.isfinite(x) and min(near) - reach <= x <= max(near) + reach
    ]
    room = 0 if max(inside) > min(inside) else abs(min(inside)) / 2 or 1
    return min(inside) - room, max(inside) + room


def _labels(edges: list[float], place) -> list[tuple[float, str]]:
    labels = [(place(edge), f"{edge:.3g}") for edge in edges]
    if len(edges) == 2 and place(edges[1]) - place(edges[0]) < CHARACTER * 8:
        labels = [(sum(map(place, edges)) / 2, f"{edges[0]:.3g} to {edges[1]:.3g}")]
    halves = [len(text) * CHARACTER / 2 for _, text in labels]
    return [
        (min(max(at, half), WIDTH - half), text)
        for (at, text), half in zip(labels, halves, strict=True)
    ]
