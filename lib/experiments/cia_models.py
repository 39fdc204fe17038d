"""Properties of random CIA models: difficulty, and the shape of the optimal rule (Grove & Roth, sections 5 and 7)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.cia import CIAModel, all_inputs, random_cia, sample_cia
from lib.separability import linear_separator
from lib.trials.legacy import keyed_seed, run_trials
from lib.validation import check_integer


def unadjusted_difficulty(n_attributes, n_hidden=(2, 3, 5), n_models=200, seed=0, n_jobs=1, engine="local"):
    """B of models whose parameters are independent and uniform on [0, 1] (footnote 3).

    Parameters
    ----------
    n_attributes : int or sequence of int, 1 to 10,000
    n_hidden : int or sequence of int, 2 to 64
    n_models : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        model, n_attributes, n_hidden, difficulty.
    """
    ns = [check_integer("n_attributes", n, 1, 10_000) for n in np.atleast_1d(n_attributes).tolist()]
    ks = [check_integer("n_hidden", k, 2, 64) for k in np.atleast_1d(n_hidden).tolist()]
    return run_trials(_Unadjusted(ns, ks), n_models, seed, n_jobs, engine, 0.05, "unadjusted models")


def linear_rule_agreement(n_attributes=10, difficulty=0.9, n_models=100, seed=0, n_jobs=1, engine="local"):
    """Inputs on which the derived linear rule and the posterior of a two-valued model disagree, by enumeration.

    Parameters
    ----------
    n_attributes : int, 1 to 16
    difficulty : float in (0, 1)
    n_models : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        model, disagreements, inputs (2^n less exact ties), constant (whether the optimal rule is constant).
    """
    n = check_integer("n_attributes", n_attributes, 1, 16)
    return run_trials(_Agreement(n, difficulty), n_models, seed, n_jobs, engine, 0.01, "linear rule")


def optimal_rule_separability(
    n_attributes=6, n_hidden=(2, 3, 5), difficulty=0.9, n_models=100, seed=0, n_jobs=1, engine="local"
):
    """Whether a linear rule can make the optimal prediction of x0 on all 2^n inputs.

    Parameters
    ----------
    n_attributes : int, 1 to 10
    n_hidden : int or sequence of int, 2 to 64
    difficulty : float in (0, 1)
    n_models : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        model, n_hidden, constant, separable.
    """
    n = check_integer("n_attributes", n_attributes, 1, 10)
    ks = [check_integer("n_hidden", k, 2, 64) for k in np.atleast_1d(n_hidden).tolist()]
    return run_trials(_Separability(n, ks, difficulty), n_models, seed, n_jobs, engine, 0.05, "separability")


def find_exclusive_or(n_hidden, rng, max_draws=100_000, min_gain=0.05):
    """Draw models of two attributes until one's optimal rule is an exclusive or, which no line can separate.

    Every one of the four inputs must be predicted with at least `min_gain` beyond 1/2.

    Parameters
    ----------
    n_hidden : int, 2 to 64
    rng : numpy.random.Generator
    max_draws : int
    min_gain : float in [0, 1/2)

    Returns
    -------
    CIAModel

    Raises
    ------
    ValueError
        If there is none among `max_draws` models.
    """
    for _ in range(check_integer("max_draws", max_draws, 1)):
        model = random_cia(2, n_hidden, 0.3, rng, hidden_weights="equal")
        positive = model.target_posterior(all_inputs(2))
        labels = positive > 0.5
        if np.abs(positive - 0.5).min() >= min_gain and labels[0] == labels[3] != labels[1] == labels[2]:
            return model
    raise ValueError(f"no exclusive or among max_draws={max_draws} models with n_hidden={n_hidden}")


@dataclass(frozen=True)
class _Unadjusted:
    n_attributes: list
    n_hidden: list

    def __call__(self, index, seed):
        rows = []
        for n in self.n_attributes:
            for k in self.n_hidden:
                model = random_cia(n, k, 1.0, np.random.default_rng(keyed_seed(seed, n, k)))
                rows.append((index, n, k, model.difficulty(n_draws=5000)))
        return pd.DataFrame(rows, columns=["model", "n_attributes", "n_hidden", "difficulty"])


@dataclass(frozen=True)
class _Agreement:
    n_attributes: int
    difficulty: float

    def __call__(self, index, seed):
        model = sample_cia(self.n_attributes, 2, self.difficulty, np.random.default_rng(seed))
        X = all_inputs(self.n_attributes)
        coef, intercept = model.linear_rule()
        positive = model.target_posterior(X)
        clear = np.abs(positive - 0.5) > 1e-12
        wrong = ((X @ coef + intercept > 0) != (positive > 0.5)) & clear
        row = (index, int(wrong.sum()), int(clear.sum()), not coef.any())
        return pd.DataFrame([row], columns=["model", "disagreements", "inputs", "constant"])


@dataclass(frozen=True)
class _Separability:
    n_attributes: int
    n_hidden: list
    difficulty: float

    def __call__(self, index, seed):
        X, rows = all_inputs(self.n_attributes), []
        for k in self.n_hidden:
            rng = np.random.default_rng(keyed_seed(seed, k))
            model: CIAModel = sample_cia(self.n_attributes, k, self.difficulty, rng)
            labels = model.target_posterior(X) > 0.5
            constant = labels.min() == labels.max()
            rows.append((index, k, constant, constant or linear_separator(X, labels) is not None))
        return pd.DataFrame(rows, columns=["model", "n_hidden", "constant", "separable"])
