"""Hidden Markov models, K2, Gibbs sampling, experts: `... --only hidden` of `make bench`.

Its rows stand in speed.json, too.
"""

import logging

import numpy as np
import pandas as pd
from hmmlearn.hmm import CategoricalHMM
from pgmpy import structure_score
from scipy.special import expit

from lib.base.files import DATA
from lib.bayes_net.bif import DiscreteNetwork
from lib.bayes_net.gibbs import gibbs_posterior
from lib.experts import MixtureOfExperts
from lib.hidden_markov import HiddenMarkovModel, expected_counts, joined, sample_sequence
from lib.structures import k2
from lib.structures.dirichlet import DirichletCounts
from tests.benchmarks.jobs import alone, alternate, row
from tests.benchmarks.trees import write
from tests.test_structure_search import greedy

N_STEPS = 20_000
N_SYMBOLS = 27
ITERATIONS = 10
CALLS = 10
ALARM = DiscreteNetwork.read_bif(DATA / "alarm.bif.gz")


def forward_backward(n_states, length):
    """E-steps (forward, backward, expected counts) and whole fits, in steps a second."""
    rng = np.random.default_rng(0)
    start = rng.dirichlet(np.ones(n_states), 1)[0]
    transitions = rng.dirichlet(np.ones(n_states), n_states)
    emissions = rng.dirichlet(np.ones(N_SYMBOLS), n_states)
    tables = (start, transitions, emissions)
    symbols = sample_sequence(*tables, N_STEPS, rng)[0]
    sequences = np.split(symbols, range(length, N_STEPS, length))
    joined_sequences = joined(sequences)
    # as hmmlearn takes them
    column = symbols[:, None]
    lengths = [len(sequence) for sequence in sequences]
    ours = HiddenMarkovModel(n_states, max_iterations=ITERATIONS, tolerance=0, random_state=0)
    theirs = CategoricalHMM(n_states, n_iter=ITERATIONS, tol=-np.inf, random_state=0)
    fits = alternate(
        lambda: ours.fit(sequences), lambda: theirs.fit(column, lengths), repetitions=5
    )
    if len(ours.traces_[0]) != ITERATIONS or len(theirs.monitor_.history) != ITERATIONS:
        raise AssertionError("one of both did not make all iterations")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = tables
    our_likelihood = expected_counts(*joined_sequences, *tables)[0]
    their_likelihood = theirs._do_estep(column, lengths)[1]
    if not np.isclose(our_likelihood, their_likelihood, rtol=1e-9):
        raise AssertionError(f"log likelihoods differ: {our_likelihood}, {their_likelihood}")

    # often in a row, as EM takes them
    def our_steps():
        for _ in range(CALLS):
            expected_counts(*joined_sequences, *tables)

    def their_steps():
        for _ in range(CALLS):
            theirs._do_estep(column, lengths)

    step_rates = N_STEPS / (alternate(our_steps, their_steps, repetitions=5) / CALLS) / 1e6
    fit_rates = N_STEPS / (fits / ITERATIONS) / 1e6
    model = f"hidden Markov model, {n_states} states, sequences of {length:,}; hmmlearn"
    unit = "million steps/s"
    yield row(f"E-step, {model}", step_rates[:, 0], step_rates[:, 1], unit, 20, None)
    yield row(f"EM, {model}", fit_rates[:, 0], fit_rates[:, 1], unit, None, None)


def greedy_parents():
    """K2 on ALARM; pgmpy computes its score of the families that K2 asks for, in the same order."""
    rows = ALARM.sample(10_000, np.random.default_rng(0))
    order = ALARM.network.order
    states = {v: list(range(size)) for v, size in enumerate(ALARM.network.sizes)}
    data = pd.DataFrame({v: pd.Categorical(rows[:, v], states[v]) for v in states})
    parents, families = greedy(DirichletCounts(rows, ALARM.network.sizes), order)
    if k2(data, order) != parents:
        raise AssertionError("K2 does not take the best of the families that it asks for")

    def peer():  # a new one each time, as it remembers scores
        score = structure_score.K2(data, state_names=states)
        return [score.local_score(*family) for family in families]

    times = alternate(lambda: k2(data, order), peer, repetitions=5)
    job = "K2, ALARM, 10,000 cases; the scores by pgmpy"
    return row(job, times[:, 0], times[:, 1], "s", 50, None)


def node_updates(n_sweeps=30_000):
    """Gibbs sampling of all variables of ALARM, nothing observed."""
    unobserved = np.full(len(ALARM.parents), -1)
    rng = np.random.default_rng(0)

    def sample():
        return gibbs_posterior(ALARM.network, ALARM.theta, unobserved, n_sweeps, rng)

    rate = len(unobserved) * n_sweeps / alternate(sample).min() / 1e6
    return alone("Gibbs sampling, ALARM", rate, "million nodes/s", 5)


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
    rows = []
    for n_states in (2, 8, 32):
        for length in (100, 10_000):
            rows += forward_backward(n_states, length)
    write([*rows, greedy_parents(), node_updates(), two_experts()])
