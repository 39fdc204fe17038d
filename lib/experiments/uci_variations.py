"""What Atlas leaves open or surmises: Winnow's settings and orders of presentation, and irrelevant attributes."""

import itertools
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline

from lib.discretize import CutPoints
from lib.experiments.atlas import DATASETS
from lib.experiments.uci import fit_predict, load_all, shuffled_folds
from lib.experiments.uci_learners import OtherClassFirst, boolean_inputs, check_bins
from lib.naive_bayes import NaiveBayes
from lib.trials.context import check_workers
from lib.trials.legacy import run_cases
from lib.validation import at_least_one, check_integer, check_real
from lib.winnow import Winnow

_SPLIT, _ORDER, _NOISE = 0, 1, 2


def winnow_settings(
    datasets=DATASETS,
    thetas=(0.125, 0.25, 0.5, 1.0),
    promotions=(1.1, 1.5, 2.0, 3.0),
    n_passes=(1, 5, 20),
    n_orders=1,
    n_repeats=20,
    n_folds=5,
    seed=0,
    n_jobs=-1,
    bins="paper",
    engine="local",
):
    """Accuracy of Winnow2 for every setting and several orders of presentation, on the same folds.

    Parameters
    ----------
    datasets : sequence of names
    thetas : sequence of float above 0
        Thresholds, in numbers of weights.
    promotions : sequence of float above 1
    n_passes : sequence of int, at least 1
    n_orders : int, at least 1
        Orders of the training rows a fold; each pass of one has the same order.
    n_repeats, n_folds, seed, n_jobs, bins, engine
        As in `uci_comparison`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, order, theta, promotion, n_passes, accuracy.
    """
    check_workers(n_jobs, engine)
    loaded = load_all(datasets)
    settings = list(
        itertools.product(
            [check_real("thetas", theta, 0, open_low=True) for theta in at_least_one("thetas", thetas)],
            [check_real("promotions", factor, 1, open_low=True) for factor in at_least_one("promotions", promotions)],
            [check_integer("n_passes", passes, 1) for passes in at_least_one("n_passes", n_passes)],
        )
    )
    for data in loaded:
        check_integer("n_folds", n_folds, 2, len(data.y))
    check_integer("n_repeats", n_repeats, 1)
    folds = _Folds(n_folds, check_integer("seed", seed, 0))
    trial = _Settings(folds, settings, check_integer("n_orders", n_orders, 1), check_bins(bins))
    cases = [(data, repeat) for data in loaded for repeat in range(n_repeats)]
    groups = [data.name for data, _ in cases]
    return run_cases(trial, cases, n_jobs, engine, 1.0, groups, "Winnow's settings")


def readings(dataset):
    """Winnow2 under other readings of what the paper leaves open, one at a time, to be given to `uci_comparison`.

    Parameters
    ----------
    dataset : str
        A name that `lib.datasets.load` knows.

    Returns
    -------
    dict of str to Pipeline
        "as here" (see `uci_learner`); "Z > θ"; "other class first" of two; of iris "gap closed at 5" and "at 5.5", the
        petal lengths that are in no bin; of glass "sodium 14.0".
    """
    bins, codes = boolean_inputs(dataset)

    def with_cuts(**changed):
        return make_pipeline(CutPoints({**bins.cuts, **changed}), codes, Winnow())

    made = {
        "as here": make_pipeline(bins, codes, Winnow()),
        "Z > θ": make_pipeline(bins, codes, Winnow(inclusive=False)),
    }
    if dataset == "iris":
        made |= {f"gap closed at {cut:g}": with_cuts(petal_length=[2.0, cut]) for cut in (5.0, 5.5)}
    elif dataset == "glass":
        made["sodium 14.0"] = with_cuts(na=[12.5, 14.0])
    elif dataset in ("breast", "vote"):
        made["other class first"] = make_pipeline(bins, codes, OtherClassFirst(Winnow()))
    return made


def irrelevant_attributes(
    dataset="vote",
    n_added=(0, 10, 100, 1000, 10_000),
    density=0.5,
    n_repeats=10,
    n_folds=5,
    seed=0,
    n_jobs=-1,
    engine="local",
):
    """Accuracy of learners of booleans when random attributes are added to a data set.

    Parameters
    ----------
    dataset : str
    n_added : sequence of int, at least 0
    density : float in (0, 1)
        Probability that an added attribute is active.
    n_repeats, n_folds, seed, n_jobs, engine
        As in `uci_comparison`.

    Returns
    -------
    DataFrame
        repeat, fold, n_added, learner ("winnow", "winnow_thick", "perceptron", "naive_bayes_boolean"), accuracy.
        Winnow with a promotion of 2 and a threshold of half the number of weights, 20 passes; the thick one is
        averaged, with a margin and a promotion of 1.1.
    """
    check_workers(n_jobs, engine)
    [data] = load_all(dataset)
    check_integer("n_folds", n_folds, 2, len(data.y))
    sizes = [check_integer("n_added", n, 0) for n in at_least_one("n_added", n_added)]
    check_real("density", density, 0, 1, open_low=True, open_high=True)
    cases = [(data, repeat) for repeat in range(check_integer("n_repeats", n_repeats, 1))]
    trial = _Irrelevant(_Folds(n_folds, check_integer("seed", seed, 0)), sizes, density)
    return run_cases(trial, cases, n_jobs, engine, 2.0, description="irrelevant attributes")


@dataclass(frozen=True)
class _Folds:
    """Folds of a repeat of a data set, and generators that depend on nothing else."""

    n_folds: int
    seed: int

    def __call__(self, data, repeat):
        return shuffled_folds(len(data.y), self.n_folds, self.generator(data, repeat, _SPLIT))

    def generator(self, data, repeat, *purpose):
        key = (zlib.crc32(data.name.encode()), repeat, *purpose)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


@dataclass(frozen=True)
class _Settings:
    folds: _Folds
    settings: list
    n_orders: int
    bins: str

    def __call__(self, data, repeat):
        folds = self.folds(data, repeat)
        rows = []
        for fold, (train, test) in enumerate(folds):
            codes = make_pipeline(*boolean_inputs(data.name, self.bins)).fit(data.X.iloc[train], data.y[train])
            inputs = [codes.transform(data.X.iloc[part]).to_numpy() for part in (train, test)]
            for order in range(self.n_orders):
                permuted = self.folds.generator(data, repeat, _ORDER, fold, order).permutation(len(train))
                for setting in self.settings:
                    accuracy = _winnow(*setting, inputs[0][permuted], data.y[train][permuted], inputs[1], data.y[test])
                    rows.append((data.name, repeat, fold, order, *setting, accuracy))
        names = ["dataset", "repeat", "fold", "order", "theta", "promotion", "n_passes", "accuracy"]
        return pd.DataFrame(rows, columns=names)


def _winnow(theta, promotion, n_passes, X, y, X_test, y_test):
    learner = Winnow(promotion, threshold=theta * X.shape[1], n_passes=n_passes)
    return float((fit_predict(learner, X, y, X_test) == y_test).mean())


@dataclass(frozen=True)
class _Irrelevant:
    folds: _Folds
    sizes: list
    density: float

    def __call__(self, data, repeat):
        folds = self.folds(data, repeat)
        rng = self.folds.generator(data, repeat, _NOISE)
        # an attribute a row, so that the first ones are the same however many there are
        noise = (rng.random((max(self.sizes), len(data.y)), dtype=np.float32) < self.density).T
        rows = []
        for fold, (train, test) in enumerate(folds):
            codes = make_pipeline(*boolean_inputs(data.name)).fit(data.X.iloc[train], data.y[train])
            known = codes.transform(data.X).to_numpy()
            for n in self.sizes:
                X = np.hstack([known, noise[:, :n]])
                for name, learner in _BOOLEAN.items():
                    predicted = fit_predict(learner, X[train], data.y[train], X[test])
                    rows.append((repeat, fold, n, name, (predicted == data.y[test]).mean()))
        return pd.DataFrame(rows, columns=["repeat", "fold", "n_added", "learner", "accuracy"])


_BOOLEAN = {
    "winnow": Winnow(n_passes=20),
    "winnow_thick": Winnow(1.1, margin=None, average=True, n_passes=20),
    "perceptron": Perceptron(max_iter=20, tol=None, random_state=0),
    "naive_bayes_boolean": NaiveBayes(),
}
