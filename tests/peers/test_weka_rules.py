"""Ripper against Weka's JRip, which divides rows otherwise, so in the mean; relieff against ReliefFAttributeEval."""

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
    X, y = plain(data.X), pd.Categorical(data.y).codes
    truth, ours = [], []
    for seed, split in enumerate(
        StratifiedShuffleSplit(N_SPLITS, test_size=0.33, random_state=0).split(X, y)
    ):
        parts = [
            (X.iloc[p].reset_index(drop=True), pd.Categorical(y[p], categories=np.unique(y)))
            for p in split
        ]
        weka.add("weka.classifiers.rules.JRip", *parts, "-S", seed + 1)
        truth.append(y[split[1]])
        learner = Ripper(metric="laplace", random_state=seed).fit(X.iloc[split[0]], y[split[0]])
        ours.append((learner.predict(X.iloc[split[1]]) != truth[-1]).mean())
    theirs = [(predictions != t).mean() for predictions, t in zip(weka.run(), truth, strict=True)]
    difference = evaluation.mean_interval(np.array(ours) - theirs)
    assert max(difference.low, -difference.high) < 0.02


def plain(X):
    """Columns named a0, a1, ... whose categories are their codes."""
    frame = pd.DataFrame(
        {
            f"a{i}": x.astype("category") if x.dtype == bool else x
            for i, (_, x) in enumerate(X.items())
        }
    )
    categories = frame.select_dtypes("category")
    return frame.assign(
        **{n: x.cat.rename_categories(range(len(x.cat.categories))) for n, x in categories.items()}
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_relieff(weka, n_classes):
    """Of numbers no two of which are equal: Weka breaks ties by another rule."""
    rng, cases = np.random.default_rng(n_classes), [1, 4, 10]
    y = rng.integers(0, n_classes, 90)
    X = pd.DataFrame(rng.normal(size=(90, 4)) + y[:, None] * [1.0, 0.5, 0, 0], columns=list("abcd"))
    for n_neighbours in cases:
        weka.add("relieff", (X, pd.Categorical(y)), (X, pd.Categorical(y)), n_neighbours)
    for n_neighbours, expected in zip(cases, weka.run(), strict=True):
        np.testing.assert_allclose(relieff(X, y, n_neighbours=n_neighbours), expected, atol=1e-6)
