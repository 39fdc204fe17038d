"""ELR and its rivals on the data sets of UCI: the experiments of Tables III, IV and VI (Greiner et al. 2005)."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from lib import structures as graphs
from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.cases import merged
from lib.experiments.elr_data import HOLES, N_FOLDS, SPLIT, TUNING, coded, loaded, problems, removed, repeat_seed
from lib.experiments.structure import BAYES_NET_LEARNERS
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_cases
from lib.validation import at_least_one, check_choice, check_flag, check_integer, check_real

STRUCTURES = ("naive", "tan", "bic")
CAP = 200  # iterations of a climb "to convergence", as in lib.experiments.cross_tuning
_CAPPED = {
    name: {"learner": name.split("_")[0], "n_iterations": CAP} for name in ("elr_converged", "apn_converged", "em")
}
LEARNERS = BAYES_NET_LEARNERS | _CAPPED
LEARNERS |= {"elr_fixed": {"learner": "elr"}}
MASK_TEST = {"yes": ("masked",), "no": ("complete",), "both": ("masked", "complete")}
WORK_A_SECOND = 2e5
LARGE = 2e6  # work of one split from which on each structure is a trial of its own
_COLUMNS = ["dataset", "repeat", "fold", "structure", "learner", "test", "n_iterations", "n_wrong", "n_test"]


def elr_uci_study(
    datasets=("iris",),
    structures=STRUCTURES,
    learners=("ofe", "elr"),
    incomplete=False,
    missing_rate=0.0,
    mask_test="both",
    n_repeats=1,
    stopping=20,
    seed=0,
    n_jobs=1,
    engine="local",
):
    """Test errors of Bayesian networks whose tables and structures are learned on each training part.

    Each training part gives its own cut points (by entropy), structure, Laplace-smoothed frequencies and, by
    conjugate gradients from those, the tables of the other learners.

    Parameters
    ----------
    datasets : sequence of str
        Names as the paper prints them, in lower case, or of `lib.datasets`: see `lib.experiments.elr_data.problem`,
        also for the splits. Those that cannot be had are left out.
    structures : sequence of "naive", "tan" or "bic"
    learners : sequence of str
        Names in `LEARNERS`.
    incomplete : bool
        Whether rows with missing values are used, as in Table VI.
    missing_rate : float in [0, 1)
        Probability with which each value is removed, as in Table IV.
    mask_test : {"yes", "no", "both"}
        Whether values of the test rows are removed as well.
    n_repeats : int, at least 1
        Shuffles; with nothing to remove, a published split is taken once.
    stopping : int, at least 1
        Most iterations that cross-tuning may choose, and the number of "elr_fixed".
    seed : int, at least 0
        Splits depend on the seed, the data set and the repeat only, and so do the values removed.
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, structure, learner, test ("masked" or "complete"), n_iterations, n_wrong, n_test.

    Raises
    ------
    ValueError
        If an argument is out of range or misspelt, before anything is run.
    """
    check_workers(n_jobs, engine)
    check_choice("mask_test", mask_test, MASK_TEST)
    structures = _each_once("structures", structures, STRUCTURES)
    settings = {
        "learners": _each_once("learners", learners, LEARNERS),
        "missing_rate": check_real("missing_rate", missing_rate, 0, 1, open_high=True),
        "tests": MASK_TEST[mask_test] if missing_rate else ("complete",),
        "stopping": check_integer("stopping", stopping, 1, 200),
        "entropy": check_integer("seed", seed, 0),
    }
    n_repeats = check_integer("n_repeats", n_repeats, 1)
    incomplete = check_flag("incomplete", incomplete)
    found, _ = problems(datasets, incomplete)
    trials = [trial for p in found for trial in _trials(p, n_repeats, structures, settings["missing_rate"])]
    trials.sort(key=lambda trial: -trial[-1])
    cases = [(*trial[:-1], loaded(trial[0], incomplete).data.sha256) for trial in trials]
    seconds, groups = [trial[-1] / WORK_A_SECOND for trial in trials], [trial[0] for trial in trials]
    trial = partial(_trial, incomplete=incomplete, **settings)
    frame = run_cases(trial, cases, n_jobs, engine, seconds, groups, "ELR")
    return _in_order(frame, [p.name for p in found], structures, settings["learners"])


def _each_once(name, values, allowed):
    values = [check_choice(name, value, allowed) for value in at_least_one(name, values)]
    if len(set(values)) < len(values):
        raise ValueError(f"{name} must name each once; got {values}")
    return values


def _trials(problem, n_repeats, structures, missing_rate):
    """(name, repeat, fold, structures, work) of each trial; a work too large is cut into one a structure."""
    once = not (problem.is_random or missing_rate)
    splits = problem.splits(N_FOLDS, np.random.SeedSequence(0))
    work = len(splits[0][0]) * problem.data.X.shape[1] * len(np.unique(problem.data.y)) * (1 + 50 * missing_rate)
    groups = [[structure] for structure in structures] if work > LARGE else [structures]
    return [
        (problem.name, repeat, fold, group, work * len(group))
        for repeat, fold, group in product(range(1 if once else n_repeats), range(len(splits)), groups)
    ]


def _in_order(frame, names, structures, learners):
    """Rows by data set, repeat, fold, structure, learner and test, as these were asked for."""
    orders = {"dataset": names, "structure": structures, "learner": learners}
    ranks = {key: {name: i for i, name in enumerate(values)} for key, values in orders.items()}
    keys = ["dataset", "repeat", "fold", "structure", "learner"]
    frame = frame.sort_values(keys, key=lambda column: column.map(ranks.get(column.name, lambda v: v)), kind="stable")
    return frame.reset_index(drop=True)[_COLUMNS]


def _trial(name, repeat, fold, structures, _, incomplete, learners, missing_rate, tests, stopping, entropy):
    problem, seed = loaded(name, incomplete), repeat_seed(name, repeat, entropy)
    data = problem.data
    train, test = problem.splits(N_FOLDS, keyed_seed(seed, SPLIT))[fold]
    holes = removed(data.X.shape, missing_rate, keyed_seed(seed, HOLES)) if missing_rate else None
    codes, sizes = coded(data, train, test, holes)
    inner = np.random.default_rng(keyed_seed(seed, TUNING, fold)).permutation(len(train)) % min(N_FOLDS, len(train))
    readings = ("masked", "complete") if missing_rate else ("complete",)
    folds = np.concatenate([inner, *(np.full(len(test), N_FOLDS + i) for i in range(len(readings)))])
    frames = []
    for structure in structures:
        found = _structure_errors(codes, sizes, folds, len(readings), structure, learners, stopping)
        frames.append(found.assign(structure=structure))
    frame = pd.concat(frames, ignore_index=True)
    frame["test"] = np.array(readings)[frame["test"]]
    labels = {"dataset": name, "repeat": repeat, "fold": fold, "n_test": len(test)}
    return frame[frame["test"].isin(tests)].assign(**labels)[_COLUMNS]


def _structure_errors(codes, sizes, folds, n_tests, structure, learners, stopping):
    """Iterations and wrong test rows of each learner with one structure: learner, test, n_iterations, n_wrong."""
    n = len(sizes) - 1
    training = codes[folds < N_FOLDS]
    parents = {
        "naive": lambda: graphs.naive(n),
        "tan": lambda: graphs.tan_from_codes(training, sizes),
        "bic": lambda: graphs.bic_from_codes(training, sizes),
    }[structure]()
    rows, index = merged(codes[:, 1:], sizes[1:])
    counts = fold_counts(index, codes[:, 0], folds, (N_FOLDS + n_tests, len(rows), int(sizes[0])))
    parts, tests = counts[:N_FOLDS], counts[N_FOLDS:]
    cases = Cases(Network(parents, sizes), rows, counts.sum(axis=0)).weighted(parts.sum(axis=0))
    stops = _stops(cases, parts, learners, stopping)
    curves = {}
    for base in dict.fromkeys(LEARNERS[name]["learner"] for name in learners):
        longest = max(stop for name, stop in stops.items() if LEARNERS[name]["learner"] == base)
        curves[base] = climb(cases, "elr" if base == "ofe" else base, longest, watched=tests).errors
    wrong = []
    for name, stop in stops.items():
        curve = curves[LEARNERS[name]["learner"]]
        reached = min(stop, len(curve) - 1)
        n_wrong = (curve[reached] * tests.sum(axis=(1, 2))).round().astype(int)
        wrong += [(name, t, reached, n_wrong[t]) for t in range(n_tests)]
    return pd.DataFrame(wrong, columns=["learner", "test", "n_iterations", "n_wrong"])


def _stops(cases, parts, learners, stopping):
    """After how many iterations each learner stops, at most."""
    errors, stops = {}, {}
    for name in learners:
        settings = LEARNERS[name]
        base = settings["learner"]
        if settings.get("tuned"):
            if base not in errors:
                errors[base] = tuning_errors(cases, base, parts, stopping)
            stops[name] = choose_iterations(errors[base], settings.get("allow_zero", True))[0]
        else:
            stops[name] = 0 if base == "ofe" else settings.get("n_iterations", stopping)
    return stops
