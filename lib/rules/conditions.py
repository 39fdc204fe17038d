"""Rules, and classifiers that are lists of them."""

import operator
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import checked_frame, checked_target
from lib.estimators import MixedInput
from lib.trees import Table

HOLDS = {"=": operator.eq, "<=": operator.le, ">=": operator.ge, ">": operator.gt}


class Condition(NamedTuple):
    """A test of one attribute, which a missing value never passes.

    Attributes
    ----------
    attribute : int
    operator : "=", "<=", ">=" or ">"
        The first for categories, the others for numbers.
    value : float
        Of a category its number.
    """

    attribute: int
    operator: str
    value: float

    def holds(self, matrix):
        """Which rows of a `Table`'s matrix (n_samples, n_attributes) pass."""
        return HOLDS[self.operator](matrix[:, self.attribute], self.value)


class Rule(NamedTuple):
    """A class for the rows that pass all tests.

    Attributes
    ----------
    conditions : tuple of Condition
    label : int
        Number of the class.
    """

    conditions: tuple
    label: int

    def covers(self, matrix):
        """Which rows of a `Table`'s matrix (n_samples, n_attributes) pass all tests."""
        return np.all([np.ones(len(matrix), bool), *(c.holds(matrix) for c in self.conditions)], axis=0)


class RuleList(MixedInput, ClassifierMixin, BaseEstimator):
    """Subclasses have `_learn(table, y)`: it checks parameters, and returns the rules and the class of other rows."""

    def fit(self, X, y):
        """Learn rules from `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has an infinite value or a column of dates, `y` lacks a class, or
            lengths differ.
        """
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=True))
        self.classes_, y = checked_target(table, y)
        self._columns, self.n_features_in_, self.n_scanned_ = table.columns, table.shape[1], 0
        self.rules_, self.default_ = self._learn(table, y)
        self.n_rules_ = len(self.rules_)
        return self

    def predict(self, X):
        """The class of the first rule that covers a row, or else the default, (n_samples,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """1 for the class that is predicted, (n_samples, n_classes): rules give no other probabilities."""
        check_is_fitted(self)
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=False), self._columns)
        masks = [rule.covers(table.matrix) for rule in self.rules_]
        labels = decided(masks, [rule.label for rule in self.rules_], np.full(len(table), self.default_))
        return np.eye(len(self.classes_))[labels]


def decided(masks, labels, others):
    """Return the label of the first rule that covers each row, with masks (n_samples,), or that of the others."""
    for covered, label in zip(masks[::-1], labels[::-1], strict=True):
        others = np.where(covered, label, others)
    return others
