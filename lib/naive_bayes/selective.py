"""Naive Bayes on the attributes that do best by cross-validation."""

import numpy as np
from sklearn.utils import check_random_state

from lib.discretize.columns import checked_frame, checked_target
from lib.estimators import JointClassifier, most_probable
from lib.naive_bayes.tables import Tables
from lib.structures.encoding import DiscreteCoding
from lib.validation import check_integer, check_real


class SelectiveNaiveBayes(JointClassifier):
    """Naive Bayes on attributes that are added one by one as long as held-out accuracy does not fall.

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
    Columns are those of `DiscreteCoding` in lib.structures: booleans, categories, strings, integers
    and whole numbers; continuous ones have to be discretised first. A missing value, or one that
    was never seen, is left out of the counts and of the product.

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
        """Choose attributes and estimate prior and tables from `X` (n_samples, n_attributes) and classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` is not discrete, `y` lacks a class, or the lengths
            differ.
        """
        check_real("smoothing", self.smoothing, 0, open_low=True)
        check_integer("n_folds", self.n_folds, 2)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        self._tables, n_classes = Tables(DiscreteCoding(X)), len(self.classes_)
        rows, n_folds = self._tables.rows(X), min(self.n_folds, len(X))
        folds = check_random_state(self.random_state).permutation(len(X)) % n_folds
        parts = [folds == fold for fold in range(n_folds)]
        counts = np.stack([self._tables.counts(rows[part], y[part], n_classes) for part in parts])
        class_counts = np.stack([np.bincount(y[part], minlength=n_classes) for part in parts])
        total, class_total = counts.sum(axis=0), class_counts.sum(axis=0)
        self.class_log_prior_, self._log_tables = _log_proportions(class_total), self._logs(total)
        priors = _log_proportions(class_total - class_counts)[folds]
        tables = np.stack([self._logs(total - part) for part in counts])
        self._select(priors, [tables[folds, rows[:, j]] for j in range(rows.shape[1])], y)
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x) of each row and class, (n_samples, n_classes), x being the chosen attributes."""
        X = checked_frame(self, X, reset=False)
        return self.class_log_prior_ + self._log_tables[self._tables.rows(X)[:, self.chosen_]].sum(
            axis=1
        )

    def _logs(self, counts):
        return self._tables.logs(self._tables.proportions(counts, self.smoothing))

    def _select(self, joint, terms, y):
        """Add the best attribute as long as accuracy does not fall; `terms` are those of the held-out rows."""
        chosen, n_correct, left = [], [_n_correct(joint, y)], list(range(len(terms)))
        while left:
            numbers = [_n_correct(joint + terms[j], y) for j in left]
            if max(numbers) < n_correct[-1]:
                break
            best = left.pop(int(np.argmax(numbers)))
            joint = joint + terms[best]
            chosen.append(best)
            n_correct.append(max(numbers))
        self.chosen_, self.accuracies_ = (
            np.array(chosen, dtype=np.intp),
            np.array(n_correct) / len(y),
        )


def _log_proportions(counts):
    with np.errstate(divide="ignore"):
        return np.log(counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1))


def _n_correct(joint, y):
    return int((most_probable(joint) == y).sum())
