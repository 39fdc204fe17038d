"""C4.5 prunes a tree: a node becomes a leaf, or gives place to its largest branch, where fewer errors are expected.

Expected are the errors at the upper end of a binomial confidence interval for those seen in
training.
"""

import numpy as np

from lib.compiled import assign
from lib.trees.growing import build
from lib.trees.node_cases import CASES, FEW, NODES, SMALL, branch, divide, errors_seen, kernel

MARGIN = 0.1  # errors by which the simpler tree may be worse


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
def expected_errors(counts, rule):
    """Return the errors expected of a leaf with these class counts."""
    n, errors = errors_seen(counts)
    return errors + added_errors(n, errors, rule.confidence, rule.z) if n > 0 else 0.0


@kernel
def grown(data, growth, rule, work):
    """Grow a tree and prune it, if confidence is below 1; returns how many nodes are left, see `reachable`."""
    build(data, growth, rule, work)
    collapse(data, growth)
    if rule.confidence < 1:
        prune(data, growth, rule, work)
    return reachable(data, growth, work)


@kernel
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    for node in range(growth.used[NODES] - 1, -1, -1):
        as_leaf = errors_seen(growth.counts[node])[1]
        growth.expected[node] = as_leaf if growth.test[node] < 0 else 0.0
        if growth.test[node] >= 0:
            for v in range(data.branches[growth.test[node]]):
                growth.expected[node] += growth.expected[growth.child[node] + v]
            if growth.expected[node] >= as_leaf - FEW:
                growth.test[node] = -1


@kernel
def reachable(data, growth, work):
    """List the nodes that can be reached from the root, level by level, and the position of the parent of each.

    Returns their number.
    """
    left, parents, n, i = work.nodes, work.waiting, 1, 0
    left[0], parents[0] = 0, -1
    while i < n:
        if growth.test[left[i]] >= 0:
            for v in range(data.branches[growth.test[left[i]]]):
                left[n], parents[n] = growth.child[left[i]] + v, i
                n += 1
        i += 1
    return n


@kernel
def prune(data, growth, rule, work):
    """Prune all subtrees, then the node above them; a branch that takes the place of its node is pruned anew."""
    n, used = growth.used[NODES], growth.used
    while n > 0:
        n -= 1
        node, top, end = work.waiting[n], used[NODES], used[CASES]
        growth.expected[node] = expected_errors(growth.counts[node], rule)
        if growth.test[node] < 0:
            continue
        if simplify(data, growth, rule, node, work):
            # the node once more, after the branches that it has now
            for new in range(top, used[NODES]):
                work.waiting[n] = new if new > top else node
                n += 1
        else:
            used[NODES], used[CASES] = top, end


@kernel
def simplify(data, growth, rule, node, work):
    """Make a node a leaf, put a copy of its largest branch in its place, or leave it; returns whether it is a copy."""
    expected, top, first = growth.expected, growth.used[NODES], growth.child[node]
    largest, most, below = first, 0.0, 0.0
    for v in range(first, first + data.branches[growth.test[node]]):
        n = errors_seen(growth.counts[v])[0]
        if n > most - SMALL:  # of equals the last, as in J48
            largest, most = v, n
        below += expected[v]
    raised = errors_raised(data, growth, rule, node, largest, work)
    if min(below, raised) + MARGIN >= expected[node] - SMALL:
        growth.test[node] = -1
        return False
    expected[node] = below
    if raised > below + MARGIN + SMALL:
        return False
    if data.complete:
        errors_of_copy(data, growth, rule, node, largest, work)
    copy_test(growth, top, node)
    growth.first[node], growth.last[node] = growth.first[top], growth.last[top]
    return True


@kernel
def errors_raised(data, growth, rule, node, largest, work):
    """Return the errors expected of a branch that gets the cases of the others, too: of a copy, if some lack values."""
    if not data.complete:
        return errors_of_copy(data, growth, rule, node, largest, work)
    n, errors, leaves = 0, growth.expected[largest], work.nodes
    for v in range(growth.child[node], growth.child[node] + data.branches[growth.test[node]]):
        for i in range(growth.first[v], growth.last[v] if v != largest else 0):
            row, leaf = growth.rows[i], largest
            while growth.test[leaf] >= 0:
                leaf = growth.child[leaf] + branch(data, growth, leaf, row)
            if not work.met[leaf]:
                work.met[leaf], leaves[n], n = True, leaf, n + 1
                assign(work.counts[leaf], growth.counts[leaf])
            work.counts[leaf, data.y[row]] += growth.weights[i]
    for leaf in leaves[:n]:
        work.met[leaf] = False
        errors += expected_errors(work.counts[leaf], rule) - growth.expected[leaf]
    return errors


@kernel
def errors_of_copy(data, growth, rule, node, largest, work):
    """Copy a branch to new nodes and give it all cases of its node; returns the errors expected of it."""
    used, first, size, errors = (
        growth.used,
        growth.first[node],
        growth.last[node] - growth.first[node],
        0.0,
    )
    new, end = used[NODES], used[CASES]
    if new == len(growth.test) or end + size > len(growth.rows):
        raise MemoryError
    for i in range(size):
        growth.rows[end + i], growth.weights[end + i] = (
            growth.rows[first + i],
            growth.weights[first + i],
        )
    growth.first[new], growth.last[new], used[NODES], used[CASES] = (
        end,
        end + size,
        new + 1,
        end + size,
    )
    assign(growth.counts[new], growth.counts[node])
    copy_test(growth, largest, new)
    while new < used[NODES]:
        if growth.test[new] < 0:
            errors += expected_errors(growth.counts[new], rule)
        else:
            shift = used[NODES] - growth.child[new]
            divide(data, growth, new, work)
            for child in range(growth.child[new], used[NODES]):
                copy_test(growth, child - shift, child)
        new += 1
    return errors


@kernel
def copy_test(growth, source, target):
    """Give a node the test and the children of another."""
    growth.test[target], growth.child[target] = growth.test[source], growth.child[source]
    growth.cut[target], growth.threshold[target] = growth.cut[source], growth.threshold[source]
