"""Decisions: closed forms, all policies enumerated, gymnasium, limits of learners, bad input."""

from fractions import Fraction
from itertools import product

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from lib import decisions
from lib.decisions import (
    MDP,
    evaluate,
    grid_world,
    mountain_roads,
    policy_iteration,
    random_mdp,
    value_iteration,
)
from lib.trials.source_key import describe

LAKE = decisions.from_gymnasium("FrozenLake-v1")


def walk(n=7):
    """Sutton's random walk: 0.5 is the expected reward of the last state but one."""
    places = np.arange(n)
    transitions = (np.eye(n, k=1) + np.eye(n, k=-1)) / 2
    rewards = 0.5 * (places == n - 2)
    terminal = np.isin(places, [0, n - 1])
    return MDP(transitions[None], rewards[None], terminal, places == n // 2)


def test_the_survey_s_backup():
    """Figure 7 by equation 2, 0.1 * 2 + 0.8 * 10 + 0.1 * 5 = 8.7; the survey prints another sum."""
    transitions = np.zeros((1, 4, 4))
    transitions[0, 0, 1:] = 0.8, 0.1, 0.1
    model = MDP(transitions, [[0.1 * 2, 0, 0, 0]], np.arange(4) > 0)
    assert decisions.backup(model, [0, 10, 5, 0], 1.0, np.zeros(4, int))[0] == pytest.approx(8.7)
    assert (decisions.backup(model, [7, 10, 5, 3], 1.0) == [8.7 + 0.3, 10, 5, 3]).all()


def test_values_in_closed_form():
    # Sutton (1988): the chance of ending on the right is linear in the place
    expected = [0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 0]
    assert np.allclose(evaluate(walk(), np.zeros(7, int), 1), expected, atol=1e-14)
    # the chance to cross the lake is known to be 14/17
    assert value_iteration(LAKE, 1.0, 1e-12).values[0] == pytest.approx(14 / 17, abs=1e-9)
    # thirteen steps of reward -1
    cliff = decisions.from_gymnasium("CliffWalking-v1")
    assert policy_iteration(cliff, 0.9).values[36] == pytest.approx(-(1 - 0.9**13) / 0.1)
    # six steps on the northern road, four on the southern one
    model = mountain_roads(6, 4)
    solution = policy_iteration(model, 1.0)
    assert solution.values.tolist() == [-4, -5, -4, -3, -2, -1, -3, -2, -1, 0]
    assert solution.policy[0] == 1
    assert evaluate(model, np.zeros(10, int), 1)[0] == -6


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.floats(0, 0.99), st.integers(0, 10**6))
def test_all_ways_find_the_best_of_all_policies(n_states, n_actions, discount, seed):
    rng = np.random.default_rng(seed)
    model = random_mdp(n_states, n_actions, int(rng.integers(1, n_states + 1)), rng)
    policies = product(range(n_actions), repeat=n_states)
    best = np.max([evaluate(model, np.array(p), discount) for p in policies], axis=0)
    solutions = [
        policy_iteration(model, discount),
        value_iteration(model, discount),
        decisions.modified_policy_iteration(model, discount, 1, 1e-14),
        decisions.modified_policy_iteration(model, discount, 20, 1e-14),
    ]
    for solution in solutions:
        assert np.allclose(solution.values, best, atol=1e-9)
        assert np.allclose(evaluate(model, solution.policy, discount), best, atol=1e-9)
        # Bellman's equation
        backup = decisions.backup(model, solution.values, discount)
        assert solution.values == pytest.approx(backup, abs=1e-9)


@pytest.mark.parametrize("discount", [0.9, 0.999])
def test_policy_iteration_ends_where_actions_tie(discount):
    rng = np.random.default_rng(0)
    for _ in range(10):
        solution = policy_iteration(LAKE, discount, rng.integers(4, size=16))
        assert solution.trace[-1] == 0
        assert len(solution.trace) < 16
    assert np.allclose(solution.values, value_iteration(LAKE, discount).values, atol=1e-12)


def exact_values(model, policy, discount):
    """Values of a policy as fractions: (I - discount P) v = R by Gauss and Jordan."""
    n = model.n_states
    discount = Fraction(discount)
    rows = []
    for i, action in enumerate(policy):
        probabilities = [Fraction(p) for p in model.transitions[action, i].tolist()]
        coefficients = [(i == j) - discount * p for j, p in enumerate(probabilities)]
        rows.append([*coefficients, Fraction(float(model.rewards[action, i]))])
    for i in range(n):
        rows[i] = [x / rows[i][i] for x in rows[i]]  # diagonally dominant: no pivot is 0
        for j in set(range(n)) - {i}:
            rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[n] for row in rows]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.9, 0.95]), st.booleans())
def test_the_best_of_all_policies_whatever_the_scale_of_rewards(seed, discount, mixed):
    """The loss, in exact numbers, is at most the rounding of the sum of absolute rewards."""
    rng = np.random.default_rng(seed)
    model = random_mdp(3, 2, int(rng.integers(1, 4)), rng)
    scale = 10 ** rng.uniform(-12, 12, size=model.rewards.shape if mixed else ())
    model = MDP(model.transitions, model.rewards * scale, model.terminal)
    absolute = MDP(model.transitions, np.abs(model.rewards), model.terminal)
    values = {
        policy: exact_values(model, policy, discount) for policy in product(range(2), repeat=3)
    }
    best = np.max([*values.values()], axis=0)
    for solution in (
        policy_iteration(model, discount),
        decisions.modified_policy_iteration(model, discount, 20, 0, 2000),
    ):
        policy = tuple(solution.policy.tolist())
        sizes = exact_values(absolute, policy, discount)
        for best_value, value, size in zip(best, values[policy], sizes, strict=True):
            assert best_value - value <= 1e-12 * size


@pytest.mark.parametrize(
    "solve", [policy_iteration, value_iteration, decisions.modified_policy_iteration]
)
def test_ties_are_of_a_state_and_not_of_the_largest_number(solve):
    stay = [np.eye(3)] * 2
    small = MDP(stay, np.array([[0, 1, 0], [1, 0, 1]]) * 1e-11, np.zeros(3, bool))
    assert solve(small, 0.9).policy.tolist() == [1, 0, 1]
    # states 0 and 2 do not see the large reward of state 1
    uneven = MDP(stay, [[1e-6, 1e5, 1e-6], [2e-6, 0, 1e-6]], np.zeros(3, bool))
    assert solve(uneven, 0.9).policy.tolist() == [1, 0, 0]


def test_policy_iteration_ends_where_rounding_alone_tells_actions_apart():
    """All actions of a state have the same probabilities, added up in different orders."""
    rng = np.random.default_rng(0)
    for discount in (0.9, 0.9999):
        distributions = rng.dirichlet(np.ones(4), size=(30, 12))
        transitions = np.zeros((5, 30, 30))
        for state, summand in np.ndindex(30, 12):
            for action in range(5):
                order = rng.permutation(4)
                next_states = (7 * state + 5 * order) % 30
                probabilities = distributions[state, summand][order] / 12
                np.add.at(transitions[action, state], next_states, probabilities)
        rewards_of_states = 1e9 * rng.normal(size=30)
        rewards = rewards_of_states * (1 + 1e-16 * rng.normal(size=(5, 30)))
        model = MDP(transitions, rewards, np.zeros(30, bool))
        for _ in range(5):
            assert policy_iteration(model, discount, rng.integers(5, size=30)).trace.tolist() == [0]


def loop_or_end(loop, end):
    """One state, in which action 0 stays and action 1 ends, with these rewards."""
    stay = [[1, 0], [0, 1]]
    leave = [[0, 1], [0, 1]]
    return MDP([stay, leave], [[loop, 0], [end, 0]], [False, True])


SOLVERS = (policy_iteration, value_iteration, decisions.modified_policy_iteration)


@pytest.mark.parametrize("solve", SOLVERS)
def test_policies_end_where_there_is_no_discount(solve):
    cliff = decisions.from_gymnasium("CliffWalking-v1")
    grid = grid_world(6, 6, 0.2, np.random.default_rng(0))
    for model in (cliff, grid, LAKE, mountain_roads(3, 2), decisions.from_gymnasium("Taxi-v4")):
        solution = solve(model, 1.0)
        assert np.allclose(evaluate(model, solution.policy, 1.0), solution.values, atol=1e-9)
        backup = decisions.backup(model, solution.values, 1.0)
        assert solution.values == pytest.approx(backup, abs=1e-9)
    assert solve(cliff, 1.0).values[36] == -13
    for loop, end in ((0, 5), (0, 1e-13), (-1, -3), (-1e-13, -3e-13)):
        solution = solve(loop_or_end(loop, end), 1.0)
        assert (solution.policy[0], solution.values[0]) == (1, end)


@pytest.mark.parametrize("solve", SOLVERS)
def test_no_policy_that_loops_is_returned(solve):
    nowhere = MDP([[[1, 0, 0], [0, 0, 1], [0, 0, 1]]], [[0, 1, 0]], [False, False, True])
    with pytest.raises(
        ValueError, match="discount must be below 1 where no policy ends from state 0"
    ):
        solve(nowhere, 1.0)
    if solve is not policy_iteration:
        with pytest.raises(
            ValueError,
            match="where no best policy ends from state 0; got 1: policy_iteration finds",
        ):
            solve(loop_or_end(0, -1), 1.0)


def test_policy_iteration_finds_the_best_that_ends_or_says_that_a_loop_pays():
    assert policy_iteration(loop_or_end(0, -1), 1.0).values[0] == -1
    with pytest.raises(ValueError, match="never ends from state 0; got 1: there a loop pays"):
        policy_iteration(loop_or_end(1, 5), 1.0)
    with pytest.raises(
        ValueError, match="never ends from state 0; got 1: give policy= one that ends"
    ):
        policy_iteration(loop_or_end(0, 5), 1.0, [0, 0])


def test_a_grid_by_hand():
    """On 2 x 2 cells: east from the first, which slips north (a collision) or south."""
    model = grid_world(2, 2, 0.0, np.random.default_rng(0))
    assert model.transitions[1, 0].tolist() == pytest.approx([0.1, 0.8, 0.1, 0])
    assert model.rewards[:, 0] == pytest.approx([-0.09, -0.01, -0.01, -0.09])
    assert model.rewards[2, 1] == pytest.approx(0.8 - 0.01)
    assert model.terminal.tolist() == [False, False, False, True]
    # no move leads into a wall, and the goal can be reached from everywhere else
    grid = grid_world(6, 5, 0.3, np.random.default_rng(1))
    free = ~grid.terminal
    walls = grid.terminal[:-1]
    assert walls.any()
    assert not grid.transitions[:, free][..., :-1][..., walls].any()
    policy = policy_iteration(grid, 0.99).policy
    assert (evaluate(grid, policy, 1)[free] > -1).all()


def test_models_are_what_they_say():
    noisy = mountain_roads(3, 2, noise=0.4, turn_back=False)
    assert noisy.transitions[0, 0].tolist() == [0, 0.8, 0, 0.2, 0]
    assert (noisy.transitions[0, 1:] == noisy.transitions[1, 1:]).all()
    garnet = random_mdp(20, 3, 4, np.random.default_rng(0))
    assert ((garnet.transitions > 0).sum(axis=2) == 4).all()
    absorbing = MDP(np.full((1, 2, 2), np.nan), np.ones((1, 2)), [True, True])
    assert (absorbing.transitions[0] == np.eye(2)).all()
    assert describe(garnet) != describe(absorbing)


class Environment(gymnasium.Env):
    """An environment of a table of transitions."""

    def __init__(self, P, start):
        self.P = P
        self.initial_state_distrib = np.array(start)


gymnasium.register("Table-v0", Environment, disable_env_checker=True)


def plain_values(P, discount):
    """Value iteration on gymnasium's table: nothing follows a transition that ends the episode."""
    values = dict.fromkeys(P, 0.0)
    for _ in range(200):
        values = {
            state: max(
                sum(p * (reward + discount * values[s] * (not ends)) for p, s, reward, ends in row)
                for row in rows.values()
            )
            for state, rows in P.items()
        }
    return [*values.values()]


STOP = {  # an action that ends where it stands, and one that goes on anywhere
    s: {0: [(1.0, s, float(s), True)], 1: [(0.25, t, -0.1, False) for t in range(4)]}
    for s in range(4)
}
# state 1 is entered both ways, 2 only at the end
BOTH_WAYS = {
    0: {0: [(0.5, 1, 1.0, True), (0.5, 1, 0.0, False)], 1: [(1.0, 0, 0.2, False)]},
    1: {0: [(0.5, 2, 3.0, True), (0.5, 0, 0.0, False)], 1: [(1.0, 1, -1.0, True)]},
    2: {0: [(1.0, 0, 9.0, False)], 1: [(1.0, 2, 9.0, True)]},
}


@pytest.mark.parametrize("solve", [policy_iteration, value_iteration])
def test_an_end_belongs_to_a_transition(solve):
    for discount, expected in ((0.9, [1.8636, 1.8636, 2, 3, 0]), (1.0, [2.6, 2.6, 2.6, 3, 0])):
        model = decisions.from_gymnasium("Table-v0", P=STOP, start=[1.0, 0, 0, 0])
        values = solve(model, discount).values
        assert values == pytest.approx([*plain_values(STOP, discount), 0.0])
        assert values == pytest.approx(expected, abs=1e-4)
    model = decisions.from_gymnasium("Table-v0", P=BOTH_WAYS, start=[1.0, 0, 0])
    assert model.terminal.tolist() == [False, False, True, True]
    assert model.start.tolist() == [1, 0, 0, 0]
    assert solve(model, 0.9).values[:2] == pytest.approx(plain_values(BOTH_WAYS, 0.9)[:2])


@pytest.mark.parametrize(
    "name", ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"]
)
def test_tables_of_gymnasium_need_no_state_more(name):
    P = gymnasium.make(name).unwrapped.P
    model = decisions.from_gymnasium(name)
    assert model.n_states == len(P)
    values = value_iteration(model, 0.9).values
    assert values @ model.start == pytest.approx(plain_values(P, 0.9) @ model.start)


def sparse_twin(model):
    """The same process with sparse transitions."""
    blocks = [sparse.coo_array(block) for block in model.transitions]
    return MDP(blocks, model.rewards, model.terminal, model.start)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_sparse_transitions_are_those_of_a_matrix(seed, has_end):
    rng = np.random.default_rng(seed)
    dense = grid_world(4, 5, 0.2, rng) if has_end else random_mdp(15, 3, 4, rng)
    model = sparse_twin(dense)
    assert (model.matrix.toarray() == np.concatenate(dense.transitions)).all()
    for discount in (0.5, 0.95, 1.0)[: 2 + has_end]:
        for solve in (policy_iteration, value_iteration, decisions.modified_policy_iteration):
            expected = solve(dense, discount).values
            assert np.allclose(solve(model, discount).values, expected, rtol=1e-12, atol=1e-13)
    q_values = decisions.q_learning(model, 0.9, 1000)
    assert (q_values == decisions.q_learning(dense, 0.9, 1000)).all()
    learned = decisions.learn_model(model, 100)
    expected = decisions.learn_model(dense, 100).transitions
    assert (learned.matrix.toarray() == np.concatenate(expected)).all()


def test_ten_thousand_sparse_states():
    """On a grid, the goal is worth discount ** (its distance - 1); dense, it takes 3.2 GB."""
    n = 100
    row, column = np.divmod(np.arange(n**2), n)
    goal = n**2 - 1
    blocks = []
    rewards = []
    for row_step, column_step in ((-1, 0), (0, 1), (1, 0), (0, -1)):
        next_row = np.clip(row + row_step, 0, n - 1)
        next_column = np.clip(column + column_step, 0, n - 1)
        next_state = n * next_row + next_column
        blocks.append(sparse.eye_array(n**2, format="csr")[next_state])
        rewards.append(next_state == goal)
    model = MDP(blocks, rewards, np.arange(n**2) == goal)
    distance = 2 * (n - 1) - row - column
    truth = np.where(distance > 0, 0.9 ** (distance - 1), 0)
    east_then_south = np.where(column < n - 1, 1, 2)
    assert np.allclose(value_iteration(model, 0.9).values, truth, rtol=1e-12)
    assert np.allclose(evaluate(model, east_then_south, 0.9), truth, rtol=1e-12)
    assert np.allclose(policy_iteration(model, 0.9, east_then_south).values, truth, rtol=1e-12)
    solution = decisions.modified_policy_iteration(model, 0.9)
    assert np.allclose(solution.values, truth, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_sparse_equations_without_a_solution():
    """No equation where all states are terminal, and one that floating point cannot tell."""
    over = MDP([sparse.eye_array(2)], [[1.0, 1.0]], [True, True])
    assert not policy_iteration(over, 0.9).values.any()
    rare = [[1 - 2**-60, 2**-60], [0, 1]]
    model = MDP([sparse.csr_array(rare)], [[1.0, 0.0]], [False, True])
    with pytest.raises(ValueError, match="rewards must be smaller, or discount"):
        evaluate(model, [0, 0], 1.0)


def test_td_lambda_by_hand():
    """On a road that does not branch, against the three lines of Table 8."""
    n = 6
    discount = 0.9
    decay = 0.7
    step = 0.3
    places = np.arange(n)
    road = MDP(np.eye(n, k=1)[None], places[None] / 10, places == n - 1, places == 0)
    features = np.random.default_rng(0).normal(size=(n, 3))
    features[-1] = 0
    for trace, rate in (("gamma lambda", discount * decay), ("lambda", decay)):
        weights = np.zeros(3)
        t = 0
        for _ in range(4):
            G = np.zeros(3)
            for s in range(n - 1):
                G = rate * G + features[s]
                error = s / 10 + discount * features[s + 1] @ weights - features[s] @ weights
                weights = weights + step / (1 + 0.5 * t) * error * G
                t += 1
        result = decisions.td_lambda(
            road, np.zeros(n, int), discount, decay, 4, step, features, trace=trace, cooling=0.5
        )
        assert np.allclose(result, weights, atol=1e-14)


def test_the_printed_trace_is_another_lambda():
    """Sutton's trace decays by discount * lambda, 0.8 * 0.5; the survey's by lambda, here 0.4."""
    policy = np.zeros(7, int)
    sutton = decisions.td_lambda(walk(), policy, 0.8, 0.5, 20, seed=3)
    survey = decisions.td_lambda(walk(), policy, 0.8, 0.4, 20, trace="lambda", seed=3)
    assert np.allclose(sutton, survey, atol=1e-14)
    another_seed = decisions.td_lambda(walk(), policy, 0.8, 0.5, 20, seed=4)
    assert not np.allclose(sutton, another_seed)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 0.98), st.floats(0, 1), st.integers(0, 10**6))
def test_limits_of_td(discount, trace_decay, seed):
    """Exact with a table; the projection of the values for lambda = 1; within the bound in between.

    (Tsitsiklis & Van Roy 1997: error <= least error (1 - lambda discount) / (1 - discount).)
    """
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(8), size=8)
    R = rng.normal(size=8)
    values = np.linalg.solve(np.eye(8) - discount * P, R)
    D = decisions.stationary(P)
    assert np.allclose(D @ P, D)
    table = decisions.td_limit(P, R, np.eye(8), discount, discount * trace_decay)
    assert table.stable
    assert np.allclose(table.weights, values)

    features = rng.normal(size=(8, 2))
    projection = np.linalg.lstsq(features * D[:, None] ** 0.5, values * D**0.5)[0]
    assert np.allclose(decisions.td_limit(P, R, features, discount, discount).weights, projection)
    limit = decisions.td_limit(P, R, features, discount, discount * trace_decay).weights
    error = (D @ (features @ limit - values) ** 2) ** 0.5
    least_error = (D @ (features @ projection - values) ** 2) ** 0.5
    bound = least_error * (1 - trace_decay * discount) / (1 - discount)
    assert error <= bound + 1e-9


def test_td_lambda_goes_to_its_limit():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5), size=5)
    R = rng.normal(size=5)
    features = rng.normal(size=(5, 2))
    chain = MDP(P[None], R[None], np.zeros(5, dtype=bool))
    limit = decisions.td_limit(P, R, features, 0.7, 0.7 * 0.6).weights
    weights = decisions.td_lambda(
        chain,
        np.zeros(5, int),
        0.7,
        0.6,
        1,
        step=0.1,
        features=features,
        cooling=1e-3,
        longest=400_000,
        seed=1,
    )
    assert np.allclose(weights, limit, atol=0.03)


def test_exploitation_stays_on_the_northern_road():
    """The southern road of 4 steps is believed to cost 20, which only exploration can correct."""
    roads = mountain_roads(6, 4, turn_back=False)
    initial = np.where(np.isin(np.arange(10), range(6, 9)), -20.0, 0.0)
    greedy = decisions.td_lookahead(roads, 1.0, 0.7, 500, values=initial)
    assert np.allclose(greedy[:6], [-6, -5, -4, -3, -2, -1], atol=0.1)
    assert (greedy[6:] == initial[6:]).all()
    exploring = decisions.td_lookahead(roads, 1.0, 0.7, 2000, 0.1, initial, seed=1)
    assert np.allclose(exploring[6:], [-3, -2, -1, 0], atol=0.01)
    assert decisions.lookahead(roads, exploring, 1.0)[:, 0].argmax() == 1


def test_q_learning_finds_q():
    best = decisions.lookahead(LAKE, policy_iteration(LAKE, 0.9).values, 0.9)
    checkpoints = decisions.q_learning(LAKE, 0.9, 300_000, checkpoints=[1000, 300_000], seed=1)
    after_1000, after_300_000 = checkpoints
    assert np.abs(after_300_000 - best).max() < 0.03 < np.abs(after_1000 - best).max()
    assert (decisions.q_learning(LAKE, 0.9, 1000, seed=1) == after_1000).all()
    assert not (decisions.q_learning(LAKE, 0.9, 1000, seed=2) == after_1000).all()
    # episodes that begin at the start, not anywhere
    roads = mountain_roads(6, 4)
    q = decisions.q_learning(roads, 1.0, 20_000, exploration=0.3, step=0.0, anywhere=False)
    best = decisions.lookahead(roads, policy_iteration(roads, 1.0).values, 1.0)
    assert np.allclose(q, best)


def test_q_learning_by_hand():
    """Two states in turn: with a step of 1 the n-th update of a state has the rate 1 / n."""
    turns = MDP([[[0, 1], [1, 0]]], [[1, 3]], [False, False], start=[0, 1])
    q = decisions.q_learning(turns, 0.5, 3, step=1.0, anywhere=False, checkpoints=[1, 2, 3])
    # the first is the target itself, R + discount max Q'; the third moves half of the way to it
    third = 3 + (3 + 0.5 * 2.5 - 3) / 2
    assert q[:, 0].tolist() == [[0, 3], [1 + 0.5 * 3, 3], [2.5, third]]


def test_a_model_is_learned_from_the_steps_of_q_learning():
    """Q with a step of 1 is the last target, so that one step tells what was tried."""
    model = decisions.learn_model(LAKE, 1, seed=3)
    q = decisions.q_learning(LAKE, 0.9, 1, seed=3)
    assert (model.transitions[:, :-1, -1] == 1).sum() == 4 * (~LAKE.terminal).sum() - 1
    assert (q == model.rewards[:, :-1]).all()

    model = decisions.learn_model(LAKE, 300_000, longest=20, seed=1)
    assert np.abs(model.transitions[:, :-1, :-1] - LAKE.transitions).max() < 0.02
    assert np.array_equal(model.rewards[:, :-1], LAKE.rewards)
    solution = policy_iteration(model, 0.9)
    best_values = policy_iteration(LAKE, 0.9).values
    assert np.allclose(decisions.evaluate(LAKE, solution.policy[:-1], 0.9), best_values)
    assert solution.values[-1] == 0


def test_a_model_in_which_nothing_is_known_has_no_value():
    """Terminal states stay, and a first step is all that there is."""
    model = decisions.learn_model(mountain_roads(6, 4), 1, anywhere=False, seed=0)
    values = policy_iteration(model, 1.0).values
    assert set(values) <= {0.0, -1.0}


def test_a_table_as_regressor_is_value_iteration():
    """Each step goes to the likeliest next state, as `fitted_values` takes deterministic steps."""
    model = random_mdp(12, 3, 2, np.random.default_rng(0))
    next_states = model.transitions.argmax(axis=2)

    def step(points, action):
        states = points[:, 0].astype(int)
        next_points = next_states[action, states][:, None]
        return model.rewards[action, states], next_points, np.zeros(len(states), dtype=bool)

    deterministic = MDP(np.eye(12)[next_states], model.rewards, model.terminal)
    solution = value_iteration(deterministic, 0.9)
    states = np.arange(12.0)[:, None]
    result = decisions.fitted_values(step, 3, KNeighborsRegressor(1), states, 0.9, 300)
    assert np.allclose(result.values, solution.values, atol=1e-9)
    assert not result.diverged


def test_tsitsiklis_and_van_roy_s_two_states_diverge():
    """Values w and 2 w; both states go to the second: least squares multiplies w by 6/5 discount.

    It diverges where that is above 1: at a discount of 0.95, not at 0.8.
    """

    def step(points, action):
        return np.full(2, 0.01), np.full((2, 1), 2.0), np.zeros(2, dtype=bool)

    lines = LinearRegression(fit_intercept=False)
    assert decisions.fitted_values(step, 1, lines, [[1.0], [2.0]], 0.95, 500).diverged
    assert not decisions.fitted_values(step, 1, lines, [[1.0], [2.0]], 0.8, 500).diverged


def line_step(points, action):
    """Action 0 goes a tenth to the right, where the line ends; action 1 goes back."""
    direction = -1 if action == 1 else 1
    next_points = np.clip(points + 0.1 * direction, 0, 1)
    return -1 - points[:, 0], next_points, next_points[:, 0] > 0.95


def test_sarsa_by_hand():
    """One action, so that no action is random: weights move by rate * error * trace.

    There are two grids of four tiles, the second one shifted by half a tile.
    """
    lengths, weights = decisions.sarsa_tiles(
        line_step, 1, lambda _: np.array([0.43]), 3, 0.8, tiles=(2, 4)
    )

    def tiles(x):
        return (0, 1), (int(4 * x), int(4 * x + 0.5))

    truth = np.zeros((2, 5))
    for _ in range(3):
        x = 0.43
        trace = np.zeros((2, 5))
        while x <= 0.95:
            trace *= 0.8
            trace[tiles(x)] = 1
            value = truth[tiles(x)].sum()
            next_x = x + 0.1
            next_value = 0 if next_x > 0.95 else truth[tiles(next_x)].sum()
            error = -1 - x + next_value - value
            truth += 0.5 / 2 * error * trace
            x = next_x
    assert lengths.tolist() == [6, 6, 6]
    assert np.allclose(weights[0], truth, atol=1e-12)


def test_sarsa_finds_the_way():
    """Initial zeros are optimistic: a greedy learner tries whatever may be better."""
    lengths, weights = decisions.sarsa_tiles(
        line_step, 2, lambda rng: rng.random(1) / 2, 150, tiles=(1, 10), seed=1
    )
    assert lengths[:5].max() > 10 >= lengths[-20:].max()
    assert (weights[0, 0, :9] > weights[1, 0, :9]).all()
    repeat_lengths, _ = decisions.sarsa_tiles(
        line_step, 2, lambda rng: rng.random(1) / 2, 150, tiles=(1, 10), seed=1
    )
    assert (repeat_lengths == lengths).all()
    lengths, _ = decisions.sarsa_tiles(
        line_step, 2, lambda _: np.zeros(1), 2, longest=3, tiles=(1, 10)
    )
    assert lengths.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: MDP(np.full((1, 2, 2), 0.4), np.zeros((1, 2)), [False, False]),
            "transitions of action 0 in state 0 must have .*; got a sum of 0.8",
        ),
        (
            lambda: MDP([[[0, 1], [1.5, -0.5]]], np.zeros((1, 2)), [False, False]),
            "transitions of action 0 in state 1 must have .*; got -0.5",
        ),
        (
            lambda: MDP([np.eye(2)], [[0, -np.inf]], [False, False]),
            "state 1, action 0: -inf. Give an action that the state does not have",
        ),
        (
            lambda: MDP([sparse.eye_array(2), sparse.eye_array(3)], [[0], [0]], [False]),
            r"transitions must have shape \(n_states, n_states\), each of them; got \[\(2, 2\), \(3",
        ),
        (
            lambda: MDP([sparse.eye_array(2) * 1j], [[0, 0]], [False, False]),
            "transitions must be an array of numbers",
        ),
        (
            lambda: MDP(sparse.eye_array(2), [[0, 0]], [False, False]),
            "transitions must be an array of numbers, or a sequence of sparse arrays",
        ),
        (
            lambda: MDP(
                [np.eye(2), sparse.csr_array([[1, 0], [0.5, 0.4]])], np.eye(2), [False] * 2
            ),
            "transitions of action 1 in state 1 must have .*; got a sum of 0.9",
        ),
        (lambda: MDP(np.eye(2), np.zeros((1, 2)), [False, False]), "transitions must have shape"),
        (lambda: MDP([np.eye(2)], [[0]], [False, False]), r"rewards must have shape \(1, 2\)"),
        (lambda: MDP([np.eye(2)], np.zeros((1, 2)), [0, 1]), "terminal must hold True and False"),
        (lambda: MDP([np.eye(2)], np.zeros((1, 2)), [True, False], [0, 0]), "start must hold"),
        (
            lambda: policy_iteration(random_mdp(3, 2, 1, np.random.default_rng(0)), 1.0),
            "discount must be below 1",
        ),
        (lambda: evaluate(mountain_roads(), np.arange(10) % 2, 1.0), "never ends from state 0"),
        (lambda: evaluate(LAKE, np.full(16, 4), 0.9), "actions from 0 to 3; state 0: 4"),
        (lambda: evaluate(LAKE, np.zeros(15, int), 0.9), "policy must have shape"),
        (lambda: decisions.backup(LAKE, np.full(16, np.nan), 0.9), "values must be 16 finite"),
        (lambda: decisions.from_gymnasium("FrozenLak-v1"), "did you mean 'FrozenLake-v1'"),
        (lambda: decisions.from_gymnasium("CartPole-v1"), "has none"),
        (
            lambda: decisions.sarsa_tiles(line_step, 2, np.zeros, 1, tiles=(8, 0)),
            "tiles must be an integer of at least 1",
        ),
        (lambda: grid_world(3, 3, 0.9, np.random.default_rng(0)), "walls must be"),
        (
            lambda: decisions.q_learning(LAKE, 0.9, 10, checkpoints=[5, 5]),
            "checkpoints must ascend",
        ),
        (
            lambda: decisions.td_lambda(LAKE, np.zeros(16, int), 0.9, 0.5, 1, features=np.eye(3)),
            "features must have",
        ),
        (
            lambda: decisions.td_lambda(LAKE, np.zeros(16, int), 0.9, 0.5, 1, trace="gama"),
            "trace must be one of",
        ),
        (lambda: MDP([["a"]], [[0]], [False]), "transitions must be an array of numbers"),
        (
            lambda: MDP([np.eye(2)], [[1j, 0]], [False, False]),
            "rewards must be an array of numbers",
        ),
        (
            lambda: MDP([np.eye(2)], np.zeros((1, 2)), [False, False], ["a", "b"]),
            "start must be an array of numbers",
        ),
        (
            lambda: decisions.td_lambda(
                LAKE, np.zeros(16, int), 0.9, 0.5, 1, features=np.full((16, 1), np.nan)
            ),
            "finite",
        ),
        (
            lambda: decisions.td_lambda(LAKE, np.zeros(16, int), 0.9, 0.5, 2**70),
            "n_episodes must be an integer from 1",
        ),
        (
            lambda: decisions.td_lookahead(LAKE, 0.9, 0.5, 1, values=np.zeros((16, 16))),
            "values must be 16 finite",
        ),
        (
            lambda: decisions.td_lookahead(LAKE, 0.9, 0.5, 1, values=np.full(16, np.inf)),
            "values must be 16 finite",
        ),
        (
            lambda: decisions.q_learning(LAKE, 0.9, 10, checkpoints=[1.7, 5]),
            "checkpoints must be an integer from 1 to 10",
        ),
        (
            lambda: decisions.q_learning(LAKE, 0.9, 10, checkpoints=[5, 11]),
            "checkpoints must be .* from 1 to 10; got 11",
        ),
        (
            lambda: decisions.q_learning(LAKE, 0.9, 10, checkpoints=[]),
            "checkpoints must be a sequence",
        ),
        (
            lambda: decisions.q_learning(LAKE, 0.9, 10, checkpoints=5),
            "checkpoints must be a sequence",
        ),
        (
            lambda: policy_iteration(MDP([np.eye(2)], [[1e308, 0]], [False] * 2), 0.9),
            "rewards must be smaller, or disc",
        ),
        (
            lambda: value_iteration(MDP([np.eye(2)], [[1e308, 0]], [False] * 2), 0.9),
            "rewards must be smaller, or disc",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [87, 182])
def test_sweeps_end_where_rounding_goes_round(seed):
    """The last digit of a value comes and goes for ever; both solvers end where values repeat."""
    rng = np.random.default_rng(seed)
    n_states = int(rng.integers(1, 5))
    n_actions = int(rng.integers(1, 4))
    n_next_states = int(rng.integers(1, n_states + 1))
    model = random_mdp(n_states, n_actions, n_next_states, rng)
    discount = rng.uniform(0, 0.99)
    best = policy_iteration(model, discount).values
    for solution in (
        value_iteration(model, discount),
        decisions.modified_policy_iteration(model, discount),
    ):
        assert len(solution.trace) < 1000
        assert np.allclose(solution.values, best, rtol=1e-14)


def test_values_that_go_round_are_told():
    """From a loop without rewards the way out promises 5, and a step later no more than 2."""
    transitions = [
        [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]],
        [[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]],
    ]
    rewards = [[0, 0, -3, 0], [5, -1, -3, 0]]
    model = MDP(transitions, rewards, np.arange(4) == 3)
    with pytest.warns(UserWarning, match="value_iteration has not ended after [0-9]+;"):
        assert value_iteration(model, 1.0).trace.size < 20
    assert policy_iteration(model, 1.0).values.tolist() == [2, 2, -3, 0]


FLIP = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"P": np.ones((2, 3))}, r"P must have shape \(n_states, n_states\); got \(2, 3\)"),
        (
            {"P": [[1, 1], [0, 1]]},
            "row 0 of P must have numbers of at least 0 that sum to 1; got a sum of 2",
        ),
        ({"P": [[1, 0], [1.5, -0.5]]}, "row 1 of P must have .*; got -0.5"),
        ({"P": [[1, 0], [np.nan, 1]]}, "row 1 of P must have .*; got nan"),
        (
            {"P": np.eye(2)},
            "P must be a chain that comes to stay in one place; got one that stays at 0 or at 1",
        ),
        ({"P": [[1.0, 1e-17], [1e-17, 1.0]]}, "P must have larger probabilities of going"),
        ({"P": "ab"}, "P must be an array of numbers"),
        ({"R": [1, np.nan]}, "R must be 2 finite numbers"),
        ({"R": [[1, 2]]}, r"R must be 2 finite numbers; got shape \(1, 2\)"),
        ({"features": [[1]]}, r"features must have shape \(2, n_features\); got \(1, 1\)"),
        (
            {"features": np.ones((2, 0))},
            r"features must have shape \(2, n_features\); got \(2, 0\)",
        ),
        ({"features": [[1], [np.inf]]}, "features must be finite; state 1, feature 0: inf"),
        ({"features": np.ones((2, 2))}, "features must be linearly independent"),
        (
            {"features": np.eye(2), "weights": [1, 0]},
            "features must be linearly independent on the states that are",
        ),
        ({"weights": [1.5, -0.5]}, "weights must be 2 finite numbers of at least 0"),
        ({"weights": [np.nan, 1]}, "weights must be 2 finite numbers"),
        ({"weights": [0, 0]}, "weights must be 2 finite numbers of at least 0, not all of them 0"),
        ({"weights": [1, 1, 1]}, "weights must be 2 finite numbers"),
        ({"discount": 1.0}, "discount must be a finite number in"),
        ({"trace": -0.1}, "trace must be a finite number in"),
    ],
)
def test_bad_chains(change, message):
    arguments = {"P": FLIP, "R": [1, 2], "features": [[1.0], [2.0]], "discount": 0.9, "trace": 0.5}
    with pytest.raises(ValueError, match=message):
        decisions.td_limit(**arguments | change)
    if set(change) == {"P"}:
        with pytest.raises(ValueError, match=message):
            decisions.stationary(change["P"])


def test_chains_that_leave_states_for_good():
    """A start that is left, and two places in turn for ever, in one of them twice as often."""
    visits = decisions.stationary([[0.2, 0.5, 0.3], [0, 0, 1], [0, 0.5, 0.5]])
    assert visits[0] == 0
    assert visits[1:] == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.filterwarnings("error")
def test_learners_that_diverge_say_so():
    """Steps that are too large for features of 30 and 60, and for traces that add up to 100."""
    loop = MDP([FLIP], [[1.0, 1.0]], [False, False])
    with pytest.warns(UserWarning, match="td_lambda has diverged; a smaller step"):
        weights = decisions.td_lambda(
            loop, [0, 0], 0.9, 0.5, 5, features=[[30.0], [60.0]], step=1.0, longest=2000
        )
    assert not np.isfinite(weights).all()
    model = random_mdp(3, 2, 3, np.random.default_rng(0))
    with pytest.warns(UserWarning, match="td_lookahead has diverged"):
        values = decisions.td_lookahead(model, 0.99, 1.0, 50)
    assert not np.isfinite(values).all()


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf])
def test_fitted_values_that_are_no_numbers_have_diverged(reward):
    def step(points, action):
        rewards = np.where(points[:, 0] > 1, reward, 0.0)
        return rewards, points, np.zeros(len(points), dtype=bool)

    result = decisions.fitted_values(step, 1, KNeighborsRegressor(1), [[1.0], [2.0]], 0.9, 50)
    assert result.diverged is True


def test_steps_of_another_shape_are_refused():
    points = np.full((2, 1), 0.5)
    zeros = np.zeros(2)
    without_ends = (zeros, points)
    three_ends = (zeros, points, np.zeros(3))
    column_of_rewards = (np.zeros((2, 1)), points, zeros)
    for result in (without_ends, three_ends, column_of_rewards, 0):
        with pytest.raises(
            ValueError, match="step must return rewards, next points and ends of shapes"
        ):
            decisions.fitted_values(lambda *_, r=result: r, 1, KNeighborsRegressor(1), points)
    for samples in ([], [1.0, 2.0], np.ones((0, 2)), [["a"]]):
        with pytest.raises(ValueError, match="samples must"):
            decisions.fitted_values(line_step, 1, KNeighborsRegressor(1), samples)


@pytest.mark.parametrize(
    ("start", "step", "message"),
    [
        (
            [1.5],
            line_step,
            r"start and step must give a point of shape \(1,\) in the unit cube; got \[1.5\]",
        ),
        ([-0.5], line_step, "in the unit cube"),
        ([np.nan], line_step, "in the unit cube; got .nan"),
        ([0.5, 0.5], line_step, r"of shape \(1,\) in the unit cube"),
        ([0.5], lambda points, _: (np.zeros(1), points + 1, [False]), "in the unit cube"),
        (
            [0.5],
            lambda points, _: (np.full(1, np.nan), points, [False]),
            "step must return finite rewards; got nan",
        ),
    ],
)
def test_sarsa_outside_the_unit_cube(start, step, message):
    with pytest.raises(ValueError, match=message):
        decisions.sarsa_tiles(step, 1, lambda _: np.array(start), 1, tiles=(2, 4))


@pytest.mark.filterwarnings("error")
def test_learners_where_all_states_are_terminal():
    over = MDP([np.eye(2)], [[1.0, 1.0]], [True, True])
    assert not decisions.q_learning(over, 0.9, 10).any()
    assert not decisions.td_lookahead(over, 1.0, 0.5, 3).any()
    assert not decisions.td_lambda(over, [0, 0], 1.0, 0.5, 3).any()


def test_a_warning_where_sweeps_run_out():
    with pytest.warns(UserWarning, match="value_iteration has not ended after 3"):
        value_iteration(LAKE, 0.99, n_sweeps=3)
