"""The arrays in which trees grow, and the numbers of their columns."""

from collections import namedtuple

SMALL = 1e-6  # differences below are none, as in Weka
FEW = 1e-3  # how far below the mean gain a test may lie

Rule = namedtuple("Rule", "min_leaf n_best mdl ratio n_features")
Rule.__doc__ = """How a test is chosen, see GainRatioTree."""
Data = namedtuple("Data", "codes numeric branches most usual complete y n_classes logs")
Data.__doc__ = """Codes (p, n), -1 for missing; of each column, whether it has numbers, and its number of branches; most
branches; of each column, whether its gain is part of the mean; whether no code is missing; classes (n,), their number,
and x log2 x of whole numbers."""
Growth = namedtuple("Growth", "nodes counts shares rows weights used")
Growth.__doc__ = """Nodes (test, cut, next value, first child, first and last case, copied from, waits above), class
counts, share of the parent's known cases, and cases; `used` has the number of nodes and of cases, the node on top of
those that wait, and the one above the next to prune."""
TEST, CUT, NEXT, CHILD, FIRST, LAST, MODEL, ABOVE = range(8)
NODES, CASES, TOP, TO_PRUNE = range(4)
