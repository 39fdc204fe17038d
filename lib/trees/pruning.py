"""C4.5 prunes a tree: a node becomes a leaf, or gives place to its largest branch, where fewer errors are expected.

Expected are the errors at the upper end of a binomial confidence interval for those seen in training.
"""

from collections import namedtuple

import numpy as np
from scipy.special import ndtri

from lib.compiled import compiled
from lib.trees.cases import branch, divide, errors_seen, has_room, next_node
from lib.trees.layout import ABOVE, CASES, CHILD, FEW, FIRST, LAST, MODEL, NODES, SMALL, TEST, TO_PRUNE, TOP

MARGIN = 0.1  # errors by which the simpler tree may be worse

Pruning = namedtuple("Pruning", "expected settled added leaves confidence z")
Pruning.__doc__ = """Of each node the errors expected, whether it need not be looked at, cases that come from other
branches by class, and a place in the list of those that get some; see added_errors."""


@compiled()
def added_errors(n, errors, confidence, z):
    """Return how many errors more than those seen are expected of n cases.

    Parameters
    ----------
    n, errors : float
    confidence : float
        Chance that the true rate is above the bound.
    z : float
        The normal quantile of 1 - confidence.
    """
    if errors < 1:
        none = n * (1 - confidence ** (1 / n))  # exact: (1 - p)^n = confidence
        return none + errors * (added_errors_of_some(n, 1.0, z) - none) if errors > 0 else none
    return added_errors_of_some(n, errors, z)


@compiled()
def added_errors_of_some(n, errors, z):
    """Do so for one error or more, by Wilson's bound with a correction for continuity."""
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - errors


@compiled()
def expected_errors(counts, confidence, z):
    """Return the errors expected of a leaf with these class counts."""
    n, errors = errors_seen(counts)
    return errors + added_errors(n, errors, confidence, z) if n > 0 else 0.0


@compiled()
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    nodes, errors = growth.nodes, np.zeros(growth.used[NODES])
    for node in range(growth.used[NODES] - 1, -1, -1):
        as_leaf = errors_seen(growth.counts[node])[1]
        if nodes[node, TEST] < 0:
            errors[node] = as_leaf
            continue
        for v in range(data.branches[nodes[node, TEST]]):
            errors[node] += errors[nodes[node, CHILD] + v]
        if errors[node] >= as_leaf - FEW:
            nodes[node, TEST] = -1


@compiled()
def reachable(nodes, branches):
    """Return the nodes that can be reached from the root, level by level, and the position of the parent of each."""
    left, parents, n, i = np.zeros(nodes.shape[0], np.int64), np.zeros(nodes.shape[0], np.int64), 1, 0
    parents[0] = -1
    while i < n:
        if nodes[left[i], TEST] >= 0:
            for v in range(branches[nodes[left[i], TEST]]):
                left[n], parents[n] = nodes[left[i], CHILD] + v, i
                n += 1
        i += 1
    return left[:n].copy(), parents[:n].copy()


def start_pruning(data, growth, confidence):
    """Return what pruning keeps of each node: those that collapse has cut off need not be looked at."""
    n = growth.used[TO_PRUNE] = growth.used[NODES]
    settled = np.ones(n, bool)
    settled[reachable(growth.nodes, data.branches)[0]] = False
    added, leaves = np.zeros((n, data.n_classes)), np.empty(n, np.int64)
    return Pruning(np.zeros(n), settled, added, leaves, confidence, ndtri(1 - confidence))


@compiled()
def prune(data, growth, pruning):
    """Prune all subtrees, then the node above them; a branch that takes the place of its node is pruned anew.

    Returns whether there was room.
    """
    nodes, used, expected, settled = growth.nodes, growth.used, pruning.expected, pruning.settled
    node, n_nodes = used[TO_PRUNE], used[NODES]
    while node > 0 and room_for_a_copy(data, growth, node - 1):
        node -= 1
        if settled[node]:
            continue
        child, n_nodes, n_cases = nodes[node, CHILD], used[NODES], used[CASES]
        as_leaf = expected_errors(growth.counts[node], pruning.confidence, pruning.z)
        expected[node], settled[node], largest, below = as_leaf, True, child, 0.0
        if nodes[node, TEST] < 0:
            continue
        for v in range(child, child + data.branches[nodes[node, TEST]]):
            largest, below = v if growth.shares[v] > growth.shares[largest] else largest, below + expected[v]
        raised = raised_errors(data, growth, node, largest, pruning)
        if raised < 0:
            settled[node], used[NODES], used[CASES], used[TOP] = False, n_nodes, n_cases, -1
            node += 1
            break
        if min(below, raised) + MARGIN < as_leaf - SMALL:
            expected[node] = below
            if raised <= below + MARGIN + SMALL:
                if data.complete:
                    copied(data, growth, node, largest)
                node, n_cases = replace(growth, node, n_nodes, settled), used[CASES]
        else:
            nodes[node, TEST] = -1
        used[NODES], used[CASES] = n_nodes, n_cases
    used[TO_PRUNE] = node
    return node == 0


@compiled()
def room_for_a_copy(data, growth, node):
    """Return whether there is room for as many nodes as there are, and the cases of a node."""
    n_nodes, n_cases = growth.used[NODES], growth.used[CASES] + growth.nodes[node, LAST] - growth.nodes[node, FIRST]
    return 2 * n_nodes + data.most <= growth.nodes.shape[0] and n_cases <= growth.rows.shape[0]


@compiled()
def raised_errors(data, growth, node, largest, pruning):
    """Return the errors expected of the branch `largest`, given all cases of its node; -1 for want of room.

    Where values are missing, a copy of it is made.
    """
    if data.complete:
        return pruning.expected[largest] + more_errors(data, growth, node, largest, pruning)
    copy, errors = growth.used[NODES], 0.0
    if not copied(data, growth, node, largest):
        return -1.0
    for new in range(copy, growth.used[NODES]):
        if growth.nodes[new, TEST] < 0:
            errors += expected_errors(growth.counts[new], pruning.confidence, pruning.z)
    return errors


@compiled()
def more_errors(data, growth, node, largest, pruning):
    """Return how many errors more are expected of a branch that gets the cases, all complete, of the others."""
    nodes, counts, added, leaves, more, n = growth.nodes, growth.counts, pruning.added, pruning.leaves, 0.0, 0
    for other in range(nodes[node, CHILD], nodes[node, CHILD] + data.branches[nodes[node, TEST]]):
        for i in range(nodes[other, FIRST], nodes[other, LAST] if other != largest else 0):
            leaf, row = largest, growth.rows[i]
            while nodes[leaf, TEST] >= 0:
                leaf = nodes[leaf, CHILD] + branch(data, nodes, leaf, row)
            if errors_seen(added[leaf])[0] == 0:
                leaves[n] = leaf
                n += 1
            added[leaf, data.y[row]] += growth.weights[i]
    for leaf in leaves[:n]:
        before = expected_errors(counts[leaf], pruning.confidence, pruning.z)
        for c in range(data.n_classes):
            added[leaf, c] += counts[leaf, c]
        more += expected_errors(added[leaf], pruning.confidence, pruning.z) - before
        added[leaf].fill(0.0)
    return more


@compiled()
def copied(data, growth, node, largest):
    """Copy the branch `largest`, and give it all cases of its node; returns whether there was room."""
    nodes, used, copy, end = growth.nodes, growth.used, growth.used[NODES], growth.used[CASES]
    nodes[copy, FIRST], nodes[copy, MODEL], nodes[copy, ABOVE] = end, largest, -1
    for i in range(nodes[node, FIRST], nodes[node, LAST]):
        growth.rows[end], growth.weights[end] = growth.rows[i], growth.weights[i]
        end += 1
    nodes[copy, LAST] = used[CASES] = end
    used[NODES], used[TOP] = copy + 1, copy
    while used[TOP] >= 0 and has_room(data, growth):
        new = next_node(data, growth)
        for column in range(CHILD):
            nodes[new, column] = nodes[nodes[new, MODEL], column]
        if nodes[new, TEST] >= 0:
            divide(data, growth, new)
    return used[TOP] < 0


@compiled()
def replace(growth, node, copy, settled):
    """Put a branch in the place of its node: what its copy, with all cases, says of each node is true of it from now.

    Where no case came to a node, all stays as it was when it was pruned. Returns one more than the last node to prune.
    """
    nodes, counts, shares, last = growth.nodes, growth.counts, growth.shares, node
    for new in range(copy + 1, growth.used[NODES]):
        old = nodes[new, MODEL]
        settled[old], shares[old], last = True, shares[new], max(last, old)
        nodes[old, FIRST], nodes[old, LAST] = nodes[new, FIRST], nodes[new, LAST]
        for c in range(counts.shape[1]):
            settled[old] &= counts[old, c] == counts[new, c]
            counts[old, c] = counts[new, c]
    for column in range(CHILD + 1):
        nodes[node, column] = nodes[nodes[copy, MODEL], column]
    nodes[node, FIRST], nodes[node, LAST] = nodes[copy, FIRST], nodes[copy, LAST]
    settled[node] = False
    return last + 1
