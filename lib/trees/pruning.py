"""C4.5 prunes a tree: a node becomes a leaf, or gives place to its largest branch, where fewer errors are expected.

Expected are the errors at the upper end of a binomial confidence interval for those seen in training.
"""

import numpy as np

from lib.compiled import compiled
from lib.trees.growing import CHILD, FEW, FIRST, LAST, MODEL, SMALL, TEST, branch, build, longer

MARGIN = 0.1  # errors by which the simpler tree may be worse


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
    n = counts.sum()
    errors = n - counts.max()
    return errors + added_errors(n, errors, confidence, z) if n > 0 else 0.0


@compiled()
def errors_of_leaves(data, growth, root, added, confidence, z):
    """Return the sum of what is expected of the leaves below the node `root`, with `added` cases, which are cleared."""
    nodes, counts = growth.nodes, growth.counts
    todo, waiting, errors = np.full(64, root), 1, 0.0
    while waiting > 0:
        waiting -= 1
        node = todo[waiting]
        if nodes[node, TEST] < 0:
            errors += expected_errors(counts[node] + added[node], confidence, z)
            added[node] = 0.0
            continue
        size = data.sizes[nodes[node, TEST]]
        k = size if size > 0 else 2
        todo = longer(todo, waiting + k)
        for child in range(nodes[node, CHILD], nodes[node, CHILD] + k):
            todo[waiting] = child
            waiting += 1
    return errors


@compiled()
def add_cases(data, growth, root, first, last, added):
    """Let complete cases fall from the node `root` to its leaves, where `added` counts their classes."""
    for i in range(first, last):
        node, row = root, growth.rows[i]
        while growth.nodes[node, TEST] >= 0:
            node = growth.nodes[node, CHILD] + branch(data, growth.nodes, node, row)
        added[node, data.y[row]] += growth.weights[i]


@compiled()
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    nodes, counts = growth.nodes, growth.counts
    errors = np.zeros(growth.used[0])
    for node in range(growth.used[0] - 1, -1, -1):
        as_leaf = counts[node].sum() - counts[node].max()
        if nodes[node, TEST] < 0:
            errors[node] = as_leaf
            continue
        size, child = data.sizes[nodes[node, TEST]], nodes[node, CHILD]
        errors[node] = errors[child : child + (size if size > 0 else 2)].sum()
        if errors[node] >= as_leaf - FEW:
            nodes[node, TEST] = -1


@compiled()
def prune(data, rule, state, growth, confidence, z):
    """Prune all subtrees, then the node above them; a branch that takes the place of its node is pruned anew."""
    todo, waiting = np.zeros((64, 2), np.int64), 1  # node, whether its subtrees are pruned
    expected, added = np.zeros(growth.used[0]), np.zeros((growth.used[0], data.n_classes))
    settled = np.zeros(growth.used[0], np.bool_)
    complete = (data.codes >= 0).all()
    while waiting > 0:
        waiting -= 1
        node, done = todo[waiting, 0], todo[waiting, 1]
        nodes, used = growth.nodes, growth.used
        if settled[node]:
            continue
        as_leaf = expected_errors(growth.counts[node], confidence, z)
        if nodes[node, TEST] < 0:
            expected[node], settled[node] = as_leaf, True
            continue
        size, child = data.sizes[nodes[node, TEST]], nodes[node, CHILD]
        k = size if size > 0 else 2
        if not done:
            todo = longer(todo, waiting + k + 1)
            todo[waiting, 1] = 1
            for v in range(k):
                todo[waiting + 1 + v, 0], todo[waiting + 1 + v, 1] = child + v, 0
            waiting += k + 1
            continue
        settled[node] = True
        expected[node] = expected[child : child + k].sum()
        largest = child + growth.shares[child : child + k].argmax()
        n_nodes, n_cases = used[0], used[1]
        first, last, raised = nodes[node, FIRST], nodes[node, LAST], 0.0
        if complete:
            for other in range(child, child + k):
                if other != largest:
                    add_cases(data, growth, largest, nodes[other, FIRST], nodes[other, LAST], added)
            raised = errors_of_leaves(data, growth, largest, added, confidence, z)
        simpler = complete and min(expected[node], raised) + MARGIN >= as_leaf - SMALL
        if not complete or (not simpler and raised <= expected[node] + MARGIN + SMALL):
            used[0] += 1
            cases = growth.rows[first:last], growth.weights[first:last]
            growth = build(data, rule, state, growth, n_nodes, cases[0], cases[1], largest)
            nodes, added = growth.nodes, longer(added, used[0])
            raised = errors_of_leaves(data, growth, n_nodes, added, confidence, z)
        if min(expected[node], raised) + MARGIN >= as_leaf - SMALL:
            nodes[node, TEST], expected[node] = -1, as_leaf
        elif raised <= expected[node] + MARGIN + SMALL:
            replace(growth, node, n_nodes, settled)
            todo[waiting, 0], todo[waiting, 1] = node, 0
            waiting += 1
            n_cases = used[1]
        used[0], used[1] = n_nodes, n_cases
    return growth


@compiled()
def replace(growth, node, copy, settled):
    """Put a branch in the place of its node: what its copy, with all cases, says of each node is true of it from now.

    Where no case came to a node, all stays as it was when it was pruned.
    """
    nodes, counts, shares = growth.nodes, growth.counts, growth.shares
    for new in range(copy + 1, growth.used[0]):
        old = nodes[new, MODEL]
        settled[old] = (counts[old] == counts[new]).all()
        nodes[old, FIRST], nodes[old, LAST] = nodes[new, FIRST], nodes[new, LAST]
        counts[old], shares[old] = counts[new], shares[new]
    branch = nodes[copy, MODEL]
    nodes[node, TEST : CHILD + 1] = nodes[branch, TEST : CHILD + 1]
    nodes[node, FIRST], nodes[node, LAST] = nodes[copy, FIRST], nodes[copy, LAST]
    settled[node] = False
