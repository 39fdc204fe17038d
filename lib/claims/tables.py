"""How claims are shown: verdicts as badges, estimates and regions in words, tables in MyST.

A claim or a setting is here what `Claim.to_dict` or `Setting.to_dict` returns.
"""

from collections import Counter

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
# What is said of one claim, and of several.
VERBS = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "negligible": ("is negligible", "are negligible"),
    "undecided": ("is undecided", "are undecided"),
    "too imprecise": ("is too imprecise", "are too imprecise"),
    "too little data": ("has too little data", "have too little data"),
    "mixed": ("differs between its settings", "differ between their settings"),
}
CLAIM_COLUMNS = ("Claim of the paper", "Here", "Value", "Margin", "Independent samples")
FOLD_TITLE = "Every setting, its statistic and interval"
SETTING_COLUMNS = ("Verdict", "Claim", "Here", "True if", "Same in a re-run")


def claim_tables(claims: list[dict]) -> str:
    """Return as MyST a table of a chapter's claims, and one of their settings, folded."""
    claim_rows = []
    for claim in claims:
        quote = f"“{claim['quote']}”"
        claim_rows.append((outcome(claim), literal(claim["sentence"]), literal(quote)))
    claims_table = markdown_table(("Verdict", "Claim", "Paper"), claim_rows)
    return f"{claims_table}\n\n:::{{dropdown}} {FOLD_TITLE}\n{_settings_table(claims)}\n:::"


def claims_summary(claims: list[dict]) -> str:
    """Return in Markdown, which any viewer shows, what became of a chapter's claims.

    A line counts them, a table has the weakest setting of each, and a fold has every setting.
    """
    rows = []
    for claim in claims:
        setting = weakest_setting(claim)
        number, comma, units = estimate(setting).partition(f", n{_SPACE}={_SPACE}")
        rows.append(
            (
                literal(claim["sentence"]),
                outcome(claim),
                number,
                f"{setting['margin']:g}" if setting["margin"] else "",
                units if comma else "",  # what is exact has none
            )
        )
    claims_table = markdown_table(CLAIM_COLUMNS, rows)
    fold = f"<details><summary>{FOLD_TITLE}</summary>\n\n{_settings_table(claims)}\n\n</details>"
    words = count_words(claims)
    if any(len(claim["settings"]) > 1 for claim in claims):
        words += " The value is that of the weakest setting of each claim."
    return f"{words}\n\n{claims_table}\n\n{fold}"


def count_words(claims: list[dict]) -> str:
    """Return what became of claims in one sentence, such as "Of 7 claims, 5 hold and 2 fail."."""
    counts = Counter(overall(claim) for claim in claims)
    phrases = []
    for kind, (singular, plural) in VERBS.items():
        if counts[kind]:
            phrases.append(f"{counts[kind]} {singular if counts[kind] == 1 else plural}")
    return f"Of {len(claims)} claim{'s' if len(claims) > 1 else ''}, {_listing(phrases)}."


def _listing(phrases: list[str]) -> str:
    *first_phrases, last_phrase = phrases
    return f"{', '.join(first_phrases)} and {last_phrase}" if first_phrases else last_phrase


def _settings_table(claims: list[dict]) -> str:
    rows = []
    for claim in claims:
        for setting in claim["settings"]:
            statistic = f"{setting['statistic']}: {estimate(setting)}"
            rows.append(
                (
                    badge(setting["verdict"]),
                    literal(_setting_sentence(claim, setting)),
                    literal(statistic),
                    region_words(setting),
                    rerun_words(setting),
                )
            )
    return markdown_table(SETTING_COLUMNS, rows)


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


def outcome_words(claim) -> str:
    """Return what became of a `Claim` as the end of a sentence, such as "holds in 1 of 2 settings".

    Or "is undecided in all 2 settings", "fails".
    """
    counts = Counter(setting.verdict for setting in claim.settings)
    n_settings = len(claim.settings)
    if not counts:
        return "was not tested"
    phrases = []
    for verdict in SYMBOLS:
        if verdict in counts:
            phrases.append(_in_settings(VERBS[verdict][0], counts[verdict], n_settings))
    return _listing(phrases)


def _in_settings(verb: str, count: int, n_settings: int) -> str:
    """Return "holds", "holds in all 2 settings" or "holds in 1 of 2 settings"."""
    if n_settings == 1:
        return verb
    share = f"all {n_settings}" if count == n_settings else f"{count} of {n_settings}"
    return f"{verb} in {share} settings"


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
