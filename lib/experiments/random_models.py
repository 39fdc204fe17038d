"""Random CIA models that leave something to learn, and exact test sets for them."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lib.cia import ENUMERATION_LIMIT, all_inputs, concentration, sample_cia
from lib.evaluation import share_of_gain


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


class ExactTestSet:
    """Inputs with their weights and P(x0 = 1 | x) under the true model: a test set without noise.

    The mean of P(x0 = prediction | x) is the expected accuracy; no label is drawn.

    Parameters
    ----------
    model : CIAModel
    rng : numpy.random.Generator
    n_draws : int
        Inputs drawn from the model where there are too many to take all: for n above 12.

    Attributes
    ----------
    X, weights, positive : ndarrays of shape (n_inputs, n), (n_inputs,) and (n_inputs,)
        Inputs, their probabilities (or shares of the draws), and P(x0 = 1 | x).
    best, constant : float
        Accuracy of the best rule and of the best constant.
    """

    def __init__(self, model, rng, n_draws=2000):
        n_attributes = model.probabilities.shape[1] - 1
        if n_attributes <= ENUMERATION_LIMIT:  # all 2^n inputs with their probabilities
            self.X = all_inputs(n_attributes)
            log_joint = model.log_joint(self.X)
            self.weights = np.exp(np.logaddexp.reduce(log_joint, axis=1))
            self.positive = softmax(log_joint, axis=1) @ model.probabilities[:, 0]
        else:
            # P(x0 | x) in place of drawn labels has less variance (Rao & Blackwell)
            self.X = model.sample(n_draws, rng)[0]
            self.weights = np.full(n_draws, 1 / n_draws)
            self.positive = model.target_posterior(self.X)
        positive_rate = self.weights @ self.positive
        self.constant = max(positive_rate, 1 - positive_rate)
        self.best = self.weights @ np.maximum(self.positive, 1 - self.positive)

    def accuracy(self, predicted):
        """Mean of P(x0 = predicted | x).

        Parameters
        ----------
        predicted : array-like of shape (n_inputs,), or a constant
            0 or 1 for each row of `X`.
        """
        return self.weights @ np.where(predicted == 1, self.positive, 1 - self.positive)

    def t(self, predicted):
        """T, the normalised gain: 0 for the best constant, 1 for the true model."""
        return float(share_of_gain(self.accuracy(predicted), self.best, self.constant))

    def accuracy_of(self, learner, X, y, sequence):
        """Accuracy of a copy of a learner after training.

        Parameters
        ----------
        learner : classifier
        X, y : ndarrays of shape (n_samples, n) and (n_samples,)
            A sample of one class only teaches every learner that constant.
        sequence : numpy.random.SeedSequence
            Where the learner's random state comes from, if it has one.
        """
        if y.min() == y.max():
            return self.accuracy(y[0])
        learner = clone(learner)
        # hasattr, as get_params takes longer than some learners take to learn
        if hasattr(learner, "random_state"):
            learner.random_state = int(sequence.generate_state(1)[0] >> 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.accuracy(learner.fit(X, y).predict(self.X))


def usable_model(panel, rng, test_rng, min_gain, hidden_weights="beta", n_draws=100):
    """Draw a random model under which the best rule beats the best constant by `min_gain`.

    Parameters
    ----------
    panel : Panel
    rng, test_rng : numpy.random.Generator
        For the model, and for the inputs of its test set.
    min_gain : float
        In accuracy.
    hidden_weights : {"beta", "dirichlet", "equal"}
        See `lib.cia.sample_cia`.
    n_draws : int, at least 1
        After so many models the last one is taken, whatever its gain.

    Returns
    -------
    model : CIAModel
    test_set : ExactTestSet
    n_drawn : int
        Models drawn, this one included.
    """
    n_drawn = 0
    gain = -1.0
    while gain < min_gain and n_drawn < n_draws:
        n_drawn += 1
        model = sample_cia(
            panel.n_attributes,
            panel.n_hidden,
            panel.difficulty,
            rng,
            hidden_weights=hidden_weights,
            c=panel.concentration,
        )
        test_set = ExactTestSet(model, test_rng)
        # rounded, as a gain of 0 may come out below 0
        gain = round(test_set.best - test_set.constant, 12)
    return model, test_set, n_drawn


def learnable_model(n_attributes, n_hidden, difficulty, rng, min_gain=0.05):
    """Draw a random model under which the best rule beats the best constant by `min_gain`.

    Returns
    -------
    model : CIAModel
    test_set : ExactTestSet

    Raises
    ------
    ValueError
        If there is none among 1000 models.
    """
    c = concentration(n_attributes, n_hidden, difficulty)
    panel = Panel(n_attributes, n_hidden, difficulty, c)
    model, test_set, _ = usable_model(panel, rng, rng, min_gain, n_draws=1000)
    if test_set.best - test_set.constant < min_gain:
        raise ValueError(
            f"no model with best - constant of at least min_gain={min_gain} in 1000 draws"
        )
    return model, test_set
