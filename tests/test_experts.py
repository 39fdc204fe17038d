"""Mixtures of experts against sums over all ways, finite differences and logistic regression."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from lib.experts import MixtureOfExperts, expected_ways, gradients, newton_steps


def two_rules(seed=0, size=400, n=3):
    """The first input decides, softly, which of two opposite rules on the second one holds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, n))
    is_first = rng.random(size) < expit(4 * X[:, 0])
    slope = np.where(is_first, 4, -4)
    y = (rng.random(size) < expit(slope * X[:, 1])).astype(int)
    return X, y


def ways(depth):
    """Each expert's node, and the gates on the way to it with their branches, 0 or 1.

    Node i has the children 2 i + 1 and 2 i + 2; the last 2^depth nodes are the experts.
    """
    for expert in range(2**depth):
        expert_node = expert + 2**depth - 1
        path = []
        node = expert_node
        while node:
            gate = (node - 1) // 2
            branch = 1 - node % 2
            path.append((gate, branch))
            node = gate
        yield expert_node, path


def joint(weights, row, target, depth):
    """P(way, class | row) of each way, as a product."""
    p = expit(weights @ row)
    for expert, path in ways(depth):
        probability = p[expert] if target else 1 - p[expert]
        for gate, branch in path:
            probability *= 1 - p[gate] if branch else p[gate]
        yield path, expert, probability


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_expectations_are_sums_over_ways(seed, depth):
    """The penalised likelihood, P(node is passed) and P(its first branch), and the gradient."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(2 ** (depth + 1) - 1, 3))
    inputs = rng.normal(size=(6, 3))
    target = rng.integers(0, 2, 6)
    penalty = 0.3
    value, nodes, firsts = expected_ways(inputs, target, penalty, weights)

    expected_value = -penalty / 2 * (weights**2).sum()
    expected_nodes = np.zeros_like(nodes)
    expected_firsts = np.zeros_like(firsts)
    for i, (row, label) in enumerate(zip(inputs, target, strict=True)):
        all_ways = list(joint(weights, row, label, depth))
        mass = sum(p for _, _, p in all_ways)
        expected_value += np.log(mass)
        for path, expert, p in all_ways:
            posterior = p / mass
            expected_nodes[expert, i] += posterior
            # what a gate says of its branch an expert says of class 1
            expected_firsts[expert, i] += label * posterior
            for gate, branch in path:
                expected_nodes[gate, i] += posterior
                expected_firsts[gate, i] += (1 - branch) * posterior
    assert value == pytest.approx(expected_value, rel=1e-10)
    np.testing.assert_allclose(nodes, expected_nodes, atol=1e-12)
    np.testing.assert_allclose(firsts, expected_firsts, atol=1e-12)

    gradient = gradients(inputs, target, penalty, weights, nodes, firsts)
    for cell in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[cell] = 1e-6
        higher, *_ = expected_ways(inputs, target, penalty, weights + step)
        lower, *_ = expected_ways(inputs, target, penalty, weights - step)
        assert gradient[cell] == pytest.approx((higher - lower) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_no_gate_is_logistic_regression(penalty):
    X, y = two_rules()
    ours = MixtureOfExperts(
        depth=0, penalty=penalty, n_restarts=1, tolerance=0, max_iterations=30
    ).fit(5 * X + 2, y)
    inputs = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    peer = LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-10).fit(inputs, y)
    np.testing.assert_allclose(ours.weights_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(5 * X + 2), peer.predict_proba(inputs), atol=1e-5)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("solver", ["em", "gradient"])
def test_no_iteration_falls(depth, solver):
    X, y = two_rules()
    learner = MixtureOfExperts(
        depth, solver=solver, max_iterations=60, tolerance=0, n_restarts=2, random_state=0
    )
    learner.fit(X, y)
    assert min(map(len, learner.traces_)) > 30
    assert min(np.diff(trace).min() for trace in learner.traces_) > -1e-9


def test_both_solvers_end_at_the_same_top():
    """The slope is zero at both ends, and the probabilities are the same."""
    X, y = two_rules(size=200)
    posteriors = {}
    for solver in ("em", "gradient"):
        learner = MixtureOfExperts(
            solver=solver, n_restarts=1, tolerance=0, max_iterations=300, random_state=1
        )
        learner.fit(X, y)
        inputs = learner._inputs(X)
        _, nodes, firsts = expected_ways(inputs, y, 1.0, learner.weights_)
        slope = gradients(inputs, y, 1.0, learner.weights_, nodes, firsts)
        assert np.abs(slope).max() < 1e-4
        posteriors[solver] = learner.predict_proba(X)
    np.testing.assert_allclose(posteriors["em"], posteriors["gradient"], atol=1e-4)


def test_two_opposite_rules_are_found():
    X, y = two_rules(0, 2000)
    new, truth = two_rules(1, 4000)
    learner = MixtureOfExperts(random_state=0).fit(X, y)
    # the true model, of which `two_rules` draws
    p_first = expit(4 * new[:, 0])
    p_class = p_first * expit(4 * new[:, 1]) + (1 - p_first) * expit(-4 * new[:, 1])
    best_accuracy = ((p_class > 0.5) == truth).mean()
    assert learner.score(new, truth) > best_accuracy - 0.02
    gate, first, second = learner.weights_[:, :3]
    assert np.abs(gate[0]) > 5 * np.abs(gate[1:]).max()
    assert first[1] * second[1] < 0
    assert LogisticRegression().fit(X, y).score(new, truth) < 0.55
    mixed = (learner.gate_proba(new) * learner.expert_proba(new)).sum(axis=1)
    np.testing.assert_allclose(learner.predict_proba(new)[:, 1], mixed)
    np.testing.assert_allclose(learner.gate_proba(new).sum(axis=1), 1)


def test_experts_have_no_order():
    """To swap both experts and turn the gate round is the same model."""
    X, y = two_rules()
    inputs = np.column_stack([X, np.ones(len(X))])
    gate, first, second = np.random.default_rng(0).normal(size=(3, 4))
    value, *_ = expected_ways(inputs, y, 1.0, np.array([gate, first, second]))
    swapped_value, *_ = expected_ways(inputs, y, 1.0, np.array([-gate, second, first]))
    assert value == pytest.approx(swapped_value, rel=1e-12)


def test_names_of_classes_and_copies():
    X, y = two_rules()
    names = np.array(["no", "yes"])
    plain = MixtureOfExperts(n_restarts=2, random_state=0).fit(X, y)
    named = MixtureOfExperts(n_restarts=2, random_state=0).fit(X, names[y])
    assert (named.predict(X) == names[plain.predict(X)]).all()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(named)).predict_proba(X), plain.predict_proba(X)
    )


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"depth": 9}, "depth must be an integer from 0 to 8; got 9"),
        ({"penalty": 0}, "penalty must be a finite number in"),
        ({"n_restarts": 0}, "n_restarts must be"),
        ({"solver": "emm"}, "did you mean 'em'"),
        ({"max_iterations": 0}, "max_iterations must be"),
        ({"tolerance": -1}, "tolerance must be"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        MixtureOfExperts(**parameters).fit(*two_rules(size=20))


def test_what_cannot_be_learned():
    X, y = two_rules(size=20)
    with pytest.raises(ValueError, match="y must have two classes; got 3 classes"):
        MixtureOfExperts().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="NaN"):
        MixtureOfExperts().fit(np.where(X > 1, np.nan, X), y)
    copies = np.ones((20, 2))
    nodes = np.ones((1, 20))
    with pytest.raises(
        ValueError, match="penalty must be larger for columns that depend on each other; got 1e-300"
    ):
        newton_steps(copies, y, 1e-300, np.zeros((1, 2)), nodes, nodes * y)
    with pytest.warns(ConvergenceWarning, match="no convergence in 3 iterations"):
        MixtureOfExperts(max_iterations=3).fit(X, y)


@pytest.mark.parametrize("solver", ["em", "gradient"])
@pytest.mark.parametrize("unit", [1e-300, 1e200, 3e307])
def test_units_do_not_matter(unit, solver):
    X, y = two_rules(size=60)
    X /= np.abs(X).max()
    plain = MixtureOfExperts(solver=solver, max_iterations=20, n_restarts=2, random_state=0)
    scaled = clone(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain.fit(X, y)
        scaled.fit(unit * X, y)
    np.testing.assert_allclose(scaled.predict_proba(unit * X), plain.predict_proba(X), rtol=1e-6)
    for value in (1.7e308, -1.7e308, 5e-324):
        posterior = scaled.predict_proba([[value] * 3])
        assert np.isfinite(posterior).all()
        assert (posterior >= 0).all()


@pytest.mark.parametrize("value", [0.1, -7.3, 1e308])
def test_a_constant_column_tells_nothing(value):
    X, y = two_rules(size=60)
    rows = np.column_stack([X, np.full(60, value)])
    learner = MixtureOfExperts(
        depth=0, n_restarts=1, tolerance=0, max_iterations=30, random_state=0
    )
    expected = learner.fit(X, y).predict_proba(X)
    # near its maximum the likelihood is flat: where it is known to 2e-16, its place is to 1.5e-8;
    # of 60 random starts the two fits are at most 2.8e-8 apart
    np.testing.assert_allclose(learner.fit(rows, y).predict_proba(rows), expected, rtol=1e-7)
