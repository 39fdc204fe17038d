"""Trees of rows sorted once and at every node: one tree, and cuts by enumeration."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from lib.trees.sorting import GiniTree, grow_by_sorting, grow_from_lists

GROWERS = [grow_from_lists, grow_by_sorting]


def tied_data(seed, n_rows=40, n_classes=3):
    """Numbers with many ties, and classes of which some are noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(2, 30), (n_rows, 3)) / 4
    y = (X[:, 0] + rng.integers(0, 3, n_rows)).astype(int) % n_classes
    return X, y


def score(y, is_right):
    """Rows less their Gini impurity, summed over two sides."""
    sides = [np.bincount(side) for side in (y[~is_right], y[is_right])]
    return sum((counts**2).sum() / counts.sum() for counts in sides)


def best_cuts(X, y):
    """Score of each cut midway between values of an attribute, {(attribute, threshold): score}."""
    scores = {}
    for j, column in enumerate(X.T):
        values = np.unique(column)
        for low, high in zip(values[:-1], values[1:], strict=True):
            threshold = low + (high - low) / 2
            scores[j, threshold] = score(y, column > threshold)
    return scores


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_both_ways_of_sorting_grow_one_tree(seed, n_rows, n_classes):
    X, y = tied_data(seed, n_rows, n_classes)
    first, second = (grow(X, y) for grow in GROWERS)
    for name in GiniTree._fields:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)


@pytest.mark.parametrize("seed", range(20))
def test_every_node_has_the_best_cut_by_enumeration(seed):
    X, y = tied_data(seed)
    tree = grow_from_lists(X, y)
    open_nodes = [(0, np.arange(len(y)))]
    n_nodes = 0
    n_looked = 0
    while open_nodes:
        node, rows = open_nodes.pop()
        n_nodes += 1
        counts = np.bincount(y[rows])
        assert tree.label[node] == counts.argmax()
        if len(np.unique(y[rows])) > 1:
            n_looked += X[rows].size
        scores = best_cuts(X[rows], y[rows])
        attribute, threshold = tree.attribute[node], tree.threshold[node]
        if attribute < 0:
            purity = (counts**2).sum() / counts.sum()
            assert max(scores.values(), default=0) <= purity * (1 + 1e-9)
            continue
        # of equally good cuts the first
        best = max(scores, key=lambda cut: round(scores[cut], 9))
        assert (attribute, threshold) == best
        is_right = X[rows, attribute] > threshold
        open_nodes.append((tree.left[node], rows[~is_right]))
        open_nodes.append((tree.right[node], rows[is_right]))
    assert n_nodes == len(tree.label)
    assert n_looked == tree.n_looked


@pytest.mark.parametrize("seed", range(20))
def test_a_row_goes_down_its_branch(seed):
    """The class is that of the leaf, and the longest branch counts the levels."""
    X, y = tied_data(seed)
    tree = grow_from_lists(X, y)
    labels = []
    lengths = []
    for row in X:
        node = 0
        length = 1
        while tree.attribute[node] >= 0:
            is_right = row[tree.attribute[node]] > tree.threshold[node]
            node = (tree.right if is_right else tree.left)[node]
            length += 1
        labels.append(tree.label[node])
        lengths.append(length)
    np.testing.assert_array_equal(tree.predict(X), labels)
    assert tree.n_levels == max(lengths)


@pytest.mark.parametrize("grow", GROWERS)
@pytest.mark.parametrize("seed", range(10))
def test_the_first_cut_is_that_of_scikit_learn(grow, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    y = (X[:, 1] - X[:, 2] + rng.normal(size=200) > 0).astype(int)
    ours = grow(X, y)
    peer = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    assert ours.attribute[0] == peer.feature[0]
    assert ours.threshold[0] == pytest.approx(peer.threshold[0])


def test_samples_of_all_rows_change_nothing():
    X, y = tied_data(1, 50)
    tree = grow_by_sorting(X, y)
    sampled = grow_by_sorting(X, y, sample_size=50)
    np.testing.assert_array_equal(tree.threshold, sampled.threshold)


def test_samples_look_at_fewer_values_and_leaves_stay_pure():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 3))
    y = (X.sum(axis=1) > 1.5).astype(int)
    tree = grow_by_sorting(X, y)
    sampled = grow_by_sorting(X, y, sample_size=20, seed=3)
    assert sampled.n_looked < tree.n_looked / 2
    again = grow_by_sorting(X, y, sample_size=20, seed=3)
    np.testing.assert_array_equal(sampled.threshold, again.threshold)
    # each row comes to a leaf of its class, as no two rows are equal
    np.testing.assert_array_equal(sampled.predict(X), y)
    first_samples = grow_by_sorting(X, y, 20, np.random.default_rng(3))
    np.testing.assert_array_equal(sampled.threshold, first_samples.threshold)


@pytest.mark.parametrize("grow", GROWERS)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones(3), [0, 0, 1], "X must be a table of finite numbers; got shape (3,)"),
        ([[np.nan]], [0], "X must be a table of finite numbers"),
        (np.ones((2, 1)), [0], "y must hold a class, 0, 1, ..., for each of 2 rows"),
        (np.ones((1, 1)), [-1], "y must hold a class, 0, 1, ..., for each of 1 rows"),
        (np.ones((1, 1)), [0.5], "y must hold a class, 0, 1, ..., for each of 1 rows"),
    ],
)
def test_bad_input_is_told(grow, X, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        grow(X, y)


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (5, -1)])
def test_parameters_out_of_range_are_told(size, seed):
    with pytest.raises(ValueError, match="sample_size must|seed must"):
        grow_by_sorting(np.ones((2, 1)), [0, 1], size, seed)
