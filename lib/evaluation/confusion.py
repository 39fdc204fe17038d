"""Confusion tables of cross-validation, and where a printed fold falls among ours."""

import numpy as np

from lib.evaluation.intervals import proportion_interval


def confusion_table(counts, classes, n_folds=1):
    """Counts of predicted (rows) and actual (columns) classes, summed over folds and divided by `n_folds`.

    Parameters
    ----------
    counts : DataFrame
        predicted, actual, count.
    classes : sequence of str
        In the order of rows and columns.
    n_folds : int, at least 1

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    table = counts.pivot_table(index="predicted", columns="actual", values="count", aggfunc="sum", fill_value=0)
    return table.reindex(index=classes, columns=classes, fill_value=0).to_numpy(dtype=float) / n_folds


def confusion_range(counts, classes, n_folds, low=0.05, high=0.95):
    """Quantiles of each cell over `n_folds` folds, of which those without counts in a cell have 0 there.

    Parameters
    ----------
    counts : DataFrame
        repeat, fold, predicted, actual, count, of one learner.
    classes : sequence of str
        In the order of rows and columns.
    n_folds : int, at least the number of folds in `counts`
    low, high : float in [0, 1]

    Returns
    -------
    low, high : ndarrays of shape (n_classes, n_classes)
    """
    folds = [confusion_table(fold, classes) for _, fold in counts.groupby(["repeat", "fold"])]
    empty = [np.zeros((len(classes), len(classes)))] * (n_folds - len(folds))
    return tuple(np.quantile(folds + empty, [low, high], axis=0, method="inverted_cdf"))


def nearest_fold(counts, class_counts):
    """The fold whose test set has the class counts nearest to those given (sum of differences; the first of equals).

    Parameters
    ----------
    counts : DataFrame
        repeat, fold, learner, actual, count, of one data set.
    class_counts : Series
        Number of test examples by class.

    Returns
    -------
    repeat, fold, distance : int
    """
    one = counts[counts["learner"] == counts["learner"].iloc[0]]
    sizes = one.pivot_table(index=["repeat", "fold"], columns="actual", values="count", aggfunc="sum", fill_value=0)
    sizes = sizes.reindex(columns=class_counts.index, fill_value=0)
    distance = (sizes - class_counts).abs().sum(axis=1)
    repeat, fold = distance.idxmin()
    return int(repeat), int(fold), int(distance.min())


def percentile_among_folds(accuracies, n_correct, n_test):
    """Share of folds with a lower accuracy than n_correct / n_test, equal ones counted half, with its interval.

    Accuracies within half a test example of each other count as equal, since folds differ in size by one.

    Parameters
    ----------
    accuracies : array-like of shape (n_folds,)
    n_correct, n_test : int

    Returns
    -------
    Estimate
        With Wilson's interval, as if folds were independent; n is their number.
    """
    difference = n_correct / n_test - np.asarray(accuracies, dtype=float)
    n_below = float(np.where(np.abs(difference) < 0.5 / n_test, 0.5, difference > 0).sum())
    return proportion_interval(n_below, len(difference))
