"""One condition in which a claim is tested, and the verdict that its interval gives."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

SYMBOLS = {
    "holds": "✔",
    "fails": "✘",
    "negligible": "≈",
    "undecided": "◌",
    "too little data": "…",
}
N_RERUNS = 10_000  # that are simulated
MANY_DEGREES = 100  # of freedom, with which t is about normal
STABLE = 0.8  # chance that a re-run says the same, from which on a verdict is stable
# Units of which a run has all that there are: with other random numbers they are the same.
GIVEN_UNITS = {
    *("data sets", "families of data sets", "confusion sets", "vocabularies"),
    *("novels", "authors", "speakers", "games", "patients", "test letters", "sums"),
}
# Units that share the rows of one file: more of them are no more data.
OF_ONE_FILE = re.compile("(shuffles|divisions) of the ")


@dataclass(frozen=True)
class Setting:
    """A sentence of a paper tested once, for one choice of sizes, learners or readings.

    Parameters
    ----------
    id : str
        Kebab-case name, unique in the book.
    words : str
        What is special about it, such as "n = 10"; empty if a claim has no other.
    statistic : str
        What `value` measures.
    value, low, high : float
        The estimate and its interval, low <= value <= high; NaN where it cannot be computed.
    n : int
        Number of independent units behind the estimate; 0 where none could be used.
    region : tuple of float
        The open interval of values for which the sentence is true; an end may be infinite.
    margin : float
        Smallest distance from the end of the region that matters, where the region has one end
        and the statement is not exact. A region with two ends says itself what is alike.
    min_trials : int
        Fewest units that the statistic needs; "least" in registers and records.
    unit : str
        What `n` counts, in the plural: what an interval at 95% would be drawn anew of.
    exact : bool
        Whether it is an identity or an enumeration, which no sample decides.
    paper_value : str, float or None
        The paper's own number, if it gives one: a float in the units of `value`, or words.
    paper_source : str
        What that number is, such as "mean of its printed cells"; empty if the paper prints it so.
    anchor : str or None
        MyST label, in the chapter, of the place where the result is shown; letters, digits and
        hyphens.
    recorded : bool
        Whether rows of an earlier run stand in for data that this one did not have.
    like_low, like_high : float
        Where `low` and `high` are about the very data sets that were run, which decides: the
        interval for sets like these. NaN where there is one interval only.

    Raises
    ------
    ValueError
        If a value is not as described.
    """

    id: str
    words: str
    statistic: str
    value: float
    low: float
    high: float
    n: int
    region: tuple[float, float]
    margin: float = 0.0
    min_trials: int = 1
    unit: str = "trials"
    exact: bool = False
    paper_value: str | float | None = None
    paper_source: str = ""
    anchor: str | None = None
    recorded: bool = False
    like_low: float = math.nan
    like_high: float = math.nan

    def __post_init__(self):
        check_id(self.id)
        if self.anchor is not None and not re.fullmatch(r"[A-Za-z0-9-]+", self.anchor):
            raise ValueError(
                f"anchor of {self.id!r} must be letters, digits and hyphens; got {self.anchor!r}"
            )
        for name in ("statistic", "unit"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} of {self.id!r} must not be empty")
        self._check_at_least("n", 0)
        self._check_at_least("min_trials", 1)
        if len(self.region) != 2 or not self.region[0] < self.region[1]:
            raise ValueError(
                f"region of {self.id!r} must be (lo, hi) with lo < hi; got {self.region!r}"
            )
        self._check_margin()
        # NaN, where a number is unknown, is neither above nor below another
        if self.low > self.value or self.value > self.high or self.low > self.high:
            numbers = f"{self.low!r}, {self.value!r}, {self.high!r}"
            raise ValueError(f"low, value and high of {self.id!r} must not fall; got {numbers}")

    def _check_at_least(self, name, smallest):
        value = getattr(self, name)
        if value < smallest:
            raise ValueError(f"{name} of {self.id!r} must be at least {smallest}; got {value!r}")

    def _check_margin(self):
        if self._is_directional and not self.exact:
            if not 0 < self.margin < math.inf:
                raise ValueError(
                    f"margin of {self.id!r} must be above 0 and finite: the smallest distance from "
                    f"{self._cut_offs[0]:g} that matters; got {self.margin!r}"
                )
        elif self.margin != 0:
            raise ValueError(
                f"margin of {self.id!r} must be 0, as it is exact or its region has two ends or "
                f"none; got {self.margin!r}"
            )

    @property
    def _cut_offs(self):
        return [end for end in self.region if math.isfinite(end)]

    @property
    def _is_directional(self):
        return len(self._cut_offs) == 1

    @property
    def verdict(self) -> str:
        """Return what the interval says of the sentence, one of `SYMBOLS`.

        For a region with one end, c, say (c, inf), and the margin d:

        - *holds*: the interval lies in the region, and part of it beyond c + d;
        - *fails*: it lies outside, and part of it beyond c - d: the opposite of the sentence;
        - *negligible*: it lies between c - d and c + d, so that the distance does not matter.

        A region with two ends holds an interval inside it, and fails one outside it. What remains
        is *undecided*: `deciding` says what would decide it. An interval without width decides only
        what is exact. With fewer units than `min_trials` it is *too little data*, whatever they
        say.
        """
        if self.n < self.min_trials:
            return "too little data"
        if not self.low <= self.value <= self.high:  # one of them is NaN
            return "undecided"
        if self.low == self.high and not self.exact:
            return "undecided"
        return str(self._verdicts(self.low, self.high))

    def _verdicts(self, low, high):
        """Return the verdicts of intervals, whose ends may be arrays, with as many units."""
        lower, upper = self.region
        # the region is open: an interval may touch its end from outside, not from inside; where it
        # has no end, an interval may be without end, too
        is_inside = ((lower < low) | (lower == -math.inf)) & ((high < upper) | (upper == math.inf))
        is_outside = (high <= lower) | (low >= upper)
        is_negligible = np.zeros_like(is_inside)
        if self._is_directional and not self.exact:
            # distances of the interval's ends from the cut-off, positive where the sentence is true
            if math.isfinite(lower):
                nearest, farthest = low - lower, high - lower
            else:
                nearest, farthest = upper - high, upper - low
            is_negligible = (-self.margin < nearest) & (farthest < self.margin)
            is_inside = is_inside & (farthest > self.margin)
            is_outside = is_outside & (nearest < -self.margin)
        return np.select(
            [is_negligible, is_inside, is_outside],
            ["negligible", "holds", "fails"],
            "undecided",
        )

    @property
    def is_over_sets(self) -> bool:
        """Whether `low` and `high` are about the data sets that were run, and no others."""
        return not math.isnan(self.like_low)

    @property
    def is_drawn(self) -> bool:
        """Whether another run draws anew what the interval is about.

        It keeps data sets and the rows of a file, but draws other training and test rows of them.
        """
        return self.is_over_sets or not (self.unit in GIVEN_UNITS or OF_ONE_FILE.match(self.unit))

    @property
    def rerun_chance(self) -> float | None:
        """Return the chance that as many other units, drawn from where these are, say the same.

        Of a mean over the data sets that were run, these are other training and test rows of them.
        None of what is exact, or where the interval has no finite width.
        """
        # what is behind an interval over given sets are all their splits
        degrees = MANY_DEGREES if self.is_over_sets else max(int(self.n) - 1, 1)
        return self._chance_of_same(self.low, self.high, degrees)

    @property
    def other_sets_chance(self) -> float | None:
        """Return the chance that as many other data sets like these say the same.

        None where there is no interval for sets like these.
        """
        return self._chance_of_same(self.like_low, self.like_high, max(int(self.n) - 1, 1))

    def _chance_of_same(self, low, high, degrees):
        """Return the chance of the same verdict where the interval of what is drawn is this one."""
        if self.exact or self.n < self.min_trials:
            return None

        def says_the_same(lows, highs):
            return self._verdicts(lows, highs) == self.verdict

        interval = (self.low, self.high)
        return rerun_chance(says_the_same, self.value, interval, degrees, drawn=(low, high))

    @property
    def deciding(self) -> str:
        """Return what would decide an undecided setting, such as "about 480 random models".

        It is how many units would, if the value stayed as it is: the half of an interval falls with
        the root of their number. Shuffles of a file share its rows; those of many files narrow the
        interval for their mean. A value that lies nearly at the cut-off would take more than
        anybody would. Empty for what is decided.
        """
        if self.verdict != "undecided":
            return ""
        if OF_ONE_FILE.match(self.unit):
            return "only other data"
        distance = min((abs(self.value - end) for end in self._cut_offs), default=math.nan)
        if self._is_directional:
            # the interval has to leave the cut-off, or to stay within the margin
            distance = max(distance, self.margin - distance)
        ends_are_finite = math.isfinite(self.low) and math.isfinite(self.high)
        half_width = _half_width(self.value, self.low, self.high)
        if not ends_are_finite or not distance > 0 or not half_width > 0:
            return "another statistic"
        n = self.n * max(half_width / distance, 1) ** 2
        digits = 10 ** max(math.floor(math.log10(n)) - 1, 0)
        n = max(math.ceil(n / digits) * digits, self.n + 1)
        if n > 10 * self.n:
            return f"more than ten times as many {self.unit}"
        if self.is_over_sets and n <= 2 * self.n:
            return f"about {n:,} {self.unit}, or more shuffles of these"
        if self.unit in GIVEN_UNITS:
            return f"only more {self.unit}: about {n:,}"
        return f"about {n:,} {self.unit}"

    def to_dict(self) -> dict:
        """Return it and its verdict as strict JSON: NaN is null, an infinite number is "∞"."""
        paper_value = self.paper_value
        if isinstance(paper_value, int | float):
            paper_value = _json_number(paper_value)
        return {
            "id": self.id,
            "verdict": self.verdict,
            "words": self.words,
            "statistic": self.statistic,
            "value": _json_number(self.value),
            "low": _json_number(self.low),
            "high": _json_number(self.high),
            "like_low": _json_number(self.like_low),
            "like_high": _json_number(self.like_high),
            "n": int(self.n),
            "unit": self.unit,
            "exact": self.exact,
            "least": self.min_trials,  # the name in registers and in results stored so far
            "region": [_json_number(end) if math.isfinite(end) else None for end in self.region],
            "margin": _json_number(self.margin),
            "rerun_chance": _rounded(self.rerun_chance),
            "other_sets_chance": _rounded(self.other_sets_chance),
            "is_drawn": self.is_drawn,
            "is_over_sets": self.is_over_sets,
            "deciding": self.deciding,
            "paper_value": paper_value,
            "paper_source": self.paper_source,
            "anchor": self.anchor,
            "recorded": bool(self.recorded),
        }


def rerun_chance(
    says_the_same: Callable,
    value: float,
    interval: tuple[float, float],
    degrees: int,
    drawn: tuple[float, float] | None = None,
) -> float | None:
    """Return the chance that a run with as many other units says the same.

    The truth is about the value found, with the standard error of its t interval, and so is what
    others find about the truth: their value differs from this one by an error of twice that
    variance. The interval that decides has a width of its own, as t intervals have. It is
    simulated.

    Parameters
    ----------
    says_the_same : callable
        Takes the lower and the upper ends of intervals, arrays, and returns which say the same.
    value : float
    interval : tuple of float
        The ends of the interval that decides.
    degrees : int
        Degrees of freedom of its t.
    drawn : tuple of float, optional
        The interval of what is drawn anew, where that is another one.

    Returns
    -------
    float or None
        None where an interval has no finite width.
    """
    low, high = interval
    spread = _half_width(value, *(drawn or interval))
    if not math.isfinite(spread + _half_width(value, low, high)):
        return None
    standard_error = spread / stats.t.ppf(0.975, degrees)
    rng = np.random.default_rng(0)
    values = value + math.sqrt(2) * standard_error * rng.standard_normal(N_RERUNS)
    widths = np.sqrt(rng.chisquare(degrees, N_RERUNS) / degrees)
    lows, highs = values - widths * (value - low), values + widths * (high - value)
    return float(np.mean(says_the_same(lows, highs)))


def _half_width(value, low, high):
    """Half of an interval; NaN where it has no finite width, or none."""
    half_widths = [width for width in (value - low, high - value) if math.isfinite(width)]
    if not half_widths or not low < high:
        return math.nan
    return sum(half_widths) / len(half_widths)


def _rounded(chance):
    return None if chance is None else round(chance, 3)


def check_id(id: str) -> None:
    """Raise ValueError if an id is not kebab-case."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id):
        raise ValueError(f"id must be kebab-case, such as 'em-beats-winnow'; got {id!r}")


def _json_number(value) -> float | str | None:
    """Return a number with six significant digits as strict JSON can have it."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return float(f"{value:.6g}")
