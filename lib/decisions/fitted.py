"""Values of points in a space of real numbers: fitted value iteration, and the mountain car."""

from typing import NamedTuple

import numpy as np

from lib.validation import check_integer, check_real

LEFT, RIGHT, TOP_SPEED = -1.2, 0.6, 0.07  # of the mountain car


class FittedValues(NamedTuple):
    """What fitted value iteration leaves.

    A named tuple of values (n_samples,), the backed-up values of the samples; regressor, fitted to the iteration
    before; largest (n_iterations,), the largest absolute value in each iteration; diverged, bool.
    """

    values: np.ndarray
    regressor: object
    largest: np.ndarray
    diverged: bool


def fitted_values(step, n_actions, regressor, samples, discount=0.99, n_iterations=200, limit=1e6):
    """Fit a regressor to Bellman backups of sample points, again and again (section 4.5).

    Parameters
    ----------
    step : callable
        ``step(points, action)`` is what an action does at points (m, d): rewards (m,), the next points (m, d), and
        whether an episode ends there (m,).
    n_actions : int, at least 1
    regressor : estimator
        One of scikit-learn's; a local averager, such as nearest neighbours, cannot leave the range of its targets.
    samples : array-like of shape (n_samples, d)
    discount : float in [0, 1]
    n_iterations : int, at least 1
    limit : float above 0
        Absolute value beyond which the values have diverged, and it stops.

    Returns
    -------
    FittedValues

    References
    ----------
    Gordon (1995).
    """
    n_actions, n_iterations = check_integer("n_actions", n_actions, 1), check_integer("n_iterations", n_iterations, 1)
    discount, limit = check_real("discount", discount, 0, 1), check_real("limit", limit, 0, open_low=True)
    samples = np.asarray(samples, dtype=float)
    moves = [step(samples, action) for action in range(n_actions)]
    values, largest = np.zeros(len(samples)), []
    while len(largest) < n_iterations and (not largest or largest[-1] <= limit):
        regressor.fit(samples, values)
        after = [r + discount * np.where(ended, 0.0, regressor.predict(new)) for r, new, ended in moves]
        values = np.max(after, axis=0)
        largest.append(np.abs(values).max())
    return FittedValues(values, regressor, np.array(largest), bool(largest[-1] > limit))


def mountain_car(points, action):
    """One step of the mountain car: a reward of -1 until the hill at 0.5 is reached.

    Parameters
    ----------
    points : array-like of shape (m, 2)
        Positions in [-1.2, 0.6] and velocities in [-0.07, 0.07].
    action : int
        0 pushes to the left, 1 not at all, 2 to the right.

    Returns
    -------
    rewards (m,), points (m, 2), ended (m,) bool
    """
    position, velocity = np.asarray(points, dtype=float).T
    push = 0.001 * (check_integer("action", action, 0, 2) - 1)
    velocity = np.clip(velocity + push - 0.0025 * np.cos(3 * position), -TOP_SPEED, TOP_SPEED)
    position = np.clip(position + velocity, LEFT, RIGHT)
    velocity = np.where(position == LEFT, np.maximum(velocity, 0.0), velocity)
    return np.full(len(position), -1.0), np.column_stack([position, velocity]), (position >= 0.5) & (velocity >= 0)
