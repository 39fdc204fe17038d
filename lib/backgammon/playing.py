"""Games: matches of two players, and TD(lambda) from games of a network against itself."""

import copy

import numpy as np

from lib.backgammon.net import add_gradient, net_values
from lib.backgammon.players import Player, ValueNet, evaluator_of, value_positions
from lib.backgammon.rules import (
    BAR,
    HOME,
    MAX_SUCCESSORS,
    MEN,
    OFF,
    START,
    copy_position,
    list_successors,
)
from lib.base.compiled import compiled
from lib.base.validation import check_integer, check_real


def match(a, b, n_games, seed=0):
    """Play games of two players, who each throw one die for the first move.

    Parameters
    ----------
    a, b : Player
    n_games : int, at least 1
    seed : int, at least 0
        Of all dice, and of players with random moves.

    Returns
    -------
    ndarray of shape (n_games,), int
        Score of `a`: 1 for a game, 2 for a gammon (the loser has no man off), 3 for a backgammon
        (nor all men out of the winner's home), negative where `b` has won.
    """
    for name, player in (("a", a), ("b", b)):
        if not isinstance(player, Player) or not hasattr(player, "kind"):
            raise ValueError(f"{name} must be a Player, such as RandomPlayer(); got {player!r}")
    n_games = check_integer("n_games", n_games, 1)
    seed = check_integer("seed", seed, 0)
    return _match(evaluator_of(a), evaluator_of(b), n_games, np.random.default_rng(seed))


def self_play(net, n_games, step=0.1, trace_decay=0.7, seed=0):
    """Learn by TD(lambda) from games that a network plays against itself (section 4.3).

    It moves to the position that it values most: there is no exploration but that of the dice.

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
    n_games = check_integer("n_games", n_games, 0)
    seed = check_integer("seed", seed, 0)
    alpha = check_real("step", step, 0, open_low=True)
    trace_decay = check_real("trace_decay", trace_decay, 0, 1)
    if alpha > float(np.finfo(np.float32).max):
        raise ValueError(f"step must be a number that float32 can hold; got {step!r}")
    net = copy.deepcopy(net)
    weights = evaluator_of(net)
    _learn(
        weights.inputs,
        weights.output,
        n_games,
        np.float32(alpha),
        np.float32(trace_decay),
        np.random.default_rng(seed),
    )
    return net


@compiled()
def _throw(rng, unlike):
    """Throw two dice: unlike ones for the first move, as they decide who makes it."""
    first = int(6 * rng.random())
    u = rng.random()
    second = (first + 1 + int(5 * u)) % 6 if unlike else int(6 * u)
    return first + 1, second + 1


@compiled()
def _score(position):
    """Return the score of the one who has just borne off the last man."""
    if position[1, OFF] > 0:
        return 1
    # men on the bar and in the winner's home, which is the loser's places from 19 on
    is_backgammon = position[1, BAR - HOME :].max() > 0
    return 3 if is_backgammon else 2


@compiled()
def _match(a, b, n_games, rng):
    """Play games of two evaluators, and return the score of `a` in each."""
    successors = np.empty((MAX_SUCCESSORS, 2, 26), np.int8)
    last_places = np.empty(MAX_SUCCESSORS, np.int8)
    values = np.empty(MAX_SUCCESSORS, np.float32)
    position = np.empty((2, 26), np.int8)
    scores = np.zeros(n_games, np.int64)
    for game in range(n_games):
        copy_position(START, position, 0)
        first, second = _throw(rng, True)
        sign = 1 if first > second else -1  # of the one to move
        while scores[game] == 0:
            n = list_successors(position, first, second, successors, last_places)
            player = a if sign > 0 else b
            value_positions(player, successors, n, values, rng)
            best = successors[values[:n].argmax()]
            if best[0, OFF] == MEN:
                scores[game] = sign * _score(best)
            copy_position(best, position, 1)
            sign = -sign
            first, second = _throw(rng, False)
    return scores


@compiled()
def _move_weights(weights, trace, change, decay):
    """Change weights along their trace, which decays."""
    for i in range(weights.shape[0]):
        weights[i] += change * trace[i]
        trace[i] *= decay


@compiled()
def _learn(inputs, output, n_games, step, trace_decay, rng):
    """Learn the weights of a network from games against itself, by the loop of Table 8."""
    successors = np.empty((MAX_SUCCESSORS, 2, 26), np.int8)
    last_places = np.empty(MAX_SUCCESSORS, np.int8)
    values = np.empty(MAX_SUCCESSORS, np.float32)
    position = np.empty((2, 26), np.int8)
    input_trace = np.zeros_like(inputs)
    output_trace = np.zeros_like(output)
    flat_inputs = inputs.reshape(-1)
    flat_input_trace = input_trace.reshape(-1)
    for _ in range(n_games):
        copy_position(START, position, 0)
        first, second = _throw(rng, True)
        input_trace[:] = 0
        output_trace[:] = 0
        value = np.float32(0)  # of the position after the last move, to the one who has made it
        is_won = False
        while not is_won:
            n = list_successors(position, first, second, successors, last_places)
            net_values(successors, n, inputs, output, values)
            best = values[:n].argmax()
            # The value of the best successor is the next to move's, so that 1 minus it is left to
            # the one who moved before: the error of `value`. The trace changes its sign with the
            # side: the gain of the next to move is this one's loss.
            td_error = 1 - values[best] - value
            change = np.float32(step * td_error)
            _move_weights(flat_inputs, flat_input_trace, change, -trace_decay)
            _move_weights(output, output_trace, change, -trace_decay)
            is_won = successors[best, 0, OFF] == MEN
            value = add_gradient(successors[best], inputs, output, input_trace, output_trace)
            copy_position(successors[best], position, 1)
            first, second = _throw(rng, False)
