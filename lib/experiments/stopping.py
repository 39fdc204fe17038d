"""Where an ascent stops: its errors after each iteration, and rules that choose an iteration.

Greiner et al. (2005), Figure 2 and Appendix B: with cross-tuning and without.
"""

from dataclasses import dataclass

import numpy as np

from lib.base.validation import check_integer
from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.classifier import STRUCTURES
from lib.bayes_net.duplicates import merge_duplicates


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """Errors after each iteration of an ascent; its start is iteration 0.

    Attributes
    ----------
    resubstitution : ndarray of shape (n_iterations + 1,)
        Error rate on the training examples.
    n_wrong : ndarray of shape (n_iterations + 1, n_groups)
        Wrong examples in each group of test examples.
    n_test : int
        Test examples.
    tuning_errors : ndarray of shape (n_folds, at most n_tuned + 1)
        Error rates on the folds of cross-tuning: see `lib.bayes_net.tuning_errors`.
    tuning_passes : float
        Work of cross-tuning without its last ascent, that on all training examples: the examples
        that all iterations go through, divided by the number of training examples.
    """

    resubstitution: np.ndarray
    n_wrong: np.ndarray
    n_test: int
    tuning_errors: np.ndarray
    tuning_passes: float

    @property
    def n_iterations(self):
        """Iterations until the ascent converged or was cut off."""
        return len(self.resubstitution) - 1

    @property
    def held_out(self):
        """Error rate on the test examples, (n_iterations + 1,)."""
        return self.n_wrong.sum(axis=1) / self.n_test


def error_curves(codes, sizes, folds, structure, learner, n_tuned, max_iterations, n_groups=1):
    """Learn a structure, climb from its frequencies, and measure errors after each iteration.

    The structure and the tables are those of the training examples: all but the last fold.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_variables)
        The class in column 0; -1 where an attribute is missing.
    sizes : ndarray of int, shape (n_variables,)
    folds : ndarray of int, shape (n_samples,)
        The fold of cross-tuning of each training example, 0 to n_folds - 1; n_folds for test
        examples.
    structure : str
        In `lib.bayes_net.classifier.STRUCTURES`.
    learner : "elr", "em" or "apn"
    n_tuned : int
        Most iterations of cross-tuning.
    max_iterations : int
        Most iterations of the ascent on all training examples.
    n_groups : int, at least 1
        Most groups of test examples whose errors are counted apart. An example's group is its
        number modulo that of groups.

    Returns
    -------
    ErrorCurves

    Raises
    ------
    ValueError
        If there is no fold of cross-tuning, or an argument is out of range.
    """
    folds = np.asarray(folds)
    n_folds = check_integer("the fold of test examples", folds.max(), 1)
    is_test = folds == n_folds
    n_test = int(is_test.sum())
    n_groups = min(check_integer("n_groups", n_groups, 1), n_test)
    network = Network(STRUCTURES[structure](codes[~is_test], sizes), sizes)
    # equal rows are one case, with a count in each fold of tuning and in each group of tests
    rows, case_of_row = merge_duplicates(codes[:, 1:], sizes[1:])
    subsets = np.where(is_test, n_folds + np.arange(len(codes)) % n_groups, folds)
    shape = (subsets.max() + 1, len(rows), int(sizes[0]))
    counts = fold_counts(case_of_row, codes[:, 0], subsets, shape)
    tuning_counts = counts[:n_folds]
    test_counts = counts[n_folds:]
    training_counts = tuning_counts.sum(axis=0)
    cases = Cases(network, rows, counts.sum(axis=0)).weighted(training_counts)
    watched = np.array([training_counts, *test_counts])
    errors = climb(cases, learner, max_iterations, watched=watched).errors
    # a group may have no example, and so no error rate
    n_wrong = np.nan_to_num(errors[:, 1:] * test_counts.sum(axis=(1, 2))).round()
    fold_errors = tuning_errors(cases, learner, tuning_counts, n_tuned)
    return ErrorCurves(
        resubstitution=errors[:, 0],
        n_wrong=n_wrong,
        n_test=n_test,
        tuning_errors=fold_errors,
        tuning_passes=_tuning_passes(fold_errors, tuning_counts.sum(axis=(1, 2))),
    )


def _tuning_passes(fold_errors, fold_sizes):
    """Passes through all training examples that the ascents without a fold amount to."""
    n_train = fold_sizes.sum()
    # NaN follows the last iteration; what is held out is not gone through
    n_iterations = np.isfinite(fold_errors[:, 1:]).sum(axis=1)
    return n_iterations @ (n_train - fold_sizes) / n_train


def stopping_iterations(curves, n_fixed):
    """Return the iteration at which each rule stops an ascent.

    Parameters
    ----------
    curves : ErrorCurves
    n_fixed : int
        The fixed number of iterations, which may be more than the ascent has, and the most among
        which the best in hindsight are sought.

    Returns
    -------
    dict of str to int
        By rule:

        - "start": at the frequencies.
        - "tuned", "tuned_forced": chosen by cross-tuning, among all or not 0.
        - "fixed": `n_fixed`.
        - "greedy": the last before the first one that does not lower the resubstitution error.
        - "converged": the last.
        - "best", "best_forced": the first of those with the least error on test examples, among all
          or not 0.

    References
    ----------
    Greiner et al. (2005), Appendix B, where "fixed", and "greedy" or "converged", are what goes on
    without cross-tuning.
    """
    last = curves.n_iterations
    held_out = curves.held_out[: n_fixed + 1]
    first_forced = min(1, last)
    gets_no_better = np.flatnonzero(np.diff(curves.resubstitution) >= 0)
    return {
        "start": 0,
        "tuned": choose_iterations(curves.tuning_errors)[0],
        "tuned_forced": choose_iterations(curves.tuning_errors, allow_zero=False)[0],
        "fixed": n_fixed,
        "greedy": int(gets_no_better[0]) if len(gets_no_better) else last,
        "converged": last,
        "best": int(np.argmin(held_out)),
        "best_forced": first_forced + int(np.argmin(held_out[first_forced:])),
    }
