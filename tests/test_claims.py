"""A verdict follows from interval and region alone, and nothing a claim says can break its table."""

import json
import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.claims import CLAIMS_JSON, SYMBOLS, Claim, Claims, Setting, estimate, outcome, overall

FIELDS = {"id": "a-setting", "words": "n = 10", "statistic": "mean", "n": 10}
FINITE = st.floats(-1e6, 1e6)
ABOVE = {"statistic": "mean", "region": (0.0, math.inf)}
ESTIMATES = {
    "holds": (2.0, 1.0, 3.0, 9),
    "fails": (-2.0, -3.0, -1.0, 9),
    "ambiguous": (1.0, -1.0, 3.0, 9),
    "too little data": (2.0, 1.0, 3.0, 4),
}


def setting(value, low, high, region=(0.0, math.inf), **changes):
    return Setting(
        **{**FIELDS, "value": value, "low": low, "high": high, "region": region, **changes}
    )


def claim(*verdicts, **fields):
    """A claim whose settings come out as these verdicts."""
    claim = Claim("a-claim", **{"sentence": "It is so.", "quote": "so", **fields})
    for i, verdict in enumerate(verdicts):
        claim.test(f"setting-{i}", f"n = {i}", estimate=ESTIMATES[verdict], min_trials=5, **ABOVE)
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
    assert (
        setting(low if math.isinf(high) else (low + high) / 2, low, high, region).verdict == verdict
    )


@pytest.mark.parametrize("hole", ["value", "low", "high"])
def test_nan_is_ambiguous(hole):
    numbers = {"value": 2.0, "low": 1.0, "high": 3.0, hole: math.nan}
    assert setting(**numbers).verdict == "ambiguous"


@given(st.tuples(FINITE, FINITE, FINITE), st.tuples(FINITE, FINITE))
def test_complementary_region_swaps_holds_and_fails(numbers, ends):
    low, value, high = sorted(numbers)
    cut = ends[0]
    assume(cut not in (low, high))
    above = setting(value, low, high, (cut, math.inf)).verdict
    below = setting(value, low, high, (-math.inf, cut)).verdict
    assert {"holds": "fails", "fails": "holds", "ambiguous": "ambiguous"}[above] == below


@pytest.mark.parametrize("n", [0, 4])
def test_fewer_trials_than_the_least_decide_nothing(n):
    assert setting(2.0, 1.0, 3.0, n=n, min_trials=5).verdict == "too little data"
    assert setting(math.nan, math.nan, math.nan, n=n, min_trials=5).verdict == "too little data"
    assert setting(2.0, 1.0, 3.0, n=5, min_trials=5).verdict == "holds"


def test_ids_are_used_once():
    claims = Claims("someone1999")
    one = claims.claim("a-claim", "It is so.", quote="so")
    one.test("a-setting", estimate=ESTIMATES["holds"], **ABOVE)
    with pytest.raises(ValueError, match="a-setting"):
        one.test("a-setting", estimate=ESTIMATES["holds"], **ABOVE)
    with pytest.raises(ValueError, match="a-claim"):
        claims.claim("a-claim", "It is so.", quote="so")
    assert [c.id for c in claims] == ["a-claim"]


def test_what_is_registered_decides(tmp_path, monkeypatch):
    entry = {"statistic": "mean of {learner}", "region": [0, None], "least": 5}
    entry["settings"] = {"b": {}, "c": {"statistic": "median", "region": [None, 1.5]}}
    (tmp_path / "register.yml").write_text(
        f"# A register.\na-claim: {json.dumps(entry)}\n", "utf-8"
    )
    monkeypatch.setattr("lib.claims.register.REGISTER", tmp_path / "register.yml")
    claims = Claims("someone1999")
    one = claims.claim("a-claim", "It is so.", quote="so")
    for id, words in (
        ("a", {"learner": "EM"}),
        ("b", {"learner": "COV"}),
        ("c", {}),
        ("d", {**ABOVE, "min_trials": 1}),
    ):
        one.test(id, estimate=ESTIMATES["holds"][:3] + (4,), anchor="there", **words)
    told = [(s.statistic, s.region, s.min_trials, s.anchor) for s in one.settings]
    above, below = (0, math.inf), (-math.inf, 1.5)
    assert told[:2] == [("mean of EM", above, 5, "there"), ("mean of COV", above, 5, "there")]
    assert told[2:] == [("median", below, 5, "there"), ("mean", above, 1, "there")]
    with pytest.raises(KeyError, match="learner"):
        one.test("e", estimate=ESTIMATES["holds"])
    with pytest.raises(TypeError, match="lerner"):
        one.test("e", estimate=ESTIMATES["holds"], learner="EM", lerner="EM")
    with pytest.raises(
        ValueError, match="'b-claim' is not in chapters/registered.yml: give 'a' statistic"
    ):
        claims.claim("b-claim", "It is so.", quote="so").test(
            "a", estimate=ESTIMATES["holds"], region=(0, 1)
        )


@given(st.lists(st.sampled_from(list(ESTIMATES)), min_size=1, max_size=6))
def test_the_outcome_counts_the_settings(verdicts):
    record = claim(*verdicts).to_dict("someone1999")
    assert overall(record) == (verdicts[0] if len(set(verdicts)) == 1 else "mixed")
    words = re.sub("<[^>]*>", "", outcome(record))
    if len(verdicts) == 1:
        assert words == f"{SYMBOLS[verdicts[0]]} {verdicts[0]}"
    elif len(set(verdicts)) == 1:
        assert words == f"{SYMBOLS[verdicts[0]]} {verdicts[0]} in all {len(verdicts)} settings"
    else:
        counts = {
            verdict: int(count) for verdict, count in re.findall(r"[^\w ] ([a-z ]+) (\d+)", words)
        }
        assert counts == {v: verdicts.count(v) for v in verdicts}
        assert words.endswith(f" of {len(verdicts)} settings")


def test_records_are_strict_json_with_six_digits():
    claims = Claims("someone1999")
    estimated = (1 / 3, -math.inf, math.nan, 3)
    claims.claim("a-claim", "It is so.", quote="so").test(
        "a", estimate=estimated, paper_value=2 / 3, **ABOVE
    )
    record = json.loads(json.dumps(claims._repr_mimebundle_()[CLAIMS_JSON], allow_nan=False))[0]
    (tested,) = record["settings"]
    assert (tested["value"], tested["low"], tested["high"]) == (0.333333, "−∞", None)
    assert (tested["region"], tested["paper_value"]) == ([0, None], 0.666667)
    assert (record["paper"], tested["verdict"]) == ("someone1999", "ambiguous")


@given(st.text(min_size=1).filter(str.strip))
def test_no_sentence_breaks_the_tables(sentence):
    claims = Claims("someone1999")
    claims.claim("a-claim", sentence, quote="so").test("a", estimate=ESTIMATES["holds"], **ABOVE)
    lines = claims._repr_mimebundle_()["text/markdown"].splitlines()
    assert len(lines) == 9
    assert [line.replace("\\|", "").count("|") for line in lines] == [4, 4, 4, 0, 0, 5, 5, 5, 0]


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
    record = setting(
        value=value, low=low, high=high, n=n, min_trials=3 if "needed" in words else 1
    ).to_dict()
    assert estimate(record).replace("\N{NO-BREAK SPACE}", " ") == words
