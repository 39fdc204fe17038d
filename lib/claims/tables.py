"""How claims are shown: verdicts as badges, estimates and regions in words, tables in Markdown.

A claim or a setting is here what `Claim.to_dict` or `Setting.to_dict` returns.
"""

from collections import Counter

from lib.claims.myst import code, literal, markdown_table
from lib.claims.setting import SYMBOLS
from lib.claims.strips import LEGEND, strips

MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"
# How claims are counted: those that an interval decides by their verdict, others apart.
KINDS = SYMBOLS | {"exact": "=", "table": "▤"}
# What is said of one claim, and of several.
VERBS = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "negligible": ("is negligible", "are negligible"),
    "undecided": ("is undecided", "are undecided"),
    "too little data": ("has too little data", "have too little data"),
    "exact": ("is exact", "are exact"),
    "exact and holds": ("is exact and holds", "are exact and hold"),
    "exact and fails": ("is exact and fails", "are exact and fail"),
    "table": ("is a table without a verdict", "are tables without a verdict"),
}
CLAIM_COLUMNS = ("Claim", "Here", "Value", "Matters from", "n")
FOLD_TITLE = "Every setting as a picture; the first of a claim decides, unless it is a table"


def claims_summary(claims: list[dict]) -> str:
    """Return in Markdown, which any viewer shows, what became of a chapter's claims.

    A line counts them, a table has the primary setting of each, and a fold has every setting.
    """
    rows = []
    for claim in claims:
        setting = primary_setting(claim)
        number, units = _number_and_units(setting)
        rows.append(
            (
                literal(_primary_sentence(claim)),
                outcome(claim),
                number,
                f"{setting['margin']:g}" if setting["margin"] else "",
                units,
            )
        )
    claims_table = markdown_table(CLAIM_COLUMNS, rows)
    fold = f"<details class='strips'><summary>{FOLD_TITLE}</summary>\n\n{_settings_tables(claims)}\n\n</details>"
    return f"{count_words(claims)}\n\n{claims_table}\n\n{fold}"


def count_words(claims: list[dict]) -> str:
    """Return what became of claims in one sentence, such as "Of 7 claims, 5 hold and 2 fail."."""
    counts = Counter(_counted_kind(claim) for claim in claims)
    if len(counts) == 1 and len(claims) > 1:
        [kind] = counts
        number = "Both" if len(claims) == 2 else f"All {len(claims)}"
        return f"{number} claims {VERBS[kind][1]}."
    phrases = []
    for kind, (singular, plural) in VERBS.items():
        if counts[kind]:
            phrases.append(f"{counts[kind]} {singular if counts[kind] == 1 else plural}")
    return f"Of {len(claims)} claim{'s' if len(claims) > 1 else ''}, {_listing(phrases)}."


def _counted_kind(claim: dict) -> str:
    """Return `overall`, and of an exact claim whether it holds."""
    kind = overall(claim)
    return f"exact and {primary_setting(claim)['verdict']}" if kind == "exact" else kind


def _listing(phrases: list[str]) -> str:
    *first_phrases, last_phrase = phrases
    if not first_phrases:
        return last_phrase
    has_and = any(" and " in phrase for phrase in phrases)
    return f"{', '.join(first_phrases)}{', and' if has_and else ' and'} {last_phrase}"


def _number_and_units(setting: dict) -> tuple[str, str]:
    """Return `estimate` in two parts: value and intervals, and the units; "" of what is exact."""
    words, semicolon, like_words = estimate(setting).partition("; ")
    number, _, units = words.partition(f", n{_SPACE}={_SPACE}")
    return number + semicolon + like_words, units


def _settings_tables(claims: list[dict]) -> str:
    """Return a legend, and of each claim a table with a strip for each setting (see `strips`)."""
    return "\n\n".join([LEGEND, *map(_settings_table, claims)])


def _settings_table(claim: dict) -> str:
    primary = primary_setting(claim)
    settings = [primary, *(s for s in claim["settings"] if s is not primary)]
    rows = []
    for setting, strip in zip(settings, strips(settings), strict=True):
        decides = setting is primary and claim["kind"] != "table"
        condition = _condition(setting, primary, decides)
        if decides:
            condition = f"{badge(setting['verdict'])} {condition}"
        rows.append((code(strip) if strip else "", condition, *_number_and_units(setting)))
    sentence = f"{claim['sentence'].rstrip('.')}: true if {region_words(primary)}"
    return markdown_table(("Interval", literal(sentence), "Value", "n"), rows)


def _condition(setting: dict, primary: dict, decides: bool) -> str:
    """Return what is special about a setting; of what it shares with the primary one nothing."""
    phrases = [setting["words"], paper_words(setting)]
    if setting is primary or setting["statistic"] != primary["statistic"]:
        phrases.append(setting["statistic"])
    if region_words(setting) != region_words(primary):
        phrases.append(f"true if {region_words(setting)}")
    if decides:
        if setting["deciding"]:
            phrases.append(f"{setting['deciding']} would decide it")
        if chance := rerun_words(setting):
            phrases.append(f"the same in a re-run: {chance}")
    return literal("; ".join(filter(None, phrases)))


def _primary_sentence(claim: dict) -> str:
    """Return the claim's sentence, and which of several settings decides it."""
    words = primary_setting(claim)["words"]
    if len(claim["settings"]) == 1 or not words:
        return claim["sentence"]
    return f"{claim['sentence'].rstrip('.')}: {words}"


def primary_setting(claim: dict) -> dict:
    """Return the primary setting of a claim, which decides it unless it is a table."""
    return next(s for s in claim["settings"] if s["id"] == claim["primary"])


def overall(claim: dict) -> str:
    """Return how a claim is counted: by its verdict, or as "exact" or "table"."""
    return claim["kind"] or primary_setting(claim)["verdict"]


def outcome(claim: dict) -> str:
    """Return what became of a claim as MyST, such as "✔ holds" or "✔ holds (exact)"."""
    if claim["kind"] == "table":
        return badge("table")
    words = badge(primary_setting(claim)["verdict"])
    return f"{words} (exact)" if claim["kind"] == "exact" else words


def outcome_words(claim) -> str:
    """Return what became of a `Claim` as the end of a sentence, such as "holds", "is undecided"."""
    return VERBS[claim.primary.verdict][0] if claim.settings else "was not tested"


def badge(verdict: str) -> str:
    """Return a verdict, or how a claim is counted, with its symbol, as a span that the book's style sheet colours."""
    style = f"verdict-{verdict.replace(' ', '-')}"
    return f'<span class="verdict {style}">{KINDS[verdict]} {verdict}</span>'


def estimate(setting: dict) -> str:
    """Return "value [low, high], n = 80 models" of a setting, with spaces that do not break.

    Of a mean over the data sets that were run, the interval for sets like these follows. An
    interval that says nothing is left out, such as that of a single trial or of fewer trials than
    the statistic needs.
    """
    n = setting["n"]
    has_too_few = n < setting["least"]
    units = f"n{_SPACE}={_SPACE}{n} {setting['unit']}"
    if has_too_few:
        units += f" of {setting['least']} needed"

    if setting["value"] is None:
        return f"unknown, {units}"
    value = _number_words(setting["value"])
    if has_too_few:
        return f"{value}, {units}"

    has_no_width = setting["value"] == setting["low"] == setting["high"]
    if has_no_width and setting["exact"]:
        return f"{value} (exact)"
    # 0 is the lower end of a ratio, of which nothing is known
    is_unbounded = setting["high"] == "∞" and setting["low"] in ("−∞", 0)
    if has_no_width or is_unbounded:
        return f"{value}, {units}"
    words = f"{value} {_interval_words(setting['low'], setting['high'])}, {units}"
    if setting.get("like_low") is None:
        return words
    like_interval = _interval_words(setting["like_low"], setting["like_high"])
    return f"{words}; on sets like these {like_interval}"


def paper_words(setting: dict) -> str:
    """Return the paper's own number, and whether it lies in our interval; "" where it has none."""
    value = setting["paper_value"]
    if value is None:
        return ""
    place = place_of_paper(setting)
    source = setting["paper_source"]
    number = value if isinstance(value, str) else _number_words(value)
    words = [f"{number} ({source})" if source else number]
    if place:
        words.append(f"{place} our interval")
    return f"the paper has {', '.join(words)}"


def place_of_paper(setting: dict) -> str:
    """Return where the paper's number lies: "inside" our interval, "outside" it; else ""."""
    numbers = (setting["paper_value"], setting["low"], setting["high"])
    if not all(isinstance(number, int | float) for number in numbers):
        return ""
    value, low, high = numbers
    if not low < high:
        return ""
    return "inside" if low <= value <= high else "outside"


def distance_of_paper(setting: dict) -> float | None:
    """Return how far the paper's number is from ours; None where `place_of_paper` says nothing.

    It is counted in halves of our interval, of the one on the paper's side: above 1 is outside.
    """
    if not place_of_paper(setting):
        return None
    paper, value = setting["paper_value"], setting["value"]
    half_width = abs((setting["low"] if paper < value else setting["high"]) - value)
    return abs(paper - value) / half_width if half_width else None


def region_words(setting: dict) -> str:
    """Return for which values the claim holds, such as "> 0; what matters: 0.05"."""
    low, high = setting["region"]
    if low is None and high is None:
        return "any value"
    if low is not None and high is not None:
        words = f"between {low:g} and {high:g}"
    else:
        words = f"< {high:g}" if low is None else f"> {low:g}"
        if setting["margin"] > 0:
            words += f"; what matters: {setting['margin']:g}"
    return words.replace("-", MINUS)


def rerun_words(setting: dict) -> str:
    """Return the chance that another run says the same, such as "93%"; "" where none is known."""
    return chance_words(setting["rerun_chance"])


def chance_words(chance: float | None) -> str:
    """Return a chance such as "93%"; "" where none is known."""
    if chance is None:
        return ""
    # 100% would say that it is certain
    return "> 99%" if chance > 0.99 else f"{chance:.0%}"


def _interval_words(low, high) -> str:
    return f"[{_number_words(low)},{_SPACE}{_number_words(high)}]"


def _number_words(number: float | str | None) -> str:
    """Return a number of a setting with three significant digits; an infinite one is a text."""
    if number is None:
        return "—"
    return number if isinstance(number, str) else f"{number:.3g}".replace("-", MINUS)
