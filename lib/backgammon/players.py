"""Players: each values positions for the one who has just moved, and moves to the best of them."""

from typing import NamedTuple

import numpy as np

from lib.backgammon.net import N_INPUTS, net_values
from lib.backgammon.rules import BAR, check_position
from lib.base.compiled import compiled
from lib.base.validation import check_integer

RANDOM, RULES, NET = range(3)  # kinds of players
POINT = 3  # the player by rules: for each point that it holds, and against each blot
BLOT = 6
SPREAD = 0.1  # of a network's first weights


class Evaluator(NamedTuple):
    """A player as kernels read it."""

    kind: int
    inputs: np.ndarray
    output: np.ndarray


class Player:
    """What every player has.

    Attributes
    ----------
    inputs_, output_ : ndarray
        Weights; zeros for players without any.
    """

    inputs_ = np.zeros((1, 1), np.float32)
    output_ = np.zeros(1, np.float32)

    def values(self, positions, seed=0):
        """Value positions for the one who has just moved, whose men are in the first row.

        Parameters
        ----------
        positions : array-like of shape (n_positions, 2, 26) of int
        seed : int
            Of a player that draws its values.

        Returns
        -------
        ndarray of shape (n_positions,)

        Raises
        ------
        ValueError
            If one of them is no position.
        """
        if not np.iterable(positions):
            raise ValueError(f"positions must have shape (n_positions, 2, 26); got {positions!r}")
        positions = [check_position(position) for position in positions]
        positions = np.array(positions, np.int8).reshape(-1, 2, 26)
        rng = np.random.default_rng(check_integer("seed", seed, 0))
        values = np.empty(len(positions), np.float32)
        value_positions(evaluator_of(self), positions, len(positions), values, rng)
        return values


def evaluator_of(player):
    """Return the kind and the weights of a player, or raise ValueError for weights of other shapes.

    Kernels would read beyond them.
    """
    inputs = player.inputs_
    output = player.output_
    if player.kind == NET:
        width = max(len(output) - 1, 1)
        if inputs.shape != (N_INPUTS + 1, width) or output.ndim != 1:
            allowed = f"({N_INPUTS + 1}, max(n_hidden, 1)) and (n_hidden + 1,)"
            raise ValueError(
                f"inputs_ and output_ must have shapes {allowed}; "
                f"got {inputs.shape} and {output.shape}"
            )
    return Evaluator(kind=player.kind, inputs=inputs, output=output)


class RandomPlayer(Player):
    """Makes any move with the same probability."""

    kind = RANDOM


class RulePlayer(Player):
    """Runs, makes points and covers blots: a sum of three numbers that a beginner would look at.

    The lead in the race, in pips; 3 for each point that it holds from its four-point to its bar
    point, the seventh; and minus 6 for each blot that a man of the other has still to pass. It has
    not been tuned.
    """

    kind = RULES


class ValueNet(Player):
    """A network 196-h-1 of sigmoid units that says how probably the one who has just moved wins.

    Each point has four inputs a side: at least one, two, three men, and half of the men beyond
    three. The bar has one, half of the men there, and so have those off the board, 1/15 of them.

    Parameters
    ----------
    n_hidden : int, at least 0
        Hidden units; without any the inputs meet the output directly.
    random_state : int, at least 0
        Seed of the first weights, which are uniform on (-0.1, 0.1).

    Attributes
    ----------
    inputs_ : ndarray of shape (197, max(n_hidden, 1)), float32
        Weights from the inputs to the hidden units; the last row has the thresholds.
    output_ : ndarray of shape (n_hidden + 1,), float32
        Weights to the output; the last is its threshold, not used without hidden units.

    References
    ----------
    Tesauro (1992, 1995); the inputs are those of the first program without whose turn it is.
    """

    kind = NET

    def __init__(self, n_hidden=40, random_state=0):
        self.n_hidden = check_integer("n_hidden", n_hidden, 0)
        self.random_state = check_integer("random_state", random_state, 0)
        rng = np.random.default_rng(random_state)
        width = max(n_hidden, 1)
        self.inputs_ = rng.uniform(-SPREAD, SPREAD, (N_INPUTS + 1, width)).astype(np.float32)
        self.output_ = rng.uniform(-SPREAD, SPREAD, n_hidden + 1).astype(np.float32)


@compiled()
def _rule_value(own, opponent):
    """Value a position as `RulePlayer` does."""
    value = 0
    opponent_rear = 0  # where its last man stands, as it counts
    for place in range(BAR + 1):
        value += place * (opponent[place] - own[place])  # the lead in the race
        if opponent[place] > 0:
            opponent_rear = place
    for place in range(1, BAR):
        if own[place] > 1 and 4 <= place <= 7:
            value += POINT
        if own[place] == 1 and BAR - place < opponent_rear:
            value -= BLOT
    return value


@compiled()
def value_positions(evaluator, positions, n, values, rng):
    """Put the values of the first `n` positions, as a player sees them, into `values`."""
    if evaluator.kind == NET:
        net_values(positions, n, evaluator.inputs, evaluator.output, values)
    elif evaluator.kind == RANDOM:
        for i in range(n):
            values[i] = rng.random()
    else:
        for i in range(n):
            values[i] = _rule_value(positions[i, 0], positions[i, 1])
