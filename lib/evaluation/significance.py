"""Tests and intervals for scores on the same splits, and a correction for many tests."""

import numpy as np
import pandas as pd
from scipy import stats

from lib.evaluation.intervals import LEVEL, mean_interval, standard_error, to_sample
from lib.validation import check_choice, check_real


def paired_t_test(a, b, shared=0.0):
    """Two-sided paired t-test of equal means.

    Parameters
    ----------
    a, b : array-like of shape (n,), n at least 2
        Scores of two learners on the same cases.
    shared : float, at least 0
        As in `standard_error`; 0 for independent cases.

    Returns
    -------
    t : float
    p : float

    Raises
    ------
    ValueError
        If there are fewer than two pairs, or a score is not finite.
    """
    a, b, shared = to_sample("a", a), to_sample("b", b), check_real("shared", shared, 0)
    if a.shape != b.shape or len(a) < 2:
        raise ValueError(
            f"a and b must be one-dimensional, equally long, with at least 2; got {a.shape} and {b.shape}"
        )
    _require_finite("a and b must hold finite scores", a, b)
    difference = a - b
    error = standard_error(difference, shared)
    if error == 0:
        return (0.0, 1.0) if difference[0] == 0 else (float(np.sign(difference[0]) * np.inf), 0.0)
    t = difference.mean() / error
    return float(t), float(2 * stats.t.sf(abs(t), len(a) - 1))


def one_sided_p_values(differences):
    """P-values of paired t-tests that the mean is not above 0, one a row.

    Parameters
    ----------
    differences : array-like of shape (n_tests, n_pairs), n_pairs at least 2

    Returns
    -------
    ndarray of shape (n_tests,)
        1 where all differences are 0.

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
    means, errors = (
        differences.mean(axis=1),
        differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1]),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stats.t.sf(means / errors, differences.shape[1] - 1)
    return np.where((errors == 0) & (means <= 0), 1.0, p)


def corrected_t_test(a, b, test_fraction):
    """Two-sided t-test for scores of repeated cross-validation or resampling, corrected for shared training data.

    The variance of the mean of J differences is taken as (1/J + test/train) s^2 instead of s^2 / J.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Scores of two learners on the same J splits.
    test_fraction : float in (0, 1)
        Part of the examples in the test set of a split (0.2 for 5 folds).

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
    return paired_t_test(a, b, _shared(test_fraction))


def corrected_interval(differences, test_fraction, confidence=LEVEL):
    """Mean difference of scores over resamplings, with the interval that belongs to `corrected_t_test`.

    Parameters
    ----------
    differences : array-like of shape (J,)
        Score of one learner less that of another on each split.
    test_fraction : float in (0, 1)
        Part of the examples in the test set of a split.
    confidence : float in (0, 1)

    Returns
    -------
    Estimate
        With n = J; infinite ends for fewer than two splits; NaN where a difference is.

    References
    ----------
    Nadeau & Bengio (2003), section 4.
    """
    return mean_interval(differences, confidence, _shared(test_fraction))


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
    wide = frame.pivot(index=["dataset", "repeat", "fold"], columns="learner", values="accuracy")
    rows = []
    for name in frame["dataset"].unique():
        a, b = wide.loc[name, first].to_numpy(), wide.loc[name, second].to_numpy()
        p = corrected_t_test(a, b, test_fraction)[1]
        rows.append((name, *corrected_interval(a - b, test_fraction, confidence), p))
    table = pd.DataFrame(rows, columns=["dataset", "value", "low", "high", "n", "p"])
    return table.assign(p_holm=holm(table["p"]))


def holm(p_values):
    """P-values adjusted for their number, step-down: rejecting where they are below a level keeps that level overall.

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
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)[np.argsort(order)]


def _require_finite(allowed, *scores):
    for numbers in scores:
        if not np.isfinite(numbers).all():
            raise ValueError(f"{allowed}; got {numbers[~np.isfinite(numbers)][0]}")


def _shared(test_fraction):
    """Nadeau & Bengio's term for the training data that splits share, test / train."""
    test_fraction = check_real("test_fraction", test_fraction, 0, 1, open_low=True, open_high=True)
    return test_fraction / (1 - test_fraction)
