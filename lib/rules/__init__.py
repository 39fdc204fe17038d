"""Rules: RIPPER, and rules made of the branches of a tree."""

from lib.rules.conditions import Condition, Rule
from lib.rules.ripper import Ripper
from lib.rules.tree_rules import TreeRules

__all__ = ["Condition", "Ripper", "Rule", "TreeRules"]
