"""Option trees: nodes with several tests, whose subtrees vote."""

from copy import copy
from typing import NamedTuple

import numpy as np

from lib.base.estimators import case_weights, with_parameters
from lib.base.validation import check_integer
from lib.discretize.columns import checked_frame, checked_target
from lib.trees.cases_by_code import new_code_order
from lib.trees.gain_ratio import new_search
from lib.trees.growing import list_tests
from lib.trees.node_cases import FEW, NODE, SMALL, new_growth
from lib.trees.ranked_columns import Table, TableClassifier
from lib.trees.tree import GainRatioTree, mean_distributions, training_data


class Option(NamedTuple):
    """One of the tests of a node, and what follows it."""

    attribute: int
    threshold: float  # values up to it go to the first branch; NaN where the test is of categories
    share: np.ndarray  # of the node's cases with a value in each branch
    branches: list  # an OptionNode or a GainRatioTree each; None where no case came


class OptionNode(NamedTuple):
    """A node with one test or more."""

    options: list  # of Option, the best test first
    distribution: np.ndarray  # class frequencies


@with_parameters
class OptionTree(TableClassifier):
    """A decision tree whose upper nodes have several tests each, with a subtree for every test.

    An option node holds the tests with the highest gain ratios, each of an attribute of its own,
    among those that C4.5 would consider: their gain is not below the mean. An example goes down
    all of them, and the answers of their subtrees, class frequencies, are averaged. Below the
    option nodes stand trees of C4.5.

    Parameters
    ----------
    learner : GainRatioTree
        How tests are scored, and trees grown and pruned, with `n_best` 1 and no `max_features`.
        Option nodes are not pruned.
    n_options : int, at least 1
        Tests of a node, at most.
    depth : int, at least 0
        Levels with option nodes, from the root.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    root_ : OptionNode or GainRatioTree
    n_leaves_ : int
        Of all subtrees.

    Notes
    -----
    Buntine and Kohavi & Kunz decide by the score of a test, and by levels, how many options a node
    has; here their number is fixed. With one option it is the tree of C4.5 whose upper levels are
    not pruned. A row is in up to ``n_options ** depth`` plain trees; so many cost time and memory.

    References
    ----------
    Buntine (1990); Kohavi & Kunz (1997), "Option decision trees with majority votes".
    """

    learner: GainRatioTree
    n_options: int = 5
    depth: int = 2

    def fit(self, X, y, sample_weight=None):
        """Grow an option tree for `X` (n_samples, n_columns) and the classes `y` (n_samples,).

        `sample_weight` (n_samples,) are numbers of cases.

        Raises
        ------
        ValueError
            If a parameter is out of range, or `GainRatioTree` refuses the data.
        """
        check_integer("n_options", self.n_options, 1)
        check_integer("depth", self.depth, 0)
        is_plain = isinstance(self.learner, GainRatioTree) and (
            self.learner.n_best == 1 and self.learner.max_features is None
        )
        if not is_plain:
            raise ValueError(
                "learner must be a GainRatioTree with n_best=1 and max_features=None; "
                f"got {self.learner!r}"
            )
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=True))
        self._columns = table.columns
        self.n_features_in_ = table.shape[1]
        self.classes_, y = checked_target(table, y)
        self._parameters = self.learner.checked_parameters(table)
        data = training_data(table, y, len(self.classes_))
        self.n_leaves_ = 0
        self.root_ = self._grow(table, data, case_weights(sample_weight, table), 0)
        return self

    def predict_proba(self, X):
        """Class frequencies of the options, averaged at each option node, (n_samples, n_classes).

        A row with missing values goes to several branches, as in `GainRatioTree`.
        """
        table = self._inputs(X)
        return self._frequencies(self.root_, table.matrix)

    def _grow(self, table, data, weights, level):
        """A subtree for the rows with these weights (n_samples,)."""
        tests = self._best_tests(data, weights) if level < self.depth else []
        if len(tests) == 0:
            tree = copy(self.learner).grow(table, self.classes_, data.y, weights)
            self.n_leaves_ += tree.n_leaves_
            return tree
        options = []
        for test in tests:
            branch, share = divide_rows(data, test, weights)
            branches = []
            for v in range(len(share)):
                # a row without a value goes to each branch in part
                branch_weights = weights * np.where(branch < 0, share[v], branch == v)
                has_cases = share[v] > 0
                branches.append(
                    self._grow(table, data, branch_weights, level + 1) if has_cases else None
                )
            threshold = self._threshold(data, test)
            options.append(Option(int(test["attribute"]), threshold, share, branches))
        class_weights = np.bincount(data.y, weights, data.n_classes)
        return OptionNode(options, class_weights / class_weights.sum())

    def _best_tests(self, data, weights):
        """The tests of an option node (n,), of NODE; none where C4.5 has a leaf."""
        rows = np.flatnonzero(weights)
        search = new_search(len(rows), data, self._parameters, 0)
        growth = new_growth(rows, weights[rows], data, 1)
        nodes = np.zeros(len(data.codes), NODE)
        order = new_code_order(len(rows))
        n_tests = list_tests(data, growth, self._parameters, search, order, nodes)
        candidates = search.candidates[:n_tests]
        in_mean_gain = data.attributes["in_mean_gain"][candidates["attribute"]]
        if not in_mean_gain.any():
            return nodes[:0]
        mean_gain = candidates["gain"][in_mean_gain].mean()
        is_usable = (candidates["gain"] >= mean_gain - FEW) & (candidates["ratio"] > SMALL)
        # of equals the first, as in C4.5, where differences below SMALL are none
        ranks = np.argsort(-np.round(candidates["ratio"] / SMALL), kind="stable")
        return nodes[ranks[is_usable[ranks]]][: self.n_options]

    def _threshold(self, data, test):
        """What values of numbers are compared with; NaN for categories."""
        attribute = data.attributes[test["attribute"]]
        if attribute["is_numeric"] and not self.learner.midway:
            return float(data.values[attribute["first_value"] + test["cut"]])
        return float(test["threshold"])

    def _frequencies(self, node, matrix):
        """Class frequencies of rows of a `Table`'s matrix at a node, (n_samples, n_classes)."""
        if isinstance(node, GainRatioTree):
            return mean_distributions(
                matrix,
                self._columns.sizes,
                node.attribute_,
                node.threshold_,
                node.child_,
                node.share_,
                node.distribution_,
            )
        result = np.zeros((len(matrix), len(self.classes_)))
        for option in node.options:
            values = matrix[:, option.attribute]
            branch = values if np.isnan(option.threshold) else values > option.threshold
            for v, subtree in enumerate(option.branches):
                part = np.where(np.isnan(values), option.share[v], branch == v)
                rows = np.flatnonzero(part)
                if subtree is None:
                    frequencies = node.distribution
                else:
                    frequencies = self._frequencies(subtree, matrix[rows])
                result[rows] += part[rows, None] * frequencies
        return result / len(node.options)


def divide_rows(data, test, weights):
    """Return the branch of each row, -1 where it has no value, and the share of each branch.

    Parameters
    ----------
    data : Data
    test : one of NODE
    weights : ndarray of float (n_samples,)
        Of the node's cases.
    """
    attribute = data.attributes[test["attribute"]]
    codes = data.codes[test["attribute"]]
    branch = codes
    if attribute["is_numeric"]:
        branch = np.where(codes < 0, -1, codes > test["cut"])
    has_value = branch >= 0
    n_branches = attribute["n_branches"]
    branch_weights = np.bincount(branch[has_value], weights[has_value], n_branches)
    return branch, branch_weights / branch_weights.sum()
