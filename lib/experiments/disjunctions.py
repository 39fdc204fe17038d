"""Winnow online on disjunctions: mistakes against the number of attributes, drift, and its single steps."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.naive_bayes import BernoulliNB

from lib.trials.context import check_workers
from lib.trials.legacy import run_trials
from lib.validation import at_least_one, check_choice, check_integer
from lib.winnow import Winnow
from lib.winnow.kernel import compiled_fast, doubled

INPUTS = ("dense", "sparse")
# irrelevant attributes active in an example of the sparse kind, whatever their number
N_ACTIVE = 16


def mistake_bound(n_attributes, n_relevant):
    """Littlestone's bound 2 + 3 r (1 + lg n) on Winnow's mistakes, for r = `n_relevant` of n = `n_attributes`.

    References
    ----------
    Theorem 1 of Dietterich, section 3.2.3.
    """
    return 2 + 3 * n_relevant * (1 + math.log2(n_attributes))


def mistakes_by_attributes(
    n_attributes=(100, 1000, 10_000),
    n_relevant=5,
    inputs=INPUTS,
    n_examples=5000,
    n_runs=10,
    seed=0,
    n_jobs=-1,
    engine="local",
):
    """Mistakes of Winnow and of the perceptron, online, while they learn a disjunction of few of n attributes.

    Each relevant attribute is active with the probability that makes half of the labels 1. Of the others each is
    active with that probability too ("dense"), or 16 draws of them are in every example ("sparse"). Winnow is that of
    the theorem: promotion 2, demotion 1/2, threshold n.

    Parameters
    ----------
    n_attributes : sequence of int, each more than n_relevant + 16
    n_relevant : int, 1 to 50
    inputs : sequence of {"dense", "sparse"}
    n_examples : int, at least 1
        Length of the stream; no example is seen twice.
    n_runs : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        n_attributes, inputs, run, learner ("winnow", "perceptron"), n_examples so far, mistakes so far.
    """
    check_integer("n_relevant", n_relevant, 1, 50)
    smallest = n_relevant + N_ACTIVE + 1
    sizes = [check_integer("n_attributes", n, smallest) for n in at_least_one("n_attributes", n_attributes)]
    kinds = [check_choice("inputs", kind, INPUTS) for kind in at_least_one("inputs", inputs)]
    check_integer("n_examples", n_examples, 1)
    check_integer("n_runs", n_runs, 1)
    check_workers(n_jobs, engine)
    trial = _Mistakes(tuple(sizes), n_relevant, tuple(kinds), n_examples)
    return run_trials(trial, n_runs, seed, n_jobs, engine, 5.0, "mistakes")


def adversary_mistakes(n_attributes, n_relevant):
    """Mistakes that a simple adversary forces: each relevant attribute alone, again and again, until Winnow says 1.

    Parameters
    ----------
    n_attributes, n_relevant : int
        n and r, with r from 1 to n.

    Returns
    -------
    int
        r (1 + floor(lg n)), about a third of the bound.
    """
    one_by_one = np.eye(n_relevant, n_attributes, dtype=np.uint8)
    learner = theorem_winnow(n_attributes)
    for _ in range(3 + int(math.log2(n_attributes))):
        learner.partial_fit(one_by_one, np.ones(n_relevant, dtype=int), classes=[0, 1])
    return learner.n_mistakes_


def theorem_winnow(n_attributes):
    """Winnow as Theorem 1 has it: promotion 2, demotion 1/2, threshold n, 1 predicted above the threshold."""
    return Winnow(promotion=2.0, demotion=0.5, threshold=float(n_attributes), inclusive=False)


def drift(n_attributes=1000, n_relevant=5, n_examples=2000, n_runs=30, seed=0, n_jobs=-1, chunk=25, engine="local"):
    """Error rate of online learners of a disjunction that half-way becomes one of other attributes.

    Parameters
    ----------
    n_attributes : int, at least 2 n_relevant + 16
    n_relevant : int, 1 to 50
    n_examples : int, at least 2 chunk
        Length of the stream.
    n_runs : int, at least 1
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    chunk : int, at least 1
        Examples over which an error rate is taken.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        run, part ("before" or "after" the change, which comes with the first chunk of the second half), learner
        ("winnow", "perceptron", "naive_bayes"), n_examples (at the end of a chunk), error (rate within it). Inputs are
        sparse. Naive Bayes counts all examples it has seen, and predicts a chunk before it counts it; its error
        is 1/2 in the first.
    """
    check_integer("n_relevant", n_relevant, 1, 50)
    check_integer("n_attributes", n_attributes, 2 * n_relevant + N_ACTIVE)
    check_integer("chunk", chunk, 1)
    check_integer("n_examples", n_examples, 2 * chunk)
    check_integer("n_runs", n_runs, 1)
    check_workers(n_jobs, engine)
    trial = _Drift(n_attributes, n_relevant, n_examples, chunk)
    return run_trials(trial, n_runs, seed, n_jobs, engine, 0.2, "drift")


def winnow_steps(X, y, **parameters):
    """Present the rows of `X` to Winnow one at a time.

    Parameters
    ----------
    X : ndarray of shape (n_steps, n_attributes)
    y : array-like of shape (n_steps,), 0 or 1
    parameters
        Of `lib.winnow.Winnow`.

    Returns
    -------
    frame : DataFrame
        step, label, z (before the update), update ("promotion", "demotion" or "none").
    weights : ndarray of shape (n_steps + 1, n_weights)
        Before the first step and after each.
    """
    if parameters.pop("complement", False):
        X = doubled(X)
    learner, rows, weights = Winnow(**parameters), [], [np.full(X.shape[1], parameters.get("initial_weight", 1.0))]
    for step, (x, label) in enumerate(zip(X, y, strict=True)):
        before = learner.n_updates_ if step else 0
        learner.partial_fit(x[None], [label], classes=[0, 1])
        updated = learner.n_updates_ > before
        update = ("promotion" if label else "demotion") if updated else "none"
        rows.append((step, int(label), float(x @ weights[-1]), update))
        weights.append(learner.weights_.copy())
    return pd.DataFrame(rows, columns=["step", "label", "z", "update"]), np.array(weights)


def active_probability(n_relevant):
    """The probability of an active attribute with which a disjunction of r of them is true half of the time."""
    return 1 - 0.5 ** (1 / n_relevant)


def _rows(n, n_relevant, kind, size, rng):
    """Rows (size, n) of 0 and 1; the first n_relevant attributes are those that may count."""
    p = active_probability(n_relevant)
    if kind == "dense":
        return _bits(size, n, p, rng)
    X = np.zeros((size, n), dtype=np.uint8)
    X[:, :n_relevant] = _bits(size, n_relevant, p, rng)
    X[np.arange(size)[:, None], rng.integers(n_relevant, n, (size, N_ACTIVE))] = 1
    return X


def _bits(size, n, p, rng):
    """Bits (size, n) that are 1 with probability p, to 1 / 65536."""
    draws = rng.integers(2**32, size=(size * n + 1) // 2, dtype=np.uint32).view(np.uint16)[: size * n]
    return (draws < round(65536 * p)).view(np.uint8).reshape(size, n)


@compiled_fast
def _perceptron(rows, positive, weights):
    """Present rows (s, n) once; weights (n + 1,), the bias last, are updated in place. Returns wrong predictions.

    The weights are whole numbers, so that their sums are exact in any order.
    """
    mistakes = 0
    n = rows.shape[1]
    for i in range(rows.shape[0]):
        z = weights[n]
        for j in range(n):
            z += weights[j] if rows[i, j] else 0.0
        if (z > 0) != positive[i]:
            mistakes += 1
            step = 1.0 if positive[i] else -1.0
            weights[n] += step
            for j in range(n):
                weights[j] += step if rows[i, j] else 0.0
    return mistakes


@dataclass(frozen=True)
class _Mistakes:
    n_attributes: tuple
    n_relevant: int
    inputs: tuple
    n_examples: int

    def __call__(self, index, seed):
        streams = [(n, kind) for n in self.n_attributes for kind in self.inputs]
        frames = [
            self._stream(n, kind, np.random.default_rng(state)).assign(n_attributes=n, inputs=kind, run=index)
            for (n, kind), state in zip(streams, seed.spawn(len(streams)), strict=True)
        ]
        columns = ["n_attributes", "inputs", "run", "learner", "n_examples", "mistakes"]
        return pd.concat(frames, ignore_index=True)[columns]

    def _stream(self, n, kind, rng):
        learner, weights, mistakes, rows = theorem_winnow(n), np.zeros(n + 1), 0, []
        size = max(1, self.n_examples // 40)
        for start in range(0, self.n_examples, size):
            X = _rows(n, self.n_relevant, kind, min(size, self.n_examples - start), rng)
            y = X[:, : self.n_relevant].any(axis=1)
            learner.partial_fit(X, y.astype(int), classes=[0, 1])
            mistakes += _perceptron(X, y, weights)
            rows += [("winnow", start + len(X), learner.n_mistakes_), ("perceptron", start + len(X), mistakes)]
        return pd.DataFrame(rows, columns=["learner", "n_examples", "mistakes"])


@dataclass(frozen=True)
class _Drift:
    n_attributes: int
    n_relevant: int
    n_examples: int
    chunk: int

    def __call__(self, index, seed):
        rng, r = np.random.default_rng(seed), self.n_relevant
        winnow, bayes = theorem_winnow(self.n_attributes), BernoulliNB(binarize=None)
        weights = np.zeros(self.n_attributes + 1)
        rows = []
        for start in range(0, self.n_examples, self.chunk):
            # twice as many attributes may count; the first half does before the change, the second half after it
            X = self._chunk(min(self.chunk, self.n_examples - start), rng)
            part = "before" if start < self.n_examples // 2 else "after"
            relevant = slice(0, r) if part == "before" else slice(r, 2 * r)
            y = X[:, relevant].any(axis=1)
            before = winnow.n_mistakes_ if start else 0
            wrong = (bayes.predict(X) != y).sum() if start else len(y) / 2
            winnow.partial_fit(X, y.astype(int), classes=[0, 1])
            bayes.partial_fit(X, y.astype(int), classes=[0, 1])
            errors = (winnow.n_mistakes_ - before, _perceptron(X, y, weights), wrong)
            names = ("winnow", "perceptron", "naive_bayes")
            rows += [(index, part, name, start + len(X), e / len(X)) for name, e in zip(names, errors, strict=True)]
        return pd.DataFrame(rows, columns=["run", "part", "learner", "n_examples", "error"])

    def _chunk(self, size, rng):
        n_counting = 2 * self.n_relevant
        X = _rows(self.n_attributes, n_counting, "sparse", size, rng)
        X[:, :n_counting] = _bits(size, n_counting, active_probability(self.n_relevant), rng)
        return X
