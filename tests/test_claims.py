"""What a claim says of itself: registered rules, counts of verdicts, tables, strict JSON."""

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.claims import SYMBOLS, Claim, Claims, Setting, estimate, outcome, overall, paper_words
from lib.claims.strips import WIDTH, strips
from lib.claims.tables import claims_summary

POSITIVE = (0.0, math.inf)
MARGIN = 0.5
# Value, ends of the interval and number of units, by the verdict for a positive region
ESTIMATES = {
    "holds": (2.0, 1.0, 3.0, 9),
    "fails": (-2.0, -3.0, -1.0, 9),
    "negligible": (0.1, -0.2, 0.3, 9),
    "undecided": (0.2, -0.2, 0.6, 9),
    "too little data": (2.0, 1.0, 3.0, 4),
}
HOLDS = ESTIMATES["holds"]


def setting(value, low, high, region=POSITIVE, n=10, min_trials=1, exact=False):
    return Setting(
        id="a-setting",
        words="n = 10",
        statistic="mean",
        region=region,
        margin=MARGIN if math.inf in map(abs, region) and not exact else 0.0,
        unit="books",
        exact=exact,
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
            margin=MARGIN,
        )
    return claim


@pytest.mark.parametrize("hole", ["value", "low", "high"])
def test_an_unknown_number_decides_nothing(hole):
    numbers = {"value": 2.0, "low": 1.0, "high": 3.0, hole: math.nan}
    assert setting(**numbers).verdict == "undecided"


@pytest.mark.parametrize("n", [0, 4])
def test_fewer_trials_than_the_least_decide_nothing(n):
    assert setting(2.0, 1.0, 3.0, n=n, min_trials=5).verdict == "too little data"
    assert setting(math.nan, math.nan, math.nan, n=n, min_trials=5).verdict == "too little data"
    assert setting(2.0, 1.0, 3.0, n=5, min_trials=5).verdict == "holds"


def test_ids_are_used_once():
    claims = Claims("someone1999")
    claim = claims.claim("a-claim", "It is so.", quote="so")
    claim.test("a-setting", estimate=HOLDS, statistic="mean", region=POSITIVE, margin=MARGIN)
    with pytest.raises(ValueError, match="a-setting"):
        claim.test("a-setting", estimate=HOLDS, statistic="mean", region=POSITIVE, margin=MARGIN)
    with pytest.raises(ValueError, match="a-claim"):
        claims.claim("a-claim", "It is so.", quote="so")
    assert [c.id for c in claims] == ["a-claim"]


def test_what_is_registered_decides(tmp_path, monkeypatch):
    """Statistic, region, margin, unit and least number of a setting, else those of its claim."""
    entry = {
        "statistic": "mean of {learner}",
        "region": [0, None],
        "margin": 0.5,
        "least": 5,
        "unit": "models",
        "settings": {"b": {}, "c": {"statistic": "median", "region": [None, 1.5], "margin": 0.2}},
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
        "d",
        estimate=four_trials,
        anchor="there",
        statistic="mean",
        region=POSITIVE,
        margin=0.1,
        unit="books",
        min_trials=1,
    )
    fields = [
        (s.statistic, s.region, s.margin, s.min_trials, s.unit, s.anchor) for s in claim.settings
    ]
    assert fields == [
        ("mean of EM", (0, math.inf), 0.5, 5, "models", "there"),
        ("mean of COV", (0, math.inf), 0.5, 5, "models", "there"),
        ("median", (-math.inf, 1.5), 0.2, 5, "models", "there"),
        ("mean", (0, math.inf), 0.1, 1, "books", "there"),
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
def test_one_setting_decides(verdicts):
    """The one that is registered as primary; the first where a run leaves that out."""
    claim = claim_with(verdicts)
    for number, setting in enumerate(claim.settings):
        claim.registered = {"primary": setting.id}
        fields = claim.to_dict("someone1999")
        assert overall(fields) == verdicts[number]
        text = re.sub("<[^>]*>", "", outcome(fields))
        assert text == f"{SYMBOLS[verdicts[number]]} {verdicts[number]}"
    claim.registered = {"primary": "of-another-run"}
    assert overall(claim.to_dict("someone1999")) == verdicts[0]
    claim.registered = {"kind": "table"}
    assert overall(claim.to_dict("someone1999")) == "table"


def test_records_are_strict_json_with_six_digits():
    claims = Claims("someone1999")
    claims.claim("a-claim", "It is so.", quote="so").test(
        "a",
        estimate=(1 / 3, -math.inf, math.nan, 3),
        paper_value=2 / 3,
        statistic="mean",
        region=POSITIVE,
        margin=MARGIN,
    )
    (claim,) = claims
    fields = json.loads(json.dumps(claim.to_dict(claims.paper), allow_nan=False))
    assert fields["paper"] == "someone1999"
    (setting_fields,) = fields["settings"]
    assert setting_fields["value"] == 0.333333
    assert setting_fields["low"] == "−∞"
    assert setting_fields["high"] is None
    assert setting_fields["region"] == [0, None]
    assert setting_fields["paper_value"] == 0.666667
    assert setting_fields["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["holds"], "Of 1 claim, 1 holds."),
        (["holds", "holds"], "Both claims hold."),
        (["fails"] * 3, "All 3 claims fail."),
        (["holds", "holds", "undecided"], "Of 3 claims, 2 hold and 1 is undecided."),
        (["holds", "exact"], "Of 2 claims, 1 holds, and 1 is exact and holds."),
    ],
)
def test_claims_are_counted_in_a_sentence(verdicts, words):
    claims = [claim_with(["holds" if name == "exact" else name]).to_dict("x") for name in verdicts]
    for claim, name in zip(claims, verdicts, strict=True):
        claim["kind"] = "exact" if name == "exact" else ""
    assert claims_summary(claims).partition("\n")[0] == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(-0.18, "the paper has −0.18 (mean of its cells), outside our interval"), ("p < 0.05", None)],
)
def test_a_number_of_the_paper_says_what_it_is(value, words):
    fields = {"paper_value": value, "low": 0.5, "high": 2.0, "value": 1.0}
    source = "mean of its cells" if words else ""
    assert paper_words(fields | {"paper_source": source}) == (words or f"the paper has {value}")


@given(st.text(min_size=1).filter(str.strip))
def test_no_sentence_breaks_the_tables(sentence):
    claims = Claims("someone1999")
    claim = claims.claim("a-claim", sentence, quote="so")
    claim.test("a", estimate=HOLDS, statistic="mean", region=POSITIVE, margin=MARGIN)
    lines = claims_summary([claim.to_dict("someone1999")]).splitlines()
    # Two tables, of five columns and of four, each with a head, a rule and one row
    n_bars = [line.replace("\\|", "").count("|") for line in lines]
    assert [n for n in n_bars if n] == [6, 6, 6, 5, 5, 5]


@pytest.mark.parametrize(
    ("value", "low", "high", "n", "words"),
    [
        (0.5, 0.5, 0.5, 1, "0.5 (exact)"),
        (0.5, 0.5, 0.5, 7, "0.5, n = 7 books"),
        (1.0402, 1.0401, 1.0403, 1, "1.04 [1.04, 1.04], n = 1 books"),
        (math.nan, math.nan, math.nan, 0, "unknown, n = 0 books of 3 needed"),
        (math.nan, math.nan, math.nan, 4, "unknown, n = 4 books"),
        (0.5, -math.inf, math.inf, 1, "0.5, n = 1 books"),
        (0.5, 0.0, math.inf, 1, "0.5, n = 1 books"),
        (0.5, 0.25, math.inf, 3, "0.5 [0.25, ∞], n = 3 books"),
        (0.5, -11.0, 10.0, 2, "0.5, n = 2 books of 3 needed"),
    ],
)
def test_only_an_estimate_without_spread_is_called_exact(value, low, high, n, words):
    min_trials = 3 if "needed" in words else 1
    exact = "exact" in words
    fields = setting(value, low, high, n=n, min_trials=min_trials, exact=exact).to_dict()
    assert estimate(fields).replace("\N{NO-BREAK SPACE}", " ") == words


def strip(value, low, high, region=POSITIVE, **fields):
    return strips([setting(value, low, high, region, **fields).to_dict()])[0]


@pytest.mark.parametrize(
    ("low", "high", "region", "is_inside"),
    [
        (1, 3, POSITIVE, False),
        (-1, 3, POSITIVE, True),
        (1e-9, 3, POSITIVE, False),  # no rounding across the cut-off
        (-1e-9, 3, POSITIVE, True),
        (-3, 1e-9, (-math.inf, 0), True),
        (0.5, 3, (-1, 1), True),
        (1.5, 3, (-1, 1), False),
    ],
)
def test_a_cut_off_is_in_the_strip_of_an_interval_that_contains_it(low, high, region, is_inside):
    drawn = strip((low + high) / 2, low, high, region)
    assert len(drawn) == WIDTH
    first, last = re.search("[├●]", drawn).start(), re.search("[┤●](?!.*[┤●])", drawn).start()
    assert ("┃" in drawn[first : last + 1]) == is_inside


def test_ends_without_limit_reach_the_edge_and_what_is_unknown_has_no_strip():
    drawn = strip(0.5, -math.inf, math.inf)
    assert drawn[0] + drawn[-1] == "←→"
    assert "·" not in drawn
    assert strip(math.nan, math.nan, math.nan) == ""
    assert strip(2.0, 1.0, 3.0, n=4, min_trials=5) == ""
    assert "─" not in strip(2.0, math.nan, math.nan)
    assert strip(0.0, -1.0, 1.0).count("◉") == 1


def test_a_setting_far_off_does_not_flatten_the_others():
    settings = [setting(2.0, 1.0, 3.0), setting(2.5, 2.0, 3.0), setting(900.0, 800.0, 1000.0)]
    records = [one.to_dict() for one in settings]
    first, second, far = strips(records)
    assert (first, second) == tuple(strips(records[:2]))
    assert far == far.rstrip("»") + "»"
    assert "┃" in far
    # another cut-off has another scale
    other = setting(900.0, 800.0, 1000.0, (500, math.inf)).to_dict()
    assert "●" in strips([records[0], other])[1]


finite = st.floats(-1e6, 1e6).map(lambda x: float(f"{x:.6g}"))
intervals = st.lists(finite, min_size=3, max_size=3).map(sorted)


@given(st.lists(intervals, min_size=1, max_size=4), finite)
def test_a_strip_shows_each_value_on_its_side_of_the_cut_off(numbers, cut_off):
    region = (cut_off, math.inf)
    records = [setting(value, low, high, region).to_dict() for low, value, high in numbers]
    for record, drawn in zip(records, strips(records), strict=True):
        assert len(drawn) == WIDTH
        dot = re.search("[●◉«»]", drawn).start()
        if record["value"] == cut_off:
            assert drawn[dot] == "◉"
        else:
            bar = drawn.index("┃")
            assert (dot > bar) == (record["value"] > cut_off)
            assert dot != bar


def test_the_fold_has_a_picture_of_every_setting_and_one_verdict():
    claim = claim_with(["fails", "holds", "undecided"])
    claim.registered = {"primary": "setting-1"}
    text = claims_summary([claim.to_dict("someone1999")])
    fold = text[text.index("<details") :]
    rows = [line for line in fold.splitlines() if line.startswith("| `")]
    assert [re.search("n = [0-9]", row)[0] for row in rows] == ["n = 1", "n = 0", "n = 2"]
    assert fold.count("verdict-") == 1
    assert "verdict-holds" in rows[0]
    assert not re.search("fails|undecided|would decide", fold)
