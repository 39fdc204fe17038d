"""Expectation maximisation for missing values, with the class observed."""

import numpy as np

from lib.base.validation import check_integer, check_real
from lib.bayes_net.ascent import Ascent
from lib.bayes_net.messages import LOWEST


def maximise_expectation(cases, theta, n_iterations, smoothing=0.0, tolerance=1e-6, watched=None):
    """Iterate EM from `theta` at most `n_iterations` times.

    Parameters
    ----------
    cases : Cases
    theta : ndarray of shape (n_parameters,)
        Flat tables to start from. An entry of 0 stays 0 without smoothing.
    n_iterations : int, at least 0
    smoothing : float, at least 0
        Added to each expected count.
    tolerance : float, at least 0
        Converged where an iteration gains no more in the mean log likelihood (with the log prior).
    watched : ndarray of shape (n_watched, n_rows, n_classes), optional
        Counts whose classification error is recorded after each iteration.

    Returns
    -------
    Ascent
        With ln theta as softmax parameters.

    Raises
    ------
    ValueError
        If a parameter is out of range, rows of `theta` do not sum to 1, or all counts are 0.

    References
    ----------
    Dempster, Laird & Rubin (1977), section 2.
    """
    n_iterations = check_integer("n_iterations", n_iterations, 0)
    smoothing = check_real("smoothing", smoothing, 0)
    tolerance = check_real("tolerance", tolerance, 0)
    network = cases.network
    theta = np.maximum(network.check_probabilities(theta), LOWEST)
    cases.check_size()
    expectation = cases.expectation()
    path = []
    betas = []
    for i in range(n_iterations + 1):
        beta = np.log(theta)
        # E step: expected counts of each value with its parents' values
        log_likelihood, _, expected = expectation.evaluate(beta)
        path.append((log_likelihood + smoothing * beta.sum()) / cases.size)
        if watched is not None:
            betas.append(beta)
        converged = i > 0 and path[-1] - path[-2] <= tolerance
        if converged or i == n_iterations:
            break
        # M step: their frequencies, which maximise the expected log likelihood with the prior
        theta = network.normalised(expected + smoothing)
    errors = cases.watched_errors(betas, watched, len(path))
    return Ascent(beta, np.array(path), errors, bool(converged))
