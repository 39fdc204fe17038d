"""Backgammon against OpenSpiel: every position after every throw of games with random moves, and the points at the end.

What the comparison has to know of OpenSpiel: points are numbered from 0, the first player's from
the far end, and a double is two moves of one player, each of two steps.
"""

import numpy as np
import pytest

from lib.backgammon import START, playing, successors

pyspiel = pytest.importorskip("pyspiel", reason="no open_spiel; `make peers` installs it")

N_GAMES = 20


def of(state, player):
    """Its position, seen by a player."""
    seen, position = state.observation_tensor(player), np.zeros((2, 26), np.int8)
    for row, who in enumerate((player, 1 - player)):
        points = [state.board(who, i) for i in range(24)]
        position[row, 1:25] = points if who == 1 else points[::-1]
        position[row, 25], position[row, 0] = seen[192 + 3 * row : 194 + 3 * row]
    return position


def after(state, player):
    """Positions at the end of a player's turn."""
    if state.is_terminal() or state.is_chance_node() or state.current_player() != player:
        return {of(state, player).tobytes()}
    return set.union(*(after(state.child(action), player) for action in state.legal_actions()))


def test_positions_are_those_of_openspiel():
    game, rng, n_throws = (
        pyspiel.load_game("backgammon(scoring_type=full_scoring)"),
        np.random.default_rng(0),
        0,
    )
    for _ in range(N_GAMES):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(
                    int(rng.choice([action for action, _ in state.chance_outcomes()]))
                )
                player, n_throws = state.current_player(), n_throws + 1
                before, dice = (
                    of(state, player),
                    [int(die) for die in state.observation_tensor(player)[198:200]],
                )
                ours = successors(*before, dice)
                assert {one.tobytes() for one in ours} == after(state, player), (before, dice)
                assert n_throws > 1 or (before == START).all()
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
        winner = int(np.argmax(state.returns()))
        assert playing._score(of(state, winner)) == state.returns()[winner]
    assert n_throws > 50 * N_GAMES
