"""What naive Bayes and TAN reach if discretisation leaves few attributes with more than one value (GLASS)."""

from functools import partial

import numpy as np
import pandas as pd

from lib import structures as graphs
from lib.bayes_net import Cases, Network, observed_frequencies
from lib.experiments.elr_data import HOLES, N_FOLDS, SPLIT, coded, problem, removed, repeat_seed
from lib.structures.information import JointCounts
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_cases
from lib.validation import check_choice, check_integer, check_real

ONE_VALUED = ("dropped", "spare value")


def few_attributes_study(dataset="glass", missing_rate=0.0, n_repeats=10, seed=0, n_jobs=1, engine="local"):
    """Accuracy of OFE when only the most informative attributes keep the values that discretisation gave them.

    All others get a single value: with "dropped" they have no table (with one value it is 1 in any case), with
    "spare value" a table for a second value that never occurs, which Laplace's smoothing fills a little.

    Parameters
    ----------
    dataset : str
        As for `lib.experiments.elr_data.problem`.
    missing_rate : float in [0, 1)
        Probability with which each value is removed before discretisation, also from test rows.
    n_repeats : int, at least 1
        Shuffles.
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        repeat, fold, structure ("naive", "tan"), one_valued ("dropped", "spare value"), n_kept, n_cut (attributes that
        discretisation cuts at all), accuracy (percent).
    """
    check_workers(n_jobs, engine)
    missing_rate = check_real("missing_rate", missing_rate, 0, 1, open_high=True)
    trial = partial(_trial, about=problem(dataset), missing_rate=missing_rate, entropy=check_integer("seed", seed, 0))
    repeats = [(repeat,) for repeat in range(check_integer("n_repeats", n_repeats, 1))]
    return run_cases(trial, repeats, n_jobs, engine, 1.0, description="few attributes")


def _trial(repeat, about, missing_rate, entropy):
    seed = repeat_seed(about.name, repeat, entropy)
    holes = removed(about.data.X.shape, missing_rate, keyed_seed(seed, HOLES)) if missing_rate else None
    rows = []
    for fold, (train, test) in enumerate(about.splits(N_FOLDS, keyed_seed(seed, SPLIT))):
        codes, sizes = coded(about.data, train, test, holes)
        codes, n = codes[: len(train) + len(test)], len(train)
        order, n_cut = _most_informative(codes[:n], sizes), int((sizes[1:] > 1).sum())
        for n_kept in range(len(order) + 1):
            for one_valued in ONE_VALUED:
                kept, kept_sizes = _kept(codes, sizes, order[:n_kept], one_valued)
                for structure in ("naive", "tan"):
                    accuracy = _accuracy(kept[:n], kept[n:], kept_sizes, structure)
                    rows.append((repeat, fold, structure, one_valued, n_kept, n_cut, accuracy))
    columns = ["repeat", "fold", "structure", "one_valued", "n_kept", "n_cut", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


def _most_informative(codes, sizes):
    """Columns of the attributes, the one that tells most about the class first."""
    counts = JointCounts(codes, sizes)
    gains = np.array([counts.information(v, 0, frozenset()) for v in range(1, len(sizes))])
    return 1 + np.argsort(-gains, kind="stable")


def _kept(codes, sizes, columns, one_valued):
    """Codes and sizes with one value for all attributes but those in `columns`."""
    check_choice("one_valued", one_valued, ONE_VALUED)
    others = np.setdiff1d(np.arange(1, len(sizes)), columns)
    codes, sizes = codes.copy(), sizes.copy()
    codes[:, others] = np.minimum(codes[:, others], 0)
    sizes[others] = 1 if one_valued == "dropped" else 2
    return codes, sizes


def _accuracy(train, test, sizes, structure):
    parents = graphs.naive(len(sizes) - 1) if structure == "naive" else graphs.tan_from_codes(train, sizes)
    network = Network(parents, sizes)
    theta = observed_frequencies(Cases.from_rows(network, train))
    return 100 * (1 - Cases.from_rows(network, test).error(theta))
