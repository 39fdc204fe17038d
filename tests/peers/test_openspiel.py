"""Backgammon against OpenSpiel: all positions after each throw of random games, and final points.

What the comparison has to know of OpenSpiel: points are numbered from 0, the first player's from
the far end, and a double is two moves of one player, each of two steps.
"""

import numpy as np
import pytest

from lib.backgammon import START, playing, successors

pyspiel = pytest.importorskip("pyspiel", reason="no open_spiel; `make peers` installs it")

N_GAMES = 20


def position_of(state, player):
    """The position of a state, as a player sees it."""
    observation = state.observation_tensor(player)
    position = np.zeros((2, 26), np.int8)
    for row, owner in enumerate((player, 1 - player)):
        points = [state.board(owner, i) for i in range(24)]
        position[row, 1:25] = points if owner == 1 else points[::-1]
        # men on the bar and men that are off
        position[row, 25], position[row, 0] = observation[192 + 3 * row : 194 + 3 * row]
    return position


def positions_at_end_of_turn(state, player):
    """Positions that the moves of a player's turn lead to."""
    if state.is_terminal() or state.is_chance_node() or state.current_player() != player:
        return {position_of(state, player).tobytes()}
    positions = set()
    for action in state.legal_actions():
        positions |= positions_at_end_of_turn(state.child(action), player)
    return positions


def test_positions_are_those_of_openspiel():
    game = pyspiel.load_game("backgammon(scoring_type=full_scoring)")
    rng = np.random.default_rng(0)
    n_throws = 0
    for _ in range(N_GAMES):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                state.apply_action(int(rng.choice(state.legal_actions())))
                continue
            throws = [action for action, _ in state.chance_outcomes()]
            state.apply_action(int(rng.choice(throws)))
            n_throws += 1
            player = state.current_player()
            position = position_of(state, player)
            dice = [int(die) for die in state.observation_tensor(player)[198:200]]
            ours = {successor.tobytes() for successor in successors(*position, dice)}
            assert ours == positions_at_end_of_turn(state, player), (position, dice)
            assert n_throws > 1 or (position == START).all()
        winner = int(np.argmax(state.returns()))
        assert playing._score(position_of(state, winner)) == state.returns()[winner]
    assert n_throws > 50 * N_GAMES
