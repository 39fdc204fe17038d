"""GainRatioTree: tests by enumeration, pruning by the binomial bound, fractions by hand, peers."""

import pickle
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import export_text as peer_text

from lib import datasets
from lib.trees import GainRatioTree, OptionTree, Table, export_text
from lib.trees.cases_by_code import sort_by_code
from lib.trees.node_cases import new_growth
from lib.trees.pruning import added_errors
from lib.trees.text import number_text

NAN = np.nan


def entropy(weights):
    p = np.array([w for w in weights if w > 0]) / sum(weights)
    return -(p * np.log2(p)).sum()


def gain_and_ratio(X, y, w, name, cut):
    """Gain and gain ratio of a test, from their definitions; None where a branch is too small."""
    x = X[name]
    has_value = x.notna()
    outcome = x if cut is None else x > cut
    branches = [has_value & (outcome == value) for value in sorted(set(outcome[has_value]))]
    branch_weights = [w[branch].sum() for branch in branches]
    if sum(weight >= 2 for weight in branch_weights) < 2:
        return None

    def total_entropy(mask):
        return w[mask].sum() * entropy([w[mask & (y == c)].sum() for c in set(y)])

    remaining = sum(total_entropy(branch) for branch in branches)
    gain = (total_entropy(has_value) - remaining) / w.sum()
    # cases without a value are a branch of their own in what the split itself tells
    split_information = entropy([*branch_weights, w[~has_value].sum()])
    return gain, gain / split_information


class RootTest(NamedTuple):
    gain: float
    ratio: float
    name: str
    cut: float | None


def category_tests(X, y, w, name):
    result = gain_and_ratio(X, y, w, name, None)
    if result is None:
        return []
    gain, ratio = result
    return [RootTest(gain, ratio, name, None)]


def threshold_tests(X, y, w, name):
    """The threshold with the largest gain, from which C4.5 takes log2(thresholds) / cases (MDL)."""
    tests = []
    for low, high in pairwise(np.unique(X[name].dropna())):
        result = gain_and_ratio(X, y, w, name, low)
        if result is not None:
            gain, ratio = result
            tests.append(RootTest(gain, ratio, name, (low + high) / 2))
    if not tests:
        return []
    # of thresholds with the same gain the lowest one, also where rounding tells them apart
    best_gain = max(test.gain for test in tests)
    best = next(test for test in tests if test.gain > best_gain - 1e-9)
    penalty = np.log2(len(tests)) / w.sum()
    gain = best.gain - penalty
    if not gain > 1e-6:
        return []
    return [RootTest(gain, best.ratio * gain / best.gain, name, best.cut)]


def considered_tests(X, y, w):
    """Tests that C4.5 considers at the root, by gain ratio: their gain is not below the mean.

    A category attribute counts in the mean if it has fewer categories than 0.3 times the examples.
    """
    tests = []
    gains_in_mean = []
    for name, x in X.items():
        if x.dtype == "category":
            attribute_tests = category_tests(X, y, w, name)
            counts_in_mean = len(x.cat.categories) < 0.3 * len(X)
        else:
            attribute_tests = threshold_tests(X, y, w, name)
            counts_in_mean = True
        tests += attribute_tests
        if counts_in_mean:
            gains_in_mean += [test.gain for test in attribute_tests]
    if not gains_in_mean:
        return []
    mean_gain = np.mean(gains_in_mean)
    candidates = [test for test in tests if test.gain >= mean_gain - 1e-3 and test.ratio > 1e-6]
    return sorted(candidates, key=lambda test: -test.ratio)


def best_tests(X, y, w):
    """The considered tests with the best gain ratio."""
    candidates = considered_tests(X, y, w)
    return [test for test in candidates if test.ratio > candidates[0].ratio - 1e-5]


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_root_has_the_best_gain_ratio(seed):
    rng = np.random.default_rng(seed)
    # so few that a tenth of an average class is hardly ever more than two cases
    n = rng.integers(6, 20)
    X = pd.DataFrame({f"a{j}": rng.integers(0, 5, n).astype(float) for j in range(3)})
    X["b"] = pd.Categorical(rng.integers(0, 3, n))
    X = X.mask(rng.random(X.shape) < rng.choice([0, 0.2]))
    y = rng.integers(0, 2, n)
    w = rng.integers(1, 4, n).astype(float)
    tree = GainRatioTree(pruning=None).fit(X, y, w)
    # C4.5 does not divide a node of one class or of fewer than four cases
    divisible = len(set(y)) == 2 and w.sum() >= 4
    best = best_tests(X, y, w) if divisible else []
    if tree.attribute_[0] >= 0:  # a test that does not lower the errors is collapsed
        name = X.columns[tree.attribute_[0]]
        assert name in {test.name for test in best}
        cuts = [test.cut for test in best if test.name == name]
        assert None in cuts or min(abs(tree.threshold_[0] - cut) for cut in cuts) < 1e-12


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_options_are_the_considered_tests_and_their_trees_are_averaged(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(6, 20)
    X = pd.DataFrame({f"a{j}": rng.integers(0, 5, n).astype(float) for j in range(4)})
    X["b"] = pd.Categorical(rng.integers(0, 3, n), categories=range(4))
    y = rng.permutation(np.arange(n) % 2)
    w = rng.integers(1, 4, n).astype(float)
    learner = GainRatioTree(pruning=None)
    options = OptionTree(learner, n_options=5, depth=1).fit(X, y, w)
    candidates = considered_tests(X, y, w)
    if w.sum() < 4 or not candidates:
        np.testing.assert_array_equal(
            options.predict_proba(X), learner.fit(X, y, w).predict_proba(X)
        )
        return
    # the same tests; of those that are equal but for rounding, either may come first
    ratios = {test.name: test.ratio for test in candidates}
    names = [X.columns[option.attribute] for option in options.root_.options]
    assert set(names) == set(ratios)
    np.testing.assert_allclose([ratios[name] for name in names], sorted(ratios.values())[::-1])
    expected = np.zeros((n, 2))
    for test in candidates:
        branch = X[test.name] if test.cut is None else X[test.name] > test.cut
        for value in set(branch):
            is_here = (branch == value).to_numpy()
            # rows of weight 0 do not count, but for the number of rows and the classes
            subtree = learner.fit(X, y, w * is_here)
            expected[is_here] += subtree.predict_proba(X[is_here]) / len(candidates)
    np.testing.assert_allclose(options.predict_proba(X), expected, atol=1e-12)
    # what no case has gets the answer of the node: its class frequencies
    for option in options.root_.options:
        if X.columns[option.attribute] == "b":
            assert [part == 0 for part in option.share] == [
                subtree is None for subtree in option.branches
            ]
    unknown = X[:1].assign(b=pd.Categorical([3], categories=range(4)))
    if names == ["b"]:
        frequencies = np.bincount(y, w) / w.sum()
        np.testing.assert_allclose(options.predict_proba(unknown)[0], frequencies)


@pytest.mark.parametrize("midway", [True, False])
def test_an_option_tree_with_one_option_is_the_tree_of_c45(midway):
    """It is, unless C4.5 makes a leaf of an upper node, where its branches have as many errors."""
    n_equal = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(
            {
                "a": rng.normal(size=200).round(1),
                "b": pd.Categorical(rng.integers(0, 4, 200)),
                "c": rng.normal(size=200),
                "d": rng.integers(0, 2, 200).astype(float),
            }
        ).mask(rng.random((200, 4)) < 0.1)
        score = X["a"].fillna(0) + (X["c"] * X["d"]).fillna(0) + rng.normal(size=200) / 2
        y = (score > 0).astype(int)
        tree = GainRatioTree(pruning=None, midway=midway).fit(X, y)
        for depth in range(4):
            options = OptionTree(tree, n_options=1, depth=depth).fit(X, y)
            assert options.n_leaves_ >= tree.n_leaves_
            if options.n_leaves_ == tree.n_leaves_:
                n_equal += 1
                np.testing.assert_allclose(
                    options.predict_proba(X), tree.predict_proba(X), atol=1e-12
                )
    assert n_equal > 50


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (OptionTree(GainRatioTree(), 0), "n_options must be an integer of at least 1; got 0"),
        (OptionTree(GainRatioTree(), depth=-1), "depth must be an integer of at least 0; got -1"),
        (OptionTree(GainRatioTree(n_best=2)), "learner must be a GainRatioTree with n_best=1"),
        (OptionTree(DecisionTreeClassifier()), "learner must be a GainRatioTree with n_best=1"),
        (OptionTree(GainRatioTree(min_leaf=0)), "min_leaf must be a finite number"),
    ],
)
def test_parameters_of_option_trees_are_told(learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit([[1.0], [2.0]], [0, 1])


def test_fractions_of_cases_by_hand():
    """A case without a value goes to both branches, by the shares of the others, here 3/5 and 2/5.

    (Quinlan 1993, chapter 3.)
    """
    X = pd.DataFrame({"a": [0.0, 0, 0, 1, 1, NAN]})
    y = np.array(["n", "n", "n", "p", "p", "p"])
    tree = GainRatioTree(pruning=None, mdl=False, min_leaf=1).fit(X, y)
    assert tree.threshold_[0] == 0.5
    np.testing.assert_allclose(tree.share_[1:], [0.6, 0.4])
    np.testing.assert_allclose(tree.distribution_[1], [3 / 3.6, 0.6 / 3.6])
    np.testing.assert_allclose(tree.distribution_[2], [0, 1])
    np.testing.assert_allclose(tree.predict_proba(X[5:])[0], [0.6 * 3 / 3.6, 0.6 * 0.6 / 3.6 + 0.4])
    with pytest.raises(ValueError, match="column 'a' was continuous in fit; got category"):
        tree.predict(X.assign(a=pd.Categorical(list("qqqqqq"))))


@pytest.mark.parametrize("n", [1, 2, 6, 9, 20, 100, 1000])
@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.4])
def test_the_bound_of_pruning_is_that_of_the_binomial(n, confidence):
    """At an error rate of U, so few errors have the probability `confidence`.

    Exact without errors; with some, the normal approximation is near the exact bound.
    """
    rate_without_errors = added_errors(float(n), 0.0, confidence, 0.0) / n
    assert binom.cdf(0, n, rate_without_errors) == pytest.approx(confidence)
    z = norm.isf(confidence)
    tolerance = 0.04 if n > 6 else 0.3
    for errors in {n // 10, n // 4, n // 2} - {0}:
        rate = (errors + added_errors(float(n), float(errors), confidence, z)) / n
        probability = binom.cdf(errors, n, min(rate, 1))
        assert probability == pytest.approx(confidence, abs=tolerance)


def test_quinlans_example_of_the_bound():
    """C4.5, page 42: leaves of 6, 9 and 1 cases without errors have U = .206, .143 and .75.

    Together they have 3.273 errors; a leaf of all 16 cases, one of them wrong, has 2.512.
    """
    bounds = [1 - 0.25 ** (1 / n) for n in (6, 9, 1)]
    np.testing.assert_allclose(bounds, [0.206, 0.143, 0.75], atol=5e-4)
    errors = sum(added_errors(float(n), 0.0, 0.25, 0.6745) for n in (6, 9, 1))
    assert errors == pytest.approx(3.273, abs=0.003)
    assert 1 + added_errors(16.0, 1.0, 0.25, 0.6745) == pytest.approx(16 * 0.157, abs=0.15)


def node_tests(attributes, thresholds):
    return {
        (attribute, round(float(threshold), 6))
        for attribute, threshold in zip(attributes, thresholds, strict=True)
        if attribute >= 0
    }


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_tree_of_scikit_learn_where_both_do_the_same(seed):
    rng = np.random.default_rng(seed)
    # no value comes twice, so no two tests of different attributes are often equal
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=200) / 2 > 0).astype(int)
    ours = GainRatioTree(criterion="gain", mdl=False, pruning=None, min_leaf=15).fit(X, y)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=15, random_state=0)
    theirs.fit(X, y)
    our_tests = node_tests(ours.attribute_, ours.threshold_)
    their_tests = node_tests(theirs.tree_.feature, theirs.tree_.threshold)
    # small nodes may have equally good tests; subtrees without fewer errors are leaves in ours
    assert len(our_tests - their_tests) <= 1
    assert len(our_tests) > 3
    assert (ours.predict(X) != y).sum() == (theirs.predict(X) != y).sum()


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_weights_are_numbers_of_cases(seed, pruned):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.integers(0, 6, 40).astype(float), "b": pd.Categorical(rng.integers(0, 3, 40))}
    )
    X = X.mask(rng.random(X.shape) < 0.1)
    y = rng.integers(0, 3, 40)
    w = rng.integers(0, 4, 40)
    # each class has an example
    y[:3] = [0, 1, 2]
    w[:3] = 1
    learner = GainRatioTree(pruning=0.25 if pruned else None)
    weighted = learner.fit(X, y, w).predict_proba(X)
    rows = np.repeat(np.arange(40), w)
    repeated = learner.fit(X.iloc[rows], y[rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_random_choice_among_the_best_tests():
    data = datasets.load("pima")
    trees = [GainRatioTree(n_best=20, random_state=i).fit(data.X, data.y) for i in range(12)]
    assert len({(tree.attribute_[0], tree.threshold_[0]) for tree in trees}) > 5
    copy = GainRatioTree(n_best=20, random_state=3).fit(data.X, data.y)
    np.testing.assert_array_equal(copy.predict_proba(data.X), trees[3].predict_proba(data.X))
    root_attributes = {
        GainRatioTree(max_features=1, random_state=i).fit(data.X, data.y).attribute_[0]
        for i in range(60)
    }
    assert root_attributes >= set(range(8))


def test_a_tree_as_deep_as_it_has_leaves():
    """100,000 nodes below each other, or nearly: prediction and pickling do not recurse."""
    n = 50_001
    tree = GainRatioTree().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    nodes = np.arange(2 * n - 1)
    inner = nodes[:-1] % 2 == 0  # node 2i has the leaf 2i + 1 and the node 2i + 2
    tree.attribute_ = np.where(np.append(inner, False), 0, -1).astype(np.int32)
    tree.child_ = np.where(tree.attribute_ >= 0, nodes + 1, -1).astype(np.int32)
    tree.threshold_ = nodes / 2.0
    tree.share_ = np.full(len(nodes), 0.5)
    tree.distribution_ = np.eye(2)[(nodes // 2) % 2]
    tree = pickle.loads(pickle.dumps(tree))
    assert tree.predict([[0.0], [n - 5.0], [1e9]]).tolist() == [0, (n - 5) % 2, (n - 1) % 2]
    np.testing.assert_allclose(tree.predict_proba([[NAN]]).sum(), 1)


def test_a_chain_grows_and_is_pruned():
    X = np.arange(3000.0)[:, None]
    y = np.arange(3000) % 2
    deep = GainRatioTree(pruning=None, min_leaf=1, mdl=False, criterion="gain").fit(X, y)
    assert deep.n_nodes_ > 5000
    assert (deep.predict(X) == y).all()
    assert GainRatioTree(mdl=False).fit(X, y).n_nodes_ <= deep.n_nodes_


def test_pruning_of_randomised_trees_ends():
    """Where a leaf is not worth it but a branch nearly is: this once went round without end."""
    data = datasets.load("glass")
    for i in range(40):
        grown = GainRatioTree(pruning=None, n_best=20, random_state=i).fit(data.X, data.y)
        pruned = GainRatioTree(n_best=20, random_state=i).fit(data.X, data.y)
        assert pruned.n_nodes_ <= grown.n_nodes_
        assert (pruned.predict(data.X) != data.y).sum() >= (grown.predict(data.X) != data.y).sum()


KINDS = {
    "numbers": {},
    "values as thresholds": {"midway": False},
    "integers": {},
    "categories": {},
    "missing": {},
    "weights": {},
    "drawn tests": {"n_best": 5, "random_state": 0},
}


def random_data(kind, seed):
    """Columns (by `kind` integers, categories or incomplete), classes and weights of rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 300))
    p = int(rng.integers(2, 6))
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"a{j}" for j in range(p)])
    y = (X.to_numpy() @ rng.normal(size=p) + rng.normal(size=n) * 0.8 > 0).astype(int)
    if kind == "integers":
        X = (4 * X).round().astype(int)
    if kind == "categories":
        X["c"] = pd.Categorical(rng.integers(0, 4, n), categories=range(4))
        X["d"] = X["a0"] > 0.5
    if kind == "missing":
        X = X.mask(rng.random(X.shape) < 0.1)
    weights = rng.integers(1, 4, n).astype(float) if kind == "weights" else np.ones(n)
    return X, y, weights


def weights_at_nodes(tree, X, weights):
    """Weight of each row at each node, by thresholds, categories and shares alone.

    Shape (n_nodes, n_samples).
    """
    node_weights = np.zeros((tree.n_nodes_, len(X)))
    node_weights[0] = weights
    for node in np.flatnonzero(tree.attribute_ >= 0):  # parents come first
        name = X.columns[tree.attribute_[node]]
        if name in tree.categories_:
            branch = tree.categories_[name].get_indexer(X[name])
            n_branches = len(tree.categories_[name])
        else:
            branch = np.where(X[name].isna(), -1, X[name].to_numpy() > tree.threshold_[node])
            n_branches = 2
        for number in range(n_branches):
            child = tree.child_[node] + number
            share = np.where(branch < 0, tree.share_[child], branch == number)
            node_weights[child] = node_weights[node] * share
    return node_weights


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_are_those_of_the_rows_that_come_to_a_leaf(kind):
    """Raised branches, too, count their cases by the tests that they have."""
    for seed in range(50):
        X, y, weights = random_data(kind, seed)
        tree = GainRatioTree(**KINDS[kind]).fit(X, y, weights)
        node_weights = weights_at_nodes(tree, X, weights)
        counts = np.column_stack([node_weights[:, y == c].sum(axis=1) for c in (0, 1)])
        leaves = (tree.attribute_ < 0) & (counts.sum(axis=1) > 0)
        np.testing.assert_allclose(counts[leaves].sum(), weights.sum())
        frequencies = counts[leaves] / counts[leaves].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            tree.distribution_[leaves], frequencies, atol=1e-9, err_msg=f"seed {seed}"
        )


@pytest.mark.parametrize("midway", [True, False])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.7e308, 1.7e308),
        (np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)),  # whose middle is rounded up
        (1.0, np.nextafter(1.0, 2)),
        (0.0, 5e-324),
    ],
)
def test_a_threshold_divides_whatever_two_numbers(low, high, midway):
    X = np.repeat([low, high], 5)[:, None]
    y = np.repeat([0, 1], 5)
    tree = GainRatioTree(midway=midway).fit(X, y)
    assert low <= tree.threshold_[0] < high
    np.testing.assert_array_equal(tree.predict(X), y)
    np.testing.assert_array_equal(tree.distribution_[1:], np.eye(2))


@pytest.mark.parametrize("name", ["soybean-large", "glass"])
def test_a_tree_without_room_for_nodes_or_cases_grows_anew(monkeypatch, name):
    data = datasets.load(name)
    learner = GainRatioTree(n_best=2, random_state=0)
    expected = learner.fit(data.X, data.y).predict_proba(data.X)
    rooms = []

    def new_small_growth(rows, weights, data, room):
        rooms.append(room)
        growth = new_growth(rows, weights, data, room)
        max_nodes = room * data.attributes["n_branches"].max()
        return growth._replace(
            nodes=growth.nodes[:max_nodes],
            class_weights=growth.class_weights[:max_nodes],
            cases=growth.cases[: room * len(rows) // 2],
        )

    monkeypatch.setattr("lib.trees.tree.new_growth", new_small_growth)
    np.testing.assert_array_equal(learner.fit(data.X, data.y).predict_proba(data.X), expected)
    assert len(rooms) > 3


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_codes_are_in_order_however_wide_their_range(seed, bits):
    """A shift by all 64 bits shifts by none: digits once had no end where the last began there."""
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.integers(0, 2**bits, 2))
    codes = rng.integers(low, high + 1, rng.integers(1, 90))
    n = len(codes)
    keys = codes << 32 | np.arange(n)
    sort_by_code(keys, low, high - low, np.empty(n, np.int64), np.empty(4 * n + 2, np.int64))
    np.testing.assert_array_equal(keys & 0xFFFFFFFF, np.argsort(codes, kind="stable"))


def test_an_empty_branch_says_what_its_parent_says():
    X = pd.DataFrame({"a": pd.Categorical(list("xxxyyy"), categories=list("xyz"))})
    tree = GainRatioTree(pruning=None).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(
        tree.predict_proba(pd.DataFrame({"a": ["z", "x", "?"]})), [[0.5, 0.5], [1, 0], [0.5, 0.5]]
    )
    assert (tree.n_nodes_, tree.n_leaves_) == (4, 3)


def test_data_that_tell_little():
    y = [0, 1, 0, 1]
    for X in (
        pd.DataFrame({"a": [1.0] * 4}),
        pd.DataFrame({"a": [NAN] * 4}),
        pd.DataFrame({"a": [None] * 4}, dtype="category"),
    ):
        tree = GainRatioTree().fit(X, y)
        assert tree.n_nodes_ == 1
        np.testing.assert_array_equal(tree.predict_proba(X), [[0.5, 0.5]] * 4)
    assert GainRatioTree().fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]
    # a class of weight 0 is one of the classes, and never predicted
    tree = GainRatioTree(min_leaf=1).fit([[1.0], [2.0], [3.0]], [0, 1, 2], [1, 1, 0])
    assert tree.classes_.tolist() == [0, 1, 2]
    assert tree.predict([[9.0]]).tolist() == [1] or tree.n_nodes_ == 1


PEOPLE = pd.DataFrame(
    {
        "sex": pd.Categorical(["f", "m"] * 10),
        "age": np.repeat([20.0, 29.0, 30.0, 40.5, 1234567.5], 4),
        "new": [True, False, False, True] * 5,
    }
)
ADULT = np.where((PEOPLE["sex"] == "f") & (PEOPLE["age"] > 29.5), "yes", "no")


def test_a_tree_as_text():
    tree = GainRatioTree(pruning=None).fit(PEOPLE, ADULT)
    assert export_text(tree).splitlines() == [
        "|--- sex = f",
        "|   |--- age <= 29.5",
        "|   |   |--- class: no",
        "|   |--- age >  29.5",
        "|   |   |--- class: yes",
        "|--- sex = m",
        "|   |--- class: no",
    ]
    assert export_text(tree, max_depth=0).splitlines()[:2] == [
        "|--- sex = f",
        "|   |--- truncated branch of depth 2",
    ]
    assert {name: list(values) for name, values in tree.categories_.items()} == {
        "sex": ["f", "m"],
        "new": [False, True],
    }
    assert export_text(tree.fit(Table(PEOPLE), ADULT)).startswith(
        "|--- sex = f\n|   |--- age <= 29.5"
    )
    assert export_text(GainRatioTree().fit([[1.0], [2.0]] * 5, [3, 4] * 5)).startswith(
        "|--- x0 <= 1.5\n|   |--- class: 3"
    )
    assert export_text(GainRatioTree().fit([[1.0]], ["no"])) == "|--- class: no"


def copy_tree(peer, ours):
    """Give our tree the nodes of scikit-learn's."""
    inner = peer.feature >= 0
    children = np.column_stack([peer.children_left, peer.children_right])
    # ours numbers nodes level by level, the children of a node side by side
    order = [0]
    for node in order:
        if inner[node]:
            order.extend(children[node].tolist())
    first_children = [order.index(children[node, 0]) if inner[node] else -1 for node in order]
    ours.attribute_ = np.where(inner, peer.feature, -1)[order]
    ours.threshold_ = np.where(inner, peer.threshold, np.nan)[order]
    ours.child_ = np.array(first_children)
    ours.distribution_ = peer.value[order, 0]
    ours.n_nodes_ = len(order)


@pytest.mark.parametrize("seed", range(4))
def test_the_text_of_a_tree_of_numbers_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=200) > 0).map({True: "up", False: "down"})
    theirs = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y)
    ours = GainRatioTree(pruning=None).fit(X, y)
    copy_tree(theirs.tree_, ours)
    for depth in (0, 2, 10):
        expected = peer_text(theirs, feature_names=["a", "b", "c"], max_depth=depth, decimals=3)
        text = export_text(ours, max_depth=depth)
        rounded = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.3f}", text)
        assert rounded == expected.rstrip("\n")


def test_a_very_deep_tree_as_text():
    X = np.arange(3000.0)[:, None]
    tree = GainRatioTree(pruning=None, min_leaf=1, mdl=False, criterion="gain").fit(
        X, np.arange(3000) % 2
    )
    lines = export_text(tree, max_depth=5000).splitlines()
    assert sum("class: " in line for line in lines) == tree.n_leaves_


def test_numbers_as_text():
    """Six digits, or as many as are before the decimal point, without rounding errors."""
    text_by_number = {
        24.0: "24",
        24.5: "24.5",
        2.4749999999999996: "2.475",
        0.12345678: "0.123457",
        1234567.5: "1234567.5",
        123456789012.0: "123456789012",
        1e20: "1e+20",
        -0.5: "-0.5",
        1.5e-7: "1.5e-07",
        1.7e308: "1.7e+308",
    }
    assert {number: number_text(number) for number in text_by_number} == text_by_number


def test_what_has_no_text_is_told():
    with pytest.raises(
        ValueError, match=r"tree must be a GainRatioTree; got DecisionTreeClassifier\(\)"
    ):
        export_text(DecisionTreeClassifier())
    with pytest.raises(NotFittedError):
        export_text(GainRatioTree())
    with pytest.raises(ValueError, match="max_depth must be an integer of at least 0; got -1"):
        export_text(GainRatioTree().fit([[1.0], [2.0]], [0, 1]), max_depth=-1)


def test_a_table_takes_the_place_of_a_frame():
    data = datasets.load("soybean-large")
    table = Table(data.X)
    of_table = GainRatioTree().fit(table, data.y)
    of_frame = GainRatioTree().fit(data.X, data.y)
    np.testing.assert_array_equal(of_table.predict_proba(table), of_frame.predict_proba(data.X))


def test_a_table_of_other_columns_is_told():
    """Compiled code does not check where it reads: this once had no end."""
    tree = GainRatioTree().fit(Table(PEOPLE), ADULT)
    new = PEOPLE.assign(sex=pd.Categorical(["m", "x"] * 10))
    expected = GainRatioTree().fit(PEOPLE, ADULT).predict_proba(new)
    np.testing.assert_array_equal(tree.predict_proba(Table(new, tree._columns)), expected)
    with pytest.raises(
        ValueError, match=r"X must have the columns of fit, .*; got a Table of \['age', 'sex'\]"
    ):
        tree.predict(Table(PEOPLE[["age", "sex"]]))
    for column in (pd.Categorical(["m", "x"] * 10), np.arange(20.0)):
        with pytest.raises(
            ValueError, match="column 'sex' of the Table has other categories than in fit"
        ):
            tree.predict(Table(PEOPLE.assign(sex=column)))


SHORT = {
    "a range that overflows": [[-1.7e308]] * 5 + [[1.7e308]] * 5,
    "numbers that are nearly 0": [[0.0]] * 5 + [[5e-324]] * 5,
    "nothing": [[NAN]] * 10,
    "one value": pd.DataFrame({"a": ["x"] * 10, "b": [True] * 10}),
    "no known category": pd.DataFrame({"a": pd.Categorical([None] * 10, categories=["x", "y"])}),
    "identifiers": pd.DataFrame({"a": [f"i{i}" for i in range(10)]}),
}


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize(
    "y", [[0] * 5 + [1] * 5, [1] * 10, list(range(10))], ids=["two", "one", "each its own"]
)
def test_input_of_every_kind_gives_probabilities(name, y):
    X = SHORT[name]
    for tree in (
        GainRatioTree(),
        GainRatioTree(pruning=None, min_leaf=1e-9, n_best=10**30, random_state=0),
        OptionTree(GainRatioTree(min_leaf=1)),
    ):
        probability = tree.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert (probability >= 0).all()
        if isinstance(tree, OptionTree):
            continue
        assert export_text(tree).count("class: ") == tree.n_leaves_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": 0.6}, r"pruning must be a finite number in \(0, 0.5\]; got 0.6"),
        ({"min_leaf": 0}, r"min_leaf must be a finite number in \(0, inf\]; got 0"),
        ({"n_best": 0}, "n_best must be an integer of at least 1; got 0"),
        (
            {"criterion": "gain_ration"},
            "criterion must be one of 'gain_ratio', 'gain'.*did you mean 'gain_ratio'",
        ),
        ({"mdl": 1}, "mdl must be True or False; got 1"),
        ({"max_features": 0}, "max_features must be an integer of at least 1; got 0"),
    ],
)
def test_parameters_out_of_range_are_told(parameters, message):
    with pytest.raises(ValueError, match=message):
        GainRatioTree(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_bad_input_is_told():
    X = [[1.0], [2.0], [3.0]]
    y = [0, 1, 1]
    with pytest.raises(
        ValueError, match="Sample weights must contain at least one non-zero number"
    ):
        GainRatioTree().fit(X, y, [0, 0, 0])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\), expected \(3,\)"):
        GainRatioTree().fit(X, y, [1, 1])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        GainRatioTree().fit(X, y, [1, -1, 1])
    with pytest.raises(
        ValueError, match=r"sample_weight must have a finite sum; the largest weight is 1e\+308"
    ):
        GainRatioTree().fit(X, y, [1e308] * 3)
    with pytest.raises(ValueError, match="X must not hold infinity"):
        GainRatioTree().fit([[1.0], [np.inf], [3.0]], y)
    with pytest.raises(ValueError, match="no class is given in row 1"):
        GainRatioTree().fit(X, [0, np.nan, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GainRatioTree().fit(X, [0, 1])
    with pytest.raises(NotFittedError):
        GainRatioTree().predict(X)


def test_weights_that_are_shares_are_numbers_of_cases():
    """Weights like those of scikit-learn's AdaBoost, whose sum is 1.

    A branch must have two cases, which no branch would have if such weights were not scaled.
    """
    X, y = load_iris(return_X_y=True)
    shares = GainRatioTree().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    np.testing.assert_array_equal(shares.threshold_, GainRatioTree().fit(X, y).threshold_)
    assert shares.n_leaves_ > 2
