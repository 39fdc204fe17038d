"""When ELR should stop: cross-tuning against fixed, greedy and no stopping on data sets of UCI (Appendix B)."""

from functools import partial

import numpy as np
import pandas as pd

from lib import datasets as uci
from lib import structures as graphs
from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.cases import merged
from lib.evaluation import corrected_interval, mean_interval, one_sided_p_values
from lib.experiments.elr_data import coded, problem, repeat_seed
from lib.experiments.greiner_printed import printed
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_cases
from lib.validation import at_least_one, check_choice, check_integer

KEYS = ["dataset", "repeat", "fold", "structure"]
CAP = 200  # iterations of a climb "to convergence"
STRUCTURES = ("naive", "tan")
STOPPINGS = {
    "start": "at the start (OFE)",
    "tuned": "cross-tuned",
    "tuned_forced": "cross-tuned, not 0",
    "fixed": "fixed number",
    "greedy": "while training error falls",
    "converged": "at convergence",
    "best": "best in hindsight",
    "best_forced": "best in hindsight, not 0",
}
WITHOUT_TUNING = ("fixed", "greedy", "converged")


def stopping_study(
    datasets=("pima",),
    structures=STRUCTURES,
    n_iterations=20,
    n_folds=5,
    n_repeats=1,
    seed=0,
    n_jobs=1,
    engine="local",
):
    """Errors of ELR after each iteration and under each rule that says when to stop.

    Each training part gets its cut points, its structure and its smoothed frequencies, from which ELR climbs by
    conjugate gradients. All rules stop the same climb.

    Parameters
    ----------
    datasets : sequence of names that `lib.datasets.load` knows
        Rows with missing values are left out, except of "vote", where a missing vote is a value.
    structures : sequence of "naive" or "tan"
    n_iterations : int, at least 1
        Of the fixed rule, and the most that cross-tuning and hindsight may choose.
    n_folds : int, at least 2
        Of cross-validation and, inside the training part, of cross-tuning (there at most one a row). A test fold has
        floor(N / n_folds) rows; those left over are never tested. Sets with a published test set have one split: see
        `lib.experiments.elr_data.problem`.
    n_repeats : int, at least 1
        Shuffles.
    seed : int, at least 0
        Folds depend on the seed, the data set and the repeat only.
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        dataset, repeat, fold, structure, stopping, n_iterations, error, resubstitution, passes, n_test. Rows with
        stopping "each" hold the errors after 0, 1, ..., `n_iterations` iterations, the others those of the rule in
        `STOPPINGS`. `passes` is the work: examples seen in all iterations over training examples.

    Raises
    ------
    ValueError
        If an argument is out of range or misspelt, or a data set is named twice.
    lib.datasets.NotAvailableError
        If a data set cannot be had.

    References
    ----------
    Greiner et al. (2005), Appendix B and Tables II and IX.
    """
    check_workers(n_jobs, engine)
    loaded = [problem(name) for name in at_least_one("datasets", datasets)]
    names = [one.data.name for one in loaded]
    if len(set(names)) < len(names):
        raise ValueError(f"datasets must name each data set once; got {names}")
    n_repeats = check_integer("n_repeats", n_repeats, 1)
    trial = partial(
        _trial,
        structures=[check_choice("structures", s, STRUCTURES) for s in at_least_one("structures", structures)],
        n_iterations=check_integer("n_iterations", n_iterations, 1, CAP),
        n_folds=check_integer("n_folds", n_folds, 2, min(len(one.data.y) for one in loaded)),
        entropy=check_integer("seed", seed, 0),
    )
    cases = [(one, repeat) for one in loaded for repeat in range(n_repeats)]
    groups = [one.data.name for one, _ in cases]
    return run_cases(trial, cases, n_jobs, engine, 1.0, groups, "stopping")


def first_available(name, stand_in):
    """Return `name` if that data set can be had, else `stand_in`."""
    try:
        uci.load(name)
    except uci.NotAvailableError:
        return stand_in
    return name


def by_rule(frame, column):
    """One column of the rules' rows: a row a dataset, repeat, fold and structure, a column a rule."""
    return frame[frame["stopping"] != "each"].pivot(index=KEYS, columns="stopping", values=column)


def excess_examples(frame, best="best"):
    """By how many test examples each rule errs more than the `best` iteration, as `by_rule`."""
    errors = by_rule(frame, "error")
    return errors.sub(errors[best], axis=0).mul(by_rule(frame, "n_test")[best], axis=0).round()


def part_of_folds(events):
    """Part of the folds in which `events`, as rows of `by_rule`, are true, with the t interval over shuffles."""
    return mean_interval(events.groupby("repeat").mean())


def stopping_summary(frame, test_fraction):
    """Means of each rule over folds: rule, iterations, training and held-out error in percent, and what it misses.

    The difference in error from cross-tuning is in points, with the interval of `corrected_interval`; `missed` is the
    part of folds in which the rule errs on more than one example more than the best iteration.
    """
    errors, excess = by_rule(frame, "error") * 100, excess_examples(frame)
    means = {name: by_rule(frame, name).mean() for name in ("n_iterations", "resubstitution")}
    rows = []
    for rule, label in STOPPINGS.items():
        difference = corrected_interval(errors[rule] - errors["tuned"], test_fraction)
        averages = means["n_iterations"][rule], means["resubstitution"][rule] * 100, errors[rule].mean()
        rows.append((label, *averages, *difference[:3], (excess[rule] > 1).mean()))
    columns = ["rule", "iterations", "training error", "held-out error", "difference", "low", "high", "missed"]
    return pd.DataFrame(rows, columns=columns)


def tied_iterations(frame):
    """How many iterations of each climb share the least held-out error."""
    each = frame[frame["stopping"] == "each"]
    errors = each.pivot(index=KEYS, columns="n_iterations", values="error")
    return errors.eq(errors.min(axis=1), axis=0).sum(axis=1)


def choices(frame, chosen="tuned", best="best"):
    """Number of folds with each number of iterations that is best (rows) and that cross-tuning chose (columns)."""
    picked = by_rule(frame, "n_iterations")[[best, chosen]].to_numpy(dtype=int)
    counts = np.zeros((frame["n_iterations"][frame["stopping"] == "each"].max() + 1,) * 2, dtype=int)
    np.add.at(counts, tuple(picked.T), 1)
    return counts


def gains_by_dataset(frame, test_fraction, tuned="tuned"):
    """Error of each rule without tuning less that of cross-tuning, in points, of each data set with its interval.

    Returns dataset, structure, stopping, value, low, high, n. The interval is that of `corrected_interval` for folds
    and of `mean_interval` for repeated training samples.
    """
    errors = by_rule(frame, "error") * 100
    rows = []
    for (name, structure), part in errors.groupby(["dataset", "structure"], sort=False):
        folds = part.index.get_level_values("fold").nunique() > 1
        for rule in WITHOUT_TUNING:
            gain = part[rule] - part[tuned]
            estimate = corrected_interval(gain, test_fraction) if folds else mean_interval(gain)
            rows.append((name, structure, rule, *estimate))
    return pd.DataFrame(rows, columns=["dataset", "structure", "stopping", "value", "low", "high", "n"])


def contrast(frame, worse, better):
    """Mean errors of data sets, `worse` - `better` in points; each is (structure, stopping).

    Returns an empty array where one of the two structures was not asked for.
    """
    errors = by_rule(frame, "error").groupby(["dataset", "structure"], sort=False).mean().unstack("structure") * 100
    pair = [(rule, structure) for structure, rule in (worse, better)]
    if not set(pair) <= set(errors.columns):
        return np.empty(0)
    return (errors[pair[0]] - errors[pair[1]]).to_numpy().round(9)


def one_sided_p(gains):
    """P of the t-test over data sets that the mean gain is not positive, as the paper's paired tests are."""
    return one_sided_p_values([gains])[0] if len(gains) > 1 else np.nan


def tuning_tests(frame):
    """Cross-tuning against each rule over data sets: mean gain, p and numbers of data sets, a row a structure and rule.

    Returns structure, rule, gain, low, high, p, p_forced (zero iterations may not be chosen), better, equal, worse.
    """
    rows = []
    for structure in dict.fromkeys(frame["structure"]):
        for rule in WITHOUT_TUNING:
            gain = contrast(frame, (structure, rule), (structure, "tuned"))
            forced = contrast(frame, (structure, rule), (structure, "tuned_forced"))
            signs = [(np.sign(gain) == sign).sum() for sign in (1, 0, -1)]
            rows.append((structure, rule, *mean_interval(gain)[:3], one_sided_p(gain), one_sided_p(forced), *signs))
    columns = ["structure", "rule", "gain", "low", "high", "p", "p_forced", "better", "equal", "worse"]
    return pd.DataFrame(rows, columns=columns)


def work_ratios(frame, tuned="tuned"):
    """Work of cross-tuning over that of each rule without it: a row a data set and structure, a column a rule.

    A climb of no iteration counts as one.
    """
    passes = by_rule(frame, "passes").groupby(["dataset", "structure"], sort=False).mean()
    return passes[list(WITHOUT_TUNING)].clip(lower=1).rdiv(passes[tuned], axis=0)


def work_summary(ratios):
    """Geometric mean, least and largest of `work_ratios` over data sets: a row a structure and rule."""
    rows = [
        (structure, rule, np.exp(np.log(part[rule]).mean()), part[rule].min(), part[rule].max())
        for structure, part in ratios.groupby("structure", sort=False)
        for rule in WITHOUT_TUNING
    ]
    return pd.DataFrame(rows, columns=["structure", "rule", "mean", "smallest", "largest"])


def seconds_ratios():
    """Table IX: seconds with cross-tuning over seconds without, a row a data set, columns naive and tan."""
    seconds = printed("ix").set_index(["dataset", "structure"]).drop("average", level="dataset")
    return (seconds["with"] / seconds["without"]).unstack("structure")


def _trial(split, repeat, structures, n_iterations, n_folds, entropy):
    data = split.data
    seed = repeat_seed(data.name, repeat, entropy)
    frames = []
    for fold, (train, test) in enumerate(split.splits(n_folds, keyed_seed(seed, 0))):
        codes, sizes = coded(data, train, test)
        n_inner = min(n_folds, len(train))
        inner = np.random.default_rng(keyed_seed(seed, 1, fold)).permutation(len(train)) % n_inner
        folds = np.append(inner, np.full(len(test), n_inner))
        for structure in structures:
            found = _stopped(codes, sizes, folds, n_inner, structure, n_iterations)
            frames.append(found.assign(fold=fold, structure=structure, n_test=len(test)))
    return pd.concat(frames, ignore_index=True).assign(dataset=data.name, repeat=repeat)[_COLUMNS]


_COLUMNS = [*KEYS, "stopping", "n_iterations", "error", "resubstitution", "passes", "n_test"]


def _stopped(codes, sizes, folds, n_folds, structure, n_iterations):
    """Iterations, errors and work of every rule, from one long climb and `n_folds` short ones."""
    training = folds < n_folds
    n = len(sizes) - 1
    parents = graphs.naive(n) if structure == "naive" else graphs.tan_from_codes(codes[training], sizes)
    rows, index = merged(codes[:, 1:], sizes[1:])
    counts = fold_counts(index, codes[:, 0], folds, (n_folds + 1, len(rows), int(sizes[0])))
    train, test = counts[:-1].sum(axis=0), counts[-1]
    cases = Cases(Network(parents, sizes), rows, train + test).weighted(train)
    resubstitution, held_out = climb(cases, "elr", CAP, watched=np.array([train, test])).errors.T
    errors = tuning_errors(cases, "elr", counts[:-1], n_iterations)
    return _rules(resubstitution, held_out, errors, n_iterations, counts[:-1].sum(axis=(1, 2)))


def _rules(resubstitution, held_out, errors, n_iterations, fold_sizes):
    last = len(held_out) - 1
    forced, short = min(1, last), held_out[: n_iterations + 1]
    stops = {
        "start": 0,
        "tuned": choose_iterations(errors)[0],
        "tuned_forced": choose_iterations(errors, allow_zero=False)[0],
        "fixed": n_iterations,
        "greedy": greedy(resubstitution),
        "converged": last,
        "best": np.argmin(short),
        "best_forced": forced + np.argmin(short[forced:]),
    }
    each = np.arange(n_iterations + 1)
    reached = np.minimum([*each, *stops.values()], last)
    size = fold_sizes.sum()
    tuning = np.isfinite(errors[:, 1:]).sum(axis=1) @ (size - fold_sizes) / size
    stopping = ["each"] * len(each) + list(stops)
    return pd.DataFrame(
        {
            "stopping": stopping,
            "n_iterations": [*each, *reached[len(each) :]],
            "error": held_out[reached],
            "resubstitution": resubstitution[reached],
            "passes": reached + tuning * np.char.startswith(stopping, "tuned"),
        }
    )


def greedy(resubstitution):
    """Iterations until the training error does not fall any more."""
    stays = np.flatnonzero(np.diff(resubstitution) >= 0)
    return int(stays[0]) if len(stays) else len(resubstitution) - 1
