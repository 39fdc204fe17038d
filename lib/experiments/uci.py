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
from lib.experiments.uci_learners import BINS, make_uci_learners
from lib.validation import check_choice, check_integer

DATASETS = ("iris", "breast", "glass", "soybean-small", "vote")
ATLAS = ("winnow", "naive_bayes_boolean", "naive_bayes")
SPLIT, FIT = 0, 1  # purposes of seeds


def uci_comparison(
    datasets=DATASETS, learners=ATLAS, n_repeats=100, n_folds=5, seed=0, n_jobs=-1, bins="paper"
):
    """Accuracy of learners in repeated cross-validation with shuffled folds.

    All learners see the same folds; whatever is fitted, cut points and encodings included, is
    fitted inside the fold. A fold's training rows lack a class now and then, which its learners
    then never predict; where they hold one class only, every learner predicts that.

    Parameters
    ----------
    datasets : sequence of names that `lib.datasets.load` knows
        Rows of "breast" with missing values are dropped.
    learners : sequence of names (see `lib.experiments.UCI_LEARNERS`), or dict of names to
    scikit-learn classifiers
        Your own get the attributes as `lib.datasets.load` gives them.
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
    """Confusion counts of each fold, with the arguments of `uci_comparison`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, predicted, actual, count; pairs of classes that do not occur
        are left out.
    """
    check_choice("bins", bins, BINS)
    loaded = load_all(datasets)
    for data in loaded:
        check_integer("n_folds", n_folds, 2, len(data.y))
    check_integer("n_repeats", n_repeats, 1)
    pairs = [(data, make_uci_learners(learners, data.name, bins)) for data in loaded]
    cases = [
        (data, unfitted, n_folds, repeat) for data, unfitted in pairs for repeat in range(n_repeats)
    ]
    return trials.run(
        shuffle, cases, seed=seed, seconds=1.0, name="cross-validation", n_jobs=n_jobs
    )


def shuffle(seeds, data, learners, n_folds, repeat):
    """Confusion counts of learners in the folds of one shuffle of a data set."""
    seeds = seeds.below(data.name, repeat)
    for fold, (train, test) in enumerate(shuffled_folds(len(data.y), n_folds, seeds.rng(SPLIT))):
        y, inputs = data.y[train], {joblib.hash([]): (data.X.iloc[train], data.X.iloc[test])}
        for name, learner in learners.items():
            seeded = with_random_states(learner, seeds.sequence(FIT, fold, name))
            *steps, last = [step for _, step in getattr(seeded, "steps", [(name, seeded)])]
            X, X_test = prepared(steps if len(set(y)) > 1 else [], y, inputs)
            predicted = fit_predict(last, X, y, X_test)
            pairs = Counter(zip(np.asarray(predicted).tolist(), data.y[test].tolist(), strict=True))
            unknown = {guess for guess, _ in pairs} - set(data.y)
            if unknown:
                raise ValueError(
                    f"learners[{name!r}] predicted {min(unknown)!r}, which is not one of the classes"
                )
            key = {"dataset": data.name, "repeat": repeat, "fold": fold, "learner": name}
            for (guess, actual), count in sorted(pairs.items()):
                yield key | {"predicted": guess, "actual": actual, "count": count}


def prepared(steps, y, inputs):
    """Training and test rows as transformers make them, one after the other; `inputs` keeps what others share."""
    key = joblib.hash(steps)
    if key not in inputs:
        X, X_test = prepared(steps[:-1], y, inputs)
        inputs[key] = steps[-1].fit_transform(X, y), steps[-1].transform(X_test)
    return inputs[key]


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
    sums = (
        counts[keys].assign(correct=correct, count=counts["count"]).groupby(keys, sort=False).sum()
    )
    return (sums["correct"] / sums["count"]).rename("accuracy").reset_index()


def load_prepared(name):
    """What `lib.datasets.load` returns for `name`, of "breast" without the rows that have missing values."""
    dataset = uci.load(name)
    # "all null values are dropped, as this is only a small proportion of total rows (16/699)"
    return dataset.complete_rows() if name == "breast" else dataset


def load_all(datasets):
    """The data sets, prepared; ValueError unless `datasets` names at least one known set, and each once."""
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, Collection) or not len(names):
        raise ValueError(f"datasets must name at least one data set; got {datasets!r}")
    loaded = [load_prepared(name) for name in names]
    repeated = [
        data.name
        for i, data in enumerate(loaded)
        if data.name in [other.name for other in loaded[:i]]
    ]
    if repeated:
        raise ValueError(f"datasets must name each data set once; got {repeated[0]!r} twice")
    return loaded


def shuffled_folds(n_rows, n_folds, rng):
    """Training and test rows of each fold, both in shuffled order; the first folds are one row larger."""
    parts = np.array_split(rng.permutation(n_rows), n_folds)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), part) for i, part in enumerate(parts)]


def fit_predict(learner, X, y, X_test):
    """Predictions of a copy of the learner fitted to `X` and `y`; where `y` has one class only, that class."""
    if (y == y[0]).all():
        return np.full(len(X_test), y[0])
    with warnings.catch_warnings():
        # passes may end before convergence, and a class may be too small for all inner folds of
        # tuning
        for category in (ConvergenceWarning, FitFailedWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        return clone(learner).fit(X, y).predict(X_test)


def with_random_states(learner, seed_sequence):
    """A copy of the learner with each of its unset random states drawn from a SeedSequence."""
    learner = clone(learner)
    unset = [
        name
        for name, value in learner.get_params().items()
        if name.endswith("random_state") and value is None
    ]
    states = seed_sequence.generate_state(max(len(unset), 1))
    return learner.set_params(
        **{name: int(value >> 1) for name, value in zip(unset, states, strict=False)}
    )
