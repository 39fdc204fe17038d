"""Ascent of a log likelihood in softmax parameters: conjugate gradients with line search, L-BFGS, Newton."""

from typing import NamedTuple

import numpy as np

from lib.bayes_net.likelihood import evaluate, observed
from lib.bayes_net.newton import climb_newton
from lib.compiled import assign, compiled
from lib.validation import check_choice, check_integer, check_real

STEEP = 0.1  # a line search of conjugate gradients ends where the slope is this part of the first
FLAT = 0.9  # the same for L-BFGS, whose steps have the right length once it has seen some
MEMORY = 20  # steps that L-BFGS remembers
TRIES = 30
METHODS = ("cg", "lbfgs", "newton")


class Ascent(NamedTuple):
    """Where an ascent ended, the mean objective and the errors watched after 0, 1, ... iterations."""

    beta: np.ndarray
    path: np.ndarray
    errors: np.ndarray
    converged: bool


def ascend(
    cases,
    beta,
    n_iterations,
    conditional=True,
    smoothing=0.0,
    method="cg",
    tolerance=1e-6,
    watched=None,
):
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
    method : "cg", "lbfgs" or "newton"
        The last as `lib.bayes_net.newton` says.
    tolerance : float, at least 0
        Converged where no entry of the mean objective's gradient is larger; for "newton" by the
        logs of the tables.
    watched : ndarray of shape (n_watched, n_rows, n_classes), optional
        Counts whose classification error is recorded after each iteration.

    Returns
    -------
    Ascent
        Named tuple of beta (n_parameters,), path (the mean objective at the start and after each
        iteration), errors (of the watched counts, a row each time) and converged.

    Raises
    ------
    ValueError
        If a parameter is out of range or not finite, all counts are 0, or "newton" cannot climb
        what it is given.
    """
    n_iterations = check_integer("n_iterations", n_iterations, 0)
    climb = {"cg": climb_conjugate, "lbfgs": _lbfgs, "newton": climb_newton}[
        check_choice("method", method, METHODS)
    ]
    if method == "newton" and not (conditional and smoothing == 0):
        raise ValueError(
            "method='newton' climbs the conditional likelihood, without a prior (use 'cg' or 'lbfgs')"
        )
    tolerance = check_real("tolerance", tolerance, 0)
    beta, path = np.array(cases.network.check_parameters(beta)), np.empty(n_iterations + 1)
    cases.check_size()
    objective = cases if method == "newton" else cases.objective(conditional, smoothing)
    trace = np.empty((0 if watched is None else n_iterations + 1, len(beta)))
    done, converged = climb(beta, objective, n_iterations, tolerance, path, trace)
    errors = (
        np.empty((done + 1, 0)) if watched is None else cases.errors(trace[: done + 1], watched)
    )
    return Ascent(beta, path[: done + 1], errors, converged)


def _lbfgs(beta, objective, *settings):
    # Entries with few rows have small derivatives and little curvature: the power was chosen by
    # trials.
    counts = observed(objective.parameters, objective.rows, objective.counts)
    return climb_lbfgs(beta, ((counts + 1.0) / objective.size) ** -0.5, objective, *settings)


@compiled(error_model="numpy")
def climb_conjugate(beta, objective, n_iterations, tolerance, path, trace):
    """Climb by the conjugate gradients of Polak & Ribiere; return the number of iterations and if they converged."""
    gradient, work = np.empty_like(beta), np.empty_like(beta)
    value = evaluate(beta, objective, work, gradient)
    direction, step = gradient.copy(), 0.0
    _record(0, value, beta, path, trace)
    for i in range(n_iterations):
        squared = gradient @ gradient
        if np.abs(gradient).max() <= tolerance or squared == 0.0:
            return i, True
        direction, _, found = search_twice(
            beta, objective, direction, gradient, step, value, gradient, STEEP, work
        )
        slope, step, value, following = found
        if step == 0.0:
            return i, False
        beta += step * direction
        turn = max(0.0, following @ (following - gradient) / squared)
        direction = following + turn * direction
        gradient = following
        step *= min(10.0, slope / max(gradient @ direction, 1e-300))
        _record(i + 1, value, beta, path, trace)
    return n_iterations, np.abs(gradient).max() <= tolerance


@compiled(error_model="numpy")
def climb_lbfgs(beta, scale, objective, n_iterations, tolerance, path, trace):
    """Climb by L-BFGS, from `scale` as the diagonal of the inverse Hessian; return as `climb_conjugate` does."""
    gradient, work = np.empty_like(beta), np.empty_like(beta)
    value = evaluate(beta, objective, work, gradient)
    _record(0, value, beta, path, trace)
    moves, bends, curvatures = (
        np.empty((MEMORY, len(beta))),
        np.empty((MEMORY, len(beta))),
        np.empty(MEMORY),
    )
    n_moves = 0
    for i in range(n_iterations):
        if np.abs(gradient).max() <= tolerance:
            return i, True
        direction = _newton(gradient, scale, moves, bends, curvatures, n_moves)
        straight, first = scale * gradient, 1.0 if n_moves > 0 else 0.0
        direction, again, found = search_twice(
            beta, objective, direction, straight, first, value, gradient, FLAT, work
        )
        _, step, value, following = found
        if step == 0.0:
            return i, False
        n_moves = 0 if again else n_moves
        beta += step * direction
        move, bend = step * direction, gradient - following
        curvature = move @ bend
        if curvature > 0.0:
            k = n_moves % MEMORY
            curvatures[k] = curvature
            assign(moves[k], move)
            assign(bends[k], bend)
            n_moves += 1
        gradient = following
        _record(i + 1, value, beta, path, trace)
    return n_iterations, np.abs(gradient).max() <= tolerance


@compiled(error_model="numpy")
def _record(i, value, beta, path, trace):
    """Keep the objective after i iterations, and the parameters, if they are traced."""
    path[i] = value
    for row in trace[i : i + 1]:
        assign(row, beta)


@compiled(error_model="numpy")
def _newton(gradient, scale, moves, bends, curvatures, n_moves):
    """Return the gradient times the inverse Hessian, by the two loops over the last moves."""
    direction = gradient.copy()
    shares, oldest = np.empty(MEMORY), max(0, n_moves - MEMORY)
    for k in range(n_moves - 1, oldest - 1, -1):
        i = k % MEMORY
        shares[i] = moves[i] @ direction / curvatures[i]
        direction -= shares[i] * bends[i]
    direction *= scale
    if n_moves > 0:
        i = (n_moves - 1) % MEMORY
        direction *= curvatures[i] / (bends[i] @ (scale * bends[i]))
    for k in range(oldest, n_moves):
        i = k % MEMORY
        direction += (shares[i] - bends[i] @ direction / curvatures[i]) * moves[i]
    return direction


@compiled(error_model="numpy")
def search_twice(beta, objective, direction, straight, step, value, gradient, flat, work):
    """Search along `direction`, and if nothing is gained there, once more, `straight` up, with no step to try first.

    Return the last direction, whether it is the second, and what `search` returned.
    """
    found = search(beta, objective, direction, step, value, gradient, flat, work)
    if found[1] == 0.0 and np.any(direction != straight):
        return straight, True, search(beta, objective, straight, 0.0, value, gradient, flat, work)
    return direction, False, found


@compiled(error_model="numpy")
def search(beta, objective, direction, step, value, gradient, flat, work):
    """Search along `direction` for a point near the first maximum; `step` is tried first, if it is above 0.

    It is near enough where the slope is `flat` times the first. The maximum is bracketed by the
    sign of the slope, then found by secants. Return the slope, the step, the value there and its
    gradient. The step is 0 if none gains anything, as in a direction that does not rise.
    """
    slope = gradient @ direction
    if not slope > 0.0:
        return slope, 0.0, value, gradient
    if step == 0.0:
        step = 1.0 / np.sqrt(slope)
    low, low_value, low_slope, change = 0.0, value, slope, 0.0
    high, high_slope = np.inf, np.nan
    best, best_value, best_gradient = 0.0, value, gradient
    for _ in range(TRIES):
        following = np.empty_like(gradient)
        new_value = evaluate(beta + step * direction, objective, work, following)
        new_slope = following @ direction
        if new_value >= best_value:
            best, best_value, best_gradient = step, new_value, following
            if abs(new_slope) <= flat * slope:
                break
        if new_value >= low_value and new_slope > 0.0:
            change = (step - low) / max(low_slope - new_slope, 1e-300)
            low, low_value, low_slope = step, new_value, new_slope
        else:
            high, high_slope = step, new_slope if new_value >= low_value else np.nan
        step = _next_step(low, low_slope, high, high_slope, change)
    return slope, best, best_value, best_gradient


@compiled(error_model="numpy")
def _next_step(low, low_slope, high, high_slope, change):
    """Where the slope would be 0 if it were linear, not too near what was tried; `change` is of step over slope."""
    if high == np.inf:
        return min(max(low + low_slope * change, 2.0 * low), 10.0 * low)
    if not high_slope < 0.0:
        return 0.5 * (low + high)
    width = high - low
    zero = low + width * low_slope / (low_slope - high_slope)
    return min(max(zero, low + 0.1 * width), high - 0.1 * width)
