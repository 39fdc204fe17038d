"""A claim of a paper as a statistic with an interval, and the verdict that follows from the two."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

CLAIMS_JSON = "application/vnd.claims+json"
SYMBOLS = {"holds": "✔", "fails": "✘", "ambiguous": "◌"}
# What MyST would take for a sign: of code, emphasis, formulas, HTML, links, footnotes, substitutions and entities.
_SIGNS = re.compile(r"[\\`*$~]|(?<![^\W_])_|<(?=[A-Za-z/!?])|\[(?=\^)|\](?=[(\[{])|\{(?=\{)|&(?=[#A-Za-z])")


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, tested.

    Parameters
    ----------
    id : str
        Kebab-case name, unique in the book.
    sentence : str
        The claim in our words, true or false.
    quote : str
        The paper's words in brief.
    statistic : str
        What `value` measures.
    value, low, high : float
        The estimate and its interval, low <= value <= high; NaN where it cannot be computed.
    n : int
        Number of trials behind the estimate; 0 where no trial could be used.
    region : tuple of float
        The open interval of values for which the sentence is true; an end may be infinite.
    paper_value : str, float or None
        The paper's own number, if it gives one.
    anchor : str or None
        MyST label, in the chapter, of the place where the result is shown; letters, digits and hyphens.
    """

    id: str
    sentence: str
    quote: str
    statistic: str
    value: float
    low: float
    high: float
    n: int
    region: tuple[float, float]
    paper_value: str | float | None = None
    anchor: str | None = None

    def __post_init__(self):
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.id):
            raise ValueError(f"id must be kebab-case, such as 'em-beats-winnow'; got {self.id!r}")
        if self.anchor is not None and not re.fullmatch(r"[A-Za-z0-9-]+", self.anchor):
            raise ValueError(f"anchor of claim {self.id!r} must be letters, digits and hyphens; got {self.anchor!r}")
        for field in ("sentence", "quote", "statistic"):
            if not str(getattr(self, field)).strip():
                raise ValueError(f"{field} of claim {self.id!r} must not be empty")
        if self.n < 0:
            raise ValueError(f"n of claim {self.id!r} must be at least 0; got {self.n!r}")
        if len(self.region) != 2 or not self.region[0] < self.region[1]:
            raise ValueError(f"region of claim {self.id!r} must be (lo, hi) with lo < hi; got {self.region!r}")
        if any(a > b for a, b in ((self.low, self.value), (self.value, self.high), (self.low, self.high))):
            numbers = f"{self.low!r}, {self.value!r}, {self.high!r}"
            raise ValueError(f"low, value and high of claim {self.id!r} must not fall; got {numbers}")

    @property
    def verdict(self) -> str:
        """Return "holds" if the interval lies inside the region, "fails" if outside, and otherwise "ambiguous"."""
        lo, hi = self.region
        if any(math.isnan(x) for x in (self.value, self.low, self.high)):
            return "ambiguous"
        if lo < self.low and self.high < hi:
            return "holds"
        return "fails" if self.high <= lo or self.low >= hi else "ambiguous"

    def to_dict(self, paper: str) -> dict:
        """Return the claim, its verdict and its paper as strict JSON: NaN is null, an infinite number is "∞"."""
        texts = {name: getattr(self, name) for name in ("verdict", "sentence", "quote", "statistic")}
        numbers = {name: _json_number(getattr(self, name)) for name in ("value", "low", "high")}
        region = [_json_number(end) if math.isfinite(end) else None for end in self.region]
        paper_value = _json_number(self.paper_value) if isinstance(self.paper_value, int | float) else self.paper_value
        rest = {"n": int(self.n), "region": region, "paper_value": paper_value, "anchor": self.anchor}
        return {"id": self.id, "paper": paper, **texts, **numbers, **rest}


class Claims:
    """The claims of one paper that a chapter tests; shows itself as a table of verdicts.

    Parameters
    ----------
    paper : str
        Key of the paper in ``references.bib``.
    """

    def __init__(self, paper: str):
        self.paper = paper
        self._claims: dict[str, Claim] = {}

    def add(self, *, id: str, estimate: tuple | None = None, **fields) -> Claim:
        """Add and return a `Claim`; `estimate` stands for its value, low, high and n.

        An id that is there already is a ValueError.
        """
        if id in self._claims:
            raise ValueError(f"id {id!r} is already the name of a claim")
        if estimate is not None:
            fields |= dict(zip(("value", "low", "high", "n"), estimate, strict=True))
        self._claims[id] = Claim(id=id, **fields)
        return self._claims[id]

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        records = [claim.to_dict(self.paper) for claim in self]
        lines = [f"{r['verdict']}: {r['sentence']} ({estimate(r)})" for r in records]
        return {"text/plain": "\n".join(lines), "text/markdown": verdict_table(records), CLAIMS_JSON: records}


def verdict_table(records: list[dict]) -> str:
    """Return as MyST the number of each verdict, and a table: verdict, claim, our estimate, the paper's words."""
    texts = [(r["sentence"], f"{r['statistic']}: {estimate(r)}", paper_says(r)) for r in records]
    rows = [(badge(r["verdict"]), *map(literal, text)) for r, text in zip(records, texts, strict=True)]
    return verdict_counts(records) + "\n\n" + markdown_table(("Verdict", "Claim", "Here", "Paper"), rows)


def verdict_counts(records: list[dict]) -> str:
    """Return one line: the number of claims, and of each verdict."""
    counts = Counter(record["verdict"] for record in records)
    return f"Claims: {len(records)}. " + ", ".join(f"{badge(verdict)} {counts[verdict]}" for verdict in SYMBOLS) + "."


def markdown_table(header: tuple, rows: list[tuple]) -> str:
    """Return a MyST table of cells in MyST (see `literal`); bars and line breaks inside a cell are made harmless."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def literal(text: str) -> str:
    """Return text as MyST that shows it as it is, inside a line: what would be a sign there is escaped."""
    return _SIGNS.sub(r"\\\g<0>", text)


def code(text: str) -> str:
    """Return text as MyST code, in back quotes enough for those inside it."""
    quotes = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{quotes}{space}{text}{space}{quotes}"


def badge(verdict: str) -> str:
    """Return the verdict with its symbol, as a span that the book's style sheet colours."""
    return f'<span class="verdict verdict-{verdict}">{SYMBOLS[verdict]} {verdict}</span>'


def estimate(record: dict) -> str:
    """Return "value [low, high], n = ..." of a claim's record, with spaces that do not break inside a part."""
    value, low, high = (_show(record[name]) for name in ("value", "low", "high"))
    trials = f"n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{record['n']}"
    if record["value"] is None:
        return f"unknown, {trials}"
    if record["value"] == record["low"] == record["high"]:
        return f"{value} (exact)" if record["n"] <= 1 else f"{value}, {trials}"
    return f"{value} [{low},\N{NO-BREAK SPACE}{high}], {trials}"


def paper_says(record: dict) -> str:
    """Return the paper's words and, where it gives one, its value."""
    value, quote = record["paper_value"], f"“{record['quote']}”"
    if value is None:
        return quote
    return f"{quote} ({value:g})" if isinstance(value, int | float) else f"{quote} ({value})"


def region_words(record: dict) -> str:
    """Return for which values the claim holds, such as "> 0"."""
    lo, hi = record["region"]
    if lo is None:
        return "any value" if hi is None else f"< {hi:g}"
    return f"> {lo:g}" if hi is None else f"between {lo:g} and {hi:g}"


def _cell(text) -> str:
    return " ".join(str(text).splitlines()).replace("|", "\\|")


def _show(number: float | str | None) -> str:
    if number is None:
        return "—"
    return number if isinstance(number, str) else f"{number:.3g}"


def _json_number(value) -> float | str | None:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return None if math.isnan(value) else float(f"{value:.6g}")
