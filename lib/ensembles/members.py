"""What ensembles share: training data that are coded once, members on drawn or weighted rows, votes."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import checked_frame, checked_target
from lib.estimators import MixedInput, most_probable
from lib.trees import GainRatioTree, Table
from lib.validation import check_integer

SEEDS = 2**31


class Ensemble(MixedInput, ClassifierMixin, BaseEstimator):
    """Learners whose predictions are combined; subclasses have `learner`, `n_members` and `random_state`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
    """

    def predict(self, X):
        """The class with the most votes in each row, (n_samples,); of equals the first."""
        best = most_probable(self.predict_proba(X))
        return self.classes_[best]

    def member_predictions(self, X):
        """The number that each member predicts, of a class if it learned classes, (n_members, n_samples)."""
        X = self._inputs(X)
        return np.array([member.predict(X) for member in self.estimators_])

    def _start(self, X, y):
        """Training data as members take them, the number of each row's class, and random numbers."""
        check_integer("n_members", getattr(self, "n_members", 1), 1)
        if not isinstance(X, Table):
            X = checked_frame(self, X, reset=True)
            X = Table(X) if isinstance(self.learner, GainRatioTree) else X
        self._columns = X.columns if isinstance(X, Table) else None
        self.n_features_in_ = X.shape[1]
        self.classes_, y = checked_target(X, y)
        return X, y, check_random_state(self.random_state)

    def _member(self, X, y, rng, rows=None, weights=None):
        """A new learner, fitted to the rows with these numbers, or to all rows with these weights."""
        learner = clone(self.learner)
        seeded = {name: rng.randint(SEEDS) for name in learner.get_params() if name.endswith("random_state")}
        learner.set_params(**seeded)
        if rows is not None and isinstance(X, Table):
            rows, weights = None, np.bincount(rows, minlength=len(X)).astype(float)  # a row that comes twice weighs two
        if weights is not None:
            return learner.fit(X, y, sample_weight=weights)
        return learner.fit(X, y) if rows is None else learner.fit(X.iloc[rows], y[rows])

    def _drawn_or_weighted(self, X, y, rng, p):
        """A new learner, fitted to rows drawn with these probabilities, or to all rows with weights in proportion."""
        if self.sampling:
            return self._member(X, y, rng, rng.choice(len(y), size=len(y), p=p))
        return self._member(X, y, rng, weights=p * len(y))

    def _inputs(self, X):
        """New rows as members take them."""
        check_is_fitted(self)
        if isinstance(X, Table):
            return X
        X = checked_frame(self, X, reset=False)
        return X if self._columns is None else Table(X, self._columns)


def probabilities(member, X, n_classes):
    """P(c | x) by a member that was trained on class numbers, (n_samples, n_classes); 0 for a class it never saw."""
    result = np.zeros((len(X), n_classes))
    result[:, member.classes_] = member.predict_proba(X)
    return result


def scaled(scores):
    """Scores (n_samples, n_classes) that sum to 1 in each row; all are equal where they were 0."""
    total = scores.sum(axis=1, keepdims=True)
    return np.where(total > 0, scores / np.where(total > 0, total, 1), 1 / scores.shape[1])
