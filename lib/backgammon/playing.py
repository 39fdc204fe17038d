"""Games: matches of two players, and TD(lambda) from games of a network against itself."""

import copy

import numpy as np

from lib.backgammon.net import add_gradient, net_values
from lib.backgammon.players import Player, ValueNet, value_all
from lib.backgammon.rules import BAR, HOME, MEN, MOST, OFF, START, list_successors
from lib.compiled import compiled
from lib.validation import check_integer, check_real


def match(a, b, n_games, seed=0):
    """Play games of two players, who each throw one die for the first move.

    Parameters
    ----------
    a, b : Player
    n_games : int, at least 1
    seed : int, at least 0
        Of all dice, and of players that draw.

    Returns
    -------
    ndarray of shape (n_games,), int
        Points of `a`: 1 for a game, 2 for a gammon (the loser has no man off), 3 for a backgammon (nor all men out of
        the winner's home), negative where `b` has won.
    """
    for name, player in (("a", a), ("b", b)):
        if not isinstance(player, Player):
            raise ValueError(f"{name} must be a Player, such as RandomPlayer(); got {player!r}")
    n_games, seed = check_integer("n_games", n_games, 1), check_integer("seed", seed, 0)
    return _match((a.kind, a.inputs_, a.output_), (b.kind, b.inputs_, b.output_), n_games, np.random.default_rng(seed))


def self_play(net, n_games, step=0.1, trace_decay=0.7, seed=0):
    """Learn by TD(lambda) from games that a network plays against itself, moving where its value is largest.

    Parameters
    ----------
    net : ValueNet
        It stays as it is.
    n_games : int, at least 0
    step : float, above 0
        The survey's alpha.
    trace_decay : float from 0 to 1
        lambda; there is no discount.
    seed : int, at least 0
        Of all dice.

    Returns
    -------
    ValueNet

    References
    ----------
    Dietterich (1997), Table 8; Tesauro (1992).
    """
    if not isinstance(net, ValueNet):
        raise ValueError(f"net must be a ValueNet; got {net!r}")
    n_games, seed = check_integer("n_games", n_games, 0), check_integer("seed", seed, 0)
    step = check_real("step", step, 0, open_low=True)
    trace_decay = check_real("trace_decay", trace_decay, 0, 1)
    net = copy.deepcopy(net)
    _learn(net.inputs_, net.output_, n_games, np.float32(step), np.float32(trace_decay), np.random.default_rng(seed))
    return net


@compiled()
def _throw(rng, unlike=False):
    first, second = rng.integers(1, 7), rng.integers(1, 7)
    while unlike and first == second:
        first, second = rng.integers(1, 7), rng.integers(1, 7)
    return first, second


@compiled()
def _points(position):
    """Points of the one who has just borne off the last man."""
    loser = position[1]
    return 1 if loser[OFF] > 0 else 2 + loser[BAR - HOME :].any()


@compiled()
def _match(a, b, n_games, rng):
    found, last = np.empty((MOST, 2, 26), np.int8), np.empty(MOST, np.int8)
    values, points = np.empty(MOST), np.empty(n_games, np.int64)
    for game in range(n_games):
        position, points[game] = START.copy(), 0
        first, second = _throw(rng, True)
        sign = 1 if first > second else -1
        while points[game] == 0:
            n = list_successors(position, first, second, found, last)
            value_all(a if sign > 0 else b, found, n, values, rng)
            best = found[values[:n].argmax()]
            if best[0, OFF] == MEN:
                points[game] = sign * _points(best)
            position[0], position[1] = best[1], best[0]
            sign = -sign
            first, second = _throw(rng)
    return points


@compiled()
def _learn(inputs, output, n_games, step, trace_decay, rng):
    found, last = np.empty((MOST, 2, 26), np.int8), np.empty(MOST, np.int8)
    values = np.empty(MOST, np.float32)
    input_trace, output_trace = np.zeros_like(inputs), np.zeros_like(output)
    for _ in range(n_games):
        position, value, won = START.copy(), np.float32(0), False
        first, second = _throw(rng, True)
        input_trace[:], output_trace[:] = 0, 0
        while not won:
            n = list_successors(position, first, second, found, last)
            net_values(found, n, inputs, output, values)
            best, error = found[values[:n].argmax()], 1 - values[:n].max() - value  # what is left to who moved before
            inputs += step * error * input_trace
            output += step * error * output_trace
            input_trace *= -trace_decay  # the gain of the next to move is this one's loss
            output_trace *= -trace_decay
            won = best[0, OFF] == MEN
            value = add_gradient(best, inputs, output, input_trace, output_trace)
            position[0], position[1] = best[1], best[0]
            first, second = _throw(rng)
