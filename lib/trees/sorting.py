"""Two compiled ways to grow one tree of numbers: rows sorted once, or again at every node.

Both grow the same tree, node by node. They share the scan that finds a cut (`best_cut`), the rule
that ends a branch, the numbers of the nodes and the order in which these are worked on, so that
their times differ by how each node comes by sorted values, and by nothing else.
"""

from typing import NamedTuple

import numpy as np

from lib.base.compiled import compiled
from lib.base.validation import check_integer

ROUNDING = 1 + 1e-12  # a cut must be purer than its node by more than this factor


class GiniTree(NamedTuple):
    """A binary tree that is not pruned; node 0 is the root, and -1 stands for none.

    Attributes
    ----------
    attribute : ndarray of int (n_nodes,)
        That a node tests, -1 of leaves.
    threshold : ndarray of float (n_nodes,)
        Rows with larger values go right.
    left, right : ndarray of int (n_nodes,)
        Numbers of the children.
    label : ndarray of int (n_nodes,)
        The most frequent class, of equals the first.
    n_looked : int
        Values among which cuts were sought, over all nodes.
    """

    attribute: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    label: np.ndarray
    n_looked: int

    @property
    def n_levels(self):
        """Return how many nodes the longest branch has."""
        levels = np.ones(len(self.label), int)
        for node in np.flatnonzero(self.attribute >= 0):  # children have larger numbers
            levels[[self.left[node], self.right[node]]] = levels[node] + 1
        return int(levels.max())

    def predict(self, X):
        """Return the class of each row, ndarray of int (n_samples,)."""
        X = np.asarray(X, float)
        nodes = np.zeros(len(X), int)
        rows = np.arange(len(X))
        while True:
            rows = rows[self.attribute[nodes[rows]] >= 0]
            if len(rows) == 0:
                return self.label[nodes]
            tests = nodes[rows]
            is_right = X[rows, self.attribute[tests]] > self.threshold[tests]
            nodes[rows] = np.where(is_right, self.right[tests], self.left[tests])


def grow_from_lists(X, y):
    """Grow a tree from lists that are sorted once and divided (SPRINT, in memory).

    Parameters
    ----------
    X : array-like of float (n_samples, n_attributes)
    y : array-like of int (n_samples,)
        Classes, 0, 1, ...

    Returns
    -------
    GiniTree
        Each node has the cut with the least Gini impurity; a branch ends where its rows are of one
        class, or no cut is purer than the node.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers, or y has no class for each row.

    References
    ----------
    Shafer, Agrawal & Mehta (1996), "SPRINT: a scalable parallel classifier for data mining".
    """
    columns, y, n_classes = _checked(X, y)
    rows = np.array([column.argsort(kind="stable") for column in columns], np.int32)
    values = np.take_along_axis(columns, rows, axis=1)
    tree = _empty_tree(len(y))
    n_nodes, n_looked = divide_lists(rows, values, y[rows], n_classes, tree)
    return _cut_to_size(tree, n_nodes, n_looked)


def grow_by_sorting(X, y, sample_size=None, seed=0):
    """Grow a tree that sorts the rows of every node by every attribute.

    Parameters
    ----------
    X, y
        As in `grow_from_lists`, whose tree it grows.
    sample_size : int, at least 2, or None
        A node with more rows chooses its cut from a random sample of so many, if one of the sample
        is purer than the sample, else from all its rows.
    seed : int, at least 0, or Generator
        Of the samples.

    Returns
    -------
    GiniTree

    Raises
    ------
    ValueError
        As `grow_from_lists`, or if `sample_size` or `seed` is out of range.
    """
    columns, y, n_classes = _checked(X, y)
    if sample_size is not None:
        sample_size = check_integer("sample_size", sample_size, 2)
    if not isinstance(seed, np.random.Generator):
        seed = check_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    tree = _empty_tree(len(y))
    n_nodes, n_looked = sort_nodes(columns, y, n_classes, sample_size or len(y), rng, tree)
    return _cut_to_size(tree, n_nodes, n_looked)


def _checked(X, y):
    """Return the columns of X, each contiguous, y as int32, and the number of classes."""
    X = np.asarray(X, float)
    y = np.asarray(y)
    if X.ndim != 2 or X.size == 0 or not np.isfinite(X).all():
        raise ValueError(f"X must be a table of finite numbers; got shape {X.shape}")
    if y.shape != X.shape[:1] or not np.issubdtype(y.dtype, np.integer) or y.min() < 0:
        raise ValueError(f"y must hold a class, 0, 1, ..., for each of {len(X)} rows")
    # a copy, as a frame may lend an array that is not to be written
    return np.array(X.T, order="C"), y.astype(np.int32), int(y.max()) + 1


def _empty_tree(n_rows):
    """Return a tree with room for as many nodes as a tree of so many rows can have."""
    n_nodes = 2 * n_rows - 1
    attribute, left, right, label = np.full((4, n_nodes), -1, np.int32)
    return GiniTree(attribute, np.zeros(n_nodes), left, right, label, 0)


def _cut_to_size(tree, n_nodes, n_looked):
    """Return a tree of copies without the room that was not needed."""
    arrays = [array[:n_nodes].copy() for array in tree[:-1]]
    return GiniTree(*arrays, n_looked)


@compiled()
def best_cut(values, labels, total, left):
    """Return the score of the best cut between sorted values, 0 for none, and its threshold.

    The score is the number of rows less their Gini impurity, summed over the two sides:
    sum_k l_k^2 / l + sum_k r_k^2 / r, where l_k and r_k rows of class k are left and right.

    Parameters
    ----------
    values : ndarray of float (n_rows,)
        Ascending.
    labels : ndarray of int (n_rows,)
    total : ndarray of int (n_classes,)
        Rows of each class.
    left : ndarray of int (n_classes,)
        Is overwritten.
    """
    n_rows = len(values)
    left[:] = 0
    left_squares = 0
    right_squares = (total**2).sum()
    best_score = 0.0
    threshold = 0.0
    for i in range(n_rows - 1):
        label = labels[i]
        # (l + 1)^2 - l^2 and (r - 1)^2 - r^2, where r = total - l
        left_squares += 2 * left[label] + 1
        right_squares -= 2 * (total[label] - left[label]) - 1
        left[label] += 1
        if values[i + 1] > values[i]:
            score = left_squares / (i + 1) + right_squares / (n_rows - i - 1)
            if score > best_score:
                best_score = score
                threshold = values[i] + (values[i + 1] - values[i]) / 2
    return best_score, threshold


@compiled()
def count_classes(labels, counts):
    """Count the rows of each class, and return whether all are of one."""
    counts[:] = 0
    for label in labels:
        counts[label] += 1
    return counts.max() == len(labels)


@compiled()
def improves(score, counts, n_rows):
    """Return whether a cut is purer than its node, beyond rounding."""
    return score > ROUNDING * (counts**2).sum() / n_rows


@compiled()
def add_children(tree, node, n_nodes, attribute, threshold):
    """Give a node its test, and two children with the next numbers."""
    tree.attribute[node] = attribute
    tree.threshold[node] = threshold
    tree.left[node] = n_nodes
    tree.right[node] = n_nodes + 1


@compiled()
def divide_list(rows, values, labels, goes_right, buffers):
    """Move the rows that go right behind the others; each side keeps its order."""
    right_rows, right_values, right_labels = buffers
    n_left = 0
    n_right = 0
    for i in range(len(rows)):
        if goes_right[rows[i]]:
            right_rows[n_right] = rows[i]
            right_values[n_right] = values[i]
            right_labels[n_right] = labels[i]
            n_right += 1
        else:
            rows[n_left] = rows[i]
            values[n_left] = values[i]
            labels[n_left] = labels[i]
            n_left += 1
    rows[n_left:] = right_rows[:n_right]
    values[n_left:] = right_values[:n_right]
    labels[n_left:] = right_labels[:n_right]


@compiled()
def divide_lists(rows, values, labels, n_classes, tree):
    """Grow a tree from sorted lists; return its nodes and values looked at.

    The lists are of shape (n_attributes, n_samples). A node has the same part of
    every list, which its test divides.
    """
    n_attributes, n_rows = values.shape
    total = np.zeros(n_classes, np.int64)
    left = np.zeros(n_classes, np.int64)
    goes_right = np.zeros(n_rows, np.bool_)
    buffers = (np.empty_like(rows[0]), np.empty_like(values[0]), np.empty_like(labels[0]))
    open_nodes = [(0, 0, n_rows)]
    n_nodes = 1
    n_looked = 0
    while open_nodes:
        node, start, end = open_nodes.pop()
        is_pure = count_classes(labels[0, start:end], total)
        tree.label[node] = total.argmax()
        if is_pure:
            continue
        n_looked += n_attributes * (end - start)
        best = (0.0, 0.0, -1)  # score, threshold, attribute
        for j in range(n_attributes):
            score, threshold = best_cut(values[j, start:end], labels[j, start:end], total, left)
            if score > best[0]:
                best = (score, threshold, j)
        score, threshold, attribute = best
        if not improves(score, total, end - start):
            continue
        # the list of the tested attribute says of each row to which side it goes: one bit
        middle = start
        for i in range(start, end):
            is_right = values[attribute, i] > threshold
            goes_right[rows[attribute, i]] = is_right
            middle += not is_right
        for j in range(n_attributes):
            part = slice(start, end)
            divide_list(rows[j, part], values[j, part], labels[j, part], goes_right, buffers)
        add_children(tree, node, n_nodes, attribute, threshold)
        open_nodes.append((n_nodes, start, middle))
        open_nodes.append((n_nodes + 1, middle, end))
        n_nodes += 2
    return n_nodes, n_looked


@compiled()
def best_cut_by_sorting(columns, y, rows, total, left):
    """Return score, threshold and attribute of the best cut of rows, sorted by each attribute."""
    best = (0.0, 0.0, -1)
    for j in range(len(columns)):
        values = columns[j][rows]
        order = np.argsort(values)
        score, threshold = best_cut(values[order], y[rows[order]], total, left)
        if score > best[0]:
            best = (score, threshold, j)
    return best


@compiled()
def draw_rows(rows, size, rng):
    """Return a random sample of rows without replacement."""
    sample = rows.copy()
    for i in range(size):
        j = rng.integers(i, len(rows))
        sample[i], sample[j] = sample[j], sample[i]
    return sample[:size]


@compiled()
def sort_nodes(columns, y, n_classes, sample_size, rng, tree):
    """Grow a tree by sorting at every node; return its nodes and values looked at."""
    n_attributes, n_rows = columns.shape
    total = np.zeros(n_classes, np.int64)
    left = np.zeros(n_classes, np.int64)
    rows = np.arange(n_rows)
    open_nodes = [(0, 0, n_rows)]
    n_nodes = 1
    n_looked = 0
    while open_nodes:
        node, start, end = open_nodes.pop()
        node_rows = rows[start:end]
        is_pure = count_classes(y[node_rows], total)
        tree.label[node] = total.argmax()
        if is_pure:
            continue
        is_better = False
        score, threshold, attribute = 0.0, 0.0, -1
        if len(node_rows) > sample_size:
            sample = draw_rows(node_rows, sample_size, rng)
            n_looked += n_attributes * sample_size
            count_classes(y[sample], total)
            score, threshold, attribute = best_cut_by_sorting(columns, y, sample, total, left)
            is_better = improves(score, total, sample_size)
        # where no cut of the sample gains, all rows are asked
        if not is_better:
            n_looked += n_attributes * len(node_rows)
            count_classes(y[node_rows], total)
            score, threshold, attribute = best_cut_by_sorting(columns, y, node_rows, total, left)
            is_better = improves(score, total, len(node_rows))
        if not is_better:
            continue
        is_right = columns[attribute][node_rows] > threshold
        right_rows = node_rows[is_right]
        middle = end - len(right_rows)
        rows[start:middle] = node_rows[~is_right]
        rows[middle:end] = right_rows
        add_children(tree, node, n_nodes, attribute, threshold)
        open_nodes.append((n_nodes, start, middle))
        open_nodes.append((n_nodes + 1, middle, end))
        n_nodes += 2
    return n_nodes, n_looked
