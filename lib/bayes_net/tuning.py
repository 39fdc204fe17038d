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


def choose_iterations(errors, allow_zero=True):
    """Choose a number of iterations: in each fold that of the smallest held-out error, then their median.

    Parameters
    ----------
    errors : ndarray of shape (n_folds, n_iterations + 1)
        As `tuning_errors` returns them.
    allow_zero : bool
        Whether the start itself, after no iteration, may be chosen.

    Returns
    -------
    n_iterations : int
        The lower median, if the number of folds is even; 0 if there is no fold.
    chosen : ndarray of int, shape (n_folds,)
        The first of equally good numbers; 0 in any case where an ascent had converged at its start. A fold without
        examples, whose errors are all NaN, has none.

    References
    ----------
    Greiner et al. (2005), Appendix B.
    """
    errors = errors[np.isfinite(errors[:, 0])]
    first = 0 if allow_zero else 1
    chosen = np.array([first + np.nanargmin(e[first:]) if np.isfinite(e[first:]).any() else 0 for e in errors], int)
    return int(np.sort(chosen)[(len(chosen) - 1) // 2]) if len(chosen) else 0, chosen
