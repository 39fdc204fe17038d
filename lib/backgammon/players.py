"""Players: each values positions for the one who has just moved, and moves to the position that it values most."""

import numpy as np

from lib.backgammon.net import N_INPUTS, net_values
from lib.backgammon.rules import check_position
from lib.compiled import compiled
from lib.validation import check_integer

RANDOM, RULES, NET = range(3)
POINT, BLOT, SPREAD = 3, 6, 0.1  # of the player by rules; of first weights


class Player:
    """What every player has.

    Attributes
    ----------
    inputs_, output_ : ndarray
        Weights; empty for players without any.
    """

    inputs_, output_ = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)

    def values(self, positions, seed=0):
        """How much each position is worth to the one who has just moved, whose men are in the first row.

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
        positions = np.array([check_position(position) for position in positions], np.int8).reshape(
            -1, 2, 26
        )
        values, rng = (
            np.empty(len(positions), np.float32),
            np.random.default_rng(check_integer("seed", seed, 0)),
        )
        value_all(weighted(self), positions, len(positions), values, rng)
        return values


def weighted(player):
    """Return what kernels know of a player, kind and weights; ValueError for weights that they would read beyond."""
    inputs, output = player.inputs_, player.output_
    width = max(len(output) - 1, 1)
    if player.kind == NET and (inputs.shape != (N_INPUTS + 1, width) or output.ndim != 1):
        allowed = f"({N_INPUTS + 1}, max(n_hidden, 1)) and (n_hidden + 1,)"
        raise ValueError(
            f"inputs_ and output_ must have shapes {allowed}; got {inputs.shape} and {output.shape}"
        )
    return player.kind, inputs, output


class RandomPlayer(Player):
    """Makes any move with the same probability."""

    kind = RANDOM


class RulePlayer(Player):
    """Runs, makes points and covers blots: a sum of three numbers that a beginner would look at.

    The lead in the race, in pips; 3 for each point that it holds from its 4 to its bar; and minus 6
    for each blot that a man of the other has still to pass. It has not been tuned.
    """

    kind = RULES


class ValueNet(Player):
    """A network 196-h-1 of sigmoid units whose output is the probability that the one who has just moved wins.

    Each point has four inputs a side: at least one, two, three men, and half of the men beyond
    three; the bar has half of the men there, and 1/15 of those off the board is an input, too.

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
        rng, width = np.random.default_rng(random_state), max(n_hidden, 1)
        self.inputs_ = rng.uniform(-SPREAD, SPREAD, (N_INPUTS + 1, width)).astype(np.float32)
        self.output_ = rng.uniform(-SPREAD, SPREAD, n_hidden + 1).astype(np.float32)


@compiled()
def _rule_value(own, other):
    value, rear = 0, 0
    for place in range(26):
        value += place * (other[place] - own[place])
        if other[place] > 0:
            rear = place
    for place in range(1, 25):
        value += POINT * (4 <= place <= 7 and own[place] > 1) - BLOT * (
            own[place] == 1 and 25 - place < rear
        )
    return value


@compiled()
def value_all(player, positions, n, values, rng):
    """Put what a player, a tuple of kind and weights, thinks of the first `n` positions into `values`."""
    kind, inputs, output = player
    if kind == NET:
        net_values(positions, n, inputs, output, values)
        return
    for i in range(n):
        values[i] = (
            rng.random() if kind == RANDOM else _rule_value(positions[i, 0], positions[i, 1])
        )
