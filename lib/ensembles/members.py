"""What ensembles share: training data that are coded once, members on drawn or weighted rows, votes."""

from copy import copy
from dataclasses import field

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_random_state

from lib.discretize.columns import checked_frame, checked_target
from lib.estimators import with_parameters
from lib.trees import GainRatioTree, Table, TableClassifier
from lib.validation import check_integer

SEEDS = 2**31


@with_parameters
class Ensemble(TableClassifier):
    """Learners with weighted votes. Each learned one label for each class; it speaks for the classes of what it says.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
    questions_ : list of ndarrays of int (n_classes,)
        For each of them the label of each class.
    weights_ : ndarray of shape (n_kept,)
    """

    learner: BaseEstimator
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)

    soft_ = False  # whether members have probabilities in place of votes

    def predict_proba(self, X):
        """Share of the weighted votes, or probabilities, for each class, (n_samples, n_classes)."""
        scores = self.decision_scores(X)
        scores = scores - np.minimum(scores.min(axis=1, keepdims=True), 0)
        scores[scores.max(axis=1) == 0] = 1  # nobody says anything
        return scores / scores.sum(axis=1, keepdims=True)

    def decision_scores(self, X):
        """Weighted votes, or probabilities, of all members for each class, (n_samples, n_classes)."""
        X = self._inputs(X)
        members = zip(self.estimators_, self.questions_, self.weights_, strict=True)
        return sum(
            weight * self._plausible(member, question, X) for member, question, weight in members
        )

    def member_predictions(self, X):
        """The label that each member predicts, (n_members, n_samples): the number of a class, if it learned classes."""
        X = self._inputs(X)
        return np.array([member.predict(X) for member in self.estimators_])

    def _plausible(self, member, question, X):
        """Whether a member says the label of each class, or how probable it finds that, (n_samples, n_classes)."""
        if not self.soft_:
            return member.predict(X)[:, None] == question
        labels = np.zeros((len(X), question.max(initial=1) + 1))
        labels[:, member.classes_] = member.predict_proba(X)  # 0 for a label it never saw
        return labels[:, question]

    def _train(self, X, y, rng, questions, chosen):
        """Train a member for each question, on the rows that are chosen for it."""
        self.questions_ = list(questions)
        pairs = zip(self.questions_, chosen, strict=True)
        self.estimators_ = [self._member(X, question[y], rng, rows) for question, rows in pairs]
        self.weights_ = np.ones(len(self.estimators_))
        return self

    def _start(self, X, y):
        """Training data as members take them, the number of each row's class, and random numbers."""
        check_integer("n_members", getattr(self, "n_members", 1), 1)
        if isinstance(self.learner, type) or not (
            hasattr(self.learner, "get_params") and is_classifier(self.learner)
        ):
            raise ValueError(
                f"learner must be a classifier of this book or of scikit-learn; got {self.learner!r}"
            )
        if self.soft_ and not hasattr(self.learner, "predict_proba"):
            raise ValueError(
                f"learner must have predict_proba, where probabilities are summed; got {self.learner!r}"
            )
        if not isinstance(X, Table):
            X = checked_frame(self, X, reset=True)
            X = Table(X) if isinstance(self.learner, GainRatioTree) else X
        self._columns = X.columns if isinstance(X, Table) else None
        self.n_features_in_ = X.shape[1]
        self.classes_, y = checked_target(X, y)
        return X, y, check_random_state(self.random_state)

    def _member(self, X, y, rng, rows=None, weights=None):
        """A new learner, fitted to the rows with these numbers, or to all rows with these weights."""
        # its input is checked already; a row that comes twice weighs two
        if isinstance(self.learner, GainRatioTree):
            learner, labels = copy(self.learner), np.flatnonzero(np.bincount(y))
            learner.random_state = rng.randint(SEEDS)
            if weights is None:
                weights = np.bincount(
                    np.arange(len(X)) if rows is None else rows, minlength=len(X)
                ).astype(float)
            return learner.grow(X, labels, np.searchsorted(labels, y), weights)
        learner = clone(self.learner)
        seeded = {
            name: rng.randint(SEEDS)
            for name in learner.get_params()
            if name.endswith("random_state")
        }
        learner.set_params(**seeded)
        if weights is not None:
            return learner.fit(X, y, sample_weight=weights)
        return learner.fit(X, y) if rows is None else learner.fit(X.iloc[rows], y[rows])
