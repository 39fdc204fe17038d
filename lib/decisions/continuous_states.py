"""States in a space of real numbers: fitted value iteration, and Sarsa(lambda) on tiles."""

from typing import NamedTuple

import numpy as np

from lib.base.validation import check_integer, check_numbers, check_real
from lib.decisions.temporal import epsilon_greedy, generator


class FittedValues(NamedTuple):
    """What fitted value iteration leaves.

    A named tuple of values (n_samples,), the backed-up values of the samples; regressor, fitted to
    the values of the iteration before; diverged, bool: whether some of the values are beyond the
    limit or, as rewards or predictions may be, no numbers.
    """

    values: np.ndarray
    regressor: object
    diverged: bool


SARSA_STEP = 0.5  # alpha, shared by the grids
EDGE = 1e-9  # how far outside the unit cube rounding may take a state


def fitted_values(step, n_actions, regressor, samples, discount=0.99, n_iterations=200, limit=1e6):
    """Fit a regressor to Bellman backups of sampled states, again and again (section 4.5).

    Parameters
    ----------
    step : callable
        ``step(states, action)`` is what an action does in states (m, d): rewards (m,), the next
        states (m, d), and whether an episode ends there (m,).
    n_actions : int, at least 1
    regressor : estimator
        One of scikit-learn's; a local averager, such as nearest neighbours, cannot leave the range
        of its targets.
    samples : array-like of shape (n_samples, d), n_samples at least 1
        States.
    discount : float in [0, 1]
    n_iterations : int, at least 1
    limit : float above 0
        Absolute value beyond which the values have diverged, and the iteration stops.

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
    n_actions = check_integer("n_actions", n_actions, 1)
    n_iterations = check_integer("n_iterations", n_iterations, 1)
    discount = check_real("discount", discount, 0, 1)
    limit = check_real("limit", limit, 0, open_low=True)
    samples = check_numbers("samples", samples)
    if samples.ndim != 2 or not samples.size:
        raise ValueError(
            f"samples must have shape (n_samples, d), at least one of each; got {samples.shape}"
        )

    # transitions do not change: those of all actions are asked for once, one action after the other
    transitions = [_check_step(step, samples, action) for action in range(n_actions)]
    rewards = np.concatenate([reward for reward, _, _ in transitions])
    next_states = np.concatenate([state for _, state, _ in transitions])
    terminated = np.concatenate([end for _, _, end in transitions])

    values = np.zeros(len(samples))
    for _ in range(n_iterations):
        regressor.fit(samples, values)
        next_values = np.where(terminated, 0.0, regressor.predict(next_states))
        q_values = (rewards + discount * next_values).reshape(n_actions, -1)
        values = q_values.max(axis=0)  # equation 4: Bellman backup
        diverged = not (np.abs(values) <= limit).all()
        if diverged:
            break
    return FittedValues(values, regressor, diverged)


def _check_step(step, states, action):
    """Ask what an action does in states; ValueError says what `step` must return."""
    outcome = step(states, action)
    one_each = states.shape[:1]
    shapes = type(outcome)
    if isinstance(outcome, tuple | list):
        shapes = [np.shape(array) for array in outcome]
    if shapes != [one_each, states.shape, one_each]:
        allowed = f"of shapes {one_each}, {states.shape} and {one_each}"
        raise ValueError(
            f"step must return rewards, next points and ends {allowed} "
            f"for points of shape {states.shape}; got {shapes}"
        )
    return outcome


def sarsa_tiles(
    step, n_actions, start, n_episodes, trace_decay=0.9, tiles=(8, 8, 8), longest=1000, seed=0
):
    """Learn to act by Sarsa(lambda), with values linear in tiles: shifted grids over the states.

    The value of an action in a state is the sum of the weights of the tiles in which the state
    lies, one of each grid. Weights begin with 0, the grids share a rate alpha of 1/2, traces are
    replaced, not added, there is no discount, and actions are the best so far.

    Parameters
    ----------
    step : callable
        As for `fitted_values`, with states in the unit cube; it is asked for one state at a time.
    n_actions : int, at least 1
    start : callable
        ``start(rng)`` is a state (d,) in which an episode begins, drawn by a numpy Generator.
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
        If a number is out of range, a state is not in the unit cube or has another shape, or a
        reward is not finite.

    References
    ----------
    Sutton (1996); Singh & Sutton (1996).
    """
    if np.ndim(tiles) != 1 or len(tiles) < 2:
        raise ValueError(
            f"tiles must be a number of grids and of tiles along each axis; got {tiles!r}"
        )
    n_actions = check_integer("n_actions", n_actions, 1)
    n_episodes = check_integer("n_episodes", n_episodes, 1)
    longest = check_integer("longest", longest, 1)
    n_grids, *n_tiles = (check_integer("tiles", n, 1) for n in tiles)
    decay = check_real("trace_decay", trace_decay, 0, 1)
    rng = generator(seed)

    # each grid is shifted by other odd multiples of 1 / n_grids of a tile, against patterns
    grids = np.arange(n_grids)
    odd_numbers = 2 * np.arange(len(n_tiles)) + 1
    shifts = np.outer(grids, odd_numbers) / n_grids % 1
    weights = np.zeros((n_actions, n_grids, *(n + 1 for n in n_tiles)))
    alpha = SARSA_STEP / n_grids
    lengths = np.zeros(n_episodes, dtype=int)
    for episode in range(n_episodes):
        state = np.array([start(rng)])
        trace = np.zeros_like(weights)
        pending_error = 0.0  # of the step before, which lacks the value of its next state
        terminated = False
        while not terminated and lengths[episode] < longest:
            _check_point(state, len(n_tiles))
            tiles_of_state = grids, *(state * n_tiles + shifts).astype(int).T
            action = epsilon_greedy(weights[:, *tiles_of_state].sum(axis=1), 0.0, rng)
            # the action in the next state is known now: the rest of the step before's error
            next_value = weights[action, *tiles_of_state].sum()
            weights += alpha * (pending_error + next_value) * trace
            # replacing traces, which also forget the state's other actions (Singh & Sutton)
            trace *= decay
            trace[:, *tiles_of_state] = 0.0
            trace[action, *tiles_of_state] = 1.0
            (reward,), state, (terminated,) = step(state, action)
            if not np.isfinite(reward):
                raise ValueError(
                    f"step must return finite rewards; got {reward} for action {action}"
                )
            pending_error = reward - weights[action, *tiles_of_state].sum()
            lengths[episode] += 1
        if terminated:  # the value of a last state is 0
            weights += alpha * pending_error * trace
    return lengths, weights


def _check_point(state, d):
    """Raise ValueError unless a state (1, d) is a point of the unit cube, but for rounding."""
    is_point = np.shape(state) == (1, d)
    if not is_point or not all(-EDGE <= x <= 1 + EDGE for x in state[0].tolist()):
        raise ValueError(
            f"start and step must give a point of shape ({d},) in the unit cube; got {state[0]}"
        )
