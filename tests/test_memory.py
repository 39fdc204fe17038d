"""What learning, sampling and prediction take beside a sample of many rows, which stays uint8."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from lib.base.arrays import row_batches
from lib.cia import random_cia
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.latent_class.em import maximize, random_starts
from lib.latent_class.fast import PackedSample
from lib.winnow import Winnow, WinnowEnsemble, online

pytestmark = pytest.mark.slow
MIB = 2**20
N = 300
SIZE = 50_000  # 14 MiB as uint8, 114 MiB as float64
LIMIT = 8  # MiB
SMALL = 6  # MiB: parameters, matrices of all pairs, and a few numbers a row

EM = LatentClassEM(n_restarts=2, max_iterations=2, tolerance=0, random_state=0)
DOUBLE = clone(EM).set_params(n_hidden=3, dtype="float64")
COVARIANCE = LatentClassCovariance()
SELECTION = LatentClassSelection(
    n_restarts=2, max_iterations=1, max_hidden=2, tolerance=0, random_state=0
)
ENSEMBLE = WinnowEnsemble(n_members=3, n_passes=1, random_state=0)
WINNOW = Winnow(complement=True, average=True)


@pytest.fixture(scope="module")
def model():
    return random_cia(N, 2, 1.0, np.random.default_rng(0))


@pytest.fixture(scope="module")
def sample(model):
    X, y, _ = model.sample(SIZE, np.random.default_rng(0))
    return X, y


def peak(call):
    """Largest memory in MiB that a call takes beside what there was before it."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


@given(st.integers(1, 200), st.integers(1, 10**6), st.floats(1e-6, 1e3))
def test_batches_are_all_rows_within_the_memory(n_rows, row_bytes, memory):
    """One row at least; and one more would exceed the memory."""
    batches = row_batches(n_rows, row_bytes, memory)
    rows = np.concatenate([np.arange(n_rows)[batch] for batch in batches])
    assert rows.tolist() == list(range(n_rows))
    sizes = [batch.stop - batch.start for batch in batches]
    assert min(sizes) >= 1
    assert max(sizes) == 1 or max(sizes) * row_bytes <= memory * MIB
    assert len(batches) == 1 or (sizes[0] + 1) * row_bytes > memory * MIB


# `fit` checks the attributes in a copy that lies row after row and makes rows with the target of
# it; Winnow's are twice as wide, with the complements.
@pytest.mark.parametrize(
    ("learner", "copies", "working_memory"),
    [
        (EM, 2, LIMIT),
        (DOUBLE, 2, LIMIT),
        (SELECTION, 2, LIMIT),
        (COVARIANCE, 2, LIMIT),
        (WINNOW, 3, 0),
        (ENSEMBLE, 3, LIMIT),
    ],
    ids=["EM", "EM in float64", "selection", "COV", "Winnow", "ensemble"],
)
def test_learning_takes_copies_of_the_sample_and_the_memory_limit(
    learner, copies, working_memory, sample, monkeypatch
):
    monkeypatch.setattr(online, "PRODUCT", LIMIT)
    monkeypatch.setattr("lib.base.arrays.LIMIT", LIMIT)
    X, y = sample
    learner.fit(X[:100], y[:100])  # compiled
    half = SIZE // 2
    peak_of_half = peak(lambda: learner.fit(X[:half], y[:half]))
    peak_of_all = peak(lambda: learner.fit(X, y))
    assert peak_of_all <= copies * X.nbytes / MIB + working_memory + SMALL
    assert peak_of_all <= 2 * peak_of_half


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_em_keeps_the_bits_of_the_sample_and_works_in_batches(dtype, sample):
    """The bits are an eighth of the sample; at most two copies of them, and batches of 16 MiB."""
    rows = np.ascontiguousarray(sample[0])
    counts = np.arange(SIZE) % 3.0
    weights, probabilities = random_starts(20, 3, N, np.random.RandomState(0))
    packed_sample = PackedSample(rows, np.ones(SIZE), dtype, n_runs=20, n_hidden=3)
    assert len(packed_sample.batches) > 5
    peak_of_all = peak(lambda: maximize(rows, counts, weights, probabilities, 2, 0, dtype))
    assert peak_of_all <= rows.nbytes / MIB / 4 + 16 + SMALL


def test_sampling_takes_the_sample(model):
    """A byte for each attribute and one for the class."""
    peak_of_half = peak(lambda: model.sample(SIZE // 2, np.random.default_rng(0)))
    peak_of_all = peak(lambda: model.sample(SIZE, np.random.default_rng(0)))
    assert peak_of_all <= SIZE * (N + 1) / MIB + SMALL
    assert peak_of_all <= 2 * peak_of_half


@pytest.mark.parametrize(
    ("learner", "copies", "batch"),
    [(EM, 1, 64), (COVARIANCE, 1, 64), (WINNOW, 3, LIMIT), (ENSEMBLE, 3, LIMIT)],
    ids=["EM", "COV", "Winnow", "ensemble"],
)
def test_prediction_takes_copies_of_the_rows_and_one_batch(
    learner, copies, batch, sample, monkeypatch
):
    monkeypatch.setattr(online, "PRODUCT", LIMIT)
    X, y = sample
    learner.fit(X[:1000], y[:1000])
    peak_of_half = peak(lambda: learner.predict(X[: SIZE // 2]))
    peak_of_all = peak(lambda: learner.predict(X))
    assert peak_of_all <= copies * X.nbytes / MIB + batch + SMALL
    assert peak_of_all <= 2 * peak_of_half


def test_the_difficulty_of_a_wide_model_takes_one_batch_of_its_draws():
    model = random_cia(2000, 2, 1.0, np.random.default_rng(0))
    assert peak(lambda: model.difficulty(n_draws=8000)) <= 64 + SMALL
