"""A claim's interval as a small picture: where the sentence is true, where the interval lies."""

import math

WIDTH = 220  # of the template, in pixels
BORDER = 14  # pixels kept free at both sides, for arrows and for the region beyond an edge
APART = 3.5  # the dot's radius: two things on different sides of an edge are drawn at least this far from it
CHARACTER = 6.4  # pixels of a digit of an edge's label
FAR = 30  # times as wide as all the rest: an end so far out is an arrow


def geometry(record: dict, scale: tuple[float, float] | None = None) -> dict:
    """Return what the template draws, in pixels: the region, its edges, the interval's line, the dot, the labels.

    Positions are linear, but for two things: what lies beyond an edge is drawn visibly beyond it, however little that
    is, and an end that is infinite or far out is an arrow at the border.

    Parameters
    ----------
    record : dict
        A record of `lib.claims.Claim.to_dict`.
    scale : tuple of float, optional
        Its two ends, so that plots share it; by default it is the claim's own.
    """
    value, low, high = (as_number(record[name]) for name in ("value", "low", "high"))
    edges = region_ends(record)
    place = _placement(edges, *(scale or _domain((value, low, high), edges)))
    return {
        "region": [max(0, place(edges[0])), min(WIDTH, place(edges[1]))],
        "edges": [place(edge) for edge in edges if math.isfinite(edge)],
        "ends": _interval(low, high, place),
        "dot": None if math.isnan(value) else min(max(place(value), APART), WIDTH - APART),
        "labels": _labels(edges, place),
    }


def as_number(shown: float | str | None) -> float:
    """Return a number of a claim's record as a float; null is NaN."""
    if shown is None:
        return math.nan
    return float(shown.replace("∞", "inf").replace("−", "-")) if isinstance(shown, str) else float(shown)


def region_ends(record: dict) -> tuple[float, float]:
    """Return the ends of the region in which a claim is true; null is an infinite end."""
    low, high = record["region"]
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def _placement(edges: tuple, left: float, right: float):
    """Return the function from a number to its place, in pixels, on a scale from `left` to `right`."""
    lower, upper = (edge if math.isinf(edge) else _linear(edge, left, right) for edge in edges)
    lacking = max(0, 2 * APART - (upper - lower)) / 2  # a dot fits between the edges
    lower, upper = lower - lacking, upper + lacking

    def place(x: float) -> float:
        if x in edges:
            return (lower, upper)[edges.index(x)]
        at = _linear(x, left, right)
        if x < edges[0]:
            return min(at, lower - APART)
        return max(at, upper + APART) if x > edges[1] else min(max(at, lower + APART), upper - APART)

    return place


def _linear(x: float, left: float, right: float) -> float:
    if left <= x <= right:
        return BORDER + (WIDTH - 2 * BORDER) * (x - left) / (right - left)
    return 0 if x < left else WIDTH


def _domain(points: tuple, edges: tuple) -> tuple[float, float]:
    """Return the ends of the scale: all finite numbers, but for an end that is far out."""
    value, low, high = points
    left, right = _span(*points, *edges)
    without_high, without_low = _span(value, low, *edges), _span(value, high, *edges)
    if right - left > FAR * _width(without_high):
        right = without_high[1] + _width(without_high)
    elif right - left > FAR * _width(without_low):
        left = without_low[0] - _width(without_low)
    room = 0 if right > left else abs(left) / 2 or 1
    return left - room, right + room


def _span(*numbers: float) -> tuple[float, float]:
    finite = [x for x in numbers if math.isfinite(x)] or [0.0]
    return min(finite), max(finite)


def _width(span: tuple) -> float:
    return span[1] - span[0] or math.inf


def _interval(low: float, high: float, place) -> list[tuple[float, str]]:
    """Return where the line begins and ends, and what it has there; nothing if an end is unknown."""
    if math.isnan(low) or math.isnan(high) or low == high:
        return []
    places = [min(max(place(end), 1), WIDTH - 1) for end in (low, high)]
    return [(at, "bar" if 1 < at < WIDTH - 1 else "arrow") for at in places]


def _labels(edges: tuple, place) -> list[tuple[float, str]]:
    finite = [edge for edge in edges if math.isfinite(edge)]
    labels = [(place(edge), f"{edge:.3g}") for edge in finite]
    if len(finite) == 2 and place(finite[1]) - place(finite[0]) < CHARACTER * 8:
        labels = [(sum(map(place, finite)) / 2, f"{finite[0]:.3g} to {finite[1]:.3g}")]
    halves = [len(text) * CHARACTER / 2 for _, text in labels]
    return [(min(max(at, half), WIDTH - half), text) for (at, text), half in zip(labels, halves, strict=True)]
