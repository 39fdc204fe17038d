"""What estimators share: parameters, tags, weights, and prediction by joint probabilities."""

import numbers
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_non_negative

# Classes whose log probabilities differ by less are equally probable
TIE = 1e-9

# The fields of a learner's class are its parameters, in the order of its signature.
with_parameters = dataclass(eq=False, repr=False)


class MixedInput:
    """Tells scikit-learn that missing values, categories and strings are welcome."""

    def __sklearn_tags__(self):
        """Tags of an estimator of mixed columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        return tags


class SparseInput:
    """Tells scikit-learn that sparse matrices are welcome."""

    def __sklearn_tags__(self):
        """Tags of an estimator of sparse or dense rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TwoClasses:
    """Takes targets of two classes only."""

    def __sklearn_tags__(self):
        """Tags of a classifier of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_two(self, classes):
        """Return `classes`; ValueError unless there are two."""
        if len(classes) != 2:
            number = "one class" if len(classes) == 1 else f"{len(classes)} classes"
            message = f"y must have two classes; got {number}: {classes[:5]}."
            raise ValueError(f"{message} Only binary classification is supported.")
        return classes


def case_weights(sample_weight, X):
    """Return how many examples each row of `X` stands for, by the `sample_weight` of a `fit`.

    Weights whose sum is less than the number of rows that have any are shares, such as those of
    scikit-learn's AdaBoost, whose sum is 1: they are multiplied until that number is their sum.
    Whole numbers stay as they are.

    Parameters
    ----------
    sample_weight : array of shape (n_samples,), number or None
        None stands for a weight of 1 in each row.
    X : table of n_samples rows

    Returns
    -------
    weights : ndarray of float, shape (n_samples,)

    Raises
    ------
    ValueError
        If a weight is negative, infinite or NaN, none is above 0, their number is wrong, or their
        sum overflows.
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if sample_weight is None or isinstance(sample_weight, numbers.Number):
        weights = np.full(n_rows, 1.0 if sample_weight is None else sample_weight, dtype=float)
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=float, input_name="sample_weight"
        )
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number")
    check_non_negative(weights, "`sample_weight`")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight must have a finite sum; the largest weight is {weights.max():g}"
        )
    n_weighted = np.count_nonzero(weights)
    if total < n_weighted:
        # Divide by the largest first: the sum of the smallest floats has no finite inverse
        weights = weights / weights.max()
        weights = weights * (n_weighted / weights.sum())
    return weights


class JointClassifier(MixedInput, ClassifierMixin, BaseEstimator):
    """A classifier that predicts from joint probabilities.

    Subclasses have `classes_` and ``predict_joint_log_proba(X)``, ln P(c, x) of each row and class.
    """

    def predict_log_proba(self, X):
        """Ln P(c | x) of each row and class, (n_samples, n_classes)."""
        return log_softmax(self.predict_joint_log_proba(X), axis=1)

    def predict_proba(self, X):
        """P(c | x) of each row and class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The most probable class of each row, (n_samples,).

        Of classes that are equally probable, but for rounding, it is the first.
        """
        best = most_probable(self.predict_joint_log_proba(X))
        return self.classes_[best]


def most_probable(joint):
    """Return the number of the most probable class of each row, the first of those that tie.

    Parameters
    ----------
    joint : ndarray of shape (n_samples, n_classes)
        Log probabilities; those that differ by at most `TIE` are equal but for rounding.
    """
    highest = joint.max(axis=1, keepdims=True)
    return (joint >= highest - TIE).argmax(axis=1)
