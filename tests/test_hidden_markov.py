"""Hidden Markov models against sums over all paths; factored transitions by their definitions."""

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
    forward_step,
    joined,
    left_to_right,
    log_likelihoods,
    sample_sequence,
)

KINDS = ("product", "independent", "action")


def tables(seed, n_states=3, n_symbols=4):
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_states))
    transitions = rng.dirichlet(np.ones(n_states), n_states)
    emissions = rng.dirichlet(np.ones(n_symbols), n_states)
    return start, transitions, emissions


def paths(symbols, start, transitions, emissions):
    """Each path of states and its joint probability with the symbols."""
    for states in itertools.product(range(len(start)), repeat=len(symbols)):
        p = start[states[0]]
        for pair in itertools.pairwise(states):
            p *= transitions[pair]
        for pair in zip(states, symbols, strict=True):
            p *= emissions[pair]
        yield states, p


@pytest.mark.parametrize("n_states", [1, 3, 15])
def test_log_likelihoods_are_those_of_the_readable_step(n_states):
    start, transitions, emissions = tables(n_states, n_states)
    symbols = np.random.default_rng(n_states).integers(0, 4, 50)
    alpha, scale = forward_step(start, symbols[0], np.eye(n_states), emissions)
    scales = [scale]
    for symbol in symbols[1:]:
        alpha, scale = forward_step(alpha, symbol, transitions, emissions)
        scales.append(scale)
    values = log_likelihoods(*joined([symbols], 4), start, transitions, emissions)
    assert values == pytest.approx(np.log(scales).sum(), rel=1e-12)


def learner_of(tables):
    """A learner as if it had learned these tables."""
    start, transitions, emissions = tables
    learner = HiddenMarkovModel(len(start))
    learner.start_ = start
    learner.transitions_ = transitions
    learner.emissions_ = emissions
    return learner


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=3),
)
def test_counts_are_sums_over_paths(seed, sequences):
    model = tables(seed)
    start_counts = np.zeros(3)
    pair_counts = np.zeros((3, 3))
    symbol_counts = np.zeros((3, 4))
    log_likelihood = 0.0
    for symbols in sequences:
        probability = dict(paths(symbols, *model))
        mass = sum(probability.values())
        log_likelihood += np.log(mass)
        for states, p in probability.items():
            start_counts[states[0]] += p / mass
            for pair in itertools.pairwise(states):
                pair_counts[pair] += p / mass
            for pair in zip(states, symbols, strict=True):
                symbol_counts[pair] += p / mass
    total, of_start, of_pairs, of_symbols = expected_counts(*joined(sequences), *model)
    assert total == pytest.approx(log_likelihood, rel=1e-10)
    np.testing.assert_allclose(of_start, start_counts, atol=1e-10)
    np.testing.assert_allclose(of_pairs, pair_counts, atol=1e-10)
    np.testing.assert_allclose(of_symbols, symbol_counts, atol=1e-10)
    learner = learner_of(model)
    assert learner.score(sequences) == pytest.approx(log_likelihood, rel=1e-10)
    # a decoded path is a likeliest one: two may be equally likely
    for symbols, states in zip(sequences, learner.decode(sequences), strict=True):
        probability = dict(paths(symbols, *model))
        likeliest = max(probability.values())
        assert probability[tuple(states.tolist())] == pytest.approx(likeliest, rel=1e-9)


def logarithms(tables):
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


def extreme_table(rng, shape):
    n_rows, n_columns = shape
    exponents = rng.choice([0, 0, -1, -20, -150, -160, -200, -300, -320], shape)
    table = 10.0**exponents * rng.uniform(0.5, 1, shape)
    table[rng.random(shape) < 0.3] = 0
    # no row has only small numbers
    table[np.arange(n_rows), rng.integers(n_columns, size=n_rows)] = 1
    return table / table.sum(axis=1, keepdims=True)


def extreme_tables(seed, n_states=3, n_symbols=2):
    """Tables with zeros and with probabilities down to 1e-320: some products underflow."""
    rng = np.random.default_rng(seed)
    start = extreme_table(rng, (1, n_states))
    transitions = extreme_table(rng, (n_states, n_states))
    emissions = extreme_table(rng, (n_states, n_symbols))
    return start[0], transitions, emissions


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=2),
)
def test_extreme_tables_against_sums_over_paths(seed, sequences):
    model = extreme_tables(seed)
    start, transitions, emissions = logarithms(model)
    learner = learner_of(model)
    total = 0.0
    start_counts = np.zeros(3)
    pair_counts = np.zeros((3, 3))
    symbol_counts = np.zeros((3, 2))
    for symbols in sequences:
        states = np.array(list(itertools.product(range(3), repeat=len(symbols))))
        pairs = (states[:, :-1], states[:, 1:])
        logs = start[states[:, 0]] + transitions[pairs].sum(axis=1)
        logs += emissions[states, symbols].sum(axis=1)
        mass = logsumexp(logs)
        total += mass
        if mass == -np.inf:
            with pytest.raises(ValueError, match="sequence 0 is impossible"):
                learner.decode([symbols])
            continue
        [path] = learner.decode([symbols])
        log_of_path = logs[(states == path).all(axis=1)][0]
        assert log_of_path == pytest.approx(logs.max(), rel=1e-12)
        shares = np.exp(logs - mass)
        np.add.at(start_counts, states[:, 0], shares)
        np.add.at(pair_counts, pairs, shares[:, None])
        symbols_of_paths = np.broadcast_to(symbols, states.shape)
        np.add.at(symbol_counts, (states, symbols_of_paths), shares[:, None])
    assert learner.score(sequences) == pytest.approx(total, rel=1e-12, abs=1e-12)
    if total == -np.inf:
        with pytest.raises(ValueError, match="impossible"):
            expected_counts(*joined(sequences), *model)
        return
    value, of_start, of_pairs, of_symbols = expected_counts(*joined(sequences), *model)
    assert value == pytest.approx(total, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(of_start, start_counts, atol=1e-12)
    np.testing.assert_allclose(of_pairs, pair_counts, atol=1e-12)
    np.testing.assert_allclose(of_symbols, symbol_counts, atol=1e-12)


# Two states that never change; the first one emits 0 only, the second one a 0 only rarely.
SEPARATE = (np.array([0.5, 0.5]), np.eye(2), np.array([[1.0, 0.0], [1e-4, 1 - 1e-4]]))


@pytest.mark.parametrize("n", [5, 77, 80, 100, 1000, 100_000])
@pytest.mark.parametrize("place", ["first", "last"])
def test_states_that_do_not_mix(n, place):
    """Only the second state emits the one 1, although n zeros alone speak 1e4^n to 1 against it."""
    symbols = np.zeros(n + 1, dtype=int)
    symbols[0 if place == "first" else n] = 1
    log_probability = np.log(0.5) + n * np.log(1e-4) + np.log1p(-1e-4)
    log_probability_of_0 = np.log(0.5 + 0.5e-4)
    assert learner_of(SEPARATE).score([[0], symbols]) == pytest.approx(
        log_probability + log_probability_of_0, rel=1e-11
    )
    value, of_start, of_pairs, of_symbols = expected_counts(*joined([symbols]), *SEPARATE)
    assert value == pytest.approx(log_probability, rel=1e-11)
    np.testing.assert_allclose(of_start, [0, 1], atol=1e-12)
    np.testing.assert_allclose(of_pairs, [[0, 0], [0, n]], rtol=1e-9)
    np.testing.assert_allclose(of_symbols, [[0, 0], [n, 1]], rtol=1e-9)


def test_a_state_that_seems_lost_from_both_ends():
    """The second state underflows after 400 steps from either end, and yet is the likelier one.

    States never change, so that a sequence has two paths.
    """
    emissions = np.array([[0.9, 0.09, 0.01], [0.09, 0.9, 0.01]])
    model = (np.array([0.5, 0.5]), np.eye(2), emissions)
    symbols = np.repeat([0, 1, 0], [400, 1000, 400])
    log_paths = np.log(0.5) + np.log(emissions[:, symbols]).sum(axis=1)
    log_likelihood = logsumexp(log_paths)
    assert learner_of(model).score([symbols]) == pytest.approx(log_likelihood, rel=1e-12)
    value, of_start, *_ = expected_counts(*joined([symbols]), *model)
    assert value == pytest.approx(log_likelihood, rel=1e-12)
    np.testing.assert_allclose(of_start, np.exp(log_paths - log_likelihood), rtol=1e-9)


def test_steps_that_are_hardly_possible():
    """Every second step has probability 1e-307: the sum of twenty reciprocals overflows."""
    model = (np.array([1.0, 0.0]), np.array([[1.0, 1e-307], [1.0, 0.0]]), np.eye(2))
    value, of_start, of_pairs, of_symbols = expected_counts(*joined([[0, 1] * 20]), *model)
    assert value == pytest.approx(20 * np.log(1e-307), rel=1e-12)
    np.testing.assert_allclose(of_pairs, [[0, 20], [19, 0]], rtol=1e-12)
    np.testing.assert_allclose(of_symbols, np.diag([20, 20]), rtol=1e-12)


def test_fit_where_states_do_not_mix():
    mask = np.eye(2, dtype=bool)
    emissions = np.array([[1.0, 0.0], [0.01, 0.99]])
    sequences = [[0] * 200 + [1], [0] * 5]
    learner = HiddenMarkovModel(2, transitions=mask, emissions=emissions, random_state=0)
    learner.fit(sequences)
    # the second sequence is of the first state, but for 1e-10
    np.testing.assert_allclose(learner.start_, [0.5, 0.5])
    np.testing.assert_array_equal(learner.transitions_, np.eye(2))
    logs = [np.log(0.5) + 200 * np.log(0.01) + np.log(0.99), np.log(0.5)]
    np.testing.assert_allclose(learner.score_samples(sequences), logs, rtol=1e-9)
    assert learner.traces_[0][-1] == pytest.approx(sum(logs))


def test_counts_of_many_states_are_sums_of_products_of_matrices():
    """From `WIDE` states on, sums are taken in another way."""
    n_states = forward_backward.WIDE + 1
    start, transitions, emissions = tables(3, n_states, 5)
    symbols = np.random.default_rng(3).integers(0, 5, 12)
    alpha = start * emissions[:, symbols[0]]
    alphas = [alpha]
    for symbol in symbols[1:]:
        alpha = alpha @ transitions * emissions[:, symbol]
        alphas.append(alpha)
    beta = np.ones(n_states)
    of_pairs = np.zeros((n_states, n_states))
    for t in range(len(symbols) - 1, 0, -1):
        of_pairs += np.outer(alphas[t - 1], emissions[:, symbols[t]] * beta) * transitions
        beta = transitions @ (emissions[:, symbols[t]] * beta)
    total, of_start, pair_counts, _ = expected_counts(
        *joined([symbols]), start, transitions, emissions
    )
    assert total == pytest.approx(np.log(alpha.sum()), rel=1e-12)
    np.testing.assert_allclose(pair_counts, of_pairs / alpha.sum(), rtol=1e-10)
    np.testing.assert_allclose(of_start, alphas[0] * beta / alpha.sum(), rtol=1e-10)


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
    """Where no path needs a probability that underflows, the sums are not taken in logarithms."""
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
        log_likelihoods(*joined([[0] * 100 + [1]]), *SEPARATE)


def test_no_underflow_in_a_long_sequence():
    """Four symbols have an entropy of at most log 4."""
    symbols, _ = sample_sequence(*tables(0), 20_000, np.random.default_rng(0))
    assert -np.log(4) * 1.2 < learner_of(tables(0)).score([symbols]) / 20_000 < 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_likelihood_never_falls(kind, smoothing):
    symbols, _ = sample_sequence(*tables(1, 6, 5), 400, np.random.default_rng(1))
    model = FactoredTransitions(kind, (3, 2))
    learner = HiddenMarkovModel(
        6,
        transitions=model,
        smoothing=smoothing,
        n_restarts=2,
        max_iterations=60,
        tolerance=0,
        random_state=0,
    )
    learner.fit([symbols[:150], symbols[150:]])
    assert min(np.diff(trace).min() for trace in learner.traces_) > -1e-7
    assert all(len(trace) == 60 for trace in learner.traces_)
    np.testing.assert_allclose(learner.transitions_.sum(axis=1), 1)
    np.testing.assert_allclose(learner.transitions_, model.matrix(learner.tables_))


def test_action_moves_exactly_one():
    model = FactoredTransitions("action", (3, 2))
    rng = np.random.default_rng(0)
    factors = [rng.dirichlet(np.ones(n_columns), n_rows) for n_rows, n_columns in model.shapes()]
    first, second, action = factors
    matrix = model.matrix(factors)
    transitions = matrix.reshape(3, 2, 3, 2)
    np.testing.assert_allclose(transitions.sum(axis=(2, 3)), 1)
    # P(i, j -> k, m): the action picks the variable that moves, and the other one stays
    for i, j, k, m in np.ndindex(3, 2, 3, 2):
        first_moves = action[0, 0] * first[i, k] * (j == m)
        second_moves = action[0, 1] * second[j, m] * (i == k)
        assert transitions[i, j, k, m] == pytest.approx(first_moves + second_moves)
    counts = rng.random((6, 6)) * (matrix > 0)
    of_first, of_second, of_action = model.counts(counts, factors)
    assert of_first.sum() + of_second.sum() == pytest.approx(counts.sum())
    assert counts.sum() == pytest.approx(of_action.sum())


def test_independent_is_a_product():
    model = FactoredTransitions("independent", (2, 3))
    factors = [np.array([[0.9, 0.1], [0.2, 0.8]]), np.full((3, 3), 1 / 3)]
    # from (0, 0) to (1, 2)
    assert model.matrix(factors)[0, 5] == pytest.approx(0.1 / 3)
    counts = np.arange(36.0).reshape(6, 6)
    of_first, of_second = model.counts(counts, factors)
    assert of_first[0, 1] == counts[:3, 3:].sum()
    assert of_second.sum() == of_first.sum() == counts.sum() == 630


def test_recovery_of_known_tables():
    start = np.array([0.5, 0.5])
    transitions = np.array([[0.95, 0.05], [0.1, 0.9]])
    emissions = np.array([[0.9, 0.1], [0.1, 0.9]])
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
    refit = clone(learner).fit([symbols])
    np.testing.assert_array_equal(refit.transitions_, learner.transitions_)


def test_a_halting_state_ends_strings():
    """One state and a halting state: of strings of 1 to 3 letters, it halts after 1 of 2 letters.

    P(string of n letters) is (1 - h)^(n - 1) h times those of its letters, whose maximum likelihood
    estimates are shares.
    """
    strings = [[0, 1, 2], [0, 2], [0, 0, 1, 2]]  # 2 ends each
    transitions, emissions = left_to_right(1, 3)
    learner = HiddenMarkovModel(
        2, 3, transitions=transitions, emissions=emissions, random_state=0, tolerance=1e-12
    ).fit(strings)
    np.testing.assert_allclose(learner.start_, [1, 0])
    np.testing.assert_allclose(learner.transitions_, [[0.5, 0.5], [0, 1]])
    np.testing.assert_allclose(learner.emissions_, [[2 / 3, 1 / 3, 0], [0, 0, 1]])
    logs = np.log([0.25 * 2 / 3 / 3, 0.5 * 2 / 3, 0.125 * 4 / 27])
    np.testing.assert_allclose(learner.score_samples(strings), logs)
    lengths = np.arange(1, 200)
    totals = learner.score_samples([[0] * n + [2] for n in lengths])
    assert np.exp(totals - lengths * np.log(2 / 3)).sum() == pytest.approx(1)


def test_masks_from_left_to_right():
    transitions, emissions = left_to_right(3, 4)
    expected = [[1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    np.testing.assert_array_equal(transitions, np.array(expected, bool))
    np.testing.assert_array_equal(emissions, [[1, 1, 1, 0]] * 3 + [[0, 0, 0, 1]])
    learner = HiddenMarkovModel(
        4, 4, transitions=transitions, emissions=emissions, smoothing=0.5, random_state=0
    ).fit([[0, 1, 3], [2, 3]])
    assert (learner.transitions_[~transitions] == 0).all()
    np.testing.assert_array_equal(learner.emissions_ > 0, emissions)
    # what is no string of the model: one that does not end, and one that goes on behind its end
    assert np.isfinite(learner.score([[0, 1, 2, 3]]))
    assert learner.score([[3, 0]]) == -np.inf
    for numbers in ((0, 4), (3, 1), (2.5, 4)):
        with pytest.raises(ValueError, match="n_letters|n_symbols"):
            left_to_right(*numbers)


def test_what_cannot_be_made_has_no_probability():
    learner = HiddenMarkovModel(2, n_symbols=3, random_state=0).fit([[0, 1, 0]])
    assert learner.score([[2]]) == -np.inf
    scores = learner.score_samples([[0, 2, 1], [0, 1]])
    np.testing.assert_array_equal(scores, [-np.inf, learner.score([[0, 1]])])
    smoothed = HiddenMarkovModel(2, n_symbols=3, smoothing=1, random_state=0).fit([[0, 1]])
    assert np.isfinite(smoothed.score([[2]]))
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
    assert [len(path) for path in learner.decode(sequences)] == list(map(len, sequences))


def test_large_alphabets_are_given_or_made_use_of():
    """Without `n_symbols` the largest symbol is 10^6 - 1 (test_bad_sequences has a larger one)."""
    declared = HiddenMarkovModel(1, n_symbols=1_000_001).fit([[0, 10**6]])
    assert declared.emissions_.shape == (1, 1_000_001)
    inferred = HiddenMarkovModel(1).fit([[0, 10**6 - 1]])
    assert inferred.emissions_.shape == (1, 10**6)


def test_symbol_never_seen():
    learner = HiddenMarkovModel(2, random_state=0).fit([[0, 1, 2]])
    for method in (learner.score, learner.decode):
        with pytest.raises(
            ValueError, match="symbol 7 of sequence 0, position 1, must be from 0 to 2"
        ):
            method([[0, 7]])


def test_states_of_what_cannot_be_made():
    learner = learner_of(SEPARATE)
    # the second state emits both symbols, in either order
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
            "row 1 of emissions must have numbers .*; got a sum of inf",
        ),
        ({"emissions": np.ones((2, 3), bool), "n_symbols": 2}, r"a mask, must have shape \(2, 2\)"),
        ({"emissions": np.ones(2, bool)}, r"a mask, must have shape \(2, n_symbols\)"),
        (
            {"emissions": np.array([[1, 1], [0, 0]], bool)},
            "a symbol for each state; row 1 has no True",
        ),
        ({"emissions": [[0.5, 0.5], [0.5, 0.4]]}, "row 1 of emissions .*; got a sum of 0.9"),
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
        ("start", [0.5, 0.4], "start_? must have .*; got a sum of 0.9"),
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
    model = dict(zip(("start", "transitions", "emissions"), SEPARATE, strict=True))
    model[name] = value
    with pytest.raises(ValueError, match=words):
        sample_sequence(*model.values(), 5, np.random.default_rng(0))
    learner = learner_of(SEPARATE)
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
