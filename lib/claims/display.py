"""How claims are shown: verdicts as badges, estimates and regions in words, tables in MyST.

A claim or a setting is here what `Claim.to_dict` or `Setting.to_dict` returns.
"""

from lib.claims.myst import literal, markdown_table
from lib.claims.setting import SYMBOLS

MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"
WORST_FIRST = (
    "fails",
    "negligible",
    "undecided",
    "too imprecise",
    "too little data",
    "holds",
)
SETTING_COLUMNS = ("Verdict", "Claim", "Here", "True if", "Same in a re-run")


def claim_tables(claims: list[dict]) -> str:
    """Return as MyST a table of a chapter's claims, and one of their settings, folded."""
    claim_rows = []
    setting_rows = []
    for claim in claims:
        quote = f"“{claim['quote']}”"
        claim_rows.append((outcome(claim), literal(claim["sentence"]), literal(quote)))
        for setting in claim["settings"]:
            statistic = f"{setting['statistic']}: {estimate(setting)}"
            setting_rows.append(
                (
                    badge(setting["verdict"]),
                    literal(_setting_sentence(claim, setting)),
                    literal(statistic),
                    region_words(setting),
                    rerun_words(setting),
                )
            )
    claims_table = markdown_table(("Verdict", "Claim", "Paper"), claim_rows)
    settings_table = markdown_table(SETTING_COLUMNS, setting_rows)
    title = "Every setting, its statistic and interval"
    return f"{claims_table}\n\n:::{{dropdown}} {title}\n{settings_table}\n:::"


def _setting_sentence(claim: dict, setting: dict) -> str:
    """Return the claim's sentence with what is special about a setting and the paper's number."""
    sentence = claim["sentence"]
    if setting["words"]:
        sentence = f"{sentence.rstrip('.')}: {setting['words']}"
    if setting["paper_value"] is not None:
        sentence += f" (paper: {setting['paper_value']})"
    return sentence


def verdict_tally(claim: dict) -> dict[str, int]:
    """Return how many settings of a claim have each verdict that occurs.

    The verdicts are in the order of `SYMBOLS`.
    """
    verdicts = [setting["verdict"] for setting in claim["settings"]]
    return {verdict: verdicts.count(verdict) for verdict in SYMBOLS if verdict in verdicts}


def overall(claim: dict) -> str:
    """Return the verdict that all settings of a claim share, or "mixed"."""
    verdicts = list(verdict_tally(claim))
    return verdicts[0] if len(verdicts) == 1 else "mixed"


def outcome(claim: dict) -> str:
    """Return a claim's verdicts as MyST, such as "✔ holds 6, ✘ fails 2 of 8 settings"."""
    tally = verdict_tally(claim)
    n_settings = len(claim["settings"])
    if len(tally) != 1:
        counts = ", ".join(f"{badge(verdict)} {count}" for verdict, count in tally.items())
        return f"{counts} of {n_settings} settings"
    words = badge(overall(claim))
    if n_settings > 1:
        words += f" in all {n_settings} settings"
    if claim["exact"]:
        words += " (exact)"
    return words


def weakest_setting(claim: dict) -> dict:
    """Return the setting that says least for a claim: of the worst verdict, the least sure."""
    ranks = {verdict: rank for rank, verdict in enumerate(WORST_FIRST)}

    def weakness(setting):
        chance = setting["rerun_chance"]
        return ranks[setting["verdict"]], 1.0 if chance is None else chance

    return min(claim["settings"], key=weakness)


def badge(verdict: str) -> str:
    """Return the verdict with its symbol, as a span that the book's style sheet colours."""
    style = f"verdict-{verdict.replace(' ', '-')}"
    return f'<span class="verdict {style}">{SYMBOLS[verdict]} {verdict}</span>'


def estimate(setting: dict) -> str:
    """Return "value [low, high], n = 80 models" of a setting, with spaces that do not break.

    An interval that says nothing is left out, such as that of a single trial or of fewer trials
    than the statistic needs.
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
    low = _number_words(setting["low"])
    high = _number_words(setting["high"])
    return f"{value} [{low},{_SPACE}{high}], {units}"


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
    chance = setting["rerun_chance"]
    if chance is None:
        return ""
    # 100% would say that it is certain
    return "> 99%" if chance > 0.99 else f"{chance:.0%}"


def _number_words(number: float | str | None) -> str:
    """Return a number of a setting with three significant digits; an infinite one is a text."""
    if number is None:
        return "—"
    return number if isinstance(number, str) else f"{number:.3g}".replace("-", MINUS)
