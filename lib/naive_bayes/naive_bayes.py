"""Naive Bayes on boolean, categorical and Gaussian columns at once."""

import numpy as np
from scipy.special import log_softmax

from lib.base.arrays import scale_by_power_of_two
from lib.base.estimators import TIE, JointClassifier, case_weights
from lib.base.validation import check_integer, check_real
from lib.discretize.columns import (
    Coding,
    check_kinds,
    checked_frame,
    checked_target,
    column_kinds,
    continuous_values,
)
from lib.naive_bayes.tables import Tables

# The logarithm of a ratio of two densities counts as at most this
MAX_LOG_RATIO = 1e300


class NaiveBayes(JointClassifier):
    """Naive Bayes, in which the columns are independent given the class.

    The values of a column decide how it is modelled: truth values as boolean; names, categories and
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
        The values v in the order of the table. If only one value was seen, the table has a second
        column, for a value that was not.
    means_, deviations_ : dict of column -> ndarray of shape (n_classes,)
        Of the Gaussian columns; deviations are NaN if a column has no spread.

    Notes
    -----
    Missing values are left out of the counts and, at prediction, out of the product. A category
    that is not in `categories_` counts as missing at prediction. Where no row of a class has a
    value, its table is uniform.

    At prediction, a ValueError is raised for a column that is of another type than in `fit` and
    has no value of `categories_`, such as strings where integers were.

    A Gaussian with no spread in its class (no value, one, or all the same) is replaced by that of
    all classes, with its mean and its deviation. A column with no spread at all is left out of the
    product.

    Without smoothing a row may be impossible in every class: its log joint probability is -inf for
    all of them, and its posterior is the prior.

    Posteriors are computed from ratios of the Gaussian densities. So they are right however far a
    value is from all means. Log joint probabilities are as large as the square of this distance:
    they lose their last digits, and from 1e154 deviations on they are -inf.

    A weight is a number of examples: a row of weight 2 counts as two rows, and one of weight 0 as
    none, though its class remains. Weights that sum to less than the number of rows with positive
    weight are rescaled to sum to that number, as smoothing and ddof are numbers of examples, too.
    With ddof=1 the sum of squares is divided by n - 1 but at least by n / 2: for whole numbers that
    is n - 1.

    Columns of an array, or without string names, are called "x0", "x1", ... in the dicts.

    References
    ----------
    Atlas, section 2; Hand & Yu (2001).
    """

    def __init__(self, smoothing=1.0, ddof=1):
        self.smoothing = smoothing
        self.ddof = ddof

    def fit(self, X, y, sample_weight=None):
        """Estimate the prior, the tables and the Gaussians.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
        y : array of shape (n_samples,)
            The class of each row.
        sample_weight : array of shape (n_samples,), optional
            How many examples each row stands for, at least 0.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has a column of another dtype (dates, say) or an
            infinite value, `y` lacks a label, the lengths differ, or a weight is negative or none
            is above 0.

        Warns
        -----
        UserWarning
            If most values of a column of names or whole numbers occur once, as in one that
            identifies the rows.
        """
        check_real("smoothing", self.smoothing, 0)
        check_integer("ddof", self.ddof, 0, 1)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        weights = case_weights(sample_weight, X)
        if not weights.all():
            has_weight = weights > 0
            X = X[has_weight]
            y = y[has_weight]
            weights = weights[has_weight]
        self._kinds = column_kinds(X)
        is_continuous = np.array([kind == "continuous" for kind in self._kinds])
        class_weights = np.bincount(y, weights, len(self.classes_))
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(class_weights / weights.sum())
        self._fit_tables(X, y, weights, np.flatnonzero(~is_continuous))
        self._fit_gaussians(X, y, weights, np.flatnonzero(is_continuous))
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x) of each row and class, (n_samples, n_classes).

        For Gaussian columns it has the logarithm of the density.
        """
        log_discrete, values = self._log_discrete_and_values(X)
        return log_discrete + self._log_densities(values)

    def predict_log_proba(self, X):
        """Log P(c | x) of each row and class, (n_samples, n_classes)."""
        log_discrete, values = self._log_discrete_and_values(X)
        log_densities = np.maximum(self._log_densities(values), -MAX_LOG_RATIO)
        # Each row's joint probabilities are divided by the density of one class, its reference
        reference = (log_discrete + log_densities).argmax(axis=1)
        rows = np.arange(len(values))
        # Usually one pass; again if rounding picked a reference that is not the most probable class
        for _ in range(len(self.classes_)):
            log_joint = log_discrete + self._log_ratios(values, reference)
            best = log_joint.argmax(axis=1)
            if (log_joint[rows, best] <= log_joint[rows, reference] + TIE).all():
                break
            reference = best
        is_impossible = np.isneginf(log_joint).all(axis=1)
        log_joint[is_impossible] = self.class_log_prior_
        return log_softmax(log_joint, axis=1)

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of equally probable ones the first."""
        log_posterior = self.predict_log_proba(X)
        return self.classes_[log_posterior.argmax(axis=1)]

    def _log_discrete_and_values(self, X):
        """Return what the discrete columns say, and the values of the Gaussian ones.

        Returns
        -------
        log_discrete : ndarray of shape (n_samples, n_classes)
            Logarithm of the prior times the product of the tables.
        values : ndarray of shape (n_samples, n_gaussian_columns)
        """
        X = checked_frame(self, X, reset=False)
        check_kinds(X, self._kinds)
        indicators = self._tables.indicators(self._tables.rows(X))
        log_discrete = self.class_log_prior_ + indicators @ self._log_tables
        return log_discrete, continuous_values(X, self._gaussian_positions)

    def _fit_tables(self, X, y, weights, positions):
        """Estimate P(v | c) of the boolean and categorical columns."""
        tables = Tables(Coding(X, positions))
        counts = tables.counts(tables.rows(X), y, len(self.classes_), weights)
        proportions = tables.proportions(counts, self.smoothing)
        self._tables = tables
        self._log_tables = tables.logs(proportions)
        names = X.columns[positions]
        self.tables_ = {}
        for name, start, size in zip(names, tables.starts, tables.sizes, strict=True):
            first = start + 1  # after the row of a missing value
            self.tables_[name] = proportions[first : first + size].T
        self.categories_ = dict(zip(names, tables.coding.categories, strict=True))

    def _fit_gaussians(self, X, y, weights, positions):
        """Estimate mean and deviation of each column in each class, or in all if that is flat."""
        self._gaussian_positions = positions
        values = continuous_values(X, positions)
        order = np.argsort(y, kind="stable")
        classes, starts = np.unique(y[order], return_index=True)  # without those of weight 0
        means = np.full((len(self.classes_), len(positions)), np.nan)
        deviations = means.copy()
        means[classes], deviations[classes] = _means_and_deviations(
            values[order], weights[order], starts, self.ddof
        )
        one_group = np.zeros(1, int)
        pooled_mean, pooled_deviation = _means_and_deviations(values, weights, one_group, self.ddof)
        is_flat = np.isnan(deviations)
        self._means = np.where(is_flat, pooled_mean, means)
        self._deviations = np.where(is_flat, pooled_deviation, deviations)
        names = X.columns[positions]
        self.means_ = dict(zip(names, self._means.T, strict=True))
        self.deviations_ = dict(zip(names, self._deviations.T, strict=True))

    def _log_densities(self, values):
        """Sum of the Gaussian log densities of the observed values, (n_samples, n_classes)."""
        sums = np.empty((len(values), len(self.classes_)))
        for c, (means, deviations) in enumerate(zip(self._means, self._deviations, strict=True)):
            with np.errstate(over="ignore"):
                squares = ((values - means) / deviations) ** 2
            log_densities = -0.5 * (squares + np.log(2 * np.pi)) - np.log(deviations)
            # NaN where the value is missing, or the column has no spread
            sums[:, c] = np.nansum(log_densities, axis=1)
        return sums

    def _log_ratios(self, values, reference):
        """Sum of the logarithms of density ratios, (n_samples, n_classes).

        The ratio is that of the density in each class to the density in the row's class of
        reference. If z = (x - m) / s and r = (x - m_r) / s_r are the standardised distances of a
        value x from the mean of the class and of the reference, its logarithm is

            ln s_r - ln s - (z - r) (z + r) / 2

        where z - r and z + r are computed from the differences m - m_r and s_r - s of the
        parameters. So no digit is lost to z^2 - r^2, a small difference of large squares.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_gaussian_columns)
        reference : ndarray of int, shape (n_samples,)
            A class of each row.
        """
        ratios = np.empty((len(values), len(self.classes_)))
        m_r = self._means[reference]
        s_r = self._deviations[reference]
        log_s_r = np.log(s_r)
        is_missing = np.isnan(values)
        with np.errstate(over="ignore"):
            offsets = values - m_r
        for c, (m, s) in enumerate(zip(self._means, self._deviations, strict=True)):
            shift = m - m_r
            with np.errstate(over="ignore", invalid="ignore"):
                difference = (offsets * ((s_r - s) / s_r) - shift) / s  # z - r
                total = (offsets * ((s_r + s) / s_r) - shift) / s  # z + r
                # 0 times infinity, where the class is that of reference, counts as 0
                product = np.nan_to_num(difference * total)
                clipped = np.clip(0.5 * product, -MAX_LOG_RATIO, MAX_LOG_RATIO)
                log_ratios = log_s_r - np.log(s) - clipped
            # Missing values and columns without spread are left out of the product
            log_ratios[is_missing] = np.nan
            ratios[:, c] = np.nansum(log_ratios, axis=1)
        return ratios


def _means_and_deviations(values, weights, starts, ddof):
    """Return mean and deviation of each column in each group of rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        With NaN for missing values.
    weights : ndarray of shape (n_rows,)
    starts : ndarray of int, shape (n_groups,)
        First row of each group; its rows follow each other.
    ddof : int
        The sum of squares is divided by n - ddof.

    Returns
    -------
    means : ndarray of shape (n_groups, n_columns)
        NaN where all values are missing.
    deviations : ndarray of shape (n_groups, n_columns)
        NaN where there are no two different values.
    """

    def group_sums(terms):
        return np.add.reduceat(terms, starts, axis=0)

    values, exponents = scale_by_power_of_two(values)
    group_sizes = np.diff(starts, append=len(values))
    groups = np.repeat(np.arange(len(starts)), group_sizes)
    lowest = np.fmin.reduceat(values, starts, axis=0)
    highest = np.fmax.reduceat(values, starts, axis=0)
    weights = weights[:, None]
    n = group_sums(np.where(np.isnan(values), 0.0, weights))
    n = np.where(n > 0, n, 1.0)  # where all values are missing, what is divided by n is 0
    # Sums of differences from the lowest value keep the digits of columns that are far from 0
    means = lowest + group_sums(weights * np.nan_to_num(values - lowest[groups])) / n
    squares = group_sums(weights * np.nan_to_num(values - means[groups]) ** 2)
    deviations = np.sqrt(squares / np.maximum(n - ddof, n / 2))
    # The deviation of the largest numbers may overflow: it is then the largest float
    with np.errstate(over="ignore"):
        deviations = np.ldexp(deviations, exponents)
    deviations = np.minimum(deviations, np.finfo(float).max)
    has_spread = (highest > lowest) & (deviations > 0)
    return np.ldexp(means, exponents), np.where(has_spread, deviations, np.nan)
