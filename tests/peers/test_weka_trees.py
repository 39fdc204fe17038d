"""GainRatioTree, AdaBoostM1 and Bagging against those of Weka, prediction by prediction."""

import numpy as np
import pandas as pd
import pytest

from lib import datasets
from lib.ensembles import AdaBoostM1, Bagging
from lib.trees import GainRatioTree

J48 = "weka.classifiers.trees.J48"
SETTINGS = {"": {}, "-U": {"pruning": None}, "-C 0.05 -M 5": {"pruning": 0.05, "min_leaf": 5}}


def plain(X):
    """Columns named a0, a1, ... whose categories are their codes."""
    columns = {}
    for i, (_, column) in enumerate(X.items()):
        if column.dtype == "bool":
            column = column.astype("category")
        if column.dtype == "category":
            column = column.cat.rename_categories(np.arange(len(column.cat.categories)))
        columns[f"a{i}"] = column
    return pd.DataFrame(columns)


def divide(name, seed):
    """Return the examples of a data set and which of them, two thirds, are for training."""
    data = datasets.load(name)
    X = plain(data.X)
    y = pd.Categorical(data.y).codes
    is_train = np.random.default_rng(seed).random(len(y)) < 0.67
    return X, y, is_train


def examples(X, y, rows):
    """Return some of the examples as Weka takes them."""
    return X[rows].reset_index(drop=True), pd.Categorical(y[rows], categories=np.unique(y))


@pytest.mark.parametrize(
    "name", ["soybean-large", "vote", "pima", "glass", "vehicle", "zoo", "ionosphere", "dna"]
)
def test_j48(weka, name):
    X, y, is_train = divide(name, seed=0)
    train = examples(X, y, is_train)
    test = examples(X, y, ~is_train)
    for options in SETTINGS:
        weka.add(J48, train, test, *options.split())
        weka.add(J48, train, train, *options.split())
    results = weka.run()
    assert len(results) == 2 * len(SETTINGS)
    for i, (options, setting) in enumerate(SETTINGS.items()):
        tree = GainRatioTree(**setting, midway=False).fit(X[is_train], y[is_train])
        test_predictions, train_predictions = results[2 * i : 2 * i + 2]
        for rows, theirs in ((~is_train, test_predictions), (is_train, train_predictions)):
            ours = tree.predict(X[rows])
            assert (ours != theirs).sum() == 0, f"{name} {options}"


def mixed_data(seed):
    """Numbers of few and many values, and categories; in each third set values are missing."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 400))
    kinds = {
        "few": lambda: rng.integers(0, 12, n).astype(float),
        "some": lambda: rng.normal(size=n).round(1),
        "many": lambda: rng.normal(size=n).round(3),
        "categories": lambda: pd.Categorical(rng.integers(0, 4, n), categories=range(4)),
    }
    columns = {}
    for i in range(rng.integers(2, 6)):
        kind = str(rng.choice(list(kinds)))
        columns[f"a{i}"] = kinds[kind]()
    X = pd.DataFrame(columns)
    score = X.astype(float).to_numpy() @ rng.normal(size=X.shape[1])
    score += rng.normal(size=n) * 0.7 * score.std()
    quantiles = [0.5] if seed % 2 else [0.3, 0.7]
    y = np.digitize(score, np.quantile(score, quantiles))
    if seed % 3 == 0:
        X = X.mask(rng.random(X.shape) < 0.1)
    return X, y


def test_j48_of_random_data(weka):
    """Branches are raised in many of these trees, and in some two are equally large."""
    settings = {"": {}, "-C 0.4": {"pruning": 0.4}}
    data_sets = [mixed_data(seed) for seed in range(100)]
    for X, y in data_sets:
        train = (X, pd.Categorical(y, categories=np.unique(y)))
        for options in settings:
            weka.add(J48, train, train, *options.split())
    results = iter(weka.run())
    different = []
    for seed, (X, y) in enumerate(data_sets):
        for options, setting in settings.items():
            tree = GainRatioTree(**setting, midway=False).fit(X, y)
            if (tree.predict(X) != next(results)).any():
                different.append((seed, options))
    assert different == []


@pytest.mark.parametrize("name", ["pima", "soybean-large"])
def test_adaboost(weka, name):
    """By weights, nothing is random.

    After a member without an error Weka ends and ours begins anew, which must not happen here.
    Weka asks for enough rows, we for enough weight, before it looks at thresholds: on vehicle later
    trees differ.
    """
    X, y, is_train = divide(name, seed=1)
    train = examples(X, y, is_train)
    test = examples(X, y, ~is_train)
    weka.add("weka.classifiers.meta.AdaBoostM1", train, test, "-I", 5, "-W", J48)
    (predictions,) = weka.run()
    ours = AdaBoostM1(GainRatioTree(midway=False), 5, sampling=False)
    ours.fit(X[is_train], y[is_train])
    assert ours.errors_.min() > 0
    np.testing.assert_array_equal(ours.predict(X[~is_train]), predictions)


def java_doubles(seed, shape):
    """Numbers of java.util.Random: a linear congruential generator, 26 and 27 bits a number."""
    state = seed ^ 0x5DEECE66D
    numbers = []
    for _ in range(2 * np.prod(shape)):
        state = (0x5DEECE66D * state + 11) % 2**48
        numbers.append(state)
    high, low = np.array(numbers).reshape(-1, 2).T
    return (((high >> 22) << 27) + (low >> 21)).reshape(shape) / 2**53


def bags_of_weka(n, n_members, _, rng):
    """Rows of each bag: Walker's method, where all weights are equal."""
    return (n * java_doubles(1, (n_members, n))).astype(int)


@pytest.mark.parametrize("name", ["vote", "soybean-large"])
def test_bagging(weka, monkeypatch, name):
    """On Weka's bags, of categories: its thresholds are values of a bag, ours of all rows."""
    X, y, is_train = divide(name, seed=2)
    train = examples(X, y, is_train)
    test = examples(X, y, ~is_train)
    weka.add("weka.classifiers.meta.Bagging", train, test, "-S", 1, "-I", 10, "-W", J48)
    (predictions,) = weka.run()
    monkeypatch.setattr("lib.ensembles.bagging.bags", bags_of_weka)
    ours = Bagging(GainRatioTree(midway=False), 10, average=True).fit(X[is_train], y[is_train])
    np.testing.assert_array_equal(ours.predict(X[~is_train]), predictions)
    # or it would be no test of the vote
    single_tree = GainRatioTree(midway=False).fit(X[is_train], y[is_train])
    assert (single_tree.predict(X[~is_train]) != predictions).any()
