"""Bagging, cross-validated committees, and repetition: votes that all count the same."""

import numpy as np

from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_flag, check_integer
from lib.ensembles.members import Ensemble

SAMPLINGS = ("bootstrap", "committees", "none")


@with_parameters
class Bagging(Ensemble):
    """Unweighted vote of a learner that is trained on bootstrap replicates or other samples.

    Parameters
    ----------
    learner : classifier
        Of this book or of scikit-learn. Members get random numbers of their own, where they take
        any.
    n_members : int, at least 1
    sampling : "bootstrap", "committees" or "none"
        As many rows as there are, drawn with replacement (bagging); all but one of `n_folds` random
        folds, divided again for every `n_folds` members (cross-validated committees); or all rows.
    average : bool
        Members' probabilities are averaged; else each member has one vote.
    n_folds : int, at least 2
        Of committees; one for each row if there are fewer rows.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
        A DummyClassifier where a sample has one class, unless the learner is a GainRatioTree.

    References
    ----------
    Breiman (1996), "Bagging predictors"; Parmanto, Munro & Doyle (1996).
    """

    n_members: int = 50
    sampling: str = "bootstrap"
    average: bool = False
    n_folds: int = 10

    def fit(self, X, y):
        """Train all members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data.
        """
        check_choice("sampling", self.sampling, SAMPLINGS)
        self.soft_ = check_flag("average", self.average)
        X, y, rng = self._prepare(X, y)
        every_class = np.arange(len(self.classes_))  # each class is its own label
        questions = np.tile(every_class, (self.n_members, 1))
        row_choices = bags(len(y), self.n_members, self.sampling, rng, self.n_folds)
        return self._train_members(X, y, rng, questions, row_choices)


def bags(n, n_members, sampling, rng, n_folds=10):
    """Draw the rows that each member is trained on.

    Parameters
    ----------
    n : int, at least 1
        Rows.
    n_members : int, at least 1
    sampling : "bootstrap", "committees" or "none"
        As in `Bagging`.
    rng : numpy.random.RandomState
        Used for a member only when its bag is asked for.
    n_folds : int, at least 2

    Yields
    ------
    ndarray of int, or None
        Numbers of rows; None for all.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    check_integer("n", n, 1)
    check_integer("n_members", n_members, 1)
    check_choice("sampling", sampling, SAMPLINGS)
    n_folds = min(check_integer("n_folds", n_folds, 2), n)
    for i in range(n_members):
        if sampling == "bootstrap":
            yield rng.randint(n, size=n)
        elif sampling == "committees":
            if i % n_folds == 0:
                folds = rng.permutation(n) % n_folds
            # a single row is never left out
            yield np.flatnonzero(folds != i % n_folds) if n > 1 else None
        else:
            yield None
