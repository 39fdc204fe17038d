"""Naive Bayes of features that are 0 or 1, with probabilities smoothed or interpolated."""

import numpy as np
from scipy.special import erfc, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.base.estimators import SparseInput, most_probable, with_parameters
from lib.base.validation import check_choice, check_real
from lib.spelling.winspell import boolean_rows, encoded_sample

MODELS = ("bernoulli", "multinomial", "present only")


class BayesOfCounts(SparseInput, ClassifierMixin, BaseEstimator):
    """Naive Bayes of features that are 0 or 1, whose P(f | w) a subclass estimates from counts.

    A subclass has `_conditionals(counts, sizes)`, (n_classes, n_attributes), where counts say how
    often each feature came with each word, and sizes how often each word came; and `_absences`,
    the factors of absent features.
    """

    def fit(self, X, y):
        """Learn from features `X` (n_samples, n_attributes) of 0 and 1 and the words `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has only
            one class.
        """
        rows, self.classes_, target = encoded_sample(self, X, y)
        membership = np.eye(len(self.classes_))[:, target]
        counts = membership @ rows.astype(float)
        sizes = membership.sum(axis=1)
        self.log_priors_ = np.log(sizes / len(target))
        occurs = counts.any(axis=0)  # a feature that was never present says nothing
        counts = counts[:, occurs]
        self.log_conditionals_ = np.zeros(membership.shape[:1] + occurs.shape)
        self.log_conditionals_[:, occurs] = np.log(self._conditionals(counts, sizes))
        self.log_absences_ = np.zeros_like(self.log_conditionals_)
        self.log_absences_[:, occurs] = np.log(self._absences(counts, sizes))
        return self

    def _absences(self, counts, sizes):
        """Factors of absent features, (n_classes, n_attributes): they say nothing."""
        return np.ones_like(counts)

    def predict_joint_log_proba(self, X):
        """Ln of P(w) times the product of the probabilities of the features, given w.

        Its shape is (n_samples, n_classes).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, reset=False, accept_sparse="csr")
        # as if all were absent; then each feature that is present changes its factor
        log_proba = self.log_priors_ + self.log_absences_.sum(axis=1)
        return log_proba + boolean_rows(X) @ (self.log_conditionals_ - self.log_absences_).T

    def predict_proba(self, X):
        """P(w | x) of each row and word, (n_samples, n_classes)."""
        return softmax(self.predict_joint_log_proba(X), axis=1)

    def predict(self, X):
        """The most probable word of each row, (n_samples,).

        Of those that are equally probable, but for rounding, it is the first.
        """
        best = most_probable(self.predict_joint_log_proba(X))
        return self.classes_[best]


@with_parameters
class ContextBayes(BayesOfCounts):
    """Naive Bayes of a word given the features of its context, with a constant added to counts.

    Parameters
    ----------
    smoothing : float, above 0
        The constant.
    model : {"bernoulli", "multinomial", "present only"}
        What P(f | w) is, and whether absent features count:

        - bernoulli: (n(f, w) + smoothing) / (n(w) + 2 smoothing); an absent feature counts with
          1 - P(f | w).
        - multinomial: (n(f, w) + smoothing) over its sum over features; a row is drawn feature by
          feature, so that only those present count.
        - present only: P(f | w) of bernoulli, and absent features dropped. This is no probability
          of a row; it is here as a warning (see Notes).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    log_priors_ : ndarray of shape (n_classes,)
        Ln of the share of each class.
    log_conditionals_ : ndarray of shape (n_classes, n_attributes)
        Ln P(f | w), and 0 for features that were not seen.
    log_absences_ : ndarray of shape (n_classes, n_attributes)
        Ln (1 - P(f | w)) where absent features count, else 0.

    Notes
    -----
    The first two are scikit-learn's BernoulliNB and MultinomialNB, but that a feature which was
    never seen in training says nothing.

    With "present only", each of many features that a rare word was not seen with speaks *for* that
    word, as smoothing / (n(w) + 2 smoothing) falls with n(w), and nothing pays it back: in a
    Bernoulli model the absent features do, in a multinomial one the common sum.
    """

    smoothing: float = 1.0
    model: str = "bernoulli"

    def _conditionals(self, counts, sizes):
        smoothing = check_real("smoothing", self.smoothing, 0, open_low=True)
        model = check_choice("model", self.model, MODELS)
        if model == "multinomial":
            return (counts + smoothing) / (counts + smoothing).sum(axis=1, keepdims=True)
        return (counts + smoothing) / (sizes[:, None] + 2 * smoothing)

    def _absences(self, counts, sizes):
        if self.model != "bernoulli":
            return np.ones_like(counts)
        # not 1 - P(f | w), which may round to 0
        n_absent = sizes[:, None] - counts
        return (n_absent + self.smoothing) / (sizes[:, None] + 2 * self.smoothing)


class InterpolatedBayes(BayesOfCounts):
    """Naive Bayes whose P(f | w) is moved towards P(f) as far as they may be equal.

    P(f | w) = (1 - p) n(f, w) / n(w) + p n(f) / n, where p is the p-value of the chi-squared test
    that the presence of f is independent of w; no probability is below the smallest normal number.
    Absent features say nothing. What is learned is named as in ContextBayes.

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
