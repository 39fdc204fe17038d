"""One condition in which a claim is tested, and the verdict that its interval gives."""

import math
import re
from dataclasses import dataclass

SYMBOLS = {"holds": "✔", "fails": "✘", "ambiguous": "◌", "too little data": "…"}


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
        Number of independent trials behind the estimate; 0 where no trial could be used.
    region : tuple of float
        The open interval of values for which the sentence is true; an end may be infinite.
    min_trials : int
        Fewest trials that the statistic needs; "least" in registers and records.
    paper_value : str, float or None
        The paper's own number, if it gives one.
    anchor : str or None
        MyST label, in the chapter, of the place where the result is shown; letters, digits and
        hyphens.
    recorded : bool
        Whether rows of an earlier run stand in for data that this one did not have.

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
    min_trials: int = 1
    paper_value: str | float | None = None
    anchor: str | None = None
    recorded: bool = False

    def __post_init__(self):
        check_id(self.id)
        if self.anchor is not None and not re.fullmatch(r"[A-Za-z0-9-]+", self.anchor):
            raise ValueError(
                f"anchor of {self.id!r} must be letters, digits and hyphens; got {self.anchor!r}"
            )
        if not self.statistic.strip():
            raise ValueError(f"statistic of {self.id!r} must not be empty")
        self._check_at_least("n", 0)
        self._check_at_least("min_trials", 1)
        if len(self.region) != 2 or not self.region[0] < self.region[1]:
            raise ValueError(
                f"region of {self.id!r} must be (lo, hi) with lo < hi; got {self.region!r}"
            )
        # NaN, where a number is unknown, is neither above nor below another
        if self.low > self.value or self.value > self.high or self.low > self.high:
            numbers = f"{self.low!r}, {self.value!r}, {self.high!r}"
            raise ValueError(f"low, value and high of {self.id!r} must not fall; got {numbers}")

    def _check_at_least(self, name, smallest):
        value = getattr(self, name)
        if value < smallest:
            raise ValueError(f"{name} of {self.id!r} must be at least {smallest}; got {value!r}")

    @property
    def verdict(self) -> str:
        """Return "holds" if the interval is in the region, "fails" if outside, else "ambiguous".

        With fewer trials than `min_trials` it is "too little data", whatever they say.
        """
        lo, hi = self.region
        if self.n < self.min_trials:
            return "too little data"
        if not self.low <= self.value <= self.high:  # one of them is NaN
            return "ambiguous"
        # the region is open: an interval may touch its end from outside, not from inside
        if lo < self.low and self.high < hi:
            return "holds"
        if self.high <= lo or self.low >= hi:
            return "fails"
        return "ambiguous"

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
            "n": int(self.n),
            "least": self.min_trials,  # the name in registers and in results stored so far
            "region": [_json_number(end) if math.isfinite(end) else None for end in self.region],
            "paper_value": paper_value,
            "anchor": self.anchor,
            "recorded": bool(self.recorded),
        }


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
