"""GNU Backgammon: our rules allow all its moves; it is stronger than a network of few games."""

import numpy as np
import pytest
from peers.gnubg import PROGRAM, Gnubg, play

from lib.backgammon import START, RandomPlayer, ValueNet, self_play

if PROGRAM is None:
    pytest.skip("no gnubg; on Debian: apt install gnubg", allow_module_level=True)


@pytest.fixture
def gnubg(tmp_path):
    player = Gnubg(tmp_path)
    yield player
    player.close()


def test_a_first_move_is_that_of_all_books(gnubg):
    """8/5 6/5: the five point is made, with a man from each of the places 8 and 6."""
    position = gnubg.move(START, (3, 1))
    assert {place: int(position[0, place]) for place in (8, 6, 5)} == {8: 2, 6: 4, 5: 2}


def test_every_move_is_one_of_ours_and_it_is_stronger(gnubg):
    """`play` raises an error for a move that our rules do not have."""
    rng = np.random.default_rng(0)

    def mean_points(player):
        return np.mean([play(player, gnubg, rng) for _ in range(30)])

    random_points = mean_points(RandomPlayer())
    network_points = mean_points(self_play(ValueNet(10), 2000))
    assert random_points < -1.5
    assert random_points < network_points < 0
