"""A claim's interval as a small picture: where the sentence is true, where the interval lies."""

import math
from collections.abc import Callable

from lib.claims import as_number

WIDTH = 220  # of the template, in pixels
BORDER = 14  # pixels kept free at both sides, for arrows and for the region beyond an edge
RADIUS = 3.5  # of the dot
CHARACTER = 6.4  # pixels of a digit of an edge's label
LABEL = 8 * CHARACTER  # edges that are closer together share a label
FAR = 30  # an end is far out if it is this many times the width of values and edges away


def geometry(setting: dict, scale_settings: list[dict]) -> dict:
    """Return what the template draws, in pixels.

    Positions are linear. An end of the interval that is infinite or far out is an arrow at the
    border.

    Parameters
    ----------
    setting : dict
        As `lib.claims.Setting.to_dict` returns it.
    scale_settings : list of dict
        The settings whose plots have the same scale.

    Returns
    -------
    dict
        ``region``, the ends of the region in which the sentence is true; ``edges``, those that are
        finite; ``margin``, the ends of what does not matter around an edge, none without a margin;
        ``ends`` of the interval with their shape, "bar" or "arrow", none if the interval has no
        width; ``dot``, the value or None; ``labels`` of the edges, with their positions.
    """
    value = as_number(setting["value"])
    low = as_number(setting["low"])
    high = as_number(setting["high"])
    left, right = domain(scale_settings)

    def to_pixels(x: float) -> float:
        from_left = (WIDTH - 2 * BORDER) * (x - left) / (right - left)
        return _clip(BORDER + from_left, 0, WIDTH)

    region = region_ends(setting)
    edges = [edge for edge in region if math.isfinite(edge)]
    has_line = not (math.isnan(low) or math.isnan(high) or low == high)
    dot = None
    if not math.isnan(value):
        dot = _clip(to_pixels(value), RADIUS, WIDTH - RADIUS)
    return {
        "region": [to_pixels(end) for end in region],
        "edges": [to_pixels(edge) for edge in edges],
        "margin": [to_pixels(end) for end in _margin_ends(setting)],
        "ends": [_interval_end(to_pixels(end)) for end in (low, high)] if has_line else [],
        "dot": dot,
        "labels": _labels(edges, to_pixels),
    }


def region_ends(setting: dict) -> tuple[float, float]:
    """Return the ends of the region in which a claim is true; null is an infinite end."""
    low, high = setting["region"]
    lower_end = -math.inf if low is None else float(low)
    upper_end = math.inf if high is None else float(high)
    return lower_end, upper_end


def _margin_ends(setting: dict) -> list[float]:
    """Return the ends of the margin around the end of a region; none where it has no margin."""
    if not setting["margin"]:
        return []
    (edge,) = (end for end in region_ends(setting) if math.isfinite(end))
    return [edge - setting["margin"], edge + setting["margin"]]


def domain(settings: list[dict]) -> tuple[float, float]:
    """Return the two ends of a scale on which several settings are plotted.

    They are the smallest and largest of all finite numbers, except ends of intervals that are far
    out.
    """
    fixed_numbers = []
    interval_ends = []
    for setting in settings:
        fixed_numbers += [as_number(setting["value"]), *region_ends(setting)]
        fixed_numbers += _margin_ends(setting)
        interval_ends += [as_number(setting["low"]), as_number(setting["high"])]
    fixed_numbers = [number for number in fixed_numbers if math.isfinite(number)] or [0.0]

    width = max(fixed_numbers) - min(fixed_numbers)
    reach = FAR * width or math.inf  # where all are the same number, no end is far out
    lowest = min(fixed_numbers) - reach
    highest = max(fixed_numbers) + reach
    numbers = fixed_numbers + [
        end for end in interval_ends if math.isfinite(end) and lowest <= end <= highest
    ]
    smallest = min(numbers)
    largest = max(numbers)
    # a scale has a width even if there is only one number
    margin = 0 if largest > smallest else abs(smallest) / 2 or 1
    return smallest - margin, largest + margin


def _clip(position: float, lowest: float, highest: float) -> float:
    return min(max(position, lowest), highest)


def _interval_end(position: float) -> tuple[float, str]:
    """Return where an end of the interval is drawn, and its shape.

    Only an end outside the scale lies at the side of the picture, because the scale has a border.
    """
    shape = "bar" if 1 < position < WIDTH - 1 else "arrow"
    return _clip(position, 1, WIDTH - 1), shape


def _labels(edges: list[float], to_pixels: Callable[[float], float]) -> list[tuple[float, str]]:
    """Return the middle of each label, so that it stays inside the picture, and its text."""
    positions = [to_pixels(edge) for edge in edges]
    texts = [f"{edge:.3g}" for edge in edges]
    if len(edges) == 2 and positions[1] - positions[0] < LABEL:
        positions = [sum(positions) / 2]
        texts = [" to ".join(texts)]
    labels = []
    for position, text in zip(positions, texts, strict=True):
        half_width = len(text) * CHARACTER / 2
        labels.append((_clip(position, half_width, WIDTH - half_width), text))
    return labels
