"""Backgammon: moves by enumeration, endings by hand, the network by its equations, learning."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from lib.backgammon import (
    START,
    RandomPlayer,
    RulePlayer,
    ValueNet,
    match,
    playing,
    self_play,
    successors,
)
from lib.backgammon.net import add_gradient
from lib.backgammon.players import Player

DICE = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]


def place_men(player, opponent):
    """A position from {place: number of men} of both sides; further men are off the board."""
    position = np.zeros((2, 26), int)
    for row, men in enumerate((player, opponent)):
        for place, number in men.items():
            position[row, place] = number
        position[row, 0] += 15 - position[row].sum()
    return position


class Play(NamedTuple):
    """A sequence of steps."""

    n_steps: int
    largest_die: int
    end: np.ndarray  # position


def is_legal(position, start, end):
    """Whether the player may move a man from one place to another, at which 0 or less is off."""
    player, opponent = position
    if not player[start]:
        return False
    # men on the bar enter first
    if player[25] and start != 25:
        return False
    if end > 0:
        return opponent[25 - end] < 2
    # bearing off takes all men at home, and the exact number but for the rearmost man
    rearmost = np.flatnonzero(player).max()
    return rearmost <= 6 and (end == 0 or start == rearmost)


def move_man(position, start, end):
    position = position.copy()
    position[0, start] -= 1
    position[0, max(end, 0)] += 1
    if end > 0 and position[1, 25 - end]:
        # a single man of the opponent goes to the bar
        position[1, 25 - end] -= 1
        position[1, 25] += 1
    return position


def plays(position, dice):
    """Every sequence of steps with the dice in this order."""
    if not dice:
        return
    die = dice[0]
    for start in range(1, 26):
        end = start - die
        if not is_legal(position, start, end):
            continue
        next_position = move_man(position, start, end)
        yield Play(1, die, next_position)
        for play in plays(next_position, dice[1:]):
            yield Play(play.n_steps + 1, max(play.largest_die, die), play.end)


def enumerate_moves(position, dice):
    """Positions after a throw by the rules as they are written: most dice, then the larger die."""
    orders = [dice * 2] if dice[0] == dice[1] else [dice, dice[::-1]]
    all_plays = []
    for order in orders:
        all_plays.extend(plays(position, order))
    if not all_plays:
        all_plays = [Play(0, 0, position)]
    best = max((play.n_steps, play.largest_die) for play in all_plays)
    return {
        play.end.astype(np.int8).tobytes()
        for play in all_plays
        if (play.n_steps, play.largest_die) == best
    }


def find_moves(position, dice):
    moves = successors(*position, dice)
    assert moves.dtype == np.int8
    distinct = {move.tobytes() for move in moves}
    assert len(distinct) == len(moves)
    return distinct


@st.composite
def positions(draw, most=15):
    """Men of both sides on places that the other side has not taken, near home or anywhere."""
    position = np.zeros((2, 26), int)
    reach = draw(st.sampled_from([6, 12, 25]))
    for row in range(2):
        n = draw(st.integers(1, most))
        for place in draw(st.lists(st.integers(1, reach), min_size=n, max_size=n)):
            if place == 25 or not position[1 - row, 25 - place]:
                position[row, place] += 1
        position[row, 0] = 15 - position[row, 1:].sum()
    return position if min(position[:, 0]) < 15 else START.astype(int)


@settings(max_examples=40, deadline=None)
@given(positions(), st.sampled_from([dice for dice in DICE if dice[0] != dice[1]]))
def test_moves_are_those_of_an_enumeration(position, dice):
    expected = enumerate_moves(position, dice)
    assert find_moves(position, dice) == expected
    assert find_moves(position, dice[::-1]) == expected


@settings(max_examples=30, deadline=None)
@given(positions(most=4), st.integers(1, 6))
def test_doubles_are_those_of_an_enumeration(position, die):
    assert find_moves(position, (die, die)) == enumerate_moves(position, (die, die))


@pytest.mark.parametrize("dice", DICE)
def test_openings(dice):
    assert find_moves(START, dice) == enumerate_moves(START, dice)


@settings(max_examples=40, deadline=None)
@given(positions(), st.sampled_from(DICE))
def test_what_no_move_changes(position, dice):
    """The number of men; one side a place; steps up to the throw; no opponent's man moves on."""
    total = sum(dice)
    if dice[0] == dice[1]:
        total *= 2
    for move in successors(*position, dice).astype(int):
        assert (move.sum(axis=1) == 15).all()
        assert not (move[0, 1:25] * move[1, 24:0:-1]).any()
        assert 0 <= (position[0] - move[0]) @ np.arange(26) <= total
        assert (move[1, :25] <= position[1, :25]).all()
        assert move[1, 25] >= position[1, 25]


@pytest.mark.parametrize(
    ("player", "opponent", "dice", "moves"),
    [
        ({25: 1}, {6: 2, 5: 2}, (6, 5), [{25: 1}]),  # it cannot enter
        ({25: 2}, {6: 2}, (6, 5), [{25: 1, 20: 1}]),  # one of two men enters
        ({12: 1}, {24: 2}, (6, 5), [{6: 1}]),  # either die, the larger one
        ({12: 1}, {19: 2, 24: 2}, (6, 5), [{7: 1}]),  # the smaller die only
        ({7: 1, 1: 14}, {1: 1}, (4, 2), [{1: 15}]),  # two orders, one position
        ({5: 1, 2: 1}, {1: 1}, (6, 6), [{}]),  # a larger die bears off the rearmost man
        ({7: 1, 6: 1}, {1: 1}, (6, 1), [{6: 1}, {5: 1, 1: 1}]),
    ],
)
def test_moves_by_hand(player, opponent, dice, moves):
    expected = {place_men(men, opponent).astype(np.int8).tobytes() for men in moves}
    assert find_moves(place_men(player, opponent), dice) == expected


@pytest.mark.parametrize(
    ("player", "opponent", "dice", "error"),
    [
        (
            START[0],
            START[1] * 2,
            (1, 2),
            "opponent must be 15 men in all, at least 0 at each place; "
            r"got \[0, 0, 0, 0, 0, 0, 10,",
        ),
        (
            START[0] - np.eye(26, dtype=int)[3],
            START[1],
            (1, 2),
            r"own must be 15 men in all, at least 0 at each place; got \[0, 0, 0, -1,",
        ),
        (
            np.roll(START[0], -1),
            START[1],
            (1, 2),
            r"own\[12\] and opponent\[13\] must not both be above 0",
        ),
        (START[0], START[1], (0, 7), r"dice\[0\] must be an integer from 1 to 6; got 0"),
        (START[0], START[1], (1, 2, 3), "dice must be two numbers"),
        (START[0] / 1.0, START[1], (1, 2), "position must be integers"),
    ],
)
def test_wrong_positions_are_named(player, opponent, dice, error):
    with pytest.raises(ValueError, match=error):
        successors(player, opponent, dice)


@pytest.mark.parametrize(
    ("opponent", "score"),
    [
        ({2: 3, 24: 3}, 1),  # nine men are off
        ({6: 15}, 2),  # a gammon: none is off
        ({19: 1, 2: 14}, 3),  # a backgammon: one is in the winner's home
        ({25: 15}, 3),  # or on the bar
    ],
)
def test_scores(opponent, score):
    assert playing._score(place_men({}, opponent)) == score


def inputs(position):
    """The 196 inputs as the first program had them (Tesauro 1992), one side after the other."""
    sides = []
    for men in position.astype(float):
        units = [(n >= 1, n >= 2, n >= 3, max(n - 3, 0) / 2) for n in men[1:25]]
        sides.append([men[0] / 15, *np.ravel(units), men[25] / 2])
    return np.concatenate(sides)


def output(net, position, weights=None):
    """The net's value by its equations, in double precision."""
    if weights is None:
        weights = (net.inputs_, net.output_)
    input_weights, output_weights = weights
    sums = inputs(position) @ input_weights[:-1].astype(float) + input_weights[-1]
    if net.n_hidden == 0:
        return expit(sums[0])
    return expit(output_weights[:-1] @ expit(sums) + output_weights[-1])


def numeric_gradient(net, position):
    """Its gradient by central differences: of the inputs' weights, then of the output's."""
    weights = [net.inputs_.astype(float), net.output_.astype(float)]
    slopes = []
    for array in weights:
        slope = np.zeros_like(array)
        for place in np.ndindex(slope.shape):
            weight = array[place]
            array[place] = weight + 1e-4
            higher = output(net, position, weights)
            array[place] = weight - 1e-4
            lower = output(net, position, weights)
            array[place] = weight
            slope[place] = (higher - lower) / 2e-4
        slopes.append(slope)
    return slopes


def gradient(net, position):
    """The same by the chain rule."""
    x = np.append(inputs(position), 1.0)
    value = output(net, position)
    slope = value * (1 - value)
    if net.n_hidden == 0:
        return [slope * x[:, None], np.zeros_like(net.output_)]
    units = expit(x @ net.inputs_)
    input_slope = np.outer(x, slope * net.output_[:-1] * units * (1 - units))
    output_slope = slope * np.append(units, 1.0)
    return [input_slope, output_slope]


@pytest.mark.parametrize("n_hidden", [0, 1, 5])
def test_values_and_gradients_are_those_of_the_equations(n_hidden):
    net = ValueNet(n_hidden, random_state=1)
    net.inputs_ *= 5
    moves = successors(*START, (6, 1))
    np.testing.assert_allclose(net.values(moves), [output(net, m) for m in moves], rtol=1e-5)
    position = moves[3]
    input_trace = np.zeros_like(net.inputs_)
    output_trace = np.zeros_like(net.output_)
    add_gradient(position, net.inputs_, net.output_, input_trace, output_trace)
    input_slope, output_slope = numeric_gradient(net, position)
    np.testing.assert_allclose(input_trace, input_slope, atol=1e-6)
    if n_hidden:
        np.testing.assert_allclose(output_trace, output_slope, atol=1e-6)
    # the chain rule of the next test, too
    by_chain_rule = gradient(net, position)
    np.testing.assert_allclose(by_chain_rule[0], input_slope, atol=1e-6)
    np.testing.assert_allclose(by_chain_rule[1], output_slope, atol=1e-6)


@pytest.mark.parametrize("n_hidden", [0, 2])
def test_learning_is_td_lambda(n_hidden):
    """A game move by move; each change of the weights is step * error * trace.

    All values are probabilities that the first player wins.
    """
    step = 1.0
    decay = 0.6
    net = ValueNet(n_hidden, random_state=3)
    truth = ValueNet(n_hidden, random_state=3)
    truth.inputs_ = truth.inputs_.astype(float)
    truth.output_ = truth.output_.astype(float)
    rng = np.random.default_rng(4)
    input_trace = np.zeros_like(truth.inputs_)
    output_trace = np.zeros_like(truth.output_)
    position = START.copy()
    side = 1
    previous_value = None
    dice = playing._throw(rng, True)
    while True:
        moves = successors(*position, dice)
        values = [1.0 if move[0, 0] == 15 else output(truth, move) for move in moves]
        best = moves[int(np.argmax(values))]
        value = max(values) if side == 1 else 1 - max(values)
        if previous_value is not None:
            error = value - previous_value
            truth.inputs_ += step * error * input_trace
            truth.output_ += step * error * output_trace
        if best[0, 0] == 15:
            break
        input_slope, output_slope = gradient(truth, best)
        input_trace = decay * input_trace + side * input_slope
        output_trace = decay * output_trace + side * output_slope
        # of the position with the weights as they have become
        previous_value = output(truth, best) if side == 1 else 1 - output(truth, best)
        position = best[::-1]
        side = -side
        dice = playing._throw(rng, False)
    result = self_play(net, 1, step=step, trace_decay=decay, seed=4)
    np.testing.assert_allclose(result.inputs_, truth.inputs_, atol=2e-5)
    if n_hidden:
        np.testing.assert_allclose(result.output_, truth.output_, atol=2e-5)
    assert np.ptp(result.inputs_ - net.inputs_) > 5e-3


def test_a_net_learns_to_win():
    """After 2,000 games against itself it wins nine of ten against random and initial players."""
    novice = ValueNet(10)
    net = self_play(ValueNet(10), 2000, seed=0)
    assert (match(net, RandomPlayer(), 300, seed=1) > 0).mean() > 0.9
    assert (match(net, novice, 300, seed=1) > 0).mean() > 0.9
    assert match(RulePlayer(), RandomPlayer(), 300).mean() > 1.5
    copy = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(self_play(copy, 5).inputs_, self_play(net, 5).inputs_)


def test_a_match_is_fair_and_its_seed_decides():
    scores = match(RulePlayer(), RulePlayer(), 2000, seed=5)
    standard_error = scores.std() / 2000**0.5
    assert abs(scores.mean()) < 4 * standard_error
    assert set(np.unique(np.abs(scores))) == {1, 2, 3}
    np.testing.assert_array_equal(scores[:100], match(RulePlayer(), RulePlayer(), 100, seed=5))
    assert (scores[:100] != match(RulePlayer(), RulePlayer(), 100, seed=6)).any()


def test_random_moves_are_uniform():
    """Chi squared of n moves has about the mean n and the variance 2 n."""
    moves = successors(*START, (2, 1))
    n = len(moves)
    choices = [RandomPlayer().values(moves, seed=seed).argmax() for seed in range(40 * n)]
    counts = np.bincount(choices, minlength=n)
    chi_squared = ((counts - 40) ** 2 / 40).sum()
    assert chi_squared < n + 5 * (2 * n) ** 0.5


def test_what_is_no_player_is_refused():
    with pytest.raises(ValueError, match="b must be a Player"):
        match(RandomPlayer(), "random", 1)
    with pytest.raises(ValueError, match="net must be a ValueNet"):
        self_play(RulePlayer(), 1)
    with pytest.raises(ValueError, match="trace_decay must be a finite number in"):
        self_play(ValueNet(1), 1, trace_decay=1.5)


@pytest.mark.parametrize("player", [RandomPlayer(), RulePlayer(), ValueNet(3)])
def test_no_positions_have_no_values(player):
    for positions in ([], (), np.empty((0, 2, 26), int)):
        assert player.values(positions).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ValueNet(2).values(START), "position must be integers of shape"),
        (
            lambda: ValueNet(2).values(None),
            r"positions must have shape \(n_positions, 2, 26\); got None",
        ),
        (lambda: RandomPlayer().values([START], seed=-1), "seed must be"),
        (
            lambda: successors([2**62] * 4 + [15] + [0] * 21, START[1], (1, 2)),
            "own must be 15 men in all",
        ),
        (
            lambda: self_play(ValueNet(1), 1, step=1e39),
            "step must be a number that float32 can hold; got 1e\\+39",
        ),
        (lambda: match(Player(), RulePlayer(), 1), "a must be a Player, such as"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("shapes", [((100, 3), 4), ((197, 3), 5), ((197, 2), 1), ((197,), 4)])
def test_weights_that_kernels_would_read_beyond_are_refused(shapes):
    input_shape, output_shape = shapes
    net = ValueNet(3)
    net.inputs_ = np.ones(input_shape, np.float32)
    net.output_ = np.ones(output_shape, np.float32)
    with pytest.raises(ValueError, match="inputs_ and output_ must have shapes"):
        net.values([START])
    with pytest.raises(ValueError, match="inputs_ and output_ must have shapes"):
        match(net, net, 1)
    with pytest.raises(ValueError, match="inputs_ and output_ must have shapes"):
        self_play(net, 1)
