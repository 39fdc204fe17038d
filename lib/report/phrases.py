"""Phrases with numbers: an estimate with its interval, and who wins by how much."""

import math
import re
from typing import NamedTuple

from lib.claims import MANY_DEGREES, STABLE, Setting, rerun_chance
from lib.report.numbers import (
    SPACE,
    decimals_for,
    decimals_to_show,
    has_interval,
    interval_words,
    json_number,
    number_words,
    singular,
)

UNSURE = {"beats": "leads", "beat": "lead"}  # the verb of a lead that is not sure
SEEMING = {"is": "seems", "are": "seem"}  # of two that are alike, if that is not sure
FIXED = re.compile(r"(.*\.)(\d)f")  # a format with so many decimals


class Phrase(str):
    """Words with the numbers that are in them, as JSON.

    Parameters
    ----------
    words : str
    numbers : dict or float
    """

    def __new__(cls, words, numbers):
        """Make a text that carries numbers."""
        phrase = super().__new__(cls, words)
        phrase.numbers = numbers
        return phrase


class _Difference(NamedTuple):
    """A difference of two learners, and what decides which words it gets."""

    value: float
    low: float
    high: float
    n: int | None
    margin: float
    min_trials: int
    trials: str  # what n counts, in the plural
    like_low: float = math.nan  # ends for data sets like these, as of a `Setting`
    like_high: float = math.nan

    def scaled(self, factor: float) -> "_Difference":
        """Return it times a factor; a negative one turns the intervals round."""
        low, high = sorted([factor * self.low, factor * self.high])
        like_low, like_high = sorted([factor * self.like_low, factor * self.like_high])
        return self._replace(
            value=factor * self.value,
            low=low,
            high=high,
            margin=abs(factor) * self.margin,
            like_low=like_low,
            like_high=like_high,
        )

    @property
    def outcome(self) -> str:
        """Who is ahead: "first", "second", "alike", "unclear", "too few" or "unknown".

        The first wins where the whole interval is above 0 and part of it beyond the margin. The two
        are alike where it lies within the margin on both sides.
        """
        if math.isnan(self.value):
            return "unknown"
        has_no_end = math.isinf(self.low) and math.isinf(self.high)
        if has_no_end or math.isnan(self.low) or math.isnan(self.high):
            return "too few"
        if self.n is not None and self.n < self.min_trials:
            return "too few"
        if -self.margin < self.low and self.high < self.margin:
            return "alike"
        if self.low > 0 and self.high > self.margin:
            return "first"
        if self.high < 0 and self.low < -self.margin:
            return "second"
        return "unclear"

    @property
    def is_sure(self) -> bool:
        """Whether another run would say the same, with a chance of `STABLE` or more.

        Of a lead that is its sign, of two that are alike that they are.
        """
        are_sets_given = not math.isnan(self.like_low)
        degrees = MANY_DEGREES if are_sets_given or self.n is None else max(self.n - 1, 1)
        says_the_same = self._are_alike if self.outcome == "alike" else self._have_its_sign
        chance = rerun_chance(says_the_same, self.value, (self.low, self.high), degrees)
        return chance is None or chance >= STABLE

    def _are_alike(self, lows, highs):
        return (-self.margin < lows) & (highs < self.margin)

    def _have_its_sign(self, lows, highs):
        return lows > 0 if self.value > 0 else highs < 0


def interval(estimate, spec: str = "", *, factor: float = 1, unit: str = "") -> Phrase | None:
    """Return an estimate with its interval, such as "7.6% [7.1, 8.0]" or "12 points [5, 20]".

    Parameters
    ----------
    estimate : tuple of float or None
        Value, low, high and perhaps n, such as a `lib.evaluation.Estimate`, or a
        `lib.claims.Setting`. None, of what a run lacks, stays None.
    spec : str
        A format, such as ".2f"; by default as many decimals as the interval supports.
    factor : float
        What the numbers are multiplied by: 100 makes percentage points of shares.
    unit : str
        In the plural, such as "points"; empty for none.
    """
    if estimate is None:
        return None
    difference = _difference(estimate, None).scaled(factor)
    words = _with_unit(difference, unit, spec)
    return Phrase(words, _numbers(difference, unit))


def comparison(
    estimate,
    first: str,
    second: str,
    unit: str = "",
    margin: float | None = None,
    *,
    lower_is_better: bool = False,
    factor: float = 1,
    spec: str = "",
    beats: str = "beats",
    leads: str = "is slightly ahead of",
    loses: str = "loses to",
    equals: str = "is about as good as",
    winner_first: bool = True,
) -> Phrase | None:
    """Return in words which of two learners wins and by how much.

    Such as "EM beats Winnow by 0.19 [0.10, 0.27]", where the interval of the difference is on one
    side of 0 and at least partly beyond the margin; "EM is slightly ahead of Winnow by ...", where
    so, but the difference itself is less than the margin; "EM leads Winnow by 0.09, just beyond
    chance [0.01, 0.17]", where so, but that of another run would be with a chance below 0.8; "EM is
    about as good as Winnow", where the interval lies within the margin, "seems about as good" where
    that of another run would so with a chance below 0.8; "EM leads Winnow by 0.04, which may be chance
    [-0.01, 0.08]", where it does neither, or "cannot be told apart" where there is no difference at
    all; and "3 random models are too few to compare EM with Winnow". The winner comes first, and
    the interval is that of its lead.

    Parameters
    ----------
    estimate : tuple of float or None
        The first learner's value minus the second's, its low and high end and perhaps n: a
        `lib.evaluation.Estimate`, or a `lib.claims.Setting`, which has a margin of its own, and
        says how many trials its statistic needs. None, of what a run lacks, stays None.
    first, second : str
        Names of the learners.
    unit : str
        What the difference is counted in, in the plural, such as "points of error". One that begins
        with "of", such as "of the possible gain", follows the interval.
    margin : float, optional
        The smallest difference that matters, in the units of `estimate`; that of a setting by
        default, otherwise 0.
    lower_is_better : bool
        Whether a negative difference is the first learner's win, as for errors.
    factor : float
        What is multiplied before it is printed: 100 makes percentage points of shares.
    spec : str
        A format, such as ".2f"; by default as many decimals as the interval supports.
    beats, leads, loses, equals : str
        The verbs: "beat" for a learner in the plural, "is faster than" for times, which stays where
        the lead is not sure.
    winner_first : bool
        Whether the winner comes first. Otherwise `first` does: "EM loses to Winnow by 0.43".

    Raises
    ------
    ValueError
        If the margin is negative or infinite.
    """
    if estimate is None:
        return None
    difference = _difference(estimate, margin)
    if not 0 <= difference.margin < math.inf:
        raise ValueError(f"margin must be at least 0 and finite; got {margin!r}")
    difference = difference.scaled(factor)
    numbers = _numbers(difference, unit)
    advantage = difference.scaled(-1 if lower_is_better else 1)  # of the first
    numbers["outcome"] = advantage.outcome

    first_leads = advantage.value >= 0
    lead = advantage if first_leads else advantage.scaled(-1)
    leader, follower = (first, second) if first_leads else (second, first)
    amount = _with_unit(lead, unit, spec)
    ahead = f"{leader} ahead by {amount}" if lead.value else "no difference"
    unsure_verb = UNSURE.get(beats, beats)
    unsure_lead = f"{leader} {unsure_verb} {follower} by {_amount(lead, unit, spec)}"
    match advantage.outcome:
        case "first" | "second" if not lead.is_sure:
            words = f"{unsure_lead}, just beyond chance {_ends(lead, spec)}"
        case "first" | "second" if lead.value < lead.margin:
            words = f"{leader} {leads} {follower} by {amount}"
        case "first" | "second" if winner_first or first_leads:
            words = f"{leader} {beats} {follower} by {amount}"
        case "first" | "second":
            words = f"{first} {loses} {second} by {amount}"
        case "alike":
            verb, space, rest = equals.partition(" ")
            verb = verb if lead.is_sure else SEEMING.get(verb, verb)
            words = f"{first} {verb}{space}{rest} {second} ({ahead})"
        case "unclear" if lead.value:
            words = f"{unsure_lead}, which may be chance {_ends(lead, spec)}"
        case "unclear":
            words = f"{first} and {second} cannot be told apart ({ahead})"
        case "too few":
            words = f"{_too_few(difference)} to compare {first} with {second}"
        case _:
            words = f"{first} and {second} were not compared"
    return Phrase(words, numbers)


def finding(
    estimate, first: str, second: str, unit: str = "", *, where: str, figure: str = "", **options
) -> Phrase | None:
    """Return the standard sentence of a result: where, who wins by how much, and its figure.

    Such as "with 75 attributes EM beats Winnow by 0.19 [0.10, 0.27] ([figure](#fig-five))".

    Parameters
    ----------
    estimate, first, second, unit, **options
        See `comparison`.
    where : str
        The condition, such as "with 75 attributes", which comes first.
    figure : str
        The name of the figure or table that shows it; empty for none.
    """
    words = comparison(estimate, first, second, unit, **options)
    if words is None:
        return None
    link = f" ([{'table' if figure.startswith('tbl') else 'figure'}](#{figure}))" if figure else ""
    return Phrase(f"{where} {words}{link}", words.numbers)


def _difference(estimate, margin: float | None) -> _Difference:
    """Return an estimate or a setting of a claim with its margin and the trials that it needs."""
    if isinstance(estimate, Setting):
        return _Difference(
            value=float(estimate.value),
            low=float(estimate.low),
            high=float(estimate.high),
            n=estimate.n,
            margin=estimate.margin if margin is None else margin,
            min_trials=estimate.min_trials,
            trials=estimate.unit,
            like_low=estimate.like_low,
            like_high=estimate.like_high,
        )
    value, low, high, *n = estimate
    like_low, like_high = n[1:] if len(n) == 3 else (math.nan, math.nan)
    return _Difference(
        value=float(value),
        low=float(low),
        high=float(high),
        n=int(n[0]) if n else None,
        margin=margin or 0.0,
        min_trials=1,
        trials="trials",
        like_low=like_low,
        like_high=like_high,
    )


def _numbers(difference: _Difference, unit: str) -> dict:
    """Return the numbers of a difference as JSON, the first learner's minus the second's."""
    return {
        "value": json_number(difference.value),
        "low": json_number(difference.low),
        "high": json_number(difference.high),
        "n": difference.n,
        "unit": unit,
    }


def _with_unit(difference: _Difference, unit: str, spec: str) -> str:
    """Return a difference as "6.6 points [6.5, 6.7]", or "0.19 [0.10, 0.27] of the gain".

    The interval for data sets like these follows, where there is one.
    """
    ends = _ends(difference, spec)
    if not ends:
        return _amount(difference, unit, spec)
    if not unit or unit.startswith("of "):
        number = _amount(difference, "", spec)
        return f"{number}{SPACE}{ends} {unit}".rstrip()
    return f"{_amount(difference, unit, spec)} {ends}"


def _amount(difference: _Difference, unit: str, spec: str) -> str:
    """Return the value with its unit, such as "6.6 points", "7.6%" or "0.19 of the gain"."""
    number = number_words(difference.value, _spec(difference, spec))
    if unit.startswith("%"):
        return f"{number}{unit}"
    return f"{number} {singular(unit) if number == '1' else unit}".rstrip()


def _ends(difference: _Difference, spec: str) -> str:
    """Return "[6.5, 6.7]", perhaps with ", on sets like these [6.1, 7.0]"; "" without an interval."""
    spec = _spec(difference, spec)
    factor = 100 if spec.endswith("%") else 1
    words = []
    for low, high in (
        (difference.low, difference.high),
        (difference.like_low, difference.like_high),
    ):
        if has_interval(difference.value, low, high):
            words.append(interval_words(factor * low, factor * high, spec))
    return ", on sets like these ".join(words)


def _spec(difference: _Difference, spec: str) -> str:
    """Return a format, by default with as many decimals as the interval supports.

    It gets up to two decimals more where an end that is not 0 would be printed as 0, since the sign
    of an end decides.
    """
    spec = spec or f",.{decimals_for(difference.value, difference.low, difference.high)}f"
    fixed = FIXED.fullmatch(spec)
    if not fixed:
        return spec
    ends = (difference.low, difference.high, difference.like_low, difference.like_high)
    decimals = int(fixed[2])
    more_decimals = min(decimals_to_show(*ends), decimals + 2)
    return f"{fixed[1]}{max(decimals, more_decimals)}f"


def _too_few(difference: _Difference) -> str:
    """Return why there are too few trials, such as "3 random models are too few"."""
    if difference.n is None:
        return "there are too few trials"
    needed = f" ({difference.min_trials} needed)" if difference.n < difference.min_trials else ""
    if difference.n == 1:
        return f"1 {singular(difference.trials)} is too few{needed}"
    return f"{difference.n} {difference.trials} are too few{needed}"
