"""A claim's interval as a small picture: where the sentence is true, where the interval lies."""

import math
from html import escape

WIDTH, EDGE_BOTTOM, MIDDLE, HEIGHT = 220, 24, 12, 36
BORDER = 14  # pixels kept free at both sides, for arrows and for the region beyond an edge
APART = 3.5  # the dot's radius: two things on different sides of an edge are drawn at least this far from it
CHARACTER = 6.4  # pixels of a digit of an edge's label
FAR = 30  # times as wide as all the rest: an end so far out is an arrow


def range_plot(record: dict, scale: tuple[float, float] | None = None) -> str:
    """Return as inline SVG a claim's region (shaded), its edges, the interval and the value.

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
    parts = [
        f'<path class="axis" d="M0 {MIDDLE}H{WIDTH}"/>',
        _region(edges, place),
        _interval(value, low, high, place),
        _dot(value, place),
        *_labels(edges, place),
    ]
    opening = (
        f'<svg class="range verdict-{escape(record["verdict"])}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
    )
    return opening + "".join(parts) + "</svg>"


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
    lower, upper = _edge_places(edge if math.isinf(edge) else _linear(edge, left, right) for edge in edges)

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


def _edge_places(places) -> tuple[float, float]:
    """Return the places of the edges, moved so far apart that a dot fits between them."""
    lower, upper = places
    lacking = max(0, 2 * APART - (upper - lower)) / 2
    return lower - lacking, upper + lacking


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


def _region(edges: tuple, place) -> str:
    lower, upper = (place(edge) for edge in edges)
    left, right = max(0, lower), min(WIDTH, upper)
    marks = "".join(f"M{at:.1f} 0V{EDGE_BOTTOM}" for at in (lower, upper) if math.isfinite(at))
    shade = f'<path class="region" d="M{left:.1f} 1H{right:.1f}V{EDGE_BOTTOM - 1}H{left:.1f}z"/>'
    return shade + (f'<path class="edge" d="{marks}"/>' if marks else "")


def _interval(value: float, low: float, high: float, place) -> str:
    """Return the line from low to high; where an end is unknown the line begins or ends at the value."""
    ends = [value if math.isnan(end) else end for end in (low, high)]
    if any(math.isnan(end) for end in ends) or ends[0] == ends[1]:
        return ""
    left, right = (min(max(place(end), 1), WIDTH - 1) for end in ends)
    caps = _cap(left, low, inwards=6) + _cap(right, high, inwards=-6)
    return f'<path class="interval" d="M{left:.1f} {MIDDLE}H{right:.1f}{caps}"/>'


def _cap(at: float, end: float, inwards: int) -> str:
    if math.isnan(end):
        return ""
    if 1 < at < WIDTH - 1:
        return f"M{at:.1f} {MIDDLE - 4}v8"
    return f"M{at + inwards:.1f} {MIDDLE - 5}L{at:.1f} {MIDDLE}L{at + inwards:.1f} {MIDDLE + 5}"


def _dot(value: float, place) -> str:
    if math.isnan(value):
        return f'<text class="unknown" x="{WIDTH // 2}" y="{MIDDLE + 4}">no number</text>'
    at = min(max(place(value), 3.5), WIDTH - 3.5)
    return f'<circle class="value" cx="{at:.1f}" cy="{MIDDLE}" r="3.5"/>'


def _labels(edges: tuple, place) -> list[str]:
    finite = [edge for edge in edges if math.isfinite(edge)]
    if len(finite) == 2 and place(finite[1]) - place(finite[0]) < CHARACTER * 8:
        together = f"{finite[0]:.3g} to {finite[1]:.3g}"
        return [_label(together, (place(finite[0]) + place(finite[1])) / 2)]
    return [_label(f"{edge:.3g}", place(edge)) for edge in finite]


def _label(text: str, at: float) -> str:
    half = len(text) * CHARACTER / 2
    return f'<text x="{min(max(at, half), WIDTH - half):.1f}" y="{HEIGHT - 1}">{text}</text>'
