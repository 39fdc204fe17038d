"""What a run has decided, in words: counts of verdicts, and what it takes to have more."""

from collections import Counter

from lib.book.verdicts.chapter_claims import deciding_settings
from lib.claims import SYMBOLS

DECIDING = ("holds", "fails", "negligible")
TOO_LITTLE = "too little data"
N_NEEDS = 3  # numbers of units that are listed


def decision_lines(claims: list[dict]) -> list[str]:
    """Return what the claims of a run say of it: how many are decided, and how.

    Such as "12 of 16 claims are decided, 4 need n = 30 random models or more, as the defaults have"
    and "verdicts: holds 11, fails 1, too little data 4".

    Parameters
    ----------
    claims : list of dict
        As `lib.book.verdicts.chapter_claims.claims_in` returns them.
    """
    settings = deciding_settings(claims)
    if not settings:
        return []
    counts = Counter(setting["verdict"] for setting in settings)
    n_decided = sum(counts[verdict] for verdict in DECIDING)
    noun = "claim is" if len(settings) == 1 else "claims are"
    line = f"{n_decided} of {len(settings)} {noun} decided"
    if counts[TOO_LITTLE]:
        line += f", {_needs(settings)}, as the defaults have"
    verdicts = [f"{verdict} {counts[verdict]}" for verdict in SYMBOLS if counts[verdict]]
    return [line, f"verdicts: {', '.join(verdicts)}"]


def _needs(settings: list[dict]) -> str:
    """Return how many claims need how many units, the most frequent number first."""
    needs = Counter(
        (setting["least"], setting["unit"])
        for setting in settings
        if setting["verdict"] == TOO_LITTLE
    )
    phrases = []
    for (least, unit), count in needs.most_common(N_NEEDS):
        verb = "needs" if count == 1 else "need"
        phrases.append(f"{count} {verb} n = {least} {unit} or more")
    n_others = needs.total() - sum(count for _, count in needs.most_common(N_NEEDS))
    if n_others:
        phrases.append(f"{n_others} more of other units")
    return ", ".join(phrases)
