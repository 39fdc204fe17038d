"""GainRatioTree: tests by enumeration, pruning by the binomial bound, fractions by hand, scikit-learn's trees."""

import pickle
import re
import warnings
from itertools import pairwise

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
from sklearn.utils.estimator_checks import parametrize_with_checks

from lib import datasets
from lib.trees import GainRatioTree, Table, export_text
from lib.trees.cases_by_code import sort_by_code
from lib.trees.node_cases import new_growth
from lib.trees.pruning import added_errors
from lib.trees.text import number_text

NAN = np.nan


@parametrize_with_checks([GainRatioTree(), GainRatioTree(n_best=3, max_features=2, pruning=None)])
def test_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def entropy(weights):
    p = np.array([w for w in weights if w > 0]) / sum(weights)
    return -(p * np.log2(p)).sum()


def split(X, y, w, name, cut):
    """Gain and gain ratio of a test, from their definitions; None where a side is too small."""
    x, total = X[name], w.sum()
    branch = x if cut is None else x > cut
    groups = [
        known
        for known in (x.notna() & (branch == v) for v in sorted(set(branch[x.notna()])))
        if known.any()
    ]
    if sum(w[g].sum() >= 2 for g in groups) < 2:
        return None
    known = x.notna()
    of_classes = [w[known & (y == c)].sum() for c in set(y)]
    inside = sum(w[g].sum() * entropy([w[g & (y == c)].sum() for c in set(y)]) for g in groups)
    gain = (w[known].sum() * entropy(of_classes) - inside) / total
    parts = [w[g].sum() for g in groups] + [w[~known].sum()]
    return gain, gain / entropy(parts)


def best_tests(X, y, w):
    """Tests of C4.5 at the root, with the best gain ratio of those whose gain is not below the mean."""
    found = []
    for name, x in X.items():
        if x.dtype == "category":
            results = [(split(X, y, w, name, None), None)]
        else:
            results = [
                (split(X, y, w, name, a), (a + b) / 2) for a, b in pairwise(np.unique(x.dropna()))
            ]
        results = [(r, cut) for r, cut in results if r is not None]
        if results and x.dtype != "category":
            gain, (_, cut) = max((r[0], (r, cut)) for r, cut in results)
            ratio = max(r[1] for r, c in results if c == cut)
            gain -= np.log2(len(results)) / w.sum()
            ratio *= gain / (gain + np.log2(len(results)) / w.sum())
            results = [((gain, ratio), cut)] if gain > 1e-6 else []
        found += [(r[0], r[1], name, cut) for r, cut in results]
    mean = np.mean([gain for gain, *_ in found]) if found else 0
    found = [f for f in found if f[0] >= mean - 1e-3 and f[1] > 1e-6]
    return [f for f in found if f[1] > max(found, key=lambda f: f[1])[1] - 1e-5]


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_root_has_the_best_gain_ratio(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(6, 20)  # few enough that a tenth of an average class is less than two cases
    X = pd.DataFrame({f"a{j}": rng.integers(0, 5, n).astype(float) for j in range(3)})
    X["b"] = pd.Categorical(rng.integers(0, 3, n))
    X = X.mask(rng.random(X.shape) < rng.choice([0, 0.2]))
    y, w = rng.integers(0, 2, n), rng.integers(1, 4, n).astype(float)
    tree = GainRatioTree(pruning=None).fit(X, y, w)
    best = best_tests(X, y, w) if min(w[y == 0].sum(), w[y == 1].sum()) > 0 and w.sum() >= 4 else []
    if tree.attribute_[0] >= 0:  # a test that does not lower the errors is collapsed
        name = X.columns[tree.attribute_[0]]
        assert name in {b[2] for b in best}
        expected = [cut for _, _, b, cut in best if b == name]
        assert None in expected or min(abs(tree.threshold_[0] - cut) for cut in expected) < 1e-12


def test_fractions_of_cases_by_hand():
    """Quinlan's way: a case without a value goes to both branches, with the weights of the others, here 3/5 and 2/5."""
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
    """Exact without errors; with some, the normal approximation is near the exact bound."""
    none = added_errors(float(n), 0.0, confidence, 0.0) / n
    assert binom.cdf(0, n, none) == pytest.approx(confidence)
    z = norm.isf(confidence)
    for errors in {n // 10, n // 4, n // 2} - {0}:
        rate = (errors + added_errors(float(n), float(errors), confidence, z)) / n
        assert binom.cdf(errors, n, min(rate, 1)) == pytest.approx(
            confidence, abs=0.04 if n > 6 else 0.3
        )


def test_quinlans_example_of_the_bound():
    """C4.5, page 42: 6, 9 and 1 cases without errors, U = .206, .143 and .75; a leaf of 16 with one: 2.512 errors."""
    bounds = [1 - 0.25 ** (1 / n) for n in (6, 9, 1)]
    np.testing.assert_allclose(bounds, [0.206, 0.143, 0.75], atol=5e-4)
    assert sum(added_errors(float(n), 0.0, 0.25, 0.6745) for n in (6, 9, 1)) == pytest.approx(
        3.273, abs=0.003
    )
    assert 1 + added_errors(16.0, 1.0, 0.25, 0.6745) == pytest.approx(16 * 0.157, abs=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_tree_of_scikit_learn_where_both_do_the_same(seed):
    rng = np.random.default_rng(seed)
    # no value comes twice, so no two tests of different attributes are often equal
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=200) / 2 > 0).astype(int)
    ours = GainRatioTree(criterion="gain", mdl=False, pruning=None, min_leaf=15).fit(X, y)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=15, random_state=0).fit(
        X, y
    )
    tests = [
        {(a, round(float(cut), 6)) for a, cut in zip(attributes, cuts, strict=True) if a >= 0}
        for attributes, cuts in (
            (ours.attribute_, ours.threshold_),
            (theirs.tree_.feature, theirs.tree_.threshold),
        )
    ]
    assert (
        len(tests[0] - tests[1]) <= 1
    )  # small nodes may have equals; subtrees without fewer errors are leaves in ours
    assert len(tests[0]) > 3
    assert (ours.predict(X) != y).sum() == (theirs.predict(X) != y).sum()


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_weights_are_numbers_of_cases(seed, pruned):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.integers(0, 6, 40).astype(float), "b": pd.Categorical(rng.integers(0, 3, 40))}
    )
    X, y, w = X.mask(rng.random(X.shape) < 0.1), rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    y[:3], w[:3] = [0, 1, 2], 1
    learner = GainRatioTree(pruning=0.25 if pruned else None)
    rows = np.repeat(np.arange(40), w)
    weighted, repeated = (
        learner.fit(X, y, w).predict_proba(X),
        learner.fit(X.iloc[rows], y[rows]).predict_proba(X),
    )
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_random_choice_among_the_best_tests():
    data = datasets.load("pima")
    trees = [GainRatioTree(n_best=20, random_state=i).fit(data.X, data.y) for i in range(12)]
    assert len({(tree.attribute_[0], tree.threshold_[0]) for tree in trees}) > 5
    again = GainRatioTree(n_best=20, random_state=3).fit(data.X, data.y)
    np.testing.assert_array_equal(again.predict_proba(data.X), trees[3].predict_proba(data.X))
    drawn = {
        GainRatioTree(max_features=1, random_state=i).fit(data.X, data.y).attribute_[0]
        for i in range(60)
    }
    assert drawn >= set(range(8)) - {-1}


def test_a_tree_as_deep_as_it_has_leaves():
    """100,000 nodes below each other, or nearly: prediction and pickling do not recurse."""
    n = 50_001
    tree = GainRatioTree().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    nodes = np.arange(2 * n - 1)
    inner = nodes[:-1] % 2 == 0  # node 2i has the leaf 2i + 1 and the node 2i + 2
    tree.attribute_ = np.where(np.append(inner, False), 0, -1).astype(np.int32)
    tree.child_ = np.where(tree.attribute_ >= 0, nodes + 1, -1).astype(np.int32)
    tree.threshold_, tree.share_ = nodes / 2.0, np.full(len(nodes), 0.5)
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
    """Columns, of which some are integers or categories or have missing values, classes and weights of rows."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(60, 300)), int(rng.integers(2, 6))
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
    """Weight of each row at each node (n_nodes, n_samples), by thresholds, categories and shares alone."""
    parts = np.zeros((tree.n_nodes_, len(X)))
    parts[0] = weights
    for node in np.flatnonzero(tree.attribute_ >= 0):  # parents come first
        name = X.columns[tree.attribute_[node]]
        if name in tree.categories_:
            branch = tree.categories_[name].get_indexer(X[name])
        else:
            branch = np.where(X[name].isna(), -1, X[name].to_numpy() > tree.threshold_[node])
        n_branches = len(tree.categories_[name]) if name in tree.categories_ else 2
        for child in range(tree.child_[node], tree.child_[node] + n_branches):
            here = np.where(branch < 0, tree.share_[child], branch == child - tree.child_[node])
            parts[child] = parts[node] * here
    return parts


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_are_those_of_the_rows_that_come_to_a_leaf(kind):
    """Raised branches, too, count their cases by the tests that they have."""
    for seed in range(50):
        X, y, weights = random_data(kind, seed)
        tree = GainRatioTree(**KINDS[kind]).fit(X, y, weights)
        parts = weights_at_nodes(tree, X, weights)
        counts = np.column_stack([parts[:, y == c].sum(axis=1) for c in (0, 1)])
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
    X, y = np.repeat([low, high], 5)[:, None], np.repeat([0, 1], 5)
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
    keys, n = codes << 32 | np.arange(len(codes)), len(codes)
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


@pytest.mark.parametrize("seed", range(4))
def test_the_text_of_a_tree_of_numbers_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=200) > 0).map({True: "up", False: "down"})
    theirs = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y)
    ours = GainRatioTree(pruning=None).fit(X, y)
    inner = theirs.tree_.feature >= 0
    children = np.column_stack([theirs.tree_.children_left, theirs.tree_.children_right])
    order, i = [0], 0
    while i < len(order):  # ours numbers nodes level by level, the children of a node side by side
        order += children[order[i]].tolist() if inner[order[i]] else []
        i += 1
    ours.attribute_ = np.where(inner, theirs.tree_.feature, -1)[order]
    ours.threshold_ = np.where(inner, theirs.tree_.threshold, np.nan)[order]
    ours.child_ = np.array(
        [order.index(children[node, 0]) if inner[node] else -1 for node in order]
    )
    ours.distribution_, ours.n_nodes_ = theirs.tree_.value[order, 0], len(order)
    for depth in (0, 2, 10):
        expected = peer_text(theirs, feature_names=["a", "b", "c"], max_depth=depth, decimals=3)
        rounded = re.sub(
            r"-?\d+\.\d+",
            lambda number: f"{float(number[0]):.3f}",
            export_text(ours, max_depth=depth),
        )
        assert rounded == expected.rstrip("\n")


def test_a_very_deep_tree_as_text():
    X = np.arange(3000.0)[:, None]
    tree = GainRatioTree(pruning=None, min_leaf=1, mdl=False, criterion="gain").fit(
        X, np.arange(3000) % 2
    )
    lines = export_text(tree, max_depth=5000).splitlines()
    assert sum("class: " in line for line in lines) == tree.n_leaves_


def test_numbers_as_text():
    shown = {
        24.0: "24",
        24.5: "24.5",
        2.4749999999999996: "2.475",
        0.12345678: "0.123457",
        1234567.5: "1234567.5",
    }
    shown |= {
        123456789012.0: "123456789012",
        1e20: "1e+20",
        -0.5: "-0.5",
        1.5e-7: "1.5e-07",
        1.7e308: "1.7e+308",
    }
    assert {value: number_text(value) for value in shown} == shown


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
    first, second = GainRatioTree().fit(table, data.y), GainRatioTree().fit(data.X, data.y)
    np.testing.assert_array_equal(first.predict_proba(table), second.predict_proba(data.X))


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
    for other in (pd.Categorical(["m", "x"] * 10), np.arange(20.0)):
        with pytest.raises(
            ValueError, match="column 'sex' of the Table has other categories than in fit"
        ):
            tree.predict(Table(PEOPLE.assign(sex=other)))


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
    ):
        probability = tree.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert (probability >= 0).all()
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
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
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
    """As those of scikit-learn's AdaBoost, whose sum is 1, where a branch must have two cases."""
    X, y = load_iris(return_X_y=True)
    shares = GainRatioTree().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    np.testing.assert_array_equal(shares.threshold_, GainRatioTree().fit(X, y).threshold_)
    assert shares.n_leaves_ > 2
