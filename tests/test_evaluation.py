"""Statistics by hand, against SciPy, and by simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from lib import evaluation
from lib.evaluation.ranks import _friedman_p_value

RNG = np.random.default_rng(0)
CURVE_COLUMNS = ["model", "size", "learner", "accuracy", "best", "constant"]


def frame_of(t, sizes, gains=None, learners=("a", "b")):
    """A frame whose T values are t (models, sizes, learners): accuracy = constant + T gain."""
    t = np.asarray(t, dtype=float)
    if gains is None:
        gains = np.full(len(t), 0.2)
    constant = 0.6
    rows = []
    for model, i, j in np.ndindex(t.shape):
        accuracy = constant + t[model, i, j] * gains[model]
        best = constant + gains[model]
        rows.append((model, sizes[i], learners[j], accuracy, best, constant))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


@pytest.fixture
def random_frame():
    t = np.random.default_rng(0).normal([0.5, 0.4], 0.1, (30, 3, 2))
    return frame_of(t, [10, 100, 1000]), t


def test_normalized_performance_by_hand():
    frame = pd.DataFrame(
        [
            (0, 10, "em", 0.70, 0.80, 0.60),  # T = 1/2
            (1, 10, "em", 0.90, 0.90, 0.50),  # T = 1
            (2, 10, "em", 0.60, 0.71, 0.70),  # gain of 0.01
            (3, 10, "em", 0.60, 0.70, 0.70),  # no gain at all
        ],
        columns=CURVE_COLUMNS,
    )
    [row] = evaluation.normalized_performance(frame).itertuples(index=False)
    assert row[:2] == (10, "em")
    assert row.t == pytest.approx(0.75)
    assert row.se == pytest.approx(0.25)
    assert row.t_pooled == pytest.approx((0.1 + 0.4 - 0.1 - 0.1) / (0.2 + 0.4 + 0.01))
    assert (row.n_models, row.n_set_aside) == (2, 2)
    [row] = evaluation.normalized_performance(frame, min_gain=0.9 - 0.5).itertuples(index=False)
    assert (row.t, row.n_models, row.n_set_aside) == (1, 1, 3)
    [row] = evaluation.normalized_performance(frame, min_gain=0).itertuples(index=False)
    assert row.t == pytest.approx((0.5 + 1 - 10) / 3)
    assert (row.n_models, row.n_set_aside) == (3, 1)


def test_normalized_performance_of_best_and_constant_is_one_and_zero():
    t = np.broadcast_to([1.0, 0.0], (5, 2, 2))
    frame = frame_of(t, [10, 20], gains=np.linspace(0.1, 0.4, 5))
    table = evaluation.normalized_performance(frame).set_index(["size", "learner"])
    assert table.index.tolist() == [(10, "a"), (10, "b"), (20, "a"), (20, "b")]
    expected = [[1, 1], [0, 0], [1, 1], [0, 0]]
    np.testing.assert_allclose(table[["t", "t_pooled"]], expected, atol=1e-12)


def test_all_models_set_aside():
    frame = frame_of(np.zeros((4, 2, 2)), [10, 20], gains=np.zeros(4))
    table = evaluation.normalized_performance(frame, min_gain=0)
    assert table[["t", "se", "t_pooled"]].isna().all(axis=None)
    assert (table["n_models"] == 0).all()
    assert (table["n_set_aside"] == 4).all()
    assert evaluation.paired_differences(frame, "a", "b").shape == (0, 2)
    difference = evaluation.mean_difference(frame, "a", "b")
    crossing = evaluation.crossing_size(frame, "a", "b", np.random.default_rng(0))
    for estimate in (difference, crossing):
        assert np.isnan(estimate.value)
        assert estimate.n == 0


def test_paired_differences_are_of_the_same_model(random_frame):
    frame, t = random_frame
    shuffled_frame = frame.sample(frac=1, random_state=0)
    differences = evaluation.paired_differences(shuffled_frame, "a", "b")
    np.testing.assert_allclose(differences, t[:, :, 0] - t[:, :, 1], atol=1e-12)


def test_mean_difference_is_over_models(random_frame):
    frame, t = random_frame
    estimate = evaluation.mean_difference(frame, "a", "b")
    differences_by_model = (t[:, :, 0] - t[:, :, 1]).mean(axis=1)
    expected = stats.ttest_1samp(differences_by_model, 0)
    assert estimate[1:3] == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert estimate.n == 30


SIZES = [10, 20, 50, 100, 500, 1000]


def line(crossing, noise=0.0, n_models=20):
    """Differences of T that rise in log(size) through 0 at `crossing`."""
    shift = noise * np.random.default_rng(0).normal(size=(n_models, 1))
    difference = np.log(SIZES) - np.log(crossing) + shift
    t = 0.1 * np.stack([difference, np.zeros_like(difference)], axis=-1)
    return frame_of(t, SIZES)


@given(st.floats(10.5, 999))
@settings(max_examples=20)
def test_crossing_of_a_line(crossing):
    frame = line(crossing, n_models=2)
    estimate = evaluation.crossing_size(frame, "a", "b", np.random.default_rng(0))
    assert estimate[:3] == pytest.approx((crossing, crossing, crossing), rel=1e-6)


def test_crossing_interval_is_that_of_the_mean():
    """Noise common to all sizes shifts the line: log crossing is the mean of normal numbers."""
    noise = 0.5
    estimate = evaluation.crossing_size(line(100, noise, 400), "a", "b", np.random.default_rng(1))
    half_width = 1.96 * noise / np.sqrt(400)
    assert np.log(estimate.value / 100) == pytest.approx(0, abs=2 * half_width)
    assert np.log(estimate.high / estimate.low) == pytest.approx(2 * half_width, rel=0.15)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1, 1, 1, 1, 1, 1], 10),
        ([-1, -1, -1, -1, -1, -1], np.inf),
        ([1, 1, 1, 1, 1, -1], np.inf),
        ([1, 1, 1, 1, 1, 0], np.inf),
        ([1, 1, 1, 1, 1, 1e-13], np.inf),  # rounding is no lead
        ([1, -1, 1, -1, 1, 1], np.sqrt(100 * 500)),  # the last crossing counts
        ([-1, 0, 1, 1, 1, 1], 20),
    ],
)
def test_crossing_at_the_edges(differences, expected):
    """Between two sizes T is a line over their logarithms."""
    t_of_one_model = 0.1 * np.stack([differences, np.zeros(6)], axis=-1)
    frame = frame_of(np.broadcast_to(t_of_one_model, (3, 6, 2)), SIZES)
    estimate = evaluation.crossing_size(frame, "a", "b", np.random.default_rng(0))
    assert estimate[:3] == pytest.approx((expected, expected, expected))


def test_mean_interval_is_scipys():
    values = np.random.default_rng(0).normal(size=12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert evaluation.mean_interval(values, 0.9) == pytest.approx((values.mean(), *expected, 12))


@pytest.mark.parametrize("values", [[], [3.0]])
def test_mean_interval_of_too_few_values_is_infinite(values):
    estimate = evaluation.mean_interval(values)
    assert estimate[1:] == (-np.inf, np.inf, len(values))


def pair_of_scores(n):
    scores = arrays(float, n, elements=st.floats(0, 1, width=16))
    return st.tuples(scores, scores)


@given(st.integers(2, 20).flatmap(pair_of_scores))
def test_paired_t_test_is_scipys(pair):
    a, b = pair
    if np.ptp(a - b) > 1e-6:
        expected = tuple(stats.ttest_rel(a, b))
        assert evaluation.paired_t_test(a, b) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_corrected_t_test_is_its_formula():
    """Nadeau and Bengio: the variance is multiplied by 1 / n + n_test / n_train, not by 1 / n."""
    a = [0.9, 0.8, 0.85, 0.7, 0.95]
    b = [0.8, 0.8, 0.75, 0.72, 0.85]
    difference = np.subtract(a, b)
    standard_error = np.sqrt((1 / 5 + 0.2 / 0.8) * difference.var(ddof=1))
    t = difference.mean() / standard_error
    p = 2 * stats.t.sf(t, 4)
    assert evaluation.corrected_t_test(a, b, 0.2) == pytest.approx((t, p))
    assert evaluation.corrected_t_test(b, a, 0.2) == pytest.approx((-t, p))


def test_t_tests_of_equal_differences():
    """Without spread t is 0 or infinite."""
    assert evaluation.paired_t_test([1, 2], [1, 2]) == (0, 1)
    assert evaluation.paired_t_test([1, 2], [2, 3]) == (-np.inf, 0)
    assert evaluation.paired_t_test([0.7, 0.8, 0.9], [0.4, 0.5, 0.6]) == (np.inf, 0)
    same = [[0.0, 0.0], [0.25, 0.25], [-0.25, -0.25], [0.7 - 0.4, 0.9 - 0.6]]
    assert evaluation.one_sided_p_values(same).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.filterwarnings("error")
def test_scores_that_only_rounding_tells_apart_do_not_differ(sign):
    """Error rates as 1 - accuracy, beside their like: 1 - 0.8 and 0.2 are different floats."""
    accuracies = np.array([0.8, 0.6, 0.8, 0.7, 0.9])
    a = 1 - accuracies
    b = np.array([0.2, 0.4, 0.2, 0.3, 0.1])
    for first, second in ((a, b), (a[:1].repeat(5), b[:1].repeat(5))):
        differences = sign * (first - second)
        assert differences.any()
        assert evaluation.paired_t_test(sign * first, sign * second) == (0, 1)
        assert evaluation.corrected_t_test(1e-13 * first, 1e-13 * second, 0.2) == (0, 1)
        assert evaluation.corrected_interval(differences, 0.2) == (0, 0, 0, 5)
        assert evaluation.one_sided_p_values([differences, differences + 0.1])[0] == 1
    assert evaluation.mean_contrast([1 - 0.8, 0.2], [0.2, 0.2, 0.2]) == (0, 0, 0, 2)


def test_values_that_only_rounding_tells_apart_have_no_spread():
    values = np.full((100, 2), 0.3)
    values[::2, 0] = 0.1 + 0.2
    assert evaluation.mean_interval(values[:, 0])[:3] == pytest.approx((0.3,) * 3, abs=1e-15)
    values[:, 1] = np.linspace(-1.0, 3.0, 100)
    # by the rule of three, three of 100 may differ by as much as the largest value
    assert evaluation.smallest_mean(values)[:3] == pytest.approx((0.3, 0.21, 0.39))
    interval = evaluation.corrected_interval(values[:4, 0], 0.2)
    assert evaluation.widen_to_rows(interval, 50)[:3] == pytest.approx((0.3, 0.24, 0.36))
    assert evaluation.skewed_mean(values[:, 0], RNG) == evaluation.mean_interval(values[:, 0])


def test_t_by_model_is_t(random_frame):
    frame, t = random_frame
    np.testing.assert_allclose(evaluation.t_by_model(frame, "a"), t[:, :, 0], atol=1e-12)


def test_largest_mean_t_is_the_largest(random_frame):
    """Its interval has the largest ends of the 12 means, at a level of 0.05 / 12 (Bonferroni)."""
    frame, t = random_frame
    lower_frame = frame_of(t - 1, [10, 100, 1000])
    estimate = evaluation.largest_mean_t([lower_frame, frame], ["a", "b"])
    lows = []
    highs = []
    for values in (t, t - 1):
        for i, j in np.ndindex(3, 2):
            test = stats.ttest_1samp(values[:, i, j], 0)
            low, high = test.confidence_interval(1 - 0.05 / 12)
            lows.append(low)
            highs.append(high)
    assert estimate.value == pytest.approx(t.mean(axis=0).max())
    assert estimate[1:3] == pytest.approx((max(lows), max(highs)))
    estimate_of_b = evaluation.largest_mean_t([frame], ["b"])
    assert estimate_of_b.value == pytest.approx(t[:, :, 1].mean(axis=0).max())


@given(st.integers(0, 60), st.integers(0, 60))
def test_proportion_interval_is_wilsons(n_successes, n_failures):
    n = max(1, n_successes + n_failures)
    low, high = stats.binomtest(n_successes, n).proportion_ci(0.95, method="wilson")
    estimate = evaluation.proportion_interval(n_successes, n)
    np.testing.assert_allclose(estimate, [n_successes / n, low, high, n], atol=1e-12)


def test_exact_estimates_have_no_width():
    assert evaluation.Estimate.exact(0.5) == (0.5, 0.5, 0.5, 1)
    assert evaluation.Estimate.exact(0.5, n=30).n == 30


def test_the_mean_of_skewed_values_has_an_interval_within_them():
    values = 1 - np.random.default_rng(0).exponential(0.03, 50)
    plain = evaluation.skewed_mean(values, np.random.default_rng(1))
    assert plain.value == values.mean()
    assert plain.low < plain.value < plain.high < values.max()
    # the tail is on the left
    assert plain.value - plain.low > plain.high - plain.value
    cautious = evaluation.skewed_mean(values, np.random.default_rng(1), worst=0.0)
    assert cautious.low < plain.low
    assert cautious.high == plain.high
    assert evaluation.skewed_mean(values, np.random.default_rng(1), ()) == plain
    assert evaluation.skewed_mean(values, np.random.default_rng(2)) != plain
    assert evaluation.skewed_mean([1.0] * 9, np.random.default_rng(1), worst=0.0) == (1, 1, 1, 9)
    assert evaluation.skewed_mean([0.5], np.random.default_rng(1))[1:] == (-np.inf, np.inf, 1)


def test_smallest_mean_allows_for_the_picking():
    values = np.random.default_rng(0).normal([0.0, 1.0, 0.5], [1.0, 0.1, 3.0], (40, 3))
    found = evaluation.smallest_mean(values)
    intervals = [evaluation.mean_interval(column, 1 - 0.05 / 3) for column in values.T]
    expected = [min(ends) for ends in zip(*intervals, strict=True)]
    assert found == pytest.approx(expected)
    assert found == pytest.approx(evaluation.smallest_mean(pd.DataFrame(values)))


def test_a_column_without_differences_does_not_decide_the_smallest_mean():
    """Of 100 trials without any difference, three may have one: as large as the largest seen."""
    values = np.zeros((100, 2))
    values[:, 1] = np.linspace(-1.0, 3.0, 100)
    value, low, high, n = evaluation.smallest_mean(values)
    assert (value, low, n) == (0, -0.09, 100)
    assert high == pytest.approx(0.09)
    assert evaluation.smallest_mean(np.zeros((100, 2)))[:3] == (0, 0, 0)
    assert evaluation.smallest_mean(values[:1])[1:] == (-np.inf, np.inf, 1)


@pytest.mark.parametrize(
    ("interval", "n_rows", "ends"),
    [
        ((0.0, 0.0, 0.0), 47, (-3 / 47, 3 / 47)),
        ((0.1, 0.09, 0.11), 50, (0.08, 0.12)),
        ((0.1, 0.0, 0.11), 50, (0.0, 0.12)),
        ((0.1, -0.1, 0.3), 50, (-0.1, 0.3)),
        ((0.1, -np.inf, np.inf), 50, (-np.inf, np.inf)),
    ],
)
def test_intervals_are_as_wide_as_few_rows_ask_for(interval, n_rows, ends):
    value, low, high, n = evaluation.widen_to_rows((*interval, 2), n_rows)
    assert (value, n) == (interval[0], 2)
    assert (low, high) == pytest.approx(ends)


def test_mean_contrast_is_welchs():
    """Welch's interval, of unequal variances; n is the smaller number of values."""
    rng = np.random.default_rng(0)
    a = rng.normal(1, 1, 12)
    b = rng.normal(0, 3, 20)
    low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert evaluation.mean_contrast(a, b) == pytest.approx((a.mean() - b.mean(), low, high, 12))
    assert evaluation.mean_contrast([1.0], b)[1:3] == (-np.inf, np.inf)
    assert np.isnan(evaluation.mean_contrast([], b).value)


@given(st.floats(10.5, 999), st.floats(10.5, 999))
@settings(max_examples=20)
def test_ratio_of_crossings_of_lines(first, second):
    assume(first != second)
    first_panel = line(first, n_models=2)
    second_panel = line(second, n_models=2)
    rng = np.random.default_rng(0)
    estimate = evaluation.crossing_ratio(first_panel, second_panel, "a", "b", rng)
    expected = np.log10(first / second)
    assert estimate[:3] == pytest.approx((expected, expected, expected), abs=1e-6)


def test_a_crossing_that_is_never_reached_counts_as_twice_the_largest_size():
    estimate = evaluation.crossing_ratio(line(5000), line(100), "a", "b", np.random.default_rng(0))
    assert estimate.value == pytest.approx(np.log10(2000 / 100))


@pytest.mark.parametrize(
    ("crossings", "noise", "ends"),
    [
        ((5000, 4000), 0.0, (-np.inf, np.inf)),  # both beyond the largest size
        ((5, 4), 0.0, (-np.inf, np.inf)),  # both before the smallest
        ((5, 5000), 0.0, (np.log10(10 / 2000),) * 2),  # beyond opposite ends, which is an order
        ((9, 9.5), 1.0, (-np.inf, np.inf)),  # before the smallest in some resamples
    ],
)
def test_crossings_beyond_the_same_end_are_not_ordered(crossings, noise, ends):
    first, second = crossings
    rng = np.random.default_rng(0)
    estimate = evaluation.crossing_ratio(line(first, noise), line(second, noise), "a", "b", rng)
    assert estimate[1:3] == pytest.approx(ends)


def test_rounding_is_no_gain():
    frame = pd.DataFrame(
        [(0, 10, "a", 0.5, 0.7, 0.7), (1, 10, "a", 0.75, 0.8, 0.7)],
        columns=CURVE_COLUMNS,
    )
    frame.loc[0, "best"] = np.nextafter(0.7, 1)
    row = evaluation.normalized_performance(frame, min_gain=0.0).iloc[0]
    assert (row["n_models"], row["n_set_aside"]) == (1, 1)
    assert row["t"] == pytest.approx(0.5)


@given(arrays(float, st.integers(2, 30), elements=st.floats(-1, 1, width=16)), st.floats(0.05, 0.5))
def test_corrected_interval_excludes_zero_exactly_when_the_test_rejects(differences, fraction):
    """Both are of one t distribution."""
    estimate = evaluation.corrected_interval(differences, fraction)
    assert estimate.low <= estimate.value <= estimate.high
    _, p = evaluation.corrected_t_test(differences, np.zeros(len(differences)), fraction)
    if abs(p - 0.05) > 1e-9:
        assert (p < 0.05) == (estimate.low > 0 or estimate.high < 0)


def test_corrected_interval_of_one_split_is_infinite():
    assert evaluation.corrected_interval([0.25], 0.2) == (0.25, -np.inf, np.inf, 1)


def test_holm_by_hand():
    """The smallest of four counts four times, the next three times; none less than the last."""
    np.testing.assert_allclose(evaluation.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_array_equal(evaluation.holm([0.6, 0.7]), [1, 1])
    assert evaluation.holm([]).shape == (0,)


@given(arrays(float, st.integers(1, 12), elements=st.floats(0, 1)), st.floats(0.001, 0.2))
def test_holm_rejects_step_by_step(p, level):
    """The definition: from the smallest p on, until one exceeds level / (number that remain)."""
    is_rejected = np.zeros(len(p), bool)
    for i, index in enumerate(np.argsort(p, kind="stable")):
        n_remaining = len(p) - i
        if p[index] * n_remaining > level:
            break
        is_rejected[index] = True
    np.testing.assert_array_equal(evaluation.holm(p) <= level, is_rejected)


def test_nemenyi_is_demsars_table():
    """Demsar (2006): CD = q sqrt(k (k + 1) / (6 n)), q at 0.05 of Table 5(a), and his example."""
    for k, q in {3: 2.343, 4: 2.569, 6: 2.850, 10: 3.164}.items():
        difference = evaluation.nemenyi_difference(k, 1)
        assert difference / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1e-3)
    # 4 learners, 14 data sets
    assert evaluation.nemenyi_difference(4, 14, 0.95) == pytest.approx(1.25, abs=0.01)


def test_ranks_by_hand():
    """Ranks of a: 1, 1.5, 1; of b: 2, 1.5, 3; of c: 3, 3, 2."""
    scores = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.8, 0.6], "c": [0.1, 0.2, 0.65]})
    comparison = evaluation.compare_ranks(scores)
    assert comparison.ranks.to_dict() == pytest.approx({"a": 3.5 / 3, "b": 6.5 / 3, "c": 8 / 3})
    assert comparison.groups == [["a", "b", "c"]]


def test_a_clear_order_has_no_groups():
    scores = pd.DataFrame(np.tile([0.9, 0.6, 0.3], (40, 1)), columns=list("abc"))
    comparison = evaluation.compare_ranks(scores)
    assert list(comparison.ranks) == [1, 2, 3]
    assert comparison.groups == []
    assert comparison.p_friedman == 0.0


def test_equal_scores_differ_in_nothing():
    comparison = evaluation.compare_ranks(pd.DataFrame(np.full((5, 3), 0.5), columns=list("abc")))
    assert comparison.p_friedman == 1.0
    assert comparison.groups == [["a", "b", "c"]]


def test_friedman_has_its_level():
    """Of equal learners 5% are rejected: p is uniform."""
    rng = np.random.default_rng(0)
    p = np.array([_friedman_p_value(pd.DataFrame(rng.random((12, 5)))) for _ in range(600)])
    assert 0.03 < np.mean(p < 0.05) < 0.07
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_differences_by_dataset_are_those_of_the_same_folds():
    rng = np.random.default_rng(0)
    keys = itertools.product(("two", "one"), range(3), range(5), ("a", "b"))
    frame = pd.DataFrame(keys, columns=["dataset", "repeat", "fold", "learner"])
    frame["accuracy"] = rng.random(len(frame))
    shuffled_frame = frame.sample(frac=1, random_state=0).sort_values("dataset")
    table = evaluation.differences_by_dataset(shuffled_frame, "a", "b", 0.2)
    assert table["dataset"].tolist() == ["one", "two"]
    for name, row in table.set_index("dataset").iterrows():
        accuracies = frame[frame["dataset"] == name].set_index("learner")["accuracy"]
        a = accuracies["a"].to_numpy()
        b = accuracies["b"].to_numpy()
        expected = evaluation.corrected_interval(a - b, 0.2)
        assert tuple(row[["value", "low", "high", "n"]]) == pytest.approx(tuple(expected))
        assert row["p"] == pytest.approx(evaluation.corrected_t_test(a, b, 0.2)[1])
    np.testing.assert_allclose(table["p_holm"], evaluation.holm(table["p"]))


@pytest.mark.parametrize("scale", [1e-13, 1e-6, 1, 3e5, 1e13])
def test_ranks_do_not_depend_on_the_unit_of_scores(scale):
    rng = np.random.default_rng(0)
    values = rng.integers(1, 5, (12, 4)) / 10 + [0, 0.05, 0.1, 0.1]
    scores = pd.DataFrame(values, columns=list("abcd"))
    plain = evaluation.compare_ranks(scores)
    scaled_comparison = evaluation.compare_ranks(scores * scale)
    assert scaled_comparison.ranks.to_dict() == plain.ranks.to_dict()
    assert scaled_comparison.p_friedman == plain.p_friedman
    assert scaled_comparison.groups == plain.groups
    assert 0 < plain.p_friedman < 0.9


def test_scores_that_only_rounding_tells_apart_share_a_rank():
    """Such as 0.1 + 0.2 and 0.3, which are different floats."""
    rows = [[0.1 * 3 * 1e6, 0.3 * 1e6, 1e5, 0.0], [0.1 + 0.2, 0.3, 0.1, 0.1 + 0.2 - 0.3]]
    assert len(set(rows[0])) == len(set(rows[1])) == 4
    assert evaluation.compare_ranks(rows).ranks.to_dict() == {0: 1.5, 1: 1.5, 2: 3, 3: 4}


def test_a_learner_far_behind_makes_no_others_tie():
    rows = np.array([[-1e5, -2e-8, -1e-8], [-np.inf, -2e-8, -1e-8], [-1e5, -1e-8, -2e-8]])
    ranks = evaluation.compare_ranks(rows).ranks.to_dict()
    assert ranks == pytest.approx({0: 3, 1: 5 / 3, 2: 4 / 3})


def test_ranks_of_arrays_are_those_of_frames():
    """And their p is that of Iman and Davenport: F = (n - 1) chi2 / (n (k - 1) - chi2)."""
    values = np.random.default_rng(0).random((9, 4))
    comparison = evaluation.compare_ranks(values)
    frame_comparison = evaluation.compare_ranks(pd.DataFrame(values))
    pd.testing.assert_series_equal(frame_comparison.ranks, comparison.ranks)
    assert frame_comparison[1:] == comparison[1:]
    chi2 = stats.friedmanchisquare(*values.T).statistic
    f = 8 * chi2 / (9 * 3 - chi2)
    assert comparison.p_friedman == pytest.approx(stats.f.sf(f, 3, 8 * 3))


def test_means_of_constants_differ_for_certain():
    """Without spread the interval has no width."""
    assert evaluation.mean_contrast([1.0, 1.0], [0.25, 0.25, 0.25]) == (0.75, 0.75, 0.75, 2)


@pytest.mark.filterwarnings("error")
def test_means_of_what_is_no_number_are_none():
    values = [1.0, np.nan, 2.0]
    estimates = (
        evaluation.mean_interval(values),
        evaluation.skewed_mean(values, RNG),
        evaluation.mean_contrast(values, [1, 2]),
    )
    for estimate in estimates:
        assert np.isnan(estimate[:3]).all()


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (17, 5), (60, 22)])
def test_median_interval_is_between_order_statistics(n, rank):
    values = np.append(RNG.permutation(np.arange(n)), np.nan)
    median, low, high, n_values = evaluation.median_interval(values)
    assert (median, n_values) == ((n - 1) / 2, n)
    assert (low, high) == (rank - 1, n - rank)
    # the least two-sided interval of ranks that covers the median with 95%
    assert 1 - 2 * stats.binom.cdf(rank - 1, n, 0.5) >= 0.95
    assert 1 - 2 * stats.binom.cdf(rank, n, 0.5) < 0.95


@pytest.mark.parametrize("values", [[], [np.nan], [1, 2, 3, 4, 5]])
def test_a_median_of_five_values_or_fewer_has_no_interval(values):
    _, *ends, n = evaluation.median_interval(values)
    assert ends == [-np.inf, np.inf]
    assert n == np.isfinite(values).sum()


def test_undecided_trials_count_as_halves():
    """2.5 of 5 are a half; of no trials any proportion is possible."""
    assert evaluation.proportion_interval(2.5, 5)[:1] == (0.5,)
    assert evaluation.proportion_interval(0, 0)[1:] == (0, 1, 0)


THREE = np.random.default_rng(0).random((3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: evaluation.proportion_interval(-1, 5),
            r"count must be a finite number in \[0, 5\]; got -1",
        ),
        (
            lambda: evaluation.proportion_interval(6, 5),
            r"count must be a finite number in \[0, 5\]; got 6",
        ),
        (lambda: evaluation.proportion_interval(np.nan, 5), "count must be a finite number"),
        (lambda: evaluation.proportion_interval(1, -5), "n must be an integer of at least 0"),
        (lambda: evaluation.proportion_interval(1, 5.5), "n must be an integer of at least 0"),
        (lambda: evaluation.proportion_interval(1, 0), "count must be"),
        (
            lambda: evaluation.nemenyi_difference(1, 5),
            "n_learners must be an integer of at least 2",
        ),
        (
            lambda: evaluation.nemenyi_difference(3, 0),
            "n_datasets must be an integer of at least 1",
        ),
        (lambda: evaluation.nemenyi_difference(3, 5, 1.0), "confidence must be"),
        (
            lambda: evaluation.compare_ranks(THREE[:, :2]),
            "scores must have at least 2 data sets .* got 3 x 2",
        ),
        (lambda: evaluation.compare_ranks(np.full((3, 3), np.nan)), "got 3 x 3 with 9 missing"),
        (
            lambda: evaluation.compare_ranks([["a", "b", "c"]] * 3),
            "scores must be a table of numbers",
        ),
        (lambda: evaluation.compare_ranks(np.ones((2, 3, 3))), "scores must be a table of numbers"),
        (lambda: evaluation.compare_ranks(THREE, 95), "confidence must be"),
        (lambda: evaluation.mean_interval(THREE), r"values must have shape \(n,\); got \(3, 3\)"),
        (lambda: evaluation.mean_interval(3.0), r"values must have shape \(n,\); got \(\)"),
        (lambda: evaluation.mean_interval(["a"]), "values must be numbers"),
        (lambda: evaluation.mean_interval([1, 2], shared=-1), "shared must be"),
        (lambda: evaluation.mean_interval([1, 2], np.nan), "confidence must be"),
        (lambda: evaluation.skewed_mean(THREE, RNG), r"values must have shape \(n,\)"),
        (
            lambda: evaluation.skewed_mean([1, 2, 3], RNG, np.inf),
            r"worst must be finite; got \[inf\]",
        ),
        (lambda: evaluation.skewed_mean([1, 2, 3], 0), "rng must be"),
        (lambda: evaluation.smallest_mean([1, 2]), r"values must have shape \(n, n_columns\)"),
        (lambda: evaluation.widen_to_rows((0, 0, 0, 1), 0), "n_rows must be"),
        (lambda: evaluation.mean_contrast(THREE, [1]), r"a must have shape \(n,\); got \(3, 3\)"),
        (
            lambda: evaluation.paired_t_test([1, np.nan], [1, 2]),
            "a and b must hold finite scores; got nan",
        ),
        (lambda: evaluation.paired_t_test([1, 2], [1, 2, 3]), "equally long"),
        (lambda: evaluation.paired_t_test([], []), "at least 2"),
        (lambda: evaluation.paired_t_test([1, 2], [2, 3], -1), "shared must be"),
        (
            lambda: evaluation.corrected_t_test([1, np.inf], [1, 2], 0.2),
            "a and b must hold finite scores; got inf",
        ),
        (lambda: evaluation.corrected_t_test([1, 3], [1, 2], 1.0), "test_fraction must be"),
        (lambda: evaluation.corrected_interval([1, 3], 0), "test_fraction must be"),
        (
            lambda: evaluation.one_sided_p_values([[1, np.nan]]),
            "differences must be finite; got nan",
        ),
        (lambda: evaluation.one_sided_p_values([1, 2]), "differences must have shape"),
        (lambda: evaluation.holm([0.1, np.nan]), "p_values must be one-dimensional, each in"),
        (lambda: evaluation.holm([[0.1]]), "p_values must"),
        (lambda: evaluation.share_of_gain(0.8, 0.9, 0.7, 2), "min_gain must be"),
        (lambda: evaluation.normalized_performance([1, 2]), "frame must be a DataFrame; got list"),
        (
            lambda: evaluation.largest_mean_t([THREE], ["a"]),
            "frame must be a DataFrame; got ndarray",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_mean_ratio_is_the_inverse_of_that_of_inverses():
    ratio = evaluation.mean_ratio([1, 2, 8], [2, 1, 2])
    inverse = evaluation.mean_ratio([2, 1, 2], [1, 2, 8])
    assert ratio.value == pytest.approx(4 ** (1 / 3))
    np.testing.assert_allclose(ratio[:3], [1 / inverse.value, 1 / inverse.high, 1 / inverse.low])
    with pytest.raises(ValueError, match="must be positive"):
        evaluation.mean_ratio([1, 0], [1, 1])
