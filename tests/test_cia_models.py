"""Properties of random models, against enumeration and geometry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.cia import all_inputs, random_cia
from lib.experiments import (
    OneSample,
    exact_covariance,
    find_exclusive_or,
    linear_rule_agreement,
    optimal_rule_separability,
    unadjusted_difficulty,
)
from lib.separability import linear_separator

CORNERS = all_inputs(2)


def test_exact_covariance_is_that_of_the_joint_distribution():
    model = random_cia(4, 3, 1.0, np.random.default_rng(0))
    rows = all_inputs(5)
    weights = np.exp(np.logaddexp.reduce(model.log_joint(rows), axis=1))
    means, covariance = exact_covariance(model)
    np.testing.assert_allclose(means, weights @ rows, atol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(rows.T, aweights=weights, ddof=0), atol=1e-12)


def test_covariance_of_two_values_is_the_papers_product():
    """Section 4: y_ij = a (1 - a) d_i d_j."""
    model = random_cia(5, 2, 1.0, np.random.default_rng(1))
    a, (q, p) = model.weights[1], model.probabilities
    expected = a * (1 - a) * np.outer(p - q, p - q)
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(exact_covariance(model)[1][off], expected[off], atol=1e-12)


@pytest.mark.parametrize(
    ("labels", "separable"), [([0, 0, 0, 1], True), ([0, 1, 1, 1], True), ([0, 1, 1, 0], False), ([1, 0, 0, 1], False)]
)
def test_separability_of_the_corners_of_a_square(labels, separable):
    assert (linear_separator(CORNERS, labels) is not None) == separable


@given(st.integers(0, 999))
def test_a_separator_separates(seed):
    rng = np.random.default_rng(seed)
    X = all_inputs(5)
    labels = X @ rng.normal(size=5) > rng.normal()
    coef, intercept = linear_separator(X, labels)
    np.testing.assert_array_equal(X @ coef + intercept > 0, labels)


def test_an_exclusive_or_is_not_separable():
    model = find_exclusive_or(3, np.random.default_rng(0))
    positive = model.target_posterior(CORNERS)
    assert (np.abs(positive - 0.5) >= 0.05).all()
    assert linear_separator(CORNERS, positive > 0.5) is None


def test_two_hidden_values_never_make_an_exclusive_or():
    with pytest.raises(ValueError, match="no exclusive or among max_draws=500 models with n_hidden=2"):
        find_exclusive_or(2, np.random.default_rng(0), max_draws=500)


def test_the_optimal_rule_of_two_values_is_linear():
    agreement = linear_rule_agreement(8, n_models=20)
    assert (agreement["disagreements"] == 0).all()
    assert not agreement["constant"].all()
    frame = optimal_rule_separability(5, (2, 4), n_models=20)
    assert frame.loc[frame["n_hidden"] == 2, "separable"].all()


def test_unadjusted_models_get_easier_with_more_attributes():
    """Footnote 3."""
    frame = unadjusted_difficulty([2, 10, 40], n_hidden=2, n_models=40)
    means = frame.groupby("n_attributes")["difficulty"].mean()
    assert means.is_monotonic_increasing
    assert means[40] > 0.99


class TestOneSample:
    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls):
        return OneSample(8, 2, 0.9, 300, seed=0)

    def test_has_something_to_learn(self, sample):
        assert sample.test.best - sample.test.constant >= 0.05
        best = (sample.model.target_posterior(sample.test.X) > 0.5).astype(int)
        assert sample.t(best) == pytest.approx(1)
        assert max(sample.t(np.zeros(256)), sample.t(np.ones(256))) == pytest.approx(0)

    def test_learners_follow_the_sample(self, sample):
        assert sample.em(n_restarts=4).predict(sample.X).shape == (300,)
        again = OneSample(8, 2, 0.9, 300, seed=0)
        np.testing.assert_array_equal(again.cov().probabilities_, sample.cov().probabilities_)

    def test_passes_of_winnow(self, sample):
        frame, weights = sample.winnow_passes(3)
        assert frame.groupby("learner")["n_pass"].apply(list).tolist() == [[1, 2, 3]] * 2
        assert frame["mistakes"].between(0, 1).all()
        assert {path.shape for path in weights.values()} == {(4, 8)}
        assert all((path[0] == 0).all() for path in weights.values())
