"""A verdict follows from interval and region alone, and nothing a claim says can break its table."""

import json
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.claims import CLAIMS_JSON, Claim, Claims, estimate

FIELDS = {"id": "a-claim", "sentence": "It is so.", "quote": "so", "statistic": "mean", "n": 10}
FINITE = st.floats(-1e6, 1e6)


def claim(value, low, high, region=(0.0, math.inf), **changes):
    return Claim(**{**FIELDS, "value": value, "low": low, "high": high, "region": region, **changes})


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
    assert claim(low if math.isinf(high) else (low + high) / 2, low, high, region).verdict == verdict


@pytest.mark.parametrize("hole", ["value", "low", "high"])
def test_nan_is_ambiguous(hole):
    numbers = {"value": 2.0, "low": 1.0, "high": 3.0, hole: math.nan}
    assert claim(**numbers).verdict == "ambiguous"


@given(st.tuples(FINITE, FINITE, FINITE), st.tuples(FINITE, FINITE))
def test_complementary_region_swaps_holds_and_fails(numbers, ends):
    low, value, high = sorted(numbers)
    cut = ends[0]
    assume(cut not in (low, high))
    above = claim(value, low, high, (cut, math.inf)).verdict
    below = claim(value, low, high, (-math.inf, cut)).verdict
    assert {"holds": "fails", "fails": "holds", "ambiguous": "ambiguous"}[above] == below


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("id", {"id": "Not Kebab"}),
        ("sentence", {"sentence": " "}),
        ("n", {"n": -1}),
        ("region", {"region": (1, 1)}),
        ("low, value and high", {"low": 0.5}),
        ("low, value and high", {"high": 0.1}),
    ],
)
def test_errors_name_the_field(field, wrong):
    with pytest.raises(ValueError, match=f"^{field} "):
        claim(**{"value": 0.2, "low": 0.1, "high": 0.3, **wrong})


def test_an_id_is_used_once():
    claims = Claims(paper="someone1999")
    claims.add(**FIELDS, value=1, low=0, high=2, region=(0, 3))
    with pytest.raises(ValueError, match="a-claim"):
        claims.add(**FIELDS, value=1, low=0, high=2, region=(0, 3))
    assert [c.id for c in claims] == ["a-claim"]


def test_records_are_strict_json_with_six_digits():
    claims = Claims(paper="someone1999")
    claims.add(**FIELDS, value=1 / 3, low=-math.inf, high=math.nan, region=(0, math.inf), paper_value=2 / 3)
    record = json.loads(json.dumps(claims._repr_mimebundle_()[CLAIMS_JSON], allow_nan=False))[0]
    assert (record["value"], record["low"], record["high"]) == (0.333333, "−∞", None)
    assert (record["region"], record["paper_value"]) == ([0, None], 0.666667)
    assert (record["paper"], record["verdict"]) == ("someone1999", "ambiguous")


@given(st.text(min_size=1).filter(str.strip))
def test_no_sentence_breaks_the_table(sentence):
    claims = Claims(paper="someone1999")
    claims.add(**{**FIELDS, "sentence": sentence}, value=1, low=0, high=2, region=(0, 3))
    table = claims._repr_mimebundle_()["text/markdown"]
    assert len(table.splitlines()) == 5
    assert table.replace("\\|", "").count("|") == 15


def test_an_estimate_stands_for_its_four_numbers():
    claims = Claims("groveroth1997")
    common = {"sentence": "It is so.", "quote": "so", "statistic": "mean", "region": (0.0, math.inf)}
    short = claims.add(id="a", estimate=(2.0, 1.0, 3.0, 7), **common)
    assert (short.value, short.low, short.high, short.n, short.verdict) == (2.0, 1.0, 3.0, 7, "holds")
    with pytest.raises(ValueError, match="zip"):
        claims.add(id="b", estimate=(2.0, 1.0, 3.0), **common)


def test_a_number_without_an_interval_is_called_exact():
    claims = Claims("groveroth1997")
    fields = {**FIELDS, "value": 0.0, "low": 0.0, "high": 0.0, "region": (-1.0, 1.0)}
    claims.add(**fields | {"id": "computed", "n": 1})
    claims.add(**fields | {"id": "sampled", "n": 30})
    shown = claims._repr_mimebundle_()["text/markdown"]
    assert shown.count("0 (exact)") == 1
    assert "0, n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}30" in shown


@pytest.mark.parametrize(
    ("value", "low", "high", "n", "words"),
    [
        (0.5, 0.5, 0.5, 1, "0.5 (exact)"),
        (0.5, 0.5, 0.5, 7, "0.5, n = 7"),
        (1.0402, 1.0401, 1.0403, 1, "1.04 [1.04, 1.04], n = 1"),
        (math.nan, math.nan, math.nan, 0, "unknown, n = 0"),
    ],
)
def test_only_an_estimate_without_spread_is_called_exact(value, low, high, n, words):
    record = claim(value=value, low=low, high=high, n=n).to_dict("someone1999")
    assert estimate(record).replace("\N{NO-BREAK SPACE}", " ") == words
