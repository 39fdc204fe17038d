"""Gibbs sampling against sums over all hidden values; the plain gradient against closed forms."""

import itertools
import pickle
import time
from math import lgamma

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lib.bayes_net import Cases, Network
from lib.bayes_net.em import maximise_expectation
from lib.bayes_net.gibbs import gibbs_posterior, plain_gradient
from lib.latent_class import LatentClassGibbs


def log_dirichlet(counts, prior):
    """Ln P(a sequence with these counts) with its probabilities summed out."""
    total = lgamma(prior * len(counts)) - lgamma(prior * len(counts) + sum(counts))
    return total + sum(lgamma(n + prior) - lgamma(prior) for n in counts)


def log_evidence(rows, sizes, prior):
    """Ln P(rows), summed over all hidden classes of two."""
    terms = []
    for z in itertools.product((0, 1), repeat=len(rows)):
        z = np.array(z)
        term = log_dirichlet(np.bincount(z, minlength=2), prior)
        for c, (j, size) in itertools.product((0, 1), enumerate(sizes)):
            values = rows[z == c, j]
            term += log_dirichlet(np.bincount(values[values >= 0], minlength=size), prior)
        terms.append(term)
    return np.logaddexp.reduce(terms)


@pytest.mark.parametrize("prior", [1.0, 0.5])
def test_predictive_distribution_is_exact(prior):
    rows = np.array([[0, 0, 2], [1, 1, 0], [1, 1, 1], [0, 0, -1], [0, 1, 2]])
    X = pd.DataFrame(np.where(rows < 0, np.nan, rows)).astype("Int64").astype("category")
    learner = LatentClassGibbs(n_burn=200, n_samples=30_000, prior=prior, random_state=0).fit(X)
    every = np.array(list(itertools.product((0, 1), (0, 1), (0, 1, 2))))
    joint = [log_evidence(np.vstack([rows, new]), (2, 2, 3), prior) for new in every]
    exact = np.exp(np.array(joint) - log_evidence(rows, (2, 2, 3), prior))
    assert exact.sum() == pytest.approx(1)
    shown = pd.DataFrame(every).astype("Int64").astype("category")
    ours = np.exp(learner.score_samples(shown))
    assert ours.sum() == pytest.approx(1)
    np.testing.assert_allclose(ours, exact, rtol=0.05)


def two_classes(rng, size, delta, n=10):
    z = rng.integers(0, 2, size)
    return (rng.random((size, n)) < 0.5 + delta * (z[:, None] - 0.5)).astype(int), z


def test_classes_are_found_whatever_their_names():
    X, z = two_classes(np.random.default_rng(0), 400, 0.6)
    learner = LatentClassGibbs(n_samples=200, relabel=True, random_state=0).fit(X)
    agreement = (learner.predict(X) == z).mean()
    assert max(agreement, 1 - agreement) > 0.9
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(learner.votes(X).sum(axis=1), 1)
    again = pickle.loads(pickle.dumps(clone(learner).fit(X)))
    np.testing.assert_array_equal(again.tables_, learner.tables_)


def test_renamed_classes_are_those_of_the_best_draw():
    X, _ = two_classes(np.random.default_rng(1), 40, 0.2)
    plain = LatentClassGibbs(n_samples=3000, random_state=0).fit(X)
    renamed = clone(plain).set_params(relabel=True).fit(X)
    assert len(np.unique(plain.names_[:, 0])) == 2  # classes this faint are confused
    np.testing.assert_array_equal(np.sort(plain.tables_, axis=1), np.sort(renamed.tables_, axis=1))
    np.testing.assert_allclose(plain.score_samples(X), renamed.score_samples(X))
    best = renamed.tables_[renamed.trace_[renamed.n_burn :].argmax()]
    near, far = (((renamed.tables_ - other) ** 2).sum(axis=(1, 2)) for other in (best, best[::-1]))
    assert (near <= far + 1e-12).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_hidden": 1}, "n_hidden must be an integer from 2 to 8; got 1"),
        ({"n_samples": 0}, "n_samples"),
        ({"prior": 0}, "prior"),
        ({"relabel": "yes"}, "relabel"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        LatentClassGibbs(**parameters).fit([[0, 1], [1, 0]])


@pytest.fixture
def network():
    rng = np.random.default_rng(4)
    network = Network(((), (0,), (0, 1), (2,), ()), [2, 3, 2, 3, 2])
    return network, network.flat([rng.dirichlet(np.full(s[-1], 1.0), s[:-1]) for s in network.shapes])


def test_posterior_of_a_network(network):
    network, theta = network
    evidence = np.array([-1, -1, -1, 1, 0])
    tables, exact = network.tables(theta), np.zeros((2, 3, 2))
    for a, b, c in np.ndindex(2, 3, 2):
        exact[a, b, c] = tables[0][a] * tables[1][a, b] * tables[2][a, b, c] * tables[3][c, 1]
    states = gibbs_posterior(network, theta, evidence, 200_000, np.random.default_rng(0))
    assert (states[:, 3:] == [1, 0]).all()
    shares = np.zeros((2, 3, 2))
    np.add.at(shares, tuple(states[:, :3].T), 1 / len(states))
    np.testing.assert_allclose(shares, exact / exact.sum(), atol=0.01)
    again = gibbs_posterior(network, theta, evidence, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(again, states[:100])


def test_updates_a_second(network):
    network, theta = network
    began = time.process_time()
    gibbs_posterior(network, theta, np.full(5, -1), 200_000, np.random.default_rng(0))
    rate = 1e6 / (time.process_time() - began)
    print(f"\n{rate / 1e6:.1f} million node updates a second")
    assert rate > 1e5


@pytest.mark.parametrize(
    ("evidence", "words"),
    [([-1] * 4, "each of 5 variables"), ([0, 3, 0, 0, 0], "variable 1 must be an integer from -1 to 2")],
)
def test_bad_evidence(network, evidence, words):
    with pytest.raises(ValueError, match=words):
        gibbs_posterior(*network, evidence, 10, np.random.default_rng(0))


def test_division_ends_at_square_roots():
    network = Network(((),), [2])
    cases = Cases.from_rows(network, np.array([[0]] * 90 + [[1]] * 10))
    for step in (0.3, 0.01):
        theta, path = plain_gradient(cases, np.array([0.5, 0.5]), 5000, step, "divide", 1e-12)
        np.testing.assert_allclose(theta, [0.75, 0.25], atol=1e-6)  # 90 to 10 is 9 to 1, whose root is 3 to 1
    theta, path = plain_gradient(cases, np.array([0.5, 0.5]), 5000, 0.05, "project", 1e-12)
    np.testing.assert_allclose(theta, [0.9, 0.1], atol=1e-6)
    assert path[-1] == pytest.approx(0.9 * np.log(0.9) + 0.1 * np.log(0.1))


def test_projected_gradient_ends_where_em_does():
    X, _ = two_classes(np.random.default_rng(2), 300, 0.7, 4)
    network = Network(((), (), *[(1,)] * 4), [1, 2, 2, 2, 2, 2])  # one class, and below it the hidden one
    cases = Cases.from_rows(network, np.column_stack([np.zeros(300, int), np.full(300, -1), X]))
    start = network.normalised(np.random.default_rng(3).uniform(0.3, 0.7, network.n_parameters))
    em = maximise_expectation(cases, start, 2000, tolerance=1e-13)
    _, path = plain_gradient(cases, start, 5000, 0.1, tolerance=1e-10)
    assert path[-1] == pytest.approx(em.path[-1], abs=1e-6)
    _, divided = plain_gradient(cases, start, 5000, 0.1, "divide", tolerance=1e-10)
    assert divided[-1] < path[-1] - 0.01


def test_bad_gradient():
    cases = Cases.from_rows(Network(((),), [2]), np.array([[0], [1]]))
    with pytest.raises(ValueError, match="did you mean 'divide'"):
        plain_gradient(cases, np.array([0.5, 0.5]), 1, renormalise="divided")
    with pytest.raises(ValueError, match="step"):
        plain_gradient(cases, np.array([0.5, 0.5]), 1, step=0)
