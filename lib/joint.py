"""Classifiers that model P(c, x): posterior and prediction from its logarithms."""

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from lib.discretize.columns import MixedInput

TIE = 1e-9  # classes whose log probabilities differ by less are equally probable


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
        return self.classes_[most_probable(self.predict_joint_log_proba(X))]


def most_probable(joint):
    """Number of the first class that is as probable as any, but for rounding, in each row."""
    return (joint >= joint.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
