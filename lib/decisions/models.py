"""Decision processes with a known model: gymnasium's tables, grids, random ones, mountain roads."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import ndimage, sparse

from lib.base.validation import (
    check_choice,
    check_flag,
    check_generator,
    check_integer,
    check_numbers,
    check_real,
    probability_divisors,
)

MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])  # north, east, south, west
GOAL, COLLISION = 1.0, -0.1  # rewards of a grid world
N_DRAWS = 10_000  # of a floor plan, until one hangs together


class TransitionTable(NamedTuple):
    """A decision process as kernels read it: a sparse matrix of transitions, rewards and ends.

    Row a * n_states + s of the matrix is that of action a in state s: its next states and their
    probabilities are those from indptr[row] to indptr[row + 1].
    """

    indptr: np.ndarray
    next_states: np.ndarray
    probabilities: np.ndarray
    rewards: np.ndarray  # (n_actions, n_states)
    terminal: np.ndarray  # (n_states,)


@dataclass(frozen=True, eq=False)
class MDP:
    """A Markov decision process with finitely many states and actions, of which all is known.

    Parameters
    ----------
    transitions : ndarray of shape (n_actions, n_states, n_states), or sequence of sparse arrays
        Probability of each next state, given action and state. One sparse array (n_states,
        n_states) an action keeps the memory of dynamic programming and Q-learning to that of the
        probabilities above 0. Probabilities that rounding, as that of float32 or of six decimals,
        keeps from a sum of 1 are divided by it.
    rewards : ndarray of shape (n_actions, n_states)
        Expected immediate reward of an action in a state: the survey's R(s, a, s') summed over s'
        with P(s' | s, a). Where a state does not have an action, give it the transitions and the
        reward of one that it has.
    terminal : ndarray of shape (n_states,), bool
        States in which an episode ends. They absorb, with reward 0, whatever the other two say of
        them.
    start : ndarray of shape (n_states,), optional
        Probability that an episode starts there; by default each state that is not terminal has the
        same.

    Attributes
    ----------
    matrix : sparse array of shape (n_actions * n_states, n_states)
        The transitions; row a * n_states + s is that of action a in state s.

    Raises
    ------
    ValueError
        That names state and action, where probabilities are negative or do not sum to 1, or a
        reward is not finite.

    References
    ----------
    Dietterich (1997), section 4.1.
    """

    transitions: np.ndarray | tuple
    rewards: np.ndarray
    terminal: np.ndarray
    start: np.ndarray | None = None
    matrix: sparse.csr_array = field(init=False, repr=False)

    def __post_init__(self):
        matrix, is_sparse = _stack_actions(self.transitions)
        n_states = matrix.shape[1]
        shape = (matrix.shape[0] // n_states, n_states)
        rewards = check_numbers("rewards", self.rewards)
        terminal = np.array(self.terminal)
        _check_shape("rewards", rewards, shape)
        _check_shape("terminal", terminal, shape[1:])
        if terminal.dtype != bool:
            raise ValueError(f"terminal must hold True and False; got {terminal.dtype}")
        matrix = _normalise_rows(_absorb(matrix, terminal))
        if is_sparse:
            transitions = _split_actions(matrix)
        else:
            transitions = matrix.toarray().reshape(*shape, n_states)
        rewards[:, terminal] = 0.0
        _check_rewards(rewards)

        if self.start is not None:
            start = check_numbers("start", self.start)
        elif terminal.all():
            start = np.ones(len(terminal))
        else:
            start = check_numbers("start", ~terminal)
        _check_shape("start", start, terminal.shape)
        if not (start >= 0).all() or not 0 < start.sum() < np.inf:
            raise ValueError(
                "start must hold a probability of each state; "
                "got a negative one, or nothing but zeros"
            )

        fields = {
            "transitions": transitions,
            "rewards": rewards,
            "terminal": terminal,
            "start": start / start.sum(),
            "matrix": matrix,
        }
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)  # the dataclass is frozen

    @property
    def n_actions(self):
        """Number of actions."""
        return self.rewards.shape[0]

    @property
    def n_states(self):
        """Number of states."""
        return self.rewards.shape[1]

    @property
    def is_sparse(self):
        """Whether the transitions are sparse arrays, one an action."""
        return isinstance(self.transitions, tuple)

    @property
    def table(self):
        """The process as a `TransitionTable`, which kernels read."""
        return TransitionTable(
            indptr=self.matrix.indptr,
            next_states=self.matrix.indices,
            probabilities=self.matrix.data,
            rewards=self.rewards,
            terminal=self.terminal,
        )


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
        Whose states at which all episodes end that enter them are terminal. Where an end belongs to
        an action instead, as it leads to a state in which other episodes go on, or leaves the state
        as it is, the process has one more state, the last, for such ends: a terminal one.

    Raises
    ------
    ValueError
        If gymnasium does not know the name, or the environment has no table.
    """
    import gymnasium  # which takes a moment

    environment = gymnasium.make(
        check_choice("name", name, gymnasium.registry), **options
    ).unwrapped
    outcomes = getattr(environment, "P", None)
    if outcomes is None:
        raise ValueError(
            f"name must be of an environment with a table of transitions, P; {name!r} has none"
        )

    n_states = len(outcomes)
    n_actions = len(outcomes[0])
    start = np.asarray(getattr(environment, "initial_state_distrib", np.ones(n_states)))
    transitions = np.zeros((n_actions, n_states, n_states))  # with which an episode goes on
    ends = np.zeros((n_actions, n_states, n_states))  # with which it ends
    rewards = np.zeros((n_actions, n_states))
    for state, action in np.ndindex(n_states, n_actions):
        for probability, next_state, reward, terminated in outcomes[state][action]:
            table = ends if terminated else transitions
            table[action, state, next_state] += probability
            rewards[action, state] += probability * reward

    is_entered = _reachable(transitions.any(axis=0), start > 0)
    terminal = ends.any(axis=(0, 1)) & ~is_entered
    transitions[..., terminal] += ends[..., terminal]
    probability_of_end = ends[..., ~terminal].sum(axis=2)
    if probability_of_end.any():
        transitions = np.pad(transitions, [(0, 0), (0, 1), (0, 1)])
        transitions[:, :-1, -1] = probability_of_end
        rewards = np.pad(rewards, [(0, 0), (0, 1)])
        terminal = np.append(terminal, True)
        start = np.append(start, 0.0)
    return MDP(transitions, rewards, terminal, start)


def grid_world(rows, columns, walls, rng, slip=0.1):
    """Draw a floor plan in which a robot goes from the first cell to the last one.

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
    rows = check_integer("rows", rows, 2)
    columns = check_integer("columns", columns, 2)
    slip = check_real("slip", slip, 0, 0.5)
    walls = check_real("walls", walls, 0, 0.5)
    is_wall = _floor_plan((rows, columns), walls, check_generator("rng", rng))

    # of each move from each cell, (4, n_states): the cell ahead, where the robot is then, its gain
    n_states = rows * columns
    states = np.arange(n_states)
    cells = np.argwhere(np.ones_like(is_wall))
    ahead = cells + MOVES[:, None]
    is_closed = np.pad(is_wall, 1, constant_values=True)  # with the border
    collides = is_closed[ahead[..., 0] + 1, ahead[..., 1] + 1]
    next_states = np.where(collides, states, ahead @ (columns, 1))
    gains = GOAL * (next_states == n_states - 1) + COLLISION * collides

    transitions = np.zeros((4, n_states, n_states))
    rewards = np.zeros((4, n_states))
    for action in range(4):
        left = action - 1
        right = (action + 1) % 4
        for move, probability in ((action, 1 - 2 * slip), (left, slip), (right, slip)):
            transitions[action, states, next_states[move]] += probability
            rewards[action] += probability * gains[move]
    terminal = is_wall.ravel()
    terminal[-1] = True
    return MDP(transitions, rewards, terminal, start=states == 0)


def random_mdp(n_states, n_actions, n_successors, rng):
    """Draw a process without terminal states ("Garnet"): each action leads to a few random states.

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
    n_actions = check_integer("n_actions", n_actions, 1)
    n_states = check_integer("n_states", n_states, 1)
    n_successors = check_integer("n_successors", n_successors, 1, n_states)
    rng = check_generator("rng", rng)

    shape = (n_actions, n_states)
    states = np.broadcast_to(np.arange(n_states), (*shape, n_states))
    successors = rng.permuted(states, axis=-1)[..., :n_successors]
    probabilities = rng.dirichlet(np.ones(n_successors), size=shape)
    transitions = np.zeros((*shape, n_states))
    np.put_along_axis(transitions, successors, probabilities, axis=-1)
    return MDP(transitions, rng.normal(size=shape), np.zeros(n_states, dtype=bool))


def mountain_roads(north=6, south=4, noise=0.0, turn_back=True):
    """Build two roads from a start to a goal, with a reward of -1 a step (Figure 9 of the survey).

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
    north = check_integer("north", north, 1)
    south = check_integer("south", south, 1)
    noise = check_real("noise", noise, 0, 1)
    turn_back = check_flag("turn_back", turn_back)

    n_states = north + south
    states = np.arange(n_states)
    goal = n_states - 1
    next_state = np.full((2, n_states), goal)
    for action, places in enumerate((range(1, north), range(north, goal))):
        road = [0, *places, goal]
        next_state[action, 0] = road[1]
        for i, place in enumerate(places, 1):
            next_state[0, place] = road[i + 1]
            next_state[1, place] = road[i - 1] if turn_back else road[i + 1]

    intended = np.eye(n_states)[next_state]
    transitions = (1 - noise) * intended + noise * intended.mean(axis=0)
    rewards = np.full((2, n_states), -1.0)
    return MDP(transitions, rewards, terminal=states == goal, start=states == 0)


def _reachable(leads_to, first):
    """States to which some way leads from the first ones, these included, (n_states,) bool."""
    reached = first
    n_reached = 0
    while reached.sum() > n_reached:
        n_reached = reached.sum()
        reached = reached | leads_to[reached].any(axis=0)
    return reached


def _floor_plan(shape, walls, rng):
    """Draw which cells are walls, until the free ones hang together."""
    for _ in range(N_DRAWS):
        is_wall = rng.random(shape) < walls
        is_wall[0, 0] = is_wall[-1, -1] = False
        n_regions = ndimage.label(~is_wall)[1]
        if n_regions == 1:
            return is_wall
    raise ValueError(
        f"walls must leave free cells that hang together; got {walls!r} on a grid of {shape}"
    )


def _check_shape(name, values, shape):
    if values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {values.shape}")


def _stack_actions(transitions):
    """Stack the transitions of all actions: (n_actions * n_states, n_states), sparse.

    Also return whether those of an action are sparse.
    """
    is_sequence = np.iterable(transitions) and not sparse.issparse(transitions)
    is_sparse = is_sequence and any(map(sparse.issparse, transitions))
    if is_sparse:
        blocks = [sparse.csr_array(block) for block in transitions]
        shapes = [block.shape for block in blocks]
        n_states = shapes[0][-1]
        if n_states == 0 or set(shapes) != {(n_states, n_states)}:
            raise ValueError(
                f"transitions must have shape (n_states, n_states), each of them; got {shapes}"
            )
        stacked = sparse.vstack(blocks, format="csr")
        stacked.sum_duplicates()
        stacked.data = check_numbers("transitions", stacked.data)
    else:
        allowed = "an array of numbers, or a sequence of sparse arrays"
        transitions = check_numbers("transitions", transitions, allowed)
        shape = transitions.shape
        if transitions.ndim != 3 or shape[1] != shape[2] or not transitions.size:
            raise ValueError(
                f"transitions must have shape (n_actions, n_states, n_states); got {shape}"
            )
        stacked = sparse.csr_array(transitions.reshape(-1, shape[2]))
    return stacked, is_sparse


def _split_actions(matrix):
    """Return the sparse arrays of the actions, (n_states, n_states) each, as a tuple."""
    n_rows, n_states = matrix.shape
    return tuple(matrix[start : start + n_states] for start in range(0, n_rows, n_states))


def _absorb(matrix, terminal):
    """Let terminal states lead to themselves, whatever the matrix says of them."""
    is_terminal_row = np.resize(terminal, matrix.shape[0])
    matrix.data[np.repeat(is_terminal_row, np.diff(matrix.indptr))] = 0.0
    stay = sparse.diags_array(1.0 * terminal)
    n_actions = matrix.shape[0] // len(terminal)
    return matrix + sparse.vstack([stay] * n_actions, format="csr")


def _normalise_rows(matrix):
    """Divide rows by their sums of nearly 1; ValueError if they hold no probabilities."""

    def place(row):
        action, state = divmod(row, matrix.shape[1])
        return f"transitions of action {action} in state {state}"

    sums = matrix.sum(axis=1)
    divisors = probability_divisors(sums, matrix.min(axis=1).toarray(), place)
    matrix.data /= np.repeat(divisors, np.diff(matrix.indptr))
    return matrix


def _check_rewards(rewards):
    if not np.isfinite(rewards).all():
        action, state = np.argwhere(~np.isfinite(rewards))[0]
        raise ValueError(
            f"rewards must be finite; state {state}, action {action}: {rewards[action, state]}. "
            "Give an action that the state does not have the transitions and reward of another one"
        )
