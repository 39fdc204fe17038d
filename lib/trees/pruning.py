"""C4.5 prunes a tree where fewer errors are expected then (Quinlan 1993, chapter 4).

A node becomes a leaf, or its largest branch is raised into its place. The errors expected of a leaf
are pessimistic: n U_CF(e, n), with the upper end of a binomial confidence interval for the error
rate, when e of its n training cases are of other classes.
"""

from typing import NamedTuple

import numpy as np

from lib.base.compiled import assign
from lib.trees.node_cases import (
    FEW,
    NO_TEST,
    SMALL,
    branch_of_row,
    divide,
    entry_kernel,
    kernel,
    weight_and_errors,
)

MARGIN = 0.1  # errors by which the simpler tree may be worse


class Pruning(NamedTuple):
    """Arrays in which a tree is pruned, with room for all its nodes."""

    stack: np.ndarray  # numbers of nodes that are still to be pruned
    leaves: np.ndarray  # of a branch, to which cases of its node would come
    is_reached: np.ndarray  # whether a leaf is among them; all False between calls
    class_weights: np.ndarray  # of these leaves (n_nodes, n_classes)


def new_pruning(growth):
    """Return arrays in which a tree is pruned."""
    max_nodes = len(growth.nodes)
    return Pruning(
        stack=np.empty(max_nodes, np.int64),
        leaves=np.empty(max_nodes, np.int64),
        is_reached=np.zeros(max_nodes, np.bool_),
        class_weights=np.empty_like(growth.class_weights),
    )


@entry_kernel
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
    at_least_one = max(errors, 1.0)
    f = (at_least_one + 0.5) / n
    if f >= 1:
        added = max(n - at_least_one, 0.0)
    else:  # Wilson's bound with a correction for continuity
        root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        added = n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - at_least_one
    if errors >= 1:
        return added
    # exact without errors, (1 - p)^n = confidence; below one error, in proportion between the two
    added_to_none = n * (1 - confidence ** (1 / n))
    return added_to_none + errors * (added - added_to_none)


@kernel
def expected_errors(class_weights, parameters):
    """Return the errors expected of a leaf."""
    n, errors = weight_and_errors(class_weights)
    if n <= 0:
        return 0.0
    return errors + added_errors(n, errors, parameters.confidence, parameters.z)


@entry_kernel
def collapse(data, growth):
    """Make leaves of nodes whose subtrees have no fewer errors in training."""
    # children have higher numbers than their parents
    for number in range(growth.size[0].nodes - 1, -1, -1):
        node = growth.nodes[number]
        _, leaf_errors = weight_and_errors(growth.class_weights[number])
        if node.attribute == NO_TEST:
            node.errors = leaf_errors
            continue
        node.errors = 0.0
        for v in range(data.attributes[node.attribute].n_branches):
            node.errors += growth.nodes[node.child + v].errors
        if node.errors >= leaf_errors - FEW:
            node.attribute = NO_TEST


@entry_kernel
def list_nodes(data, growth, numbers, parents):
    """List the nodes that can be reached from the root, level by level; returns how many there are.

    Parameters
    ----------
    data : Data
    growth : Growth
    numbers : ndarray of int
        Becomes the list.
    parents : ndarray of int
        Becomes the position of each node's parent in the list, -1 for the root.
    """
    numbers[0] = 0
    parents[0] = -1
    n_nodes = 1
    position = 0
    while position < n_nodes:
        node = growth.nodes[numbers[position]]
        if node.attribute != NO_TEST:
            for v in range(data.attributes[node.attribute].n_branches):
                numbers[n_nodes] = node.child + v
                parents[n_nodes] = position
                n_nodes += 1
        position += 1
    return n_nodes


@entry_kernel
def prune(data, growth, parameters, work, division):
    """Prune all subtrees, then the node above them; a branch that is raised is pruned anew."""
    size = growth.size[0]
    n_waiting = size.nodes
    for number in range(n_waiting):
        work.stack[number] = number  # children have higher numbers, and are pruned first
    while n_waiting > 0:
        n_waiting -= 1
        number = work.stack[n_waiting]
        node = growth.nodes[number]
        node.errors = expected_errors(growth.class_weights[number], parameters)
        if node.attribute == NO_TEST:
            continue
        n_nodes = size.nodes
        n_cases = size.cases
        if simplify(data, growth, parameters, number, work, division):
            # the node once more, after the branches that it has now
            work.stack[n_waiting] = number
            n_waiting += 1
            for copied in range(n_nodes + 1, size.nodes):
                work.stack[n_waiting] = copied
                n_waiting += 1
        else:
            # a copy that was only tried is forgotten
            size.nodes = n_nodes
            size.cases = n_cases


@kernel
def simplify(data, growth, parameters, number, work, division):
    """Make a node a leaf, raise its largest branch, or leave it; returns whether it raised it."""
    node = growth.nodes[number]
    n_branches = data.attributes[node.attribute].n_branches
    largest = node.child
    largest_weight = 0.0
    subtree_errors = 0.0
    for child in range(node.child, node.child + n_branches):
        weight, _ = weight_and_errors(growth.class_weights[child])
        if weight > largest_weight - SMALL:  # of equals the last, as in J48
            largest = child
            largest_weight = weight
        subtree_errors += growth.nodes[child].errors

    copy = growth.size[0].nodes  # the number that a copy of the branch gets
    raised_errors = errors_if_raised(data, growth, parameters, number, largest, work, division)
    if min(subtree_errors, raised_errors) + MARGIN >= node.errors - SMALL:
        node.attribute = NO_TEST
        return False
    node.errors = subtree_errors
    if raised_errors > subtree_errors + MARGIN + SMALL:
        return False
    if data.is_complete:
        copy_branch(data, growth, parameters, number, largest, division)
    raised = growth.nodes[copy]
    copy_test(raised, node)
    node.first_case = raised.first_case
    node.end_case = raised.end_case
    return True


@kernel
def errors_if_raised(data, growth, parameters, number, largest, work, division):
    """Return the errors expected of the largest branch if it gets all cases of its node.

    Where no value is missing, each case goes to one leaf, and the tree can stay as it is; else the
    branch is copied.
    """
    if not data.is_complete:
        return copy_branch(data, growth, parameters, number, largest, division)
    node = growth.nodes[number]
    n_branches = data.attributes[node.attribute].n_branches
    n_leaves = 0
    for child in range(node.child, node.child + n_branches):
        if child == largest:
            continue
        for i in range(growth.nodes[child].first_case, growth.nodes[child].end_case):
            row = growth.cases[i].row
            leaf = largest
            while growth.nodes[leaf].attribute != NO_TEST:
                v = branch_of_row(data, growth.nodes[leaf], row)
                leaf = growth.nodes[leaf].child + v
            if not work.is_reached[leaf]:
                work.is_reached[leaf] = True
                work.leaves[n_leaves] = leaf
                n_leaves += 1
                assign(work.class_weights[leaf], growth.class_weights[leaf])
            work.class_weights[leaf, data.y[row]] += growth.cases[i].weight
    errors = growth.nodes[largest].errors
    for i in range(n_leaves):
        leaf = work.leaves[i]
        work.is_reached[leaf] = False
        errors_with_cases = expected_errors(work.class_weights[leaf], parameters)
        errors += errors_with_cases - growth.nodes[leaf].errors
    return errors


@kernel
def copy_branch(data, growth, parameters, number, largest, division):
    """Copy a branch to new nodes, with all cases of its node; returns the errors expected of it."""
    size = growth.size[0]
    node = growth.nodes[number]
    n_cases = node.end_case - node.first_case
    copy = size.nodes
    if copy == len(growth.nodes) or size.cases + n_cases > len(growth.cases):
        raise MemoryError
    root = growth.nodes[copy]
    root.first_case = size.cases
    root.end_case = size.cases + n_cases
    for i in range(n_cases):
        growth.cases[root.first_case + i] = growth.cases[node.first_case + i]
    assign(growth.class_weights[copy], growth.class_weights[number])
    copy_test(growth.nodes[largest], root)
    size.nodes += 1
    size.cases += n_cases

    errors = 0.0
    while copy < size.nodes:
        copied = growth.nodes[copy]
        if copied.attribute == NO_TEST:
            errors += expected_errors(growth.class_weights[copy], parameters)
        else:
            first_original = copied.child
            divide(data, growth, copy, division)
            for child in range(copied.child, size.nodes):
                original = growth.nodes[first_original + child - copied.child]
                copy_test(original, growth.nodes[child])
        copy += 1
    return errors


@kernel
def copy_test(source, target):
    """Give a node the test and the children of another."""
    target.attribute = source.attribute
    target.cut = source.cut
    target.threshold = source.threshold
    target.child = source.child
