"""Decision trees of C4.5."""

from lib.trees.table import Table
from lib.trees.tree import GainRatioTree

__all__ = ["GainRatioTree", "Table"]
