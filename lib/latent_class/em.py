"""Expectation-Maximization for the CIA model (Grove & Roth, section 3).

`em_step` is the algorithm. The classes make its step in all their runs at once, by
`lib.latent_class.fast.em_steps`, which does the same, but for rounding.
"""

import warnings

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_integer, check_real
from lib.cia import log_linear
from lib.latent_class.base import LatentClassClassifier
from lib.latent_class.fast import EDGE, PackedSample, em_steps

_FINISH = 100  # iterations of the best run in float64
_SMALL = 10_000  # values of a sample


def em_step(rows, counts, weights, probabilities):
    """Make one E step and one M step.

    Parameters
    ----------
    rows : (s, m) of 0 and 1
        The target and the attributes.
    counts : (s,)
        How often each row occurs.
    weights : (k,)
        P(z).
    probabilities : (k, m)
        P(x_j = 1 | z).

    Returns
    -------
    weights, probabilities : updated
    log_likelihood : float
        Of the parameters passed in.

    References
    ----------
    Grove & Roth (1997), section 3, whose u_i and v_i are divided by their sum here, P(x^i), without
    which the step would not be EM's.
    """
    # log P(x, z) is linear in x
    coefficients, constants = log_linear(weights, np.clip(probabilities, EDGE, 1 - EDGE))
    log_joint = rows @ coefficients.T + constants
    log_evidence = logsumexp(log_joint, axis=1, keepdims=True)

    # E step: P(z | x) of each row
    posterior = np.exp(log_joint - log_evidence)

    # M step: P(z) is the mean posterior, P(x_j = 1 | z) the mean of x_j weighted by posteriors;
    # for k = 2 these are the paper's alpha, p_j and q_j
    mass = np.maximum(counts @ posterior, EDGE)
    new_weights = mass / counts.sum()
    new_probabilities = (counts[:, None] * posterior).T @ rows / mass[:, None]
    return new_weights, new_probabilities, counts @ log_evidence[:, 0]


@with_parameters
class LatentClassEM(LatentClassClassifier):
    """CIA model of maximum likelihood, by EM from many random starts.

    Parameters
    ----------
    n_hidden : int, at least 2
        Values of the hidden variable.
    n_restarts : int, at least 1
        Random starts; the run with the largest likelihood is kept, the first of those that
        `tolerance` makes equal.
    max_iterations : int, at least 1
        Iterations of one run at most; a ConvergenceWarning is given if the best run reaches it,
        unless it is 1 or `tolerance` is 0.
    tolerance : float, at least 0
        A run has converged when an iteration gains less than this in log likelihood per example;
        with 0 every run takes `max_iterations`, and there is no finish.
    dtype : {"float32", "float64"}
        Arithmetic of the search in samples of 10,000 values or more that have more examples than
        attributes; others take float64 in either case. Likelihoods are always summed in float64,
        and the best run is finished by up to 100 iterations in float64.
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
    probabilities_ : ndarray of shape (k, n_attributes + 1)
        Column 0 is the target.
    log_likelihood_ : float
        Of the training sample, natural logarithm.
    traces_ : list of n_restarts ndarrays
        Log likelihood of the parameters at the start of each iteration of each run.
    n_iter_ : int
        Iterations of the best run, before its finish.
    coef_, intercept_ : ndarrays of shape (1, n_attributes) and (1,)
        The linear rule that follows from the fitted model (two hidden values only).

    Notes
    -----
    The sample, which stays uint8, is also kept as bits, by row and by column: a quarter of its
    size. Working arrays beside it and the parameters take about 20 MiB at most, as large samples
    are worked through in batches: the same results but for rounding. A run's numbers are the same
    whatever the other runs are.

    References
    ----------
    Grove & Roth (1997), sections 3 and 5; Dempster, Laird & Rubin (1977).
    """

    n_hidden: int = 2
    n_restarts: int = 20
    max_iterations: int = 1000
    tolerance: float = 1e-6
    dtype: str = "float32"
    random_state: int | np.random.RandomState | None = None

    def _check_parameters(self):
        check_integer("n_hidden", self.n_hidden, 2)
        check_search(self)
        check_choice("dtype", self.dtype, ("float32", "float64"))

    def _fit_model(self, rows, counts):
        rng = check_random_state(self.random_state)
        weights, probabilities = random_starts(self.n_restarts, self.n_hidden, rows.shape[1], rng)
        weights, probabilities, self.traces_, best = search(
            rows,
            counts,
            weights,
            probabilities,
            self.max_iterations,
            self.tolerance,
            self.dtype,
        )
        self.n_iter_ = len(self.traces_[best])
        if self.n_iter_ >= self.max_iterations > 1 and self.tolerance > 0:
            warnings.warn(
                f"EM did not converge in {self.max_iterations} iterations; "
                "raise max_iterations or tolerance",
                ConvergenceWarning,
                stacklevel=3,
            )
        weights = weights[[best]]
        probabilities = probabilities[[best]]
        if self.tolerance:
            weights, probabilities, _ = maximize(
                rows, counts, weights, probabilities, _FINISH, self.tolerance / 100, "float64"
            )
        return weights[0], probabilities[0]


def check_search(learner):
    """Check the parameters of a learner that `search` takes."""
    check_integer("n_restarts", learner.n_restarts, 1)
    check_integer("max_iterations", learner.max_iterations, 1)
    check_real("tolerance", learner.tolerance, 0)


def random_starts(n_restarts, n_hidden, m, rng):
    """Weights (r, k), equal, and probabilities (r, k, m), uniform on [1/4, 3/4]."""
    weights = np.full((n_restarts, n_hidden), 1 / n_hidden)
    return weights, rng.uniform(0.25, 0.75, (n_restarts, n_hidden, m))


def search(rows, counts, weights, probabilities, max_iterations, tolerance, dtype="float32"):
    """Run `maximize` from all starts and say which run is best.

    It is the first of those that `tolerance` makes equal, so that rounding does not decide among
    maxima of the same height. In a small sample, or one of fewer examples than attributes, rounding
    could also send a run to another maximum, and float64 costs little: there, `dtype` is not taken.

    Returns
    -------
    weights, probabilities, traces
        As from `maximize`.
    best : int
    """
    if rows.size < _SMALL or counts.sum() <= rows.shape[1]:
        dtype = "float64"
    weights, probabilities, traces = maximize(
        rows, counts, weights, probabilities, max_iterations, tolerance, dtype
    )
    heights = np.array([trace[-1] for trace in traces])
    is_highest = heights >= heights.max() - tolerance * counts.sum()
    return weights, probabilities, traces, int(np.argmax(is_highest))


def maximize(rows, counts, weights, probabilities, max_iterations, tolerance, dtype):
    """Run EM from each start until it converges; a run that has takes no further step.

    Parameters
    ----------
    rows : (s, m) uint8 of 0 and 1
    counts : (s,) float64
    weights : (r, k)
    probabilities : (r, k, m)
    max_iterations : int
    tolerance : float
        A run stops after an iteration that gains less than this in log likelihood per example; with
        0 it makes all iterations.
    dtype : {"float32", "float64"}

    Returns
    -------
    weights : (r, k)
    probabilities : (r, k, m)
    traces : list of r ndarrays
        Log likelihood of the parameters at the start of each iteration.
    """
    n_runs, n_hidden = weights.shape
    sample = PackedSample(rows, counts, dtype, n_runs, n_hidden)
    least_gain = tolerance * counts.sum()
    final_weights = weights.copy()
    final_probabilities = probabilities.copy()
    traces = np.full((max_iterations, n_runs), np.nan)
    active = np.arange(n_runs)
    previous = -np.inf
    for iteration in range(max_iterations):
        weights, probabilities, log_likelihoods = em_steps(sample, weights, probabilities)
        traces[iteration, active] = log_likelihoods
        if tolerance == 0:
            continue
        is_rising = log_likelihoods - previous >= least_gain
        previous = log_likelihoods
        if is_rising.all():
            continue
        final_weights[active] = weights
        final_probabilities[active] = probabilities
        weights = weights[is_rising]
        probabilities = probabilities[is_rising]
        previous = previous[is_rising]
        active = active[is_rising]
        if not len(active):
            break
    final_weights[active] = weights
    final_probabilities[active] = probabilities
    # sums of float32 may leave [0, 1] by a hair
    final_probabilities = np.clip(final_probabilities, 0, 1)
    return final_weights, final_probabilities, [trace[~np.isnan(trace)] for trace in traces.T]
