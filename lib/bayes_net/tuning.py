"""Cross-tuning: how many iterations to climb, by held-out error inside the training data."""

import numpy as np


def fold_counts(index, classes, folds, shape):
    """How often each class comes with each merged row in each fold, (n_folds, n_rows, n_classes).

    Parameters
    ----------
    index, classes, folds : ndarray of int, shape (n_samples,)
        Merged row, class and fold of each example.
    shape : tuple of int
        n_folds, n_rows, n_classes.
    """
    codes = (folds * shape[1] + index) * shape[2] + classes
    return np.bincount(codes, minlength=np.prod(shape)).reshape(shape).astype(float)


def cross_tune(cases, held_out, climb, allow_zero=True):
    """Choose a number of iterations: in each fold that of the smallest held-out error, then their median.

    Parameters
    ----------
    cases : Cases
    held_out : ndarray of shape (n_folds, n_rows, n_classes)
        Counts of the examples of each fold.
    climb : callable (cases, watched) -> Ascent
        Climbs as often as may be chosen, recording the error of the `watched` counts after each iteration.
    allow_zero : bool
        Whether the start itself, after no iteration, may be chosen.

    Returns
    -------
    n_iterations : int
        The lower median, if the number of folds is even.
    chosen : ndarray of int, shape (n_folds,)
        The first of equally good numbers.
    errors : ndarray of shape (n_folds, n_iterations + 1)
        After each iteration; NaN after the last one of an ascent that ended early.

    References
    ----------
    Greiner et al. (2005), Appendix B.
    """
    curves = []
    for counts in held_out:
        ascent = climb(cases.weighted(cases.counts - counts), counts[None])
        curves.append(ascent.errors[:, 0])
    errors = np.full((len(curves), max(map(len, curves))), np.nan)
    for row, curve in zip(errors, curves, strict=True):
        row[: len(curve)] = curve
    first = 0 if allow_zero else 1
    chosen = np.array([first + np.argmin(c[first:]) if len(c) > first else 0 for c in curves])
    return int(np.sort(chosen)[(len(chosen) - 1) // 2]), chosen, errors
