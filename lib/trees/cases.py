"""The cases of a tree's nodes, pairs of row and weight, and how they go to branches.

The cases of a node are neighbours in one list. Those of its branches take their place; where values are missing they
are more, and come to the end of the list.
"""

from collections import namedtuple

import numpy as np

from lib.compiled import compiled

kernel = compiled(_nrt=False)  # allocates nothing: at each call numba would count references to every array of a tuple
SMALL = 1e-6  # differences below are none, as in Weka
FEW = 1e-3  # how far below the mean gain a test may lie

# How a test is chosen, see GainRatioTree.
Rule = namedtuple("Rule", "min_leaf n_best mdl ratio n_features")
# Codes (p, n), -1 for missing; of each column, whether it has numbers, its number of branches, whether its gain is part
# of the mean; whether no code is missing; classes (n,), their number, and x log2 x of whole numbers.
Data = namedtuple("Data", "codes numeric branches usual complete y n_classes logs")
# Of each node the attribute that is tested (-1: none), the codes on both sides of its cut, its first child; where its
# cases begin and end, and which node waits below it; class counts and share of its parent's known cases. Then the
# cases; the number of nodes and of cases, and the node on top of those that wait, in `used`; and room to work in.
Growth = namedtuple("Growth", "test cut after child first last below counts shares rows weights used spare")
# Cases of a node and the branch of each; of each branch the weight, and where its next case goes.
Spare = namedtuple("Spare", "rows weights where bags places")
NODES, CASES, TOP = range(3)


def new_growth(rows, weights, data, room):
    """Return the growth of a tree whose root waits, with these cases and so much room."""
    n, n_rows, most = room * (len(rows) + data.branches.max()), len(rows), data.branches.max() + 1
    n_cases = (8 if data.complete else 64) * room * n_rows  # memory that is not touched is not taken
    cases = np.empty(n_cases, np.int64), np.empty(n_cases), np.array([1, n_rows, 0])
    spare = Spare(rows.copy(), weights.copy(), rows.copy(), np.empty(most), np.empty(most, np.int64))
    growth = Growth(*np.empty((7, n), np.int64), np.empty((n, data.n_classes)), np.empty(n), *cases, spare)
    growth.first[0], growth.last[0], growth.below[0], growth.shares[0] = 0, n_rows, -1, 1.0
    growth.rows[:n_rows], growth.weights[:n_rows] = rows, weights
    return growth


@kernel
def branch(data, growth, node, row):
    """Return the number of the child to which a row goes, or -1 where the value is missing."""
    test = growth.test[node]
    code = data.codes[test, row]
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
def next_node(data, growth):
    """Take the node on top of those that wait, and count its classes."""
    node = growth.used[TOP]
    growth.used[TOP] = growth.below[node]
    growth.counts[node].fill(0.0)
    for i in range(growth.first[node], growth.last[node]):
        growth.counts[node, data.y[growth.rows[i]]] += growth.weights[i]
    return node


@kernel
def divide(data, growth, node):
    """Give the cases of a node to its branches, which wait; one without a value is in all of them.

    Returns whether there was room.
    """
    k, first, n = data.branches[growth.test[node]], growth.first[node], 0
    rows, weights, where, bags, places = growth.spare
    bags, places = bags[: k + 1], places[: k + 1]
    bags.fill(0.0)
    places.fill(0)
    for i in range(first, growth.last[node]):
        v = branch(data, growth, node, growth.rows[i])
        rows[n], weights[n], where[n] = growth.rows[i], growth.weights[i], v if v >= 0 else k  # k: a bag of its own
        bags[where[n]] += weights[n]
        places[where[n]] += 1
        n += 1
    if not place_branches(growth, node, bags, places):
        return False
    for i in range(n):
        missing = where[i] == k
        for v in range(0 if missing else where[i], k if missing else where[i] + 1):
            if bags[v] > 0 or not missing:
                part = growth.shares[growth.child[node] + v] if missing else 1.0
                growth.rows[places[v]], growth.weights[places[v]] = rows[i], weights[i] * part
                places[v] += 1
    return True


@kernel
def place_branches(growth, node, bags, places):
    """Set the shares of a node's branches and, in `places`, instead of their numbers, where their cases begin."""
    used, child, k, known = growth.used, growth.child[node], len(bags) - 1, 0.0
    end = used[CASES] if places[k] > 0 else growth.first[node]
    for bag in bags[:k]:
        known += bag
    for v in range(k):
        size, places[v] = places[v] + (places[k] if bags[v] > 0 else 0), end
        growth.first[child + v], growth.last[child + v], growth.below[child + v] = end, end + size, used[TOP]
        growth.shares[child + v], used[TOP] = bags[v] / known if known > 0 else 0.0, child + v
        end += size
    used[CASES] = max(used[CASES], end)
    return used[CASES] <= len(growth.rows)


@kernel
def drop(data, growth, trial, node, largest, visited):
    """Give a branch in a trial all cases of its node; returns how many nodes are visited, 0 for want of room."""
    used, first, end, n = growth.used, growth.first[node], growth.used[CASES], 0
    last = end + growth.last[node] - first
    if last > len(growth.rows):
        return 0
    for i in range(end, last):
        growth.rows[i], growth.weights[i] = growth.rows[first + i - end], growth.weights[first + i - end]
    used[CASES], used[TOP], trial.below[largest] = last, largest, -1
    trial.first[largest], trial.last[largest] = end, last
    while used[TOP] >= 0:
        new = visited[n] = next_node(data, trial)
        n += 1
        divided = growth.test[new] >= 0 and trial.first[new] < trial.last[new]
        if divided and not divide(data, trial, new):
            return 0
    return n


@kernel
def replace(growth, trial, node, visited, settled):
    """Put a branch in the place of its node: what the trial with all cases says of each node is true of it from now.

    Where no case came to a node, all stays as it was when it was pruned. Returns one more than the last node to prune.
    """
    counts, last, top = growth.counts, node, visited[0]
    for old in visited[1:]:
        settled[old], growth.shares[old], last = True, trial.shares[old], max(last, old)
        growth.first[old], growth.last[old] = trial.first[old], trial.last[old]
        for c in range(counts.shape[1]):
            settled[old] &= counts[old, c] == trial.counts[old, c]
            counts[old, c] = trial.counts[old, c]
    growth.test[node], growth.cut[node] = growth.test[top], growth.cut[top]
    growth.after[node], growth.child[node] = growth.after[top], growth.child[top]
    growth.first[node], growth.last[node] = trial.first[top], trial.last[top]
    settled[node] = False
    return last + 1
