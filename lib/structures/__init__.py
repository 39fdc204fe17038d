"""Structures of Bayesian networks: the parents of each variable, fixed or learned from data.

A structure is a tuple of tuples of ints: `parents[v]` are the parents of variable v in ascending
order. Variable 0 is the class, variable i the attribute in column i - 1; where there is no class
(`chow_liu`, `k2`, `bdeu_search`), variable v is the one in column v.
"""

from lib.structures.bdeu import bdeu_search
from lib.structures.bic import bic_from_codes, bic_search
from lib.structures.chow_liu import chow_liu
from lib.structures.encoding import discrete_codes
from lib.structures.graphs import arc_kinds, arcs, chain, check_parents, naive
from lib.structures.k2 import k2
from lib.structures.tan import tan, tan_from_codes

__all__ = [
    "arc_kinds",
    "arcs",
    "bdeu_search",
    "bic_from_codes",
    "bic_search",
    "chain",
    "check_parents",
    "chow_liu",
    "discrete_codes",
    "k2",
    "naive",
    "tan",
    "tan_from_codes",
]
