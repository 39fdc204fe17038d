"""The cases of a tree's nodes, pairs of row and weight, and how they go to branches.

The cases of a node are neighbours in one list. Those of its branches take their place; where values
are missing they are more, and come to the end of the list.
"""

from collections import namedtuple

import numpy as np

from lib.compiled import compiled

# allocates nothing: at each call numba would count references to every array of a tuple
kernel = compiled(_nrt=False)
# where one is called for each column, its arguments take time
inlined = compiled(_nrt=False, inline="always")
SMALL = 1e-6  # differences below are none, as in Weka
FEW = 1e-3  # how far below the mean gain a test may lie

# How a test is chosen, see GainRatioTree, and of pruning the confidence and the normal quantile of
# 1 less that.
Rule = namedtuple("Rule", "min_leaf n_best mdl ratio n_features confidence z")
# Codes (p, n), -1 for missing, and by row, (n, p); of each column, its highest code, whether it has
# numbers, its number of branches, whether its gain is part of the mean, and where its values begin
# in one list of the values of all codes; whether no code is missing; classes (n,), their number,
# and x log2 x of whole numbers.
Data = namedtuple(
    "Data", "codes by_row highest numeric branches usual starts values complete y n_classes logs"
)
# Of each node the attribute that is tested (-1: none), the highest code of its first branch, its
# first child; where its cases begin and end; class counts, threshold, share of its parent's known
# cases, errors expected. Then the cases; and the number of nodes and of cases, in `used`.
Growth = namedtuple(
    "Growth", "test cut child first last counts threshold shares expected rows weights used"
)
# Arrays to work in. By case: the number of its class among those of its node, its code, its branch,
# its row and its weight; weights by code and class, these again as a list, where a code's cases
# begin. By class: its number among those that a node has, and weights. By node: class counts in a
# trial, whether any case came to it, two lists of nodes. The best tests (ratio, attribute, codes on
# both sides of the cut, gain): one of each column, or those among which one is drawn; the weight of
# each branch; and the state of random numbers.
BY_CASE = "classes keys where rows weights table moved places"
Work = namedtuple("Work", f"{BY_CASE} local sums counts met waiting nodes best bags state")
NODES, CASES = range(2)


def new_growth(rows, weights, data, rule, seed, room):
    """Return the growth of a tree with a root that has these cases, with so much room, and arrays to work in."""
    n_rows, k, most = len(rows), data.n_classes, data.branches.max()
    n, n_cases = room * (n_rows + most), (8 if data.complete else 64) * room * n_rows
    # not touched, memory is not taken
    cases = np.empty(n_cases, np.int64), np.empty(n_cases), np.array([1, n_rows])
    growth = Growth(*np.empty((5, n), np.int64), np.empty((n, k)), *np.empty((3, n)), *cases)
    growth.first[0], growth.last[0], growth.shares[0] = 0, n_rows, 1.0
    growth.rows[:n_rows], growth.weights[:n_rows] = rows, weights
    growth.counts[0] = np.bincount(data.y[rows], weights, k)
    by_case = *np.empty((4, n_rows), np.int64), np.empty(n_rows)
    by_code = np.zeros(2 * n_rows), np.empty((2 * n_rows, 3)), np.empty(4 * n_rows + 2, np.int64)
    by_class = np.empty(k, np.int64), np.empty((5, k))
    by_node = np.empty((n, k)), np.zeros(n, np.bool_), np.arange(n), np.zeros(n, np.int64)
    best = np.empty(((rule.n_best if rule.n_best > 1 else len(data.codes)) + 1, 5))
    return growth, Work(
        *by_case, *by_code, *by_class, *by_node, best, np.empty(most), np.array([seed], np.uint64)
    )


@kernel
def branch(data, growth, node, row):
    """Return the number of the child to which a row goes, or -1 where the value is missing."""
    test = growth.test[node]
    code = data.by_row[row, test]
    return np.int64(code > growth.cut[node] if code >= 0 and data.numeric[test] else code)


@kernel
def errors_seen(counts):
    """Return how many cases a node has, and how many of them are of other classes than most."""
    n = most = 0.0
    for count in counts:
        n += count
        most = max(most, count)
    return n, n - most


@kernel
def divide(data, growth, node, work):
    """Give the cases of a node to new nodes, its branches; one without a value is in all of them."""
    used, child, where = growth.used, growth.used[NODES], work.where
    bags = work.bags[: data.branches[growth.test[node]]]
    first, n, missing = growth.first[node], growth.last[node] - growth.first[node], 0
    bags.fill(0.0)
    for i in range(n):
        work.rows[i], work.weights[i] = growth.rows[first + i], growth.weights[first + i]
        where[i] = branch(data, growth, node, work.rows[i])
        missing += where[i] < 0
        bags[max(where[i], 0)] += work.weights[i] if where[i] >= 0 else 0.0
    end, known = used[CASES] if missing > 0 else first, bags.sum()
    growth.child[node], used[NODES] = child, child + len(bags)
    if used[NODES] > len(growth.test) or end + n + missing * (len(bags) - 1) > len(growth.rows):
        raise MemoryError
    for v in range(len(bags)):
        new, share = child + v, bags[v] / known if known > 0 else 0.0
        growth.first[new], growth.shares[new] = end, share
        growth.counts[new].fill(0.0)
        for i in range(n):
            if where[i] == v or (where[i] < 0 and bags[v] > 0):
                growth.rows[end] = work.rows[i]
                growth.weights[end] = work.weights[i] * (share if where[i] < 0 else 1.0)
                growth.counts[new, data.y[work.rows[i]]] += growth.weights[end]
                end += 1
        growth.last[new] = end
    used[CASES] = max(used[CASES], end)
