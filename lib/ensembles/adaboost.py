"""AdaBoost.M1 as in Table 1 of the survey."""

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from lib.ensembles.members import Ensemble
from lib.estimators import with_parameters
from lib.validation import check_choice, check_flag

LEAST = 1e-10  # what an error of 0 counts as
RESTARTS = 10


@with_parameters
class AdaBoostM1(Ensemble):
    """Members trained on weights that rise where the members before them are wrong; a vote weighs log (1 - e) / e.

    Parameters
    ----------
    learner : classifier
    n_members : int, at least 1
    sampling : bool
        Each member gets as many rows as there are, drawn by the weights; else all rows with their
        weights, whose sum is the number of rows.
    at_error : "restart" or "stop"
        What happens at an error e above 1/2, which is not kept, and after one of 0. "restart" lets
        the weights begin anew, equal or, where they are not drawn by, those of a bootstrap
        replicate; after ten restarts in a row for errors above 1/2 it ends. A member without error
        votes as with e = 1e-10. "stop" is Table 1 to the letter: it ends, and a member without
        error, whose vote is infinite, decides alone.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted learners
        At least one: the last that was tried, if none has an error of at most 1/2.
    errors_, weights_ : ndarrays of shape (n_kept,)
        Weighted error e of each on its training weights, and the weight of its vote.

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
        X, y, rng = self._start(X, y)
        n = len(y)
        self.estimators_, errors, p, failures = [], [], np.full(n, 1 / n), 0
        while len(errors) < self.n_members and failures < RESTARTS:
            chosen = {"rows": rng.choice(n, size=n, p=p)} if self.sampling else {"weights": p * n}
            member = self._member(X, y, rng, **chosen)
            wrong = member.predict(X) != y
            error = p @ wrong
            failures = failures + 1 if error > 0.5 else 0
            if not failures or (not errors and (self.at_error == "stop" or failures == RESTARTS)):
                self.estimators_.append(member)
                errors.append(error)
            if failures or error < LEAST:
                if self.at_error == "stop":
                    break
                p = (
                    np.full(n, 1 / n)
                    if self.sampling
                    else np.bincount(rng.randint(n, size=n), minlength=n) / n
                )
            else:
                p = p * np.where(wrong, 1, error / (1 - error))  # lines 10 and 11
                p /= p.sum()
        self.errors_ = np.array(errors)
        if self.at_error == "stop" and self.errors_[-1] < LEAST:
            self.estimators_, self.errors_ = self.estimators_[-1:], self.errors_[-1:]
        bounded = np.clip(self.errors_, LEAST, None)
        weights = np.log((1 - bounded) / bounded)
        self.weights_ = weights if len(errors) > 1 and weights.any() else np.ones(len(weights))
        self.questions_ = [np.arange(len(self.classes_))] * len(weights)
        return self
