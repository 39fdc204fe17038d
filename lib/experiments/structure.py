"""Learning tables for a structure that is poorer or richer than the truth, with exact errors by enumeration."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib.bayes_net import Cases, Network, learn, tuning_errors
from lib.evaluation import mean_interval, one_sided_p_values, proportion_interval
from lib.structures import chain, naive
from lib.trials.context import check_workers
from lib.trials.legacy import run_trials
from lib.validation import at_least_one, check_choice, check_integer, check_real

N_FOLDS = 5
TUNED, CONVERGED = 20, 500
BAYES_NET_LEARNERS = {
    "ofe": {"learner": "ofe"},
    "elr": {"learner": "elr", "n_iterations": TUNED, "tuned": True},
    "elr_forced": {"learner": "elr", "n_iterations": TUNED, "tuned": True, "allow_zero": False},
    "elr_converged": {"learner": "elr", "n_iterations": CONVERGED},
    "em": {"learner": "em", "n_iterations": CONVERGED},
    "apn": {"learner": "apn", "n_iterations": TUNED, "tuned": True},
    "apn_forced": {"learner": "apn", "n_iterations": TUNED, "tuned": True, "allow_zero": False},
    "apn_converged": {"learner": "apn", "n_iterations": CONVERGED},
}
PRIOR, LIKELY, UNLIKELY = 0.9, 0.8, 0.2
PRINTED = Path(__file__).parents[2] / "data" / "paper" / "greiner_appendix_g.csv"


def structure_robustness(
    n_attributes=5,
    duplicates=range(6),
    n_instances=400,
    missing=0.0,
    learners=("ofe", "elr"),
    n_runs=30,
    seed=0,
    n_jobs=-1,
    test_missing=0.0,
    smoothing=1.0,
    engine="local",
):
    """Error of naive Bayes with learned tables when the first m attributes are copies of each other.

    Parameters
    ----------
    n_attributes : int from 1 to 8
        k: binary attributes E_1, ..., E_k.
    duplicates : sequence of int from 0 to n_attributes
        m: E_1 = E_2 = ... = E_m. With 0 and with 1 the naive Bayes structure is right.
    n_instances : int, at least 1
        Size of the training sample.
    missing : float in [0, 1)
        Probability with which each training value is removed.
    learners : sequence of str
        Names in `BAYES_NET_LEARNERS`.
    n_runs : int, at least 1
        Training samples.
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    test_missing : float in [0, 1)
        Probability with which each value is removed from the inputs that are to be classified.
    smoothing : float, at least 0
        Laplace's, as in `lib.bayes_net.BayesNetClassifier`.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        duplicates, run, learner, error (exact, by enumeration of all inputs), bayes_error (the smallest possible).

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Greiner et al. (2005), Appendix F and equation (2).
    """
    check_integer("n_instances", n_instances, 1)
    check_real("test_missing", test_missing, 0, 1, open_high=True)
    settings = {
        "missing": missing,
        "n_runs": n_runs,
        "seed": seed,
        "n_jobs": n_jobs,
        "smoothing": smoothing,
        "engine": engine,
    }
    settings |= {"sizes": [n_instances], "learners": learners, "tests": [test_missing]}
    frame = robustness_study(n_attributes, duplicates, **settings)
    return frame[["duplicates", "run", "learner", "error", "bayes_error"]]


def robustness_study(n_attributes=5, duplicates=range(6), **settings):
    """Do the same as `structure_robustness` for several sizes and several ways to remove values from test inputs.

    Parameters
    ----------
    n_attributes, duplicates
        As in `structure_robustness`.
    settings
        sizes, learners, missing, tests, n_runs, seed, n_jobs, smoothing, stopping, engine, as in `structure_study`.

    Returns
    -------
    DataFrame
        duplicates, and what `structure_study` returns.
    """
    n = check_integer("n_attributes", n_attributes, 1, 8)
    ms = [check_integer("duplicates", m, 0, n) for m in at_least_one("duplicates", duplicates)]
    scenes = [({"duplicates": m}, naive(n), duplicated_truth(n, m)) for m in ms]
    return structure_study(scenes, **settings)


def large_sample_errors(n_attributes=5, duplicates=range(6), missing=0.0, test_missing=0.0):
    """Error of naive Bayes as the training sample grows without end: tables learned from the truth itself.

    Parameters
    ----------
    n_attributes, duplicates, missing, test_missing
        As in `structure_robustness`.

    Returns
    -------
    DataFrame
        duplicates, learner ("ofe" or "elr_converged"), error, bayes_error.
    """
    n = check_integer("n_attributes", n_attributes, 1, 8)
    check_real("missing", missing, 0, 1, open_high=True)
    check_real("test_missing", test_missing, 0, 1, open_high=True)
    rows = []
    for m in at_least_one("duplicates", duplicates):
        labels = {"duplicates": check_integer("duplicates", m, 0, n)}
        scene = _Scene(labels, naive(n_attributes), duplicated_truth(n_attributes, m), missing, [test_missing])
        cases, _ = scene.cases.weighted(scene.training).present()
        for name in ("ofe", "elr_converged"):
            settings = BAYES_NET_LEARNERS[name]
            theta = learn(cases, settings["learner"], 5000, smoothing=0.0, tolerance=1e-9).theta
            error = round(scene.cases.weighted(scene.tests[test_missing]).error(theta), 12)
            rows.append(labels | {"learner": name, "error": error, "bayes_error": scene.bayes_errors[test_missing]})
    return pd.DataFrame(rows)


def irrelevant_truth_study(n_attributes=(6, 7), agreement=(1.0,), **settings):
    """Error of naive Bayes when the truth is only C = E_1, with probability `agreement`; E_2, ... are coins.

    Parameters
    ----------
    n_attributes : sequence of int from 1 to 8
    agreement : sequence of float in [0, 1]
        P(C = E_1).
    settings
        sizes, learners, missing, tests, n_runs, seed, n_jobs, smoothing, stopping, engine, as in `structure_study`.

    Returns
    -------
    DataFrame
        n_attributes, agreement, and what `structure_study` returns.

    References
    ----------
    Greiner et al. (2005), Appendix G, first experiment.
    """
    ns = [check_integer("n_attributes", n, 1, 8) for n in at_least_one("n_attributes", n_attributes)]
    parts = [check_real("agreement", a, 0, 1) for a in at_least_one("agreement", agreement)]
    scenes = [
        ({"n_attributes": n, "agreement": part}, naive(n), single_cause_truth(n, part)) for n in ns for part in parts
    ]
    return structure_study(scenes, **settings)


def richer_model_study(n_attributes=5, linked=(2, 3, 4, 5), **settings):
    """Error of naive Bayes with E_1, ..., E_m in a chain besides, when the truth is plain naive Bayes.

    Parameters
    ----------
    n_attributes : int from 1 to 8
    linked : sequence of int from 0 to n_attributes
        m of the structure P_m.
    settings
        sizes, learners, missing, tests, n_runs, seed, n_jobs, smoothing, stopping, engine, as in `structure_study`.

    Returns
    -------
    DataFrame
        linked, and what `structure_study` returns.

    References
    ----------
    Greiner et al. (2005), Appendix G, second experiment.
    """
    n = check_integer("n_attributes", n_attributes, 1, 8)
    ms = [check_integer("linked", m, 0, n) for m in at_least_one("linked", linked)]
    scenes = [({"linked": m}, chain(n, m), duplicated_truth(n, 0)) for m in ms]
    return structure_study(scenes, **settings)


def structure_study(
    scenes,
    sizes=(400,),
    learners=("ofe", "elr"),
    missing=0.0,
    tests=(0.0,),
    n_runs=10,
    seed=0,
    n_jobs=1,
    smoothing=1.0,
    stopping=TUNED,
    description=None,
    engine="local",
):
    """Exact errors of learners that fill the tables of a structure from samples of a truth.

    Parameters
    ----------
    scenes : sequence of (labels, parents, truth)
        Columns that tell the scene, the structure, and P(x, c) of all binary inputs in order, (2^n, 2).
    sizes : sequence of int
        Sizes of training samples; in a run, smaller ones are the beginning of larger ones.
    learners : sequence of str
        Names in `BAYES_NET_LEARNERS`.
    missing : float in [0, 1)
        Probability with which each training value is removed.
    tests : sequence of float in [0, 1)
        Probabilities with which values are removed from the inputs to be classified.
    n_runs : int, at least 1
        Training samples.
    seed : int, at least 0
        All scenes of a run have the same stream of random numbers.
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    smoothing : float, at least 0
    stopping : int, at least 1
        Most iterations among which cross-tuning chooses.
    description : str, optional
        Of the progress bar.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        The scene's labels, size, run, learner, test, error, bayes_error, n_iterations. Errors are rounded to twelve
        places, so that sums of the same probabilities are equal.
    """
    check_workers(n_jobs, engine)
    sizes = [check_integer("sizes", size, 1) for size in at_least_one("sizes", sizes)]
    names = [check_choice("learners", name, BAYES_NET_LEARNERS) for name in at_least_one("learners", learners)]
    rates = [check_real("tests", rate, 0, 1, open_high=True) for rate in at_least_one("tests", tests)]
    missing = check_real("missing", missing, 0, 1, open_high=True)
    check_real("smoothing", smoothing, 0)
    check_integer("n_runs", n_runs, 1)
    check_integer("stopping", stopping, 1)
    scenes = [_Scene(*scene, missing, rates) for scene in scenes]
    trial = partial(_trial, scenes=scenes, sizes=sizes, learners=names, smoothing=smoothing, stopping=stopping)
    return run_trials(trial, n_runs, seed, n_jobs, engine, 0.5, description or "structures")


def compare_learners(frame, better, worse, runs=10, p=0.05):
    """How much smaller the error of one learner is, and how often a small experiment shows it.

    Parameters
    ----------
    frame : DataFrame
        As `structure_study` returns it, with all learners on the same samples.
    better, worse : str
        Learners in `frame`.
    runs : int, at least 2
        Runs of one experiment; consecutive runs are taken together, those that are left over not at all.
    p : float in (0, 1)
        Level of each experiment's one-sided paired t-test over its scenes, sizes and runs.

    Returns
    -------
    difference : Estimate
        Mean error of `worse` less that of `better`, with the interval over runs.
    share : Estimate
        Part of the experiments with a p-value below `p`, with Wilson's interval.
    """
    for name, learner in (("better", better), ("worse", worse)):
        check_choice(name, learner, frame["learner"].unique())
    wide = frame.pivot_table(
        index="run", columns=["learner", *_labels(frame), "size", "test"], values="error", sort=False
    )
    differences = (wide[worse] - wide[better]).to_numpy()
    n_experiments = len(differences) // check_integer("runs", runs, 2)
    experiments = differences[: n_experiments * runs].reshape(n_experiments, runs * differences.shape[1])
    n_found = int((one_sided_p_values(experiments) < p).sum()) if n_experiments else 0
    return mean_interval(differences.mean(axis=1)), proportion_interval(n_found, n_experiments)


def compare_printed(printed, frames, readings, runs=10):
    """Test each comparison that the paper prints, under each reading of it.

    Parameters
    ----------
    printed : DataFrame
        id, study, better, worse, p and quote, as `printed_comparisons` returns it.
    frames : dict of study -> dict of variant -> DataFrame
        Results of `structure_study`; a study may have variants, named by words or "".
    readings : dict of reading -> dict of learner of the paper -> learner of `frames`
    runs : int, at least 2
        Runs of one experiment.

    Returns
    -------
    DataFrame
        id, study, variant, reading, comparison, p, quote; difference, low, high, n of the mean error of the worse less
        that of the better; share, share_low, share_high of n_experiments in which a p-value below p comes out.
    """
    rows = []
    for row in printed.itertuples():
        for variant, frame in frames[row.study].items():
            for reading, names in readings.items():
                better, worse = (names.get(name, name) for name in (row.better, row.worse))
                difference, share = compare_learners(frame, better, worse, runs, row.p)
                about = {"id": row.id, "study": row.study, "variant": variant, "reading": reading}
                about |= {"comparison": row.comparison + (f" ({variant})" if variant else ""), "p": row.p}
                about |= dict(zip(("difference", "low", "high", "n"), difference, strict=True))
                about |= dict(zip(("share", "share_low", "share_high", "n_experiments"), share, strict=True))
                rows.append(about | {"quote": row.quote})
    return pd.DataFrame(rows)


def printed_comparisons():
    """The p-values of Greiner et al. (2005), Appendix G: id, study, comparison, better, worse, p, quote."""
    return pd.read_csv(PRINTED)


def _labels(frame):
    known = ("size", "run", "learner", "test", "error", "bayes_error", "n_iterations")
    return [column for column in frame if column not in known]


def duplicated_truth(n_attributes, duplicates):
    """P_m(x, c) of all inputs, (2^n, 2): equation (2), but E_1, ..., E_m are copies; class 1 is +c."""
    x = inputs(n_attributes)
    own = x[:, [i for i in range(n_attributes) if i == 0 or i >= duplicates]].astype(bool)
    likelihoods = [np.where(own, p, 1 - p).prod(axis=1) for p in (LIKELY, UNLIKELY)]
    copies = (x[:, :duplicates] == x[:, :1]).all(axis=1)
    return np.column_stack(likelihoods) * [1 - PRIOR, PRIOR] * copies[:, None]


def single_cause_truth(n_attributes, agreement):
    """P(x, c) of all inputs, (2^n, 2): C is a fair coin and equals E_1 with probability `agreement`; others coins."""
    first = inputs(n_attributes)[:, :1]
    return np.where(first == [0, 1], agreement, 1 - agreement) / 2**n_attributes


def agreement_of_correlation(correlation):
    """P(C = E_1) of two fair coins with a correlation coefficient in [-1, 1]."""
    return (1 + correlation) / 2


def inputs(n_attributes, missing=False):
    """All binary inputs in order, (2^n, n), or with -1 for missing, (3^n, n)."""
    values = np.indices((3,) * n_attributes if missing else (2,) * n_attributes)
    return values.reshape(n_attributes, -1).T - int(missing)


def blocked(truth, rate):
    """P(e, c) of what is left to see when each value is removed with probability `rate`, (3^n, 2)."""
    n = (len(truth) - 1).bit_length()
    table = truth.reshape((2,) * n + (2,))
    for axis in range(n):
        unseen = rate * table.sum(axis=axis, keepdims=True)
        table = np.concatenate([unseen, (1 - rate) * table], axis=axis)
    return table.reshape(-1, 2)


class _Scene:
    """A structure and a truth, with the cases of all inputs and their probabilities."""

    def __init__(self, labels, parents, truth, missing, rates):
        incomplete = missing > 0 or any(rate > 0 for rate in rates)
        n = len(parents) - 1
        rows = inputs(n, incomplete)
        self.labels = labels
        self.cases = Cases(Network(parents, [2] * (n + 1)), rows, np.ones((len(rows), 2)))
        self.training = blocked(truth, missing) if incomplete else truth
        self.tests = {rate: blocked(truth, rate) if incomplete else truth for rate in rates}
        self.bayes_errors = {rate: round(float(p.min(axis=1).sum()), 12) for rate, p in self.tests.items()}


def _trial(run, seed, scenes, sizes, learners, smoothing, stopping):
    rows = []
    for scene in scenes:
        rng = np.random.default_rng(seed)
        drawn = rng.choice(scene.training.size, max(sizes), p=scene.training.ravel())
        for size in sizes:
            for name, learned in _learned(scene, drawn[:size], learners, smoothing, stopping):
                for rate, p in scene.tests.items():
                    error = round(scene.cases.weighted(p).error(learned.theta), 12)
                    outcome = {"error": error, "bayes_error": scene.bayes_errors[rate]}
                    rows.append(
                        {**scene.labels, "size": size, "run": run, "learner": name, "test": rate}
                        | outcome
                        | {"n_iterations": learned.n_iterations}
                    )
    return pd.DataFrame(rows)


def _learned(scene, drawn, learners, smoothing, stopping):
    """Each learner's tables from a sample, given as indices of inputs and classes."""
    shape, folds = scene.training.shape, np.arange(len(drawn)) % min(N_FOLDS, len(drawn))
    counts = np.bincount(drawn, minlength=scene.training.size).reshape(shape)
    cases, present = scene.cases.weighted(counts).present()
    held_out = [
        np.bincount(drawn[folds == f], minlength=counts.size).reshape(shape)[present] for f in range(max(folds) + 1)
    ]
    held_out, errors = np.array(held_out, dtype=float), {}
    for name in learners:
        settings = {"smoothing": smoothing} | BAYES_NET_LEARNERS[name]
        if settings.pop("tuned", False):
            settings["n_iterations"] = stopping
            if (key := settings["learner"]) not in errors:
                fixed = {k: v for k, v in settings.items() if k != "allow_zero"}
                errors[key] = tuning_errors(cases, held_out=held_out, **fixed) if len(held_out) > 1 else held_out[:0, 0]
            settings["errors"] = errors[key]
        yield name, learn(cases, **settings)
