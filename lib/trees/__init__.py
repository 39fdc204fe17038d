"""Decision trees of C4.5."""

from lib.trees.table import Table, TableClassifier
from lib.trees.tree import GainRatioTree

__all__ = ["GainRatioTree", "Table", "TableClassifier"]
