"""Verdicts follow from interval, region and margin; the chance of the same verdict is calibrated."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lib import evaluation
from lib.book.verdicts.chapter_claims import sign_errors
from lib.claims import Claim, Setting

FINITE = st.floats(-1e6, 1e6)
ABOVE_0 = (0.0, math.inf)
BELOW_0 = (-math.inf, 0.0)


def setting(low, high, region=ABOVE_0, margin=0.05, **fields):
    """A setting of 80 models whose value is in the middle of its interval."""
    value = (low + high) / 2 if math.isfinite(low + high) else max(low, -1e300)
    return Setting(
        id="a-setting",
        words="n = 10",
        statistic="mean",
        value=fields.pop("value", value),
        low=low,
        high=high,
        n=fields.pop("n", 80),
        region=region,
        margin=margin,
        unit="models",
        **fields,
    )


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "holds"),
        (0.1, 0.2, "holds"),
        (-0.2, -0.01, "fails"),
        (0.01, 0.04, "negligible"),  # a sign, and too small to matter
        (-0.04, -0.01, "negligible"),
        (-0.04, 0.04, "negligible"),
        (-0.02, 0.07, "undecided"),
        (-0.07, 0.02, "undecided"),
        (-0.02, 0.09, "undecided"),
        (0.0, 0.07, "undecided"),  # the region is open
        (-1.0, 1.0, "undecided"),
        (0.01, math.inf, "holds"),
        (-math.inf, math.inf, "undecided"),
        (-math.inf, -0.1, "fails"),
    ],
)
def test_a_region_with_one_end(low, high, verdict):
    assert setting(low, high).verdict == verdict
    value = setting(low, high).value
    mirrored = setting(-high, -low, BELOW_0, value=-value)
    assert mirrored.verdict == verdict
    shifted = setting(low + 3, high + 3, (3.0, math.inf), value=value + 3)
    assert shifted.verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.04, 0.04, "holds"),
        (0.06, 0.08, "fails"),
        (0.05, 0.08, "fails"),  # the region is open
        (0.04, 0.08, "undecided"),
        (-0.05, 0.04, "undecided"),
        (-0.2, 0.3, "undecided"),
    ],
)
def test_a_region_with_two_ends(low, high, verdict):
    assert setting(low, high, (-0.05, 0.05), margin=0.0).verdict == verdict


@given(st.tuples(FINITE, FINITE, FINITE), FINITE, st.floats(1e-3, 1e6))
def test_the_opposite_sentence_has_the_opposite_verdict(numbers, cut, margin):
    low, value, high = sorted(numbers)
    assume(low != high)
    above = setting(low, high, (cut, math.inf), margin, value=value).verdict
    below = setting(low, high, (-math.inf, cut), margin, value=value).verdict
    opposites = {"holds": "fails", "fails": "holds"}
    if cut not in (low, high):
        assert below == opposites.get(above, above)


def test_an_interval_without_width_decides_only_what_is_exact():
    assert setting(1.0, 1.0).verdict == "undecided"
    assert setting(1.0, 1.0, (0.0, 2.0), margin=0.0).verdict == "undecided"
    assert setting(1.0, 1.0, margin=0.0, exact=True).verdict == "holds"
    assert setting(0.0, 0.0, margin=0.0, exact=True).verdict == "fails"


@pytest.mark.parametrize(
    ("region", "margin", "exact", "message"),
    [
        (ABOVE_0, 0.0, False, "margin of 'a-setting' must be above 0 and finite"),
        (ABOVE_0, -0.1, False, "margin of 'a-setting' must be above 0 and finite"),
        (ABOVE_0, math.nan, False, "margin of 'a-setting' must be above 0 and finite"),
        (ABOVE_0, math.inf, False, "margin of 'a-setting' must be above 0 and finite"),
        (ABOVE_0, 0.05, True, "margin of 'a-setting' must be 0, as it is exact"),
        ((0, 1), 0.05, False, "margin of 'a-setting' must be 0, as it is exact or its region"),
    ],
)
def test_a_margin_is_given_where_it_decides(region, margin, exact, message):
    with pytest.raises(ValueError, match=message):
        setting(0.1, 0.2, region, margin, exact=exact)


@pytest.mark.parametrize("region", [ABOVE_0, BELOW_0, (-0.05, 0.05)])
@pytest.mark.parametrize(("value", "half_width"), [(0.03, 0.02), (-0.06, 0.03), (0.01, 0.2)])
def test_the_chance_of_a_rerun_is_that_of_drawn_reruns(region, value, half_width):
    margin = 0.0 if math.isfinite(region[0] + region[1]) else 0.05
    found = setting(value - half_width, value + half_width, region, margin)
    # 80 units whose mean has such an interval, about a truth that is as far off
    rng = np.random.default_rng(0)
    standard_error = half_width / stats.t.ppf(0.975, 79)
    truths = rng.normal(value, standard_error, 2_000)
    samples = rng.normal(truths, math.sqrt(80) * standard_error, (80, 2_000))
    same = []
    for sample in samples.T:
        mean, low, high, _ = evaluation.mean_interval(sample)
        same.append(setting(low, high, region, margin, value=mean).verdict == found.verdict)
    assert found.rerun_chance == pytest.approx(np.mean(same), abs=0.03)


def test_chances_are_calibrated_where_truths_are_spread():
    """Two runs of each of many experiments agree as often as the first one's chance says."""
    rng = np.random.default_rng(1)
    truths = rng.uniform(-0.6, 0.6, 4_000)
    samples = rng.normal(truths, 0.1, (2, 8, len(truths)))  # of eight units
    chances = []
    agreements = []
    for run in samples.T:
        intervals = [evaluation.mean_interval(sample) for sample in run.T]
        one, other = (setting(low, high, value=mean, n=n) for mean, low, high, n in intervals)
        chances.append(one.rerun_chance)
        agreements.append(one.verdict == other.verdict)
    chances = np.array(chances)
    agreements = np.array(agreements)
    for low, high in ((0.0, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
        is_in_bin = (low <= chances) & (chances < high)
        assert is_in_bin.sum() > 100
        assert agreements[is_in_bin].mean() == pytest.approx(chances[is_in_bin].mean(), abs=0.06)


def test_no_chance_is_said_where_nothing_can_turn():
    assert setting(1.0, 1.0, margin=0.0, exact=True).rerun_chance is None
    assert setting(1.0, 1.0).rerun_chance is None
    assert setting(-math.inf, math.inf).rerun_chance is None
    assert setting(0.1, 0.2, n=3, min_trials=4).rerun_chance is None


@pytest.mark.parametrize(
    ("low", "high", "unit", "words"),
    [
        (0.1, 0.2, "random models", ""),
        # 0.04 [-0.04, 0.12] leaves 0 with four times the units
        (-0.04, 0.12, "random models", "about 320 random models"),
        (-0.04, 0.12, "data sets", "only more data sets: about 320"),
        (-0.04, 0.12, "shuffles of the file", "only other data"),
        # 0.05 [-0.95, 1.05] leaves 0 with 400 times as many
        (-0.95, 1.05, "data sets", "more than ten times as many data sets"),
        # 0.01 [-0.07, 0.09] stays within 0.05 with four times as many
        (-0.07, 0.09, "random models", "about 320 random models"),
        (-0.1, math.inf, "random models", "another statistic"),
    ],
)
def test_what_would_decide(low, high, unit, words):
    value = 0.04 if math.isinf(high) else (low + high) / 2
    assert replace(setting(low, high, value=value), unit=unit).deciding == words
    if words.startswith("about"):
        halved = setting(value - (value - low) / 2.01, value + (high - value) / 2.01, value=value)
        assert halved.verdict in ("holds", "negligible")


def test_wrong_signs_are_expected_as_often_as_intervals_end_beyond_the_cut_off():
    many, few = {"n": 101}, {"n": 4, "like_low": -0.2, "like_high": 0.6}
    found = [setting(0.1, 0.3, **many), setting(0.001, 0.399, value=0.2, **few)]
    claims = [Claim(f"c{i}", "So.", "so", settings=[s]).to_dict("x") for i, s in enumerate(found)]
    signs = sign_errors(claims)
    assert (signs.n_directional, signs.n_beyond) == (2, 1)
    # 0.2 is two half-widths from 0, then about one; for sets like these half of one of t with 3
    sure = stats.t.sf(2 * stats.t.ppf(0.975, 100), 100)
    assert signs.expected_wrong == pytest.approx(sure + 0.0245, abs=1e-4)
    like = stats.t.sf(0.5 * stats.t.ppf(0.975, 3), 3)
    assert signs.expected_wrong_like == pytest.approx(sure + like, abs=1e-6)
