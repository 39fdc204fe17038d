"""Naive Bayes on boolean, categorical and Gaussian columns at once."""

import numpy as np
from scipy.special import logsumexp

from lib.discretize.columns import Coding, check_kinds, checked_frame, checked_target, column_kinds, continuous_values
from lib.estimators import JointClassifier
from lib.naive_bayes.tables import Tables
from lib.validation import check_integer, check_real


class NaiveBayes(JointClassifier):
    """Naive Bayes: the columns are independent given the class.

    The dtype of a column says how it is modelled: bool columns as boolean; category, string, object and integer
    columns as categorical; float columns as Gaussian. Of an array with one dtype, all columns are of one kind.

    Parameters
    ----------
    smoothing : float, at least 0
        P(v | c) = (count + smoothing) / (n + smoothing m), where n rows of class c have a value and m is the number
        of declared categories of a category dtype, 2 for a boolean column, and otherwise the number of different
        values in training, but at least 2 (so that integers 0 and 1 are the same as booleans).
    ddof : 0 or 1
        The variance of a Gaussian is the sum of squares divided by n - ddof.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the proportion of training rows in each class.
    tables_ : dict of column -> ndarray of shape (n_classes, m)
        P(v | c) of the boolean and categorical columns.
    categories_ : dict of column -> Index
        The values v in the order of the table. A table wider than this has the other, never seen value last.
    means_, deviations_ : dict of column -> ndarray of shape (n_classes,)
        Of the Gaussian columns; deviations are NaN where a column tells nothing.

    Notes
    -----
    Missing values are left out of the counts and, at prediction, out of the product. A category that is not in
    `categories_` counts as missing at prediction; a column of another type than in `fit`, without any value that is in
    it, such as strings where integers were, is a ValueError. Where no row of a class has a value, its table is uniform.

    A Gaussian with no spread in its class (no value, one, or all the same) is replaced by that of all classes, with
    its mean and its deviation. A column with no spread at all tells nothing and is left out of the product.

    Without smoothing, or more than 1e154 deviations away, a row may be impossible in every class: its log joint
    probability is -inf for all of them, and its posterior is the prior.

    Columns of an array, or without string names, are called "x0", "x1", ... in the dicts.

    References
    ----------
    Atlas, section 2; Hand & Yu (2001).
    """

    def __init__(self, smoothing=1.0, ddof=1):
        self.smoothing = smoothing
        self.ddof = ddof

    def fit(self, X, y):
        """Estimate prior, tables and Gaussians from `X` (n_samples, n_columns) and the classes `y` (n_samples,).

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has a column of another dtype (dates, say) or an infinite value, `y`
            lacks a class, or the lengths differ.
        """
        check_real("smoothing", self.smoothing, 0)
        check_integer("ddof", self.ddof, 0, 1)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        self._kinds = column_kinds(X)
        continuous = np.array([kind == "continuous" for kind in self._kinds])
        self.class_log_prior_ = np.log(np.bincount(y) / len(y))
        self._fit_tables(X, y, np.flatnonzero(~continuous))
        self._fit_gaussians(X, y, np.flatnonzero(continuous))
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x) of each row and class, (n_samples, n_classes); of its Gaussians, the log densities."""
        X = checked_frame(self, X, reset=False)
        check_kinds(X, self._kinds)
        discrete = self._tables.indicators(self._tables.rows(X)) @ self._log_tables
        return self.class_log_prior_ + discrete + self._log_densities(continuous_values(X, self._gaussians))

    def predict_log_proba(self, X):
        """Log P(c | x) of each row and class, (n_samples, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        joint[np.isneginf(joint).all(axis=1)] = self.class_log_prior_
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of equally probable ones the first."""
        log_posterior = self.predict_log_proba(X)
        return self.classes_[log_posterior.argmax(axis=1)]

    def _fit_tables(self, X, y, positions):
        self._tables, names = Tables(Coding(X, positions)), X.columns[positions]
        counts = self._tables.counts(self._tables.rows(X), y, len(self.classes_))
        proportions = self._tables.proportions(counts, self.smoothing)
        self._log_tables = self._tables.logs(proportions)
        blocks = zip(names, self._tables.starts + 1, self._tables.sizes, strict=True)
        self.tables_ = {name: proportions[start : start + size].T for name, start, size in blocks}
        self.categories_ = dict(zip(names, self._tables.coding.categories, strict=True))

    def _fit_gaussians(self, X, y, positions):
        """Mean and deviation of each column in each class; where it has no spread, those of all classes."""
        self._gaussians, names, values = positions, X.columns[positions], continuous_values(X, positions)
        order = np.argsort(y, kind="stable")
        starts = np.searchsorted(y[order], np.arange(len(self.classes_)))
        own = _means_and_deviations(values[order], starts, self.ddof)
        pooled = _means_and_deviations(values, np.zeros(1, int), self.ddof)
        self._means, self._deviations = np.where(np.isnan(own[1]), pooled, own)
        self.means_ = dict(zip(names, self._means.T, strict=True))
        self.deviations_ = dict(zip(names, self._deviations.T, strict=True))

    def _log_densities(self, values):
        """Sum of the Gaussian log densities of the observed values, (n_samples, n_classes)."""
        sums = np.empty((len(values), len(self.classes_)))
        for c, (means, deviations) in enumerate(zip(self._means, self._deviations, strict=True)):
            with np.errstate(over="ignore"):
                squares = ((values - means) / deviations) ** 2
            sums[:, c] = np.nansum(-0.5 * (squares + np.log(2 * np.pi)) - np.log(deviations), axis=1)
        return sums


def _means_and_deviations(values, starts, ddof):
    """Mean and deviation of each group of rows and column; deviations are NaN where all values are the same."""
    groups = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    low, high = np.fmin.reduceat(values, starts, axis=0), np.fmax.reduceat(values, starts, axis=0)
    n = np.add.reduceat(~np.isnan(values), starts, axis=0, dtype=int)
    means = low + np.add.reduceat(np.nan_to_num(values - low[groups]), starts, axis=0) / np.maximum(n, 1)
    squares = np.add.reduceat(np.nan_to_num(values - means[groups]) ** 2, starts, axis=0)
    deviations = np.sqrt(squares / np.maximum(n - ddof, 1))
    return means, np.where((high > low) & (deviations > 0), deviations, np.nan)
