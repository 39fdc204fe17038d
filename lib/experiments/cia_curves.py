"""Learning curves on random CIA models (Grove & Roth, sections 7 and 8)."""

import itertools
import warnings
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lib.cia import ENUMERATION_LIMIT, HIDDEN_WEIGHTS, all_inputs, concentration, sample_cia
from lib.experiments.baselines import make_learners
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_cases, trial_seed
from lib.validation import check_choice, check_integer

SIZES = (10, 20, 35, 50, 100, 200, 350, 500, 1000, 2000)
_PANEL = ("n_attributes", "n_hidden", "difficulty")
_MODEL, _TEST, _SAMPLE = 0, 1, 2


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
    n_test=2000,
    engine="local",
):
    """Accuracy of learners of x0 on samples from random models of CIA(n, k, b).

    One model a trial; all sizes and learners see the same models. Accuracy is the mean of P(x0 = prediction | x) under
    the true model, over all 2^n inputs with their probabilities (n up to 12) or over `n_test` drawn inputs.

    Parameters
    ----------
    n_attributes : int, 1 to 10,000
    n_hidden : int, 2 to 64
    difficulty : float in (0, 1)
    sizes : sequence of int, each 2 to 1,000,000
    n_models : int, at least 1
    learners : sequence of names (see `lib.experiments.LEARNERS`), or dict of names to classifiers
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    hidden_weights : {"beta", "dirichlet", "equal"}
        See `lib.cia.sample_cia`.
    n_test : int, at least 1
    engine : str
        "local", or the address of a Dask scheduler, whose workers then run the trials. The result is the same.

    Returns
    -------
    DataFrame
        model, size, learner, accuracy, best (the true model's accuracy), constant (the best constant's). A sample of
        one class only teaches every learner that constant.

    Raises
    ------
    ValueError
        Before any work, if an argument is out of range or misspelt.
    """
    check_workers(n_jobs, engine)
    panel = _panel(n_attributes, n_hidden, difficulty, sizes, learners, hidden_weights, n_test)
    return _curves([panel], n_models, seed, n_jobs, engine).drop(columns=list(_PANEL))


def cia_panels(
    n_attributes,
    n_hidden,
    difficulty=0.9,
    sizes=SIZES,
    n_models=100,
    learners=("em", "cov", "winnow"),
    seed=0,
    n_jobs=-1,
    hidden_weights="beta",
    n_test=2000,
    engine="local",
):
    """`cia_learning_curves` for every combination of the values of n, k and b, each an item or a list.

    Parameters
    ----------
    n_attributes, n_hidden, difficulty
        A value or a sequence of values of each.
    sizes, n_models, learners, seed, n_jobs, hidden_weights, n_test, engine
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        n_attributes, n_hidden and difficulty in front of the columns of `cia_learning_curves`.
    """
    check_workers(n_jobs, engine)
    axes = [np.atleast_1d(values).tolist() for values in (n_attributes, n_hidden, difficulty)]
    for name, values in zip(_PANEL, axes, strict=True):
        if not values:
            raise ValueError(f"{name} must hold at least one value; got none")
    panels = [_panel(*panel, sizes, learners, hidden_weights, n_test) for panel in itertools.product(*axes)]
    return _curves(panels, n_models, seed, n_jobs, engine)


def _panel(n_attributes, n_hidden, difficulty, sizes, learners, hidden_weights, n_test):
    return _Panel(
        check_integer("n_attributes", n_attributes, 1, 10_000),
        check_integer("n_hidden", n_hidden, 2, 64),
        difficulty,
        check_sizes(sizes),
        make_learners(learners, n_hidden),
        check_choice("hidden_weights", hidden_weights, HIDDEN_WEIGHTS),
        check_integer("n_test", n_test, 1),
        concentration(n_attributes, n_hidden, difficulty, hidden_weights),
    )


def _curves(panels, n_models, seed, n_jobs, engine):
    n_models, seed = check_integer("n_models", n_models, 1), check_integer("seed", seed, 0)
    cases = [(panel, seed, index) for panel in panels for index in range(n_models)]
    seconds = [panel.seconds for panel in panels for _ in range(n_models)]
    groups = [panel.name for panel in panels for _ in range(n_models)]
    return run_cases(_one_model, cases, n_jobs, engine, seconds, groups, "learning curves of CIA models")


def _one_model(panel, seed, index):
    return panel(index, trial_seed(seed, index))


def check_sizes(sizes):
    """Return sample sizes as a tuple of distinct ints from 2 to 1,000,000 in rising order."""
    sizes = [check_integer("sizes", size, 2, 1_000_000) for size in np.atleast_1d(np.asarray(sizes, dtype=object))]
    if not sizes:
        raise ValueError("sizes must hold at least one sample size; got none")
    return tuple(sorted(set(sizes)))


@dataclass(frozen=True)
class _Panel:
    n_attributes: int
    n_hidden: int
    difficulty: float
    sizes: tuple
    learners: dict
    hidden_weights: str
    n_test: int
    concentration: float

    @property
    def name(self):
        return f"CIA({self.n_attributes}, {self.n_hidden}, {self.difficulty})"

    @property
    def seconds(self):
        """What one model takes, roughly: drawing it, and so much for each example, attribute and learner."""
        return 0.02 + 1e-6 * sum(self.sizes) * (self.n_attributes + 40) * len(self.learners) / 3

    def __call__(self, index, seed):
        model = sample_cia(
            self.n_attributes,
            self.n_hidden,
            self.difficulty,
            np.random.default_rng(keyed_seed(seed, _MODEL)),
            hidden_weights=self.hidden_weights,
            c=self.concentration,
        )
        test = TestInputs(model, self.n_test, np.random.default_rng(keyed_seed(seed, _TEST)))
        rows = []
        for size in self.sizes:
            X, y, _ = model.sample(size, np.random.default_rng(keyed_seed(seed, _SAMPLE, size)))
            for name, learner in self.learners.items():
                state = keyed_seed(seed, _SAMPLE, size, zlib.crc32(name.encode()))
                rows.append((index, size, name, test.accuracy(_predict(learner, X, y, test.X, state))))
        frame = pd.DataFrame(rows, columns=["model", "size", "learner", "accuracy"])
        frame = frame.assign(best=test.best, constant=test.constant)
        values = {name: getattr(self, name) for name in _PANEL}
        return frame.assign(**values)[[*_PANEL, *frame.columns]]


class TestInputs:
    """Inputs with their weights and P(x0 = 1 | x): enumerated up to n = 12, else drawn from the model."""

    __test__ = False

    def __init__(self, model, n_draws, rng):
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


def _predict(learner, X, y, X_test, state):
    if y.min() == y.max():
        return np.full(len(X_test), y[0])
    learner = clone(learner)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=int(state.generate_state(1)[0] >> 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y).predict(X_test)
