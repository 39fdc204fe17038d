"""The CIA model against enumeration of its joint distribution; random models' difficulty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from lib import cia
from lib.base.arrays import row_batches
from lib.cia import CIAModel, all_inputs, concentration, random_cia, sample_cia

PROBABILITY = st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def joint(model):
    """P(x0, ..., xn, z) by the definition, shape (2,) * (n + 1) + (k,)."""
    k, m = model.probabilities.shape
    table = np.empty((2,) * m + (k,))
    for *x, z in np.ndindex(table.shape):
        p = model.probabilities[z]
        table[(*x, z)] = model.weights[z] * np.prod(np.where(x, p, 1 - p))
    return table


@st.composite
def models(draw, n_hidden=(2, 4), n_attributes=(1, 5)):
    k = draw(st.integers(*n_hidden))
    n = draw(st.integers(*n_attributes))
    weights = draw(arrays(float, k, elements=st.floats(0.05, 1)))
    probabilities = draw(arrays(float, (k, n + 1), elements=PROBABILITY))
    return CIAModel(weights / weights.sum(), probabilities)


def test_samples_follow_the_joint_distribution():
    rng = np.random.default_rng(1)
    model = CIAModel([0.2, 0.5, 0.3], rng.uniform(0.1, 0.9, (3, 4)))
    X, y, z = model.sample(100_000, rng)
    counts = np.zeros((2, 2, 2, 2, 3))
    np.add.at(counts, (y, *X.T, z), 1)
    assert stats.chisquare(counts.ravel(), 100_000 * joint(model).ravel()).pvalue > 1e-4
    assert (X.dtype, y.dtype) == (np.uint8, np.uint8)


def test_hidden_values_may_be_more_than_a_byte_holds():
    model = CIAModel(np.full(300, 1 / 300), np.full((300, 2), 0.5))
    _, _, z = model.sample(5000, np.random.default_rng(0))
    assert 255 < z.max() < 300


@pytest.mark.parametrize("n_columns", [2, 5])
def test_rows_of_another_length_are_refused(n_columns):
    model = CIAModel([0.5, 0.5], np.full((2, 4), 0.5))
    with pytest.raises(ValueError, match=f"rows must have 3 or 4 columns; got {n_columns}"):
        model.log_joint(np.zeros((1, n_columns), np.uint8))


@pytest.fixture
def set_batch_rows(monkeypatch):
    """Return a function that makes all batches of this number of rows."""
    return lambda n: monkeypatch.setattr(
        cia, "row_batches", lambda n_rows, *_: row_batches(n_rows, 2**20, n)
    )


# a float32 takes half of 64 random bits: odd numbers of them leave the other half for the next
@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.SFC64, np.random.MT19937])
@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8, 9])
def test_samples_in_batches_are_those_of_one_draw(size, n, bits, set_batch_rows):
    set_batch_rows(3)
    model = random_cia(n, 3, 1.0, np.random.default_rng(n))
    rng = np.random.Generator(bits(size))
    X, y, z = model.sample(size, rng)
    peer_rng = np.random.Generator(bits(size))
    hidden = np.searchsorted(np.cumsum(model.weights), peer_rng.random(size), side="right")
    uniform = peer_rng.random((size, n + 1), dtype=np.float32)
    rows = uniform < model.probabilities.astype(np.float32)[hidden]
    np.testing.assert_array_equal(np.column_stack([z, y, X]), np.column_stack([hidden, rows]))
    # both generators are left in the same state
    next_numbers = rng.random(3, dtype=np.float32)
    assert next_numbers.tolist() == peer_rng.random(3, dtype=np.float32).tolist()


@pytest.mark.parametrize("n_rows", [1, 3, 20])
def test_batches_change_no_posterior_and_no_difficulty(n_rows, set_batch_rows):
    model = random_cia(13, 3, 1.0, np.random.default_rng(0))
    rows = np.random.default_rng(1).integers(0, 2, (20, 14), dtype=np.uint8)
    log_joint = model.log_joint(rows)
    posterior = model.target_posterior(rows[:, 1:])
    difficulty = model.difficulty(101)
    set_batch_rows(n_rows)
    np.testing.assert_allclose(model.log_joint(rows), log_joint, rtol=1e-14)
    np.testing.assert_allclose(model.target_posterior(rows[:, 1:]), posterior, rtol=1e-14)
    np.testing.assert_allclose(model.difficulty(101), difficulty, rtol=1e-6)


@given(models())
def test_target_posterior_is_the_conditional_of_the_joint(model):
    """P(x0 = 1 | x) P(x) = P(x0 = 1, x), also where P(x) is 0."""
    table = joint(model).sum(axis=-1)
    X = all_inputs(model.probabilities.shape[1] - 1)
    p_positive = table[1][tuple(X.T)]
    p_input = table.sum(axis=0)[tuple(X.T)]
    np.testing.assert_allclose(model.target_posterior(X) * p_input, p_positive, atol=1e-10)


@given(models())
def test_exact_difficulty_is_the_best_guess_of_z(model):
    assert model.difficulty() == pytest.approx(joint(model).max(axis=-1).sum(), abs=1e-9)


@pytest.mark.parametrize("n_hidden", [2, 3, 5])
def test_sampled_difficulty_is_the_exact_one_within_its_error(n_hidden, monkeypatch):
    """The largest posterior lies in [1/k, 1]: for k = 3 its standard deviation is at most 0.33."""
    model = random_cia(10, n_hidden, 1.5, np.random.default_rng(n_hidden))
    exact = model.difficulty()
    monkeypatch.setattr(cia, "ENUMERATION_LIMIT", 0)
    standard_error = 0.33 / np.sqrt(20_000)
    assert model.difficulty(n_draws=20_000) == pytest.approx(exact, abs=5 * standard_error)
    assert model.difficulty() != exact


@given(models(n_hidden=(2, 2), n_attributes=(1, 6)))
def test_linear_rule_is_the_rule_of_the_posterior(model):
    X = all_inputs(model.probabilities.shape[1] - 1)
    gain = model.target_posterior(X) - 0.5
    coef, intercept = model.linear_rule()
    score = X @ coef + intercept
    clear = (np.abs(gain) > 1e-9) & (np.abs(score) > 1e-9)
    np.testing.assert_array_equal(score[clear] > 0, gain[clear] > 0)
    assert (np.abs(gain[np.abs(score) <= 1e-9]) < 1e-6).all()


CLASSES = [
    (1, 2, 0.8, "equal"),
    (6, 2, 0.9, "beta"),
    (6, 3, 0.7, "dirichlet"),
    (20, 3, 0.8, "equal"),
    (75, 5, 0.9, "dirichlet"),
]


@pytest.mark.parametrize(("n", "k", "b", "hidden_weights"), CLASSES)
def test_random_models_have_the_difficulty_asked_for(n, k, b, hidden_weights):
    rng = np.random.default_rng(n + k)
    for _ in range(3):
        model = sample_cia(n, k, b, rng, hidden_weights=hidden_weights)
        assert model.probabilities.shape == (k, n + 1)
        # fresh draws, so that B is not measured on the ones that accepted the model
        error = 0 if n <= cia.ENUMERATION_LIMIT else 5 * 0.3 / np.sqrt(20_000)
        assert model.difficulty() == pytest.approx(b, abs=0.01 + error)


@pytest.mark.parametrize(
    ("n", "k", "b", "hidden_weights"), [(8, 2, 0.9, "beta"), (8, 5, 0.8, "dirichlet")]
)
def test_mean_difficulty_at_the_calibrated_concentration(n, k, b, hidden_weights):
    """Footnote 4: the parameter of the beta distribution is such that the average B is b."""
    rng = np.random.default_rng(0)
    c = concentration(n, k, b, hidden_weights)
    difficulties = [random_cia(n, k, c, rng, hidden_weights).difficulty() for _ in range(1000)]
    # of the mean of these, and of the 512 models with which c was calibrated
    standard_error = np.std(difficulties) * np.sqrt(1 / 1000 + 1 / 512)
    assert np.mean(difficulties) == pytest.approx(b, abs=4 * standard_error)


@pytest.mark.parametrize(("n", "k", "hidden_weights"), [(5, 2, "beta"), (75, 5, "dirichlet")])
def test_stored_concentrations_are_found_anew_and_wrong_ones_are_not_taken(
    n, k, hidden_weights, monkeypatch
):
    stored = concentration(n, k, 0.9, hidden_weights)
    assert stored in cia._stored_concentrations().values()
    wrong = {f"{n} {k} {hidden_weights} 0.9": 1.1 * stored}
    monkeypatch.setattr(cia, "_stored_concentrations", lambda: wrong)
    assert concentration(n, k, 0.9, hidden_weights) == pytest.approx(stored, rel=1e-9)


@pytest.mark.parametrize(
    ("hidden_weights", "k"), [("equal", 3), ("dirichlet", 3), ("beta", 2), ("beta", 3)]
)
def test_hidden_weights_follow_their_distribution(hidden_weights, k):
    rng = np.random.default_rng(3)
    c = 1.7
    weights = np.array([random_cia(1, k, c, rng, hidden_weights).weights for _ in range(2000)])
    assert weights.sum(axis=1) == pytest.approx(1)
    if hidden_weights == "equal":
        assert (weights == 1 / k).all()
    elif hidden_weights == "dirichlet":
        marginal = stats.beta(1, k - 1)
        assert stats.kstest(weights[:, -1], marginal.cdf).pvalue > 1e-4
    elif k == 2:
        assert stats.kstest(weights[:, -1], stats.beta(c, c).cdf).pvalue > 1e-4
    else:
        # a share has a standard deviation of at most 0.5
        assert weights.mean(axis=0) == pytest.approx(1 / k, abs=5 * 0.5 / np.sqrt(2000))


def test_all_inputs_are_all_inputs():
    assert len(np.unique(all_inputs(5), axis=0)) == 2**5
    assert all_inputs(5)[6].tolist() == [0, 1, 1, 0, 0]


def test_an_unreachable_difficulty_says_which_are_reachable():
    """With two hidden values, a guess is right with probability 1/2 at least."""
    for difficulty in (0.4, 0.999999):
        with pytest.raises(
            ValueError, match=f"difficulty={difficulty} cannot be reached .* reachable: "
        ) as error:
            sample_cia(4, 2, difficulty, np.random.default_rng(0))
        least, most = map(float, str(error.value).split("reachable: ")[1].split(" to "))
        assert 0.5 < least < 0.55
        for reachable in (least, most):
            assert concentration(4, 2, reachable) > 0
