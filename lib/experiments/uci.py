"""Repeated cross-validation of learners on data sets of UCI (Atlas, sections 3 and 4)."""

import warnings
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lib import datasets as uci
from lib.experiments.atlas import DATASETS, LEARNERS
from lib.experiments.trials import check_jobs, run_trials
from lib.experiments.uci_learners import check_bins, make_uci_learners
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

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, accuracy.

    Raises
    ------
    ValueError
        Before any fit, if an argument is out of range or misspelt, or a data set cannot be had.

    References
    ----------
    Atlas, section 3.
    """
    counts = uci_confusions(datasets, learners, n_repeats, n_folds, seed, n_jobs, bins, presentation)
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
):
    """Confusion counts of each fold, with the arguments of `uci_comparison`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, predicted, actual, count; pairs of classes that do not occur are left out.
    """
    check_jobs(n_jobs)
    check_choice("presentation", presentation, ("shuffled", "file", "class"))
    loaded = [load_prepared(name) for name in _names(datasets)]
    for dataset in loaded:
        check_integer("n_folds", n_folds, 2, len(dataset.y))
    trial = _Trial(
        loaded,
        [make_uci_learners(learners, dataset.name, check_bins(bins)) for dataset in loaded],
        check_integer("n_repeats", n_repeats, 1),
        n_folds,
        check_integer("seed", seed, 0),
        presentation,
    )
    frame = run_trials(trial, n_repeats * len(loaded), seed, n_jobs, description="cross-validation")
    labels = [dataset.name for dataset in loaded]
    return frame.assign(dataset=frame["dataset"].map(dict(enumerate(labels))))


def accuracies(counts):
    """Accuracy of each fold from its confusion counts: dataset, repeat, fold, learner, accuracy."""
    correct = counts["count"].where(counts["predicted"] == counts["actual"], 0)
    keys = ["dataset", "repeat", "fold", "learner"]
    sums = counts[keys].assign(correct=correct, count=counts["count"]).groupby(keys, sort=False).sum()
    return (sums["correct"] / sums["count"]).rename("accuracy").reset_index()


def load_prepared(name):
    """The data set, for the names in COMPLETE_ROWS_ONLY without the rows that have missing values."""
    dataset = uci.load(name)
    return dataset.complete_rows() if name in COMPLETE_ROWS_ONLY else dataset


def shuffled_folds(n_rows, n_folds, rng):
    """Training and test rows of each fold, both in shuffled order; the first folds are one row larger."""
    parts = np.array_split(rng.permutation(n_rows), n_folds)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), part) for i, part in enumerate(parts)]


def _names(datasets):
    names = [datasets] if isinstance(datasets, str) else list(datasets)
    if not names:
        raise ValueError("datasets must name at least one data set; got none")
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise ValueError(f"datasets must name each data set once; got {repeated[0]!r} twice")
    return names


@dataclass(frozen=True)
class _Trial:
    """One shuffle of one data set."""

    datasets: list
    learners: list
    n_repeats: int
    n_folds: int
    seed: int
    presentation: str

    def __call__(self, index, seed):
        which, repeat = divmod(index, self.n_repeats)
        data, learners = self.datasets[which], self.learners[which]
        classes, codes = np.unique(data.y, return_inverse=True)
        key = (zlib.crc32(data.name.encode()), repeat)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*key, _SPLIT)))
        frames = []
        for fold, (train, test) in enumerate(shuffled_folds(len(codes), self.n_folds, rng)):
            train = self._presented(train, codes)
            for name, learner in learners.items():
                state = np.random.SeedSequence(self.seed, spawn_key=(*key, _FIT, fold, zlib.crc32(name.encode())))
                predicted = _predict(learner, data, train, test, state)
                counts = _counts(predicted, data.y[test], classes)
                frames.append(pd.DataFrame({"fold": fold, "learner": name, **counts}))
        return pd.concat(frames, ignore_index=True).assign(dataset=which, repeat=repeat)[_COLUMNS]

    def _presented(self, train, codes):
        if self.presentation == "shuffled":
            return train
        train = np.sort(train)
        return train if self.presentation == "file" else train[np.argsort(codes[train], kind="stable")]


_COLUMNS = ["dataset", "repeat", "fold", "learner", "predicted", "actual", "count"]


def _counts(predicted, actual, classes):
    k = len(classes)
    pairs = np.bincount(np.searchsorted(classes, predicted) * k + np.searchsorted(classes, actual), minlength=k * k)
    found = np.flatnonzero(pairs)
    return {"predicted": classes[found // k], "actual": classes[found % k], "count": pairs[found]}


def _predict(learner, data, train, test, state):
    y = data.y[train]
    if (y == y[0]).all():
        return np.full(len(test), y[0])
    learner = clone(learner)
    seeded = [name for name, value in learner.get_params().items() if name.endswith("random_state") and value is None]
    states = state.generate_state(max(len(seeded), 1))
    learner.set_params(**{name: int(value >> 1) for name, value in zip(seeded, states, strict=False)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(data.X.iloc[train], y).predict(data.X.iloc[test])
