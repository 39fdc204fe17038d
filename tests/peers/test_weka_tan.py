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
N_ATTRIBUTES = 8
N_ROWS = 300


def draw(rng):
    """Two halves of examples: attributes depend on the class and an earlier attribute."""
    y = rng.integers(0, 3, 2 * N_ROWS)
    codes = [y]
    columns = {}
    for j, size in enumerate(rng.integers(2, 5, N_ATTRIBUTES)):
        table = rng.dirichlet(np.full(size, 0.7), (3, 4)).cumsum(axis=-1)
        cumulated = table[y, codes[rng.integers(0, j + 1)]]
        codes.append((rng.random((2 * N_ROWS, 1)) > cumulated[:, :-1]).sum(axis=1))
        columns[f"a{j}"] = pd.Categorical(codes[-1], range(size))
    frame = pd.DataFrame(columns)
    classes = pd.Categorical(y, range(3))
    train = (frame[:N_ROWS], classes[:N_ROWS])
    test = (frame[N_ROWS:].reset_index(drop=True), classes[N_ROWS:])
    return train, test


def links(parents):
    """Pairs of attributes of which one is a parent of the other; 0 is the class."""
    pairs = set()
    for v, family in enumerate(parents):
        pairs |= {frozenset((v, parent)) for parent in family if parent > 0}
    return pairs


def weight(tree, information):
    """Sum of the information (attributes, attributes) of the links of a tree."""
    return sum(information[tuple(v - 1 for v in link)] for link in links(tree))


def test_tan(weka):
    cases = [draw(np.random.default_rng(seed)) for seed in range(20)]
    for case in cases:
        weka.add("network", *case, *SEARCH.split(), *ESTIMATE.split())
    results = weka.run()
    assert len(results) == 2 * len(cases)
    for i, ((train, classes), (test, _)) in enumerate(cases):
        parents, posteriors = results[2 * i : 2 * i + 2]
        y = np.asarray(classes)
        # the class is 0 here, and no attribute is -1 there
        theirs = ((), *((0,) if parent < 0 else (0, int(parent) + 1) for parent in parents))
        ours = tan(train, y)
        assert len(links(ours)) == len(links(theirs)) == N_ATTRIBUTES - 1
        # both trees have the greatest sum of conditional mutual information
        information = conditional_mutual_information(*discrete_codes(train, classes))
        assert weight(ours, information) == pytest.approx(weight(theirs, information), rel=1e-9)
        model = BayesNetClassifier(structure=theirs, learner="ofe", smoothing=1.0).fit(train, y)
        probabilities = model.predict_proba(test).ravel()
        np.testing.assert_allclose(probabilities, posteriors, rtol=1e-9, atol=1e-12)
