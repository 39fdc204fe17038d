"""Bayesian networks against pgmpy: tables, posteriors with hidden attributes, TAN's tree and BIC.

What the comparison has to know of pgmpy: a table has one column for each combination of the
parents' values, the last parent's changing fastest; its search for a tree takes an edge of weight
zero for none.
"""

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from lib.bayes_net import BayesNetClassifier
from lib.structures import chain, discrete_codes, naive, tan
from lib.structures.bic import gain
from lib.structures.information import JointCounts

NO_PGMPY = "no pgmpy; `make peers` installs it"
estimators = pytest.importorskip("pgmpy.estimators", reason=NO_PGMPY)
factors = pytest.importorskip("pgmpy.factors.discrete", reason=NO_PGMPY)
inference = pytest.importorskip("pgmpy.inference", reason=NO_PGMPY)
learners = pytest.importorskip("pgmpy.parameter_estimator", reason=NO_PGMPY)
models = pytest.importorskip("pgmpy.models", reason=NO_PGMPY)
scores = pytest.importorskip("pgmpy.structure_score", reason=NO_PGMPY)

N_ATTRIBUTES = 6
N_NETWORKS = 5
N_ROWS = 20


def draw(rng, size, n_attributes=N_ATTRIBUTES):
    """Rows of attributes of 2 to 4 values, each of which depends on the class and a neighbour."""
    sizes = rng.integers(2, 5, n_attributes + 1)
    columns = [rng.integers(sizes[0], size=size)]
    for n_values in sizes[1:]:
        product = columns[0] * columns[-1]
        is_product = rng.random(size) < 0.6
        noise = rng.integers(n_values, size=size)
        columns.append(np.where(is_product, product, noise) % n_values)
    y, *attributes = columns
    return np.column_stack(attributes), y


def dag(rng, n_attributes):
    """Up to 3 parents each along a random order in which the class is neither first nor last."""
    order = rng.permutation(np.arange(1, n_attributes + 1))
    order = np.insert(order, rng.integers(2, n_attributes - 1), 0)
    parents = {order[0]: (), order[1]: (order[0],)}
    for i, v in enumerate(order[2:], 2):
        parents[v] = rng.choice(order[:i], rng.integers(1, min(i, 3) + 1), replace=False)
    return tuple(tuple(sorted(int(p) for p in parents[v])) for v in range(n_attributes + 1))


STRUCTURES = {
    "naive": lambda rng, X, y: naive(X.shape[1]),
    "chain": lambda rng, X, y: chain(X.shape[1], 3),
    "tan": lambda rng, X, y: tan(X, y),
    "class_with_parents": lambda rng, X, y: dag(rng, X.shape[1]),
}


def edges(parents):
    return [(u, v) for v, family in enumerate(parents) for u in family]


def empty_network(parents):
    model = models.DiscreteBayesianNetwork(edges(parents))
    model.add_nodes_from(range(len(parents)))
    return model


def network(parents, tables):
    """The same network in pgmpy."""
    model = empty_network(parents)
    for v, (family, table) in enumerate(zip(parents, tables, strict=True)):
        *sizes, size = table.shape
        model.add_cpds(factors.TabularCPD(v, size, table.reshape(-1, size).T, list(family), sizes))
    assert model.check_model()
    return model


def posterior(model, X):
    """P(class | the attributes that are not missing) of each row."""
    query = inference.VariableElimination(model).query
    rows = []
    for x in X:
        evidence = {i: int(value) for i, value in enumerate(x, 1) if not np.isnan(value)}
        rows.append(query([0], evidence=evidence, show_progress=False).values)
    return np.array(rows)


def with_missing(rng, X):
    """Rows with none to all of the attributes missing."""
    missing = rng.random(X.shape) < np.linspace(0, 1, len(X))[:, None]
    return np.where(missing, np.nan, X)


@pytest.mark.parametrize("seed", range(N_NETWORKS))
@pytest.mark.parametrize("structure", STRUCTURES)
def test_posterior_of_class(structure, seed):
    rng = np.random.default_rng(seed)
    X, y = draw(rng, 300)
    parents = STRUCTURES[structure](rng, X, y)
    learner = BayesNetClassifier(structure=parents, learner="ofe").fit(X, y)
    peer = network(parents, learner.tables_)
    for rows in (X[:N_ROWS].astype(float), with_missing(rng, X[:N_ROWS])):
        ours = learner.predict_proba(rows)
        np.testing.assert_allclose(ours, posterior(peer, rows), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_smoothed_frequencies(structure):
    rng = np.random.default_rng(0)
    X, y = draw(rng, 300)
    parents = STRUCTURES[structure](rng, X, y)
    learner = BayesNetClassifier(structure=parents, learner="ofe", smoothing=1.0).fit(X, y)
    laplace = learners.DiscreteBayesianEstimator(prior_type="K2")
    peer = empty_network(parents).fit(pd.DataFrame(np.column_stack([y, X])), estimator=laplace)
    for v, (family, table) in enumerate(zip(parents, learner.tables_, strict=True)):
        cpd = peer.get_cpds(v)
        axes = [cpd.variables.index(u) for u in (*family, v)]
        np.testing.assert_allclose(table, cpd.values.transpose(axes), rtol=1e-12)


def conditional_information(X, y, tree):
    """Sum over the edges of the mutual information of both ends, given the class."""
    information = 0
    for label in np.unique(y):
        rows = y == label
        for i, j in tree:
            information += rows.mean() * mutual_info_score(X[rows, i], X[rows, j])
    return information


def among_attributes(pairs):
    return [(u - 1, v - 1) for u, v in pairs if u != 0]


@pytest.mark.parametrize("seed", range(N_NETWORKS))
def test_tan_has_the_best_tree(seed):
    X, y = draw(np.random.default_rng(seed), 400, n_attributes=10)
    search = estimators.TreeSearch(pd.DataFrame(np.column_stack([y, X])), root_node=1, n_jobs=1)
    peer = search.estimate("tan", class_node=0, show_progress=False)
    our_edges = edges(tan(X, y))
    their_edges = list(peer.edges())
    for links in (our_edges, their_edges):
        assert {v for u, v in links if u == 0} == set(range(1, 11))
    our_tree = among_attributes(our_edges)
    their_tree = among_attributes(their_edges)
    assert len(our_tree) == len(their_tree) == 9
    best = conditional_information(X, y, their_tree)
    assert conditional_information(X, y, our_tree) == pytest.approx(best, rel=1e-12)
    path = list(pairwise(range(10)))
    assert conditional_information(X, y, path) <= best * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(N_NETWORKS))
def test_the_gain_of_a_parent_is_a_difference_of_scores(seed):
    """Of all links to a variable, without another parent and with each other one."""
    X, y = draw(np.random.default_rng(seed), 400)
    counts = JointCounts(*discrete_codes(X, y))
    score = cache(scores.BIC(pd.DataFrame(np.column_stack([y, X]))).local_score)
    for child, parent, second_parent in permutations(range(N_ATTRIBUTES + 1), 3):
        for family in ((), (second_parent,)):
            larger_family = tuple(sorted((*family, parent)))
            expected = score(child, larger_family) - score(child, family)
            ours = gain(counts, child, parent, frozenset(family))
            assert ours == pytest.approx(expected, abs=1e-8)
