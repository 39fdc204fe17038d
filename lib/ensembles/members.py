"""What ensembles share: training data that are prepared once, members on some rows, and votes."""

from copy import copy
from dataclasses import field

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state

from lib.base.estimators import with_parameters
from lib.base.validation import check_integer
from lib.discretize.columns import checked_frame, checked_target
from lib.trees import GainRatioTree, Table, TableClassifier

SEEDS = 2**31  # seeds of members are below it


@with_parameters
class Ensemble(TableClassifier):
    """Learners with weighted votes.

    Each member has a question: a label for each class. It is trained on the labels, and its vote
    for a label counts for all classes that have it. A member whose rows have one label predicts it
    with certainty: it is a leaf of a tree, or scikit-learn's `DummyClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
        A DummyClassifier where a sample has one label, unless the learner is a tree.
    questions_ : list of ndarrays of int (n_classes,)
        For each of them the label of each class.
    weights_ : ndarray of shape (n_kept,)
    """

    learner: BaseEstimator
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)

    soft_ = False  # whether members give probabilities instead of votes

    def predict_proba(self, X):
        """Share of the weighted votes, or probabilities, for each class, (n_samples, n_classes)."""
        scores = self.decision_scores(X)
        # votes of negative weight may take a score below 0
        scores = scores - np.minimum(scores.min(axis=1, keepdims=True), 0)
        scores[scores.max(axis=1) == 0] = 1  # no class has a vote
        return scores / scores.sum(axis=1, keepdims=True)

    def decision_scores(self, X):
        """Weighted votes, or probabilities, of all members for each class.

        Their shape is (n_samples, n_classes).
        """
        X = self._inputs(X)
        members = zip(self.estimators_, self.questions_, self.weights_, strict=True)
        return sum(
            weight * self._class_votes(member, question, X) for member, question, weight in members
        )

    def member_predictions(self, X):
        """The label that each member predicts, (n_members, n_samples).

        It is the number of a class, if members learned classes.
        """
        X = self._inputs(X)
        return np.array([member.predict(X) for member in self.estimators_])

    def _class_votes(self, member, question, X):
        """A member's votes for the classes, or their probabilities, (n_samples, n_classes)."""
        if not self.soft_:
            return member.predict(X)[:, None] == question
        n_labels = question.max(initial=1) + 1
        label_probabilities = np.zeros((len(X), n_labels))
        # a label that the member never saw keeps 0
        label_probabilities[:, member.classes_] = member.predict_proba(X)
        return label_probabilities[:, question]

    def _train_members(self, X, y, rng, questions, row_choices):
        """Train a member for each question, on the rows that are chosen for it."""
        self.questions_ = list(questions)
        self.estimators_ = [
            self._train_member(X, question[y], rng, rows)
            for question, rows in zip(self.questions_, row_choices, strict=True)
        ]
        self.weights_ = np.ones(len(self.estimators_))
        return self

    def _prepare(self, X, y):
        """Training data as members take them, the number of each row's class, random numbers."""
        check_integer("n_members", getattr(self, "n_members", 1), 1)
        is_estimator = not isinstance(self.learner, type) and hasattr(self.learner, "get_params")
        if not is_estimator or not is_classifier(self.learner):
            raise ValueError(
                "learner must be a classifier of this book or of scikit-learn; "
                f"got {self.learner!r}"
            )
        if self.soft_ and not hasattr(self.learner, "predict_proba"):
            raise ValueError(
                "learner must have predict_proba, where probabilities are summed; "
                f"got {self.learner!r}"
            )
        if not isinstance(X, Table):
            X = checked_frame(self, X, reset=True)
            if isinstance(self.learner, GainRatioTree):
                X = Table(X)  # which all trees share
        self._columns = X.columns if isinstance(X, Table) else None
        self.n_features_in_ = X.shape[1]
        self.classes_, y = checked_target(X, y)
        return X, y, check_random_state(self.random_state)

    def _train_member(self, X, y, rng, rows=None, weights=None):
        """A new learner, fitted to the rows with these numbers, or to all rows with these weights.

        Without either, it is fitted to all rows. Where they have one label, a `DummyClassifier`
        takes the place of the learner, as many refuse a single class.
        """
        if isinstance(self.learner, GainRatioTree):
            return self._grow_tree(X, y, rng, rows, weights)
        learner = clone(self.learner)
        names = [name for name in learner.get_params() if name.endswith("random_state")]
        learner.set_params(**{name: rng.randint(SEEDS) for name in names})
        sample = slice(None) if rows is None else rows
        if weights is not None:
            sample = weights > 0
        if len(np.unique(y[sample])) == 1:
            learner = DummyClassifier()
        if weights is not None:
            return learner.fit(X, y, sample_weight=weights)
        if rows is not None:
            return learner.fit(X.iloc[rows], y[rows])
        return learner.fit(X, y)

    def _grow_tree(self, X, y, rng, rows, weights):
        """A tree, grown without the checks of its `fit`, as the table is checked already."""
        tree = copy(self.learner)
        tree.random_state = rng.randint(SEEDS)
        if weights is None:
            # a row that was drawn twice weighs two
            drawn_rows = np.arange(len(X)) if rows is None else rows
            weights = np.bincount(drawn_rows, minlength=len(X)).astype(float)
        labels = np.flatnonzero(np.bincount(y))
        return tree.grow(X, labels, np.searchsorted(labels, y), weights)
