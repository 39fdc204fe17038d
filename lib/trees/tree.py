"""The decision tree of C4.5 as an estimator."""

from contextlib import suppress

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from lib.compiled import compiled
from lib.discretize.columns import checked_frame, checked_target
from lib.estimators import case_weights, with_parameters
from lib.trees.node_cases import Data, Rule, new_growth
from lib.trees.pruning import grown
from lib.trees.ranked_columns import Table, TableClassifier
from lib.validation import check_choice, check_flag, check_integer, check_real, optional

LOGS = np.arange(100_000.0)  # x log2 x of whole numbers
LOGS[1:] *= np.log2(LOGS[1:])


@with_parameters
class GainRatioTree(TableClassifier):
    """The tree of C4.5: a branch for each category, thresholds, fractions of cases with missing values, pruning.

    A node of n cases takes the test with the highest gain ratio

        (I(n) - sum_v n_v / n I(n_v)) / (- sum_v n_v / n log2 n_v / n),   I the entropy of the
        classes,

    among those whose gain, the numerator, is not below the mean. A case whose value is missing goes
    to all branches, in the proportions of the others; the gain counts for the part of the cases
    that have values.

    Parameters
    ----------
    pruning : float in (0, 0.5] or None
        Chance that the error rate of a leaf is above the bound that pruning takes for it; smaller
        prunes more. None leaves the tree as it was grown, but for subtrees that are no better in
        training than a leaf.
    min_leaf : float, above 0
        At least two branches of a test have cases of this weight.
    n_best : int, at least 1
        The test is drawn among that many of the best, all with positive gain, every threshold a
        test of its own (Dietterich & Kong); 1 takes the best.
    criterion : "gain_ratio" or "gain"
        With "gain_ratio", a threshold also leaves a tenth of the cases of an average class on each
        side, 25 at most.
    mdl : bool
        A threshold's gain is less by log2(number of thresholds) / n, as from release 8 on; not with
        `n_best` above 1.
    midway : bool
        Thresholds are midway between two values; else at the largest training value that is not
        above the middle, as in C4.5.
    max_features : int or None
        Attributes drawn at each node; None is all.
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
        Part of the parent's cases with values that went here.
    distribution_ : ndarray of shape (n_nodes, n_classes)
        Class frequencies; of an empty node, those of its parent.

    Notes
    -----
    Columns of floats and integers are numbers, all others categories. At prediction a category that
    is not known counts as missing. `sample_weight` are numbers of cases: rows of weight two come
    twice. Rows of weight zero do not count, though their classes remain. If the sum of all is less
    than the number of rows that have any, they are multiplied until it is this number, as for
    scikit-learn's AdaBoost, whose weights sum to 1.

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
        """Grow and prune a tree for `X` (n_samples, n_columns), the classes `y` and weights (n_samples,).

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has an infinite value or a column of dates, `y`
            lacks a class, lengths differ, a weight is negative, all are zero, or their sum is
            infinite.
        """
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=True))
        classes, y = checked_target(table, y)
        return self.grow(table, classes, y, case_weights(sample_weight, table))

    def grow(self, table, classes, y, weights):
        """What `fit` does once its input is checked: `y` are numbers of `classes`, all of which are in it."""
        rule, rows = self._rule(table), np.flatnonzero(weights)
        draws = self.n_best > 1 or rule.n_features < table.shape[1]
        seed = check_random_state(self.random_state).randint(2**31) if draws else 0
        self.classes_, self._columns, self.n_features_in_ = classes, table.columns, table.shape[1]
        self.categories_ = table.columns.categories
        sizes = table.columns.sizes
        usual = sizes < 0.3 * len(y)
        usual |= ~usual.any()
        columns = (
            table.codes.max(axis=1),
            sizes == 0,
            np.where(sizes, sizes, 2),
            usual,
            *table.ranked,
        )
        data = Data(table.codes, table.by_row, *columns, table.complete, y, len(classes), LOGS)
        room, n = 1, 0
        while n == 0:  # for want of room it grows anew in twice as much
            room *= 2
            growth, work = new_growth(rows, weights[rows], data, rule, seed, room)
            with suppress(MemoryError):
                n = grown(data, growth, rule, work)
        self._flatten(growth, work.nodes[:n], work.waiting[:n], data)
        return self

    def predict_proba(self, X):
        """Class frequencies at the leaf of each row, (n_samples, n_classes), or their mean over several leaves."""
        table = self._inputs(X)
        tree = (self.attribute_, self.threshold_, self.child_, self.share_, self.distribution_)
        return distributions(table.matrix, self._columns.sizes, *tree)

    def _rule(self, table):
        optional(check_real, "pruning", self.pruning, 0, 0.5, open_low=True)
        check_real("min_leaf", self.min_leaf, 0, open_low=True)
        check_integer("n_best", self.n_best, 1)
        check_choice("criterion", self.criterion, ("gain_ratio", "gain"))
        check_flag("mdl", self.mdl)
        check_flag("midway", self.midway)
        n_columns, most_tests = table.shape[1], max(len(table.ranked[1]), 2)
        n_features = optional(check_integer, "max_features", self.max_features, 1) or n_columns
        mdl, ratio = self.mdl and self.n_best == 1, self.criterion == "gain_ratio"
        confidence = float(self.pruning or 1)
        choice = (
            float(self.min_leaf),
            min(self.n_best, most_tests),
            mdl,
            ratio,
            min(n_features, n_columns),
        )
        return Rule(*choice, confidence, ndtri(1 - confidence))

    def _flatten(self, growth, left, parents, data):
        """Number the nodes that are left, parents first."""
        counts, self.attribute_ = growth.counts[left], growth.test[left].astype(np.int32)
        inner = self.attribute_ >= 0
        self.child_ = np.where(inner, np.searchsorted(parents, np.arange(len(left))), -1).astype(
            np.int32
        )
        self.share_ = growth.shares[left]
        self.threshold_ = np.where(inner, growth.threshold[left], np.nan)
        if not self.midway:
            cuts = np.flatnonzero(inner & data.numeric[self.attribute_])
            self.threshold_[cuts] = data.values[
                data.starts[self.attribute_[cuts]] + growth.cut[left[cuts]]
            ]
        empty = counts.sum(axis=1) == 0  # whose parents are not, as an empty node is a leaf
        counts[empty] = counts[parents[empty]]
        self.distribution_ = counts / counts.sum(axis=1, keepdims=True)
        self.n_nodes_, self.n_leaves_ = len(left), int((~inner).sum())


@compiled()
def distributions(matrix, sizes, attribute, threshold, child, share, distribution):
    """Return the mean class frequencies of the leaves that each row (n, p) comes to, (n, n_classes)."""
    result = np.zeros((matrix.shape[0], distribution.shape[1]))
    waiting, parts = np.zeros(attribute.shape[0] + 1, np.int64), np.ones(attribute.shape[0] + 1)
    for i in range(matrix.shape[0]):
        waiting[0], parts[0], n = 0, 1.0, 1
        while n > 0:
            n -= 1
            node, part = waiting[n], parts[n]
            if attribute[node] < 0:
                for c in range(result.shape[1]):
                    result[i, c] += part * distribution[node, c]
                continue
            value, size = matrix[i, attribute[node]], sizes[attribute[node]]
            first, end, missing = (
                child[node],
                child[node] + (size if size > 0 else 2),
                np.isnan(value),
            )
            if not missing:
                first += np.int64(value if size > 0 else value > threshold[node])
                end = first + 1
            for v in range(first, end):
                if share[v] > 0 or not missing:
                    waiting[n], parts[n] = v, part * share[v] if missing else part
                    n += 1
    return result
