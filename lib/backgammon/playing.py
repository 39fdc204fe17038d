"""Games: matches of two players, and TD(lambda) from games of a network against itself."""

import copy

import numpy as np

from lib.backgammon.net import add_gradient, net_values
from lib.backgammon.players import Player, ValueNet, value_all, weighted
from lib.backgammon.rules import BAR, HOME, MEN, MOST, OFF, START, copy_position, list_successors
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
        Points of `a`: 1 for a game, 2 for a gammon (the loser has no man off), 3 for a backgammon
        (nor all men out of the winner's home), negative where `b` has won.
    """
    for name, player in (("a", a), ("b", b)):
        if not isinstance(player, Player) or not hasattr(player, "kind"):
            raise ValueError(f"{name} must be a Player, such as RandomPlayer(); got {player!r}")
    n_games, seed = check_integer("n_games", n_games, 1), check_integer("seed", seed, 0)
    return _match(weighted(a), weighted(b), n_games, np.random.default_rng(seed))


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
        Of all dice: the same seed gives the same games, and so the same weights.

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
    rates = check_real("step", step, 0, open_low=True), check_real("trace_decay", trace_decay, 0, 1)
    if rates[0] > float(np.finfo(np.float32).max):
        raise ValueError(f"step must be a number that float32 can hold; got {step!r}")
    net = copy.deepcopy(net)
    _, inputs, output = weighted(net)
    _learn(inputs, output, n_games, *np.float32(rates), np.random.default_rng(seed))
    return net


@compiled()
def _throw(rng, unlike):
    first, other = int(6 * rng.random()), rng.random()
    return first + 1, (first + 1 + int(5 * other)) % 6 + 1 if unlike else int(6 * other) + 1


@compiled()
def _points(position):
    """Points of the one who has just borne off the last man."""
    return 1 if position[1, OFF] > 0 else 2 + (position[1, BAR - HOME :].max() > 0)


@compiled()
def _match(a, b, n_games, rng):
    found, last, values = (
        np.empty((MOST, 2, 26), np.int8),
        np.empty(MOST, np.int8),
        np.empty(MOST, np.float32),
    )
    points, position = np.zeros(n_games, np.int64), np.empty((2, 26), np.int8)
    for game in range(n_games):
        copy_position(START, position, 0)
        first, second = _throw(rng, True)
        sign = 1 if first > second else -1
        while points[game] == 0:
            n = list_successors(position, first, second, found, last)
            value_all(a if sign > 0 else b, found, n, values, rng)
            best = found[values[:n].argmax()]
            if best[0, OFF] == MEN:
                points[game] = sign * _points(best)
            copy_position(best, position, 1)
            sign = -sign
            first, second = _throw(rng, False)
    return points


@compiled()
def _move_weights(weights, trace, change, decay):
    """Change weights along their traces, which decay."""
    for i in range(weights.shape[0]):
        weights[i] += change * trace[i]
        trace[i] *= decay


@compiled()
def _learn(inputs, output, n_games, step, trace_decay, rng):
    found, last, values = (
        np.empty((MOST, 2, 26), np.int8),
        np.empty(MOST, np.int8),
        np.empty(MOST, np.float32),
    )
    input_trace, output_trace = np.zeros_like(inputs), np.zeros_like(output)
    position, flat = np.empty((2, 26), np.int8), (inputs.reshape(-1), input_trace.reshape(-1))
    for _ in range(n_games):
        copy_position(START, position, 0)
        value, won = np.float32(0), False
        first, second = _throw(rng, True)
        input_trace[:], output_trace[:] = 0, 0
        while not won:
            n = list_successors(position, first, second, found, last)
            net_values(found, n, inputs, output, values)
            i = values[:n].argmax()
            change = np.float32(step * (1 - values[i] - value))  # what is left to who moved before
            # the gain of the next to move is this one's loss
            _move_weights(*flat, change, -trace_decay)
            _move_weights(output, output_trace, change, -trace_decay)
            won = found[i, 0, OFF] == MEN
            value = add_gradient(found[i], inputs, output, input_trace, output_trace)
            copy_position(found[i], position, 1)
            first, second = _throw(rng, False)
