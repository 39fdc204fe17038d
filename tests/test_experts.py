"""Mixtures of experts against sums over all ways, finite differences and logistic regression."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from lib.experts import MixtureOfExperts, expected_ways, gradients, newton_steps

FEW = {"n_restarts": 2, "random_state": 0}


def two_rules(seed=0, size=400, n=3):
    """The first input decides, softly, which of two opposite rules on the second one holds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, n))
    first = rng.random(size) < expit(4 * X[:, 0])
    return X, (rng.random(size) < expit(np.where(first, 4, -4) * X[:, 1])).astype(int)


def ways(depth):
    """Each expert's node, and the gates above it with the branch taken: 0 the first one, 1 the second."""
    for expert in range(2**depth):
        node = expert + 2**depth - 1
        path, at = [], node
        while at:
            path.append(((at - 1) // 2, 1 - at % 2))
            at = (at - 1) // 2
        yield node, path


def joint(weights, row, target, depth):
    """P(way, class | row) of each way, as a product."""
    at = expit(weights @ row)
    for node, path in ways(depth):
        way = np.prod([1 - at[gate] if branch else at[gate] for gate, branch in path])
        yield path, node, way * (at[node] if target else 1 - at[node])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_expectations_are_sums_over_ways(seed, depth):
    rng = np.random.default_rng(seed)
    weights, inputs, target = (
        rng.normal(size=(2 ** (depth + 1) - 1, 3)),
        rng.normal(size=(6, 3)),
        rng.integers(0, 2, 6),
    )
    value, nodes, firsts = expected_ways(inputs, target, 0.3, weights)
    total, passes, branches = (
        -0.15 * (weights**2).sum(),
        np.zeros_like(nodes),
        np.zeros_like(firsts),
    )
    for i, (row, t) in enumerate(zip(inputs, target, strict=True)):
        every = list(joint(weights, row, t, depth))
        mass = sum(p for *_, p in every)
        total += np.log(mass)
        for path, expert, p in every:
            passes[expert, i] += p / mass
            branches[expert, i] += t * p / mass
            for gate, branch in path:
                passes[gate, i] += p / mass
                branches[gate, i] += (1 - branch) * p / mass
    assert value == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(nodes, passes, atol=1e-12)
    np.testing.assert_allclose(firsts, branches, atol=1e-12)
    slope, step = gradients(inputs, target, 0.3, weights, nodes, firsts), 1e-6
    for cell in np.ndindex(weights.shape):
        moved = np.zeros_like(weights)
        moved[cell] = step
        higher, lower = (
            expected_ways(inputs, target, 0.3, weights + sign * moved)[0] for sign in (1, -1)
        )
        assert slope[cell] == pytest.approx((higher - lower) / (2 * step), abs=1e-6)


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
    learner = MixtureOfExperts(depth, solver=solver, max_iterations=60, tolerance=0, **FEW).fit(
        X, y
    )
    assert min(map(len, learner.traces_)) > 30
    assert min(np.diff(trace).min() for trace in learner.traces_) > -1e-9


def test_both_solvers_end_at_the_same_top():
    X, y = two_rules(size=200)
    ends = {}
    for solver in ("em", "gradient"):
        learner = MixtureOfExperts(
            solver=solver, n_restarts=1, tolerance=0, max_iterations=300, random_state=1
        )
        ends[solver] = learner.fit(X, y)
    slopes = [
        gradients(*data, *expected_ways(*data)[1:])
        for data in ((e._inputs(X), y, 1.0, e.weights_) for e in ends.values())
    ]
    assert max(np.abs(slope).max() for slope in slopes) < 1e-4
    np.testing.assert_allclose(
        ends["em"].predict_proba(X), ends["gradient"].predict_proba(X), atol=1e-4
    )


def test_two_opposite_rules_are_found():
    (X, y), (new, truth) = two_rules(0, 2000), two_rules(1, 4000)
    learner = MixtureOfExperts(random_state=0).fit(X, y)
    best = (
        expit(4 * new[:, 0]) * expit(4 * new[:, 1]) + expit(-4 * new[:, 0]) * expit(-4 * new[:, 1])
        > 0.5
    ) == truth
    assert learner.score(new, truth) > best.mean() - 0.02
    gate, first, second = learner.weights_[:, :3]
    assert np.abs(gate[0]) > 5 * np.abs(gate[1:]).max()
    assert first[1] * second[1] < 0
    assert LogisticRegression().fit(X, y).score(new, truth) < 0.55
    mixed = (learner.gate_proba(new) * learner.expert_proba(new)).sum(axis=1)
    np.testing.assert_allclose(learner.predict_proba(new)[:, 1], mixed)
    np.testing.assert_allclose(learner.gate_proba(new).sum(axis=1), 1)


def test_experts_have_no_order():
    X, y = two_rules()
    inputs, weights = (
        np.column_stack([X, np.ones(len(X))]),
        np.random.default_rng(0).normal(size=(3, 4)),
    )
    renamed = np.array([-weights[0], weights[2], weights[1]])
    values = [expected_ways(inputs, y, 1.0, w)[0] for w in (weights, renamed)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_names_of_classes_and_copies():
    X, y = two_rules()
    plain, named = (MixtureOfExperts(**FEW).fit(X, t) for t in (y, np.array(["no", "yes"])[y]))
    assert (named.predict(X) == np.array(["no", "yes"])[plain.predict(X)]).all()
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
    copies, nodes = np.ones((20, 2)), np.ones((1, 20))
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain, scaled = (
            MixtureOfExperts(solver=solver, max_iterations=20, **FEW).fit(u * X, y)
            for u in (1, unit)
        )
    np.testing.assert_allclose(scaled.predict_proba(unit * X), plain.predict_proba(X), rtol=1e-6)
    far = np.array([scaled.predict_proba([[value] * 3]) for value in (1.7e308, -1.7e308, 5e-324)])
    assert np.isfinite(far).all()
    assert (far >= 0).all()


@pytest.mark.parametrize("value", [0.1, -7.3, 1e308])
def test_a_constant_column_tells_nothing(value):
    X, y = two_rules(size=60)
    rows = np.column_stack([X, np.full(60, value)])
    learner = MixtureOfExperts(depth=0, n_restarts=1, tolerance=0, max_iterations=30)
    expected = learner.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(learner.fit(rows, y).predict_proba(rows), expected, rtol=1e-9)


@parametrize_with_checks([MixtureOfExperts(max_iterations=20, **FEW)])
def test_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
