"""Repeated cross-validation of learners on data sets of UCI (Atlas, sections 3 and 4)."""

import warnings
from collections import Counter
from collections.abc import Collection

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from lib import datasets as uci
from lib import trials
from lib.base.validation import check_choice, check_integer
from lib.datasets.catalogue import ALIASES
from lib.experiments.uci_learners import BINS, make_uci_learners

DATASETS = ("iris", "breast", "glass", "soybean-small", "vote")
# the learners of his table
ATLAS = ("winnow", "naive_bayes_boolean", "naive_bayes")
# what the seeds of a shuffle are for
SPLIT = 0
FIT = 1


def uci_comparison(
    datasets=DATASETS, learners=ATLAS, n_repeats=100, n_folds=5, seed=0, n_jobs=-1, bins="paper"
):
    """Measure the accuracy of learners in repeated cross-validation with shuffled folds.

    All learners see the same folds; whatever is fitted, cut points and encodings included, is
    fitted inside the fold. A fold's training rows lack a class now and then, which its learners
    then never predict; where they hold one class only, every learner predicts that.

    Parameters
    ----------
    datasets : sequence of names that `lib.datasets.load` knows
        Rows of "breast" with missing values are dropped.
    learners : sequence of str, or dict of str to classifier
        Names in `lib.experiments.UCI_LEARNERS`, or your own names and scikit-learn classifiers,
        which get the attributes as `lib.datasets.load` gives them.
    n_repeats : int, at least 1
        Shuffles.
    n_folds : int, at least 2 and at most the number of rows
    seed : int, at least 0
        Folds depend on the seed, the data set and the repeat only.
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    bins : {"paper", "means", "entropy"}
        How boolean learners cut numbers: at the cut points that Atlas prints where he prints any
        and else by entropy; between class means; or by entropy (see `lib.discretize`).

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
    return accuracies(uci_confusions(datasets, learners, n_repeats, n_folds, seed, n_jobs, bins))


def uci_confusions(
    datasets=DATASETS, learners=ATLAS, n_repeats=100, n_folds=5, seed=0, n_jobs=None, bins="paper"
):
    """Count the confusions of each fold, with the arguments of `uci_comparison`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, predicted, actual, count; pairs of classes that do not occur
        are left out.
    """
    check_choice("bins", bins, BINS)
    loaded = load_all(datasets)
    # every data set is checked before any learner is fitted
    for data in loaded:
        check_integer("n_folds", n_folds, 2, len(data.y))
    check_integer("n_repeats", n_repeats, 1)
    cases = []
    for data in loaded:
        unfitted = make_uci_learners(learners, data.name, bins)
        cases.extend((data, unfitted, n_folds, repeat) for repeat in range(n_repeats))
    return trials.run(
        cross_validate, cases, seed=seed, seconds=1.0, name="cross-validation", n_jobs=n_jobs
    )


def cross_validate(seeds, data, learners, n_folds, repeat):
    """Count confusions in the folds of one shuffle: the trial of `uci_comparison`.

    Parameters
    ----------
    seeds : lib.trials.Seeds
    data : lib.datasets.Dataset
    learners : dict of str to classifier
    n_folds : int
    repeat : int
        Number of the shuffle.

    Yields
    ------
    dict
        As `uci_confusions` returns them.
    """
    seeds = seeds.below(data.name, repeat)
    for fold, (train, test) in enumerate(shuffled_folds(len(data.y), n_folds, seeds.rng(SPLIT))):
        rows = _FoldRows(data.X.iloc[train], data.y[train], data.X.iloc[test])
        for name, learner in learners.items():
            learner = set_random_states(learner, seeds.sequence(FIT, fold, name))
            predicted = rows.fit_predict(learner)
            labels = {"dataset": data.name, "repeat": repeat, "fold": fold, "learner": name}
            for confusion in _count_confusions(predicted, data.y[test], set(data.y), name):
                yield labels | confusion


class _FoldRows:
    """Training and test rows of a fold; learners share the transformers of their pipelines.

    Cut points and codes take longer than most learners; those of equal first steps are computed
    once a fold.
    """

    def __init__(self, X, y, X_test):
        self._X = X
        self._y = y
        self._X_test = X_test
        self._transformed = {}  # by the hash of the steps

    def fit_predict(self, learner):
        """Predictions for the test rows of a classifier or a pipeline; see `fit_predict`."""
        if not hasattr(learner, "steps"):
            return fit_predict(learner, self._X, self._y, self._X_test)
        *transformers, classifier = [step for _, step in learner.steps]
        if len(set(self._y)) == 1:  # which teaches a constant, and transformers may refuse
            transformers = []
        X, X_test = self._transform(transformers)
        return fit_predict(classifier, X, self._y, X_test)

    def _transform(self, transformers):
        """Training and test rows as fitted transformers make them, one after the other."""
        if not transformers:
            return self._X, self._X_test
        key = joblib.hash(transformers)  # before they are fitted: by their parameters
        if key not in self._transformed:
            *first, last = transformers
            X, X_test = self._transform(first)
            self._transformed[key] = last.fit_transform(X, self._y), last.transform(X_test)
        return self._transformed[key]


def _count_confusions(predicted, actual, classes, name):
    """Yield the number of rows with each pair of predicted and actual class."""
    pairs = Counter(zip(np.asarray(predicted).tolist(), actual.tolist(), strict=True))
    unknown = {label for label, _ in pairs} - classes
    if unknown:
        raise ValueError(
            f"learners[{name!r}] predicted {min(unknown)!r}, which is not one of the classes"
        )
    for (predicted_class, actual_class), count in sorted(pairs.items()):
        yield {"predicted": predicted_class, "actual": actual_class, "count": count}


def mean_by_family(values):
    """Mean of what data sets have, first in each family of sets that share rows or patients.

    Parameters
    ----------
    values : Series or DataFrame
        Indexed by names of data sets; one that `lib.datasets` does not know, such as the part
        "shuttle-small" of a set, is a family of its own (`family_of`).

    Returns
    -------
    Series or DataFrame
        Means over the sets of a family, indexed by `lib.datasets.family`, in the order of `values`.
    """
    return values.groupby([family_of(name) for name in values.index], sort=False).mean()


def family_of(name):
    """Return the family of a data set, of one that `lib.datasets` does not know its name."""
    return uci.family(name) if name in {*uci.names(), *ALIASES} else name


def accuracies(counts):
    """Compute the accuracy of each fold from its confusion counts.

    Parameters
    ----------
    counts : DataFrame
        As `uci_confusions` returns it.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, accuracy.
    """
    # the diagonal of the confusion table
    correct = counts["count"].where(counts["predicted"] == counts["actual"], 0)
    keys = ["dataset", "repeat", "fold", "learner"]
    totals = counts[keys].assign(correct=correct, count=counts["count"])
    sums = totals.groupby(keys, sort=False).sum()
    return (sums["correct"] / sums["count"]).rename("accuracy").reset_index()


def load_prepared(name):
    """Load a data set as the experiments use it: "breast" without rows that have missing values."""
    dataset = uci.load(name)
    # "all null values are dropped, as this is only a small proportion of total rows (16/699)"
    return dataset.complete_rows() if name == "breast" else dataset


def load_all(datasets):
    """Load data sets as `load_prepared` does.

    Raises
    ------
    ValueError
        Unless `datasets` names at least one known set, and each once.
    """
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, Collection) or not len(names):
        raise ValueError(f"datasets must name at least one data set; got {datasets!r}")
    loaded = [load_prepared(name) for name in names]
    counts = Counter(data.name for data in loaded)  # their own names, as some have an alias
    for name, count in counts.items():
        if count > 1:
            raise ValueError(f"datasets must name each data set once; got {name!r} twice")
    return loaded


def shuffled_folds(n_rows, n_folds, rng):
    """Shuffle rows into folds of cross-validation.

    Returns
    -------
    list of (train, test)
        Row numbers, both in shuffled order; the first folds are one row larger where `n_folds` does
        not divide `n_rows`.
    """
    folds = np.array_split(rng.permutation(n_rows), n_folds)
    splits = []
    for i, test in enumerate(folds):
        train = np.concatenate(folds[:i] + folds[i + 1 :])
        splits.append((train, test))
    return splits


def fit_predict(learner, X, y, X_test):
    """Predict with a copy of the learner fitted to `X` and `y`; of a single class, that class."""
    if (y == y[0]).all():
        return np.full(len(X_test), y[0])
    with warnings.catch_warnings():
        # passes may end before convergence, a class be too small for all inner folds of tuning
        for category in (ConvergenceWarning, FitFailedWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        return clone(learner).fit(X, y).predict(X_test)


def set_random_states(learner, seed_sequence):
    """Copy a learner, and draw each of its random states that is not set from a SeedSequence."""
    learner = clone(learner)
    parameters = learner.get_params()
    unset = [name for name in parameters if name.endswith("random_state")]
    unset = [name for name in unset if parameters[name] is None]
    states = seed_sequence.generate_state(max(len(unset), 1))
    random_states = {}
    for name, state in zip(unset, states, strict=False):
        random_states[name] = int(state >> 1)  # below 2^31, as scikit-learn wants it
    return learner.set_params(**random_states)
