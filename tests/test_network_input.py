"""Networks and latent classes given odd or bad input answer by distributions or a ValueError."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lib.bayes_net import (
    Cases,
    Network,
    ascend,
    choose_iterations,
    climb,
    fold_counts,
    observed_frequencies,
)
from lib.bayes_net.em import maximise_expectation
from lib.bayes_net.gibbs import gibbs_posterior, plain_gradient
from lib.latent_class import (
    LatentClassCovariance,
    LatentClassEM,
    LatentClassGibbs,
    LatentClassSelection,
)
from lib.structures import (
    bdeu_search,
    bic_from_codes,
    bic_search,
    check_parents,
    chow_liu,
    k2,
    tan,
    tan_from_codes,
)
from lib.structures.dirichlet import DirichletCounts
from lib.structures.information import JointCounts

NAN = np.nan
INF = np.inf
NETWORK = Network(((), (0,), (0,)), [2, 3, 2])
UNIFORM = NETWORK.softmax(np.zeros(12))
ROWS = np.random.default_rng(0).integers(0, [2, 3, 2], (30, 3))
CASES = Cases.from_rows(NETWORK, ROWS)
COUNTS = CASES.counts
RNG = np.random.default_rng(0)

# Tables: each function that takes them, and each way in which they can be none.
FUNCTIONS = {
    "gibbs_posterior": lambda theta: gibbs_posterior(NETWORK, theta, [-1, -1, 1], 2, RNG),
    "plain_gradient": lambda theta: plain_gradient(CASES, theta, 2),
    "maximise_expectation": lambda theta: maximise_expectation(CASES, theta, 2),
    "climb": lambda theta: climb(CASES, "elr", 2, first=theta),
    "log_joints": CASES.log_joints,
    "posterior": CASES.posterior,
    "error": CASES.error,
    "expected_counts": CASES.expected_counts,
}
NO_TABLES = [
    (np.where(np.arange(12) == 3, NAN, UNIFORM), "got nan in place 3"),
    (np.where(np.arange(12) == 3, INF, UNIFORM), "got inf in place 3"),
    (3 * UNIFORM, "row 0 of theta, in the table of variable 0, must have .*; got a sum of 3"),
    (np.append([-0.5, 1.5], UNIFORM[2:]), "row 0 of theta, in the .* variable 0, .*; got -0.5"),
    (np.append(UNIFORM[:10], [0.5, 0.6]), "row 4 of theta, in the .* variable 2, .* sum of 1.1"),
    (UNIFORM[:5], r"must have shape \(12,\); got \(5,\)"),
    (UNIFORM[None], r"must have shape \(12,\); got \(1, 12\)"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tables_must_be_probabilities(name):
    """As lists, in arrays that cannot be written, and with entries of 0 they are."""
    function = FUNCTIONS[name]
    for theta, words in NO_TABLES:
        with pytest.raises(ValueError, match=words):
            function(theta)
    read_only = UNIFORM.copy()
    read_only.setflags(write=False)
    certain = NETWORK.flat([[0, 1], np.eye(3)[:2], np.eye(2)])
    for theta in (UNIFORM.tolist(), read_only, certain):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*rules out joint values")
            function(theta)


EMPTY = CASES.weighted(np.zeros_like(COUNTS))
# Functions of a smoothing or of a tolerance.
WITH_NUMBER = (
    lambda s: observed_frequencies(CASES, s),
    lambda s: maximise_expectation(CASES, UNIFORM, 3, s),
    lambda s: maximise_expectation(CASES, UNIFORM, 3, tolerance=s),
    lambda s: ascend(CASES, np.zeros(12), 3, False, s),
    lambda s: ascend(CASES, np.zeros(12), 3, tolerance=s),
    lambda s: climb(CASES, "apn", 3, s),
    lambda s: CASES.value_and_gradient(np.zeros(12), True, s),
    lambda s: plain_gradient(CASES, UNIFORM, 3, tolerance=s),
)


def number_rows():
    """Calls with a smoothing or tolerance that is none, and words."""
    for value in (NAN, -1, INF, "1"):
        for function in WITH_NUMBER:
            yield partial(function, value), rf"(smoothing|tolerance) must be .* got '?{value}"


BAD = [
    (
        lambda: Network(((), ()), [2, 0]),
        "size of variable 1 must be an integer of at least 1; got 0",
    ),
    (lambda: Network(((), ()), [2, 2.5]), "size of variable 1 .* got 2.5"),
    (lambda: Network(((), ()), [2, NAN]), "size of variable 1 .* got nan"),
    (lambda: Network(((), ()), [2, -3]), "size of variable 1 .* got -3"),
    (lambda: Network(((),), 2), "sizes must be a sequence of integers, one a variable; got 2"),
    (lambda: Network(((), (0,)), [5000, 5000]), "at most 20,000,000 table entries"),
    (
        lambda: NETWORK.flat([[0.5, 0.5], np.full((3, 2), 0.5), np.full((2, 2), 0.5)]),
        r"got \[\(2,\), \(3, 2\), \(2, 2\)",
    ),
    (
        lambda: Cases(NETWORK, CASES.attributes, -COUNTS),
        "counts must be finite and at least 0; got -",
    ),
    (
        lambda: Cases(NETWORK, CASES.attributes, COUNTS * NAN),
        "counts must be finite and at least 0; got nan",
    ),
    (
        lambda: Cases(NETWORK, CASES.attributes, COUNTS.astype(str)),
        "counts must have shape .* and be numbers",
    ),
    (
        lambda: Cases(NETWORK, CASES.attributes + np.int64(2**32), COUNTS),
        "attributes must be from -1 to 2 in column 0; got 429496",
    ),
    (lambda: Cases(NETWORK, CASES.attributes + 0.5, COUNTS), "attributes must be integers"),
    (lambda: Cases(NETWORK, CASES.attributes * NAN, COUNTS), "attributes must be integers"),
    (
        lambda: Cases.from_rows(NETWORK, -ROWS),
        "from -1 to 2 in column 1; got -2|from 0 to 1 in column 0; got -1",
    ),
    (lambda: Cases.from_rows(NETWORK, None), "codes must be integers of shape"),
    (lambda: CASES.weighted(np.where(COUNTS, INF, 0)), "counts must be finite"),
    (
        lambda: Cases(NETWORK, CASES.attributes, 0 * COUNTS).weighted(COUNTS),
        "must be 0 where those of these cases were 0",
    ),
    (lambda: CASES.errors(np.zeros((1, 12)), COUNTS), "watched counts must have shape"),
    (lambda: ascend(EMPTY, np.zeros(12), 3), "cases must have a count above 0"),
    (lambda: maximise_expectation(EMPTY, UNIFORM, 3), "cases must have a count above 0"),
    (lambda: plain_gradient(EMPTY, UNIFORM, 3), "cases must have a count above 0"),
    (
        lambda: ascend(CASES, np.full(12, NAN), 3),
        "parameters must be finite numbers; got nan in place 0",
    ),
    (
        lambda: CASES.value_and_gradient(np.full(12, INF)),
        "parameters must be finite numbers; got inf in place 0",
    ),
    *number_rows(),
    (
        lambda: fold_counts([0, 1], [0, 5], [0, 1], (2, 2, 2)),
        "from 0 to 1 in column 2; got 5 in row 1",
    ),
    (lambda: choose_iterations([0.1, 0.2]), "errors must have shape"),
    (
        lambda: gibbs_posterior(NETWORK, UNIFORM, [NAN, 0, 0], 3, RNG),
        "evidence of variable 0 .* got nan",
    ),
    (
        lambda: gibbs_posterior(NETWORK, UNIFORM, None, 3, RNG),
        "evidence must be an integer for each of 3 variables",
    ),
    (lambda: JointCounts(ROWS, [2, 2, 2]), "codes must be from -1 to 1 in column 1; got 2"),
    (lambda: DirichletCounts(ROWS - 1, [2, 3, 2]), "codes must be from 0 to 1 in column 0; got -1"),
    (
        lambda: DirichletCounts(ROWS, [2, 3, 2]).bdeu(0, frozenset(), NAN),
        "equivalent_sample_size must be .* got nan",
    ),
    (lambda: tan_from_codes(ROWS * NAN, [2, 3, 2]), "codes must be integers"),
    (lambda: tan_from_codes(np.zeros((3, 0), int), []), "at least one; got none"),
    (lambda: bic_from_codes(ROWS - 5, [2, 3, 2]), "codes must be from -1 to 1 in column 0; got -"),
    (lambda: LatentClassGibbs(prior=1e308).fit([[0, 1], [1, 0]]), "prior must be"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


BITS = np.random.default_rng(1).integers(0, 2, (20, 4))
READ_ONLY = np.array(BITS)
READ_ONLY.setflags(write=False)
ODD_DATA = {
    "one row": BITS[:1],
    "one column": BITS[:, :1],
    "constant": np.zeros((20, 3), int),
    "true": np.ones((20, 3), bool),
    "equal rows": np.tile(BITS[:1], (20, 1)),
    "more columns than rows": np.tile(BITS[:3], (1, 8)),
    "read-only": READ_ONLY,
    "Fortran order": np.asfortranarray(BITS),
    "bool": BITS.astype(bool),
    "unsigned": BITS.astype(np.uint64),
    "list": BITS.tolist(),
    "negative": -BITS,
    "identifiers": np.column_stack([np.arange(20), np.arange(20)[::-1]]),
    "1e300": BITS * 1e300,
    "missing": np.where(np.arange(80).reshape(20, 4) == 5, NAN, BITS),
    "all missing": np.full((20, 2), NAN),
    "fractions": BITS + 0.5,
    "infinite": np.where(BITS, INF, 0.0),
    "no row": np.empty((0, 3), int),
    "no column": np.empty((20, 0), int),
    "one dimension": BITS[:, 0],
    "none": None,
    "unseen categories": pd.DataFrame(
        {"a": pd.Categorical(BITS[:, 0], [0, 1, 2]), "b": pd.Categorical([0] * 20)}
    ),
}
REFUSED_KINDS = {"fractions", "infinite", "no row", "no column", "one dimension", "none"}
INCOMPLETE = {"missing", "all missing"}
NO_BITS = {"negative", "identifiers", "1e300", "one row"}
LEARNERS = [
    (LatentClassGibbs(n_burn=3, n_samples=10, random_state=0), REFUSED_KINDS),
    (LatentClassCovariance(), REFUSED_KINDS | INCOMPLETE | NO_BITS),
    (
        LatentClassEM(n_restarts=2, max_iterations=20, tolerance=0, random_state=0),
        REFUSED_KINDS | INCOMPLETE | NO_BITS,
    ),
    (
        LatentClassSelection(n_restarts=2, max_hidden=3, random_state=0),
        REFUSED_KINDS | INCOMPLETE | NO_BITS,
    ),
]
SEARCHES = [
    (lambda X, n: bdeu_search(X, max_parents=2), REFUSED_KINDS | INCOMPLETE),
    (lambda X, n: k2(X, range(n)), REFUSED_KINDS | INCOMPLETE),
    (lambda X, n: chow_liu(X), REFUSED_KINDS),
    (lambda X, n: tan(X, classes(X)), REFUSED_KINDS),
    (lambda X, n: bic_search(X, classes(X)), REFUSED_KINDS),
]


def n_columns(X):
    """0 for what is no table."""
    return np.shape(X)[1] if np.ndim(X) == 2 else 0


def classes(X):
    """0 and 1 in turns, one for each row, or 20."""
    n_rows = len(X) if n_columns(X) else 20
    return np.arange(n_rows) % 2


@pytest.mark.parametrize("kind", ODD_DATA)
def test_odd_data(kind):
    """Searches and learners take what is discrete, and refuse all else."""
    X = ODD_DATA[kind]
    for search, refused_kinds in SEARCHES:
        if kind in refused_kinds:
            with pytest.raises(ValueError, match=r"X|array|columns"):
                search(X, n_columns(X))
        else:
            parents = search(X, n_columns(X))
            assert check_parents(parents) == parents
    y = classes(X)
    for learner, refused_kinds in LEARNERS:
        if kind in refused_kinds:
            with pytest.raises(ValueError, match=r"X|array|columns"):
                learner.fit(X, y)
        else:
            proba = learner.fit(X, y).predict_proba(X)
            assert proba.shape == (len(X), 2)
            assert proba.min() >= 0
            np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("prior", [1e-300, 1e-3, 1e6, 1e300])
def test_extreme_priors_of_draws(prior):
    learner = LatentClassGibbs(n_burn=3, n_samples=20, prior=prior, relabel=True, random_state=0)
    learner.fit(BITS)
    np.testing.assert_allclose(learner.predict_proba(BITS).sum(axis=1), 1, atol=1e-12)
    assert np.isfinite(learner.trace_).all()
    assert np.isfinite(learner.score_samples(BITS)).all()
    np.testing.assert_allclose(learner.weights_.sum(axis=1), 1)
