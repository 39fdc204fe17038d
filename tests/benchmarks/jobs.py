"""The jobs: each runs ours and the peer in turn on the same data and returns rows of results."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from river import linear_model
from scipy import sparse
from sklearn.linear_model import Perceptron
from stepmix import StepMix

from lib.cia import sample_cia
from lib.experiments import SIZES, cia_learning_curves, uci_comparison
from lib.latent_class import LatentClassEM
from lib.trials.engine import _pool
from lib.winnow import Winnow
from tests.benchmarks.run import seconds

REPETITIONS = 7
CALLS = 50
SIZE = 1000
AGREEMENT = 1e-6


def sample():
    """Rows of one CIA(75, 2, 0.9)."""
    model = sample_cia(75, 2, 0.9, np.random.default_rng(0))
    X, y, _ = model.sample(SIZE, np.random.default_rng(1))
    return X, y


def alternate(*calls, repetitions=REPETITIONS):
    """Seconds of each call (repetitions, calls), in turn and in one thread, after one round that warms up."""
    with warnings.catch_warnings():
        # StepMix and scikit-learn warn that iterations were too few
        warnings.simplefilter("ignore")
        for call in calls:
            call()
        return np.array([[seconds(call) for call in calls] for _ in range(repetitions)])


def row(job, ours, peer, unit, target, aim):
    """The fastest repetitions of both and their ratio, and the median and range of the ratios of those in turn.

    Fewer seconds are better; all else is a rate.
    """
    better, best = (lambda a, b: b / a, np.min) if unit == "s" else (lambda a, b: a / b, np.max)
    ratios, own, theirs = better(ours, peer), best(ours), best(peer)
    measured = {
        "ours": own,
        "peer": theirs,
        "ratio": better(own, theirs),
        "ratio_median": np.median(ratios),
    }
    measured |= {"ratio_low": ratios.min(), "ratio_high": ratios.max()}
    numbers = {name: float(f"{value:.4g}") for name, value in measured.items()}
    return {"job": job, **numbers, "unit": unit, "target": target, "aim": aim}


def alone(job, ours, unit, target):
    """A job without a peer."""
    nothing = dict.fromkeys(("peer", "ratio", "ratio_median", "ratio_low", "ratio_high"))
    return {
        "job": job,
        "ours": float(f"{ours:.4g}"),
        **nothing,
        "unit": unit,
        "target": target,
        "aim": None,
    }


def peak(size=1_000, repetitions=20):
    """Billions of floating-point operations a second of one core in a product of matrices, as EM has them."""
    matrix = np.random.default_rng(0).random((size, size), np.float32)
    return 2e-9 * size**3 / alternate(lambda: matrix @ matrix, repetitions=repetitions).min()


def em():
    """EM from 20 starts of at most 200 iterations, against StepMix."""
    X, y = sample()
    rows = np.column_stack([y, X]).astype(float)
    settings = {
        "n_init": 20,
        "max_iter": 200,
        "abs_tol": 0,
        "rel_tol": 0,
        "verbose": 0,
        "progress_bar": 0,
    }
    peer = StepMix(n_components=2, measurement="bernoulli", random_state=0, **settings)
    every = LatentClassEM(n_restarts=20, max_iterations=200, tolerance=0, random_state=0)
    dropping = LatentClassEM(n_restarts=20, max_iterations=200, random_state=0)
    times = alternate(lambda: every.fit(X, y), lambda: dropping.fit(X, y), lambda: peer.fit(rows))
    likelihoods = [every.log_likelihood_, dropping.log_likelihood_, float(peer.score(rows)) * SIZE]
    difference = (max(likelihoods) - min(likelihoods)) / abs(likelihoods[-1])
    if not difference <= AGREEMENT:
        raise AssertionError(f"best log likelihoods differ: {likelihoods}")
    names = ("every_iteration", "converged_runs_dropped", "stepmix")
    agreement = {
        "log_likelihood": dict(zip(names, likelihoods, strict=True)),
        "relative_difference": difference,
    }
    made = []
    for i, what in enumerate(("every iteration", "converged runs dropped")):
        job = f"EM, 20 starts of 200 iterations, {what}; StepMix"
        made.append(row(job, times[:, i], times[:, 2], "s", 60, 150))
    # iterations of two products, each of a sum and a product
    operations = 200 * 2 * 2 * SIZE * (X.shape[1] + 1) * 20
    rate, largest = 1e-9 * operations / times[:, 0].min(), peak()
    made.append(alone("EM, every iteration: its two products", rate, "billion operations/s", None))
    made.append(
        alone(
            "the core's peak, a product of two matrices of 1,000 x 1,000",
            largest,
            "billion operations/s",
            None,
        )
    )
    return made, agreement


def winnow(n_passes=200, n_calls=10):
    """Passes over the same 150 doubled attributes, against scikit-learn's Perceptron; each called often in a row."""
    X, y = sample()
    doubled = np.hstack([X, 1 - X]).astype(float)
    peer = Perceptron(max_iter=n_passes, tol=None, shuffle=False)
    basic = Winnow(promotion=1.015, complement=True, n_passes=n_passes)
    thick = Winnow(promotion=1.015, complement=True, n_passes=n_passes, margin=None, average=True)
    learners = (basic, X), (thick, X), (peer, doubled)
    in_a_row = [
        lambda one=one, rows=rows: [one.fit(rows, y) for _ in range(n_calls)]
        for one, rows in learners
    ]
    times = alternate(*in_a_row) / n_calls
    if peer.n_iter_ != n_passes or basic._n_presented != n_passes * SIZE:
        raise AssertionError(f"Perceptron made {peer.n_iter_} passes in place of {n_passes}")
    visits = n_passes * SIZE / times / 1e6
    made = []
    for i, what in enumerate(("Winnow", "thick, averaged Winnow")):
        job = f"{what}, 150 weights; Perceptron"
        made.append(row(job, visits[:, i], visits[:, 2], "million visits/s", 4, 8))
    return made


def one_hot(n_attributes, n_values, size):
    """Rows with one of n_values ones for each attribute, drawn from different distributions in the two classes."""
    rng = np.random.default_rng(0)
    y = rng.random(size) < 0.4
    below = rng.dirichlet(np.ones(n_values), (2, n_attributes)).cumsum(axis=-1)[:, :, :-1]
    codes = [(rng.random((n_attributes, 1)) > below[int(label)]).sum(axis=-1) for label in y]
    columns = (np.array(codes) + n_values * np.arange(n_attributes)).astype(np.int32)
    pointers = np.arange(0, columns.size + 1, n_attributes, dtype=np.int32)
    shape = size, n_attributes * n_values
    return sparse.csr_array(
        (np.ones(columns.size, np.uint8), columns.ravel(), pointers), shape=shape
    ), y


def plain_winnow(rows, labels, n_weights, threshold):
    """Winnow2 in plain Python as the algorithm is written, over all attributes: weights and number of mistakes."""
    weights, mistakes = [1.0] * n_weights, 0
    for row, label in zip(rows, labels, strict=True):
        z = sum(w for w, active in zip(weights, row, strict=True) if active)
        if (z >= threshold) != label:
            mistakes += 1
            factor = 2.0 if label else 0.5
            weights = [w * factor if active else w for w, active in zip(weights, row, strict=True)]
    return weights, mistakes


def plain_active_winnow(rows, labels, n_weights, threshold):
    """Winnow2 in plain Python over lists of active attributes."""
    weights, mistakes = [1.0] * n_weights, 0
    for row, label in zip(rows, labels, strict=True):
        z = 0.0
        for j in row:
            z += weights[j]
        if (z >= threshold) != label:
            mistakes += 1
            factor = 2.0 if label else 0.5
            for j in row:
                weights[j] *= factor
    return weights, mistakes


def river_perceptron(rows, labels):
    """The Perceptron of river on dictionaries, one example at a time."""
    model = linear_model.Perceptron()
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    return model


def online(n_attributes, n_values, size, dense, few):
    """One pass of Winnow over one-hot attributes, against plain Python (all attributes: of `few` rows) and river."""
    X, y = one_hot(n_attributes, n_values, size)
    n_weights, threshold, labels = X.shape[1], 1.5 * n_attributes, y.tolist()
    lists, names = (
        [row.tolist() for row in np.split(X.indices, X.indptr[1:-1])],
        [f"x{j}" for j in range(n_weights)],
    )
    dictionaries = [{names[j]: 1.0 for j in row} for row in lists]
    full, data = X[:few].toarray().tolist(), X.toarray() if dense else X

    def ours(rows=size):
        return Winnow(threshold=threshold).partial_fit(data[:rows], y[:rows], classes=[False, True])

    rule = (labels, n_weights, threshold)
    peers = {
        "plain Python": (few, 100, lambda: plain_winnow(full, labels[:few], n_weights, threshold)),
        "plain Python, active ones only": (size, None, lambda: plain_active_winnow(lists, *rule)),
        "river's Perceptron": (size, 50, lambda: river_perceptron(dictionaries, labels)),
    }
    for rows, _, peer in list(peers.values())[:2]:
        learner, (weights, mistakes) = ours(rows), peer()
        if learner.n_mistakes_ != mistakes or learner.weights_.tolist() != weights:
            raise AssertionError(
                f"Winnow and plain Python differ: {learner.n_mistakes_} and {mistakes} mistakes"
            )

    def ours_often():  # for as long as a peer's turn takes, which would else find warmer caches
        for _ in range(CALLS):
            ours()

    times = alternate(ours_often, *(peer for _, _, peer in peers.values()))
    own = CALLS * size / times[:, 0] / 1e6
    made = []
    for i, (name, (rows, target, _)) in enumerate(peers.items(), 1):
        theirs = rows / times[:, i] / 1e6
        job = f"Winnow, one pass, {n_weights:,} weights{'' if dense else ', CSR'}; {name}"
        made.append(row(job, own, theirs, "million visits/s", target, None))
    return made


def compiling():
    """Seconds that the first fit of a Bayesian network takes in an empty cache, beyond those of the second."""
    code = (
        "import numpy as np; from lib.bayes_net import BayesNetClassifier; X = np.eye(8); X[0, 0] = np.nan;"
        "BayesNetClassifier('tan').fit(X, np.arange(8) % 2)"
    )
    with tempfile.TemporaryDirectory() as folder:
        spent = [resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime]
        for _ in range(2):
            subprocess.run(
                [sys.executable, "-c", code],
                check=True,
                env=os.environ | {"NUMBA_CACHE_DIR": folder},
            )
            spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
    first, second = np.diff(spent)
    return [alone("first fit of a Bayesian network, which compiles", first - second, "s", None)]


def panels():
    """All six panels of Grove & Roth's figures: wall time, and peak memory of this process and its workers."""
    n_jobs = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall = seconds(
            lambda: cia_learning_curves(
                [10, 75], [2, 3, 5], 0.9, sizes=SIZES, n_models=100, n_jobs=n_jobs
            ),
            time.perf_counter,
        )
    # its workers are there still, and are no children of this process
    pool = _pool(n_jobs, tuple(os.environ.items()))
    usages = [pool.submit(resource.getrusage, resource.RUSAGE_SELF) for _ in range(10 * n_jobs)]
    own, worker = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        max(u.result().ru_maxrss for u in usages),
    )
    scale = 1 if sys.platform == "darwin" else 1024
    job, memory = (
        f"six panels, {len(SIZES)} sizes, 100 models, 2 workers",
        scale * (own + n_jobs * worker) / 2**30,
    )
    return [alone(f"{job}: time", wall, "s", 360), alone(f"{job}: peak memory", memory, "GiB", 2)]


def cross_validation():
    """The learners of Atlas on his five data sets, 100 shuffles of 5 folds: wall time with 2 workers."""
    uci_comparison(n_repeats=1, n_jobs=2)  # compiles
    wall = seconds(lambda: uci_comparison(n_repeats=100, n_jobs=2), time.perf_counter)
    return [alone("100 shuffles, 5 folds, 5 data sets, 3 learners, 2 workers: time", wall, "s", 60)]
