"""Naive Bayes on the features that are present, with probabilities smoothed or interpolated."""

import numpy as np
from scipy.special import erfc, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.estimators import most_probable, with_parameters
from lib.spelling.winspell import boolean_rows, training_rows
from lib.validation import check_real


class PresenceBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes of the features that are present; absent ones say nothing.

    Subclasses estimate P(f | w) in `_conditionals(counts, sizes)`, (n_classes, n_attributes), where
    counts say how often each feature came with each word, and sizes how often each word came.
    """

    def fit(self, X, y):
        """Learn from features `X` (n_samples, n_attributes) of 0 and 1 and the words `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has only
            one class.
        """
        rows, self.classes_, target = training_rows(self, X, y)
        membership = np.eye(len(self.classes_))[:, target]
        counts = membership @ rows.astype(float)
        sizes = membership.sum(axis=1)
        self.log_priors_ = np.log(sizes / len(target))
        occurs = counts.any(axis=0)  # a feature that was never present says nothing
        self.log_conditionals_ = np.zeros_like(counts)
        self.log_conditionals_[:, occurs] = np.log(self._conditionals(counts[:, occurs], sizes))
        return self

    def predict_joint_log_proba(self, X):
        """Ln of P(w) times the product of P(f | w) over the features present.

        Its shape is (n_samples, n_classes).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, reset=False, accept_sparse="csr")
        return self.log_priors_ + boolean_rows(X) @ self.log_conditionals_.T

    def predict_proba(self, X):
        """P(w | x) of each row and word, (n_samples, n_classes)."""
        return softmax(self.predict_joint_log_proba(X), axis=1)

    def predict(self, X):
        """The most probable word of each row, (n_samples,).

        Of those that are equally probable, but for rounding, it is the first.
        """
        return self.classes_[most_probable(self.predict_joint_log_proba(X))]


@with_parameters
class ContextBayes(PresenceBayes):
    """Naive Bayes of a word given the features that are present in its context.

    P(f | w) = (n(f, w) + smoothing) / (n(w) + 2 smoothing), for each feature that was seen in
    training. Features that are absent say nothing.

    Parameters
    ----------
    smoothing : float, above 0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    log_priors_ : ndarray of shape (n_classes,)
        Ln of the share of each class.
    log_conditionals_ : ndarray of shape (n_classes, n_attributes)
        Ln P(f | w), and 0 for features that were not seen.
    """

    smoothing: float = 1.0

    def _conditionals(self, counts, sizes):
        smoothing = check_real("smoothing", self.smoothing, 0, open_low=True)
        return (counts + smoothing) / (sizes[:, None] + 2 * smoothing)


class InterpolatedBayes(PresenceBayes):
    """Naive Bayes whose P(f | w) is moved towards P(f) as far as they may be equal.

    P(f | w) = (1 - p) n(f, w) / n(w) + p n(f) / n, where p is the p-value of the chi-squared test
    that the presence of f is independent of w; no probability is below the smallest normal number.
    What is learned is named as in ContextBayes.

    References
    ----------
    Golding (1995), "A Bayesian hybrid method for context-sensitive spelling correction": the method
    that Golding & Roth (1996) compare WinSpell with, but for its choice among collocations that
    depend on each other. Theirs leaves out features that were present, or absent, less than ten
    times.
    """

    def _conditionals(self, counts, sizes):
        n = sizes.sum()
        n_word = sizes[:, None]
        n_feature = counts.sum(axis=0)
        # chi-squared of a table of two by two: n (ad - bc)^2 over the product of its four margins
        margins = n_word * (n - n_word) * n_feature * (n - n_feature)
        gaps = n * (n * counts - n_word * n_feature) ** 2
        chi_squared = np.divide(gaps, margins, out=np.zeros_like(counts), where=margins > 0)
        p_value = erfc(np.sqrt(chi_squared / 2))  # with one degree of freedom
        conditionals = (1 - p_value) * counts / n_word + p_value * n_feature / n
        return np.maximum(conditionals, np.finfo(float).tiny)
