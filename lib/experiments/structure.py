"""Learning tables for a structure that is poorer or richer than the truth, with exact errors by enumeration."""

from functools import cache, partial

import numpy as np

from lib import trials
from lib.bayes_net import (
    Cases,
    Network,
    choose_iterations,
    climb,
    observed_frequencies,
    tuning_errors,
)
from lib.experiments.elr_data import BAYES_NET_LEARNERS, N_FOLDS
from lib.structures import naive
from lib.validation import at_least_one, check_choice, check_integer, check_real

TUNED, CONVERGED = 20, 500  # most iterations
PRIOR, LIKELY, UNLIKELY = 0.9, 0.8, 0.2


def structure_robustness(
    n_attributes=5,
    duplicates=range(6),
    n_instances=400,
    missing=0.0,
    learners=("ofe", "elr"),
    n_runs=30,
    seed=0,
    n_jobs=-1,
):
    """Error of naive Bayes with learned tables when the first m attributes are copies of each other.

    Parameters
    ----------
    n_attributes : int from 1 to 8
        k: binary attributes E_1, ..., E_k.
    duplicates : sequence of int from 0 to n_attributes
        m: E_1 = E_2 = ... = E_m. With 0 and with 1 the naive Bayes structure is right.
    n_instances : int, at least 1
        Size of the training sample.
    missing : float in [0, 1)
        Probability with which each training value is removed.
    learners : sequence of str
        Names in `BAYES_NET_LEARNERS`.
    n_runs : int, at least 1
        Training samples.
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.

    Returns
    -------
    DataFrame
        duplicates, run, learner, error (exact, by enumeration of all inputs), bayes_error (the
        smallest possible).

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Greiner et al. (2005), Appendix F and equation (2).
    """
    settings = {
        "n_attributes": check_integer("n_attributes", n_attributes, 1, 8),
        "n_instances": check_integer("n_instances", n_instances, 1),
        "missing": check_real("missing", missing, 0, 1, open_high=True),
        "learners": [
            check_choice("learners", name, BAYES_NET_LEARNERS)
            for name in at_least_one("learners", learners)
        ],
    }
    check_integer("n_runs", n_runs, 1)
    numbers = [
        check_integer("duplicates", m, 0, n_attributes)
        for m in at_least_one("duplicates", duplicates)
    ]
    trial = partial(_copied_attributes, **settings)
    return trials.run(trial, numbers, n_runs, seed, name="structures", n_jobs=n_jobs)


def _copied_attributes(seeds, m, n_attributes, n_instances, missing, learners):
    world = World(duplicated_truth(n_attributes, m), naive(n_attributes), missing)
    sample = world.sample(n_instances, seeds.rng())
    for name, theta in world.learn(sample, learners):
        errors = {"error": world.error(theta), "bayes_error": world.bayes_error()}
        yield {"duplicates": m, "run": seeds.number, "learner": name, **errors}


def duplicated_truth(n_attributes, duplicates):
    """P_m(x, c) of all inputs, (2^n, 2): equation (2), but E_1, ..., E_m are copies; class 1 is +c."""
    x = inputs(n_attributes)
    own = x[:, [i for i in range(n_attributes) if i == 0 or i >= duplicates]].astype(bool)
    likelihoods = [np.where(own, p, 1 - p).prod(axis=1) for p in (LIKELY, UNLIKELY)]
    copies = (x[:, :duplicates] == x[:, :1]).all(axis=1)
    return np.column_stack(likelihoods) * [1 - PRIOR, PRIOR] * copies[:, None]


def inputs(n_attributes, missing=False):
    """All binary inputs in order, (2^n, n), or with -1 for missing, (3^n, n)."""
    values = np.indices((3,) * n_attributes if missing else (2,) * n_attributes)
    return values.reshape(n_attributes, -1).T - int(missing)


def blocked(truth, rate):
    """P(e, c) of what is left to see when each value is removed with probability `rate`, (3^n, 2)."""
    n = (len(truth) - 1).bit_length()
    table = truth.reshape((2,) * n + (2,))
    for axis in range(n):
        unseen = rate * table.sum(axis=axis, keepdims=True)
        table = np.concatenate([unseen, (1 - rate) * table], axis=axis)
    return table.reshape(-1, 2)


class World:
    """A truth over binary attributes and two classes, and a structure whose tables are learned from samples of it.

    Parameters
    ----------
    truth : ndarray of shape (2^n, 2)
        P(x, c) of all inputs, in the order of `inputs`.
    parents : sequence of sequences of int
        The structure, class first.
    missing : float in [0, 1)
        Probability with which each training value is removed.
    tests : sequence of float in [0, 1)
        Probabilities with which values are removed from the inputs to be classified.
    """

    def __init__(self, truth, parents, missing=0.0, tests=(0.0,)):
        incomplete = missing > 0 or any(rate > 0 for rate in tests)
        rows = inputs(len(parents) - 1, incomplete)
        self.cases = Cases(Network(parents, [2] * len(parents)), rows, np.ones((len(rows), 2)))
        self.training = blocked(truth, missing) if incomplete else truth
        self.tests = {rate: blocked(truth, rate) if incomplete else truth for rate in tests}

    def sample(self, size, rng):
        """Draw training examples, each as the number of its input and class among all; (size,)."""
        return rng.choice(self.training.size, size, p=self.training.ravel())

    def learn(self, sample, learners, smoothing=1.0, stopping=TUNED):
        """Yield the name and the flat tables of each learner; cross-tuning chooses up to `stopping` iterations."""
        n_folds = min(N_FOLDS, len(sample)) if len(sample) > 1 else 0
        cases, present = self.cases.weighted(self._counts(sample)).present()
        held_out = [
            self._counts(sample[fold::n_folds])[present].astype(float) for fold in range(n_folds)
        ]
        errors = cache(
            lambda base: tuning_errors(cases, base, held_out, stopping, smoothing=smoothing)
        )
        stops = {"converged": CONVERGED, "fixed": stopping}
        for name in learners:
            base, stop = BAYES_NET_LEARNERS[name]
            if stop == "at the start":
                yield name, observed_frequencies(cases, smoothing)
            else:
                most = (
                    stops[stop]
                    if stop in stops
                    else choose_iterations(errors(base), stop == "cross-tuned")[0]
                )
                yield name, cases.network.softmax(climb(cases, base, most, smoothing).beta)

    def _counts(self, sample):
        return np.bincount(sample, minlength=self.training.size).reshape(self.training.shape)

    def error(self, theta, rate=0.0):
        """Exact error of these tables, over all inputs with values removed at this rate.

        It is rounded to twelve places, so that sums of the same probabilities are equal.
        """
        return round(self.cases.weighted(self.tests[rate]).error(theta), 12)

    def bayes_error(self, rate=0.0):
        """Return the error of the best possible rule."""
        return round(float(self.tests[rate].min(axis=1).sum()), 12)
