"""What estimators share: parameters, tags, a target of two classes, and prediction from joint probabilities."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin

TIE = 1e-9  # classes whose log probabilities differ by less are equally probable

# The fields of a learner's class are its parameters, in the order of its signature.
with_parameters = dataclass(eq=False, repr=False)


class MixedInput:
    """Tells scikit-learn that missing values, categories and strings are welcome."""

    def __sklearn_tags__(self):
        """Tags of an estimator of mixed columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        return tags


class TwoClasses:
    """Takes targets of two classes only."""

    def __sklearn_tags__(self):
        """Tags of a classifier of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _target(self, y):
        """Set `classes_` and return the number of each row's class; ValueError unless there are two."""
        self.classes_, target = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            number = "one class" if len(self.classes_) == 1 else f"{len(self.classes_)} classes"
            message = f"y must have two classes; got {number}: {self.classes_[:5]}."
            raise ValueError(f"{message} Only binary classification is supported.")
        return target


class JointClassifier(MixedInput, ClassifierMixin, BaseEstimator):
    """Subclasses have `classes_` and `predict_joint_log_proba(X)`, ln P(c, x) of each row and class."""

    def predict_log_proba(self, X):
        """Ln P(c | x) of each row and class, (n_samples, n_classes)."""
        return log_softmax(self.predict_joint_log_proba(X), axis=1)

    def predict_proba(self, X):
        """P(c | x) of each row and class, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The most probable class of each row, (n_samples,); of those equally probable, but for rounding, the first."""
        best = most_probable(self.predict_joint_log_proba(X))
        return self.classes_[best]


def most_probable(joint):
    """Number of the first class that is as probable as any, but for rounding, in each row."""
    return (joint >= joint.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
