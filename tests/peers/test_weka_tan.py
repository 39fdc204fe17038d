"""Tree-augmented naive Bayes against Weka's: the tree, and posteriors from the same tree.

Weka directs the links of the tree in another way. This does not change the likelihood but the
smoothed tables, so posteriors are compared with Weka's own parents.
"""

import numpy as np
import pandas as pd
import pytest

from lib.bayes_net import BayesNetClassifier
from lib.structures import discrete_codes, tan
from lib.structures.information import conditional_mutual_information

SEARCH = "-D -Q weka.classifiers.bayes.net.search.local.TAN -- -S ENTROPY"
ESTIMATE = "-E weka.classifiers.bayes.net.estimate.SimpleEstimator -- -A 1.0"
N_ATTRIBUTES, N_ROWS = 8, 300


def draw(rng):
    """Attributes of 2 to 4 values, each of which depends on the class and on one before it; two halves."""
    y = rng.integers(0, 3, 2 * N_ROWS)
    codes, sizes = [y], rng.integers(2, 5, N_ATTRIBUTES)
    for j, size in enumerate(sizes):
        table = rng.dirichlet(np.full(size, 0.7), (3, 4)).cumsum(axis=-1)
        rows = table[y, codes[rng.integers(0, j + 1)]]
        codes.append((rng.random((2 * N_ROWS, 1)) > rows[:, :-1]).sum(axis=1))
    columns = [pd.Categorical(c, range(size)) for c, size in zip(codes[1:], sizes, strict=True)]
    frame, halves = (
        pd.DataFrame({f"a{j}": c for j, c in enumerate(columns)}),
        (slice(N_ROWS), slice(N_ROWS, None)),
    )
    return [
        (frame[half].reset_index(drop=True), pd.Categorical(y[half], range(3))) for half in halves
    ]


def links(parents):
    return {frozenset((v, p)) for v, family in enumerate(parents) for p in family if p > 0}


def test_tan(weka):
    cases = [draw(np.random.default_rng(seed)) for seed in range(20)]
    for case in cases:
        weka.add("network", *case, *SEARCH.split(), *ESTIMATE.split())
    results = weka.run()
    for ((train, y), (test, _)), parents, posteriors in zip(
        cases, results[::2], results[1::2], strict=True
    ):
        theirs = ((), *((0,) if p < 0 else (0, int(p) + 1) for p in parents))
        ours, information = (
            tan(train, np.asarray(y)),
            conditional_mutual_information(*discrete_codes(train, y)),
        )
        weights = [
            sum(information[tuple(v - 1 for v in link)] for link in links(tree))
            for tree in (ours, theirs)
        ]
        assert len(links(ours)) == len(links(theirs)) == N_ATTRIBUTES - 1
        assert weights[0] == pytest.approx(weights[1], rel=1e-9)
        model = BayesNetClassifier(structure=theirs, learner="ofe", smoothing=1.0).fit(
            train, np.asarray(y)
        )
        np.testing.assert_allclose(
            model.predict_proba(test).ravel(), posteriors, rtol=1e-9, atol=1e-12
        )
