"""Repeated cross-validation of learners on data sets of UCI (Atlas, sections 3 and 4)."""

import warnings
import zlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from lib import datasets as uci
from lib.experiments.atlas import DATASETS, LEARNERS
from lib.experiments.uci_learners import check_bins, make_uci_learners
from lib.trials.context import check_workers
from lib.trials.legacy import run_cases
from lib.validation import check_choice, check_integer

# "all null values are dropped, as this is only a small proportion of total rows (16/699)"
COMPLETE_ROWS_ONLY = ("breast",)
_SPLIT, _FIT = 0, 1


def uci_comparison(
    datasets=DATASETS,
    learners=LEARNERS,
    n_repeats=100,
    n_folds=5,
    seed=0,
    n_jobs=-1,
    bins="paper",
    presentation="shuffled",
    engine="local",
):
    """Accuracy of learners in repeated cross-validation with shuffled folds.

    All learners see the same folds; whatever is fitted, cut points and encodings included, is fitted inside the fold.
    A fold's training rows lack a class now and then, which its learners then never predict; where they hold one
    class only, every learner predicts that.

    Parameters
    ----------
    datasets : sequence of names that `lib.datasets.load` knows
        Rows of "breast" with missing values are dropped.
    learners : sequence of names (see `lib.experiments.UCI_LEARNERS`), or dict of names to scikit-learn classifiers
        Your own get the attributes as `lib.datasets.load` gives them.
    n_repeats : int, at least 1
        Shuffles.
    n_folds : int, at least 2 and at most the number of rows
    seed : int, at least 0
        Folds depend on the seed, the data set and the repeat only.
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    bins : {"paper", "means", "entropy"}
        How boolean learners cut numbers: at the cut points that Atlas prints where he prints any and else by entropy;
        between class means; or by entropy (see `lib.discretize`).
    presentation : {"shuffled", "file", "class"}
        Order of the training rows: random, as in the file, or class by class.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, accuracy.

    Raises
    ------
    ValueError
        Before any fit, if an argument is out of range or misspelt.
    lib.datasets.NotAvailableError
        Before any fit, if a data set cannot be had.

    References
    ----------
    Atlas, section 3.
    """
    counts = uci_confusions(datasets, learners, n_repeats, n_folds, seed, n_jobs, bins, presentation, engine)
    return accuracies(counts)


def uci_confusions(
    datasets=DATASETS,
    learners=LEARNERS,
    n_repeats=100,
    n_folds=5,
    seed=0,
    n_jobs=-1,
    bins="paper",
    presentation="shuffled",
    engine="local",
):
    """Confusion counts of each fold, with the arguments of `uci_comparison`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, predicted, actual, count; pairs of classes that do not occur are left out.
    """
    check_workers(n_jobs, engine)
    check_choice("presentation", presentation, ("shuffled", "file", "class"))
    loaded = load_all(datasets)
    for dataset in loaded:
        check_integer("n_folds", n_folds, 2, len(dataset.y))
    n_repeats, seed = check_integer("n_repeats", n_repeats, 1), check_integer("seed", seed, 0)
    made = [make_uci_learners(learners, dataset.name, check_bins(bins)) for dataset in loaded]
    cases = [(*pair, repeat) for pair in zip(loaded, made, strict=True) for repeat in range(n_repeats)]
    groups = [case[0].name for case in cases]
    return run_cases(
        _Shuffle(n_folds, seed, presentation), cases, n_jobs, engine, 1.0, groups, description="cross-validation"
    )


def accuracies(counts):
    """Accuracy of each fold from its confusion counts.

    Parameters
    ----------
    counts : DataFrame
        As `uci_confusions` returns it.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, accuracy.
    """
    correct = counts["count"].where(counts["predicted"] == counts["actual"], 0)
    keys = ["dataset", "repeat", "fold", "learner"]
    sums = counts[keys].assign(correct=correct, count=counts["count"]).groupby(keys, sort=False).sum()
    return (sums["correct"] / sums["count"]).rename("accuracy").reset_index()


def load_prepared(name):
    """What `lib.datasets.load` returns for `name`, of "breast" without the rows that have missing values."""
    dataset = uci.load(name)
    return dataset.complete_rows() if name in COMPLETE_ROWS_ONLY else dataset


def shuffled_folds(n_rows, n_folds, rng):
    """Training and test rows of each fold, both in shuffled order; the first folds are one row larger."""
    parts = np.array_split(rng.permutation(n_rows), n_folds)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), part) for i, part in enumerate(parts)]


def load_all(datasets):
    """The data sets, prepared; ValueError unless `datasets` names at least one known set, and each once."""
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, Collection) or not len(names):
        raise ValueError(f"datasets must name at least one data set; got {datasets!r}")
    loaded = [load_prepared(name) for name in names]
    repeated = [data.name for i, data in enumerate(loaded) if data.name in [other.name for other in loaded[:i]]]
    if repeated:
        raise ValueError(f"datasets must name each data set once; got {repeated[0]!r} twice")
    return loaded


def fit_predict(learner, X, y, X_test):
    """Predictions of a copy of the learner fitted to `X` and `y`; where `y` has one class only, that class."""
    if (y == y[0]).all():
        return np.full(len(X_test), y[0])
    with warnings.catch_warnings():
        # passes may end before convergence, and a class may be too small for all inner folds of tuning
        for category in (ConvergenceWarning, FitFailedWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        return clone(learner).fit(X, y).predict(X_test)


@dataclass(frozen=True)
class _Shuffle:
    """One shuffle of one data set."""

    n_folds: int
    seed: int
    presentation: str

    def __call__(self, data, learners, repeat):
        classes, codes = np.unique(data.y, return_inverse=True)
        key = (zlib.crc32(data.name.encode()), repeat)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*key, _SPLIT)))
        frames = []
        for fold, (train, test) in enumerate(shuffled_folds(len(codes), self.n_folds, rng)):
            train = self._presented(train, codes)
            for name, learner in learners.items():
                state = np.random.SeedSequence(self.seed, spawn_key=(*key, _FIT, fold, zlib.crc32(name.encode())))
                X, X_test = data.X.iloc[train], data.X.iloc[test]
                predicted = fit_predict(_seeded(learner, state), X, data.y[train], X_test)
                counts = _counts(name, predicted, data.y[test], classes)
                frames.append(pd.DataFrame({"fold": fold, "learner": name, **counts}))
        return pd.concat(frames, ignore_index=True).assign(dataset=data.name, repeat=repeat)[_COLUMNS]

    def _presented(self, train, codes):
        if self.presentation == "shuffled":
            return train
        train = np.sort(train)
        return train if self.presentation == "file" else train[np.argsort(codes[train], kind="stable")]


_COLUMNS = ["dataset", "repeat", "fold", "learner", "predicted", "actual", "count"]


def _counts(learner, predicted, actual, classes):
    k = len(classes)
    unknown = ~np.isin(predicted, classes)
    if unknown.any():
        label = predicted[unknown].tolist()[0]
        raise ValueError(f"learners[{learner!r}] predicted {label!r}, which is not one of the classes {classes}")
    pairs = np.bincount(np.searchsorted(classes, predicted) * k + np.searchsorted(classes, actual), minlength=k * k)
    found = np.flatnonzero(pairs)
    return {"predicted": classes[found // k], "actual": classes[found % k], "count": pairs[found]}


def _seeded(learner, state):
    """A copy of the learner with each of its unset random states drawn from `state`."""
    learner = clone(learner)
    unset = [name for name, value in learner.get_params().items() if name.endswith("random_state") and value is None]
    states = state.generate_state(max(len(unset), 1))
    return learner.set_params(**{name: int(value >> 1) for name, value in zip(unset, states, strict=False)})
