"""C4.5 prunes a tree: a node becomes a leaf, or gives place to its largest branch, where fewer errors are expected.

Expected are the errors at the upper end of a binomial confidence interval for those seen in training.
"""

import numpy as np

from lib.compiled import compiled
from lib.trees.growing import CHILD, FEW, FIRST, LAST, MODEL, SMALL, TEST, branch, build, with_room

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
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    nodes, counts = growth.nodes, growth.counts
    errors = np.zeros(growth.used[0])
    for node in range(growth.used[0] - 1, -1, -1):
        errors[node] = as_leaf = counts[node].sum() - counts[node].max()
        if nodes[node, TEST] >= 0:
            child = nodes[node, CHILD]
            errors[node] = errors[child : child + data.branches[nodes[node, TEST]]].sum()
            if errors[node] >= as_leaf - FEW:
                nodes[node, TEST] = -1


@compiled()
def reachable(nodes, branches):
    """Return the nodes that can be reached from the root, level by level, and the position of the parent of each."""
    left, parents, n, i = np.zeros(nodes.shape[0], np.int64), np.full(nodes.shape[0], -1), 1, 0
    while i < n:
        if nodes[left[i], TEST] >= 0:
            for v in range(branches[nodes[left[i], TEST]]):
                left[n], parents[n] = nodes[left[i], CHILD] + v, i
                n += 1
        i += 1
    return left[:n].copy(), parents[:n].copy()


@compiled()
def prune(data, rule, state, growth, confidence, z):
    """Prune all subtrees, then the node above them; a branch that takes the place of its node is pruned anew."""
    used, node = growth.used, growth.used[0]
    expected, settled, complete = np.zeros(node), np.ones(node, np.bool_), (data.codes >= 0).all()
    settled[reachable(growth.nodes, data.branches)[0]] = False
    added, sums = np.zeros((node, data.n_classes)), np.zeros(data.y.shape[0])
    while node > 0:
        node -= 1
        if settled[node]:
            continue
        test, child, copy, n_cases = growth.nodes[node, TEST], growth.nodes[node, CHILD], used[0], used[1]
        as_leaf, settled[node] = expected_errors(growth.counts[node], confidence, z), True
        expected[node] = as_leaf
        if test < 0:
            continue
        last = child + data.branches[test]
        largest, below = child + growth.shares[child:last].argmax(), expected[child:last].sum()
        if complete:
            raised = expected[largest] + more_errors(data, growth, node, largest, added, confidence, z)
        else:
            growth = copied(data, rule, state, growth, node, largest, sums)
            raised = errors_of_leaves(growth, copy, confidence, z)
        if min(below, raised) + MARGIN < as_leaf - SMALL:
            expected[node] = below
            if raised <= below + MARGIN + SMALL:
                if complete:
                    growth = copied(data, rule, state, growth, node, largest, sums)
                node, n_cases = replace(growth, node, copy, settled), used[1]
        else:
            growth.nodes[node, TEST] = -1
        used[0], used[1] = copy, n_cases
    return growth


@compiled()
def more_errors(data, growth, node, largest, added, confidence, z):
    """Return how many errors more are expected of a branch that gets the cases, all complete, of the others."""
    nodes, counts, more = growth.nodes, growth.counts, 0.0
    leaves = []
    for other in range(nodes[node, CHILD], nodes[node, CHILD] + data.branches[nodes[node, TEST]]):
        for i in range(nodes[other, FIRST], nodes[other, LAST] if other != largest else 0):
            leaf, row = largest, growth.rows[i]
            while nodes[leaf, TEST] >= 0:
                leaf = nodes[leaf, CHILD] + branch(data, nodes, leaf, row)
            if not added[leaf].any():
                leaves.append(leaf)
            added[leaf, data.y[row]] += growth.weights[i]
    for leaf in leaves:
        more += expected_errors(counts[leaf] + added[leaf], confidence, z) - expected_errors(
            counts[leaf], confidence, z
        )
        added[leaf] = 0.0
    return more


@compiled()
def whole(rows, weights, sums):
    """Return cases in which each row is one case again, with the sum of the weights of its parts."""
    new_rows, new_weights, n = np.empty_like(rows), np.empty_like(weights), 0
    for i in range(rows.shape[0]):
        sums[rows[i]] += weights[i]
    for row in rows:
        if sums[row] > 0:
            new_rows[n], new_weights[n], sums[row] = row, sums[row], 0.0
            n += 1
    return new_rows[:n], new_weights[:n]


@compiled()
def copied(data, rule, state, growth, node, largest, sums):
    """Copy the branch `largest`, and give it all cases of its node.

    Where rows come in many parts, branches that take the place of their nodes would divide them without end.
    """
    cases = slice(growth.nodes[node, FIRST], growth.nodes[node, LAST])
    rows, weights = growth.rows[cases], growth.weights[cases]
    if rows.shape[0] > 2 * sums.shape[0]:
        rows, weights = whole(rows, weights, sums)
    growth = with_room(growth, 1, 0)
    growth.used[0] += 1
    return build(data, rule, state, growth, growth.used[0] - 1, rows, weights, largest)


@compiled()
def errors_of_leaves(growth, root, confidence, z):
    """Return the sum of what is expected of the leaves among the nodes from `root` on."""
    errors = 0.0
    for node in range(root, growth.used[0]):
        if growth.nodes[node, TEST] < 0:
            errors += expected_errors(growth.counts[node], confidence, z)
    return errors


@compiled()
def replace(growth, node, copy, settled):
    """Put a branch in the place of its node: what its copy, with all cases, says of each node is true of it from now.

    Where no case came to a node, all stays as it was when it was pruned. Returns one more than the last node to prune.
    """
    nodes, counts, shares, last = growth.nodes, growth.counts, growth.shares, node
    for new in range(copy + 1, growth.used[0]):
        old = nodes[new, MODEL]
        settled[old] = (counts[old] == counts[new]).all()
        nodes[old, FIRST], nodes[old, LAST] = nodes[new, FIRST], nodes[new, LAST]
        counts[old], shares[old] = counts[new], shares[new]
        last = max(last, old)
    branch = nodes[copy, MODEL]
    nodes[node, TEST : CHILD + 1] = nodes[branch, TEST : CHILD + 1]
    nodes[node, FIRST], nodes[node, LAST] = nodes[copy, FIRST], nodes[copy, LAST]
    settled[node] = False
    return last + 1
