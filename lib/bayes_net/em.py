"""Expectation maximisation for missing values, with the class observed."""

import numpy as np

from lib.bayes_net.ascent import Ascent
from lib.bayes_net.messages import LOWEST
from lib.validation import check_integer, check_real


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
    smoothing, tolerance = (
        check_real("smoothing", smoothing, 0),
        check_real("tolerance", tolerance, 0),
    )
    theta = np.maximum(cases.network.check_probabilities(theta), LOWEST)
    cases.check_size()
    path, errors = [], []
    for i in range(n_iterations + 1):
        value, expected = cases.expected_counts(theta)
        path.append((value + smoothing * np.log(theta).sum()) / cases.size)
        errors.append(
            [cases.weighted(counts).error(theta) for counts in (() if watched is None else watched)]
        )
        converged = i > 0 and path[-1] - path[-2] <= tolerance
        if converged or i == n_iterations:
            break
        theta = cases.network.normalised(expected + smoothing)
    return Ascent(np.log(theta), np.array(path), np.array(errors), bool(converged))
