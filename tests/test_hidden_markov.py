"""Hidden Markov models against sums over all paths, and factored transitions against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from lib.hidden_markov import FactoredTransitions, HiddenMarkovModel, expected_counts, joined, sample_sequence

KINDS = ("product", "independent", "action")


def tables(seed, n_states=3, n_symbols=4):
    rng = np.random.default_rng(seed)
    shapes = [(1, n_states), (n_states, n_states), (n_states, n_symbols)]
    start, transitions, emissions = (rng.dirichlet(np.ones(b), a) for a, b in shapes)
    return start[0], transitions, emissions


def paths(symbols, start, transitions, emissions):
    """Each path of states and its joint probability with the symbols."""
    for states in itertools.product(range(len(start)), repeat=len(symbols)):
        p = start[states[0]] * np.prod([transitions[a, b] for a, b in itertools.pairwise(states)])
        yield states, p * np.prod([emissions[s, x] for s, x in zip(states, symbols, strict=True)])


def fitted(model):
    learner = HiddenMarkovModel(len(model[0]))
    learner.start_, learner.transitions_, learner.emissions_ = model
    return learner


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=3))
def test_counts_are_sums_over_paths(seed, sequences):
    model = tables(seed)
    total, of_start, of_pairs, of_symbols = expected_counts(*joined(sequences), *model)
    expected = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 4))
    log_likelihood = 0.0
    for symbols in sequences:
        every = list(paths(symbols, *model))
        mass = sum(p for _, p in every)
        log_likelihood += np.log(mass)
        for states, p in every:
            expected[0][states[0]] += p / mass
            for pair in itertools.pairwise(states):
                expected[1][pair] += p / mass
            for pair in zip(states, symbols, strict=True):
                expected[2][pair] += p / mass
    assert total == pytest.approx(log_likelihood, rel=1e-10)
    for ours, brute in zip((of_start, of_pairs, of_symbols), expected, strict=True):
        np.testing.assert_allclose(ours, brute, atol=1e-10)
    learner = fitted(model)
    assert learner.score(sequences) == pytest.approx(log_likelihood, rel=1e-10)
    for symbols, states in zip(sequences, learner.decode(sequences), strict=True):
        every = dict(paths(symbols, *model))
        assert every[tuple(states.tolist())] == pytest.approx(max(every.values()), rel=1e-9)


def test_no_underflow_in_a_long_sequence():
    symbols, _ = sample_sequence(*tables(0), 20_000, np.random.default_rng(0))
    assert -np.log(4) * 1.2 < fitted(tables(0)).score([symbols]) / 20_000 < 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_likelihood_never_falls(kind, smoothing):
    symbols, _ = sample_sequence(*tables(1, 6, 5), 400, np.random.default_rng(1))
    model = FactoredTransitions(kind, (3, 2))
    settings = {"n_restarts": 2, "max_iterations": 60, "tolerance": 0, "random_state": 0}
    learner = HiddenMarkovModel(6, transitions=model, smoothing=smoothing, **settings).fit(
        [symbols[:150], symbols[150:]]
    )
    assert min(np.diff(trace).min() for trace in learner.traces_) > -1e-7
    assert all(len(trace) == 60 for trace in learner.traces_)
    np.testing.assert_allclose(learner.transitions_.sum(axis=1), 1)
    np.testing.assert_allclose(learner.transitions_, model.matrix(learner.tables_))


def test_action_moves_exactly_one():
    model = FactoredTransitions("action", (3, 2))
    rng = np.random.default_rng(0)
    parts = [rng.dirichlet(np.ones(b), a) for a, b in model.shapes()]
    matrix = model.matrix(parts).reshape(3, 2, 3, 2)
    np.testing.assert_allclose(matrix.sum(axis=(2, 3)), 1)
    for i, j, k, m in np.ndindex(3, 2, 3, 2):
        expected = parts[2][0, 0] * parts[0][i, k] * (j == m) + parts[2][0, 1] * parts[1][j, m] * (i == k)
        assert matrix[i, j, k, m] == pytest.approx(expected)
    counts = rng.random((6, 6)) * (model.matrix(parts) > 0)
    first, second, action = model.counts(counts, parts)
    assert first.sum() + second.sum() == pytest.approx(counts.sum()) == pytest.approx(action.sum())


def test_independent_is_a_product():
    model = FactoredTransitions("independent", (2, 3))
    parts = [np.array([[0.9, 0.1], [0.2, 0.8]]), np.full((3, 3), 1 / 3)]
    assert model.matrix(parts)[0, 5] == pytest.approx(0.1 / 3)
    first, second = model.counts(np.arange(36.0).reshape(6, 6), parts)
    assert first[0, 1] == np.arange(36).reshape(6, 6)[:3, 3:].sum()
    assert second.sum() == first.sum() == 630


def test_recovery_of_known_tables():
    start, transitions, emissions = np.array([0.5, 0.5]), np.array([[0.95, 0.05], [0.1, 0.9]]), np.eye(2) * 0.8 + 0.1
    symbols, states = sample_sequence(start, transitions, emissions, 20_000, np.random.default_rng(3))
    learner = HiddenMarkovModel(2, n_restarts=2, random_state=0).fit([symbols])
    order = np.argsort(-learner.emissions_[:, 0])
    np.testing.assert_allclose(learner.emissions_[order], emissions, atol=0.02)
    np.testing.assert_allclose(learner.transitions_[np.ix_(order, order)], transitions, atol=0.02)
    assert (np.argsort(order)[learner.decode([symbols])[0]] == states).mean() > 0.93


def test_given_parts_stay():
    emissions = tables(2)[2]
    symbols, _ = sample_sequence(*tables(2), 300, np.random.default_rng(0))
    mask = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    learner = HiddenMarkovModel(3, transitions=mask, emissions=emissions, random_state=0).fit([symbols])
    np.testing.assert_array_equal(learner.emissions_, emissions)
    assert (learner.transitions_[~mask] == 0).all()
    again = clone(learner).fit([symbols])
    np.testing.assert_array_equal(again.transitions_, learner.transitions_)


def test_what_cannot_be_made_has_no_probability():
    learner = HiddenMarkovModel(2, n_symbols=3, random_state=0).fit([[0, 1, 0]])
    assert learner.score([[2]]) == -np.inf
    alone, both = learner.score([[0, 1]]), learner.score_samples([[0, 2, 1], [0, 1]])
    np.testing.assert_array_equal(both, [-np.inf, alone])
    assert np.isfinite(HiddenMarkovModel(2, n_symbols=3, smoothing=1, random_state=0).fit([[0, 1]]).score([[2]]))
    with pytest.raises(ValueError, match="impossible"):
        HiddenMarkovModel(2, emissions=[[1.0, 0.0], [1.0, 0.0]]).fit([[0, 1, 0], [0]])


@pytest.mark.parametrize(
    ("sequences", "words"),
    [
        ([], "at least one sequence"),
        ([[0, 1], []], "sequence 1 must be one row of at least one integer"),
        ([[0, 0.5]], "sequence 0 must be one row of at least one integer"),
        ([[0, 1], [1, -2]], "symbol -2 of sequence 1, position 1, must be at least 0"),
    ],
)
def test_bad_sequences(sequences, words):
    with pytest.raises(ValueError, match=words):
        HiddenMarkovModel(2).fit(sequences)


def test_symbol_never_seen():
    learner = HiddenMarkovModel(2, random_state=0).fit([[0, 1, 2]])
    with pytest.raises(ValueError, match="symbol 7 of sequence 0, position 1, must be from 0 to 2"):
        learner.score([[0, 7]])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_states": 0}, "n_states"),
        ({"transitions": "fall"}, "transitions must be"),
        ({"transitions": np.zeros((2, 2), bool)}, "a transition from each state"),
        ({"transitions": FactoredTransitions("action", (2, 2))}, "n_states must be 4"),
        ({"emissions": np.eye(3)}, r"emissions must have shape \(2, 3\)"),
        ({"emissions": [0.5, 0.5]}, r"emissions must have shape \(2, 2\)"),
        ({"smoothing": -1}, "smoothing"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        HiddenMarkovModel(**{"n_states": 2} | parameters).fit([[0, 1, 0, 1]])


def test_bad_factors():
    with pytest.raises(ValueError, match="did you mean 'action'"):
        FactoredTransitions("actions", (2, 2))
    with pytest.raises(ValueError, match="two variables"):
        FactoredTransitions("independent", (2, 2, 2))
