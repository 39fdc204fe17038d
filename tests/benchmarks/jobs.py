"""The jobs: each runs ours and the peer in turn on the same data and returns rows of results."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial

import numpy as np
from river import linear_model
from scipy import sparse
from sklearn.base import clone
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
    """Seconds of each call (repetitions, calls), in turn, in one thread, after a warm-up."""
    with warnings.catch_warnings():
        # StepMix and scikit-learn warn that iterations were too few
        warnings.simplefilter("ignore")
        for call in calls:
            call()
        return np.array([[seconds(call) for call in calls] for _ in range(repetitions)])


def row(job, ours, peer, unit, target, aim):
    """The fastest repetitions and their ratio; the median and range of the ratios of pairs in turn.

    Fewer seconds are better; all else is a rate.
    """
    if unit == "s":
        ratios = peer / ours
        best_ours = ours.min()
        best_peer = peer.min()
        ratio = best_peer / best_ours
    else:
        ratios = ours / peer
        best_ours = ours.max()
        best_peer = peer.max()
        ratio = best_ours / best_peer
    values = {
        "ours": best_ours,
        "peer": best_peer,
        "ratio": ratio,
        "ratio_median": np.median(ratios),
        "ratio_low": ratios.min(),
        "ratio_high": ratios.max(),
    }
    numbers = {name: float(f"{value:.4g}") for name, value in values.items()}
    return {"job": job, **numbers, "unit": unit, "target": target, "aim": aim}


def alone(job, ours, unit, target):
    """A job without a peer."""
    return {
        "job": job,
        "ours": float(f"{ours:.4g}"),
        "peer": None,
        "ratio": None,
        "ratio_median": None,
        "ratio_low": None,
        "ratio_high": None,
        "unit": unit,
        "target": target,
        "aim": None,
    }


def peak(size=1_000, repetitions=20):
    """Billions of operations a second of one core in a product of matrices, as EM has them."""
    matrix = np.random.default_rng(0).random((size, size), np.float32)
    return 2e-9 * size**3 / alternate(lambda: matrix @ matrix, repetitions=repetitions).min()


def em():
    """EM from 20 starts of at most 200 iterations, against StepMix."""
    X, y = sample()
    rows = np.column_stack([y, X]).astype(float)
    peer = StepMix(
        n_components=2,
        measurement="bernoulli",
        random_state=0,
        n_init=20,
        max_iter=200,
        abs_tol=0,
        rel_tol=0,
        verbose=0,
        progress_bar=0,
    )
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
    results = []
    for i, variant in enumerate(("every iteration", "converged runs dropped")):
        job = f"EM, 20 starts of 200 iterations, {variant}; StepMix"
        results.append(row(job, times[:, i], times[:, 2], "s", 60, 150))
    # iterations of two products, each of a sum and a product
    operations = 200 * 2 * 2 * SIZE * (X.shape[1] + 1) * 20
    rate = 1e-9 * operations / times[:, 0].min()
    unit = "billion operations/s"
    results.append(alone("EM, every iteration: its two products", rate, unit, None))
    job = "the core's peak, a product of two matrices of 1,000 x 1,000"
    results.append(alone(job, peak(), unit, None))
    return results, agreement


def winnow(n_passes=200, n_calls=10):
    """Passes over the same 150 doubled attributes, beside scikit-learn's Perceptron."""
    X, y = sample()
    doubled = np.hstack([X, 1 - X]).astype(float)
    peer = Perceptron(max_iter=n_passes, tol=None, shuffle=False)
    basic = Winnow(promotion=1.015, complement=True, n_passes=n_passes, shuffle=False)
    thick = clone(basic).set_params(margin=None, average=True)

    def fit_often(learner, rows):
        for _ in range(n_calls):
            learner.fit(rows, y)

    learners = ((basic, X), (thick, X), (peer, doubled))
    times = alternate(*[partial(fit_often, *learner) for learner in learners]) / n_calls
    if peer.n_iter_ != n_passes or basic._n_presented != n_passes * SIZE:
        raise AssertionError(f"Perceptron made {peer.n_iter_} passes in place of {n_passes}")
    visits = n_passes * SIZE / times / 1e6
    results = []
    for i, variant in enumerate(("Winnow", "thick, averaged Winnow")):
        job = f"{variant}, 150 weights; Perceptron"
        results.append(row(job, visits[:, i], visits[:, 2], "million visits/s", 4, 8))
    return results


def one_hot(n_attributes, n_values, size):
    """Rows with one of n_values ones for each attribute, distributed by the class."""
    rng = np.random.default_rng(0)
    y = rng.random(size) < 0.4
    # a value is the number of cumulated probabilities that a random number exceeds
    cumulated = rng.dirichlet(np.ones(n_values), (2, n_attributes)).cumsum(axis=-1)[:, :, :-1]
    codes = [(rng.random((n_attributes, 1)) > cumulated[int(label)]).sum(axis=-1) for label in y]
    columns = (np.array(codes) + n_values * np.arange(n_attributes)).astype(np.int32)
    pointers = np.arange(0, columns.size + 1, n_attributes, dtype=np.int32)
    ones = np.ones(columns.size, np.uint8)
    shape = (size, n_attributes * n_values)
    return sparse.csr_array((ones, columns.ravel(), pointers), shape=shape), y


def plain_winnow(rows, labels, n_weights, threshold):
    """Winnow2 in plain Python, over all attributes: weights and number of mistakes."""
    weights = [1.0] * n_weights
    mistakes = 0
    for row, label in zip(rows, labels, strict=True):
        z = sum(w for w, active in zip(weights, row, strict=True) if active)
        if (z >= threshold) != label:
            mistakes += 1
            factor = 2.0 if label else 0.5
            weights = [w * factor if active else w for w, active in zip(weights, row, strict=True)]
    return weights, mistakes


def plain_active_winnow(rows, labels, n_weights, threshold):
    """Winnow2 in plain Python over lists of active attributes."""
    weights = [1.0] * n_weights
    mistakes = 0
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
    """One pass of Winnow over one-hot attributes, against plain Python and river."""
    X, y = one_hot(n_attributes, n_values, size)
    n_weights = X.shape[1]
    threshold = 1.5 * n_attributes
    labels = y.tolist()
    active_lists = [row.tolist() for row in np.split(X.indices, X.indptr[1:-1])]
    names = [f"x{j}" for j in range(n_weights)]
    dictionaries = [{names[j]: 1.0 for j in row} for row in active_lists]
    full_rows = X[:few].toarray().tolist()
    data = X.toarray() if dense else X

    def ours(rows=size):
        return Winnow(threshold=threshold).partial_fit(data[:rows], y[:rows], classes=[False, True])

    plain = partial(plain_winnow, full_rows, labels[:few], n_weights, threshold)
    plain_active = partial(plain_active_winnow, active_lists, labels, n_weights, threshold)
    # how many rows each reads, and how many times as fast we want to be
    peers = {
        "plain Python": (few, 100, plain),
        "plain Python, active ones only": (size, None, plain_active),
        "river's Perceptron": (size, 50, partial(river_perceptron, dictionaries, labels)),
    }
    for rows, peer in ((few, plain), (size, plain_active)):
        learner = ours(rows)
        weights, mistakes = peer()
        if learner.n_mistakes_ != mistakes or learner.weights_.tolist() != weights:
            raise AssertionError(
                f"Winnow and plain Python differ: {learner.n_mistakes_} and {mistakes} mistakes"
            )

    def ours_often():  # for as long as a peer's turn takes, which would else find warmer caches
        for _ in range(CALLS):
            ours()

    times = alternate(ours_often, *(peer for _, _, peer in peers.values()))
    our_rate = CALLS * size / times[:, 0] / 1e6
    form = "" if dense else ", CSR"
    results = []
    for i, (name, (rows, target, _)) in enumerate(peers.items(), 1):
        peer_rate = rows / times[:, i] / 1e6
        job = f"Winnow, one pass, {n_weights:,} weights{form}; {name}"
        results.append(row(job, our_rate, peer_rate, "million visits/s", target, None))
    return results


def compiling():
    """Seconds of the first fit of a Bayesian network with an empty cache, beyond the second's."""
    code = (
        "import numpy as np; from lib.bayes_net import BayesNetClassifier;"
        " X = np.eye(8); X[0, 0] = np.nan;"
        "BayesNetClassifier('tan').fit(X, np.arange(8) % 2)"
    )
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as folder:
        spent = [resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime]
        for _ in range(2):
            subprocess.run(command, check=True, env=os.environ | {"NUMBA_CACHE_DIR": folder})
            spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
    first, second = np.diff(spent)
    return [alone("first fit of a Bayesian network, which compiles", first - second, "s", None)]


def panels():
    """All six panels of Grove & Roth's figures: wall time, peak memory of all processes."""
    n_jobs = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curves = partial(
            cia_learning_curves, [10, 75], [2, 3, 5], 0.9, sizes=SIZES, n_models=100, n_jobs=n_jobs
        )
        wall = seconds(curves, time.perf_counter)
    # its workers are there still, and are no children of this process
    pool = _pool(n_jobs, tuple(os.environ.items()))
    usages = [pool.submit(resource.getrusage, resource.RUSAGE_SELF) for _ in range(10 * n_jobs)]
    main_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker_peak = max(usage.result().ru_maxrss for usage in usages)
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    memory = unit_bytes * (main_peak + n_jobs * worker_peak) / 2**30
    job = f"six panels, {len(SIZES)} sizes, 100 models, 2 workers"
    return [alone(f"{job}: time", wall, "s", 360), alone(f"{job}: peak memory", memory, "GiB", 2)]


def cross_validation():
    """The learners of Atlas on his five data sets, 100 shuffles of 5 folds: wall time."""
    uci_comparison(n_repeats=1, n_jobs=2)  # compiles
    wall = seconds(lambda: uci_comparison(n_repeats=100, n_jobs=2), time.perf_counter)
    return [alone("100 shuffles, 5 folds, 5 data sets, 3 learners, 2 workers: time", wall, "s", 60)]
