"""Exact errors of tables that are learned for a structure poorer or richer than the truth."""

from functools import partial

import numpy as np

from lib import trials
from lib.base.validation import at_least_one, check_choice, check_integer, check_real
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

# the most iterations of a climb: cross-tuned or fixed, and to convergence
TUNED = 20
CONVERGED = 500
# equation (2): P(+c), P(+e | -c) and P(+e | +c)
PRIOR = 0.9
LIKELY = 0.8
UNLIKELY = 0.2


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
    """Measure the error of naive Bayes with learned tables when the first m attributes are copies.

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
    n_attributes = check_integer("n_attributes", n_attributes, 1, 8)
    n_instances = check_integer("n_instances", n_instances, 1)
    missing = check_real("missing", missing, 0, 1, open_high=True)
    learners = at_least_one("learners", learners)
    for name in learners:
        check_choice("learners", name, BAYES_NET_LEARNERS)
    check_integer("n_runs", n_runs, 1)
    numbers = [
        check_integer("duplicates", m, 0, n_attributes)
        for m in at_least_one("duplicates", duplicates)
    ]
    trial = partial(
        _copied_attributes,
        n_attributes=n_attributes,
        n_instances=n_instances,
        learners=learners,
        missing=missing,
    )
    return trials.run(trial, numbers, n_runs, seed, name="structures", n_jobs=n_jobs)


def _copied_attributes(seeds, m, n_attributes, n_instances, learners, missing):
    """Learn naive Bayes from one sample of P_m: the trial of `structure_robustness`."""
    truth = duplicated_truth(n_attributes, m)
    model = StructureModel(truth, naive(n_attributes), missing)
    sample = model.sample(n_instances, seeds.rng())
    for name, theta in model.learn(sample, learners):
        yield {
            "duplicates": m,
            "run": seeds.number,
            "learner": name,
            "error": model.error(theta),
            "bayes_error": model.bayes_error(),
        }


def duplicated_truth(n_attributes, duplicates):
    """P_m(x, c) of all inputs: equation (2), but the first m attributes are copies.

    Parameters
    ----------
    n_attributes : int
    duplicates : int from 0 to n_attributes
        m

    Returns
    -------
    ndarray of shape (2^n, 2)
        In the order of `inputs`; class 1 is +c.
    """
    x = inputs(n_attributes)
    # E_1 stands for its copies: an input has their likelihood once
    is_independent = [i == 0 or i >= duplicates for i in range(n_attributes)]
    independent = x[:, is_independent].astype(bool)
    likelihoods = [np.where(independent, p, 1 - p).prod(axis=1) for p in (LIKELY, UNLIKELY)]
    copies_agree = (x[:, :duplicates] == x[:, :1]).all(axis=1)
    return np.column_stack(likelihoods) * [1 - PRIOR, PRIOR] * copies_agree[:, None]


def inputs(n_attributes, missing=False):
    """All binary inputs in order, (2^n, n), or with -1 for missing, (3^n, n)."""
    n_values = 3 if missing else 2
    values = np.indices((n_values,) * n_attributes)
    return values.reshape(n_attributes, -1).T - int(missing)


def mask_values(truth, rate):
    """P(e, c) of what is observed when each value is removed with probability `rate`.

    Parameters
    ----------
    truth : ndarray of shape (2^n, 2)
        P(x, c) of all inputs.
    rate : float in [0, 1)

    Returns
    -------
    ndarray of shape (3^n, 2)
        In the order of ``inputs(n, missing=True)``.
    """
    n_attributes = (len(truth) - 1).bit_length()
    table = truth.reshape((2,) * n_attributes + (2,))
    for axis in range(n_attributes):
        # value 0 of the new axis: removed, whatever it was
        masked = rate * table.sum(axis=axis, keepdims=True)
        table = np.concatenate([masked, (1 - rate) * table], axis=axis)
    return table.reshape(-1, 2)


class StructureModel:
    """A probability model, and a structure whose tables are learned from its samples.

    The model, of binary attributes and two classes, is given by enumeration: errors are exact.

    Parameters
    ----------
    truth : ndarray of shape (2^n, 2)
        P(x, c) of all binary inputs, in the order of `inputs`.
    parents : sequence of sequences of int
        The structure, class first.
    missing : float in [0, 1)
        Probability with which each training value is removed.
    tests : sequence of float in [0, 1)
        Probabilities with which values are removed from the inputs to be classified.
    """

    def __init__(self, truth, parents, missing=0.0, tests=(0.0,)):
        # with missing values an input is one of 3^n patterns, in training and in tests
        is_incomplete = missing > 0 or any(rate > 0 for rate in tests)
        rows = inputs(len(parents) - 1, is_incomplete)
        self.cases = Cases(Network(parents, [2] * len(parents)), rows, np.ones((len(rows), 2)))
        self.training = mask_values(truth, missing) if is_incomplete else truth
        self.tests = {rate: mask_values(truth, rate) if is_incomplete else truth for rate in tests}

    def sample(self, size, rng):
        """Draw training examples.

        Returns
        -------
        ndarray of int, shape (size,)
            Of an example, twice the number of its input, plus its class.
        """
        return rng.choice(self.training.size, size, p=self.training.ravel())

    def learn(self, sample, learners, smoothing=1.0, stopping=TUNED):
        """Learn tables from a sample.

        Parameters
        ----------
        sample : ndarray of int
            As `sample` draws it.
        learners : iterable of str
            Names in `BAYES_NET_LEARNERS`.
        smoothing : float
            Examples that each cell of a table has beforehand.
        stopping : int
            Most iterations that cross-tuning may choose, and the fixed number.

        Yields
        ------
        name : str
            Of the learner.
        theta : ndarray
            Its tables, flat.
        """
        # an input that the sample lacks adds nothing to a gradient
        cases, is_present = self.cases.weighted(self._count(sample)).present()
        # a single example cannot be tuned on
        n_folds = min(N_FOLDS, len(sample)) if len(sample) > 1 else 0
        held_out = [
            self._count(sample[fold::n_folds])[is_present].astype(float) for fold in range(n_folds)
        ]
        n_iterations = {"converged": CONVERGED, "fixed": stopping}
        errors_of = {}  # of cross-tuning, which learners with the same gradient share
        for name in learners:
            base, rule = BAYES_NET_LEARNERS[name]
            if rule == "at the start":
                yield name, observed_frequencies(cases, smoothing)
                continue
            if rule in n_iterations:
                n_steps = n_iterations[rule]
            else:
                if base not in errors_of:
                    errors_of[base] = tuning_errors(
                        cases, base, held_out, stopping, smoothing=smoothing
                    )
                n_steps = choose_iterations(errors_of[base], allow_zero=rule == "cross-tuned")[0]
            yield name, cases.network.softmax(climb(cases, base, n_steps, smoothing).beta)

    def _count(self, sample):
        """Examples of each input and class; as the probabilities are shaped."""
        return np.bincount(sample, minlength=self.training.size).reshape(self.training.shape)

    def error(self, theta, rate=0.0):
        """Exact error of tables over all inputs with values removed at this rate.

        It is rounded to twelve places, so that sums of the same probabilities are equal.
        """
        return round(self.cases.weighted(self.tests[rate]).error(theta), 12)

    def bayes_error(self, rate=0.0):
        """Exact error of the best possible rule for inputs with values removed at this rate."""
        return round(float(self.tests[rate].min(axis=1).sum()), 12)
