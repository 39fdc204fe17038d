"""Tests and intervals for scores on the same splits, and a correction for many tests."""

import numpy as np
import pandas as pd
from scipy import stats

from lib.base.validation import check_choice, check_real
from lib.evaluation.intervals import (
    LEVEL,
    are_constant,
    are_tied,
    mean_interval,
    standard_error,
    to_sample,
)


def paired_t_test(a, b, shared=0.0):
    """Two-sided paired t-test of equal means.

    Parameters
    ----------
    a, b : array-like of shape (n,), n at least 2
        Scores of two learners on the same splits or data sets.
    shared : float, at least 0
        As in `standard_error`; 0 for independent pairs.

    Returns
    -------
    t : float
        0 where no two scores differ by more than rounding; infinite where all differ by the same.
    p : float

    Raises
    ------
    ValueError
        If there are fewer than two pairs, or a score is not finite.
    """
    a = to_sample("a", a)
    b = to_sample("b", b)
    shared = check_real("shared", shared, 0)
    if a.shape != b.shape or len(a) < 2:
        allowed = "one-dimensional, equally long, with at least 2"
        raise ValueError(f"a and b must be {allowed}; got {a.shape} and {b.shape}")
    _require_finite("a and b must hold finite scores", a)
    _require_finite("a and b must hold finite scores", b)
    if are_tied(a, b).all():
        return 0.0, 1.0
    differences = a - b
    error = standard_error(differences, shared)
    if error == 0:  # all differences are the same
        return float(np.sign(differences[0]) * np.inf), 0.0
    t = differences.mean() / error
    p = 2 * stats.t.sf(abs(t), len(a) - 1)
    return float(t), float(p)


def one_sided_p_values(differences):
    """P-values of one-sided paired t-tests, one a row; the hypothesis is a mean of at most 0.

    Parameters
    ----------
    differences : array-like of shape (n_tests, n_pairs), n_pairs at least 2
        Of scores of the order of 1, such as accuracies, whose rounding counts as no difference.

    Returns
    -------
    ndarray of shape (n_tests,)
        1 where all differences are 0, or the same one below it; 0 where they are one above it.

    Raises
    ------
    ValueError
        If the shape is another, or a difference is not finite.
    """
    try:
        differences = np.asarray(differences, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"differences must be numbers, of shape (n_tests, n_pairs): {error}"
        ) from None
    if differences.ndim != 2 or differences.shape[1] < 2:
        raise ValueError(
            f"differences must have shape (n_tests, at least 2); got {differences.shape}"
        )
    _require_finite("differences must be finite", differences)
    n_pairs = differences.shape[1]
    means = differences.mean(axis=1)
    errors = differences.std(axis=1, ddof=1) / np.sqrt(n_pairs)
    has_spread = ~are_constant(differences)
    t = np.divide(means, errors, out=np.where(means > 0, np.inf, -np.inf), where=has_spread)
    return np.where(_are_rounding(differences), 1.0, stats.t.sf(t, n_pairs - 1))


def corrected_t_test(a, b, test_fraction):
    """Nadeau & Bengio's corrected t-test for scores of repeated cross-validation or resampling.

    Training sets of J splits share rows, so that the J differences are correlated: the variance of
    their mean is taken as (1/J + test/train) s^2 instead of s^2 / J. The test is two-sided.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Scores of two learners on the same J splits.
    test_fraction : float in (0, 1)
        Share of the examples in the test set of a split (0.2 for 5 folds).

    Returns
    -------
    t : float
    p : float

    Raises
    ------
    ValueError
        As `paired_t_test` does, and if `test_fraction` is out of range.

    References
    ----------
    Nadeau & Bengio (2003), section 4.
    """
    return paired_t_test(a, b, _test_train_ratio(test_fraction))


def corrected_interval(differences, test_fraction, confidence=LEVEL):
    """Mean difference of scores over splits, with the interval that inverts `corrected_t_test`.

    Parameters
    ----------
    differences : array-like of shape (J,)
        Score of one learner minus that of another on each split. Scores are of the order of 1,
        such as accuracies: where no difference is more than their rounding, each counts as 0.
    test_fraction : float in (0, 1)
        Share of the examples in the test set of a split.
    confidence : float in (0, 1)

    Returns
    -------
    Estimate
        With n = J; infinite ends for fewer than two splits; NaN where a difference is.

    References
    ----------
    Nadeau & Bengio (2003), section 4.
    """
    differences = to_sample("differences", differences)
    if _are_rounding(differences):
        differences = np.zeros_like(differences)
    return mean_interval(differences, confidence, _test_train_ratio(test_fraction))


def differences_by_dataset(frame, first, second, test_fraction, confidence=LEVEL):
    """Mean difference in accuracy of two learners on each data set, over the same folds.

    Parameters
    ----------
    frame : DataFrame
        dataset, repeat, fold, learner, accuracy, as `lib.experiments.uci_comparison` returns it.
    first, second : str
        Names of learners in `frame`.
    test_fraction, confidence
        As in `corrected_interval`.

    Returns
    -------
    DataFrame
        dataset (in the order of `frame`), value (first - second), low, high, n, p (of
        `corrected_t_test`) and p_holm, which allows for all rows.
    """
    for learner in (first, second):
        check_choice("first and second", learner, frame["learner"].unique())
    accuracy = frame.pivot(
        index=["dataset", "repeat", "fold"], columns="learner", values="accuracy"
    )
    rows = []
    for dataset in frame["dataset"].unique():
        a = accuracy.loc[dataset, first].to_numpy()
        b = accuracy.loc[dataset, second].to_numpy()
        estimate = corrected_interval(a - b, test_fraction, confidence)
        _, p = corrected_t_test(a, b, test_fraction)
        rows.append({"dataset": dataset, **estimate._asdict(), "p": p})
    table = pd.DataFrame(rows, columns=["dataset", "value", "low", "high", "n", "p"])
    return table.assign(p_holm=holm(table["p"]))


def holm(p_values):
    """P-values adjusted for their number by Holm's step-down procedure.

    To reject where an adjusted p-value is below a level keeps the chance of any false rejection at
    that level.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Each in [0, 1].

    Returns
    -------
    ndarray of shape (m,)
        In the order given.

    References
    ----------
    Holm (1979), section 3.
    """
    p = to_sample("p_values", p_values)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values must be one-dimensional, each in [0, 1]; got {p_values!r}")
    order = np.argsort(p)
    n_remaining = np.arange(len(p), 0, -1)  # hypotheses not rejected yet, at each step
    adjusted = np.minimum(np.maximum.accumulate(p[order] * n_remaining), 1)
    return adjusted[np.argsort(order)]


def _are_rounding(differences):
    """Return whether no difference along the last axis is more than scores near 1 are rounded."""
    return are_tied(1.0 + differences, 1.0).all(axis=-1)


def _require_finite(allowed, numbers):
    """Raise ValueError, which says what is allowed, with the first number that is not finite."""
    if not np.isfinite(numbers).all():
        raise ValueError(f"{allowed}; got {numbers[~np.isfinite(numbers)][0]}")


def _test_train_ratio(test_fraction):
    """Nadeau & Bengio's term for the training data that splits share: n_test / n_train."""
    test_fraction = check_real("test_fraction", test_fraction, 0, 1, open_low=True, open_high=True)
    return test_fraction / (1 - test_fraction)
