"""Learners of the tables of a given structure: frequencies, ELR, EM and APN, with cross-tuning."""

import numpy as np

from lib.base.validation import check_choice, check_integer, check_real
from lib.bayes_net.ascent import ascend
from lib.bayes_net.em import maximise_expectation
from lib.bayes_net.messages import LOWEST
from lib.structures.information import check_codes

LEARNERS = ("ofe", "elr", "em", "apn")


def observed_frequencies(cases, smoothing=1.0):
    """Laplace-smoothed frequencies in the rows where a variable and its parents are all observed.

    ``theta_{d|f} = (count of d, f + smoothing) / (count of f + smoothing * number of values d)``,
    shape (n_parameters,). Where nothing was seen and `smoothing` is 0, the values are equally
    probable.

    Raises
    ------
    ValueError
        If `smoothing` is negative or not finite.
    """
    return cases.network.normalised(cases.observed_counts() + check_real("smoothing", smoothing, 0))


def climb(
    cases,
    learner,
    n_iterations,
    smoothing=1.0,
    first=None,
    method="cg",
    tolerance=1e-6,
    watched=None,
):
    """Run the ascent of "elr", "em" or "apn".

    Parameters
    ----------
    cases : Cases
    learner : "elr", "em" or "apn"
    n_iterations : int
        Most iterations.
    smoothing : float, at least 0
        Of the frequencies to start from; em and apn climb the likelihood times the prior with the
        same effect.
    first : ndarray of shape (n_parameters,), optional
        Flat tables to start from, in place of the observed frequencies.
    method, tolerance, watched
        As in `ascend`.

    Returns
    -------
    Ascent
        As `ascend` returns it.

    Raises
    ------
    ValueError
        If a parameter is out of range, or rows of `first` do not sum to 1.
    """
    check_choice("learner", learner, LEARNERS[1:])
    n_iterations = check_integer("n_iterations", n_iterations, 0)
    smoothing = check_real("smoothing", smoothing, 0)
    start = (
        observed_frequencies(cases, smoothing)
        if first is None
        else cases.network.check_probabilities(first)
    )
    if learner == "em":
        return maximise_expectation(cases, start, n_iterations, smoothing, tolerance, watched)
    is_discriminative = learner == "elr"
    return ascend(
        cases,
        np.log(np.maximum(start, LOWEST)),
        n_iterations,
        conditional=is_discriminative,
        smoothing=0.0 if is_discriminative else smoothing,
        method=method,
        tolerance=tolerance,
        watched=watched,
    )


def tuning_errors(cases, learner, held_out, n_iterations, **options):
    """Errors of held-out folds after each iteration of `climb`, to be given to `choose_iterations`.

    Parameters
    ----------
    cases : Cases
    learner : "elr", "em" or "apn"
    held_out : ndarray of shape (n_folds, n_rows, n_classes)
        Counts of the examples in each fold.
    n_iterations : int
    options
        smoothing, first, method and tolerance of `climb`.

    Returns
    -------
    ndarray of shape (n_folds, at most n_iterations + 1)
        As wide as the longest ascent; NaN after the last iteration of an ascent that ended early.
    """
    curves = []
    for counts in held_out:
        # at least 0 also where weights are fractions, whose differences are rounded
        training = cases.weighted(np.maximum(cases.counts - counts, 0))
        ascent = climb(training, learner, n_iterations, watched=counts[None], **options)
        curves.append(ascent.errors[:, 0])
    longest = max(map(len, curves), default=1)
    errors = np.full((len(curves), longest), np.nan)
    for fold, curve in enumerate(curves):
        errors[fold, : len(curve)] = curve
    return errors


def fold_counts(index, classes, folds, shape, weights=None):
    """How often each class comes with each merged row in each fold, (n_folds, n_rows, n_classes).

    Parameters
    ----------
    index, classes, folds : ndarray of int, shape (n_samples,)
        Merged row, class and fold of each example.
    shape : tuple of int
        n_folds, n_rows, n_classes.
    weights : ndarray of shape (n_samples,), optional
        How often each example counts.

    Raises
    ------
    ValueError
        If a number is out of the range that `shape` says.
    """
    columns = np.column_stack([folds, index, classes])
    folds, index, classes = check_codes("folds, rows and classes", columns, shape, 0).T
    _, n_rows, n_classes = shape
    codes = (folds * n_rows + index) * n_classes + classes
    return np.bincount(codes, weights, np.prod(shape)).reshape(shape).astype(float)


def choose_iterations(errors, allow_zero=True):
    """Choose a number of iterations by cross-tuning: the median of what is best in each fold.

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
        The first of equally good numbers; 0 in any case where an ascent had converged at its start.
        A fold without examples, whose errors are all NaN, has none.

    References
    ----------
    Greiner et al. (2005), Appendix B.
    """
    errors = np.asarray(errors, dtype=float)
    if errors.ndim != 2 or errors.shape[1] == 0:
        raise ValueError(f"errors must have shape (n_folds, n_iterations + 1); got {errors.shape}")
    errors = errors[np.isfinite(errors[:, 0])]
    candidates = np.where(np.isnan(errors), np.inf, errors)
    if not allow_zero:
        candidates[:, 0] = np.inf
    chosen = candidates.argmin(axis=1)  # 0 where there is no candidate
    if len(chosen) == 0:
        return 0, chosen
    lower_median = np.sort(chosen)[(len(chosen) - 1) // 2]
    return int(lower_median), chosen
