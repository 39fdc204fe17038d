"""The learners of a two-valued target that the learning curves know by name."""

from collections.abc import Collection
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Perceptron, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB

from lib.base.validation import check_choice
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.winnow import Winnow, WinnowEnsemble
from lib.winnow.ensemble import fit_together
from lib.winnow.online import sums


class TunedLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression that tunes its L2 penalty by the log loss of cross-validation.

    With fewer than two examples of a class nothing can be tuned, and the strongest penalty is used.
    """

    penalties = tuple(np.logspace(-3, 1, 5))

    def fit(self, X, y):
        """Fit to attributes (n_samples, n_attributes) and a two-valued target."""
        n_folds = _n_tuning_folds(y)
        if n_folds < 2:  # nothing to tune on
            self.model_ = LogisticRegression(C=self.penalties[0])
        else:
            self.model_ = LogisticRegressionCV(
                Cs=self.penalties,
                cv=n_folds,
                scoring="neg_log_loss",
                l1_ratios=(0,),
                use_legacy_attributes=False,
            )
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """The more likely class of each row."""
        return self.model_.predict(X)


class TunedWinnow(ClassifierMixin, BaseEstimator):
    """The ensemble of Winnows that tunes margin and promotion by the accuracy of cross-validation.

    Ensembles of three members are compared; that of all members has what wins. Of settings that do
    equally well the first wins, which is the margin of `WinnowEnsemble`, as it does with fewer than
    two examples of a class.
    """

    margins = (0.2, 0.0, 0.1, 0.4)  # in thresholds
    promotions = (1.015, 1.05)

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to attributes (n_samples, n_attributes) and a two-valued target."""
        self.model_ = WinnowEnsemble(random_state=self.random_state)
        n_folds = _n_tuning_folds(y)
        if n_folds > 1:
            self.model_.set_params(**self._tune(X, y, n_folds))
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def _tune(self, X, y, n_folds):
        """Return the margin and promotion with most correct predictions in cross-validation."""
        grid = []
        ensembles = []
        for margin, promotion in product(self.margins, self.promotions):
            parameters = {"margin": margin * X.shape[1], "promotion": promotion}
            grid.append(parameters)
            ensembles.append(WinnowEnsemble(3, **parameters, random_state=self.random_state))
        is_positive = y == np.max(y)
        n_correct = np.zeros(len(grid), int)
        for train, test in StratifiedKFold(n_folds).split(X, y):
            fit_together(ensembles, X[train], is_positive[train])
            # the sums of weights give predictions without a check of X for each ensemble
            predicted = np.array([sums(X[test], e.weights_) > e.threshold_ for e in ensembles])
            n_correct += (predicted == is_positive[test]).sum(axis=1)
        return grid[np.argmax(n_correct)]

    def predict(self, X):
        """The predicted class of each row."""
        return self.model_.predict(X)


def _n_tuning_folds(y):
    """Three folds of cross-validation, or as many as the smaller class has examples."""
    return min(3, np.unique(y, return_counts=True)[1].min())


# Grove & Roth compare em, cov and winnow; the others are variants and peers of these
CIA_LEARNERS = {
    "em": LatentClassEM(),
    "cov": LatentClassCovariance(),
    "winnow": WinnowEnsemble(),
    "winnow_cv": TunedWinnow(),
    "winnow_basic": WinnowEnsemble(margin=0.0),
    "winnow_single": Winnow(1.015, complement=True, n_passes=20, inclusive=False),
    "perceptron": Perceptron(),
    "averaged_perceptron": SGDClassifier(
        loss="perceptron",
        penalty=None,
        learning_rate="constant",
        eta0=1.0,
        average=True,
        max_iter=20,
        tol=None,
    ),
    "logistic": TunedLogisticRegression(),
    "naive_bayes": BernoulliNB(),
    "em_true_k": LatentClassEM(),
    "em_bic": LatentClassSelection("bic"),
    "em_heldout": LatentClassSelection("heldout"),
}


def cia_learners(names, n_hidden):
    """Make unfitted learners by name.

    Parameters
    ----------
    names : sequence of str, or dict of str to classifier
        Keys of `CIA_LEARNERS`, or your own names and scikit-learn classifiers, which are cloned.
    n_hidden : int
        True number of hidden values, for "em_true_k".

    Returns
    -------
    dict of str to classifier

    Raises
    ------
    ValueError
        For an unknown name; the message names the nearest known one.
    """
    names = (names,) if isinstance(names, str) else names
    if not isinstance(names, Collection):
        raise ValueError(
            f"learners must be a list of names, or a dict from names to classifiers; got {names!r}"
        )
    if not len(names):
        raise ValueError("learners must name at least one learner; got none")
    if isinstance(names, dict):
        for name, learner in names.items():
            if not hasattr(learner, "get_params"):
                raise ValueError(
                    f"learners[{name!r}] must be a scikit-learn classifier; got {learner!r}"
                )
        return {name: clone(learner) for name, learner in names.items()}
    learners = {}
    for name in names:
        check_choice("learners", name, CIA_LEARNERS)
        learners[name] = clone(CIA_LEARNERS[name])
    if "em_true_k" in learners:
        learners["em_true_k"].set_params(n_hidden=n_hidden)
    return learners
