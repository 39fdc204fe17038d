"""Confusion tables, and where a printed fold falls among ours: by hand, and Wilson's interval by SciPy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lib.evaluation import confusion_range, confusion_table, nearest_fold, percentile_among_folds

CLASSES = ("a", "b", "c")
CELLS = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES), st.integers(0, 20)), min_size=1, max_size=12
)


def frame(cells):
    return pd.DataFrame(cells, columns=["predicted", "actual", "count"])


class TestTable:
    def test_predicted_classes_are_rows_and_folds_are_added(self):
        counts = frame([("a", "a", 3), ("a", "b", 2), ("b", "b", 4), ("a", "b", 1)])
        expected = [[3, 3, 0], [0, 4, 0], [0, 0, 0]]
        np.testing.assert_array_equal(confusion_table(counts, CLASSES), expected)
        np.testing.assert_array_equal(confusion_table(counts, CLASSES, n_folds=2), np.array(expected) / 2)
        np.testing.assert_array_equal(confusion_table(counts, ("b", "a")), [[4, 0], [3, 3]])

    @settings(max_examples=40)
    @given(CELLS, st.integers(1, 9))
    def test_is_the_plain_sum(self, cells, n_folds):
        table = confusion_table(frame(cells), CLASSES, n_folds)
        for i, predicted in enumerate(CLASSES):
            for j, actual in enumerate(CLASSES):
                assert table[i, j] == sum(n for p, a, n in cells if (p, a) == (predicted, actual)) / n_folds


def folds(*sizes, learners=("x", "y")):
    """One repeat a row of `sizes`, one fold an element: class counts of its test rows, all predicted as "a"."""
    return pd.DataFrame(
        [
            (repeat, fold, learner, "a", actual, count)
            for repeat, row in enumerate(sizes)
            for fold, part in enumerate(row)
            for learner in learners
            for actual, count in part.items()
        ],
        columns=["repeat", "fold", "learner", "predicted", "actual", "count"],
    )


class TestNearestFold:
    WANTED = pd.Series({"a": 9, "b": 8, "c": 13})

    def test_by_hand(self):
        counts = folds(
            [{"a": 10, "b": 10, "c": 10}, {"a": 12, "b": 9, "c": 9}], [{"a": 9, "b": 9, "c": 12}, {"b": 15, "c": 15}]
        )
        assert nearest_fold(counts, self.WANTED) == (1, 0, 2)

    def test_a_class_without_test_rows_counts_as_none(self):
        assert nearest_fold(folds([{"a": 9, "b": 8}]), self.WANTED) == (0, 0, 13)
        assert nearest_fold(folds([{"a": 30}, {"b": 8, "c": 13}]), self.WANTED) == (0, 1, 9)
        assert nearest_fold(folds([{"a": 9, "b": 8}]), pd.Series({"a": 9, "b": 8, "never": 2}))[2] == 2

    def test_the_first_of_equals(self):
        counts = folds([{"a": 9, "b": 9, "c": 12}, {"a": 10, "b": 8, "c": 12}], [{"a": 9, "b": 9, "c": 12}])
        assert nearest_fold(counts, self.WANTED) == (0, 0, 2)

    @settings(max_examples=40)
    @given(st.lists(st.tuples(*[st.integers(1, 15)] * 3), min_size=1, max_size=8))
    def test_is_the_least_of_all_distances(self, sizes):
        parts = [dict(zip(CLASSES, part, strict=True)) for part in sizes]
        distances = [sum(abs(part[c] - self.WANTED[c]) for c in CLASSES) for part in parts]
        for learners in (("x",), ("x", "y", "z")):
            found = nearest_fold(folds(parts, learners=learners), self.WANTED)
            assert found == (0, int(np.argmin(distances)), min(distances))
            assert all(type(value) is int for value in found)


class TestPercentile:
    def test_lower_ones_count_whole_and_equal_ones_half(self):
        assert percentile_among_folds([0.8, 0.9, 0.9, 1.0], 9, 10).value == (1 + 0.5 + 0.5) / 4
        assert percentile_among_folds([0.9] * 5, 9, 10).value == 0.5
        assert percentile_among_folds([0.2, 0.8], 9, 10)[0] == 1
        assert percentile_among_folds([1.0, 0.95], 9, 10).value == 0.25

    def test_folds_of_another_size_are_equal_within_half_an_example(self):
        assert percentile_among_folds([28 / 29], 29, 30).value == 0.5
        assert percentile_among_folds([27 / 29], 29, 30).value == 1
        assert percentile_among_folds([1.0], 29, 30).value == 0

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(0, 30))
    def test_of_equal_folds_and_of_mistakes(self, correct, n_correct):
        accuracies = np.array(correct) / 30
        found = percentile_among_folds(accuracies, n_correct, 30)
        below, equal = sum(c < n_correct for c in correct), sum(c == n_correct for c in correct)
        assert found.value == pytest.approx((below + equal / 2) / len(correct))
        mistakes = percentile_among_folds(1 - accuracies, 30 - n_correct, 30)
        np.testing.assert_allclose(mistakes[:3], [1 - found.value, 1 - found.high, 1 - found.low], atol=1e-12)
        assert 0 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1
        assert found.n == len(correct)

    @given(st.integers(0, 60), st.integers(0, 60))
    def test_interval_is_that_of_scipy(self, below, above):
        n = max(1, below + above)
        accuracies = [0.0] * (n - above) + [1.0] * above
        found = percentile_among_folds(accuracies, 5, 10)
        expected = stats.binomtest(n - above, n).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose([found.low, found.high], expected, atol=1e-12)


def test_range_of_cells_by_hand():
    """Twenty folds with 1, 2, ..., 20 right ones of a class: the 5th and 95th percentiles are 1 and 19."""
    rows = [(0, fold, "a", "a", fold + 1) for fold in range(20)] + [(0, 0, "b", "a", 7)]
    counts = pd.DataFrame(rows, columns=["repeat", "fold", "predicted", "actual", "count"])
    low, high = confusion_range(counts, ["a", "b"], 20)
    assert low.tolist() == [[1, 0], [0, 0]]
    assert high.tolist() == [[19, 0], [0, 0]]
    assert confusion_range(counts, ["a", "b"], 40)[0][0, 0] == 0  # folds without counts have none
