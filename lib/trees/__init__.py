"""Decision trees of C4.5, and option trees of them."""

from lib.trees.option_tree import OptionTree
from lib.trees.ranked_columns import Table, TableClassifier
from lib.trees.text import export_text
from lib.trees.tree import GainRatioTree

__all__ = ["GainRatioTree", "OptionTree", "Table", "TableClassifier", "export_text"]
