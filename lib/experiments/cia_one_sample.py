"""EM, COV and Winnow at work on one sample, step by step (Grove & Roth, sections 3, 4 and 6)."""

import numpy as np
import pandas as pd

from lib.cia import sample_cia
from lib.experiments.cia_curves import TestInputs
from lib.latent_class import LatentClassCovariance, LatentClassEM
from lib.trials.legacy import trial_seeds
from lib.validation import check_integer
from lib.winnow import Winnow


class OneSample:
    """One random model of CIA(n, k, b), one sample of it, and inputs to test on.

    Parameters
    ----------
    n_attributes, n_hidden, difficulty
        See `lib.cia.sample_cia`.
    size : int, at least 2
    seed : int, at least 0
    min_gain : float
        Models are drawn until best - constant is at least this, so that there is something to learn.

    Attributes
    ----------
    model : CIAModel
    X, y, z : ndarrays of shape (size, n), (size,) and (size,)
        The sample: attributes, target and hidden value.

    Raises
    ------
    ValueError
        If an argument is out of range, no such model is found, or the sample holds one class only.
    """

    def __init__(self, n_attributes, n_hidden, difficulty, size, seed, min_gain=0.05):
        size = check_integer("size", size, 2)
        rng = np.random.default_rng(trial_seeds(seed, 1)[0])
        for _ in range(1000):
            self.model = sample_cia(n_attributes, n_hidden, difficulty, rng)
            self.test = TestInputs(self.model, 2000, rng)
            if self.test.best - self.test.constant >= min_gain:
                break
        else:
            raise ValueError(f"no model with best - constant of at least min_gain={min_gain} in 1000 draws")
        self.X, self.y, self.z = self.model.sample(size, rng)
        if self.y.min() == self.y.max():
            raise ValueError(f"the sample of size={size} holds one class only; take a larger size or another seed")
        self.seed = seed

    def t(self, predicted):
        """T of predictions for the test inputs."""
        return (self.test.accuracy(predicted) - self.test.constant) / (self.test.best - self.test.constant)

    def em(self, **parameters):
        """A fitted LatentClassEM, in float64 so that its traces are exact."""
        return LatentClassEM(dtype="float64", random_state=self.seed, **parameters).fit(self.X, self.y)

    def cov(self):
        """A fitted LatentClassCovariance."""
        return LatentClassCovariance().fit(self.X, self.y)

    def winnow_passes(self, n_passes, learners=None):
        """Winnow after each pass: mistakes in it, T, the gap ``|Z - threshold| / threshold`` and the weights.

        Parameters
        ----------
        n_passes : int, at least 1
        learners : dict of names to unfitted `lib.winnow.Winnow`, optional
            By default without and with a margin of 0.2 thresholds, both with small steps on complement attributes.

        Returns
        -------
        frame : DataFrame
            learner, n_pass, mistakes (share of the sample), t, gap (median over the sample).
        weights : dict of names to ndarrays of shape (n_passes + 1, n)
            w+ - w- of each attribute.
        """
        check_integer("n_passes", n_passes, 1)
        n = self.X.shape[1]
        learners = learners or {
            "winnow_basic": Winnow(1.015, complement=True, inclusive=False),
            "winnow": Winnow(1.015, complement=True, inclusive=False, margin=0.2 * n),
        }
        rows, weights = [], {}
        for name, learner in learners.items():
            path, before = [np.zeros(n)], 0
            for n_pass in range(1, n_passes + 1):
                learner.partial_fit(self.X, self.y, classes=[0, 1])
                mistakes, before = (learner.n_mistakes_ - before) / len(self.X), learner.n_mistakes_
                gap = np.median(np.abs(learner.decision_function(self.X))) / learner.threshold_
                rows.append((name, n_pass, mistakes, self.t(learner.predict(self.test.X)), gap))
                path.append(learner.weights_[:n] - learner.weights_[n:])
            weights[name] = np.array(path)
        return pd.DataFrame(rows, columns=["learner", "n_pass", "mistakes", "t", "gap"]), weights


def exact_covariance(model):
    """Means (m,) and covariance matrix (m, m) of x0..xn under a CIAModel, in closed form; the diagonal holds p(1-p)."""
    means = model.weights @ model.probabilities
    second = (model.weights[:, None] * model.probabilities).T @ model.probabilities
    covariance = second - np.outer(means, means)
    np.fill_diagonal(covariance, means * (1 - means))
    return means, covariance
