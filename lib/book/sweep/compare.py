"""Where the runs of a sweep differ: verdicts of their claims, and numbers of their sentences."""

import itertools
from collections import Counter

from nbformat import NotebookNode

from lib.book.range_plot import as_number
from lib.book.sweep.glued import glued_numbers
from lib.book.sweep.numbers import ESTIMATE, Number
from lib.book.sweep.reported import reported_numbers

TOO_LITTLE = "too little data"
# What the runs say of a setting, in the order of a summary.
DIFFERENT = "with different verdicts"
TOO_LITTLE_IN_SOME = f"with {TOO_LITTLE} in some run"
UNDECIDED = "undecided in every run"
SAME = "with the same verdict in every run"
MAX_PICTURES = 6

# By the name of each run, a setting as the run tested it, or None if it did not.
Row = dict[str, dict | None]


def compare(settings: dict[str, list[dict]]) -> list[Row]:
    """Return a row for each setting in which a claim is tested, in reading order.

    Parameters
    ----------
    settings : dict of str to list of dict
        The settings of each run, with what their claims say, too.
    """
    settings_by_id = {
        run: {setting["id"]: setting for setting in settings_of_run}
        for run, settings_of_run in settings.items()
    }
    # dict instead of set: in the order in which they come
    ids = dict.fromkeys(itertools.chain.from_iterable(settings_by_id.values()))
    return [
        {run: by_id.get(setting_id) for run, by_id in settings_by_id.items()} for setting_id in ids
    ]


def outcome(row: Row) -> str | None:
    """Return what the runs say of a setting; None if fewer than two of them test it.

    Too little data in a run is no verdict, so that it neither agrees with another nor differs.
    """
    verdicts = [setting["verdict"] for setting in row.values() if setting]
    if len(verdicts) < 2:
        return None
    verdicts_of_data = set(verdicts) - {TOO_LITTLE}
    is_undecided = verdicts_of_data <= {"undecided", "too imprecise"}
    if len(verdicts_of_data) > 1 and not is_undecided:
        return DIFFERENT
    if TOO_LITTLE in verdicts:
        return TOO_LITTLE_IN_SOME
    return UNDECIDED if is_undecided else SAME


def summary(rows: list[Row]) -> str:
    """Return how many settings differ between runs, and how many do not or cannot be compared.

    Such as "11 settings: 1 with different verdicts, 10 with too little data in some run".
    """
    counts = Counter(outcome(row) for row in rows)
    n_once = counts.pop(None, 0)
    n_compared = counts.total()
    if not n_compared:
        return "No setting of a claim is tested in more than one run" if n_once else "No claims"
    # that none differs is said, too
    kinds = [DIFFERENT, *(kind for kind in (TOO_LITTLE_IN_SOME, UNDECIDED, SAME) if counts[kind])]
    words = ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
    noun = "setting" if n_compared == 1 else "settings"
    once = f"; {n_once} more in one run only" if n_once else ""
    return f"{n_compared} {noun}: {words}{once}"


def numbers_in(notebooks: dict[str, NotebookNode]) -> list[Number]:
    """Return the numbers that sentences of a chapter say.

    Parameters
    ----------
    notebooks : dict of str to notebook
        The executed notebook of each run.
    """
    return reported_numbers(notebooks) + glued_numbers(notebooks)


def main_numbers(numbers: list[Number], rows: list[Row]) -> list[Number]:
    """Return the numbers to be drawn: of the summary, or of headline claims, claims or sentences.

    They are the first of these kinds of which a number differs between runs.
    """
    choices = (
        [number for number in numbers if number.is_main],
        [_claim_number(row) for row in rows if _is_headline(row)],
        [_claim_number(row) for row in rows],
        numbers,
    )
    for choice in choices:
        differing = [number for number in choice if number.differs]
        if differing:
            return differing[:MAX_PICTURES]
    return []


def _is_headline(row: Row) -> bool:
    return any(setting["headline"] for setting in row.values() if setting)


def _claim_number(row: Row) -> Number:
    """Return the statistic of a setting; without its interval where that says nothing."""
    runs = {}
    for run, setting in row.items():
        if setting is None or setting["value"] is None:
            continue
        numbers = {name: as_number(setting[name]) for name in ESTIMATE}
        if abs(numbers["value"]) == float("inf"):
            continue
        runs[run] = {"value": numbers["value"]}
        has_enough = setting["n"] >= setting["least"]
        if has_enough and float("-inf") < numbers["low"] <= numbers["high"] < float("inf"):
            runs[run] = numbers
    (setting, *_) = (setting for setting in row.values() if setting)
    words = f" ({setting['words']})" if setting["words"] else ""
    sentence = f"{setting['statistic']}: {setting['sentence']}{words}"
    return Number(setting["id"], sentence, runs)
