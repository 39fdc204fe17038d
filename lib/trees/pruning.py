"""C4.5 prunes a tree: a node becomes a leaf, or gives place to its largest branch, where fewer errors are expected.

Expected are the errors at the upper end of a binomial confidence interval for those seen in training.
"""

from collections import namedtuple

import numpy as np

from lib.compiled import compiled
from lib.trees.cases import CASES, FEW, NODES, SMALL, Growth, branch, drop, errors_seen, kernel, replace
from lib.trees.growing import build

MARGIN = 0.1  # errors by which the simpler tree may be worse

# Of each node the errors expected, whether it need not be looked at, whether a case has come to it; a list of nodes.
Pruning = namedtuple("Pruning", "expected settled met visited confidence z")


@kernel
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
    some = max(errors, 1.0)
    f = (some + 0.5) / n
    if f >= 1:
        more = max(n - some, 0.0)
    else:  # Wilson's bound with a correction for continuity
        root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        more = n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - some
    if errors >= 1:
        return more
    none = n * (1 - confidence ** (1 / n))  # exact: (1 - p)^n = confidence
    return none + errors * (more - none)


@kernel
def expected_errors(counts, confidence, z):
    """Return the errors expected of a leaf with these class counts."""
    n, errors = errors_seen(counts)
    return errors + added_errors(n, errors, confidence, z) if n > 0 else 0.0


@compiled()
def grown(data, growth, rule, state, confidence, z):
    """Grow a tree and prune it, if confidence is below 1; returns nodes and their parents, None for want of room."""
    if not build(data, growth, rule, state):
        return None
    collapse(data, growth)
    if confidence < 1 and not prune(data, growth, confidence, z):
        return None
    return reachable(data, growth)


@compiled()
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    errors = np.zeros(growth.used[NODES])
    for node in range(growth.used[NODES] - 1, -1, -1):
        as_leaf = errors_seen(growth.counts[node])[1]
        if growth.test[node] < 0:
            errors[node] = as_leaf
            continue
        for v in range(data.branches[growth.test[node]]):
            errors[node] += errors[growth.child[node] + v]
        if errors[node] >= as_leaf - FEW:
            growth.test[node] = -1


@compiled()
def reachable(data, growth):
    """Return the nodes that can be reached from the root, level by level, and the position of the parent of each."""
    left, parents, n, i = np.zeros(growth.used[NODES], np.int64), np.zeros(growth.used[NODES], np.int64), 1, 0
    parents[0] = -1
    while i < n:
        if growth.test[left[i]] >= 0:
            for v in range(data.branches[growth.test[left[i]]]):
                left[n], parents[n] = growth.child[left[i]] + v, i
                n += 1
        i += 1
    return left[:n].copy(), parents[:n].copy()


@compiled()
def prune(data, growth, confidence, z):
    """Prune all subtrees, then the node above them; a branch that takes the place of its node is pruned anew.

    Returns whether there was room.
    """
    used, node = growth.used, growth.used[NODES]
    places = np.empty((3, node), np.int64)
    own = places[0], places[1], places[2], growth.counts[:node].copy(), growth.shares[:node].copy()
    nodes, cases = (growth.test, growth.cut, growth.after, growth.child), (growth.rows, growth.weights)
    trial = Growth(*nodes, *own, *cases, used, growth.spare)
    expected, settled, met = np.zeros(node), np.zeros(node, np.bool_), np.zeros(node, np.bool_)
    pruning = Pruning(expected, settled, met, np.empty(node, np.int64), confidence, z)
    while node > 0:
        node -= 1
        if not settled[node]:
            settled[node], expected[node] = True, expected_errors(growth.counts[node], confidence, z)
            if growth.test[node] >= 0:
                node = simplify(data, growth, trial, node, pruning)
    return node == 0


@kernel
def simplify(data, growth, trial, node, pruning):
    """Make a node a leaf, put its largest branch in its place, or leave it.

    Returns one more than the next node to prune, or -1 for want of room.
    """
    expected, used, n_cases, n = pruning.expected, growth.used, growth.used[CASES], 0
    largest, below, as_leaf = growth.child[node], 0.0, expected[node]
    for v in range(largest, largest + data.branches[growth.test[node]]):
        largest, below = v if growth.shares[v] > growth.shares[largest] else largest, below + expected[v]
    if data.complete:
        raised = errors_with_others(data, growth, trial, node, largest, pruning)
    else:
        n = drop(data, growth, trial, node, largest, pruning.visited)
        if n == 0:
            return -1
        raised = 0.0
        for leaf in pruning.visited[:n]:
            if growth.test[leaf] < 0:
                raised += expected_errors(trial.counts[leaf], pruning.confidence, pruning.z)
    if min(below, raised) + MARGIN >= as_leaf - SMALL:
        growth.test[node] = -1
    else:
        expected[node] = below
        if raised <= below + MARGIN + SMALL:
            n = drop(data, growth, trial, node, largest, pruning.visited) if n == 0 else n
            return replace(growth, trial, node, pruning.visited[:n], pruning.settled) if n > 0 else -1
    used[CASES] = n_cases
    return node


@kernel
def errors_with_others(data, growth, trial, node, largest, pruning):
    """Return the errors expected of a branch that gets the cases of the others, too; none lacks a value."""
    leaves, n, errors = pruning.visited, 0, pruning.expected[largest]
    for v in range(growth.child[node], growth.child[node] + data.branches[growth.test[node]]):
        for i in range(growth.first[v], growth.last[v] if v != largest else 0):
            row, leaf = growth.rows[i], largest
            while growth.test[leaf] >= 0:
                leaf = growth.child[leaf] + branch(data, growth, leaf, row)
            if not pruning.met[leaf]:
                pruning.met[leaf], leaves[n], n = True, leaf, n + 1
                trial.counts[leaf].fill(0.0)
            trial.counts[leaf, data.y[row]] += growth.weights[i]
    for leaf in leaves[:n]:
        pruning.met[leaf] = False
        for c in range(data.n_classes):
            trial.counts[leaf, c] += growth.counts[leaf, c]
        errors += expected_errors(trial.counts[leaf], pruning.confidence, pruning.z) - pruning.expected[leaf]
    return errors
