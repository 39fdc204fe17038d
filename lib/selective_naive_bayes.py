"""Naive Bayes on the attributes that do best by cross-validation."""

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import checked_frame, checked_target
from lib.structures.codes import DiscreteCoding, check_discrete
from lib.validation import check_integer, check_real

TIE = 1e-9


class SelectiveNaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes on attributes that are added one by one as long as held-out accuracy does not fall.

    The search starts with no attribute, where the most frequent class is predicted. Each step adds the attribute with
    the best accuracy in folds of the training rows, of equally good ones the first column. It ends where this
    accuracy would fall.

    Parameters
    ----------
    smoothing : float, above 0
        P(v | c) = (count + smoothing) / (n + smoothing m), where n rows of class c have a value of the attribute and
        m is the number of values it can have, as in `lib.naive_bayes.NaiveBayes`.
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
    Columns are those of `lib.structures.DiscreteCoding`: booleans, categories, strings, integers and whole numbers;
    continuous ones have to be discretised first. A missing value, or one that was never seen, is left out of the
    counts and of the product.

    Classes whose log probabilities differ by less than 1e-9 are equally probable, and the first of them is predicted.

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
            If a parameter is out of range, `X` is not discrete, `y` lacks a class, or the lengths differ.
        """
        check_real("smoothing", self.smoothing, 0, open_low=True)
        check_integer("n_folds", self.n_folds, 2)
        X = checked_frame(self, X, reset=True)
        self.classes_, y = checked_target(X, y)
        check_discrete(X)
        self._coding = DiscreteCoding(X)
        self._starts = np.cumsum(self._coding.sizes + 1) - self._coding.sizes - 1
        rows, folds = self._rows(X), self._folds(len(X))
        counts = np.stack([self._counts(rows[folds == f], y[folds == f]) for f in range(folds.max() + 1)])
        class_counts = np.stack([np.bincount(y[folds == f], minlength=len(self.classes_)) for f in range(len(counts))])
        total, class_total = counts.sum(axis=0), class_counts.sum(axis=0)
        self.class_log_prior_, self._log_tables = _log_proportions(class_total), self._tables(total)
        priors = _log_proportions(class_total - class_counts)[folds]
        tables = np.stack([self._tables(total - part) for part in counts])
        self._select(priors, [tables[folds, rows[:, j]] for j in range(rows.shape[1])], y)
        return self

    def predict_joint_log_proba(self, X):
        """Log P(c, x) of each row and class, (n_samples, n_classes), x being the chosen attributes."""
        check_is_fitted(self)
        X = checked_frame(self, X, reset=False)
        check_discrete(X)
        return self.class_log_prior_ + self._log_tables[self._rows(X)[:, self.chosen_]].sum(axis=1)

    def predict_log_proba(self, X):
        """Log P(c | x) of each row and class, (n_samples, n_classes)."""
        return log_softmax(self.predict_joint_log_proba(X), axis=1)

    def predict_proba(self, X):
        """P(c | x) of each row and class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of those equally probable, but for rounding, the first."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[_most_probable(joint)]

    def _folds(self, n):
        return check_random_state(self.random_state).permutation(n) % min(self.n_folds, n)

    def _rows(self, X):
        """Which row of the tables, one below the other, each value has; the first of each is for missing ones."""
        return self._coding(X) + 1 + self._starts

    def _counts(self, rows, y):
        """Rows of training data with each value and class, (n_table_rows, n_classes)."""
        n, d = rows.shape
        shape = n, int((self._coding.sizes + 1).sum())
        indicators = csr_array((np.ones(n * d), rows.ravel(), np.arange(n + 1) * d), shape=shape)
        return indicators.T @ np.eye(len(self.classes_))[y]

    def _tables(self, counts):
        """Log P(v | c) of all attributes, one below the other; 0 for a missing value."""
        observed, sizes = counts.copy(), self._coding.sizes
        observed[self._starts] = 0
        n = np.repeat(np.add.reduceat(observed, self._starts), sizes + 1, axis=0)
        tables = np.log((observed + self.smoothing) / (n + self.smoothing * np.repeat(sizes, sizes + 1)[:, None]))
        tables[self._starts] = 0
        return tables

    def _select(self, joint, terms, y):
        """Add the best attribute as long as accuracy does not fall; `terms` are those of the held-out rows."""
        chosen, n_correct, left = [], [_n_correct(joint, y)], list(range(len(terms)))
        while left:
            found = [_n_correct(joint + terms[j], y) for j in left]
            if max(found) < n_correct[-1]:
                break
            best = left.pop(int(np.argmax(found)))
            joint = joint + terms[best]
            chosen.append(best)
            n_correct.append(max(found))
        self.chosen_, self.accuracies_ = np.array(chosen, dtype=np.intp), np.array(n_correct) / len(y)

    def __sklearn_tags__(self):
        """Tell scikit-learn that missing values, categories and strings are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _log_proportions(counts):
    with np.errstate(divide="ignore"):
        return np.log(counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1))


def _most_probable(joint):
    return (joint >= joint.max(axis=1, keepdims=True) - TIE).argmax(axis=1)


def _n_correct(joint, y):
    return int((_most_probable(joint) == y).sum())
