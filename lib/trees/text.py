"""Trees as text, in the layout of scikit-learn."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lib.base.validation import check_integer
from lib.trees.tree import GainRatioTree

# significant digits of a number, though never fewer than its whole part has and one more
DIGITS = 6
WHOLE = 1e15  # numbers below this are written without an exponent


def number_text(value):
    """Return a number as short text: 24, 24.5, 0.123457, 1234567.5."""
    whole_digits = len(str(int(abs(value)))) if abs(value) < WHOLE else 0
    return f"{value:.{max(DIGITS, whole_digits + 1)}g}"


def export_text(tree, *, max_depth=10):
    """Return a fitted tree as text, as `sklearn.tree.export_text` does.

    Parameters
    ----------
    tree : GainRatioTree
    max_depth : int, at least 0
        Nodes with more tests above them are not shown, and a line says so.

    Returns
    -------
    str
        A line for each branch and each leaf, with the names of columns, categories and classes.
        Numbers have six significant digits; `threshold_` has them all. A leaf shows the class that
        it predicts.

    Raises
    ------
    ValueError
        If `tree` is not a GainRatioTree, is not fitted, or `max_depth` is not an integer of at
        least 0.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50]})
    >>> print(export_text(GainRatioTree().fit(people, ["no", "no", "yes", "yes"])))
    |--- age <= 35
    |   |--- class: no
    |--- age >  35
    |   |--- class: yes
    """
    if not isinstance(tree, GainRatioTree):
        raise ValueError(f"tree must be a GainRatioTree; got {tree!r}")
    check_is_fitted(tree)
    check_integer("max_depth", max_depth, 0)
    heights = _heights(tree)
    lines = []
    # node, depth and the test that leads there; a stack, as a tree may be very deep
    stack = [(0, 0, None)]
    while stack:
        node, depth, test = stack.pop()
        if test is not None:
            lines.append(_line(depth - 1, test))
        if tree.attribute_[node] < 0:
            label = tree.distribution_[node].argmax()
            lines.append(_line(depth, f"class: {tree.classes_[label]}"))
        elif depth > max_depth:
            lines.append(_line(depth, f"truncated branch of depth {heights[node] + 1}"))
        else:
            branches = zip(_children(tree, node), _tests(tree, node), strict=True)
            entries = [(child, depth + 1, test) for child, test in branches]
            stack += reversed(entries)  # the first comes off first
    return "\n".join(lines)


def _line(depth, text):
    return "|   " * depth + f"|--- {text}"


def _children(tree, node):
    """Return the numbers of the children of a node."""
    n_categories = tree._columns.sizes[tree.attribute_[node]]
    n_branches = n_categories if n_categories else 2
    return tree.child_[node] + np.arange(n_branches)


def _tests(tree, node):
    """Return what leads to each child of a node, in words."""
    attribute = tree.attribute_[node]
    name = tree._columns.names[attribute]
    if name in tree.categories_:
        return [f"{name} = {category}" for category in tree.categories_[name]]
    threshold = number_text(tree.threshold_[node])
    return [f"{name} <= {threshold}", f"{name} >  {threshold}"]


def _heights(tree):
    """Return the number of tests on the longest way from each node to a leaf."""
    heights = np.zeros(tree.n_nodes_, int)
    for node in reversed(range(tree.n_nodes_)):  # children come after their parents
        if tree.attribute_[node] >= 0:
            heights[node] = 1 + heights[_children(tree, node)].max()
    return heights
