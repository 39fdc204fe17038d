"""EM and COV against the paper's formulas written out naively, and against known parameters."""

import itertools
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lib.cia import CIAModel, all_inputs, random_cia
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection, covariance
from lib.latent_class.base import distinct_rows, log_likelihood
from lib.latent_class.covariance import pair_counts, squared_deltas, vote_signs
from lib.latent_class.em import em_step, maximize, random_starts
from lib.latent_class.fast import LANES, PackedSample, em_steps, multiply_bits, pack_bits

LEARNERS = [
    LatentClassEM(n_restarts=3),
    LatentClassCovariance(),
    LatentClassSelection(n_restarts=3),
]
EASY = {2: (12, [0.4, 0.6]), 3: (12, [0.3, 0.3, 0.4])}

boolean_rows = st.tuples(st.integers(2, 30), st.integers(2, 8)).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 1))
)


def easy_model(n_hidden, seed=0):
    """A model whose hidden values are far apart."""
    n, weights = EASY[n_hidden]
    rng = np.random.default_rng(seed)
    return CIAModel(weights, rng.choice([0.1, 0.25, 0.75, 0.9], (n_hidden, n + 1)))


def sample(model, size, seed=0):
    X, y, _ = model.sample(size, np.random.default_rng(seed))
    return X, y


def with_target(X, y):
    return np.column_stack([y, X])


def distance_up_to_names(learner, model):
    """Largest difference of a parameter, for the naming of hidden values that makes it smallest."""
    distances = []
    for permutation in itertools.permutations(range(len(model.weights))):
        order = list(permutation)
        of_weights = np.abs(learner.weights_[order] - model.weights).max()
        of_probabilities = np.abs(learner.probabilities_[order] - model.probabilities).max()
        distances.append(max(of_weights, of_probabilities))
    return min(distances)


# EM


def naive_em_step(rows, alpha, p, q):
    """Section 3 of the paper, example by example.

    The paper does not divide u and v by P(x), without which it is not EM.
    """
    u = []
    v = []
    log_likelihood = 0.0
    for x in rows:
        joint_1 = alpha * np.prod(np.where(x, p, 1 - p))
        joint_0 = (1 - alpha) * np.prod(np.where(x, q, 1 - q))
        log_likelihood += np.log(joint_1 + joint_0)
        u.append(joint_1 / (joint_1 + joint_0))
        v.append(joint_0 / (joint_1 + joint_0))
    U = sum(u)
    V = sum(v)
    p = [np.dot(u, column) / U for column in rows.T]
    q = [np.dot(v, column) / V for column in rows.T]
    return U / (U + V), p, q, log_likelihood


@given(
    shape=st.tuples(*[st.integers(1, 70)] * 2), blocks=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_products_of_bits_are_matrix_products(shape, blocks, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, shape, np.uint8)
    matrices = rng.integers(-99, 99, (blocks, shape[1], LANES))
    for dtype in ("float32", "float64"):
        product = multiply_bits(pack_bits(rows), matrices.astype(dtype))
        np.testing.assert_array_equal(product, rows @ matrices)


@given(rows=boolean_rows, seed=st.integers(0, 99))
def test_a_step_is_the_papers_formulas(rows, seed):
    rng = np.random.default_rng(seed)
    m = rows.shape[1]
    alpha = rng.uniform(0.2, 0.8)
    p = rng.uniform(0.1, 0.9, m)
    q = rng.uniform(0.1, 0.9, m)
    weights, probabilities, log_likelihood = em_step(
        rows, np.ones(len(rows)), np.array([1 - alpha, alpha]), np.array([q, p])
    )
    new_alpha, new_p, new_q, expected = naive_em_step(rows, alpha, p, q)
    np.testing.assert_allclose(weights, [1 - new_alpha, new_alpha], atol=1e-12)
    np.testing.assert_allclose(probabilities, [new_q, new_p], atol=1e-11)
    assert log_likelihood == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("limit", [4, 1e-6])  # all rows at once, or one at a time
@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-10), ("float32", 1e-4)])
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 37)),
    n_runs=st.integers(1, 19),
    n_hidden=st.integers(2, 5),
    counted=st.booleans(),
    extreme=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=50)
def test_compiled_steps_of_many_runs_are_readable_steps(
    shape, n_runs, n_hidden, counted, extreme, seed, dtype, error, limit
):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, shape, np.uint8)
    counts = rng.integers(1, 5, len(rows)).astype(float) if counted else np.ones(len(rows))
    weights = rng.dirichlet(np.ones(n_hidden), n_runs)
    probabilities = rng.uniform(0.1, 0.9, (n_runs, n_hidden, rows.shape[1]))
    if extreme:
        probabilities = np.round(probabilities)  # impossible values, of which one has to be true
    with patch("lib.base.arrays.CACHE", limit):
        sample = PackedSample(rows, counts, dtype, n_runs, n_hidden)
        assert len(sample.batches) == (1 if limit == 4 else len(rows))
        new_weights, new_probabilities, heights = em_steps(sample, weights, probabilities)
    for run in range(n_runs):
        alpha, p, height = em_step(rows, counts, weights[run], probabilities[run])
        np.testing.assert_allclose(new_weights[run], alpha, atol=error)
        # of a hidden value that no row has, the probabilities are as good as 0 / 0
        joint = new_weights[run][:, None] * new_probabilities[run]
        np.testing.assert_allclose(joint, alpha[:, None] * p, atol=error)
        np.testing.assert_allclose(heights[run], height, rtol=error, atol=error)


@given(rows=boolean_rows, k=st.integers(2, 4), seed=st.integers(0, 99))
@settings(max_examples=50)
def test_likelihood_never_falls(rows, k, seed):
    starts = random_starts(3, k, rows.shape[1], np.random.RandomState(seed))
    *_, traces = maximize(rows, np.ones(len(rows)), *starts, 100, 0, "float64")
    assert [len(trace) for trace in traces] == [100] * 3
    for trace in traces:
        assert (np.diff(trace) >= -1e-9 * (1 + np.abs(trace[1:]))).all()


@pytest.mark.parametrize("k", [2, 3])
def test_the_trace_is_the_likelihood_of_the_model(k):
    rows = with_target(*sample(easy_model(2), 200))
    weights, probabilities = random_starts(1, k, rows.shape[1], np.random.RandomState(0))
    *_, traces = maximize(rows, np.ones(200), weights, probabilities, 2, 0, "float64")
    expected = log_likelihood(CIAModel(weights[0], probabilities[0]), rows, np.ones(200))
    assert traces[0][0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "size"), [(6, 400), (300, 200)])
def test_few_values_or_few_examples_are_searched_in_double_precision(n, size):
    X, y = sample(random_cia(n, 2, 1.0, np.random.default_rng(0)), size)
    single = LatentClassEM(n_restarts=2, random_state=0, dtype="float32").fit(X, y)
    double = LatentClassEM(n_restarts=2, random_state=0, dtype="float64").fit(X, y)
    np.testing.assert_array_equal(single.probabilities_, double.probabilities_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_recovers_known_parameters(k, dtype):
    model = easy_model(k)
    X, y = sample(model, 40_000)
    learner = LatentClassEM(k, n_restarts=5, random_state=0, dtype=dtype).fit(X, y)
    assert distance_up_to_names(learner, model) < 0.03
    assert learner.log_likelihood_ > log_likelihood(model, with_target(X, y), np.ones(len(y)))


def test_classes_that_are_alike_stay_alike():
    """Independence is a stationary point, the likelihood of which has a closed form.

    Random starts find a larger one.
    """
    X, y = sample(random_cia(6, 2, 1.0, np.random.default_rng(0)), 300)
    rows = with_target(X, y)
    mean = rows.mean(axis=0)
    weights = np.array([[0.5, 0.5]])
    alike = np.array([[mean, mean]])
    _, probabilities, traces = maximize(rows, np.ones(300), weights, alike, 5, 0, "float64")
    np.testing.assert_allclose(probabilities[0], [mean, mean], atol=1e-12)
    independent = 300 * (mean * np.log(mean) + (1 - mean) * np.log(1 - mean)).sum()
    assert traces[0] == pytest.approx(independent, rel=1e-12)
    assert LatentClassEM(random_state=0).fit(X, y).log_likelihood_ > independent


@given(rows=boolean_rows)
def test_merging_keeps_the_rows(rows):
    distinct, counts = distinct_rows(rows)
    assert len(np.unique(distinct, axis=0)) == len(distinct)
    repeated = np.repeat(distinct, counts.astype(int), axis=0)
    assert sorted(map(tuple, repeated)) == sorted(map(tuple, rows))


def test_counts_are_repetitions():
    rows = with_target(*sample(random_cia(20, 2, 1.0, np.random.default_rng(1)), 50))
    counts = np.arange(50) % 4 + 1
    starts = random_starts(2, 2, 21, np.random.RandomState(0))
    counted = maximize(rows, counts.astype(float), *starts, 30, 0, "float64")
    repeated = maximize(
        np.repeat(rows, counts, axis=0), np.ones(counts.sum()), *starts, 30, 0, "float64"
    )
    # weights, probabilities and traces
    for result, expected in zip(counted, repeated, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-9)


def test_more_restarts_never_lower_the_likelihood():
    X, y = sample(random_cia(10, 3, 1.0, np.random.default_rng(2)), 60)
    fits = [
        LatentClassEM(n_restarts=r, random_state=0, dtype="float64").fit(X, y) for r in (1, 3, 10)
    ]
    assert [len(learner.traces_) for learner in fits] == [1, 3, 10]
    # likelihoods closer than the tolerance of 60 examples count as equal: the first run is taken
    tolerance = 60 * fits[0].tolerance
    likelihoods = np.array([learner.log_likelihood_ for learner in fits])
    assert (np.diff(likelihoods) >= -tolerance).all()
    for learner in fits:
        ends = np.array([trace[-1] for trace in learner.traces_])
        assert learner.log_likelihood_ >= ends.max() - tolerance
        best_run = np.argmax(ends >= ends.max() - tolerance)
        assert learner.n_iter_ == len(learner.traces_[best_run])


def test_runs_that_have_converged_are_dropped_and_change_no_other():
    rows = with_target(*sample(random_cia(10, 3, 1.0, np.random.default_rng(2)), 60))
    weights, probabilities = random_starts(6, 2, 11, np.random.RandomState(0))
    counts = np.ones(60)
    _, maxima, traces = maximize(rows, counts, weights, probabilities, 1000, 1e-6, "float64")
    assert len({len(trace) for trace in traces}) > 1
    for run, trace in enumerate(traces):
        _, single_maximum, single_trace = maximize(
            rows, counts, weights[[run]], probabilities[[run]], 1000, 1e-6, "float64"
        )
        np.testing.assert_array_equal(maxima[run], single_maximum[0])
        np.testing.assert_array_equal(trace, single_trace[0])
        # the tolerance is of the mean over 60 examples
        assert trace[-1] - trace[-2] < 60e-6
        assert (np.diff(trace)[:-1] >= 60e-6).all()


def test_warns_if_and_only_if_the_best_run_is_cut_short():
    X, y = sample(easy_model(2), 200)
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 iterations"):
        LatentClassEM(max_iterations=3, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LatentClassEM(random_state=0).fit(X, y)
        LatentClassEM(max_iterations=3, tolerance=0, random_state=0).fit(X, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [2, 4])
def test_extreme_samples(dtype, k):
    rng = np.random.default_rng(0)
    X, y = sample(random_cia(100, 2, 0.1, rng), 40)
    X = np.hstack([X, X, X, np.zeros_like(X[:, :5]), np.ones_like(X[:, :5])])
    learner = LatentClassEM(k, n_restarts=4, random_state=0, dtype=dtype).fit(X, y)
    proba = learner.predict_proba(1 - X)
    assert np.isfinite(proba).all()
    assert proba.sum(axis=1) == pytest.approx(1)
    assert np.isfinite(learner.log_likelihood_)
    assert learner.log_likelihood_ <= 0
    np.testing.assert_allclose(learner.probabilities_[:, -10:], [[0] * 5 + [1] * 5] * k, atol=1e-6)
    rounding = 1e-9 if dtype == "float64" else 1e-4
    for trace in learner.traces_:
        assert (np.diff(trace) >= -rounding * np.abs(trace[1:])).all()


def test_exponents_beyond_the_range_of_floats():
    """All P(x, z) underflow or overflow relative to each other: the posterior is still 0 or 1."""
    m = 300
    rows = np.vstack([np.ones((5, m)), np.zeros((5, m))]).astype(np.uint8)
    low = np.full(m, 1e-6)
    high = np.full(m, 1 - 1e-6)
    probabilities = np.array([[low, high], [high, low]])
    # single precision holds exponents of 8000 to 0.001
    for dtype, error in (("float32", 0.01), ("float64", 1e-8)):
        weights = np.full((2, 2), 0.5)
        sample = PackedSample(rows, np.ones(10), dtype, n_runs=2, n_hidden=2)
        weights, new, log_likelihoods = em_steps(sample, weights, probabilities)
        np.testing.assert_allclose(weights, 0.5, atol=1e-9)
        np.testing.assert_allclose(new, probabilities, atol=1e-5)
        np.testing.assert_allclose(
            log_likelihoods, 10 * (m * np.log1p(-1e-6) + np.log(0.5)), atol=10 * error
        )


def test_two_different_rows_are_two_classes():
    """The likelihood of two rows is at most 1/2 * 1/2, reached by a class for each."""
    X = np.array([[0, 0, 1, 0], [1, 1, 0, 0]])
    y = np.array([0, 1])
    learner = LatentClassEM(random_state=0).fit(X, y)
    assert learner.log_likelihood_ == pytest.approx(-2 * np.log(2), abs=1e-6)
    assert (learner.predict(X) == y).all()


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-10), ("float32", 1e-4)])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("counted", [False, True])
def test_batches_change_nothing_but_rounding(k, dtype, error, counted, monkeypatch):
    rows = with_target(*sample(random_cia(20, 3, 1.0, np.random.default_rng(1)), 500))
    counts = np.arange(500) % 3 if counted else np.ones(500)
    starts = random_starts(4, k, 21, np.random.RandomState(0))
    whole = maximize(rows, counts, *starts, 10, 0, dtype)
    for limit in (0.001, 0.004, 0.02):
        monkeypatch.setattr("lib.base.arrays.CACHE", limit)
        assert 1 < len(PackedSample(rows, counts, dtype, 4, k).batches) < 500
        in_batches = maximize(rows, counts, *starts, 10, 0, dtype)
        for result, expected in zip(in_batches, whole, strict=True):
            np.testing.assert_allclose(result, expected, rtol=error, atol=error / 10)


# COV


@pytest.mark.parametrize("largest", [1, 5, 2**24])  # the last takes more than float32 can count
@pytest.mark.parametrize("limit", [256, 0.001])
def test_pairs_are_counted_exactly(largest, limit, monkeypatch):
    monkeypatch.setattr("lib.base.arrays.LIMIT", limit)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (300, 9), dtype=np.uint8)
    counts = rng.integers(1, largest + 1, 300)
    expected = (rows * counts[:, None]).T @ rows.astype(int)
    np.testing.assert_array_equal(pair_counts(rows, counts.astype(float)), expected)


@st.composite
def exact_moments(draw):
    """a(1 - a) d_i d_j with any diagonal; signs and scaled deltas."""
    m = draw(st.integers(3, 8))
    magnitude = draw(arrays(float, m, elements=st.floats(0.05, 0.5)))
    further_signs = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=m - 1, max_size=m - 1))
    signs = np.array([1.0, *further_signs])
    covariance = np.outer(signs * magnitude, signs * magnitude)
    np.fill_diagonal(covariance, draw(arrays(float, m, elements=st.floats(0, 1))))
    return covariance, magnitude, signs


@given(exact_moments())
def test_exact_covariances_give_the_deltas_back(moments):
    covariance, magnitude, signs = moments
    copy = covariance.copy()
    np.testing.assert_allclose(squared_deltas(covariance), magnitude**2, rtol=1e-9)
    np.testing.assert_array_equal(vote_signs(covariance), signs)
    # the diagonal of the argument is not overwritten
    np.testing.assert_array_equal(covariance, copy)


def test_the_leading_eigenvector_of_many_attributes():
    """Against that of a full decomposition, up to its sign."""
    y = np.cov(np.random.default_rng(0).random((400, 250)) < 0.5, bias=True)[:300, :300]
    deltas = np.linspace(-0.5, 0.5, 300)
    y += np.outer(deltas, deltas)
    exact = np.linalg.eigh(y)[1][:, -1]
    vector = covariance._leading_eigenvector(y)
    np.testing.assert_allclose(vector * np.sign(vector @ exact), exact, atol=1e-10)
    assert vote_signs(np.zeros((300, 300))).tolist() == [1] * 300


@given(st.integers(3, 6).flatmap(lambda m: arrays(float, (m, m), elements=st.floats(-1, 1))))
def test_squared_deltas_are_the_papers_weighted_average(y):
    """Section 4: the sum over distinct j, k other than i of |y_ij y_ik| over that of |y_jk|."""
    y = y + y.T
    m = len(y)
    for i, estimate in enumerate(squared_deltas(y)):
        numerator = 0.0
        denominator = 0.0
        for j, k in itertools.permutations(set(range(m)) - {i}, 2):
            numerator += abs(y[i, j] * y[i, k])
            denominator += abs(y[j, k])
        if denominator > 1e-9 * np.abs(y).sum():
            assert estimate == pytest.approx(numerator / denominator, rel=1e-5, abs=1e-12)


@given(st.integers(2, 8).flatmap(lambda m: arrays(float, (m, m), elements=st.floats(-1, 1))))
def test_no_sign_is_outvoted(y):
    y = y + y.T
    signs = vote_signs(y)
    np.fill_diagonal(y, 0)  # nobody votes for its own sign
    assert signs[0] == 1
    assert (signs * (y @ signs) >= -1e-12).all()


def test_covariance_recovers_known_parameters():
    model = easy_model(2)
    X, y = sample(model, 100_000)
    learner = LatentClassCovariance().fit(X, y)
    assert distance_up_to_names(learner, model) < 0.03


def test_a_complemented_attribute_has_the_complementary_probability():
    X, y = sample(random_cia(8, 2, 1.0, np.random.default_rng(3)), 500)
    flipped = X.copy()
    flipped[:, [1, 4]] ^= 1
    plain = LatentClassCovariance().fit(X, y)
    complement = LatentClassCovariance().fit(flipped, y)
    # column 0 of the probabilities is that of the class
    expected = plain.probabilities_.copy()
    expected[:, [2, 5]] = 1 - expected[:, [2, 5]]
    np.testing.assert_allclose(complement.probabilities_, expected, atol=1e-9)
    np.testing.assert_array_equal(complement.predict(flipped), plain.predict(X))


def test_the_search_takes_the_largest_likelihood():
    X, y = sample(easy_model(2), 500)
    learner = LatentClassCovariance().fit(X, y)
    assert learner.search_.shape == (82, 2)
    best = learner.search_[learner.search_[:, 1].argmax()]
    assert learner.weights_[1] == pytest.approx(best[0], abs=1e-12)
    assert learner.log_likelihood_ == pytest.approx(best[1], rel=1e-9)
    assert learner.scaled_deltas_[0] >= 0


@pytest.mark.parametrize("size", [2, 3, 40])
def test_covariance_of_extreme_samples(size):
    X, y = sample(random_cia(60, 2, 0.1, np.random.default_rng(0)), size)
    y[:2] = 0, 1
    X = np.hstack([X, X, np.zeros_like(X), np.ones_like(X)])
    proba = LatentClassCovariance().fit(X, y).predict_proba(1 - X)
    assert np.isfinite(proba).all()
    assert (LatentClassCovariance().fit(0 * X, y).predict(X) == np.bincount(y).argmax()).all()


# The choice of the number of hidden values


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "share"), [("bic", 1.0), ("heldout", 0.5)])
@pytest.mark.parametrize("k", [2, 3])
def test_selection_finds_the_number_of_hidden_values(criterion, share, k):
    """BIC is consistent; held-out likelihood may choose too many values, but never too few."""
    chosen = []
    for seed in range(20):
        learner = LatentClassSelection(criterion, max_hidden=5, n_restarts=5, random_state=seed)
        learner.fit(*sample(easy_model(k), 1000, seed))
        assert learner.n_hidden_ == len(learner.weights_) == learner.criterion_.argmin() + 2
        assert hasattr(learner, "coef_") == (learner.n_hidden_ == 2)
        chosen.append(learner.n_hidden_)
    assert min(chosen) == k
    assert chosen.count(k) >= share * len(chosen)


def test_bic_is_its_formula():
    X, y = sample(easy_model(3), 500)
    learner = LatentClassSelection("bic", random_state=0).fit(X, y)
    k, m = learner.probabilities_.shape
    n_parameters = k * m + k - 1
    bic = -2 * learner.log_likelihood_ + n_parameters * np.log(500)
    assert learner.criterion_.min() == pytest.approx(bic, rel=1e-9)


# All of them


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
class TestEveryLearner:
    def fit_sample(self, learner):
        X, y = sample(easy_model(2), 300)
        learner = clone(learner)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=0)
        return learner.fit(X, y), X, y

    def test_linear_rule_predicts_the_same(self, learner):
        learner, X, _ = self.fit_sample(learner)
        inputs = all_inputs(X.shape[1])
        score = inputs @ learner.coef_[0] + learner.intercept_[0]
        np.testing.assert_array_equal(learner.predict(inputs), (score > 0).astype(int))

    def test_posterior_is_that_of_the_fitted_model(self, learner):
        learner, X, y = self.fit_sample(learner)
        model = CIAModel(learner.weights_, learner.probabilities_)
        np.testing.assert_array_equal(learner.predict_proba(X)[:, 1], model.target_posterior(X))
        assert learner.log_likelihood_ == pytest.approx(
            log_likelihood(model, with_target(X, y), np.ones(len(y)))
        )


def test_a_refit_leaves_no_linear_rule_behind():
    """The rule is linear only for two hidden values."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 5))
    y = rng.integers(0, 2, 80)
    learner = LatentClassEM(random_state=0).fit(X, y)
    assert learner.coef_.shape == (1, 5)
    learner.set_params(n_hidden=3).fit(X, y)
    assert not hasattr(learner, "coef_")
    assert not hasattr(learner, "intercept_")
