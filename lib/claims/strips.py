"""Intervals as strips of characters, which any viewer of Markdown shows: ``·┃·┊├──●──┤···``.

The dot is the value, the line its interval, the bar a cut-off, the dashed bars its margin. An
arrow is an end, a guillemet a value, beyond the scale.
"""

import math
from statistics import median

WIDTH = 25  # characters; the first and the last one are for what is beyond the scale
REACH = 8  # half-widths from the primary setting's value; what is farther is beyond the scale
LEGEND = (
    "● value, ├─┤ interval, ┃ cut-off (◉ if the value is there), ┊ margin. Settings of a claim with "
    "the same cut-off share a scale, which follows the first and the usual width: "
    "← → an end, « » a value beyond it."
)


def strips(settings: list[dict]) -> list[str]:
    """Return the strip of each setting of a claim, the primary one first; "" if it has no number.

    Settings with the same region and margin have one scale. A number other than a cut-off is
    never drawn on the cut-off, unless it lies between two that are closer than two characters.

    Parameters
    ----------
    settings : list of dict
        As `lib.claims.Setting.to_dict` returns them.
    """
    drawn = []
    for setting in settings:
        rule = (setting["region"], setting["margin"])
        alike = [other for other in settings if (other["region"], other["margin"]) == rule]
        drawn.append(_strip(setting, *_scale([other for other in alike if _is_known(other)])))
    return drawn


def as_number(number: float | str | None) -> float:
    """Return a number of a setting's dict as a float; None, which is unknown, is NaN."""
    if number is None:
        return math.nan
    if isinstance(number, str):  # JSON has no infinite numbers
        return float(number.replace("∞", "inf").replace("−", "-"))
    return float(number)


def _is_known(setting):
    return setting["n"] >= setting["least"] and math.isfinite(as_number(setting["value"]))


def _numbers(setting):
    return [as_number(setting[name]) for name in ("low", "value", "high")]


def _cut_offs(setting):
    return [end for end in setting["region"] if end is not None]


def _scale(settings):
    """Return the ends of the scale of settings with one region; the first one is whole on it."""
    if not settings:
        return math.nan, math.nan
    cut_offs, margin = _cut_offs(settings[0]), settings[0]["margin"]
    points = [cut_off + side * margin for cut_off in cut_offs for side in (-1, 0, 1)]
    points += [number for number in _numbers(settings[0]) if math.isfinite(number)]
    widths = [(high - low) / 2 for low, _, high in map(_numbers, settings)]
    finite_widths = [width for width in widths if math.isfinite(width)]
    first_width = widths[0] if math.isfinite(widths[0]) else 0.0
    reach = REACH * max(first_width, median(finite_widths or [0.0]))
    for setting in settings[1:]:
        points += [x for x in _numbers(setting) if abs(x - _numbers(settings[0])[1]) <= reach]
    padding = 0.05 * (max(points) - min(points)) or 1.0
    return min(points) - padding, max(points) + padding


def _strip(setting, left, right):
    if not _is_known(setting):
        return ""

    def column(x, cut_offs=()):
        share = (min(max(x, left), right) - left) / (right - left)
        place = 0 if x < left else WIDTH - 1 if x > right else 1 + round(share * (WIDTH - 3))
        for cut_off in cut_offs:  # no rounding across a cut-off
            if x != cut_off:
                beside = column(cut_off) + (1 if x > cut_off else -1)
                place = max(place, beside) if x > cut_off else min(place, beside)
        return place

    low, value, high = _numbers(setting)
    cut_offs = _cut_offs(setting)
    strip = ["·"] * WIDTH
    if low < high:
        first, last = column(low, cut_offs), column(high, cut_offs)
        strip[first : last + 1] = "─" * (last + 1 - first)
        strip[first] = "├" if low >= left else "←"
        strip[last] = "┤" if high <= right else "→"
    for cut_off in cut_offs:
        for end in (cut_off - setting["margin"], cut_off + setting["margin"]):
            place = column(end)
            if abs(place - column(cut_off)) > 1:  # legible
                strip[place] = {"·": "┊", "─": "┼"}.get(strip[place], strip[place])
        strip[column(cut_off)] = "┃"
    dot = "◉" if value in cut_offs else "«" if value < left else "»" if value > right else "●"
    strip[column(value, cut_offs)] = dot
    return "".join(strip)
