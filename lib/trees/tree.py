"""The decision tree of C4.5 as an estimator."""

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from lib.base.compiled import compiled
from lib.base.estimators import case_weights, with_parameters
from lib.base.validation import check_choice, check_flag, check_integer, check_real, optional
from lib.discretize.columns import checked_frame, checked_target
from lib.trees.cases_by_code import new_code_order
from lib.trees.gain_ratio import TreeOptions, new_search
from lib.trees.growing import build
from lib.trees.node_cases import ATTRIBUTE, Data, new_division, new_growth
from lib.trees.pruning import collapse, list_nodes, new_pruning, prune
from lib.trees.ranked_columns import Table, TableClassifier

MANY_CATEGORIES = 0.3  # per row, from which on the gain of an attribute is not part of the mean
XLOGX = np.arange(100_000.0)  # x log2 x of whole numbers
XLOGX[1:] *= np.log2(XLOGX[1:])


@with_parameters
class GainRatioTree(TableClassifier):
    """The decision tree of C4.5, grown by gain ratio and pruned by a bound of the error rate.

    A node takes the test with the highest gain ratio among those whose gain is not below the mean.
    If a test sends n_v of n cases to branch v, and I is the entropy of the classes of cases, then

        gain = I(n) - sum_v n_v / n I(n_v),
        split info = - sum_v n_v / n log2(n_v / n),
        gain ratio = gain / split info.

    A test of categories has a branch for each, a test of numbers has two and a threshold. A case
    whose value is missing goes to all branches, in the proportions of the others; the gain is
    multiplied by the share of the cases that have values.

    Parameters
    ----------
    pruning : float in (0, 0.5] or None
        Chance that the error rate of a leaf is above the bound that pruning takes for it, CF in
        C4.5; a smaller one prunes more. None replaces subtrees only if they are no better in
        training than a leaf.
    min_leaf : float, above 0
        At least two branches of a test have cases of this weight or more.
    n_best : int, at least 1
        The test is drawn among this number of the best, all with positive gain; then every
        threshold is a test of its own (Dietterich & Kong 1995). 1 takes the best.
    criterion : "gain_ratio" or "gain"
        With "gain_ratio", a threshold also leaves a tenth of the cases of an average class on each
        side, 25 at most; not with `n_best` above 1.
    mdl : bool
        Subtract log2(number of thresholds) / n from the gain of a threshold, as C4.5 does from
        release 8 on; not with `n_best` above 1.
    midway : bool
        Put thresholds midway between two values; else at the largest training value that is not
        above the middle, as in C4.5.
    max_features : int or None
        Number of attributes that are drawn at each node, and tested there; None is all.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_nodes_, n_leaves_ : int
        Leaves without training cases among them.
    attribute_ : ndarray of int32 (n_nodes,)
        Tested at each node, -1 at a leaf. Node 0 is the root, and children come after their
        parents. `export_text` shows the tree with the names of columns, categories and classes.
    threshold_ : ndarray of shape (n_nodes,)
        Values up to it go to the first child; NaN where the test is of categories.
    child_ : ndarray of int32 (n_nodes,)
        The first child; the others follow it, in the order of the categories.
    categories_ : dict of column -> Index
        The categories of the columns that have no numbers. Columns of an array, or without string
        names, are called "x0", "x1", ...
    share_ : ndarray of shape (n_nodes,)
        Share of the parent's cases with values that went here.
    distribution_ : ndarray of shape (n_nodes, n_classes)
        Class frequencies; of an empty node, those of its parent.

    Notes
    -----
    Columns of floats and integers are numbers, compared as float64, in which whole numbers from
    2^53 on lose their last digits; all other columns are categories. At prediction a category that
    is not known counts as missing. `sample_weight` are numbers of cases: rows of weight two come
    twice. Rows of weight zero do not count, though their classes remain. Weights that sum to less
    than the number of rows with positive weight, as those of scikit-learn's AdaBoost, which sum to
    1, are rescaled to sum to that number.

    References
    ----------
    Quinlan (1993), C4.5; Quinlan (1996), "Improved use of continuous attributes in C4.5", JAIR 4.
    Weka's J48 grows the same trees with `midway=False`, where rows have no weights.
    """

    pruning: float | None = 0.25
    min_leaf: float = 2
    n_best: int = 1
    criterion: str = "gain_ratio"
    mdl: bool = True
    midway: bool = True
    max_features: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y, sample_weight=None):
        """Grow and prune a tree for `X` (n_samples, n_columns) and the classes `y` (n_samples,).

        `sample_weight` (n_samples,) are numbers of cases, see the notes.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has an infinite value or a column of dates, `y`
            has a missing label, lengths differ, a weight is negative, all are zero, or their sum is
            infinite.
        """
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=True))
        classes, y = checked_target(table, y)
        return self.grow(table, classes, y, case_weights(sample_weight, table))

    def grow(self, table, classes, y, weights):
        """Do what `fit` does, with checked input.

        Parameters
        ----------
        table : Table
        classes : ndarray (n_classes,)
        y : ndarray of int (n_samples,)
            Numbers of `classes`, all of which are in it.
        weights : ndarray of float (n_samples,)
        """
        parameters = self.checked_parameters(table)
        self.classes_ = classes
        self._columns = table.columns
        self.n_features_in_ = table.shape[1]
        self.categories_ = table.columns.categories
        draws = self.n_best > 1 or parameters.max_features < table.shape[1]
        seed = check_random_state(self.random_state).randint(2**31) if draws else 0
        data = training_data(table, y, len(classes))
        rows = np.flatnonzero(weights)
        growth, numbers, parents = grow_tree(data, rows, weights[rows], parameters, seed)
        self._number_nodes(data, growth, numbers, parents)
        return self

    def predict_proba(self, X):
        """Class frequencies at the leaf of each row, (n_samples, n_classes).

        A row with missing values may come to several leaves, and gets their weighted mean.
        """
        table = self._inputs(X)
        return mean_distributions(
            table.matrix,
            self._columns.sizes,
            self.attribute_,
            self.threshold_,
            self.child_,
            self.share_,
            self.distribution_,
        )

    def checked_parameters(self, table):
        """The options as the kernels take them, for data in a `Table`, or a ValueError."""
        optional(check_real, "pruning", self.pruning, 0, 0.5, open_low=True)
        check_real("min_leaf", self.min_leaf, 0, open_low=True)
        check_integer("n_best", self.n_best, 1)
        check_choice("criterion", self.criterion, ("gain_ratio", "gain"))
        check_flag("mdl", self.mdl)
        check_flag("midway", self.midway)
        n_columns = table.shape[1]
        max_features = optional(check_integer, "max_features", self.max_features, 1) or n_columns
        # no more tests are possible than there are values
        max_tests = max(len(table.ranked[1]), 2)
        confidence = float(self.pruning or 1)
        return TreeOptions(
            min_leaf=float(self.min_leaf),
            n_best=min(self.n_best, max_tests),
            mdl=self.mdl and self.n_best == 1,
            by_ratio=self.criterion == "gain_ratio",
            max_features=min(max_features, n_columns),
            confidence=confidence,
            z=ndtri(1 - confidence),
        )

    def _number_nodes(self, data, growth, numbers, parents):
        """Set the attributes of the fitted tree from its data and from what `grow_tree` returns."""
        nodes = growth.nodes[numbers]
        self.attribute_ = nodes["attribute"].astype(np.int32)
        is_inner = self.attribute_ >= 0
        # children are in the order of their parents: the first child is the first with this parent
        first_child = np.searchsorted(parents, np.arange(len(nodes)))
        self.child_ = np.where(is_inner, first_child, -1).astype(np.int32)
        self.share_ = nodes["share"].copy()
        self.threshold_ = np.where(is_inner, nodes["threshold"], np.nan)
        if not self.midway:
            numeric = np.flatnonzero(is_inner & data.attributes["is_numeric"][self.attribute_])
            first_value = data.attributes["first_value"][self.attribute_[numeric]]
            self.threshold_[numeric] = data.values[first_value + nodes["cut"][numeric]]
        class_weights = growth.class_weights[numbers]
        is_empty = class_weights.sum(axis=1) == 0
        # an empty node is a leaf, so its parent is not empty
        class_weights[is_empty] = class_weights[parents[is_empty]]
        self.distribution_ = class_weights / class_weights.sum(axis=1, keepdims=True)
        self.n_nodes_ = len(nodes)
        self.n_leaves_ = int((~is_inner).sum())


def training_data(table, y, n_classes):
    """Return the `Data` that the kernels read: a `Table` and the class number of each row, `y`."""
    sizes = table.columns.sizes
    first_values, values = table.ranked
    in_mean_gain = sizes < MANY_CATEGORIES * len(y)
    attributes = np.empty(len(sizes), ATTRIBUTE)
    attributes["is_numeric"] = sizes == 0
    attributes["in_mean_gain"] = in_mean_gain | ~in_mean_gain.any()
    attributes["n_branches"] = np.where(sizes, sizes, 2)
    attributes["highest_code"] = table.codes.max(axis=1)
    attributes["first_value"] = first_values
    return Data(
        codes=table.codes,
        codes_by_row=table.by_row,
        attributes=attributes,
        values=values,
        is_complete=table.complete,
        y=y,
        n_classes=n_classes,
        xlogx_table=XLOGX,
    )


def grow_tree(data, rows, weights, parameters, seed):
    """Grow a tree, and prune it if `parameters.confidence` is below 1.

    Parameters
    ----------
    data : Data
    rows : ndarray of int (n,)
        Of the cases, in `data`.
    weights : ndarray of float (n,)
        Above 0.
    parameters : TreeOptions
    seed : int
        For random choices among tests and attributes.

    Returns
    -------
    growth : Growth
    numbers : ndarray of int (n_nodes,)
        Of the nodes that can be reached from the root, level by level.
    parents : ndarray of int (n_nodes,)
        Position of each node's parent in `numbers`, -1 for the root.
    """
    search = new_search(len(rows), data, parameters, seed)
    order = new_code_order(len(rows))
    division = new_division(len(rows), data)
    room = 2
    while True:
        growth = new_growth(rows, weights, data, room)
        pruning = new_pruning(growth)
        search.state["random"] = seed
        try:
            build(data, growth, parameters, search, order, division, pruning.stack)
            collapse(data, growth)
            if parameters.confidence < 1:
                prune(data, growth, parameters, pruning, division)
            break
        except MemoryError:  # the arrays are full: grow again in arrays twice as large
            room *= 2
    numbers = np.empty(len(growth.nodes), np.int64)
    parents = np.empty(len(growth.nodes), np.int64)
    n_nodes = list_nodes(data, growth, numbers, parents)
    return growth, numbers[:n_nodes], parents[:n_nodes]


@compiled()
def mean_distributions(matrix, sizes, attribute, threshold, child, share, distribution):
    """Return the mean class frequencies of the leaves to which each row comes, (n_rows, n_classes).

    A row without a value goes to all branches that are not empty, in the shares of training
    (Quinlan 1993, chapter 3).

    Parameters
    ----------
    matrix : ndarray of float (n_rows, n_columns)
        Of a `Table`.
    sizes : ndarray of int (n_columns,)
        Number of categories of each column, 0 for numbers.
    attribute, threshold, child, share, distribution : ndarray
        Attributes of a fitted tree.
    """
    n_rows = matrix.shape[0]
    n_classes = distribution.shape[1]
    n_nodes = attribute.shape[0]
    result = np.zeros((n_rows, n_classes))
    # a stack of nodes, and the part of the row that comes to each
    stack = np.zeros(n_nodes + 1, np.int64)
    fractions = np.ones(n_nodes + 1)
    for i in range(n_rows):
        stack[0] = 0
        fractions[0] = 1.0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            node = stack[n_waiting]
            fraction = fractions[n_waiting]
            if attribute[node] < 0:
                for c in range(n_classes):
                    result[i, c] += fraction * distribution[node, c]
                continue
            value = matrix[i, attribute[node]]
            n_categories = sizes[attribute[node]]
            first_child = child[node]
            if np.isnan(value):
                n_branches = n_categories if n_categories > 0 else 2
                for v in range(first_child, first_child + n_branches):
                    if share[v] > 0:
                        stack[n_waiting] = v
                        fractions[n_waiting] = fraction * share[v]
                        n_waiting += 1
                continue
            v = np.int64(value) if n_categories > 0 else np.int64(value > threshold[node])
            stack[n_waiting] = first_child + v
            fractions[n_waiting] = fraction
            n_waiting += 1
    return result
