"""The nodes of a tree, their cases (pairs of row and weight), and how cases go to branches.

The cases of a node are neighbours in one list. Those of its branches take their place; where values
are missing they are more, and come to the end of the list.
"""

from typing import NamedTuple

import numpy as np

from lib.base.compiled import compiled

# Kernels that only kernels call. They allocate nothing: else numba would count references to every
# array of a tuple at each call. What Python would need to call them takes seconds to compile.
kernel = compiled(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
# Kernels that Python calls
entry_kernel = compiled(_nrt=False, no_cfunc_wrapper=True)

SMALL = 1e-6  # differences below are none, as in Weka
FEW = 1e-3  # how far below the mean gain a test may lie
NO_TEST = -1  # the attribute of a leaf

# What is known of an attribute before a tree grows
ATTRIBUTE = np.dtype(
    [
        ("is_numeric", np.bool_),
        ("in_mean_gain", np.bool_),  # not if it has very many categories
        ("n_branches", np.int64),
        ("highest_code", np.int64),
        ("first_value", np.int64),  # where its values begin in the values of all attributes
    ]
)

NODE = np.dtype(
    [
        ("attribute", np.int64),  # that is tested, or NO_TEST
        ("cut", np.int64),  # highest code of the first branch, where the attribute is numeric
        ("threshold", np.float64),
        ("child", np.int64),  # the first one; the others follow
        ("first_case", np.int64),
        ("end_case", np.int64),
        ("share", np.float64),  # of its parent's cases with a value
        ("errors", np.float64),  # expected of its subtree
    ]
)

CASE = np.dtype([("row", np.int64), ("weight", np.float64)])

SIZE = np.dtype([("nodes", np.int64), ("cases", np.int64)])


class Data(NamedTuple):
    """Training data; codes are ranks of numbers, or numbers of categories, and -1 where missing."""

    codes: np.ndarray  # int32 (n_columns, n_samples)
    codes_by_row: np.ndarray  # the same, (n_samples, n_columns)
    attributes: np.ndarray  # of ATTRIBUTE (n_columns,)
    values: np.ndarray  # of all attributes, by code
    is_complete: bool  # no value is missing
    y: np.ndarray  # numbers of the classes (n_samples,)
    n_classes: int
    xlogx_table: np.ndarray  # x log2 x of whole numbers


class Growth(NamedTuple):
    """A tree as it grows, with room for more nodes and cases than it has."""

    nodes: np.ndarray  # of NODE
    class_weights: np.ndarray  # of each node (n, n_classes)
    cases: np.ndarray  # of CASE
    size: np.ndarray  # of SIZE (1,), what is in use


class Division(NamedTuple):
    """Arrays in which the cases of a node are divided."""

    cases: np.ndarray  # of CASE (n_samples,), a copy of the node's
    branches: np.ndarray  # to which each goes, or -1
    branch_weights: np.ndarray


def new_growth(rows, weights, data, room):
    """Return a tree of a root only, which has these cases.

    Parameters
    ----------
    rows : ndarray of int (n,)
    weights : ndarray of float (n,)
    data : Data
    room : int
        There is room for about so many nodes a row. Where values are missing, branches share
        cases, and there is more room for these.
    """
    n_rows = len(rows)
    max_nodes = room * (n_rows + data.attributes["n_branches"].max())
    max_cases = room * n_rows * (8 if data.is_complete else 64)
    # what is never written takes no memory
    growth = Growth(
        nodes=np.empty(max_nodes, NODE),
        class_weights=np.empty((max_nodes, data.n_classes)),
        cases=np.empty(max_cases, CASE),
        size=np.ones(1, SIZE),
    )
    root = growth.nodes[0]
    root["first_case"] = 0
    root["end_case"] = n_rows
    root["share"] = 1.0
    growth.class_weights[0] = np.bincount(data.y[rows], weights, data.n_classes)
    growth.cases["row"][:n_rows] = rows
    growth.cases["weight"][:n_rows] = weights
    growth.size["cases"] = n_rows
    return growth


def new_division(n_rows, data):
    """Return arrays in which nodes of up to `n_rows` cases are divided."""
    return Division(
        cases=np.empty(n_rows, CASE),
        branches=np.empty(n_rows, np.int64),
        branch_weights=np.empty(data.attributes["n_branches"].max()),
    )


@kernel
def branch_of_row(data, node, row):
    """Return the number of the branch to which a row goes, or -1 where its value is missing."""
    code = np.int64(data.codes_by_row[row, node.attribute])
    if code >= 0 and data.attributes[node.attribute].is_numeric:
        return np.int64(code > node.cut)
    return code


@kernel
def weight_and_errors(class_weights):
    """Return the weight of all cases, and of those that are not of the most frequent class."""
    total = 0.0
    largest = 0.0
    for weight in class_weights:
        total += weight
        largest = max(largest, weight)
    return total, total - largest


@kernel
def divide(data, growth, node_number, work):
    """Give the cases of a node to new nodes, its branches.

    A case without a value is divided (Quinlan 1993, chapter 3): each branch gets it, with its
    weight times the branch's share of the cases that have a value.

    Raises
    ------
    MemoryError
        If there is no room for so many nodes or cases.
    """
    size = growth.size[0]
    node = growth.nodes[node_number]
    first_case = node.first_case
    n_cases = node.end_case - first_case
    n_branches = data.attributes[node.attribute].n_branches

    # to which branch each case goes, and the weight of those of each branch
    for v in range(n_branches):
        work.branch_weights[v] = 0.0
    n_missing = 0
    for i in range(n_cases):
        work.cases[i] = growth.cases[first_case + i]
        v = branch_of_row(data, node, work.cases[i].row)
        work.branches[i] = v
        if v >= 0:
            work.branch_weights[v] += work.cases[i].weight
        else:
            n_missing += 1
    known_weight = 0.0
    for v in range(n_branches):
        known_weight += work.branch_weights[v]

    # branches take the place of their node's cases if they have no more
    end = size.cases if n_missing > 0 else first_case
    max_end = end + n_cases + n_missing * (n_branches - 1)
    node.child = size.nodes
    size.nodes += n_branches
    if size.nodes > len(growth.nodes) or max_end > len(growth.cases):
        raise MemoryError
    for v in range(n_branches):
        child_number = node.child + v
        child = growth.nodes[child_number]
        class_weights = growth.class_weights[child_number]
        for c in range(data.n_classes):
            class_weights[c] = 0.0
        takes_missing = work.branch_weights[v] > 0
        share = work.branch_weights[v] / known_weight if known_weight > 0 else 0.0
        child.share = share
        child.first_case = end
        for i in range(n_cases):
            is_missing = work.branches[i] < 0
            if work.branches[i] == v or (is_missing and takes_missing):
                case = growth.cases[end]
                case.row = work.cases[i].row
                case.weight = work.cases[i].weight * (share if is_missing else 1.0)
                class_weights[data.y[case.row]] += case.weight
                end += 1
        child.end_case = end
    size.cases = max(size.cases, end)
