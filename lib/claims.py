"""The sentences of a paper, tested: statistics with intervals, the verdicts that follow, and their tables."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jinja2 import Template

from lib.files import LIB

REGISTER = LIB.parent / "chapters" / "registered.yml"
CLAIMS_JSON = "application/vnd.claims+json"
SYMBOLS = {"holds": "✔", "fails": "✘", "ambiguous": "◌", "too little data": "…"}
_MARKUP = re.compile("<[^>]*>")
_BADGE = Template(
    '<span class="verdict verdict-{{ verdict|replace(" ", "-") }}">{{ symbol }} {{ verdict }}</span>'
)
# What MyST would take for a sign: of code, emphasis, formulas, HTML, links, footnotes,
# substitutions and entities.
_SIGNS = re.compile(
    r"[\\`*$~]|(?<![^\W_])_|<(?=[A-Za-z/!?])|\[(?=\^)|\](?=[(\[{])|\{(?=\{)|&(?=[#A-Za-z])"
)


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
    least : int
        Fewest trials that the statistic needs.
    paper_value : str, float or None
        The paper's own number, if it gives one.
    anchor : str or None
        MyST label, in the chapter, of the place where the result is shown; letters, digits and
        hyphens.
    recorded : bool
        Whether rows of an earlier run stand in for data that this one did not have.
    """

    id: str
    words: str
    statistic: str
    value: float
    low: float
    high: float
    n: int
    region: tuple[float, float]
    least: int = 1
    paper_value: str | float | None = None
    anchor: str | None = None
    recorded: bool = False

    def __post_init__(self):
        _check_id(self.id)
        if self.anchor is not None and not re.fullmatch(r"[A-Za-z0-9-]+", self.anchor):
            raise ValueError(
                f"anchor of {self.id!r} must be letters, digits and hyphens; got {self.anchor!r}"
            )
        if not self.statistic.strip():
            raise ValueError(f"statistic of {self.id!r} must not be empty")
        for name, at_least in (("n", 0), ("least", 1)):
            if getattr(self, name) < at_least:
                raise ValueError(
                    f"{name} of {self.id!r} must be at least {at_least}; got {getattr(self, name)!r}"
                )
        if len(self.region) != 2 or not self.region[0] < self.region[1]:
            raise ValueError(
                f"region of {self.id!r} must be (lo, hi) with lo < hi; got {self.region!r}"
            )
        if any(
            a > b
            for a, b in ((self.low, self.value), (self.value, self.high), (self.low, self.high))
        ):
            numbers = f"{self.low!r}, {self.value!r}, {self.high!r}"
            raise ValueError(f"low, value and high of {self.id!r} must not fall; got {numbers}")

    @property
    def verdict(self) -> str:
        """Return "holds" if the interval lies inside the region, "fails" if outside, else "ambiguous".

        With fewer trials than the least it is "too little data", whatever they say.
        """
        lo, hi = self.region
        if self.n < self.least:
            return "too little data"
        if lo < self.low <= self.value <= self.high < hi:  # which is false if one is NaN
            return "holds"
        is_outside = self.low <= self.value <= self.high and (self.high <= lo or self.low >= hi)
        return "fails" if is_outside else "ambiguous"

    def to_dict(self) -> dict:
        """Return it and its verdict as strict JSON: NaN is null, an infinite number is "∞"."""
        numbers = {name: _json_number(getattr(self, name)) for name in ("value", "low", "high")}
        region = [_json_number(end) if math.isfinite(end) else None for end in self.region]
        paper_value = (
            _json_number(self.paper_value)
            if isinstance(self.paper_value, int | float)
            else self.paper_value
        )
        rest = {"n": int(self.n), "least": self.least, "region": region, "paper_value": paper_value}
        rest |= {"anchor": self.anchor, "recorded": bool(self.recorded)}
        texts = {name: getattr(self, name) for name in ("id", "verdict", "words", "statistic")}
        return {**texts, **numbers, **rest}


@dataclass
class Claim:
    """One sentence of a paper, with the settings in which it was tested.

    Parameters
    ----------
    id : str
        Kebab-case name, unique in the book.
    sentence : str
        The claim in our words, true or false.
    quote : str
        The paper's words in brief.
    headline : bool
        Whether it is one of those that carry the book.
    exact : bool
        Whether it is an identity, which no sample decides.
    data : str
        The data that it needs beyond what comes with the book; empty for none.
    settings : list of Setting
        What `test` has added.
    registered : dict
        Its entry in a register (see `read_register`); empty if it has none.
    """

    id: str
    sentence: str
    quote: str
    headline: bool = False
    exact: bool = False
    data: str = ""
    settings: list[Setting] = field(default_factory=list)
    registered: dict = field(default_factory=dict)

    def __post_init__(self):
        _check_id(self.id)
        for name in ("sentence", "quote"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} of claim {self.id!r} must not be empty")

    def test(self, id: str, words: str = "", *, estimate: tuple, **fields) -> Setting:
        """Add and return a `Setting` of this claim.

        Parameters
        ----------
        id, words : str
            See `Setting`; the claim must not have the id already.
        estimate : tuple of float
            Value, low, high and n of the setting.
        **fields
            What else a `Setting` has. Statistic, region and least number are by default what is
            registered of it, or else of its claim; and what a registered statistic has in braces
            must be given, too.
        """
        if any(setting.id == id for setting in self.settings):
            raise ValueError(f"id {id!r} is already the name of a setting")
        numbers = dict(zip(("value", "low", "high", "n"), estimate, strict=True))
        if self.registered:
            entry = self.registered | self.registered.get("settings", {}).get(id, {})
            lo, hi = entry["region"]
            region = (-math.inf if lo is None else lo, math.inf if hi is None else hi)
            names = {
                name: fields.pop(name) for name in list(fields) if f"{{{name}" in entry["statistic"]
            }
            statistic = fields.pop("statistic", None) or entry["statistic"].format(**names)
            fields = {"statistic": statistic, "region": region, "least": entry["least"]} | fields
        elif not {"statistic", "region"} <= fields.keys():
            line = f'{self.id}: {{"statistic": "...", "region": [0, null], "least": 30, "settings": {{}}}}'
            advice = f"give {id!r} statistic, region and least, or add there, in a clone of the book, such as\n{line}"
            raise ValueError(f"claim {self.id!r} is not in chapters/registered.yml: {advice}")
        self.settings.append(Setting(id, words, **numbers, **fields))
        return self.settings[-1]

    def to_dict(self, paper: str) -> dict:
        """Return it with its settings as strict JSON."""
        texts = {
            name: getattr(self, name)
            for name in ("id", "sentence", "quote", "headline", "exact", "data")
        }
        return {
            **texts,
            "paper": paper,
            "settings": [setting.to_dict() for setting in self.settings],
        }


class Claims:
    """The claims of one paper that a chapter tests; shows itself as a table of verdicts.

    Parameters
    ----------
    paper : str
        Key of the paper in ``references.bib``. What decides its claims is in the book's register
        (`read_register`).
    """

    def __init__(self, paper: str):
        self.paper = paper
        self._register = read_register(REGISTER.read_text("utf-8")) if REGISTER.is_file() else {}
        self._claims: dict[str, Claim] = {}

    def claim(self, id: str, sentence: str, *, quote: str, **fields) -> Claim:
        """Add and return a `Claim`, which `Claim.test` gives settings; an id that is there already is a ValueError."""
        if id in self._claims:
            raise ValueError(f"id {id!r} is already the name of a claim")
        self._claims[id] = Claim(
            id, sentence, quote, registered=self._register.get(id, {}), **fields
        )
        return self._claims[id]

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        records = [claim.to_dict(self.paper) for claim in self]
        lines = [f"{claim['sentence']} ({_MARKUP.sub('', outcome(claim))})" for claim in records]
        return {
            "text/plain": "\n".join(lines),
            "text/markdown": claim_tables(records),
            CLAIMS_JSON: records,
        }


def read_register(text: str) -> dict[str, dict]:
    """Return the entries of a register: what decides each claim, and what its settings have of their own.

    A line is ``id: {"statistic": "EM − {winnow}", "region": [0, null], "least": 30, "settings":
    {"id": {}}}``.
    """
    lines = [
        line.partition(": ") for line in text.splitlines() if line and not line.startswith("#")
    ]
    return {id: json.loads(entry) for id, _, entry in lines}


def claim_tables(records: list[dict]) -> str:
    """Return as MyST a table of a chapter's claims, and one of their settings, folded."""
    claims = [(outcome(r), literal(r["sentence"]), literal(f"“{r['quote']}”")) for r in records]
    settings = [
        (
            badge(s["verdict"]),
            literal(_about(claim, s)),
            literal(f"{s['statistic']}: {estimate(s)}"),
            region_words(s),
        )
        for claim in records
        for s in claim["settings"]
    ]
    folded = markdown_table(("Verdict", "Claim", "Here", "True if"), settings)
    table = markdown_table(("Verdict", "Claim", "Paper"), claims)
    return f"{table}\n\n:::{{dropdown}} Every setting, its statistic and interval\n{folded}\n:::"


def _about(claim: dict, setting: dict) -> str:
    paper = f" (paper: {setting['paper_value']})" if setting["paper_value"] is not None else ""
    return (
        f"{claim['sentence'].rstrip('.')}: {setting['words']}"
        if setting["words"]
        else claim["sentence"]
    ) + paper


def verdict_tally(claim: dict) -> dict[str, int]:
    """Return how many settings of a claim's record have each verdict that occurs, in the order of `SYMBOLS`."""
    return {
        verdict: n
        for verdict in SYMBOLS
        if (n := sum(s["verdict"] == verdict for s in claim["settings"]))
    }


def overall(claim: dict) -> str:
    """Return the verdict that all settings of a claim's record share, or "mixed"."""
    tally = verdict_tally(claim)
    return next(iter(tally)) if len(tally) == 1 else "mixed"


def outcome(claim: dict) -> str:
    """Return the verdicts of a claim's record as MyST, such as "✔ holds 6, ✘ fails 2 of 8 settings"."""
    tally, total = verdict_tally(claim), len(claim["settings"])
    if len(tally) == 1:
        where = f" in all {total} settings" if total > 1 else ""
        return badge(*tally) + where + (" (exact)" if claim["exact"] else "")
    return (
        ", ".join(f"{badge(verdict)} {count}" for verdict, count in tally.items())
        + f" of {total} settings"
    )


def _check_id(id: str) -> None:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id):
        raise ValueError(f"id must be kebab-case, such as 'em-beats-winnow'; got {id!r}")


def markdown_table(header: tuple, rows: list[tuple]) -> str:
    """Return a MyST table of cells in MyST (see `literal`); bars and line breaks inside a cell are made harmless."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


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
    return _BADGE.render(verdict=verdict, symbol=SYMBOLS[verdict])


def estimate(record: dict) -> str:
    """Return "value [low, high], n = ..." of a claim's record, with spaces that do not break inside a part.

    An interval that says nothing is left out, as that of a single trial or of fewer than the
    statistic needs.
    """
    value, low, high = (_show(record[name]) for name in ("value", "low", "high"))
    needed = f" of {record['least']} needed" if record["n"] < record["least"] else ""
    trials = f"n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{record['n']}{needed}"
    if record["value"] is None or needed:
        return f"{'unknown' if record['value'] is None else value}, {trials}"
    has_no_spread, says_nothing = (
        record["value"] == record["low"] == record["high"],
        high == "∞" and low in ("−∞", "0"),
    )
    if has_no_spread or says_nothing:
        return f"{value} (exact)" if has_no_spread and record["n"] <= 1 else f"{value}, {trials}"
    return f"{value} [{low},\N{NO-BREAK SPACE}{high}], {trials}"


def region_words(record: dict) -> str:
    """Return for which values the claim holds, such as "> 0"."""
    lo, hi = record["region"]
    if lo is None:
        return "any value" if hi is None else f"< {hi:g}"
    return f"> {lo:g}" if hi is None else f"between {lo:g} and {hi:g}"


def cell(text) -> str:
    """Return MyST text as a cell of a table: in one line, in which bars are none."""
    return " ".join(str(text).splitlines()).replace("|", "\\|")


def _show(number: float | str | None) -> str:
    if number is None:
        return "—"
    return number if isinstance(number, str) else f"{number:.3g}"


def _json_number(value) -> float | str | None:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return None if math.isnan(value) else float(f"{value:.6g}")
