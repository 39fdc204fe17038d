"""Test errors of ELR and its rivals on a split of a data set.

They are those of Greiner et al. (2005), Tables III, IV, VI and VIII.
"""

import numpy as np
from sklearn.svm import SVC

from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.classifier import STRUCTURES
from lib.bayes_net.duplicates import merge_duplicates
from lib.experiments.elr_data import BAYES_NET_LEARNERS, N_FOLDS

CAP = 200  # iterations of a climb "to convergence"
# of the paper's SVM, whose solver does not converge on numbers in the hundreds and more
MAX_ITERATIONS = 200_000


def split_errors(codes, sizes, inner, structure, learners, stopping, tests=("complete",)):
    """Learn a structure and tables from training rows, and count the wrong test rows.

    The tables start as Laplace-smoothed frequencies, from which each learner climbs by conjugate
    gradients (or EM).

    Parameters
    ----------
    codes : ndarray of int, shape (n_train + n_tests * n_test, n_attributes + 1)
        Of the training rows, then of the test rows as often as there are `tests`: see
        `lib.experiments.elr_data.encode_split`.
    sizes : ndarray of int, shape (n_attributes + 1,)
    inner : ndarray of int, shape (n_train,)
        Folds of cross-tuning, below `N_FOLDS`.
    structure : str
        In `STRUCTURES`.
    learners : sequence of str
        In `BAYES_NET_LEARNERS`.
    stopping : int
        Most iterations that cross-tuning may choose, and the fixed number.
    tests : sequence of str
        Names of the readings of the test rows.

    Yields
    ------
    dict
        learner, test, n_iterations, n_wrong, n_test.
    """
    n_train = len(inner)
    n_test = (len(codes) - n_train) // len(tests)
    network = Network(STRUCTURES[structure](codes[:n_train], sizes), sizes)
    # equal rows are one case, with a count in each fold of tuning and in each reading of the tests
    rows, case_of_row = merge_duplicates(codes[:, 1:], sizes[1:])
    folds = np.append(inner, N_FOLDS + np.repeat(np.arange(len(tests)), n_test))
    shape = (N_FOLDS + len(tests), len(rows), int(sizes[0]))
    counts = fold_counts(case_of_row, codes[:, 0], folds, shape)
    tuning_counts = counts[:N_FOLDS]
    test_counts = counts[N_FOLDS:]
    cases = Cases(network, rows, counts.sum(axis=0)).weighted(tuning_counts.sum(axis=0))
    for base in dict.fromkeys(BAYES_NET_LEARNERS[name][0] for name in learners):
        limits = _iteration_limits(cases, tuning_counts, base, learners, stopping)
        # one climb serves all learners with the same gradient
        errors = climb(cases, base, max(limits.values()), watched=test_counts).errors
        for name, limit in limits.items():
            n_iterations = min(limit, len(errors) - 1)
            wrong = (errors[n_iterations] * test_counts.sum(axis=(1, 2))).round().astype(int)
            for test, n_wrong in zip(tests, wrong, strict=True):
                yield {
                    "learner": name,
                    "test": test,
                    "n_iterations": n_iterations,
                    "n_wrong": n_wrong,
                    "n_test": n_test,
                }


def _iteration_limits(cases, tuning_counts, base, learners, stopping):
    """The most iterations of each learner that climbs `base`."""
    rules = {}
    for name in learners:
        learner_base, rule = BAYES_NET_LEARNERS[name]
        if learner_base == base:
            rules[name] = rule
    limits = {"at the start": 0, "fixed": stopping, "converged": CAP}
    if any(rule.startswith("cross-tuned") for rule in rules.values()):
        errors = tuning_errors(cases, base, tuning_counts, stopping)
        limits["cross-tuned"] = choose_iterations(errors, allow_zero=True)[0]
        limits["cross-tuned, not 0"] = choose_iterations(errors, allow_zero=False)[0]
    return {name: limits[rule] for name, rule in rules.items()}


def quadratic_svm():
    """Return the paper's SVM: SVM-light with "-c 0.05 -t 1 -d 2".

    Its kernel is (s a.b + r)^2 with its defaults s = r = 1, and C counts for each row.
    """
    return SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=0.05, max_iter=MAX_ITERATIONS)
