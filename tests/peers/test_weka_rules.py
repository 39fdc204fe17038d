"""Ripper against Weka's JRip, on average as it divides rows otherwise; relieff against ReliefF."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from lib import datasets, evaluation
from lib.relevance import relieff
from lib.rules import Ripper

N_SPLITS = 12


@pytest.mark.parametrize(
    "name", ["vote", "glass", "vehicle", "soybean-large", "monks-1", "ionosphere"]
)
def test_jrip(weka, name):
    """Where the two differ, then by less than two points more than chance explains."""
    data = datasets.load(name)
    X = plain(data.X)
    y = pd.Categorical(data.y).codes

    def examples(rows):
        classes = pd.Categorical(y[rows], categories=np.unique(y))
        return X.iloc[rows].reset_index(drop=True), classes

    labels = []
    our_errors = []
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.33, random_state=0).split(X, y)
    for seed, (train, test) in enumerate(splits):
        weka.add("weka.classifiers.rules.JRip", examples(train), examples(test), "-S", seed + 1)
        labels.append(y[test])
        learner = Ripper(metric="laplace", random_state=seed).fit(X.iloc[train], y[train])
        our_errors.append((learner.predict(X.iloc[test]) != y[test]).mean())
    their_errors = []
    for predictions, y_test in zip(weka.run(), labels, strict=True):
        their_errors.append((predictions != y_test).mean())
    difference = evaluation.mean_interval(np.array(our_errors) - their_errors)
    assert max(difference.low, -difference.high) < 0.02


def plain(X):
    """Columns named a0, a1, ... whose categories are their codes."""
    columns = {}
    for i, (_, column) in enumerate(X.items()):
        if column.dtype == bool:
            column = column.astype("category")
        if column.dtype == "category":
            column = column.cat.rename_categories(range(len(column.cat.categories)))
        columns[f"a{i}"] = column
    return pd.DataFrame(columns)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_relieff(weka, n_classes):
    """Of numbers no two of which are equal: Weka breaks ties by another rule."""
    numbers_of_neighbours = [1, 4, 10]
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 90)
    numbers = rng.normal(size=(90, 4)) + y[:, None] * [1.0, 0.5, 0, 0]
    X = pd.DataFrame(numbers, columns=list("abcd"))
    examples = (X, pd.Categorical(y))
    for n_neighbours in numbers_of_neighbours:
        weka.add("relieff", examples, examples, n_neighbours)
    for n_neighbours, expected in zip(numbers_of_neighbours, weka.run(), strict=True):
        np.testing.assert_allclose(relieff(X, y, n_neighbours=n_neighbours), expected, atol=1e-6)
