"""Other learners on the data sets and splits of the experiments with ELR (Greiner et al. 2005, Appendix E)."""

import zlib
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from lib.discretize import EntropyDiscretizer, OneHot
from lib.experiments.elr_data import FIT, N_FOLDS, SPLIT, loaded, problems, repeat_seed
from lib.experiments.uci import fit_predict
from lib.experiments.uci_learners import NumericInputs, Tuned
from lib.naive_bayes import SelectiveNaiveBayes
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_cases
from lib.validation import at_least_one, check_choice, check_integer

BINARY_ONLY = ("svm_paper", "svm_paper_standardised", "svm_paper_raw")
MAX_ITERATIONS = 200_000  # of the paper's SVM, whose solver does not converge on numbers in the hundreds and more
MAX_TUNED = 1500  # rows with which learners that take long are tuned
WORK_A_SECOND = 1e4
LARGE = 5e4  # training rows times attributes times classes from which on each peer is a trial of its own
_COLUMNS = ["dataset", "repeat", "fold", "learner", "n_wrong", "n_test"]


class StandardisedNumbers(TransformerMixin, BaseEstimator):
    """Numbers of a DataFrame with mean 0 and deviation 1 in training; a constant one becomes 0, others stay."""

    def fit(self, X, y=None):
        """Learn means and deviations."""
        numbers = X.select_dtypes("number")
        self.means_, self.deviations_ = numbers.mean(), numbers.std(ddof=0)
        self.deviations_ = self.deviations_.where(numbers.nunique() > 1, 1.0)
        return self

    def transform(self, X):
        """The DataFrame with the numbers standardised."""
        return X.assign(**(X[self.means_.index] - self.means_) / self.deviations_)


def numbers_in_file(X):
    """Numbers as they are in the file, categories written as numbers too; of other ones their place in the list."""
    return np.column_stack([_as_number(column) for _, column in X.items()])


def _as_number(column):
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=float)
    values = pd.to_numeric(column.cat.categories.to_series(), errors="coerce").to_numpy(dtype=float)
    values = np.arange(len(values)) if np.isnan(values).any() else values
    return np.append(values, np.nan)[column.cat.codes]  # the code of a missing value is -1


def _one_hot(learner):
    return make_pipeline(EntropyDiscretizer(), OneHot(constant="drop"), FunctionTransformer(np.asarray), learner)


def _standardised(learner):
    return make_pipeline(StandardisedNumbers(), NumericInputs(), learner)


def quadratic_svm():
    """SVM-light with "-c 0.05 -t 1 -d 2": the kernel (s a.b + r)^2 with its defaults s = r = 1, and C a row."""
    return SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=0.05, max_iter=MAX_ITERATIONS)


PEERS = {
    "tree": lambda state: make_pipeline(
        NumericInputs(),
        Tuned(
            DecisionTreeClassifier(criterion="entropy", random_state=state),
            {"min_samples_leaf": [1, 2, 5, 10, 20]},
            random_state=state,
        ),
    ),
    "selective": lambda state: make_pipeline(EntropyDiscretizer(), SelectiveNaiveBayes(random_state=state)),
    "logistic": lambda state: _one_hot(
        Tuned(LogisticRegression(max_iter=300), {"C": [0.03, 0.1, 0.3, 1.0, 3.0]}, MAX_TUNED, state)
    ),
    "forest": lambda state: make_pipeline(NumericInputs(), RandomForestClassifier(100, random_state=state)),
    "boosting": lambda state: make_pipeline(
        NumericInputs(),
        # without the penalty, leaves of rare classes grow without bounds
        HistGradientBoostingClassifier(max_iter=100, l2_regularization=1.0, early_stopping=False, random_state=state),
    ),
    "svm_rbf": lambda state: _standardised(
        Tuned(SVC(), {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.03, 0.1, 0.3]}, MAX_TUNED, state)
    ),
    "svm_paper": lambda state: _one_hot(quadratic_svm()),
    "svm_paper_standardised": lambda state: _standardised(quadratic_svm()),
    "svm_paper_raw": lambda state: make_pipeline(FunctionTransformer(numbers_in_file), quadratic_svm()),
}


def peer_study(datasets, peers=tuple(PEERS), n_repeats=1, seed=0, n_jobs=1, engine="local"):
    """Test errors of other learners on the splits of `elr_uci_study` with the same seed.

    Whatever is learned, cut points and encodings included, is learned from the training part.

    Parameters
    ----------
    datasets : sequence of str
        As for `lib.experiments.elr_uci.elr_uci_study`, without incomplete rows.
    peers : sequence of str
        Names in `PEERS`, each once. Those in `BINARY_ONLY` take data sets with two classes only, as in Table VIII; the
        frame has no rows of them on others.
    n_repeats : int, at least 1
        Shuffles; a published split is taken once.
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, learner, n_wrong, n_test.

    Raises
    ------
    ValueError
        Before anything is run, if an argument is out of range or misspelt, or no peer takes one of the data sets.

    Notes
    -----
    The paper does not say which inputs its SVM got: "svm_paper" gets one-hot codes of the attributes cut by entropy,
    "svm_paper_standardised" numbers with mean 0 and deviation 1 beside one-hot codes of all else, "svm_paper_raw" the
    numbers of the file. Where these are in the hundreds and more (AUSTRALIAN's reach 100,001) the solver is stopped by
    `MAX_ITERATIONS` before it has converged: its errors there are those of an unfinished search.
    """
    check_workers(n_jobs, engine)
    peers = [check_choice("peers", name, PEERS) for name in at_least_one("peers", peers)]
    if len(set(peers)) < len(peers):
        raise ValueError(f"peers must name each learner once; got {peers}")
    n_repeats, seed = check_integer("n_repeats", n_repeats, 1), check_integer("seed", seed, 0)
    found, _ = problems(datasets)
    trials = sorted((t for p in found for t in _trials(p, _taking(p, peers), n_repeats)), key=lambda t: -t[-1])
    cases = [(*trial[:-1], loaded(trial[0]).data.sha256) for trial in trials]
    seconds, groups = [trial[-1] / WORK_A_SECOND for trial in trials], [trial[0] for trial in trials]
    frame = run_cases(partial(_trial, entropy=seed), cases, n_jobs, engine, seconds, groups, "peers")
    return _in_order(frame, {"dataset": [p.name for p in found], "learner": peers})


def _in_order(frame, orders):
    """Rows by data set, repeat, fold and learner, as these were asked for."""
    ranks = frame.assign(**{name: frame[name].map(order.index) for name, order in orders.items()})
    return frame.loc[ranks.sort_values(_COLUMNS[:4]).index].reset_index(drop=True)


def _taking(problem, peers):
    """The peers that take a problem."""
    n_classes = len(np.unique(problem.data.y))
    taking = [name for name in peers if n_classes == 2 or name not in BINARY_ONLY]
    if not taking:
        raise ValueError(f"peers must name one that takes {n_classes} classes, for {problem.name}; got {peers}")
    return taking


def _trials(problem, peers, n_repeats):
    """(name, repeat, fold, peers, work) of each trial; a work too large is cut into one a peer."""
    splits = problem.splits(N_FOLDS, np.random.SeedSequence(0))
    work = len(splits[0][0]) * problem.data.X.shape[1] * len(np.unique(problem.data.y))
    groups = [[name] for name in peers] if work > LARGE else [peers]
    repeats = range(n_repeats if problem.is_random else 1)
    return [(problem.name, r, fold, group, work) for r, fold, group in product(repeats, range(len(splits)), groups)]


def _trial(name, repeat, fold, peers, _, entropy):
    problem, seed = loaded(name), repeat_seed(name, repeat, entropy)
    X, y = problem.data.X, problem.data.y
    train, test = problem.splits(N_FOLDS, keyed_seed(seed, SPLIT))[fold]
    wrong = []
    for peer in peers:
        state = int(keyed_seed(seed, FIT, fold, zlib.crc32(peer.encode())).generate_state(1)[0] >> 1)
        with threadpool_limits(1):
            predicted = fit_predict(PEERS[peer](state), X.iloc[train], y[train], X.iloc[test])
        wrong.append((peer, int((predicted != y[test]).sum())))
    labels = {"dataset": name, "repeat": repeat, "fold": fold, "n_test": len(test)}
    return pd.DataFrame(wrong, columns=["learner", "n_wrong"]).assign(**labels)[_COLUMNS]
