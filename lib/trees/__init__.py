"""Decision trees of C4.5, option trees of them, and two ways to grow a tree of many rows."""

from lib.trees.option_tree import OptionTree
from lib.trees.ranked_columns import Table, TableClassifier
from lib.trees.sorting import GiniTree, grow_by_sorting, grow_from_lists
from lib.trees.text import export_text
from lib.trees.tree import GainRatioTree

__all__ = [
    "GainRatioTree",
    "GiniTree",
    "OptionTree",
    "Table",
    "TableClassifier",
    "export_text",
    "grow_by_sorting",
    "grow_from_lists",
]
