"""The learners that experiments know by name."""

from collections.abc import Collection

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.validation import check_choice
from lib.winnow import Winnow, WinnowEnsemble


class TunedLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression with the L2 penalty chosen by cross-validated log loss inside the training sample.

    With fewer than two examples of a class nothing can be tuned, and the strongest penalty is used.
    """

    penalties = tuple(np.logspace(-3, 1, 5))

    def fit(self, X, y):
        """Fit to attributes (n_samples, n_attributes) and a two-valued target."""
        folds = min(3, np.unique(y, return_counts=True)[1].min())
        if folds < 2:
            self.model_ = LogisticRegression(C=self.penalties[0])
        else:
            self.model_ = LogisticRegressionCV(
                Cs=self.penalties, cv=folds, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False
            )
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """The more likely class of each row."""
        return self.model_.predict(X)


LEARNERS = {
    "em": LatentClassEM(),
    "cov": LatentClassCovariance(),
    "winnow": WinnowEnsemble(),
    "winnow_basic": WinnowEnsemble(margin=0.0),
    "winnow_single": Winnow(1.015, complement=True, n_passes=20, inclusive=False, shuffle=True),
    "perceptron": Perceptron(),
    "averaged_perceptron": SGDClassifier(
        loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, average=True, max_iter=20, tol=None
    ),
    "logistic": TunedLogisticRegression(),
    "naive_bayes": BernoulliNB(),
    "em_true_k": LatentClassEM(),
    "em_bic": LatentClassSelection("bic"),
    "em_heldout": LatentClassSelection("heldout"),
}


def make_learners(learners, n_hidden):
    """Unfitted learners by name.

    Parameters
    ----------
    learners : sequence of names, or dict from your own names to scikit-learn classifiers
    n_hidden : int
        True number of hidden values, for "em_true_k".

    Raises
    ------
    ValueError
        For an unknown name; the message names the nearest known one.
    """
    if isinstance(learners, str):
        learners = (learners,)
    if not isinstance(learners, Collection):
        raise ValueError(f"learners must be a list of names, or a dict from names to classifiers; got {learners!r}")
    if not len(learners):
        raise ValueError("learners must name at least one learner; got none")
    if isinstance(learners, dict):
        return {name: _clone(name, learner) for name, learner in learners.items()}
    made = {check_choice("learners", name, LEARNERS): clone(LEARNERS[name]) for name in learners}
    if "em_true_k" in made:
        made["em_true_k"].set_params(n_hidden=n_hidden)
    return made


def _clone(name, learner):
    try:
        return clone(learner)
    except TypeError as error:
        raise ValueError(f"learners[{name!r}] must be a scikit-learn classifier; got {learner!r}") from error
