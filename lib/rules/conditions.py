"""Rules, and classifiers that are lists of them."""

import operator
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lib.base.estimators import MixedInput
from lib.discretize.columns import checked_frame, checked_target
from lib.trees import Table
from lib.trees.text import number_text

HOLDS = {"=": operator.eq, "<=": operator.le, ">=": operator.ge, ">": operator.gt}


@dataclass(frozen=True, order=True)
class Condition:
    """A test of one attribute, which a missing value never passes, written as "age >= 24".

    Attributes
    ----------
    attribute : int
    operator : "=", "<=", ">=" or ">"
        The first for categories, the others for numbers.
    value : float
        Of a category its number.
    name : str or None
        Of the attribute; without one the text has "x0", "x1", ... Conditions that differ in it
        alone are equal.
    category : object
        The category, of which `value` is the number; None of numbers. It does not count in
        comparisons either.
    """

    attribute: int
    operator: str
    value: float
    name: str | None = field(default=None, compare=False)
    category: object = field(default=None, compare=False)

    def __str__(self):
        name = f"x{self.attribute}" if self.name is None else self.name
        value = number_text(self.value) if self.category is None else self.category
        return f"{name} {self.operator} {value}"

    @property
    def interval(self):
        """Two numbers, where the values above the first and up to the second pass."""
        low = -np.inf if self.operator == "<=" else self.value
        high = self.value if self.operator in ("=", "<=") else np.inf
        if self.operator in ("=", ">="):
            low = float(np.nextafter(self.value, -np.inf))
        return low, high

    def holds(self, matrix):
        """Which rows of a `Table`'s matrix (n_samples, n_attributes) pass."""
        return HOLDS[self.operator](matrix[:, self.attribute], self.value)


@dataclass(frozen=True, order=True)
class Rule:
    """A class for the rows that pass all tests, written as "sex = f and age >= 24 -> yes".

    The text has no condition that another implies; see `simplified`.

    Attributes
    ----------
    conditions : tuple of Condition
        As they were learned. Without any, the rule is for all rows, and its text "always -> yes".
    label : int
        Number of the class.
    prediction : object
        The class; where it is None, the text has its number. It does not count in comparisons.
    """

    conditions: tuple
    label: int
    prediction: object = field(default=None, compare=False)

    def __str__(self):
        tests = " and ".join(map(str, self.simplified().conditions)) or "always"
        return f"{tests} -> {self.label if self.prediction is None else self.prediction}"

    def simplified(self):
        """Return the rule with the tightest bound of each side of an attribute.

        "a <= 3 and b = x and a <= 1" becomes "a <= 1 and b = x": it covers the same rows.
        """
        tightest = {}  # in the order in which attributes and sides are first bounded
        for condition in self.conditions:
            # the sides of a number are "<" and ">"; each category is for itself
            side = condition.value if condition.operator == "=" else condition.operator[0]
            key = condition.attribute, side
            low, high = tightest.setdefault(key, condition).interval
            if condition.interval[0] >= low and condition.interval[1] <= high:
                tightest[key] = condition
        return replace(self, conditions=tuple(tightest.values()))

    def covers(self, matrix):
        """Which rows of a `Table`'s matrix (n_samples, n_attributes) pass all tests."""
        covered = np.ones(len(matrix), bool)
        for condition in self.conditions:
            covered &= condition.holds(matrix)
        return covered


class RuleList(MixedInput, ClassifierMixin, BaseEstimator):
    """A classifier that is a list of rules, of which the first that covers a row decides.

    Subclasses have `_learn(table, y)`, which checks parameters, and returns the rules and the
    number of the class of other rows. Once fitted, `str(learner)` has a rule in each line, in
    order, and "otherwise" the class of the other rows.
    """

    def fit(self, X, y):
        """Learn rules from `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has an infinite value or a column of dates, `y`
            has a missing label, or lengths differ.
        """
        table = X if isinstance(X, Table) else Table(checked_frame(self, X, reset=True))
        self.classes_, y = checked_target(table, y)
        self._columns = table.columns
        self.n_features_in_ = table.shape[1]
        self.n_scanned_ = 0
        self.categories_ = table.columns.categories
        rules, self.default_ = self._learn(table, y)
        self.rules_ = [self._add_names(rule) for rule in rules]
        self.n_rules_ = len(self.rules_)
        return self

    def __str__(self):
        if not hasattr(self, "rules_"):
            return super().__str__()
        lines = [str(rule) for rule in self.rules_]
        lines.append(f"otherwise -> {self.classes_[self.default_]}")
        return "\n".join(lines)

    def predict(self, X):
        """The class of the first rule that covers a row, or else the default, (n_samples,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """1 for the predicted class, 0 for others, (n_samples, n_classes): rules know no more."""
        check_is_fitted(self)
        if isinstance(X, Table):
            table = self._columns.check(X)
        else:
            table = Table(checked_frame(self, X, reset=False), self._columns)
        labels = np.full(len(table), self.default_)
        for rule in reversed(self.rules_):  # an earlier rule overrules the later ones
            labels[rule.covers(table.matrix)] = rule.label
        return np.eye(len(self.classes_))[labels]

    def _add_names(self, rule):
        """Return a rule with the names of its attributes, categories and class."""
        conditions = []
        for condition in rule.conditions:
            name = self._columns.names[condition.attribute]
            values = self.categories_.get(name)
            category = None if values is None else values[int(condition.value)]
            conditions.append(replace(condition, name=name, category=category))
        return Rule(tuple(conditions), rule.label, self.classes_[rule.label])
