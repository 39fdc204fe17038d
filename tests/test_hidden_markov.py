"""Hidden Markov models against sums over all paths, and factored transitions against their definitions."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lib.hidden_markov import (
    FactoredTransitions,
    HiddenMarkovModel,
    expected_counts,
    forward_backward,
    joined,
    log_likelihoods,
    sample_sequence,
)

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
@given(
    st.integers(0, 10_000),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=3),
)
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


def logarithms(tables):
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


def extreme_tables(seed, n_states=3, n_symbols=2):
    """Tables with zeros and with probabilities down to 1e-320, of which some have products that no number holds."""
    rng = np.random.default_rng(seed)
    made = []
    for shape in ((1, n_states), (n_states, n_states), (n_states, n_symbols)):
        table = 10.0 ** rng.choice(
            [0, 0, -1, -20, -150, -160, -200, -300, -320], shape
        ) * rng.uniform(0.5, 1, shape)
        table[rng.random(shape) < 0.3] = 0
        table[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = 1  # no row is all small
        made.append(table / table.sum(axis=1, keepdims=True))
    return made[0][0], made[1], made[2]


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=2),
)
def test_extreme_tables_against_sums_over_paths(seed, sequences):
    model = extreme_tables(seed)
    start, transitions, emissions = logarithms(model)
    learner = fitted(model)
    total, expected = 0.0, [np.zeros(3), np.zeros((3, 3)), np.zeros((3, 2))]
    for symbols in sequences:
        every = np.array(list(itertools.product(range(3), repeat=len(symbols))))
        logs = start[every[:, 0]] + transitions[every[:, :-1], every[:, 1:]].sum(axis=1)
        logs += emissions[every, symbols].sum(axis=1)
        mass = logsumexp(logs)
        total += mass
        if mass == -np.inf:
            with pytest.raises(ValueError, match="sequence 0 is impossible"):
                learner.decode([symbols])
            continue
        [path] = learner.decode([symbols])
        assert logs[(every == path).all(axis=1)][0] == pytest.approx(logs.max(), rel=1e-12)
        shares = np.exp(logs - mass)
        np.add.at(expected[0], every[:, 0], shares)
        np.add.at(expected[1], (every[:, :-1], every[:, 1:]), shares[:, None])
        np.add.at(expected[2], (every, np.broadcast_to(symbols, every.shape)), shares[:, None])
    assert learner.score(sequences) == pytest.approx(total, rel=1e-12, abs=1e-12)
    if total == -np.inf:
        with pytest.raises(ValueError, match="impossible"):
            expected_counts(*joined(sequences), *model)
        return
    value, *counts = expected_counts(*joined(sequences), *model)
    assert value == pytest.approx(total, rel=1e-12, abs=1e-12)
    for ours, brute in zip(counts, expected, strict=True):
        np.testing.assert_allclose(ours, brute, atol=1e-12)


APART = np.array([0.5, 0.5]), np.eye(2), np.array([[1.0, 0.0], [1e-4, 1 - 1e-4]])


@pytest.mark.parametrize("n", [5, 77, 80, 100, 1000, 100_000])
@pytest.mark.parametrize("one", ["first", "last"])
def test_states_that_do_not_mix(n, one):
    """Only the second state makes a 1, after the first one has been far likelier, or could have been afterwards."""
    symbols = np.zeros(n + 1, dtype=int)
    symbols[0 if one == "first" else n] = 1
    right = np.log(0.5) + n * np.log(1e-4) + np.log1p(-1e-4)
    assert fitted(APART).score([[0], symbols]) == pytest.approx(
        right + np.log(0.5 + 0.5e-4), rel=1e-11
    )
    value, of_start, of_pairs, of_symbols = expected_counts(*joined([symbols]), *APART)
    assert value == pytest.approx(right, rel=1e-11)
    np.testing.assert_allclose(of_start, [0, 1], atol=1e-12)
    np.testing.assert_allclose(of_pairs, [[0, 0], [0, n]], rtol=1e-9)
    np.testing.assert_allclose(of_symbols, [[0, 0], [n, 1]], rtol=1e-9)


def test_a_state_that_seems_lost_from_both_ends():
    """The second state is out of reach of numbers after 400 steps, seen from either end, and yet the likelier one."""
    model = np.array([0.5, 0.5]), np.eye(2), np.array([[0.9, 0.09, 0.01], [0.09, 0.9, 0.01]])
    symbols = np.repeat([0, 1, 0], [400, 1000, 400])
    each = np.log(0.5) + np.log(model[2][:, symbols]).sum(axis=1)
    assert fitted(model).score([symbols]) == pytest.approx(logsumexp(each), rel=1e-12)
    value, of_start, *_ = expected_counts(*joined([symbols]), *model)
    assert value == pytest.approx(logsumexp(each), rel=1e-12)
    np.testing.assert_allclose(of_start, np.exp(each - logsumexp(each)), rtol=1e-9)


def test_steps_that_are_hardly_possible():
    """Each second step is one of probability 1e-307: the reciprocals of twenty of them add up to no number."""
    model = np.array([1.0, 0.0]), np.array([[1.0, 1e-307], [1.0, 0.0]]), np.eye(2)
    value, of_start, of_pairs, of_symbols = expected_counts(*joined([[0, 1] * 20]), *model)
    assert value == pytest.approx(20 * np.log(1e-307), rel=1e-12)
    np.testing.assert_allclose(of_pairs, [[0, 20], [19, 0]], rtol=1e-12)
    np.testing.assert_allclose(of_symbols, np.diag([20, 20]), rtol=1e-12)


def test_fit_where_states_do_not_mix():
    mask, emissions = np.eye(2, dtype=bool), np.array([[1.0, 0.0], [0.01, 0.99]])
    sequences = [[0] * 200 + [1], [0] * 5]
    learner = HiddenMarkovModel(2, transitions=mask, emissions=emissions, random_state=0).fit(
        sequences
    )
    # the second sequence is of the first state, but for 1e-10
    np.testing.assert_allclose(learner.start_, [0.5, 0.5])
    np.testing.assert_array_equal(learner.transitions_, np.eye(2))
    right = np.log(0.5) + 200 * np.log(0.01) + np.log(0.99)
    np.testing.assert_allclose(learner.score_samples(sequences), [right, np.log(0.5)], rtol=1e-9)
    assert learner.traces_[0][-1] == pytest.approx(right + np.log(0.5))


@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_never_falls_in_logarithms(kind):
    model = FactoredTransitions(kind, (2, 2))
    emissions = [[1.0, 0.0, 0.0], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98], [0.5, 0.25, 0.25]]
    sequences = [np.repeat([0, 1, 0, 2], [400, 1, 300, 200]), np.repeat([2, 0], [500, 500])]
    learner = HiddenMarkovModel(
        4, transitions=model, emissions=emissions, random_state=0, tolerance=0
    )
    trace = learner.set_params(max_iterations=40).fit(sequences).traces_[0]
    assert np.diff(trace).min() > -1e-7
    assert np.isfinite(learner.transitions_).all()


def test_logarithms_only_where_it_matters(monkeypatch):
    """Where no path needs the probabilities that underflow, the fast way is taken, and digits stay as they are."""
    monkeypatch.delattr(forward_backward, "log_forward_backward")
    monkeypatch.delattr(forward_backward, "log_backward")
    start, transitions, emissions = tables(0)
    emissions[0, 1] = emissions[1, 2] = 1e-310
    transitions[2, 0] = 1e-310
    start[:] = 1.0, 1e-310, 0.0
    symbols, _ = sample_sequence(*tables(0), 3000, np.random.default_rng(0))
    value, *_ = expected_counts(*joined([symbols]), start, transitions, emissions)
    assert np.isfinite(value)
    assert log_likelihoods(*joined([symbols]), start, transitions, emissions)[0] == value
    with pytest.raises(NameError):
        log_likelihoods(*joined([[0] * 100 + [1]]), *APART)


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
        expected = parts[2][0, 0] * parts[0][i, k] * (j == m) + parts[2][0, 1] * parts[1][j, m] * (
            i == k
        )
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
    start, transitions, emissions = (
        np.array([0.5, 0.5]),
        np.array([[0.95, 0.05], [0.1, 0.9]]),
        np.eye(2) * 0.8 + 0.1,
    )
    symbols, states = sample_sequence(
        start, transitions, emissions, 20_000, np.random.default_rng(3)
    )
    learner = HiddenMarkovModel(2, n_restarts=2, random_state=0).fit([symbols])
    order = np.argsort(-learner.emissions_[:, 0])
    np.testing.assert_allclose(learner.emissions_[order], emissions, atol=0.02)
    np.testing.assert_allclose(learner.transitions_[np.ix_(order, order)], transitions, atol=0.02)
    assert (np.argsort(order)[learner.decode([symbols])[0]] == states).mean() > 0.93


def test_given_parts_stay():
    emissions = tables(2)[2]
    symbols, _ = sample_sequence(*tables(2), 300, np.random.default_rng(0))
    mask = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    learner = HiddenMarkovModel(3, transitions=mask, emissions=emissions, random_state=0).fit(
        [symbols]
    )
    np.testing.assert_array_equal(learner.emissions_, emissions)
    assert (learner.transitions_[~mask] == 0).all()
    again = clone(learner).fit([symbols])
    np.testing.assert_array_equal(again.transitions_, learner.transitions_)


def test_what_cannot_be_made_has_no_probability():
    learner = HiddenMarkovModel(2, n_symbols=3, random_state=0).fit([[0, 1, 0]])
    assert learner.score([[2]]) == -np.inf
    alone, both = learner.score([[0, 1]]), learner.score_samples([[0, 2, 1], [0, 1]])
    np.testing.assert_array_equal(both, [-np.inf, alone])
    assert np.isfinite(
        HiddenMarkovModel(2, n_symbols=3, smoothing=1, random_state=0).fit([[0, 1]]).score([[2]])
    )
    with pytest.raises(ValueError, match="impossible"):
        HiddenMarkovModel(2, emissions=[[1.0, 0.0], [1.0, 0.0]]).fit([[0, 1, 0], [0]])


@pytest.mark.parametrize(
    ("sequences", "words"),
    [
        ([], "at least one sequence"),
        ([[0, 1], []], "sequence 1 must be one row of at least one integer"),
        ([[0, 0.5]], "sequence 0 must be one row of at least one integer"),
        ([[0, 1], [1, -2]], "symbol -2 of sequence 1, position 1, must be at least 0"),
        (None, "sequences must be a list of sequences of symbols; got None"),
        ([0, 1, 0], "sequence 0 must be one row of at least one integer"),
        ("ab", "sequence 0 must be one row of at least one integer"),
        ([[0, 1], ["a", "b"]], "sequence 1 must be one row of at least one integer"),
        ([[0, 1], [[0], [1, 2]]], "sequence 1 must be an array of one shape and type"),
        (
            [[[0, 1], [1, 0]]],
            r"sequence 0 must be one row of at least one integer; got int64 of \(2, 2\)",
        ),
        ([[True, False]], "sequence 0 must be one row of at least one integer; got bool"),
        (
            [pd.Series([0, None], dtype="Int64")],
            "sequence 0 must be one row of at least one integer",
        ),
        ([[0, 10**30]], "sequence 0 must be one row of at least one integer; got object"),
        ([[0, 10**9]], "symbol 1000000000 is too large for 2 steps without n_symbols"),
        ([[0], np.array([2**63], dtype=np.uint64)], "symbol 9223372036854775808 is too large"),
    ],
)
def test_bad_sequences(sequences, words):
    with pytest.raises(ValueError, match=words):
        HiddenMarkovModel(2).fit(sequences)


@pytest.mark.parametrize(
    "sequences",
    [
        [[0]],
        [[0] * 40],
        np.array([[0, 1, 2], [2, 1, 0]]),
        (range(3), range(1, 2)),
        [np.array([0, 127], dtype=np.int8), np.array([255], dtype=np.uint8)],
        [np.broadcast_to(np.int64(1), 30)],  # which cannot be written to
        [pd.Series([0, 1, 0], index=[7, 8, 9]), pd.Series([1, 0], dtype="Int64")],
        [np.arange(1000)[::-3]],
    ],
)
@pytest.mark.parametrize("n_states", [1, 5])
def test_unusual_sequences(sequences, n_states):
    learner = HiddenMarkovModel(
        n_states, random_state=0, n_restarts=2, max_iterations=5, tolerance=0
    ).fit(sequences)
    for table in (learner.transitions_, learner.emissions_):
        np.testing.assert_allclose(table.sum(axis=1), 1)
    assert np.isfinite(learner.score_samples(sequences)).all()
    assert [len(path) for path in learner.decode(sequences)] == [len(part) for part in sequences]


def test_large_alphabets_are_given_or_made_use_of():
    assert HiddenMarkovModel(1, n_symbols=1_000_001).fit([[0, 10**6]]).emissions_.shape == (
        1,
        1_000_001,
    )
    assert HiddenMarkovModel(1).fit([[0, 10**6 - 1]]).emissions_.shape == (1, 10**6)


def test_symbol_never_seen():
    learner = HiddenMarkovModel(2, random_state=0).fit([[0, 1, 2]])
    for method in (learner.score, learner.decode):
        with pytest.raises(
            ValueError, match="symbol 7 of sequence 0, position 1, must be from 0 to 2"
        ):
            method([[0, 7]])


def test_states_of_what_cannot_be_made():
    learner = fitted(APART)
    np.testing.assert_array_equal(
        learner.score_samples([[1, 0], [0, 1]]), np.log([0.5e-4 * (1 - 1e-4)] * 2)
    )
    learner.emissions_ = np.eye(2)
    assert learner.score([[0, 1]]) == -np.inf
    with pytest.raises(ValueError, match="sequence 1 is impossible"):
        learner.decode([[0, 0], [0, 1]])


def test_where_em_stops_early_it_warns():
    symbols, _ = sample_sequence(*tables(2), 300, np.random.default_rng(0))
    learner = HiddenMarkovModel(3, max_iterations=4, random_state=0)
    with pytest.warns(
        ConvergenceWarning,
        match="did not converge in 4 iterations; raise max_iterations or tolerance",
    ):
        learner.fit([symbols])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(learner).set_params(tolerance=0).fit([symbols])
        clone(learner).set_params(max_iterations=1).fit([symbols])
        clone(learner).set_params(tolerance=1.0).fit([symbols])


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
        ({"smoothing": np.nan}, "smoothing"),
        ({"smoothing": 1e308}, "smoothing"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"n_symbols": 0}, "n_symbols"),
        ({"n_symbols": 1}, "symbol 1 of sequence 0, position 1, must be from 0 to 0"),
        ({"transitions": [[True], [True, False]]}, "transitions must be an array of one shape"),
        ({"transitions": [[1, 1], [0, 1]]}, "of True and False"),
        ({"transitions": np.array([[1, 1], [0, 0]], bool)}, "from each state; row 1 has no True"),
        ({"emissions": 3}, r"emissions must have shape \(2, 1\)"),
        (
            {"emissions": [["a", "b"], [0.5, 0.5]]},
            "emissions must be an array of one shape and type",
        ),
        ({"emissions": [[1, 0], [0.5]]}, "emissions must be an array of one shape and type"),
        (
            {"emissions": [[0.5, 0.5], [1.5, -0.5]]},
            "row 1 of emissions must have numbers of at least 0 .*; got -0.5",
        ),
        (
            {"emissions": [[np.nan, 0.5], [0.5, 0.5]]},
            "row 0 of emissions must have numbers .*; got nan",
        ),
        (
            {"emissions": [[0.5, 0.5], [np.inf, 0]]},
            "row 1 of emissions must have numbers .*; got inf",
        ),
        ({"emissions": [[0.5, 0.5], [0.5, 0.4]]}, "row 1 of emissions .*; they sum to 0.9"),
        (
            {"emissions": [[0.5, 0.5], [0.5, 0.5]], "n_symbols": 3},
            r"emissions must have shape \(2, 3\)",
        ),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        HiddenMarkovModel(**{"n_states": 2} | parameters).fit([[0, 1, 0, 1]])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("start", [0.5, np.nan], "must have numbers of at least 0 that sum to 1; got nan"),
        ("start", [0.5, 0.4], "they sum to 0.9"),
        ("start", [0.2, 0.3, 0.5], r"transitions_? must have shape \(3, 3\)"),
        ("transitions", -np.eye(2), "row 0 of transitions_? must have numbers of at least 0"),
        ("transitions", [1.0, 1.0], r"transitions_? must have shape \(2, 2\)"),
        ("emissions", np.eye(3), r"emissions_? must have shape \(2, 3\)"),
        (
            "emissions",
            [[0.5, 0.5], [2.0, -1.0]],
            "row 1 of emissions_? must have numbers of at least 0",
        ),
    ],
)
def test_bad_tables(name, value, words):
    model = dict(zip(("start", "transitions", "emissions"), APART, strict=True)) | {name: value}
    with pytest.raises(ValueError, match=words):
        sample_sequence(*model.values(), 5, np.random.default_rng(0))
    learner = fitted(APART)
    setattr(learner, name + "_", value)
    for method in (learner.score, learner.decode):
        with pytest.raises(ValueError, match=words):
            method([[0, 1]])


def test_bad_factors():
    with pytest.raises(ValueError, match="did you mean 'action'"):
        FactoredTransitions("actions", (2, 2))
    with pytest.raises(ValueError, match="two variables"):
        FactoredTransitions("independent", (2, 2, 2))
    for sizes in ((), 4):
        with pytest.raises(ValueError, match="sizes must hold"):
            FactoredTransitions("product", sizes)
    assert FactoredTransitions("independent", (2**40, 2**40)).n_states == 2**80
