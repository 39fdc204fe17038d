"""What a training part of a data set teaches ELR and its rivals (Greiner et al. 2005, Tables III, IV, VI and VIII)."""

import numpy as np
from sklearn.svm import SVC

from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.cases import merged
from lib.bayes_net.classifier import STRUCTURES
from lib.experiments.elr_data import BAYES_NET_LEARNERS, N_FOLDS

CAP = 200  # iterations of a climb "to convergence"
# of the paper's SVM, whose solver does not converge on numbers in the hundreds and more
MAX_ITERATIONS = 200_000


def split_errors(codes, sizes, inner, structure, learners, stopping, tests=("complete",)):
    """Learn a structure and tables from training rows, and count the wrong ones among the test rows.

    The tables start as Laplace-smoothed frequencies, from which each learner climbs by conjugate
    gradients (or EM).

    Parameters
    ----------
    codes : ndarray of int, shape (n_train + n_tests * n_test, n_attributes + 1)
        Of the training rows, then of the test rows as often as there are `tests`: see
        `lib.experiments.elr_data.coded`.
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
    n_test = (len(codes) - len(inner)) // len(tests)
    folds = np.append(inner, N_FOLDS + np.repeat(np.arange(len(tests)), n_test))
    network = Network(STRUCTURES[structure](codes[: len(inner)], sizes), sizes)
    rows, index = merged(codes[:, 1:], sizes[1:])
    counts = fold_counts(
        index, codes[:, 0], folds, (N_FOLDS + len(tests), len(rows), int(sizes[0]))
    )
    parts, watched = counts[:N_FOLDS], counts[N_FOLDS:]
    cases = Cases(network, rows, counts.sum(axis=0)).weighted(parts.sum(axis=0))
    for base in dict.fromkeys(BAYES_NET_LEARNERS[name][0] for name in learners):
        stops = _stops(cases, parts, base, learners, stopping)
        errors = climb(cases, base, max(stops.values()), watched=watched).errors
        for name, stop in stops.items():
            n_iterations = min(stop, len(errors) - 1)
            wrong = (errors[n_iterations] * watched.sum(axis=(1, 2))).round().astype(int)
            for test, n_wrong in zip(tests, wrong, strict=True):
                labels = {"learner": name, "test": test, "n_iterations": n_iterations}
                yield labels | {"n_wrong": n_wrong, "n_test": n_test}


def _stops(cases, parts, base, learners, stopping):
    """After how many iterations each learner stops, at most, of those that climb the same."""
    rules = {
        name: BAYES_NET_LEARNERS[name][1]
        for name in learners
        if BAYES_NET_LEARNERS[name][0] == base
    }
    stops = {"at the start": 0, "fixed": stopping, "converged": CAP}
    if any(rule.startswith("cross-tuned") for rule in rules.values()):
        errors = tuning_errors(cases, base, parts, stopping)
        stops["cross-tuned"] = choose_iterations(errors, True)[0]
        stops["cross-tuned, not 0"] = choose_iterations(errors, False)[0]
    return {name: stops[rule] for name, rule in rules.items()}


def quadratic_svm():
    """SVM-light with "-c 0.05 -t 1 -d 2": the kernel (s a.b + r)^2 with its defaults s = r = 1, and C a row."""
    return SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=0.05, max_iter=MAX_ITERATIONS)
