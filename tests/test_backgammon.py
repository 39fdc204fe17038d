"""Backgammon: moves against an enumeration, endings by hand, the network by its equations, learning step by step."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def place(**men):
    """A position: own and other's men as {place: number}; the rest are off the board."""
    position = np.zeros((2, 26), int)
    for row, name in enumerate(("own", "other")):
        for where, number in men[name].items():
            position[row, where] = number
        position[row, 0] += 15 - position[row].sum()
    return position


def plays(position, dice):
    """Every sequence of steps with the dice in this order: (steps made, last position) of each."""
    own, other = position
    rear = max((p for p in range(26) if own[p]), default=0)
    for p in range(1, 26) if dice else ():
        to = p - dice[0]
        allowed = own[p] and (p == 25 or not own[25]) and (to < 1 or other[25 - to] < 2)
        if allowed and (to > 0 or rear <= 6 and (to == 0 or p == rear)):
            after = position.copy()
            after[0, p] -= 1
            after[0, max(to, 0)] += 1
            if to > 0 and other[25 - to]:
                after[1, [25 - to, 25]] += [-1, 1]
            yield 1, dice[0], after
            yield from ((n + 1, max(die, dice[0]), last) for n, die, last in plays(after, dice[1:]))


def enumerated(position, dice):
    """Positions after a throw by the rules as they are written: most dice, then the larger die."""
    orders = [dice * 2] if dice[0] == dice[1] else [dice, dice[::-1]]
    made = [play for order in orders for play in plays(position, order)] or [(0, 0, position)]
    most = max(n for n, _, _ in made)
    largest = max(die for n, die, _ in made if n == most)
    return {last.astype(np.int8).tobytes() for n, die, last in made if n == most and die == largest}


def found(position, dice):
    after = successors(*position, dice)
    assert after.dtype == np.int8
    assert len({one.tobytes() for one in after}) == len(after)
    return {one.tobytes() for one in after}


@st.composite
def positions(draw, most=15):
    """Men of both sides on places that the other has not taken, near home or anywhere."""
    position, reach = np.zeros((2, 26), int), draw(st.sampled_from([6, 12, 25]))
    for row in range(2):
        n = draw(st.integers(1, most))
        for where in draw(st.lists(st.integers(1, reach), min_size=n, max_size=n)):
            position[row, where if where == 25 or not position[1 - row, 25 - where] else 0] += 1
        position[row, 0] = 15 - position[row, 1:].sum()
    return position if min(position[:, 0]) < 15 else START.astype(int)


@settings(max_examples=40, deadline=None)
@given(positions(), st.sampled_from([dice for dice in DICE if dice[0] != dice[1]]))
def test_moves_are_those_of_an_enumeration(position, dice):
    assert found(position, dice) == enumerated(position, dice) == found(position, dice[::-1])


@settings(max_examples=30, deadline=None)
@given(positions(most=4), st.integers(1, 6))
def test_doubles_are_those_of_an_enumeration(position, die):
    assert found(position, (die, die)) == enumerated(position, (die, die))


@pytest.mark.parametrize("dice", DICE)
def test_openings(dice):
    assert found(START, dice) == enumerated(START, dice)


@settings(max_examples=40, deadline=None)
@given(positions(), st.sampled_from(DICE))
def test_what_no_move_changes(position, dice):
    total = sum(dice) * (2 if dice[0] == dice[1] else 1)
    for after in successors(*position, dice).astype(int):
        assert (after.sum(axis=1) == 15).all()
        assert not (after[0, 1:25] * after[1, 24:0:-1]).any()
        assert 0 <= (position[0] - after[0]) @ np.arange(26) <= total
        assert (after[1, :25] <= position[1, :25]).all()
        assert after[1, 25] >= position[1, 25]


@pytest.mark.parametrize(
    ("own", "other", "dice", "after"),
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
def test_moves_by_hand(own, other, dice, after):
    expected = {place(own=men, other=other).astype(np.int8).tobytes() for men in after}
    assert found(place(own=own, other=other), dice) == expected


@pytest.mark.parametrize(
    ("own", "opponent", "dice", "error"),
    [
        (
            START[0],
            START[1] * 2,
            (1, 2),
            r"opponent must be 15 men in all, at least 0 at each place; got \[0, 0, 0, 0, 0, 0, 10,",
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
def test_wrong_positions_are_named(own, opponent, dice, error):
    with pytest.raises(ValueError, match=error):
        successors(own, opponent, dice)


@pytest.mark.parametrize(
    ("other", "score"), [({2: 3, 24: 3}, 1), ({6: 15}, 2), ({19: 1, 2: 14}, 3), ({25: 15}, 3)]
)
def test_scores(other, score):
    assert playing._score(place(own={}, other=other)) == score


def inputs(position):
    """The 196 inputs as the first program had them, side by side."""
    sides = []
    for men in position.astype(float):
        points = [(n >= 1, n >= 2, n >= 3, max(n - 3, 0) / 2) for n in men[1:25]]
        sides.append([men[0] / 15, *np.ravel(points), men[25] / 2])
    return np.concatenate(sides)


def output(net, position, weights=None):
    """The net's value by its equations, in double precision."""
    first, second = (net.inputs_, net.output_) if weights is None else weights
    sums = inputs(position) @ first[:-1].astype(float) + first[-1]
    total = sums[0] if net.n_hidden == 0 else second[:-1] @ (1 / (1 + np.exp(-sums))) + second[-1]
    return 1 / (1 + np.exp(-total))


def differences(net, position):
    """Its gradient by central differences: of the inputs' weights, then of the output's."""
    gradient = []
    for k in range(2):
        weights = [net.inputs_.astype(float), net.output_.astype(float)]
        slope = np.zeros_like(weights[k])
        for i in np.ndindex(slope.shape):
            ends = []
            for change in (1e-4, -2e-4):
                weights[k][i] += change
                ends.append(output(net, position, weights))
            weights[k][i] += 1e-4
            slope[i] = (ends[0] - ends[1]) / 2e-4
        gradient.append(slope)
    return gradient


def gradient(net, position):
    """The same by the chain rule."""
    x, value = np.append(inputs(position), 1.0), output(net, position)
    slope = value * (1 - value)
    if net.n_hidden == 0:
        return [slope * x[:, None], np.zeros_like(net.output_)]
    units = 1 / (1 + np.exp(-x @ net.inputs_))
    return [
        np.outer(x, slope * net.output_[:-1] * units * (1 - units)),
        slope * np.append(units, 1.0),
    ]


@pytest.mark.parametrize("n_hidden", [0, 1, 5])
def test_values_and_gradients_are_those_of_the_equations(n_hidden):
    net = ValueNet(n_hidden, random_state=1)
    net.inputs_ *= 5
    after = successors(*START, (6, 1))
    np.testing.assert_allclose(net.values(after), [output(net, one) for one in after], rtol=1e-5)
    traces = np.zeros_like(net.inputs_), np.zeros_like(net.output_)
    add_gradient(after[3], net.inputs_, net.output_, *traces)
    first, second = differences(net, after[3])
    np.testing.assert_allclose(traces[0], first, atol=1e-6)
    if n_hidden:
        np.testing.assert_allclose(traces[1], second, atol=1e-6)
    for ruled, measured in zip(gradient(net, after[3]), (first, second), strict=True):
        np.testing.assert_allclose(ruled, measured, atol=1e-6)


@pytest.mark.parametrize("n_hidden", [0, 2])
def test_learning_is_td_lambda(n_hidden):
    """A game is followed move by move: all states' values are of one side, each change is step * error * trace."""
    step, decay, rng = 1.0, 0.6, np.random.default_rng(4)
    net, truth = (ValueNet(n_hidden, random_state=3) for _ in range(2))
    truth.inputs_, truth.output_ = truth.inputs_.astype(float), truth.output_.astype(float)
    position, side, before = START.copy(), 1, None
    traces = [np.zeros_like(truth.inputs_), np.zeros_like(truth.output_)]
    dice = playing._throw(rng, True)
    while True:
        after = successors(*position, dice)
        values = [1.0 if one[0, 0] == 15 else output(truth, one) for one in after]
        best = after[int(np.argmax(values))]
        # probability that the first player wins
        now = max(values) if side == 1 else 1 - max(values)
        if before is not None:
            truth.inputs_ += step * (now - before) * traces[0]
            truth.output_ += step * (now - before) * traces[1]
        if best[0, 0] == 15:
            break
        slopes = gradient(truth, best)
        traces = [decay * trace + side * slope for trace, slope in zip(traces, slopes, strict=True)]
        before = output(truth, best) if side == 1 else 1 - output(truth, best)
        position, side, dice = best[::-1], -side, playing._throw(rng, False)
    learned = self_play(net, 1, step=step, trace_decay=decay, seed=4)
    np.testing.assert_allclose(learned.inputs_, truth.inputs_, atol=2e-5)
    if n_hidden:
        np.testing.assert_allclose(learned.output_, truth.output_, atol=2e-5)
    assert np.ptp(learned.inputs_ - net.inputs_) > 5e-3


def test_a_net_learns_to_win():
    before, net = ValueNet(10), self_play(ValueNet(10), 2000, seed=0)
    assert (match(net, RandomPlayer(), 300, seed=1) > 0).mean() > 0.9
    assert (match(net, before, 300, seed=1) > 0).mean() > 0.9
    assert match(RulePlayer(), RandomPlayer(), 300).mean() > 1.5
    np.testing.assert_array_equal(
        self_play(pickle.loads(pickle.dumps(net)), 5).inputs_, self_play(net, 5).inputs_
    )


def test_a_match_is_fair_and_its_seed_decides():
    points = match(RulePlayer(), RulePlayer(), 2000, seed=5)
    assert abs(points.mean()) < 4 * points.std() / 2000**0.5
    assert set(np.unique(np.abs(points))) == {1, 2, 3}
    np.testing.assert_array_equal(points[:100], match(RulePlayer(), RulePlayer(), 100, seed=5))
    assert (points[:100] != match(RulePlayer(), RulePlayer(), 100, seed=6)).any()


def test_random_moves_are_uniform():
    after = successors(*START, (2, 1))
    best = [RandomPlayer().values(after, seed=seed).argmax() for seed in range(40 * len(after))]
    counts = np.bincount(best, minlength=len(after))
    assert ((counts - 40) ** 2 / 40).sum() < len(after) + 5 * (2 * len(after)) ** 0.5


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
    net = ValueNet(3)
    net.inputs_, net.output_ = (np.ones(shape, np.float32) for shape in shapes)
    for use in (lambda: net.values([START]), lambda: match(net, net, 1), lambda: self_play(net, 1)):
        with pytest.raises(ValueError, match="inputs_ and output_ must have shapes"):
            use()
