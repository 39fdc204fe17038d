"""Numbers of a sweep against the swept parameter, as small pictures."""

from dataclasses import dataclass

from lib.book.run.jobs import Job
from lib.book.sweep.numbers import Number
from lib.book.sweep.plan import show_value

WIDTH = 340  # of the template, in pixels, as all below
HEIGHT = 150
LEFT = 70  # room for the numbers of the axis
RIGHT = 22
TOP = 12
BOTTOM = 30  # room for the values of the parameter
LONGEST_LABEL = 14  # characters
LINE = 12  # of text, in pixels


@dataclass(frozen=True)
class Axis:
    """Where the runs of a sweep stand in a picture.

    Parameters
    ----------
    places : dict of str to float
        By the name of each run, from 0 to 1.
    labels : dict of str to str
        What stands below it.
    is_ordered : bool
        Whether one number is swept, so that a line may join the runs.
    """

    places: dict[str, float]
    labels: dict[str, str]
    is_ordered: bool


def axis_of(runs: list[Job]) -> Axis:
    """Return the places of runs: by the swept value, if one number is swept, else in their order.

    A seed is no number in this sense, as nothing lies between two of them.
    """
    swept_values = [_swept_number(run) for run in runs]
    is_ordered = all(value is not None for value in swept_values)
    positions = swept_values if is_ordered else range(len(runs))
    first = min(positions)
    width = max(positions) - first or 1  # 1 if all are at the same place
    places = {}
    labels = {}
    for run, position in zip(runs, positions, strict=True):
        places[run.name] = (position - first) / width
        labels[run.name] = ", ".join(map(show_value, run.swept.values()))
    return Axis(places, labels, is_ordered)


def _swept_number(run: Job) -> float | None:
    """Return the value of a run's swept parameter, if there is one and it is a number."""
    if len(run.swept) != 1:
        return None
    ((name, value),) = run.swept.items()
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_seed = name.endswith("seed")
    return value if is_number and not is_seed else None


def chart(number: Number, axis: Axis) -> dict:
    """Return what the template draws of a number, in pixels.

    Returns
    -------
    dict
        ``points``, of each run the place of its value, the ends of its interval (the same place
        twice without one) and its label; ``ticks``, the places and texts of the smallest and the
        largest number and of 0, if there is room; ``zero``, the place of 0 if it lies between them,
        else None; and ``is_line``, whether a line joins the points.
    """
    lowest = min(estimate.get("low", estimate["value"]) for estimate in number.runs.values())
    highest = max(estimate.get("high", estimate["value"]) for estimate in number.runs.values())

    def to_pixels(value: float) -> float:
        share = (value - lowest) / (highest - lowest) if highest > lowest else 0.5
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    points = []
    for run, estimate in number.runs.items():
        value = estimate["value"]
        label = axis.labels[run]
        if len(label) > LONGEST_LABEL:
            label = f"{label[: LONGEST_LABEL - 1]}…"
        points.append(
            {
                "x": round(LEFT + axis.places[run] * (WIDTH - LEFT - RIGHT), 1),
                "y": to_pixels(value),
                "low": to_pixels(estimate.get("low", value)),
                "high": to_pixels(estimate.get("high", value)),
                "label": label,
            }
        )
    ends = dict.fromkeys([lowest, highest])  # one, if they are the same
    ticks = [(to_pixels(end), f"{end:.3g}".replace("-", "−")) for end in ends]
    zero = to_pixels(0) if lowest < 0 < highest else None
    if zero is not None and all(abs(zero - place) >= LINE for place, _ in ticks):
        ticks.append((zero, "0"))
    return {
        "points": sorted(points, key=lambda point: point["x"]),
        "ticks": ticks,
        "zero": zero,
        "is_line": axis.is_ordered,
    }
