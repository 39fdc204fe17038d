"""Naive Bayes on the attributes that do best by cross-validation."""

import numpy as np
from sklearn.utils import check_random_state

from lib.base.estimators import JointClassifier, most_probable
from lib.base.validation import check_integer, check_real
from lib.discretize.columns import checked_frame, checked_target
from lib.naive_bayes.tables import Tables
from lib.structures.encoding import DiscreteCoding


class SelectiveNaiveBayes(JointClassifier):
    """Naive Bayes on attributes that are added as long as held-out accuracy does not fall.

    The search starts with no attribute, where the most frequent class is predicted. Each step adds
    the attribute with the best accuracy in folds of the training rows, of equally good ones the
    first column. It ends where this accuracy would fall.

    Parameters
    ----------
    smoothing : float, above 0
        P(v | c) = (count + smoothing) / (n + smoothing m), where n rows of class c have a value of
        the attribute and m is the number of values it can have, as in `lib.naive_bayes.NaiveBayes`.
    n_folds : int, at least 2
        Folds in which accuracy is estimated; no more than there are rows.
    random_state : int, RandomState or None
        Of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    chosen_ : ndarray of int
        Positions of the attributes, in the order in which they were added.
    accuracies_ : ndarray of shape (n_chosen + 1,)
        Held-out accuracy with 0, 1, ... of them; it never falls.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the proportion of training rows in each class.

    Notes
    -----
    Columns are discrete: booleans, categories, strings, integers and whole numbers; continuous ones
    have to be discretised first. A missing value, or one that was never seen, is left out of the
    counts and of the product.

    Classes whose log probabilities differ by less than 1e-9 are equally probable, and the first of
    them is predicted.

    References
    ----------
    Langley & Sage (1994), the search; Kohavi & John (1997), accuracy in folds.
    """

    def __init__(self, smoothing=1.0, n_folds=5, random_state=None):
        self.smoothing = smoothing
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X, y):
        """Choose attributes, and estimate the prior and their tables.

        Parameters
        ----------
        X : table of shape (n_samples, n_attributes)
        y : array of shape (n_samples,)

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` is not discrete, `y` lacks a label, or the lengths
            differ.
        """
        check_real("smoothing", self.smoothing, 0, open_low=True)
        check_integer("n_folds", self.n_folds, 2)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        self._tables = Tables(DiscreteCoding(X))
        rows = self._tables.rows(X)
        n_classes = len(self.classes_)
        n_folds = min(self.n_folds, len(X))
        fold_of_row = check_random_state(self.random_state).permutation(len(X)) % n_folds
        fold_counts = []
        fold_class_counts = []
        for fold in range(n_folds):
            in_fold = fold_of_row == fold
            fold_counts.append(self._tables.counts(rows[in_fold], y[in_fold], n_classes))
            fold_class_counts.append(np.bincount(y[in_fold], minlength=n_classes))
        counts = np.sum(fold_counts, axis=0)
        class_counts = np.sum(fold_class_counts, axis=0)
        self.class_log_prior_ = _log_proportions(class_counts)
        self._log_tables = self._log_probabilities(counts)

        # What is learned without a fold has the counts of all rows less those of the fold
        held_out_priors = _log_proportions(class_counts - np.stack(fold_class_counts))
        held_out_tables = np.stack([self._log_probabilities(counts - fold) for fold in fold_counts])
        log_prior = held_out_priors[fold_of_row]
        log_likelihoods = [held_out_tables[fold_of_row, rows_of_table] for rows_of_table in rows.T]
        self._select(log_prior, log_likelihoods, y)
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x), (n_samples, n_classes), where x are the values of the chosen attributes."""
        X = checked_frame(self, X, reset=False)
        chosen_rows = self._tables.rows(X)[:, self.chosen_]
        return self.class_log_prior_ + self._log_tables[chosen_rows].sum(axis=1)

    def _log_probabilities(self, counts):
        """Return ln P(v | c) from counts, (n_rows, n_classes)."""
        return self._tables.logs(self._tables.proportions(counts, self.smoothing))

    def _select(self, log_prior, log_likelihoods, y):
        """Add the best attribute as long as held-out accuracy does not fall.

        Parameters
        ----------
        log_prior : ndarray of shape (n_samples, n_classes)
            ln P(c) without the fold of each row.
        log_likelihoods : list of n_attributes ndarrays of shape (n_samples, n_classes)
            ln P(x_j | c) of each row's value, without the fold of the row.
        y : ndarray of int, shape (n_samples,)
        """
        log_joint = log_prior
        candidates = list(range(len(log_likelihoods)))
        chosen = []
        n_correct = [_n_correct(log_joint, y)]
        while candidates:
            n_correct_with = [_n_correct(log_joint + log_likelihoods[j], y) for j in candidates]
            highest = max(n_correct_with)
            if highest < n_correct[-1]:
                break
            best = candidates.pop(n_correct_with.index(highest))
            log_joint = log_joint + log_likelihoods[best]
            chosen.append(best)
            n_correct.append(highest)
        self.chosen_ = np.array(chosen, dtype=np.intp)
        self.accuracies_ = np.array(n_correct) / len(y)


def _log_proportions(counts):
    """Return the logarithm of each count's share of the sum along the last axis."""
    total = np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    with np.errstate(divide="ignore"):
        return np.log(counts / total)


def _n_correct(log_joint, y):
    return int((most_probable(log_joint) == y).sum())
