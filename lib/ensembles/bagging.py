"""Members that differ in their rows, or only in their random numbers; all votes count the same."""

import numpy as np

from lib.ensembles.members import Ensemble, probabilities
from lib.validation import check_choice, check_flag

N_PARTS = 10


class Bagging(Ensemble):
    """Unweighted vote of a learner trained on bootstrap replicates, on all but a tenth, or again and again on all rows.

    Parameters
    ----------
    learner : classifier
        Of this book or of scikit-learn. Members get random numbers of their own, where they take any.
    n_members : int, at least 1
    sampling : "bootstrap", "committees" or "none"
        As many rows as there are, drawn with replacement (bagging); all but one of ten random parts, divided anew
        for every ten members (cross-validated committees); or all rows.
    average : bool
        Members' probabilities are averaged; else each member has one vote.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners

    References
    ----------
    Breiman (1996), "Bagging predictors"; Parmanto, Munro & Doyle (1996).
    """

    def __init__(self, learner, n_members=50, sampling="bootstrap", average=False, random_state=None):
        self.learner = learner
        self.n_members = n_members
        self.sampling = sampling
        self.average = average
        self.random_state = random_state

    def fit(self, X, y):
        """Train all members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data.
        """
        check_choice("sampling", self.sampling, ("bootstrap", "committees", "none"))
        check_flag("average", self.average)
        X, y, rng = self._start(X, y)
        chosen = bags(len(y), self.n_members, self.sampling, rng)
        self.estimators_ = [self._member(X, y, rng, rows) for rows in chosen]
        return self

    def predict_proba(self, X):
        """Share of the votes for each class, or mean of the members' probabilities, (n_samples, n_classes)."""
        if self.average:
            X = self._inputs(X)
            return sum(probabilities(member, X, len(self.classes_)) for member in self.estimators_) / self.n_members
        return shares(self.member_predictions(X), np.ones(self.n_members), len(self.classes_))


def bags(n, n_members, sampling, rng):
    """Numbers of the rows that each member is trained on; None for all.

    Parameters
    ----------
    n : int
        Rows.
    n_members : int
    sampling : "bootstrap", "committees" or "none"
        As in `Bagging`.
    rng : numpy.random.RandomState
    """
    n_parts = min(N_PARTS, n)
    for i in range(n_members):
        if sampling == "committees" and i % n_parts == 0:
            part = rng.permutation(n) % n_parts
        if sampling == "bootstrap":
            yield rng.randint(n, size=n)
        else:
            yield np.flatnonzero(part != i % n_parts) if sampling == "committees" and n > 1 else None


def shares(predictions, weights, n_classes):
    """Part of the weights that predict each class, (n_samples, n_classes); `predictions` (n_members, n_samples)."""
    votes, weights = np.zeros((predictions.shape[1], n_classes)), weights if np.any(weights) else np.ones(len(weights))
    for prediction, weight in zip(predictions, weights, strict=True):
        votes[np.arange(len(prediction)), prediction] += weight
    return votes / votes.sum(axis=1, keepdims=True)
