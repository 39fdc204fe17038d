"""The sentences of a paper, tested: statistics with intervals, their verdicts, and their tables.

A claim is one sentence of a paper. A setting is one condition in which it is tested: a statistic
with its interval, from which the verdict follows.
"""

from lib.claims.claim import CLAIMS_JSON, Claim, Claims, claim_with_id
from lib.claims.myst import cell, code, literal, markdown_table
from lib.claims.register import REGISTER, read_register
from lib.claims.setting import MANY_DEGREES, STABLE, SYMBOLS, Setting, rerun_chance
from lib.claims.strips import as_number
from lib.claims.tables import (
    KINDS,
    badge,
    chance_words,
    distance_of_paper,
    estimate,
    outcome,
    outcome_words,
    overall,
    paper_words,
    place_of_paper,
    primary_setting,
    region_words,
    rerun_words,
)
