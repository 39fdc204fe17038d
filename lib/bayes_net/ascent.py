"""Ascent of a log likelihood in softmax parameters: conjugate gradients and L-BFGS.

References
----------
Nocedal & Wright (2006): line search, chapter 3; conjugate gradients of Polak & Ribiere, section
5.2; L-BFGS, section 7.2, with their names s, y and rho. ELR climbs by conjugate gradients with a
line search, as Greiner, Su, Shen & Zhou (2005) say in section 4.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.base.compiled import assign, compiled
from lib.base.validation import check_choice, check_integer, check_real
from lib.bayes_net.likelihood import mean_objective

# A line search ends where the slope is this fraction of the first: for conjugate gradients, which
# need a good maximum, and for L-BFGS, whose steps have the right length once it has seen some.
CG_SLOPE_RATIO = 0.1
LBFGS_SLOPE_RATIO = 0.9
MEMORY = 20  # pairs s, y that L-BFGS remembers
MAX_EVALUATIONS = 30  # of a line search
MAX_EXTRAPOLATION = 10.0  # how much longer than the last step the next one may be
TINY = 1e-300  # denominators are at least this
METHODS = ("cg", "lbfgs")


class Ascent(NamedTuple):
    """Where an ascent ended, and the mean objective and watched errors after each iteration."""

    beta: np.ndarray
    path: np.ndarray
    errors: np.ndarray
    converged: bool


class Start(NamedTuple):
    """Parameters to start from, with the mean objective and its gradient there."""

    beta: np.ndarray
    value: float
    gradient: np.ndarray


class LineSearch(NamedTuple):
    """Best step of a line search, 0 if none gains anything, and the value and gradient there."""

    initial_slope: float
    step: float
    value: float
    gradient: np.ndarray


class LinePoint(NamedTuple):
    """A point on the line of a search."""

    step: float
    value: float
    slope: float


class History(NamedTuple):
    """What an ascent fills, at the start and after each iteration.

    Attributes
    ----------
    values : ndarray of shape (n_iterations + 1,)
        Mean objective.
    betas : ndarray of shape (n_iterations + 1 or 0, n_parameters)
        Parameters, if they are wanted.
    """

    values: np.ndarray
    betas: np.ndarray


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
    method : "cg" or "lbfgs"
    tolerance : float, at least 0
        Converged where no entry of the mean objective's gradient is larger.
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
        If a parameter is out of range or not finite, or all counts are 0.
    """
    n_iterations = check_integer("n_iterations", n_iterations, 0)
    check_choice("method", method, METHODS)
    tolerance = check_real("tolerance", tolerance, 0)
    beta = np.array(cases.network.check_parameters(beta))
    cases.check_size()
    history = History(
        values=np.empty(n_iterations + 1),
        betas=np.empty((0 if watched is None else n_iterations + 1, len(beta))),
    )
    objective = cases.objective(conditional, smoothing)
    value, gradient, _ = objective.evaluate(beta)
    start = Start(beta, value, gradient)
    if method == "cg":
        beta, n_done, converged = climb_conjugate(
            start, objective.evaluation, objective.messages, n_iterations, tolerance, history
        )
    else:
        # Parameters with few rows have small derivatives and little curvature: the power of
        # the diagonal of the inverse Hessian at the start was chosen by trials.
        inverse_diagonal = ((objective.observed_counts() + 1.0) / objective.size) ** -0.5
        beta, n_done, converged = climb_lbfgs(
            start,
            inverse_diagonal,
            objective.evaluation,
            objective.messages,
            n_iterations,
            tolerance,
            history,
        )
    path = history.values[: n_done + 1].copy()
    errors = cases.watched_errors(history.betas[: n_done + 1], watched, len(path))
    return Ascent(beta, path, errors, bool(converged))


@compiled(error_model="numpy")
def climb_conjugate(start, evaluation, messages, n_iterations, tolerance, history):
    """Climb by the conjugate gradients of Polak & Ribiere.

    `evaluation` and `messages` are as `mean_objective` takes them. Fill the history; return the
    parameters, the number of iterations, and whether the ascent has converged.
    """
    beta, value, gradient = start
    direction = gradient
    step = 0.0
    store_iteration(history, 0, value, beta)
    for iteration in range(n_iterations):
        squared_norm = gradient @ gradient
        if is_flat(gradient, tolerance) or squared_norm == 0.0:
            return beta, iteration, True
        steepest = gradient
        direction, _, search = line_search_or_restart(
            evaluation,
            messages,
            beta,
            value,
            gradient,
            direction,
            step,
            steepest,
            CG_SLOPE_RATIO,
        )
        step = search.step
        if step == 0.0:
            return beta, iteration, False
        beta = add_scaled(beta, step, direction)
        value = search.value
        next_gradient = search.gradient
        # Polak & Ribiere; where negative, the ascent starts again along the gradient
        fall = add_scaled(next_gradient, -1.0, gradient)
        beta_pr = max(0.0, next_gradient @ fall / squared_norm)
        direction = add_scaled(next_gradient, beta_pr, direction)
        gradient = next_gradient
        # the next step is expected to gain, to first order, as much as the last one
        step *= min(MAX_EXTRAPOLATION, search.initial_slope / max(gradient @ direction, TINY))
        store_iteration(history, iteration + 1, value, beta)
    return beta, n_iterations, is_flat(gradient, tolerance)


@compiled(error_model="numpy")
def climb_lbfgs(start, inverse_diagonal, evaluation, messages, n_iterations, tolerance, history):
    """Climb by L-BFGS, from a diagonal of the inverse Hessian; return as `climb_conjugate` does."""
    beta, value, gradient = start
    store_iteration(history, 0, value, beta)
    # the last pairs of steps s and falls of the gradient y, and s @ y, which is 1 / rho
    s_history = np.empty((MEMORY, len(beta)))
    y_history = np.empty((MEMORY, len(beta)))
    curvatures = np.empty(MEMORY)
    n_pairs = 0
    for iteration in range(n_iterations):
        if is_flat(gradient, tolerance):
            return beta, iteration, True
        quasi_newton = apply_inverse_hessian(
            gradient, inverse_diagonal, s_history, y_history, curvatures, n_pairs
        )
        first_step = 1.0 if n_pairs > 0 else 0.0
        steepest = inverse_diagonal * gradient
        direction, is_restarted, search = line_search_or_restart(
            evaluation,
            messages,
            beta,
            value,
            gradient,
            quasi_newton,
            first_step,
            steepest,
            LBFGS_SLOPE_RATIO,
        )
        if search.step == 0.0:
            return beta, iteration, False
        if is_restarted:
            n_pairs = 0
        s = search.step * direction
        y = gradient - search.gradient
        beta = beta + s
        value = search.value
        gradient = search.gradient
        curvature = s @ y
        if curvature > 0.0:
            k = n_pairs % MEMORY
            assign(s_history[k], s)
            assign(y_history[k], y)
            curvatures[k] = curvature
            n_pairs += 1
        store_iteration(history, iteration + 1, value, beta)
    return beta, n_iterations, is_flat(gradient, tolerance)


@compiled(error_model="numpy")
def add_scaled(vector, scale, direction):
    """Return `vector + scale * direction`; numba takes longer to compile such an expression."""
    total = np.empty_like(vector)
    for i in range(len(vector)):
        total[i] = vector[i] + scale * direction[i]
    return total


@compiled(error_model="numpy")
def is_flat(gradient, tolerance):
    """Return whether no entry of the gradient is larger than `tolerance`."""
    is_small = True
    for derivative in gradient:
        is_small = is_small and abs(derivative) <= tolerance
    return is_small


# What follows is inlined before an ascent is compiled: kernels that call each other would be
# compiled again, with all that they call, in each of them.
@njit(inline="always", error_model="numpy")
def store_iteration(history, iteration, value, beta):
    """Keep the value after an iteration, and the parameters, if they are wanted."""
    history.values[iteration] = value
    if len(history.betas) > 0:
        assign(history.betas[iteration], beta)


@njit(inline="always", error_model="numpy")
def apply_inverse_hessian(gradient, inverse_diagonal, s_history, y_history, curvatures, n_pairs):
    """Return the inverse Hessian times the gradient: the two-loop recursion, algorithm 7.4."""
    direction = gradient.copy()
    alpha = np.empty(MEMORY)
    oldest = max(0, n_pairs - MEMORY)
    for k in range(n_pairs - 1, oldest - 1, -1):
        i = k % MEMORY
        alpha[i] = s_history[i] @ direction / curvatures[i]
        direction -= alpha[i] * y_history[i]
    direction *= inverse_diagonal
    if n_pairs > 0:
        # the scale of the last pair, equation 7.20 with the diagonal
        i = (n_pairs - 1) % MEMORY
        direction *= curvatures[i] / (y_history[i] @ (inverse_diagonal * y_history[i]))
    for k in range(oldest, n_pairs):
        i = k % MEMORY
        direction += (alpha[i] - y_history[i] @ direction / curvatures[i]) * s_history[i]
    return direction


@njit(inline="always", error_model="numpy")
def line_search_or_restart(
    evaluation, messages, beta, value, gradient, direction, step, steepest, slope_ratio
):
    """Search along `direction`; if nothing is gained there, along `steepest`, with no first step.

    Return the last direction, whether it is `steepest`, and the result of its `search_line`.
    """
    is_restarted = False
    while True:
        search = search_line(
            evaluation, messages, beta, value, gradient, direction, step, slope_ratio
        )
        if search.step != 0.0 or is_restarted or np.all(direction == steepest):
            return direction, is_restarted, search
        direction = steepest
        step = 0.0
        is_restarted = True


@njit(inline="always", error_model="numpy")
def search_line(evaluation, messages, beta, value, gradient, direction, step, slope_ratio):
    """Search along `direction` for a point near the first maximum.

    The maximum is bracketed by the sign of the slope, then found by secants. The search ends where
    the slope is `slope_ratio` times the first.

    Parameters
    ----------
    evaluation, messages
        As `mean_objective` takes them.
    beta, gradient, direction : ndarray of shape (n_parameters,)
    value : float
    step : float
        What is tried first, if it is above 0.
    slope_ratio : float

    Returns
    -------
    LineSearch
        With the step 0 where none gains anything, as in a direction that does not rise.
    """
    initial_slope = gradient @ direction
    if not initial_slope > 0.0:
        return LineSearch(initial_slope, 0.0, value, gradient)
    if step == 0.0:
        step = 1.0 / np.sqrt(initial_slope)
    best_step = 0.0
    best_value = value
    best_gradient = gradient
    # the maximum is between `low`, where the objective still rises, and the step `high`
    low = LinePoint(0.0, value, initial_slope)
    high = np.inf
    high_slope = np.nan
    step_over_slope = 0.0  # of the last move of `low`: how far it went, over what the slope fell by
    for _ in range(MAX_EVALUATIONS):
        new_gradient = np.empty_like(gradient)
        new_beta = add_scaled(beta, step, direction)
        new_value = mean_objective(new_beta, evaluation, messages, new_gradient)
        new_slope = new_gradient @ direction
        if new_value >= best_value:
            best_step = step
            best_value = new_value
            best_gradient = new_gradient
            if abs(new_slope) <= slope_ratio * initial_slope:
                break
        if new_value >= low.value and new_slope > 0.0:
            step_over_slope = (step - low.step) / max(low.slope - new_slope, TINY)
            low = LinePoint(step, new_value, new_slope)
        else:
            high = step
            # a value below that of `low` is beyond another maximum: its slope tells nothing
            high_slope = new_slope if new_value >= low.value else np.nan
        step = _next_step(low.step, low.slope, high, high_slope, step_over_slope)
    return LineSearch(initial_slope, best_step, best_value, best_gradient)


@njit(inline="always", error_model="numpy")
def _next_step(low, low_slope, high, high_slope, step_over_slope):
    """Where the slope would be 0 if it were linear, not too near to what was tried."""
    if high == np.inf:
        secant = low + low_slope * step_over_slope
        return min(max(secant, 2.0 * low), MAX_EXTRAPOLATION * low)
    if not high_slope < 0.0:
        return 0.5 * (low + high)
    width = high - low
    secant = low + width * low_slope / (low_slope - high_slope)
    return min(max(secant, low + 0.1 * width), high - 0.1 * width)
