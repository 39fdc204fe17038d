"""Policy iteration, backgammon's moves and self-play: rows of speed.json, of `make bench`."""

import numpy as np
import pyspiel
from mdptoolbox import mdp as mdptoolbox

from lib import decisions
from lib.backgammon import ValueNet, self_play
from lib.backgammon.rules import MAX_SUCCESSORS, list_successors
from tests.benchmarks.jobs import alone, alternate, row
from tests.benchmarks.trees import write

N_GAMES = 20
DISCOUNT = 0.9


def policies():
    """Policy iteration on two models, whose values must agree."""
    models = {
        "Taxi": decisions.from_gymnasium("Taxi-v4"),
        "a grid of 20 x 20": decisions.grid_world(20, 20, 0.2, np.random.default_rng(0)),
    }
    results = []
    for name, model in models.items():
        transitions = np.array(model.transitions)
        rewards = np.array(model.rewards.T)

        def peer(transitions=transitions, rewards=rewards):
            solver = mdptoolbox.PolicyIteration(transitions, rewards, DISCOUNT, max_iter=100)
            solver.run()
            return solver.V

        def ours(model=model):
            return decisions.policy_iteration(model, DISCOUNT).values

        if not np.allclose(peer(), ours(), atol=1e-9):
            raise AssertionError(f"values of {name} differ")
        times = alternate(ours, peer, repetitions=5)
        job = f"policy iteration, {name}; pymdptoolbox"
        results.append(row(job, times[:, 0], times[:, 1], "s", None, None))
    taxi = decisions.from_gymnasium("Taxi-v4")
    seconds = alternate(lambda: decisions.value_iteration(taxi, DISCOUNT)).min()
    return [*results, alone("value iteration, Taxi", seconds, "s", 0.01)]


def throws():
    """States of random games after each throw, as OpenSpiel has them, and as positions and dice."""
    game = pyspiel.load_game("backgammon")
    rng = np.random.default_rng(0)
    states = []
    positions = []
    for _ in range(N_GAMES):
        state = game.new_initial_state()
        is_after_throw = False
        while not state.is_terminal():
            if is_after_throw:
                states.append(state.clone())
                positions.append(position(state))
            is_after_throw = state.is_chance_node()
            if is_after_throw:
                actions = [action for action, _ in state.chance_outcomes()]
            else:
                actions = state.legal_actions()
            state.apply_action(int(rng.choice(actions)))
    return states, positions


def position(state):
    """Places of both players, each as its owner sees them, and two dice."""
    player = state.current_player()
    observation = state.observation_tensor(player)
    men = np.zeros((2, 26), np.int8)
    for side, owner in enumerate((player, 1 - player)):
        points = [state.board(owner, i) for i in range(24)]
        men[side, 1:25] = points if owner == 1 else points[::-1]
        # men on the bar and men that are off
        men[side, 25], men[side, 0] = observation[192 + 3 * side : 194 + 3 * side]
    first_die, second_die = observation[198:200]
    return men, int(first_die), int(second_die)


def moves():
    """Moves after a throw: ours are positions, OpenSpiel's pairs of steps, the first two of four.

    Ours are asked for as a network that learns does, which knows that its positions are right.
    """
    states, positions = throws()
    room = np.empty((MAX_SUCCESSORS, 2, 26), np.int8), np.empty(MAX_SUCCESSORS, np.int8)
    times = alternate(
        lambda: [list_successors(*throw, *room) for throw in positions],
        lambda: [state.legal_actions() for state in states],
    )
    rates = len(states) / times / 1000
    job = "backgammon, all moves of a throw; OpenSpiel"
    return row(job, rates[:, 0], rates[:, 1], "thousand throws/s", None, None)


def games(n_games=300):
    net = self_play(ValueNet(40), 2000)
    seconds = alternate(lambda: self_play(net, n_games)).min()
    job = "backgammon, self-play that learns, 40 hidden units"
    return alone(job, n_games / seconds, "games/s", 500)


def run(_):
    write([*policies(), moves(), games()])
