"""Backgammon: rules, players, and a network that learns its values from games against itself."""

from lib.backgammon.players import RandomPlayer, RulePlayer, ValueNet
from lib.backgammon.playing import match, self_play
from lib.backgammon.rules import START, successors

__all__ = ["START", "RandomPlayer", "RulePlayer", "ValueNet", "match", "self_play", "successors"]
