"""Learning curves on random CIA models (Grove & Roth, sections 7 and 8)."""

import itertools
import warnings
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Perceptron, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB

from lib import trials
from lib.cia import ENUMERATION_LIMIT, HIDDEN_WEIGHTS, all_inputs, concentration, sample_cia
from lib.evaluation import share_of_gain
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.trials.options import check_workers
from lib.validation import at_least_one, check_choice, check_integer
from lib.winnow import Winnow, WinnowEnsemble
from lib.winnow.ensemble import fit_together
from lib.winnow.online import sums

SIZES = (10, 20, 35, 50, 100, 200, 350, 500, 1000, 2000)
MODEL, TEST, SAMPLE = 0, 1, 2  # what the random numbers of a trial are for


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
                Cs=self.penalties,
                cv=folds,
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
    """The ensemble of Winnows with margin and promotion chosen by cross-validated accuracy inside the training sample.

    Ensembles of three members are compared; that of all members has what wins. Of settings that do
    equally well the first wins, which is the margin of `WinnowEnsemble`, as it does with fewer than
    two examples of a class.
    """

    margins, promotions = (0.2, 0.0, 0.1, 0.4), (1.015, 1.05)  # margins in thresholds

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to attributes (n_samples, n_attributes) and a two-valued target."""
        self.model_ = WinnowEnsemble(random_state=self.random_state)
        folds = min(3, np.unique(y, return_counts=True)[1].min())
        if folds > 1:
            settings = [
                dict(margin=a * X.shape[1], promotion=b)
                for a in self.margins
                for b in self.promotions
            ]
            small = [
                WinnowEnsemble(3, **setting, random_state=self.random_state) for setting in settings
            ]
            positive, correct = y == np.max(y), np.zeros(len(small), int)
            for train, test in StratifiedKFold(folds).split(X, y):
                fit_together(small, X[train], positive[train])
                held_out = np.array(
                    [sums(X[test], each.weights_) > each.threshold_ for each in small]
                )
                correct += (held_out == positive[test]).sum(axis=1)
            self.model_.set_params(**settings[np.argmax(correct)])
        self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """The predicted class of each row."""
        return self.model_.predict(X)


CIA_LEARNERS = {
    "em": LatentClassEM(),
    "cov": LatentClassCovariance(),
    "winnow": WinnowEnsemble(),
    "winnow_cv": TunedWinnow(),
    "winnow_basic": WinnowEnsemble(margin=0.0),
    "winnow_single": Winnow(1.015, complement=True, n_passes=20, inclusive=False, shuffle=True),
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
    """Unfitted learners by name.

    Parameters
    ----------
    names : sequence of names (see `CIA_LEARNERS`), or dict from your own names to scikit-learn
    classifiers n_hidden : int
        True number of hidden values, for "em_true_k".

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
    learners = {
        check_choice("learners", name, CIA_LEARNERS): clone(CIA_LEARNERS[name]) for name in names
    }
    if "em_true_k" in learners:
        learners["em_true_k"].set_params(n_hidden=n_hidden)
    return learners


class Panel(NamedTuple):
    """A class of random models, CIA(n, k, b), with what `lib.cia.concentration` gives for it."""

    n_attributes: int
    n_hidden: int
    difficulty: float
    concentration: float

    @property
    def name(self):
        """Words for the line of progress."""
        return f"CIA({self.n_attributes}, {self.n_hidden}, {self.difficulty})"


def cia_learning_curves(
    n_attributes,
    n_hidden,
    difficulty=0.9,
    sizes=SIZES,
    n_models=100,
    learners=("em", "cov", "winnow"),
    seed=0,
    n_jobs=-1,
    hidden_weights="beta",
    min_gain=0.0,
):
    """Accuracy of learners of x0 on samples from random models of CIA(n, k, b).

    One model a trial; all sizes and learners see the same models. Accuracy is the mean of P(x0 =
    prediction | x) under the true model: see `Exam`.

    Parameters
    ----------
    n_attributes : int or sequence of int, 1 to 10,000
    n_hidden : int or sequence of int, 2 to 64
    difficulty : float or sequence of float in (0, 1)
    sizes : sequence of int, each 2 to 1,000,000
    n_models : int, at least 1
    learners : sequence of names (see `CIA_LEARNERS`), or dict of names to classifiers
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    hidden_weights : {"beta", "dirichlet", "equal"}
        See `lib.cia.sample_cia`.
    min_gain : float in [0, 1)
        A model with less to gain over the best constant is drawn again: see `usable_model`.

    Returns
    -------
    DataFrame
        model, size, learner, accuracy, best (the true model's accuracy), constant (the best
        constant's). A sample of one class only teaches every learner that constant. Where n, k or b
        is a sequence, there is a panel for each combination, and n_attributes, n_hidden and
        difficulty stand in front.

    Raises
    ------
    ValueError
        Before any work, if an argument is out of range or misspelt.
    """
    check_workers(n_jobs)
    n_models, sizes = check_integer("n_models", n_models, 1), check_sizes(sizes)
    check_choice("hidden_weights", hidden_weights, HIDDEN_WEIGHTS)
    axes = {"n_attributes": n_attributes, "n_hidden": n_hidden, "difficulty": difficulty}
    cia_learners(learners, 2)  # which finds what is misspelt before any work
    panels = itertools.product(*(at_least_one(*axis) for axis in axes.items()), [hidden_weights])
    panels = trials.run(
        _calibrated, panels, seed=seed, seconds=0.5, name="calibration", n_jobs=n_jobs
    )
    cases = [
        (Panel(*panel), cia_learners(learners, panel[1]))
        for panel in panels.itertuples(index=False)
    ]
    # drawing a model, and so much for each example, attribute and learner
    seconds = [0.02 + 1e-6 * sum(sizes) * (panel[0] + 40) * len(each) / 3 for panel, each in cases]
    trial = partial(_one_model, sizes=sizes, hidden_weights=hidden_weights, min_gain=min_gain)
    frame = trials.run(
        trial, cases, n_models, seed, seconds, "learning curves of CIA models", n_jobs=n_jobs
    )
    return frame.drop(columns=list(axes)) if all(map(np.isscalar, axes.values())) else frame


def _calibrated(_, n, k, b, hidden_weights):
    yield Panel(n, k, b, concentration(n, k, b, hidden_weights))._asdict()


def _one_model(seeds, panel, learners, sizes, hidden_weights, min_gain):
    n, k, b, _ = panel
    model, exam, _ = usable_model(
        panel, seeds.rng(MODEL), seeds.rng(TEST), min_gain, hidden_weights
    )
    about = {"n_attributes": n, "n_hidden": k, "difficulty": b, "model": seeds.number}
    for size in sizes:
        X, y, _ = model.sample(size, seeds.rng(SAMPLE, size))
        for name, learner in learners.items():
            accuracy = exam.accuracy_of(learner, X, y, seeds.sequence(SAMPLE, size, name))
            row = about | {"size": size, "learner": name, "accuracy": accuracy}
            yield row | {"best": exam.best, "constant": exam.constant}


def check_sizes(sizes):
    """Return sample sizes as a tuple of distinct ints from 2 to 1,000,000 in rising order."""
    sizes = [
        check_integer("sizes", size, 2, 1_000_000)
        for size in np.atleast_1d(np.asarray(sizes, dtype=object))
    ]
    if not sizes:
        raise ValueError("sizes must hold at least one sample size; got none")
    return tuple(sorted(set(sizes)))


class Exam:
    """Inputs with their weights and P(x0 = 1 | x) under the true model, which stand for a test set without noise.

    Parameters
    ----------
    model : CIAModel
    rng : numpy.random.Generator
    n_draws : int
        Inputs drawn from the model where there are too many to take all: for n above 12.

    Attributes
    ----------
    X, weights, positive : ndarrays of shape (n_inputs, n), (n_inputs,) and (n_inputs,)
    best, constant : float
        Accuracy of the best rule and of the best constant.
    """

    def __init__(self, model, rng, n_draws=2000):
        n = model.probabilities.shape[1] - 1
        if n <= ENUMERATION_LIMIT:
            self.X = all_inputs(n)
            joint = model.log_joint(self.X)
            self.weights = np.exp(np.logaddexp.reduce(joint, axis=1))
            self.positive = softmax(joint, axis=1) @ model.probabilities[:, 0]
        else:
            self.X = model.sample(n_draws, rng)[0]
            self.weights = np.full(n_draws, 1 / n_draws)
            self.positive = model.target_posterior(self.X)
        rate = self.weights @ self.positive
        self.constant = max(rate, 1 - rate)
        self.best = self.weights @ np.maximum(self.positive, 1 - self.positive)

    def accuracy(self, predicted):
        """Mean of P(x0 = predicted | x)."""
        return self.weights @ np.where(predicted == 1, self.positive, 1 - self.positive)

    def t(self, predicted):
        """T: the part of what there is to gain over the best constant."""
        return float(share_of_gain(self.accuracy(predicted), self.best, self.constant))

    def accuracy_of(self, learner, X, y, sequence):
        """Accuracy of a copy of `learner` that draws from a SeedSequence, after training on `X` and `y`."""
        if y.min() == y.max():
            return self.accuracy(y[0])
        learner = clone(learner)
        # which get_params would take longer to tell than some learners learn
        if hasattr(learner, "random_state"):
            learner.random_state = int(sequence.generate_state(1)[0] >> 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.accuracy(learner.fit(X, y).predict(self.X))


def usable_model(panel, rng, test_rng, min_gain, hidden_weights="beta", n_draws=100):
    """Draw models of a `Panel` until the best rule is `min_gain` better than the best constant, or `n_draws` times.

    Returns
    -------
    model : CIAModel
        The last one drawn.
    exam : Exam
    drawn : int
        How many were.
    """
    n, k, b, c = panel
    drawn = 0
    while True:
        model = sample_cia(n, k, b, rng, hidden_weights=hidden_weights, c=c)
        exam, drawn = Exam(model, test_rng), drawn + 1
        # rounding takes a gain of 0 below 0
        if round(exam.best - exam.constant, 12) >= min_gain or drawn >= n_draws:
            return model, exam, drawn


def learnable_model(n_attributes, n_hidden, difficulty, rng, min_gain=0.05):
    """Draw models until the best rule is `min_gain` better than the best constant; return one and its `Exam`.

    Raises
    ------
    ValueError
        If there is none among 1000 models.
    """
    panel = Panel(
        n_attributes, n_hidden, difficulty, concentration(n_attributes, n_hidden, difficulty)
    )
    model, exam, _ = usable_model(panel, rng, rng, min_gain, n_draws=1000)
    if exam.best - exam.constant < min_gain:
        raise ValueError(
            f"no model with best - constant of at least min_gain={min_gain} in 1000 draws"
        )
    return model, exam
