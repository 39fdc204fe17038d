"""AdaBoost.M1, as in Table 1 of the survey."""

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_flag
from lib.ensembles.members import Ensemble

LEAST_ERROR = 1e-10  # what an error of 0 counts as
RESTARTS = 10


@with_parameters
class AdaBoostM1(Ensemble):
    """Boosting: members are trained on weights that rise where those before them are wrong.

    A member's vote weighs log (1 - e) / e, where e is its weighted error.

    Parameters
    ----------
    learner : classifier
    n_members : int, at least 1
    sampling : bool
        Each member gets as many rows as there are, drawn by the weights; else all rows with their
        weights, whose sum is the number of rows.
    at_error : "restart" or "stop"
        What happens at an error e above 1/2, which is not kept, and after one of 0. "restart" lets
        the weights begin again, equal or, where they are not drawn by, those of a bootstrap
        replicate; after ten restarts in a row for errors above 1/2 it ends. A member without error
        votes as with e = 1e-10. "stop" is Table 1 to the letter: it ends, and a member without
        error, whose vote is infinite, decides alone.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
        At least one: the last that was tried, if none has an error of at most 1/2. A
        DummyClassifier where a sample has one class, unless the learner is a GainRatioTree.
    errors_, weights_ : ndarrays of shape (n_kept,)
        Weighted error e of each on its training weights, and the weight of its vote.

    Notes
    -----
    With "restart", up to ten times as many members are trained as are kept, where the learner is
    seldom right more often than wrong.

    References
    ----------
    Freund & Schapire (1996); Dietterich (1997), Table 1.
    """

    n_members: int = 50
    sampling: bool = True
    at_error: str = "restart"

    def fit(self, X, y):
        """Train members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data, or takes no weights
            although `sampling` is False.
        """
        check_flag("sampling", self.sampling)
        check_choice("at_error", self.at_error, ("restart", "stop"))
        if not self.sampling and not has_fit_parameter(self.learner, "sample_weight"):
            raise ValueError(
                f"sampling must be True, as fit of {self.learner!r} has no sample_weight; got False"
            )
        X, y, rng = self._prepare(X, y)
        self._boost(X, y, rng)
        self._weigh_votes()
        every_class = np.arange(len(self.classes_))  # each class is its own label
        self.questions_ = [every_class] * len(self.weights_)
        return self

    def _boost(self, X, y, rng):
        """Train members until there are enough, or an error ends it: lines 1 to 12 of Table 1."""
        n = len(y)
        self.estimators_ = []
        errors = []
        p = np.full(n, 1 / n)  # line 1
        n_failures = 0  # in a row, of errors above 1/2
        while len(errors) < self.n_members and n_failures < RESTARTS:
            if self.sampling:  # line 4
                member = self._train_member(X, y, rng, rows=rng.choice(n, size=n, p=p))
            else:
                member = self._train_member(X, y, rng, weights=p * n)
            is_wrong = member.predict(X) != y
            error = p @ is_wrong  # line 5
            has_failed = error > 0.5  # line 7
            n_failures = n_failures + 1 if has_failed else 0
            # a failure is kept if otherwise there would be no member at all
            is_last_hope = self.at_error == "stop" or n_failures == RESTARTS
            if not has_failed or (not errors and is_last_hope):
                self.estimators_.append(member)
                errors.append(error)
            if not has_failed and error >= LEAST_ERROR:
                beta = error / (1 - error)  # line 10
                p = p * np.where(is_wrong, 1, beta)  # line 11
                p /= p.sum()  # line 3
            elif self.at_error == "stop":
                break
            else:
                p = self._restart_weights(n, rng)
        self.errors_ = np.array(errors)

    def _restart_weights(self, n, rng):
        """Weights of rows after a restart, which sum to 1.

        Equal weights would lead to the same member again where rows are not drawn.
        """
        if self.sampling:
            return np.full(n, 1 / n)
        return np.bincount(rng.randint(n, size=n), minlength=n) / n

    def _weigh_votes(self):
        """Give each member the vote log (1 - e) / e, which is log 1 / beta in line 13."""
        n_members = len(self.errors_)
        if self.at_error == "stop" and self.errors_[-1] < LEAST_ERROR:
            # an infinite vote decides alone
            self.estimators_ = self.estimators_[-1:]
            self.errors_ = self.errors_[-1:]
        bounded = np.clip(self.errors_, LEAST_ERROR, None)
        weights = np.log((1 - bounded) / bounded)
        # the vote of an only member may be negative, and those of errors of 1/2 are all 0
        is_usable = n_members > 1 and weights.any()
        self.weights_ = weights if is_usable else np.ones(len(weights))
