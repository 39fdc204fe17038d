"""Decision processes whose model is known: gymnasium's tables, grids, random ones, and roads round a mountain."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import ndimage, sparse

from lib.validation import check_choice, check_flag, check_generator, check_integer, check_real

TOLERANCE = 1e-9  # by which probabilities may fail to add up to 1
MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])  # north, east, south, west
GOAL, COLLISION = 1.0, -0.1  # rewards of a grid world


@dataclass(frozen=True, eq=False)
class MDP:
    """A Markov decision process with finitely many states and actions, of which all is known.

    Parameters
    ----------
    transitions : ndarray of shape (n_actions, n_states, n_states)
        Probability of each next state, given action and state.
    rewards : ndarray of shape (n_actions, n_states)
        Expected immediate reward of an action in a state: the survey's R(s, a, s') summed over s'
        with P(s' | s, a).
    terminal : ndarray of shape (n_states,), bool
        States in which an episode ends. They absorb, with reward 0, whatever the other two say of
        them.
    start : ndarray of shape (n_states,), optional
        Probability that an episode starts there; by default each state that is not terminal has the
        same.

    Raises
    ------
    ValueError
        That names state and action, where probabilities are negative or do not add up to 1, or a
        reward is not finite.

    References
    ----------
    Dietterich (1997), section 4.1.
    """

    transitions: np.ndarray
    rewards: np.ndarray
    terminal: np.ndarray
    start: np.ndarray | None = None

    def __post_init__(self):
        transitions, rewards = (
            to_numbers("transitions", self.transitions),
            to_numbers("rewards", self.rewards),
        )
        terminal = np.array(self.terminal)
        if (
            transitions.ndim != 3
            or transitions.shape[1] != transitions.shape[2]
            or not transitions.size
        ):
            raise ValueError(
                f"transitions must have shape (n_actions, n_states, n_states); got {transitions.shape}"
            )
        _check_shape("rewards", rewards, transitions.shape[:2])
        _check_shape("terminal", terminal, transitions.shape[2:])
        if terminal.dtype != bool:
            raise ValueError(f"terminal must hold True and False; got {terminal.dtype}")
        transitions[:, terminal], rewards[:, terminal] = np.eye(len(terminal))[terminal], 0.0
        _check_model(transitions, rewards)
        start = ~terminal if self.start is None and not terminal.all() else self.start
        start = to_numbers("start", np.ones(len(terminal)) if start is None else start)
        _check_shape("start", start, terminal.shape)
        if not (start >= 0).all() or not 0 < start.sum() < np.inf:
            raise ValueError(
                "start must hold a probability of each state; got a negative one, or nothing but zeros"
            )
        fields = {
            "transitions": transitions,
            "rewards": rewards,
            "terminal": terminal,
            "start": start / start.sum(),
        }
        for name, value in fields.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_actions(self):
        """Number of actions."""
        return self.transitions.shape[0]

    @property
    def n_states(self):
        """Number of states."""
        return self.transitions.shape[1]

    @cached_property
    def matrix(self):
        """The transitions as a sparse array, whose row a * n_states + s is that of action a in state s."""
        return sparse.csr_array(self.transitions.reshape(-1, self.n_states))

    @property
    def table(self):
        """What kernels know, that is next states and probabilities by row of the matrix, rewards, terminal states."""
        return (
            self.matrix.indptr,
            self.matrix.indices,
            self.matrix.data,
            self.rewards,
            self.terminal,
        )


def to_numbers(name, values):
    """Return a new array of float, or raise a ValueError that names what is no array of real numbers."""
    try:
        values = np.array(values)
        return (
            values.astype(float)
            if values.dtype.kind in "biuf"
            else np.array(values.tolist(), dtype=float)
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from None


def from_gymnasium(name, **options):
    """Read the model of one of gymnasium's environments with a table of transitions.

    Parameters
    ----------
    name : str
        Such as "FrozenLake-v1", "CliffWalking-v1" or "Taxi-v4".
    **options
        Of the environment, such as ``map_name="8x8"`` or ``is_slippery=True``.

    Returns
    -------
    MDP
        Whose states at which an episode ends are terminal.

    Raises
    ------
    ValueError
        If gymnasium does not know the name, or the environment has no table.
    """
    import gymnasium  # which takes a moment

    environment = gymnasium.make(
        check_choice("name", name, gymnasium.registry), **options
    ).unwrapped
    table = getattr(environment, "P", None)
    if table is None:
        raise ValueError(
            f"name must be of an environment with a table of transitions, P; {name!r} has none"
        )
    n_states, n_actions = len(table), len(table[0])
    transitions, rewards = (
        np.zeros((n_actions, n_states, n_states)),
        np.zeros((n_actions, n_states)),
    )
    terminal = np.zeros(n_states, dtype=bool)
    for state, actions in table.items():
        for action, outcomes in actions.items():
            for probability, after, reward, ended in outcomes:
                transitions[action, state, after] += probability
                rewards[action, state] += probability * reward
                terminal[after] |= ended
    return MDP(transitions, rewards, terminal, environment.initial_state_distrib)


def grid_world(rows, columns, walls, rng, slip=0.1):
    """Draw a floor plan in which a robot looks for the last cell from the first one.

    It moves north, east, south or west, and with probability `slip` each to the left or the right
    of that. The goal gives a reward of 1 and ends the episode; a collision with a wall or the
    border gives -0.1 and moves nothing.

    Parameters
    ----------
    rows, columns : int, at least 2
    walls : float in [0, 0.5]
        Share of cells that are walls, roughly; all free cells hang together.
    rng : numpy.random.Generator
    slip : float in [0, 0.5]

    Returns
    -------
    MDP
        With a state a cell, row by row; walls are terminal states that no move enters.

    Raises
    ------
    ValueError
        If an argument is out of range, or no plan with so many walls hangs together in 10,000
        draws.
    """
    rows, columns = check_integer("rows", rows, 2), check_integer("columns", columns, 2)
    slip = check_real("slip", slip, 0, 0.5)
    closed = _floor_plan(
        (rows, columns), check_real("walls", walls, 0, 0.5), check_generator("rng", rng)
    )
    n_states, places = rows * columns, np.argwhere(np.ones_like(closed))
    ahead = places + MOVES[:, None]
    bumps = np.pad(closed, 1, constant_values=True)[ahead[..., 0] + 1, ahead[..., 1] + 1]
    after = np.where(bumps, np.arange(n_states), ahead @ (columns, 1))
    gains = GOAL * (after == n_states - 1) + COLLISION * bumps
    transitions, rewards = np.zeros((4, n_states, n_states)), np.zeros((4, n_states))
    for action in range(4):
        for move, probability in (
            (action, 1 - 2 * slip),
            (action - 1, slip),
            ((action + 1) % 4, slip),
        ):
            transitions[action, np.arange(n_states), after[move]] += probability
            rewards[action] += probability * gains[move]
    terminal = closed.ravel()
    terminal[-1] = True
    return MDP(transitions, rewards, terminal, np.arange(n_states) == 0)


def random_mdp(n_states, n_actions, n_successors, rng):
    """Draw a process without terminal states ("Garnet"): any action may lead from a state to a few random others.

    Parameters
    ----------
    n_states, n_actions : int, at least 1
    n_successors : int in [1, n_states]
        Next states of each action in each state; their probabilities are uniform on the simplex.
    rng : numpy.random.Generator

    Returns
    -------
    MDP
        With normal rewards of mean 0 and deviation 1.
    """
    shape = check_integer("n_actions", n_actions, 1), check_integer("n_states", n_states, 1)
    n_successors = check_integer("n_successors", n_successors, 1, n_states)
    states = np.broadcast_to(np.arange(n_states), (*shape, n_states))
    successors = check_generator("rng", rng).permuted(states, axis=-1)[..., :n_successors]
    transitions = np.zeros((*shape, n_states))
    np.put_along_axis(
        transitions, successors, rng.dirichlet(np.ones(n_successors), size=shape), axis=-1
    )
    return MDP(transitions, rng.normal(size=shape), np.zeros(n_states, dtype=bool))


def mountain_roads(north=6, south=4, noise=0.0, turn_back=True):
    """Two roads from a start to a goal, a reward of -1 a step (Figure 9 of the survey).

    States are the start, the places along the northern road, those along the southern one, and the
    goal. At the start action 0 goes north and 1 south; on the way 0 goes on and 1 turns back.

    Parameters
    ----------
    north, south : int, at least 1
        Steps from start to goal.
    noise : float in [0, 1]
        Probability that dice choose the action.
    turn_back : bool
        Otherwise action 1 goes on, too.

    Returns
    -------
    MDP
    """
    north, south = check_integer("north", north, 1), check_integer("south", south, 1)
    noise, turn_back = check_real("noise", noise, 0, 1), check_flag("turn_back", turn_back)
    n_states = north + south
    goal, after = n_states - 1, np.full((2, n_states), n_states - 1)
    for action, places in enumerate((range(1, north), range(north, goal))):
        road = [0, *places, goal]
        after[action, 0] = road[1]
        for i, place in enumerate(places, 1):
            after[:, place] = road[i + 1], road[i - 1] if turn_back else road[i + 1]
    chosen = np.eye(n_states)[after]
    transitions = (1 - noise) * chosen + noise * chosen.mean(axis=0)
    return MDP(
        transitions,
        np.full((2, n_states), -1.0),
        np.arange(n_states) == goal,
        np.arange(n_states) == 0,
    )


def _floor_plan(shape, walls, rng):
    for _ in range(10_000):
        closed = rng.random(shape) < walls
        closed[0, 0] = closed[-1, -1] = False
        if ndimage.label(~closed)[1] == 1:
            return closed
    raise ValueError(
        f"walls must leave free cells that hang together; got {walls!r} on a grid of {shape}"
    )


def _check_shape(name, values, shape):
    if values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {values.shape}")


def _check_model(transitions, rewards):
    wrong = ~(transitions >= 0).all(axis=2) | ~(np.abs(transitions.sum(axis=2) - 1) <= TOLERANCE)
    if wrong.any():
        action, state = np.argwhere(wrong)[0]
        total = f"a sum of {transitions[action, state].sum():.6g}, smallest {transitions[action, state].min():.6g}"
        raise ValueError(
            f"transitions must be probabilities that add up to 1; state {state}, action {action}: {total}"
        )
    if not np.isfinite(rewards).all():
        action, state = np.argwhere(~np.isfinite(rewards))[0]
        raise ValueError(
            f"rewards must be finite; state {state}, action {action}: {rewards[action, state]}"
        )
