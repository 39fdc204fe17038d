"""A verdict follows from interval and region alone; nothing a claim says breaks its table."""

import json
import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.claims import CLAIMS_JSON, SYMBOLS, Claim, Claims, Setting, estimate, outcome, overall

FINITE = st.floats(-1e6, 1e6)
POSITIVE = (0.0, math.inf)
# Value, ends of the interval and number of trials, by the verdict for a positive region
ESTIMATES = {
    "holds": (2.0, 1.0, 3.0, 9),
    "fails": (-2.0, -3.0, -1.0, 9),
    "ambiguous": (1.0, -1.0, 3.0, 9),
    "too little data": (2.0, 1.0, 3.0, 4),
}
HOLDS = ESTIMATES["holds"]


def setting(value, low, high, region=POSITIVE, n=10, min_trials=1):
    return Setting(
        id="a-setting",
        words="n = 10",
        statistic="mean",
        region=region,
        value=value,
        low=low,
        high=high,
        n=n,
        min_trials=min_trials,
    )


def claim_with(verdicts):
    """A claim whose settings come out as these verdicts."""
    claim = Claim("a-claim", sentence="It is so.", quote="so")
    for i, verdict in enumerate(verdicts):
        claim.test(
            f"setting-{i}",
            f"n = {i}",
            estimate=ESTIMATES[verdict],
            min_trials=5,
            statistic="mean",
            region=POSITIVE,
        )
    return claim


@pytest.mark.parametrize(
    ("low", "high", "region", "verdict"),
    [
        (0.1, 0.3, (0, math.inf), "holds"),
        (-0.3, -0.1, (0, math.inf), "fails"),
        (-0.1, 0.1, (0, math.inf), "ambiguous"),
        (0.0, 0.1, (0, math.inf), "ambiguous"),  # the region is open
        (-0.1, 0.0, (0, math.inf), "fails"),
        (0.4, 0.6, (0, 1), "holds"),
        (0.4, 1.0, (0, 1), "ambiguous"),
        (1.0, 1.2, (0, 1), "fails"),
        (-1.0, 2.0, (0, 1), "ambiguous"),
        (0.0, math.inf, (0, math.inf), "ambiguous"),
    ],
)
def test_verdict(low, high, region, verdict):
    """It holds where the whole interval is in the region, and fails where nothing of it is."""
    value = low if math.isinf(high) else (low + high) / 2
    assert setting(value, low, high, region).verdict == verdict


@pytest.mark.parametrize("hole", ["value", "low", "high"])
def test_nan_is_ambiguous(hole):
    numbers = {"value": 2.0, "low": 1.0, "high": 3.0, hole: math.nan}
    assert setting(**numbers).verdict == "ambiguous"


@given(st.tuples(FINITE, FINITE, FINITE), st.tuples(FINITE, FINITE))
def test_complementary_region_swaps_holds_and_fails(numbers, ends):
    """Unless the cut is an end of the interval, as no region contains its own ends."""
    low, value, high = sorted(numbers)
    cut = ends[0]
    assume(cut not in (low, high))
    upper_verdict = setting(value, low, high, (cut, math.inf)).verdict
    lower_verdict = setting(value, low, high, (-math.inf, cut)).verdict
    opposite = {"holds": "fails", "fails": "holds", "ambiguous": "ambiguous"}
    assert opposite[upper_verdict] == lower_verdict


@pytest.mark.parametrize("n", [0, 4])
def test_fewer_trials_than_the_least_decide_nothing(n):
    assert setting(2.0, 1.0, 3.0, n=n, min_trials=5).verdict == "too little data"
    assert setting(math.nan, math.nan, math.nan, n=n, min_trials=5).verdict == "too little data"
    assert setting(2.0, 1.0, 3.0, n=5, min_trials=5).verdict == "holds"


def test_ids_are_used_once():
    claims = Claims("someone1999")
    claim = claims.claim("a-claim", "It is so.", quote="so")
    claim.test("a-setting", estimate=HOLDS, statistic="mean", region=POSITIVE)
    with pytest.raises(ValueError, match="a-setting"):
        claim.test("a-setting", estimate=HOLDS, statistic="mean", region=POSITIVE)
    with pytest.raises(ValueError, match="a-claim"):
        claims.claim("a-claim", "It is so.", quote="so")
    assert [c.id for c in claims] == ["a-claim"]


def test_what_is_registered_decides(tmp_path, monkeypatch):
    """The statistic, region and least number of a setting, else those of its claim."""
    entry = {
        "statistic": "mean of {learner}",
        "region": [0, None],
        "least": 5,
        "settings": {"b": {}, "c": {"statistic": "median", "region": [None, 1.5]}},
    }
    register = tmp_path / "register.yml"
    register.write_text(f"# A register.\na-claim: {json.dumps(entry)}\n", "utf-8")
    monkeypatch.setattr("lib.claims.register.REGISTER", register)
    claims = Claims("someone1999")
    claim = claims.claim("a-claim", "It is so.", quote="so")
    four_trials = (2.0, 1.0, 3.0, 4)
    claim.test("a", estimate=four_trials, anchor="there", learner="EM")
    claim.test("b", estimate=four_trials, anchor="there", learner="COV")
    claim.test("c", estimate=four_trials, anchor="there")
    # what a chapter gives itself comes first
    claim.test(
        "d", estimate=four_trials, anchor="there", statistic="mean", region=POSITIVE, min_trials=1
    )
    fields = [(s.statistic, s.region, s.min_trials, s.anchor) for s in claim.settings]
    assert fields == [
        ("mean of EM", (0, math.inf), 5, "there"),
        ("mean of COV", (0, math.inf), 5, "there"),
        ("median", (-math.inf, 1.5), 5, "there"),
        ("mean", (0, math.inf), 1, "there"),
    ]
    with pytest.raises(KeyError, match="learner"):
        claim.test("e", estimate=HOLDS)
    with pytest.raises(TypeError, match="lerner"):
        claim.test("e", estimate=HOLDS, learner="EM", lerner="EM")
    unregistered_claim = claims.claim("b-claim", "It is so.", quote="so")
    message = "'b-claim' is not in chapters/registered.yml: give 'a' statistic"
    with pytest.raises(ValueError, match=message):
        unregistered_claim.test("a", estimate=HOLDS, region=(0, 1))


@given(st.lists(st.sampled_from(list(ESTIMATES)), min_size=1, max_size=6))
def test_the_outcome_counts_the_settings(verdicts):
    fields = claim_with(verdicts).to_dict("someone1999")
    is_unanimous = len(set(verdicts)) == 1
    first = verdicts[0]
    assert overall(fields) == (first if is_unanimous else "mixed")
    text = re.sub("<[^>]*>", "", outcome(fields))
    if len(verdicts) == 1:
        assert text == f"{SYMBOLS[first]} {first}"
    elif is_unanimous:
        assert text == f"{SYMBOLS[first]} {first} in all {len(verdicts)} settings"
    else:
        counts = {}
        for verdict, count in re.findall(r"[^\w ] ([a-z ]+) (\d+)", text):
            counts[verdict] = int(count)
        assert counts == {v: verdicts.count(v) for v in verdicts}
        assert text.endswith(f" of {len(verdicts)} settings")


def test_records_are_strict_json_with_six_digits():
    claims = Claims("someone1999")
    claims.claim("a-claim", "It is so.", quote="so").test(
        "a",
        estimate=(1 / 3, -math.inf, math.nan, 3),
        paper_value=2 / 3,
        statistic="mean",
        region=POSITIVE,
    )
    text = json.dumps(claims._repr_mimebundle_()[CLAIMS_JSON], allow_nan=False)
    fields = json.loads(text)[0]
    assert fields["paper"] == "someone1999"
    (setting_fields,) = fields["settings"]
    assert setting_fields["value"] == 0.333333
    assert setting_fields["low"] == "−∞"
    assert setting_fields["high"] is None
    assert setting_fields["region"] == [0, None]
    assert setting_fields["paper_value"] == 0.666667
    assert setting_fields["verdict"] == "ambiguous"


@given(st.text(min_size=1).filter(str.strip))
def test_no_sentence_breaks_the_tables(sentence):
    claims = Claims("someone1999")
    claim = claims.claim("a-claim", sentence, quote="so")
    claim.test("a", estimate=HOLDS, statistic="mean", region=POSITIVE)
    lines = claims._repr_mimebundle_()["text/markdown"].splitlines()
    # Two tables, of three columns and of four, each with a head, a rule and one row
    n_bars = [line.replace("\\|", "").count("|") for line in lines]
    assert n_bars == [4, 4, 4, 0, 0, 5, 5, 5, 0]


@pytest.mark.parametrize(
    ("value", "low", "high", "n", "words"),
    [
        (0.5, 0.5, 0.5, 1, "0.5 (exact)"),
        (0.5, 0.5, 0.5, 7, "0.5, n = 7"),
        (1.0402, 1.0401, 1.0403, 1, "1.04 [1.04, 1.04], n = 1"),
        (math.nan, math.nan, math.nan, 0, "unknown, n = 0 of 3 needed"),
        (math.nan, math.nan, math.nan, 4, "unknown, n = 4"),
        (0.5, -math.inf, math.inf, 1, "0.5, n = 1"),
        (0.5, 0.0, math.inf, 1, "0.5, n = 1"),
        (0.5, 0.25, math.inf, 3, "0.5 [0.25, ∞], n = 3"),
        (0.5, -11.0, 10.0, 2, "0.5, n = 2 of 3 needed"),
    ],
)
def test_only_an_estimate_without_spread_is_called_exact(value, low, high, n, words):
    min_trials = 3 if "needed" in words else 1
    fields = setting(value, low, high, n=n, min_trials=min_trials).to_dict()
    assert estimate(fields).replace("\N{NO-BREAK SPACE}", " ") == words
