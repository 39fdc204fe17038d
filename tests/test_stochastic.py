"""Gibbs sampling against sums over all hidden values; the plain gradient against closed forms."""

import itertools
import pickle
import time
import warnings
from math import lgamma

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lib.bayes_net import Cases, Network
from lib.bayes_net.em import maximise_expectation
from lib.bayes_net.gibbs import gibbs_posterior, plain_gradient, simplex_projection
from lib.latent_class import LatentClassGibbs


def log_dirichlet(counts, prior):
    """Ln P(a sequence with these counts) with its probabilities summed out."""
    total = lgamma(prior * len(counts)) - lgamma(prior * len(counts) + sum(counts))
    return total + sum(lgamma(n + prior) - lgamma(prior) for n in counts)


def log_evidence(rows, sizes, prior):
    """Ln P(rows), summed over all assignments of two hidden classes."""
    terms = []
    for classes in itertools.product((0, 1), repeat=len(rows)):
        z = np.array(classes)
        term = log_dirichlet(np.bincount(z, minlength=2), prior)
        for c in (0, 1):
            for column, size in zip(rows[z == c].T, sizes, strict=True):
                counts = np.bincount(column[column >= 0], minlength=size)
                term += log_dirichlet(counts, prior)
        terms.append(term)
    return np.logaddexp.reduce(terms)


@pytest.mark.parametrize("prior", [1.0, 0.5])
def test_predictive_distribution_is_exact(prior):
    """P(new | rows) = P(rows, new) / P(rows)."""
    rows = np.array([[0, 0, 2], [1, 1, 0], [1, 1, 1], [0, 0, -1], [0, 1, 2]])
    sizes = (2, 2, 3)
    X = pd.DataFrame(np.where(rows < 0, np.nan, rows)).astype("Int64").astype("category")
    learner = LatentClassGibbs(n_burn=200, n_samples=30_000, prior=prior, random_state=0).fit(X)
    inputs = np.array(list(itertools.product((0, 1), (0, 1), (0, 1, 2))))
    log_joint = np.array([log_evidence(np.vstack([rows, new]), sizes, prior) for new in inputs])
    exact = np.exp(log_joint - log_evidence(rows, sizes, prior))
    assert exact.sum() == pytest.approx(1)
    frame = pd.DataFrame(inputs).astype("Int64").astype("category")
    ours = np.exp(learner.score_samples(frame))
    assert ours.sum() == pytest.approx(1)
    np.testing.assert_allclose(ours, exact, rtol=0.05)


def two_classes(rng, size, delta, n=10):
    z = rng.integers(0, 2, size)
    return (rng.random((size, n)) < 0.5 + delta * (z[:, None] - 0.5)).astype(int), z


def test_classes_are_found_whatever_their_names():
    X, z = two_classes(np.random.default_rng(0), 400, 0.6)
    learner = LatentClassGibbs(n_samples=200, relabel=True, random_state=0).fit(X)
    # classes have no order, so that they may have come out swapped
    agreement = (learner.predict(X) == z).mean()
    assert max(agreement, 1 - agreement) > 0.9
    np.testing.assert_array_equal(clone(learner).fit_predict(X), learner.predict(X))
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(learner.votes(X).sum(axis=1), 1)
    copy = pickle.loads(pickle.dumps(clone(learner).fit(X)))
    np.testing.assert_array_equal(copy.tables_, learner.tables_)


def test_renamed_classes_are_those_of_the_best_draw():
    X, _ = two_classes(np.random.default_rng(1), 40, 0.2)
    plain = LatentClassGibbs(n_samples=3000, random_state=0).fit(X)
    renamed = clone(plain).set_params(relabel=True).fit(X)
    assert len(np.unique(plain.names_[:, 0])) == 2  # classes this faint are confused
    np.testing.assert_array_equal(np.sort(plain.tables_, axis=1), np.sort(renamed.tables_, axis=1))
    np.testing.assert_allclose(plain.score_samples(X), renamed.score_samples(X))
    # each draw is nearer to the best one than to the best one with its classes swapped
    best = renamed.tables_[renamed.trace_[renamed.n_burn :].argmax()]
    distance = ((renamed.tables_ - best) ** 2).sum(axis=(1, 2))
    distance_to_swapped = ((renamed.tables_ - best[::-1]) ** 2).sum(axis=(1, 2))
    assert (distance <= distance_to_swapped + 1e-12).all()


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
    """A network of five variables, and the probabilities of its tables."""
    rng = np.random.default_rng(4)
    network = Network(((), (0,), (0, 1), (2,), ()), [2, 3, 2, 3, 2])
    tables = [rng.dirichlet(np.full(shape[-1], 1.0), shape[:-1]) for shape in network.shapes]
    return network, network.flat(tables)


def test_posterior_of_a_network(network):
    network, theta = network
    """The joint probability of three hidden values with variable 3 at 1; 4 is independent."""
    evidence = np.array([-1, -1, -1, 1, 0])
    tables = network.tables(theta)
    exact = np.zeros((2, 3, 2))
    for a, b, c in np.ndindex(2, 3, 2):
        exact[a, b, c] = tables[0][a] * tables[1][a, b] * tables[2][a, b, c] * tables[3][c, 1]
    states = gibbs_posterior(network, theta, evidence, 200_000, np.random.default_rng(0))
    assert (states[:, 3:] == [1, 0]).all()
    shares = np.zeros((2, 3, 2))
    np.add.at(shares, tuple(states[:, :3].T), 1 / len(states))
    np.testing.assert_allclose(shares, exact / exact.sum(), atol=0.01)
    first_states = gibbs_posterior(network, theta, evidence, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(first_states, states[:100])


def test_updates_a_second(network):
    network, theta = network
    began = time.process_time()
    gibbs_posterior(network, theta, np.full(5, -1), 200_000, np.random.default_rng(0))
    rate = 1e6 / (time.process_time() - began)
    print(f"\n{rate / 1e6:.1f} million node updates a second")
    assert rate > 1e5


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ([-1] * 4, "each of 5 variables"),
        ([0, 3, 0, 0, 0], "variable 1 must be an integer from -1 to 2"),
    ],
)
def test_bad_evidence(network, evidence, words):
    with pytest.raises(ValueError, match=words):
        gibbs_posterior(*network, evidence, 10, np.random.default_rng(0))


COPIES = Network(((), (0,), (1,)), [2, 2, 2])  # of a coin, and a copy of the copy
EQUAL = COPIES.flat([[0.5, 0.5], np.eye(2), np.eye(2)])


def test_chains_that_stick_are_told_of():
    with pytest.warns(
        RuntimeWarning, match="table of variable 1 rules out joint values of hidden variables"
    ):
        states = gibbs_posterior(COPIES, EQUAL, [-1, -1, -1], 50, np.random.default_rng(0))
    assert (states == states[0, 0]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one hidden variable cannot stick
        assert (gibbs_posterior(COPIES, EQUAL, [0, -1, 0], 5, np.random.default_rng(0)) == 0).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("zero", [0.0, 1e-300])
def test_only_possible_states_are_returned(zero):
    """From where chance puts two variables, single changes may not lead to a possible state."""
    theta = np.maximum(EQUAL, zero)
    for seed in range(10):
        states = gibbs_posterior(COPIES, theta, [-1, -1, 1], 5, np.random.default_rng(seed))
        assert (states == 1).all()
    with pytest.raises(ValueError, match="evidence must have a probability above 0"):
        gibbs_posterior(COPIES, theta, [0, -1, 1], 5, np.random.default_rng(0))


def test_products_of_many_tables_do_not_underflow():
    """Each class gives the row a probability of (0.1 * 0.2)^201, about 1e-341.

    It is the same for both classes, so that the posterior is the prior of 0.6.
    """
    network = Network(((), *[(0,)] * 402), [2] * 403)
    row = np.zeros(402, int)
    odd_table = [[0.1, 0.9], [0.2, 0.8]]
    even_table = [[0.2, 0.8], [0.1, 0.9]]
    tables = [[0.6, 0.4], *([odd_table, even_table] * 201)]
    theta = network.flat(tables)
    exact = Cases(network, row[None], np.ones((1, 2))).posterior(theta)[0, 0]
    states = gibbs_posterior(network, theta, [-1, *row], 4000, np.random.default_rng(0))
    assert exact == pytest.approx(0.6)
    assert (states[:, 0] == 0).mean() == pytest.approx(exact, abs=0.03)


def nearest_on_simplex(row, total):
    """By trial of every set of positive entries, which all move by the same amount."""
    candidates = []
    for choice in itertools.product((False, True), repeat=len(row)):
        positive = np.array(choice)
        if positive.any():
            shift = (total - row[positive].sum()) / positive.sum()
            candidate = np.where(positive, row + shift, 0)
            if candidate.min() >= 0:
                candidates.append(candidate)
    return min(candidates, key=lambda candidate: ((candidate - row) ** 2).sum())


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_projection_is_the_nearest_point(scale, size):
    rng = np.random.default_rng(size)
    rows = scale * rng.normal(size=(40, size)).round(1)  # with ties
    for total in (1.0, 0.25):
        expected = [nearest_on_simplex(row, total) for row in rows]
        projection = simplex_projection(rows, total)
        np.testing.assert_allclose(projection, expected, atol=1e-12 * scale)
    # from so far away that a sum of 1 is less than rounding
    projection = simplex_projection(1e15 * rng.normal(size=(40, size)))
    np.testing.assert_array_equal(projection.sum(axis=1), 1)
    assert projection.min() >= 0


def single_variable(*counts):
    """Cases of one variable, with these numbers of its values."""
    values = np.repeat(np.arange(len(counts)), counts)
    return Cases.from_rows(Network(((),), [len(counts)]), values[:, None])


def latent_class_cases(X, n_values=2):
    """Cases of a constant class, a hidden value of two, and attributes that depend on that."""
    size, n = X.shape
    network = Network(((), (), *[(1,)] * n), [1, 2, *[n_values] * n])
    constant_class = np.zeros(size, int)
    hidden_value = np.full(size, -1)
    return network, Cases.from_rows(network, np.column_stack([constant_class, hidden_value, X]))


def test_division_ends_at_square_roots():
    """The gradient n / theta is a multiple of theta where theta is as the square roots of n."""
    cases = single_variable(90, 10)
    for step in (0.3, 0.01):
        theta, _ = plain_gradient(cases, np.array([0.5, 0.5]), 5000, step, "divide", 1e-12)
        # 90 to 10 is 9 to 1, whose root is 3 to 1
        np.testing.assert_allclose(theta, [0.75, 0.25], atol=1e-6)
    # projection ends at the maximum
    theta, path = plain_gradient(cases, np.array([0.5, 0.5]), 5000, 0.05, "project", 1e-12)
    np.testing.assert_allclose(theta, [0.9, 0.1], atol=1e-6)
    assert path[-1] == pytest.approx(0.9 * np.log(0.9) + 0.1 * np.log(0.1))


def test_projected_gradient_ends_where_em_does():
    X, _ = two_classes(np.random.default_rng(2), 300, 0.7, 4)
    network, cases = latent_class_cases(X)
    start = network.normalised(np.random.default_rng(3).uniform(0.3, 0.7, network.n_parameters))
    em = maximise_expectation(cases, start, 2000, tolerance=1e-13)
    _, path = plain_gradient(cases, start, 5000, 0.1, tolerance=1e-10)
    assert path[-1] == pytest.approx(em.path[-1], abs=1e-6)
    _, divided = plain_gradient(cases, start, 5000, 0.1, "divide", tolerance=1e-10)
    assert divided[-1] < path[-1] - 0.01


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_a_value_never_seen(step):
    """The maximum is at an edge, but for the least that an entry may be, 1e-6."""
    cases = single_variable(90, 10, 0)
    start = np.full(3, 1 / 3)
    theta, path = plain_gradient(cases, start, 5000, step, "project", 1e-12)
    np.testing.assert_allclose(theta, [0.9, 0.1, 0], atol=1.01e-6)
    assert theta[2] == 1e-6
    divided, _ = plain_gradient(cases, start, 5000, step, "divide", 1e-12)
    np.testing.assert_allclose(divided, [0.75, 0.25, 0], atol=1.01e-6)
    assert divided[2] == 1e-6
    assert theta.sum() == pytest.approx(1, abs=1e-15)
    assert path[-1] == pytest.approx(0.9 * np.log(0.9) + 0.1 * np.log(0.1), abs=2e-6)


def test_of_two_values_projection_is_the_mean_rule():
    """To subtract its row's mean from the gradient is the same while no entry is at the edge."""
    X, _ = two_classes(np.random.default_rng(2), 200, 0.6, 5)
    network, cases = latent_class_cases(X)
    uniform = np.random.default_rng(3).uniform(0.25, 0.75, network.n_parameters)
    start = network.normalised(uniform)
    theta = start
    for _ in range(300):
        gradient = cases.expected_counts(theta)[1] / theta / 200
        rows = np.split(gradient, network.row_starts[1:-1])
        theta = theta + 0.1 * np.concatenate([row - row.mean() for row in rows])
    ours, _ = plain_gradient(cases, start, 300, 0.1, tolerance=0)
    np.testing.assert_allclose(ours, theta, atol=1e-13)


@pytest.mark.parametrize("renormalise", ["project", "divide"])
def test_rare_values_do_not_explode(renormalise):
    """Tables from Dirichlet(.3): long steps jump to and fro, but each iterate is a table."""
    for seed, size in itertools.product(range(9), (3, 5)):
        rng = np.random.default_rng(seed)
        cumulative = np.cumsum(rng.dirichlet(np.full(size, 0.3), (8, 2)), axis=-1)
        z = rng.integers(0, 2, 100)
        # a value is the number of bounds below a uniform number
        bounds = cumulative[:, z].transpose(1, 0, 2)[..., :-1]
        X = (rng.random((100, 8, 1)) > bounds).sum(axis=-1)
        network, cases = latent_class_cases(X, n_values=size)
        start = network.normalised(rng.uniform(0.25, 0.75, network.n_parameters))
        theta, path = plain_gradient(cases, start, 40, 0.1, renormalise)
        assert theta.min() >= 1e-6
        np.testing.assert_allclose(
            np.add.reduceat(theta, network.row_starts[:-1]), 1, rtol=0, atol=1e-12
        )
        assert path.min() > 8 * np.log(1e-6)


def test_a_step_settles_below_twice_the_smallest_probability():
    """At the maximum p the second derivative is -1 / p, and the smallest p is 0.05."""
    cases = single_variable(18, 1, 1)
    start = np.array([0.9, 0.051, 0.049])
    maximum = [0.9, 0.05, 0.05]
    theta, _ = plain_gradient(cases, start, 2000, 0.095)
    np.testing.assert_allclose(theta, maximum, atol=1e-8)
    theta, _ = plain_gradient(cases, start, 2000, 0.105)
    assert np.abs(theta - maximum).max() > 0.001


def test_a_start_at_the_edge_is_moved():
    cases = single_variable(1, 1, 1)
    for renormalise in ("project", "divide"):
        theta, path = plain_gradient(cases, [1.0, 0.0, 0.0], 0, renormalise=renormalise)
        np.testing.assert_allclose(theta, [1 - 2e-6, 1e-6, 1e-6], rtol=1e-9)
        assert path[0] == pytest.approx(2 / 3 * np.log(1e-6), rel=1e-5)


def test_bad_gradient():
    cases = single_variable(1, 1)
    with pytest.raises(ValueError, match="did you mean 'divide'"):
        plain_gradient(cases, np.array([0.5, 0.5]), 1, renormalise="divided")
    for step in (0, 1e101):
        with pytest.raises(ValueError, match="step"):
            plain_gradient(cases, np.array([0.5, 0.5]), 1, step=step)
