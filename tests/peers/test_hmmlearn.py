"""Hidden Markov models against hmmlearn: likelihood, Viterbi's path, each iteration of EM; and the time of a step."""

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
from lib.hidden_markov.hidden_markov_model import Parameters

hmm = pytest.importorskip("hmmlearn.hmm", reason="no hmmlearn; `make peers` installs it")


def tables(seed, n_states, n_symbols):
    rng = np.random.default_rng(seed)
    return (
        rng.dirichlet(np.ones(n_states)),
        *(rng.dirichlet(np.ones(n), n_states) for n in (n_states, n_symbols)),
    )


def peer(model, **settings):
    learner = hmm.CategoricalHMM(len(model[0]), init_params="", params="ste", **settings)
    learner.startprob_, learner.transmat_, learner.emissionprob_ = (table.copy() for table in model)
    return learner


def log_joint(states, symbols, ends, model):
    start, transitions, emissions = map(np.log, model)
    first = np.isin(np.arange(len(symbols)), ends[:-1])
    steps = np.where(first, start[states], transitions[np.roll(states, 1), states])
    return (steps + emissions[states, symbols]).sum()


@pytest.mark.parametrize("seed", range(3))
def test_likelihood_path_and_iterations(seed):
    model = tables(seed, 4, 6)
    sequences = [sample_sequence(*model, 200, np.random.default_rng(i))[0] for i in range(3)]
    rows, lengths = np.concatenate(sequences)[:, None], [len(s) for s in sequences]
    symbols, ends = joined(sequences)
    start = tables(seed + 100, 4, 6)
    theirs = peer(start, n_iter=15, tol=-np.inf)
    assert expected_counts(symbols, ends, *start)[0] == pytest.approx(
        theirs.score(rows, lengths), rel=1e-10
    )
    path, ours = (
        theirs.decode(rows, lengths)[1],
        np.concatenate([likeliest_states(part, *map(np.log, start)) for part in sequences]),
    )
    assert log_joint(ours, symbols, ends, start) == pytest.approx(
        log_joint(path, symbols, ends, start), rel=1e-12
    )
    assert (ours == path).mean() > 0.95  # the same steps in another order may be as likely
    theirs.fit(rows, lengths)
    learner = HiddenMarkovModel(4, max_iterations=15, tolerance=0)
    learner._random_parameters = lambda *_: Parameters(start[0][None], start[2], [start[1]])
    trace = learner.fit(sequences).traces_[0]
    np.testing.assert_allclose(trace, list(theirs.monitor_.history), rtol=1e-9)


@pytest.mark.parametrize("n_states", [2, 8])
def test_time_of_a_step(n_states):
    model = tables(0, n_states, 27)
    symbols = sample_sequence(*model, 50_000, np.random.default_rng(0))[0]
    expected_counts(*joined([symbols[:10]]), *model)
    began = time.process_time()
    for _ in range(5):
        expected_counts(*joined([symbols]), *model)
    ours, began = (time.process_time() - began) / 5, time.process_time()
    peer(model, n_iter=1, tol=-np.inf).fit(symbols[:, None])
    theirs = time.process_time() - began
    steps = " and ".join(f"{1e9 * seconds / 5e4:.0f}" for seconds in (ours, theirs))
    print(f"\n{n_states} states: ours and hmmlearn {steps} ns a step, {theirs / ours:.0f} times")
    assert ours < theirs
