"""Members that differ in their rows, or only in their random numbers; all votes count the same."""

import numpy as np

from lib.ensembles.members import Ensemble
from lib.estimators import with_parameters
from lib.validation import check_choice, check_flag, check_integer

N_PARTS = 10
SAMPLINGS = ("bootstrap", "committees", "none")


@with_parameters
class Bagging(Ensemble):
    """Unweighted vote of a learner trained on bootstrap replicates, on all but a tenth, or again and again on all rows.

    Parameters
    ----------
    learner : classifier
        Of this book or of scikit-learn. Members get random numbers of their own, where they take
        any.
    n_members : int, at least 1
    sampling : "bootstrap", "committees" or "none"
        As many rows as there are, drawn with replacement (bagging); all but one of ten random
        parts, divided anew for every ten members (cross-validated committees); or all rows.
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

    n_members: int = 50
    sampling: str = "bootstrap"
    average: bool = False

    def fit(self, X, y):
        """Train all members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data.
        """
        check_choice("sampling", self.sampling, SAMPLINGS)
        self.soft_ = check_flag("average", self.average)
        X, y, rng = self._start(X, y)
        questions = np.tile(np.arange(len(self.classes_)), (self.n_members, 1))
        return self._train(X, y, rng, questions, bags(len(y), self.n_members, self.sampling, rng))


def bags(n, n_members, sampling, rng):
    """Numbers of the rows that each member is trained on; None for all.

    Parameters
    ----------
    n : int, at least 1
        Rows.
    n_members : int, at least 1
    sampling : "bootstrap", "committees" or "none"
        As in `Bagging`.
    rng : numpy.random.RandomState
    """
    check_integer("n", n, 1)
    check_integer("n_members", n_members, 1)
    check_choice("sampling", sampling, SAMPLINGS)
    n_parts = min(N_PARTS, n)
    for i in range(n_members):
        if sampling == "committees" and i % n_parts == 0:
            part = rng.permutation(n) % n_parts
        if sampling == "bootstrap":
            yield rng.randint(n, size=n)
        else:
            yield (
                np.flatnonzero(part != i % n_parts) if sampling == "committees" and n > 1 else None
            )
