"""The learners of tables for a given structure: observed frequencies, ELR, EM and APN."""

from typing import NamedTuple

import numpy as np

from lib.bayes_net.ascent import ascend
from lib.bayes_net.em import maximise_expectation
from lib.bayes_net.tuning import cross_tune

LEARNERS = ("ofe", "elr", "em", "apn")


class Learned(NamedTuple):
    """Flat tables, the path of the last ascent, and what cross-tuning chose."""

    theta: np.ndarray
    path: np.ndarray
    converged: bool
    n_iterations: int
    chosen: np.ndarray | None = None
    errors: np.ndarray | None = None


def observed_frequencies(cases, smoothing=1.0):
    """Laplace-smoothed frequencies of the rows in which a variable and its parents are all observed.

    theta_{d|f} = (count of d, f + smoothing) / (count of f + smoothing * number of values d), shape (n_parameters,).
    """
    return cases.network.normalised(cases.observed_counts() + smoothing)


def learn(cases, learner, *, smoothing=1.0, n_iterations=None, held_out=None, first=None, allow_zero=True, **options):
    """Learn the tables of `cases.network`.

    Parameters
    ----------
    cases : Cases
    learner : "ofe", "elr", "em" or "apn"
    smoothing : float, at least 0
        Of the frequencies; em and apn climb the likelihood times the prior that makes the same of complete data.
    n_iterations : int
        Most iterations.
    held_out : ndarray of shape (n_folds, n_rows, n_classes), optional
        Folds to cross-tune with: up to n_iterations.
    first : ndarray of shape (n_parameters,), optional
        Flat tables to start from, in place of the observed frequencies of the training rows.
    options : method and tolerance of `ascend`

    Returns
    -------
    Learned
    """
    options = {"method": "cg", "tolerance": 1e-6} | options
    if learner == "ofe":
        return Learned(observed_frequencies(cases, smoothing), np.empty(0), True, 0)

    def climb(cases, watched=None, n_iterations=n_iterations):
        start = observed_frequencies(cases, smoothing) if first is None else first
        if learner == "em":
            return maximise_expectation(cases, start, n_iterations, smoothing, options["tolerance"], watched)
        prior = smoothing if learner == "apn" else 0.0
        return ascend(cases, np.log(start), n_iterations, learner == "elr", prior, watched=watched, **options)

    chosen = errors = None
    if held_out is not None and len(held_out) == 0:
        n_iterations, chosen = 0, np.empty(0, int)
    elif held_out is not None:
        n_iterations, chosen, errors = cross_tune(cases, held_out, climb, allow_zero)
    ascent = climb(cases, n_iterations=n_iterations)
    theta = cases.network.softmax(ascent.beta)
    return Learned(theta, ascent.path, ascent.converged, len(ascent.path) - 1, chosen, errors)
