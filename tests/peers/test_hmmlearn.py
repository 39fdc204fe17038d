"""Hidden Markov models against hmmlearn: likelihood, Viterbi's path, EM and its time."""

import time

import numpy as np
import pytest

from lib.hidden_markov import (
    HiddenMarkovModel,
    expected_counts,
    joined,
    likeliest_states,
    sample_sequence,
)
from lib.hidden_markov.hidden_markov_model import ModelTables

hmm = pytest.importorskip("hmmlearn.hmm", reason="no hmmlearn; `make peers` installs it")


def tables(seed, n_states, n_symbols):
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_states))
    transitions = rng.dirichlet(np.ones(n_states), n_states)
    emissions = rng.dirichlet(np.ones(n_symbols), n_states)
    return start, transitions, emissions


def peer(model, **settings):
    learner = hmm.CategoricalHMM(len(model[0]), init_params="", params="ste", **settings)
    start, transitions, emissions = model
    learner.startprob_ = start.copy()
    learner.transmat_ = transitions.copy()
    learner.emissionprob_ = emissions.copy()
    return learner


def log_joint(states, symbols, ends, model):
    """Log probability of a path and the symbols of sequences that stand one behind the other."""
    start, transitions, emissions = map(np.log, model)
    is_first = np.isin(np.arange(len(symbols)), ends[:-1])
    steps = np.where(is_first, start[states], transitions[np.roll(states, 1), states])
    return (steps + emissions[states, symbols]).sum()


@pytest.mark.parametrize("seed", range(3))
def test_likelihood_path_and_iterations(seed):
    model = tables(seed, 4, 6)
    sequences = [sample_sequence(*model, 200, np.random.default_rng(i))[0] for i in range(3)]
    rows = np.concatenate(sequences)[:, None]
    lengths = [len(sequence) for sequence in sequences]
    symbols, ends = joined(sequences)
    initial = tables(seed + 100, 4, 6)
    theirs = peer(initial, n_iter=15, tol=-np.inf)

    our_likelihood = expected_counts(symbols, ends, *initial)[0]
    assert our_likelihood == pytest.approx(theirs.score(rows, lengths), rel=1e-10)

    log_tables = [np.log(table) for table in initial]
    our_path = np.concatenate([likeliest_states(sequence, *log_tables) for sequence in sequences])
    their_path = theirs.decode(rows, lengths)[1]
    their_joint = log_joint(their_path, symbols, ends, initial)
    assert log_joint(our_path, symbols, ends, initial) == pytest.approx(their_joint, rel=1e-12)
    assert (
        our_path == their_path
    ).mean() > 0.95  # the same steps in another order may be as likely

    # both begin at the same tables
    theirs.fit(rows, lengths)
    start, transitions, emissions = initial
    learner = HiddenMarkovModel(4, max_iterations=15, tolerance=0)
    learner._random_parameters = lambda *_: ModelTables(start[None], emissions, [transitions])
    trace = learner.fit(sequences).traces_[0]
    np.testing.assert_allclose(trace, list(theirs.monitor_.history), rtol=1e-9)


@pytest.mark.parametrize("n_states", [2, 8])
def test_time_of_a_step(n_states):
    model = tables(0, n_states, 27)
    symbols = sample_sequence(*model, 50_000, np.random.default_rng(0))[0]
    expected_counts(*joined([symbols[:10]]), *model)  # compiles
    start = time.process_time()
    for _ in range(5):
        expected_counts(*joined([symbols]), *model)
    our_seconds = (time.process_time() - start) / 5
    start = time.process_time()
    peer(model, n_iter=1, tol=-np.inf).fit(symbols[:, None])
    their_seconds = time.process_time() - start
    our_step = 1e9 * our_seconds / len(symbols)
    their_step = 1e9 * their_seconds / len(symbols)
    ratio = their_seconds / our_seconds
    print(
        f"\n{n_states} states: ours and hmmlearn {our_step:.0f} and {their_step:.0f} ns a step,"
        f" {ratio:.0f} times"
    )
    assert our_seconds < their_seconds
