"""Discretisers against pandas, a slow entropy discretiser and closed forms; one-hot columns."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris

from lib.discretize import ClassSeparatingCuts, CutPoints, EntropyDiscretizer, OneHot

IRIS = {
    "sepal length": [5.5],
    "sepal width": [3],
    "petal length": [(0, 2), (2, 5), (5.5, 10)],
    "petal width": [1, 1.6],
}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X.set_axis(["sepal length", "sepal width", "petal length", "petal width"], axis=1), y


ENDS = st.lists(st.integers(-6, 6), min_size=0, max_size=5, unique=True).map(sorted)
VALUES = arrays(
    np.float64,
    st.integers(1, 30),
    elements=st.sampled_from([*np.arange(-7, 7.5, 0.5), np.nan, -np.inf]),
)


class TestCutPoints:
    @given(VALUES, ENDS)
    def test_bins_are_those_of_pandas(self, values, cuts):
        binned = CutPoints({"a": cuts}).fit_transform(pd.DataFrame({"a": values}))["a"]
        edges = [-np.inf, *cuts, np.inf]
        expected = pd.cut(values, edges, labels=False, include_lowest=True)
        np.testing.assert_array_equal(binned.cat.codes, np.nan_to_num(expected, nan=-1))
        assert len(binned.cat.categories) == len(cuts) + 1
        assert binned.cat.ordered

    @given(VALUES, ENDS.filter(lambda ends: len(ends) >= 4))
    def test_pairs_are_intervals(self, values, ends):
        pairs = [(ends[0], ends[1]), (ends[-2], ends[-1])]
        binned = CutPoints({"a": pairs}).fit_transform(pd.DataFrame({"a": values}))["a"]
        for code, (low, high) in enumerate(pairs):
            inside = (values > low) & (values <= high) | (values == low) & (code == 0)
            np.testing.assert_array_equal(binned.cat.codes == code, inside)

    def test_other_columns_the_index_and_missing_values_stay(self):
        X = pd.DataFrame(
            {"b": ["x", "y", None], "a": [1.0, None, 3.0], "c": [1, 2, 3]}, index=[7, 7, 5]
        )
        learner = CutPoints({"a": [2]}).fit(X)
        binned = learner.transform(X)
        pd.testing.assert_frame_equal(binned[["b", "c"]], X[["b", "c"]])
        assert binned["a"].isna().tolist() == [False, True, False]
        assert binned.columns.tolist() == [*X.columns]
        assert learner.get_feature_names_out().tolist() == [*X.columns]

    def test_close_cuts_have_different_labels(self):
        binned = CutPoints({"a": [1, 1 + 1e-9]}).fit_transform(pd.DataFrame({"a": [1.0, 2]}))
        assert binned["a"].tolist() == ["≤ 1", "> 1.000000001"]
        without_cuts = CutPoints({"a": []}).fit_transform(pd.DataFrame({"a": [1, 2]}))
        assert without_cuts["a"].tolist() == ["all", "all"]

    def test_columns_of_an_array(self):
        binned = CutPoints({"x1": [2.5]}).fit_transform(np.array([[1, 2.5], [3, 2]]))
        assert binned["x1"].tolist() == ["≤ 2.5", "≤ 2.5"]


class TestClassSeparatingCuts:
    def test_midpoints_of_the_widest_gaps(self):
        def cuts(values, y):
            return ClassSeparatingCuts().fit(pd.DataFrame({"a": values}), y).cut_points_["a"]

        # midway between the classes' means 1, 11 and 14
        assert cuts([0.0, 2, 10, 12, 13, 15], list("bbccaa")).tolist() == [6, 12.5]
        # the three widest of five gaps
        y = list("abcdef")
        assert cuts([0.0, 1, 3, 6, 6.5, 10], y).tolist() == [2, 4.5, 8.25]
        # gaps of 0.1 are less than a tenth of a standard deviation
        assert cuts([0.0, 0.1, 3, 3.1, 6, 6.1], y).tolist() == pytest.approx([1.55, 4.55])

    @pytest.mark.parametrize("discretizer", [ClassSeparatingCuts(), EntropyDiscretizer()])
    @pytest.mark.parametrize("power", [-1000, 1020])
    def test_cuts_are_where_they_are_at_any_scale(self, discretizer, power):
        """A power of two leaves every bit of a fraction, also where squares or ranges overflow."""
        y = np.arange(62) % 2
        values = np.append(np.random.default_rng(0).normal(size=60), [-7.5, 7.5])
        values[:60] += y[:60]
        plain = pd.DataFrame({"a": values})
        scaled = pd.DataFrame({"a": np.ldexp(values, power)})
        cuts = discretizer.fit(plain, y).cut_points_["a"]
        scaled_cuts = discretizer.fit(scaled, y).cut_points_["a"]
        assert len(cuts) > 0
        np.testing.assert_array_equal(np.ldexp(cuts, power), scaled_cuts)

    def test_iris_falls_near_the_cuts_of_table_1(self, iris):
        cuts = ClassSeparatingCuts().fit(*iris).cut_points_
        deviations = iris[0].std()
        for name, table_cuts in (IRIS | {"petal length": [2, 5]}).items():
            for cut in table_cuts:
                assert np.abs(cuts[name] - cut).min() < deviations[name] / 2

    @given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-5, 5))
    @settings(max_examples=30)
    def test_units_and_names_do_not_matter(self, seed, scale, shift):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
        y = rng.integers(0, 4, 40)
        class_names = np.array(list("dbca"))
        plain = ClassSeparatingCuts().fit(X, y)
        scaled = ClassSeparatingCuts().fit(X * scale + shift, class_names[y])
        for name in X:
            expected = plain.cut_points_[name] * scale + shift
            np.testing.assert_allclose(scaled.cut_points_[name], expected, atol=1e-9)

    def test_nothing_to_separate(self):
        X = pd.DataFrame(
            {
                "same": [1.0] * 4,
                "none": [np.nan] * 4,
                "one": [1, *[np.nan] * 3],
                "text": list("abcd"),
            }
        )
        X["half"] = [1.0, 3, np.nan, np.nan]
        X["equal"] = [1, 3, 3, 1]
        learner = ClassSeparatingCuts().fit(X, [0, 0, 1, 1])
        cuts = {name: cuts.tolist() for name, cuts in learner.cut_points_.items()}
        assert cuts == dict.fromkeys(X.columns.drop("text"), [])
        assert learner.transform(X)["same"].tolist() == ["all"] * 4
        assert learner.transform(X)["text"].tolist() == list("abcd")


def entropy(labels):
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


def information_after(low_labels, high_labels):
    """The mean entropy of both sides of a cut."""
    total = len(low_labels) * entropy(low_labels) + len(high_labels) * entropy(high_labels)
    return total / (len(low_labels) + len(high_labels))


def slow_cuts(values, labels):
    """Fayyad & Irani (1993) word by word: every midpoint is tried, none is left out."""
    n = len(values)
    examples = [*zip(values, labels, strict=True)]
    information = math.inf
    for low_value, high_value in pairwise(sorted(set(values))):
        midpoint = low_value + (high_value - low_value) / 2
        low_labels = [c for v, c in examples if v <= midpoint]
        high_labels = [c for v, c in examples if v > midpoint]
        candidate = information_after(low_labels, high_labels)
        if candidate < information - 1e-12:
            information = candidate
            cut = midpoint
    if information == math.inf:
        return []
    low_values = [v for v in values if v <= cut]
    high_values = [v for v in values if v > cut]
    low_labels = [c for v, c in examples if v <= cut]
    high_labels = [c for v, c in examples if v > cut]
    # equation 9: k, k1 and k2 are the numbers of classes in the interval and on its two sides
    k = len(set(labels))
    k1 = len(set(low_labels))
    k2 = len(set(high_labels))
    change = k * entropy(labels) - k1 * entropy(low_labels) - k2 * entropy(high_labels)
    delta = math.log2(3**k - 2) - change
    if entropy(labels) - information <= math.log2(n - 1) / n + delta / n:
        return []
    return [*slow_cuts(low_values, low_labels), cut, *slow_cuts(high_values, high_labels)]


@st.composite
def class_dependent_samples(draw):
    """Values and classes that depend on them, mostly enough for some cuts."""
    size = draw(st.integers(1, 60))
    n_classes = draw(st.integers(1, 5))
    values = draw(arrays(np.int64, size, elements=st.integers(0, 30)))
    noise = draw(arrays(np.int64, size, elements=st.sampled_from([0] * 9 + [1, 2])))
    width = draw(st.integers(3, 12))
    return values / 2, (values // width + noise) % n_classes


class TestEntropyDiscretizer:
    @given(class_dependent_samples())
    @settings(max_examples=60)
    def test_is_the_published_algorithm(self, sample):
        values, y = sample
        learner = EntropyDiscretizer().fit(pd.DataFrame({"a": values}), y)
        np.testing.assert_allclose(learner.cut_points_["a"], slow_cuts(values.tolist(), y.tolist()))

    def test_the_criterion_by_hand(self):
        """Three classes of n examples, one after the other.

        The gain of a cut is log2(3) - 2/3, which must be above
        (log2(3n - 1) + log2(25) - 3 log2(3) + 2) / 3n.
        """
        gain = math.log2(3) - 2 / 3
        for n, n_cuts in ((1, 0), (2, 2)):
            least = (math.log2(3 * n - 1) + math.log2(25) - 3 * math.log2(3) + 2) / (3 * n)
            assert (gain > least) == (n_cuts > 0)
            learner = EntropyDiscretizer().fit(np.arange(3 * n)[:, None], np.repeat([0, 1, 2], n))
            assert len(learner.cut_points_["x0"]) == n_cuts

    @pytest.mark.parametrize(("n", "is_cut"), [(5, True), (6, True), (7, False)])
    def test_a_cut_is_one_of_n_minus_1_gaps(self, n, is_cut):
        """All but the last of n examples are of one class: cut if (n + 2) Ent(S) > log2(7 (n - 1)).

        With n instead of n - 1 gaps no column would be cut, with n - 2 all of them.
        """
        y = np.arange(n) == n - 1
        left = (n + 2) * entropy(y.tolist())
        is_above = [left > math.log2(7 * n_gaps) for n_gaps in (n - 2, n - 1, n)]
        assert is_above == [True, is_cut, False]
        learner = EntropyDiscretizer().fit(np.arange(n)[:, None], y)
        assert len(learner.cut_points_["x0"]) == is_cut

    def test_missing_values_are_ignored_and_kept(self):
        values = np.append(np.arange(10.0), [np.nan] * 5)
        y = np.append(np.repeat([0, 1], 5), [0, 1, 2, 3, 4])
        X = pd.DataFrame({"a": values, "text": ["t"] * 15, "flag": [True] * 15, "none": np.nan})
        learner = EntropyDiscretizer().fit(X, y)
        assert {name: cuts.tolist() for name, cuts in learner.cut_points_.items()} == {
            "a": [4.5],
            "none": [],
        }
        binned = learner.transform(X)
        assert binned["a"].tolist()[:10] == ["≤ 4.5"] * 5 + ["> 4.5"] * 5
        assert binned["a"].isna().sum() == 5
        assert binned["none"].isna().all()
        pd.testing.assert_frame_equal(binned[["text", "flag"]], X[["text", "flag"]])

    def test_neighbouring_floats_are_separated(self):
        X = pd.DataFrame({"a": np.repeat([1.0, np.nextafter(1.0, 2)], 20)})
        y = np.repeat([0, 1], 20)
        bins = EntropyDiscretizer().fit(X, y).transform(X)["a"]
        assert bins.cat.codes.tolist() == y.tolist()


class TestOneHot:
    X = pd.DataFrame(
        {
            "odor": pd.Categorical(["almond", "foul", None], categories=["almond", "foul", "none"]),
            "bruises": [True, False, True],
            "text": ["b", "a", "b"],
            "size": pd.array([2, None, 10], dtype="Int64"),
        },
        index=[4, 4, 9],
    )

    @pytest.mark.parametrize(
        "columns",
        [
            {"x": ["(missing)", None, "a"]},
            {"x": ["1=p", "q", "r"], "x=1": ["p", "q", "p"]},
            {"x": ["1", 1, "2", "b"]},
        ],
    )
    def test_columns_of_one_name_are_refused(self, columns):
        """The next step of a pipeline could not tell them apart."""
        with pytest.raises(ValueError, match="two columns would have the name 'x="):
            OneHot().fit(pd.DataFrame(columns, dtype=object).astype(object))

    def test_one_column_a_value(self):
        learner = OneHot().fit(self.X)
        names = [
            "odor=almond",
            "odor=foul",
            "odor=none",
            "odor=(missing)",
            "bruises=False",
            "bruises=True",
        ]
        names += ["text=a", "text=b", "size=2", "size=10", "size=(missing)"]
        assert learner.get_feature_names_out().tolist() == names
        columns = learner.transform(self.X)
        assert columns.columns.tolist() == names
        assert columns.index.tolist() == [4, 4, 9]
        assert set(columns.dtypes) == {np.dtype(bool)}
        assert columns.astype(int).to_numpy().tolist() == [
            [1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0],
            [0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1],
            [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0],
        ]

    def test_missing_ignored(self):
        learner = OneHot(missing="ignore").fit(self.X)
        columns = OneHot().fit_transform(self.X)
        names = [name for name in columns if "missing" not in name]
        pd.testing.assert_frame_equal(learner.transform(self.X), columns[names])

    def test_unknown_and_newly_missing_values_are_all_false(self):
        learner = OneHot().fit(self.X[["odor", "text"]])
        new = pd.DataFrame(
            {"odor": pd.Categorical(["violet", None, "foul"]), "text": [None, "c", "a"]}
        )
        columns = learner.transform(new)
        assert columns.columns[columns.iloc[0]].tolist() == []
        assert columns.columns[columns.iloc[1]].tolist() == ["odor=(missing)"]
        assert columns.columns[columns.iloc[2]].tolist() == ["odor=foul", "text=a"]
        as_text = learner.transform(new.astype(object))
        pd.testing.assert_frame_equal(as_text, columns)

    def test_a_category_may_be_called_missing(self):
        X = pd.DataFrame({"root": ["missing", None, "club"]})
        assert OneHot().fit(X).get_feature_names_out().tolist() == [
            "root=club",
            "root=missing",
            "root=(missing)",
        ]

    def test_constant_attributes(self):
        constant_column = pd.Categorical(["r"] * 3, categories=["r", "g"])
        X = self.X.assign(same=constant_column, none=pd.Series([None] * 3, dtype=object))
        X["rarely"] = ["r", None, "r"]
        dropped = OneHot(constant="drop").fit(X)
        assert [*dropped.categories_] == ["odor", "bruises", "text", "size", "rarely"]
        assert dropped.transform(X).equals(OneHot().fit_transform(X[[*dropped.categories_]]))
        names = OneHot().fit(X).get_feature_names_out().tolist()
        assert names[-5:] == ["same=r", "same=g", "none=(missing)", "rarely=r", "rarely=(missing)"]
        # but where all columns are constant, none is dropped
        constant = OneHot(constant="drop").fit_transform(X[["same"]])
        assert constant.equals(OneHot().fit_transform(X[["same"]]))

    @given(
        st.integers(1, 20),
        st.integers(1, 4),
        st.integers(0, 1000),
        st.sampled_from(["category", "str", "object"]),
    )
    @settings(max_examples=20)
    def test_is_get_dummies(self, size, n, seed, dtype):
        values = np.random.default_rng(seed).choice(["a", "b", "c"], (size, n))
        X = pd.DataFrame(values, columns=[f"x{i}" for i in range(n)], dtype="str").astype(dtype)
        columns = OneHot().fit_transform(X)
        pd.testing.assert_frame_equal(
            columns, pd.get_dummies(X, prefix_sep="=", dtype=bool), check_column_type=False
        )
        assert (columns.sum(axis=1) == n).all()
