"""The cases of a tree's nodes, pairs of row and weight, and how they go to branches.

The cases of a node are neighbours in one list. Those of its branches take their place, the last branch first; where
values are missing they are more, and come to the end of the list.
"""

import numpy as np

from lib.compiled import compiled
from lib.trees.layout import ABOVE, CASES, CHILD, CUT, FIRST, LAST, MODEL, NODES, TEST, TOP, Growth


def new_growth(rows, weights, data):
    """Return the growth of a tree whose root waits, with these cases."""
    n = 2 * (len(rows) + data.most)
    nodes, counts, used = np.zeros((n, 8), np.int64), np.zeros((n, data.n_classes)), np.array([1, len(rows), 0, 0])
    nodes[0, [LAST, MODEL, ABOVE]] = len(rows), -1, -1
    return Growth(nodes, counts, np.ones(n), np.tile(rows, 2), np.tile(weights, 2), used)


def with_room(step, data, growth, *arguments):
    """Take a step until it says that it is done, each time with more room for nodes and cases; returns the growth."""
    while not step(data, growth, *arguments):
        growth = Growth(*(np.concatenate((array, np.zeros_like(array))) for array in growth[:-1]), growth.used)
    return growth


@compiled()
def branch(data, nodes, node, row):
    """Return the number of the child to which a row goes, or -1 where the value is missing."""
    test = nodes[node, TEST]
    code = data.codes[test, row]
    return np.int64(code > nodes[node, CUT] if code >= 0 and data.numeric[test] else code)


@compiled()
def errors_seen(counts):
    """Return how many cases a node has, and how many of them are of other classes than most."""
    n = most = 0.0
    for count in counts:
        n += count
        most = max(most, count)
    return n, n - most


@compiled()
def has_room(data, growth):
    """Return whether there is room for the branches of the node on top of those that wait, and for their cases."""
    nodes, used = growth.nodes, growth.used
    n_cases = 0 if data.complete else data.most * (nodes[used[TOP], LAST] - nodes[used[TOP], FIRST])
    return used[NODES] + data.most <= nodes.shape[0] and used[CASES] + n_cases <= growth.rows.shape[0]


@compiled()
def next_node(data, growth):
    """Take the node on top of those that wait, and count its classes."""
    node = growth.used[TOP]
    growth.used[TOP] = growth.nodes[node, ABOVE]
    growth.counts[node].fill(0.0)
    for i in range(growth.nodes[node, FIRST], growth.nodes[node, LAST]):
        growth.counts[node, data.y[growth.rows[i]]] += growth.weights[i]
    return node


@compiled()
def divide(data, growth, node):
    """Give the cases of a node to its branches, which wait, the last on top; one without a value is in all of them."""
    nodes, (first, last) = growth.nodes, (growth.nodes[node, FIRST], growth.nodes[node, LAST])
    k, known, n_missing = data.branches[nodes[node, TEST]], 0.0, 0
    rows, weights = growth.rows[first:last].copy(), growth.weights[first:last].copy()
    where, bags, places = np.empty(last - first, np.int64), np.zeros(k), np.zeros(k, np.int64)
    for i in range(last - first):
        v = where[i] = branch(data, nodes, node, rows[i])
        if v >= 0:
            bags[v] += weights[i]
            places[v] += 1
        n_missing += v < 0
    for bag in bags:
        known += bag
    place_branches(growth, node, bags, places, known if known > 0 else 1.0, n_missing)
    for i in range(last - first):
        for v in range(k) if where[i] < 0 else range(where[i], where[i] + 1):
            if where[i] >= 0 or bags[v] > 0:
                part = growth.shares[nodes[node, CHILD] + v] if where[i] < 0 else 1.0
                growth.rows[places[v]], growth.weights[places[v]] = rows[i], weights[i] * part
                places[v] += 1


@compiled()
def place_branches(growth, node, bags, places, known, n_missing):
    """Number the branches of a node, and set their shares and, in `places`, instead of their numbers, their cases."""
    nodes, used, child, model = growth.nodes, growth.used, growth.used[NODES], growth.nodes[node, MODEL]
    end = used[CASES] if n_missing > 0 else nodes[node, FIRST]
    for v in range(bags.shape[0] - 1, -1, -1):
        size, places[v] = places[v] + (n_missing if bags[v] > 0 else 0), end
        growth.shares[child + v], end = bags[v] / known, end + size
        nodes[child + v, FIRST], nodes[child + v, LAST] = places[v], end
        nodes[child + v, MODEL] = nodes[model, CHILD] + v if model >= 0 else -1
        nodes[child + v, ABOVE] = child + v - 1 if v > 0 else used[TOP]
    nodes[node, CHILD], used[NODES], used[TOP] = child, child + bags.shape[0], child + bags.shape[0] - 1
    used[CASES] = max(used[CASES], end)
