"""Naive Bayes on boolean, categorical and Gaussian columns at once."""

import numpy as np
from scipy.special import log_softmax

from lib.discretize.columns import (
    Coding,
    check_kinds,
    checked_frame,
    checked_target,
    column_kinds,
    continuous_values,
)
from lib.estimators import TIE, JointClassifier, case_weights
from lib.naive_bayes.tables import Tables
from lib.validation import check_integer, check_real

FARTHEST = 1e300  # the logarithm of a ratio of two densities counts as at most this


class NaiveBayes(JointClassifier):
    """Naive Bayes: the columns are independent given the class.

    The values of a column say how it is modelled: truth values as boolean; names, categories and
    whole numbers as categorical; numbers with fractions, and whole ones in a column of floats, as
    Gaussian.

    Parameters
    ----------
    smoothing : float, at least 0
        P(v | c) = (count + smoothing) / (n + smoothing m), where n rows of class c have a value and
        m is the number of declared categories of a category dtype, 2 for a boolean column, and
        otherwise the number of different values in training, but at least 2 (so that integers 0 and
        1 are the same as booleans).
    ddof : 0 or 1
        The variance of a Gaussian is the sum of squares divided by n - ddof.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the proportion of training rows in each class; -inf for a class without weight.
    tables_ : dict of column -> ndarray of shape (n_classes, m)
        P(v | c) of the boolean and categorical columns.
    categories_ : dict of column -> Index
        The values v in the order of the table. A table wider than this has the other, never seen
        value last.
    means_, deviations_ : dict of column -> ndarray of shape (n_classes,)
        Of the Gaussian columns; deviations are NaN where a column tells nothing.

    Notes
    -----
    Missing values are left out of the counts and, at prediction, out of the product. A category
    that is not in `categories_` counts as missing at prediction; a column of another type than in
    `fit`, without any value that is in it, such as strings where integers were, is a ValueError.
    Where no row of a class has a value, its table is uniform.

    A Gaussian with no spread in its class (no value, one, or all the same) is replaced by that of
    all classes, with its mean and its deviation. A column with no spread at all tells nothing and
    is left out of the product.

    Without smoothing a row may be impossible in every class: its log joint probability is -inf for
    all of them, and its posterior is the prior.

    Posteriors are taken from ratios of the Gaussian densities. So they are right however far a
    value is from all means, also where the log joint probabilities, which are as large as its
    square, have lost their last digits, or are -inf as from 1e154 deviations on.

    Weights are numbers of cases: a row of weight 2 is as good as two rows, one of weight 0 as none,
    though its class remains. If their sum is less than the number of rows with weight, they are
    multiplied until it is this number, as smoothing and ddof are in cases. With ddof=1 the sum of
    squares is divided by n - 1 but at least by n / 2: for whole numbers that is n - 1.

    Columns of an array, or without string names, are called "x0", "x1", ... in the dicts.

    References
    ----------
    Atlas, section 2; Hand & Yu (2001).
    """

    def __init__(self, smoothing=1.0, ddof=1):
        self.smoothing = smoothing
        self.ddof = ddof

    def fit(self, X, y, sample_weight=None):
        """Estimate prior, tables and Gaussians from `X` (n_samples, n_columns) and the classes `y` (n_samples,).

        Parameters
        ----------
        X, y
        sample_weight : array of shape (n_samples,), optional
            How many cases each row stands for, at least 0.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has a column of another dtype (dates, say) or an
            infinite value, `y` lacks a class, the lengths differ, or a weight is negative or none
            is above 0.
        """
        check_real("smoothing", self.smoothing, 0)
        check_integer("ddof", self.ddof, 0, 1)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        weights = case_weights(sample_weight, X)
        if not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self._kinds = column_kinds(X)
        continuous = np.array([kind == "continuous" for kind in self._kinds])
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(
                np.bincount(y, weights, len(self.classes_)) / weights.sum()
            )
        self._fit_tables(X, y, weights, np.flatnonzero(~continuous))
        self._fit_gaussians(X, y, weights, np.flatnonzero(continuous))
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x) of each row and class, (n_samples, n_classes); of its Gaussians, the log densities."""
        discrete, values = self._discrete_and_values(X)
        return discrete + self._log_densities(values)

    def predict_log_proba(self, X):
        """Log P(c | x) of each row and class, (n_samples, n_classes)."""
        discrete, values = self._discrete_and_values(X)
        rows, densities = np.arange(len(values)), self._log_densities(values)
        reference = (discrete + np.maximum(densities, -FARTHEST)).argmax(axis=1)
        # once is enough, unless the densities had not the digits to tell the likeliest class
        for _ in self.classes_:
            joint = discrete + self._log_ratios(values, reference)
            likeliest = joint.argmax(axis=1)
            if (joint[rows, likeliest] <= joint[rows, reference] + TIE).all():
                break
            reference = likeliest
        joint[np.isneginf(joint).all(axis=1)] = self.class_log_prior_
        return log_softmax(joint, axis=1)

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of equally probable ones the first."""
        log_posterior = self.predict_log_proba(X)
        return self.classes_[log_posterior.argmax(axis=1)]

    def _discrete_and_values(self, X):
        """Log of the prior times the product of the tables, (n_samples, n_classes), and the Gaussian columns."""
        X = checked_frame(self, X, reset=False)
        check_kinds(X, self._kinds)
        discrete = self._tables.indicators(self._tables.rows(X)) @ self._log_tables
        return self.class_log_prior_ + discrete, continuous_values(X, self._gaussians)

    def _fit_tables(self, X, y, weights, positions):
        self._tables, names = Tables(Coding(X, positions)), X.columns[positions]
        counts = self._tables.counts(self._tables.rows(X), y, len(self.classes_), weights)
        proportions = self._tables.proportions(counts, self.smoothing)
        self._log_tables = self._tables.logs(proportions)
        blocks = zip(names, self._tables.starts + 1, self._tables.sizes, strict=True)
        self.tables_ = {name: proportions[start : start + size].T for name, start, size in blocks}
        self.categories_ = dict(zip(names, self._tables.coding.categories, strict=True))

    def _fit_gaussians(self, X, y, weights, positions):
        """Mean and deviation of each column in each class; where it has no spread, those of all classes."""
        self._gaussians, names, values = (
            positions,
            X.columns[positions],
            continuous_values(X, positions),
        )
        order = np.argsort(y, kind="stable")
        with_rows, starts = np.unique(y[order], return_index=True)
        own = np.full((2, len(self.classes_), len(positions)), np.nan)
        own[:, with_rows] = _means_and_deviations(values[order], weights[order], starts, self.ddof)
        pooled = _means_and_deviations(values, weights, np.zeros(1, int), self.ddof)
        self._means, self._deviations = np.where(np.isnan(own[1]), pooled, own)
        self.means_ = dict(zip(names, self._means.T, strict=True))
        self.deviations_ = dict(zip(names, self._deviations.T, strict=True))

    def _log_densities(self, values):
        """Sum of the Gaussian log densities of the observed values, (n_samples, n_classes)."""
        sums = np.empty((len(values), len(self.classes_)))
        for c, (means, deviations) in enumerate(zip(self._means, self._deviations, strict=True)):
            with np.errstate(over="ignore"):
                squares = ((values - means) / deviations) ** 2
            sums[:, c] = np.nansum(
                -0.5 * (squares + np.log(2 * np.pi)) - np.log(deviations), axis=1
            )
        return sums

    def _log_ratios(self, values, reference):
        """Log density of the observed values in each class less that in one of each row's, (n_samples, n_classes).

        With z and r for the value's standardised distances from the two means, (z^2 - r^2) / 2 is
        taken as (z - r) (z + r) / 2, and z - r from what the means and deviations differ by: no
        digits are lost to the squares.
        """
        ratios = np.empty((len(values), len(self.classes_)))
        means, deviations = self._means[reference], self._deviations[reference]
        with np.errstate(over="ignore"):
            offsets = values - means
        for c in range(len(self.classes_)):
            shift, scale = self._means[c] - means, self._deviations[c]
            with np.errstate(over="ignore", invalid="ignore"):
                difference = (offsets * ((deviations - scale) / deviations) - shift) / scale
                total = (offsets * ((deviations + scale) / deviations) - shift) / scale
                product = np.nan_to_num(difference * total)  # what is 0 times infinity is 0
                logs = (
                    np.log(deviations) - np.log(scale) - np.clip(0.5 * product, -FARTHEST, FARTHEST)
                )
            ratios[:, c] = np.nansum(np.where(np.isnan(values), np.nan, logs), axis=1)
        return ratios


def _means_and_deviations(values, weights, starts, ddof):
    """Mean and deviation of each group of rows and column; deviations are NaN where all values are the same."""
    exponents = np.frexp(np.fmax.reduce(np.abs(values), axis=0, initial=0))[1]
    # no digit is changed, and no square is too large or too small
    values = np.ldexp(values, -exponents)
    groups = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    low, high = np.fmin.reduceat(values, starts, axis=0), np.fmax.reduceat(values, starts, axis=0)
    weights = weights[:, None]
    n = np.add.reduceat(np.where(np.isnan(values), 0.0, weights), starts, axis=0)
    some = np.where(n > 0, n, 1.0)
    means = (
        low + np.add.reduceat(weights * np.nan_to_num(values - low[groups]), starts, axis=0) / some
    )
    squares = np.add.reduceat(weights * np.nan_to_num(values - means[groups]) ** 2, starts, axis=0)
    deviations = np.sqrt(squares / np.maximum(some - ddof, some / 2))
    with np.errstate(over="ignore"):
        deviations = np.minimum(np.ldexp(deviations, exponents), np.finfo(float).max)
    return np.ldexp(means, exponents), np.where((high > low) & (deviations > 0), deviations, np.nan)
