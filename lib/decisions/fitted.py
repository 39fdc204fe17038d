"""Values of points in a space of real numbers: fitted value iteration, and Sarsa(lambda) on tiles."""

from typing import NamedTuple

import numpy as np

from lib.decisions.models import TOLERANCE, to_numbers
from lib.decisions.temporal import chosen, generator
from lib.validation import check_integer, check_real


class FittedValues(NamedTuple):
    """What fitted value iteration leaves.

    A named tuple of values (n_samples,), the backed-up values of the samples; regressor, fitted to
    the iteration before; diverged, bool: whether some of the values are beyond the limit or, as
    rewards or predictions may be, no numbers.
    """

    values: np.ndarray
    regressor: object
    diverged: bool


RATE = 0.5  # alpha of Sarsa


def fitted_values(step, n_actions, regressor, samples, discount=0.99, n_iterations=200, limit=1e6):
    """Fit a regressor to Bellman backups of sample points, again and again (section 4.5).

    Parameters
    ----------
    step : callable
        ``step(points, action)`` is what an action does at points (m, d): rewards (m,), the next
        points (m, d), and whether an episode ends there (m,).
    n_actions : int, at least 1
    regressor : estimator
        One of scikit-learn's; a local averager, such as nearest neighbours, cannot leave the range
        of its targets.
    samples : array-like of shape (n_samples, d), n_samples at least 1
    discount : float in [0, 1]
    n_iterations : int, at least 1
    limit : float above 0
        Absolute value beyond which the values have diverged, and it stops.

    Returns
    -------
    FittedValues

    Raises
    ------
    ValueError
        If a number is out of range, or samples or what `step` returns have another shape.

    References
    ----------
    Gordon (1995).
    """
    n_actions, n_iterations = (
        check_integer("n_actions", n_actions, 1),
        check_integer("n_iterations", n_iterations, 1),
    )
    discount, limit = (
        check_real("discount", discount, 0, 1),
        check_real("limit", limit, 0, open_low=True),
    )
    samples = to_numbers("samples", samples)
    if samples.ndim != 2 or not samples.size:
        raise ValueError(
            f"samples must have shape (n_samples, d), at least one of each; got {samples.shape}"
        )
    moves = [_moved(step, samples, action) for action in range(n_actions)]
    rewards, after, ended = (np.concatenate(parts) for parts in zip(*moves, strict=True))
    values, done = np.zeros(len(samples)), 0
    while done < n_iterations and (np.abs(values) <= limit).all():
        regressor.fit(samples, values)
        ahead = rewards + discount * np.where(ended, 0.0, regressor.predict(after))
        values = ahead.reshape(n_actions, -1).max(axis=0)
        done += 1
    return FittedValues(values, regressor, not (np.abs(values) <= limit).all())


def _moved(step, points, action):
    """Return what an action does at points, or raise a ValueError that says what `step` must return."""
    moved = step(points, action)
    shapes = [np.shape(part) for part in moved] if isinstance(moved, tuple | list) else type(moved)
    if shapes != [points.shape[:1], points.shape, points.shape[:1]]:
        allowed = f"rewards, next points and ends of shapes {points.shape[:1]}, {points.shape} and {points.shape[:1]}"
        raise ValueError(
            f"step must return {allowed} for points of shape {points.shape}; got {shapes}"
        )
    return moved


def sarsa_tiles(
    step, n_actions, start, n_episodes, trace_decay=0.9, tiles=(8, 8, 8), longest=1000, seed=0
):
    """Learn to act by Sarsa(lambda), linear in tiles: grids over a space, each shifted against the others.

    The value of an action at a point is the sum of the weights of the tiles that the point lies in,
    one of each grid. Weights begin with 0, the grids share a rate alpha of 1/2, traces are
    replaced, not added, there is no discount, and actions are the best so far.

    Parameters
    ----------
    step : callable
        As for `fitted_values`, in the unit cube; it is asked for one point at a time.
    n_actions : int, at least 1
    start : callable
        ``start(rng)`` is a point (d,) at which an episode begins, drawn by a numpy Generator.
    n_episodes : int, at least 1
    trace_decay : float in [0, 1]
        Lambda.
    tiles : sequence of 1 + d int, at least 1
        Number of grids, and of tiles along each axis.
    longest : int, at least 1
        Steps after which an episode is cut.
    seed : int in [0, 2**32)

    Returns
    -------
    lengths : ndarray of shape (n_episodes,), int
        Steps of each episode.
    weights : ndarray of shape (n_actions, n_grids, n_tiles + 1, ...)
        Of the tiles of each grid, one more along each axis, as it is shifted.

    Raises
    ------
    ValueError
        If a number is out of range, a point is not in the unit cube or has another shape, or a
        reward is not finite.

    References
    ----------
    Sutton (1996); Singh & Sutton (1996).
    """
    if np.ndim(tiles) != 1 or len(tiles) < 2:
        raise ValueError(
            f"tiles must be a number of grids and of tiles along each axis; got {tiles!r}"
        )
    n_actions, n_episodes = (
        check_integer("n_actions", n_actions, 1),
        check_integer("n_episodes", n_episodes, 1),
    )
    longest = check_integer("longest", longest, 1)
    n_grids, *sides = (check_integer("tiles", n, 1) for n in tiles)
    decay, rate = check_real("trace_decay", trace_decay, 0, 1), RATE / n_grids
    grids, rng, lengths = np.arange(n_grids), generator(seed), np.zeros(n_episodes, dtype=int)
    # by odd numbers, against patterns
    shifts = np.outer(grids, 2 * np.arange(len(sides)) + 1) / n_grids % 1
    weights = np.zeros((n_actions, n_grids, *(n + 1 for n in sides)))
    for episode in range(n_episodes):
        point, trace, error, ended = np.array([start(rng)]), np.zeros_like(weights), 0.0, False
        while not ended and lengths[episode] < longest:
            _check_point(point, len(sides))
            here = grids, *(point * sides + shifts).astype(int).T
            action = chosen(weights[:, *here].sum(axis=1), 0.0, rng)
            weights += rate * (error + weights[action, *here].sum()) * trace
            trace *= decay
            trace[:, *here] = 0.0
            trace[action, *here] = 1.0
            (reward,), point, (ended,) = step(point, action)
            if not np.isfinite(reward):
                raise ValueError(
                    f"step must return finite rewards; got {reward} for action {action}"
                )
            error = reward - weights[action, *here].sum()
            lengths[episode] += 1
        weights += ended * rate * error * trace
    return lengths, weights


def _check_point(point, d):
    if np.shape(point) != (1, d) or not all(
        -TOLERANCE <= x <= 1 + TOLERANCE for x in point[0].tolist()
    ):
        raise ValueError(
            f"start and step must give a point of shape ({d},) in the unit cube; got {point[0]}"
        )
