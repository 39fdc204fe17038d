"""Decision trees of C4.5."""

from lib.trees.ranked_columns import Table, TableClassifier
from lib.trees.text import export_text
from lib.trees.tree import GainRatioTree

__all__ = ["GainRatioTree", "Table", "TableClassifier", "export_text"]
