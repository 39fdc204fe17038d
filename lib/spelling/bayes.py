"""Naive Bayes on the features that are present, with probabilities smoothed or interpolated."""

import numpy as np
from scipy.special import erfc, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.estimators import most_probable, with_parameters
from lib.spelling.winspell import boolean_rows, training_rows
from lib.validation import check_real


class PresenceBayes(ClassifierMixin, BaseEstimator):
    """Subclasses have `_conditionals(counts, sizes)`, P(f | w) of how often features came with words, and all words."""

    def fit(self, X, y):
        """Learn from features `X` (n_samples, n_attributes) of 0 and 1 and the words `y` (n_samples,).

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has only
            one class.
        """
        rows, self.classes_, target = training_rows(self, X, y)
        members = np.eye(len(self.classes_))[:, target]
        counts, sizes = members @ rows.astype(float), members.sum(axis=1)
        seen = counts.any(axis=0)
        self.log_priors_, self.log_conditionals_ = (
            np.log(sizes / len(target)),
            np.zeros_like(counts),
        )
        self.log_conditionals_[:, seen] = np.log(self._conditionals(counts[:, seen], sizes))
        return self

    def predict_joint_log_proba(self, X):
        """Ln of P(w) times the product of P(f | w) over the features present, (n_samples, n_classes)."""
        check_is_fitted(self)
        rows = boolean_rows(validate_data(self, X, dtype=None, reset=False, accept_sparse="csr"))
        return self.log_priors_ + rows @ self.log_conditionals_.T

    def predict_proba(self, X):
        """P(w | x) of each row and word, (n_samples, n_classes)."""
        return softmax(self.predict_joint_log_proba(X), axis=1)

    def predict(self, X):
        """The most probable word of each row, (n_samples,); of those equally probable, but for rounding, the first."""
        return self.classes_[most_probable(self.predict_joint_log_proba(X))]


@with_parameters
class ContextBayes(PresenceBayes):
    """Naive Bayes of a word given the features that are present in its context; those absent say nothing.

    P(f | w) = (n(f, w) + smoothing) / (n(w) + 2 smoothing), for each feature that was seen in
    training.

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
    """Naive Bayes whose P(f | w) is drawn towards P(f) as far as they may be equal.

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
        n, sizes, present = sizes.sum(), sizes[:, None], counts.sum(axis=0)
        product = sizes * (n - sizes) * present * (n - present)
        gaps = n * (n * counts - sizes * present) ** 2
        squares = np.divide(gaps, product, out=np.zeros_like(counts), where=product > 0)
        p = erfc(np.sqrt(squares / 2))
        return np.maximum((1 - p) * counts / sizes + p * present / n, np.finfo(float).tiny)
