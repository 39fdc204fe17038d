"""Ascent of a log likelihood in softmax parameters: conjugate gradients with line search, and L-BFGS."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lib.bayes_net.compiled import compiled
from lib.bayes_net.likelihood import errors, evaluate, log_softmax

STEEP = 0.1  # a line search ends where the slope is this part of the first
TRIES = 30

Watch = namedtuple("Watch", "tree rows counts")


class Ascent(NamedTuple):
    """Where an ascent ended, the mean objective and the errors watched after 0, 1, ... iterations."""

    beta: np.ndarray
    path: np.ndarray
    errors: np.ndarray
    converged: bool


def ascend(cases, beta, n_iterations, conditional=True, smoothing=0.0, method="cg", tolerance=1e-6, watched=None):
    """Climb from `beta` at most `n_iterations` times.

    Parameters
    ----------
    cases : Cases
    beta : ndarray of shape (n_parameters,)
        Softmax parameters to start from.
    n_iterations : int, at least 0
        An iteration is a direction and a search along it.
    conditional : bool
        Climb the mean ln P(c | e) in place of ln P(c, e).
    smoothing : float, at least 0
        Weight of the log prior, the sum of all ln theta.
    method : "cg" or "lbfgs"
    tolerance : float
        Converged where no entry of the mean objective's gradient is larger.
    watched : ndarray of shape (n_watched, n_rows, n_classes), optional
        Counts whose classification error is recorded after each iteration.

    Returns
    -------
    Ascent
    """
    climb = _lbfgs if method == "lbfgs" else _conjugate
    watched = np.empty((0, *cases.counts.shape)) if watched is None else np.ascontiguousarray(watched, dtype=float)
    watch = Watch(cases.network.given_class.tree, cases.given_class, watched)
    objective = cases.objective(conditional, smoothing)
    return climb(np.array(beta, dtype=float), objective, n_iterations, tolerance, watch)


def _conjugate(beta, objective, n_iterations, tolerance, watch):
    path, seen = np.empty(n_iterations + 1), np.empty((n_iterations + 1, len(watch.counts)))
    done, converged = climb_conjugate(beta, objective, n_iterations, tolerance, watch, path, seen)
    return Ascent(beta, path[: done + 1], seen[: done + 1], converged)


def _lbfgs(beta, objective, n_iterations, tolerance, watch):
    gradient, expected = np.empty_like(beta), np.empty_like(beta)

    def descent(x):
        return -evaluate(x, objective, expected, gradient), -gradient

    def record(intermediate_result):
        path.append(-intermediate_result.fun)
        seen.append(watched_errors(intermediate_result.x, watch))

    path, seen = [-descent(beta)[0]], [watched_errors(beta, watch)]
    largest = abs(gradient).max(initial=0.0)
    if n_iterations and largest > tolerance:
        options = {"maxiter": n_iterations, "maxfun": TRIES * n_iterations, "gtol": tolerance, "ftol": 0.0}
        found = minimize(descent, beta, jac=True, method="L-BFGS-B", callback=record, options=options)
        beta, largest = found.x, abs(found.jac).max()
    return Ascent(beta, np.array(path), np.array(seen), bool(largest <= tolerance))


@compiled
def climb_conjugate(beta, objective, n_iterations, tolerance, watch, path, seen):
    """Climb by the conjugate gradients of Polak & Ribiere; return the number of iterations and if they converged."""
    gradient, following, work = np.empty_like(beta), np.empty_like(beta), np.empty_like(beta)
    value = evaluate(beta, objective, work, gradient)
    direction, step = gradient.copy(), 0.0
    path[0], seen[0] = value, watched_errors(beta, watch)
    for i in range(n_iterations):
        squared = gradient @ gradient
        if np.abs(gradient).max() <= tolerance or squared == 0.0:
            return i, True
        slope, found = gradient @ direction, value
        while True:
            if slope <= 0.0:
                direction[:], slope, step = gradient, squared, 0.0
            first = step if step > 0.0 else 1.0 / np.sqrt(squared)
            step, found = search(beta, objective, direction, first, value, slope, work, following)
            if step > 0.0 or slope == squared:
                break
            slope = 0.0  # once more, straight up
        if step == 0.0:
            return i, False
        beta += step * direction
        turn = max(0.0, following @ (following - gradient) / squared)
        direction = following + turn * direction
        gradient[:], value = following, found
        step *= min(10.0, slope / max(gradient @ direction, 1e-300))
        path[i + 1], seen[i + 1] = value, watched_errors(beta, watch)
    return n_iterations, np.abs(gradient).max() <= tolerance


@compiled
def search(beta, objective, direction, step, value, slope, work, gradient):
    """Return a step to near the first maximum along `direction`, and the value there; set `gradient`.

    The maximum is bracketed by the sign of the slope, then found by secants. The step is 0 if none gains anything.
    """
    low, low_value, low_slope, change = 0.0, value, slope, 0.0
    high, high_slope = np.inf, np.nan
    best, best_value, best_gradient = 0.0, value, np.empty_like(gradient)
    for _ in range(TRIES):
        reached = evaluate(beta + step * direction, objective, work, gradient)
        new_slope = gradient @ direction
        if reached >= best_value:
            best, best_value, best_gradient[:] = step, reached, gradient
            if abs(new_slope) <= STEEP * slope:
                break
        if reached >= low_value and new_slope > 0.0:
            change = (step - low) / max(low_slope - new_slope, 1e-300)
            low, low_value, low_slope = step, reached, new_slope
        else:
            high, high_slope = step, new_slope if reached >= low_value else np.nan
        step = _next_step(low, low_slope, high, high_slope, change)
    gradient[:] = best_gradient
    return best, best_value


@compiled
def _next_step(low, low_slope, high, high_slope, change):
    """Where the slope would be 0 if it were linear, not too near what was tried; `change` is of step over slope."""
    if high == np.inf:
        return min(max(low + low_slope * change, 2.0 * low), 10.0 * low)
    if not high_slope < 0.0:
        return 0.5 * (low + high)
    width = high - low
    zero = low + width * low_slope / (low_slope - high_slope)
    return min(max(zero, low + 0.1 * width), high - 0.1 * width)


@compiled
def watched_errors(beta, watch):
    """Classification errors of the counts that are watched."""
    found = np.empty(watch.counts.shape[0])
    if len(found) > 0:
        log_theta = log_softmax(beta, watch.tree.row_starts)
        for i in range(len(found)):
            found[i] = errors(log_theta, watch.tree, watch.rows, watch.counts[i])
    return found
