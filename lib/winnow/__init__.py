"""Winnow2 in the variants of Littlestone, Grove & Roth and Atlas."""

from lib.winnow.ensemble import WinnowEnsemble
from lib.winnow.online import Winnow

__all__ = ["Winnow", "WinnowEnsemble"]
