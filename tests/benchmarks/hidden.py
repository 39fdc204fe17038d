"""Hidden Markov models, K2, Gibbs sampling, experts: `... --only hidden` of `make bench`, more rows of speed.json."""

import logging

import numpy as np
import pandas as pd
from hmmlearn.hmm import CategoricalHMM
from pgmpy import structure_score
from scipy.special import expit

from lib.bayes_net.bif import DiscreteNetwork
from lib.bayes_net.gibbs import gibbs_posterior
from lib.experts import MixtureOfExperts
from lib.files import DATA
from lib.hidden_markov import HiddenMarkovModel, expected_counts, joined, sample_sequence
from lib.structures import k2
from lib.structures.dirichlet import DirichletCounts
from tests.benchmarks.jobs import alone, alternate, row
from tests.benchmarks.trees import write
from tests.test_structure_search import greedy

N_STEPS, N_SYMBOLS, ITERATIONS, CALLS = 20_000, 27, 10, 10
ALARM = DiscreteNetwork.read_bif(DATA / "alarm.bif.gz")


def forward_backward(n_states, length):
    """E-steps (forward, backward, expected counts) and whole fits, in steps of the sequences a second."""
    rng = np.random.default_rng(0)
    tables = [
        rng.dirichlet(np.ones(n), m)
        for m, n in ((1, n_states), (n_states, n_states), (n_states, N_SYMBOLS))
    ]
    tables[0] = tables[0][0]
    symbols = sample_sequence(*tables, N_STEPS, rng)[0]
    parts, column = np.split(symbols, range(length, N_STEPS, length)), symbols[:, None]
    lengths, together = [len(part) for part in parts], joined(parts)
    ours = HiddenMarkovModel(n_states, max_iterations=ITERATIONS, tolerance=0, random_state=0)
    theirs = CategoricalHMM(n_states, n_iter=ITERATIONS, tol=-np.inf, random_state=0)
    fits = alternate(lambda: ours.fit(parts), lambda: theirs.fit(column, lengths), repetitions=5)
    if len(ours.traces_[0]) != ITERATIONS or len(theirs.monitor_.history) != ITERATIONS:
        raise AssertionError("one of both did not make all iterations")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = tables
    values = expected_counts(*together, *tables)[0], theirs._do_estep(column, lengths)[1]
    if not np.isclose(*values, rtol=1e-9):
        raise AssertionError(f"log likelihoods differ: {values}")

    both = (
        (lambda: expected_counts(*together, *tables)),
        (lambda: theirs._do_estep(column, lengths)),
    )
    # as EM takes them
    in_a_row = [lambda step=step: [step() for _ in range(CALLS)] for step in both]
    steps = alternate(*in_a_row, repetitions=5) / CALLS
    model = f"hidden Markov model, {n_states} states, sequences of {length:,}; hmmlearn"
    for job, times, target in (
        (f"E-step, {model}", steps, 20),
        (f"EM, {model}", fits / ITERATIONS, None),
    ):
        yield row(job, *(N_STEPS / times.T / 1e6), "million steps/s", target, None)


def greedy_parents():
    """K2 on ALARM; pgmpy computes its score of the families that K2 asks for, in the same order."""
    rows, order = ALARM.sample(10_000, np.random.default_rng(0)), ALARM.network.order
    states = {v: list(range(size)) for v, size in enumerate(ALARM.network.sizes)}
    data = pd.DataFrame({v: pd.Categorical(rows[:, v], states[v]) for v in states})
    parents, asked = greedy(DirichletCounts(rows, ALARM.network.sizes), order)
    if k2(data, order) != parents:
        raise AssertionError("K2 does not take the best of the families that it asks for")

    def peer():  # a new one each time, as it remembers scores
        score = structure_score.K2(data, state_names=states)
        return [score.local_score(*family) for family in asked]

    times = alternate(lambda: k2(data, order), peer, repetitions=5)
    return row(
        "K2, ALARM, 10,000 cases; the scores by pgmpy", times[:, 0], times[:, 1], "s", 50, None
    )


def node_updates(n_sweeps=30_000):
    """Gibbs sampling of all variables of ALARM, nothing observed."""
    nothing, rng = np.full(len(ALARM.parents), -1), np.random.default_rng(0)
    seconds = alternate(
        lambda: gibbs_posterior(ALARM.network, ALARM.theta, nothing, n_sweeps, rng)
    ).min()
    return alone(
        "Gibbs sampling, ALARM", len(nothing) * n_sweeps / seconds / 1e6, "million nodes/s", 5
    )


def two_experts():
    """EM of two experts from five starts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    first = rng.random(1000) < expit(4 * X[:, 0])
    y = rng.random(1000) < expit(np.where(first, 4, -4) * X[:, 1])
    learner = MixtureOfExperts(random_state=0)
    seconds = alternate(lambda: learner.fit(X, y)).min()
    rate = sum(map(len, learner.traces_)) / seconds
    return alone("EM of two experts, 1,000 rows of 8 inputs", rate, "iterations/s", None)


def run(_):
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # it warns of tables with few symbols
    sequences = [
        row for n in (2, 8, 32) for length in (100, 10_000) for row in forward_backward(n, length)
    ]
    write([*sequences, greedy_parents(), node_updates(), two_experts()])
