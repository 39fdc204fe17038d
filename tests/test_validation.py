"""Arguments that are arrays of numbers, and the scaling by which no square of them overflows."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lib.base.arrays import scale_by_power_of_two
from lib.base.validation import check_numbers
from lib.bayes_net.bif import DiscreteNetwork
from lib.bayes_net.network import Network
from lib.cia import CIAModel
from lib.decisions import MDP, stationary, td_limit
from lib.hidden_markov.probability_tables import probabilities


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (3, 3.0),
        ([], []),
        ([1, 2.5], [1.0, 2.5]),
        ([[True, False]], [[1.0, 0.0]]),
        ([Fraction(1, 4), Decimal("0.5"), 2], [0.25, 0.5, 2.0]),
        (["1.5", "2"], [1.5, 2.0]),
        (np.array([[1, 2]], dtype=object), [[1.0, 2.0]]),
        (np.empty((0, 3), dtype=object), np.empty((0, 3))),
        ([10**30], [1e30]),
    ],
)
def test_numbers_of_any_type_become_floats(values, expected):
    numbers = check_numbers("a", values)
    assert numbers.dtype == float
    assert numbers.shape == np.shape(expected)
    assert numbers.tolist() == np.asarray(expected, dtype=float).tolist()


def test_the_array_is_a_new_one():
    values = np.ones(3)
    check_numbers("a", values)[0] = 5
    check_numbers("a", values, keep_integers=True)[0] = 5
    assert values.tolist() == [1, 1, 1]


def test_large_integers_keep_their_digits_where_that_is_meant():
    """A float has 53 bits."""
    integers = check_numbers("a", [2**53 + 1], keep_integers=True)
    assert integers.dtype.kind == "i"
    assert integers.tolist() == [2**53 + 1]
    assert check_numbers("a", [0.5], keep_integers=True).tolist() == [0.5]
    assert check_numbers("a", [True], keep_integers=True).dtype == float


@pytest.mark.parametrize(
    "values",
    [
        "many",
        ["1", "x"],
        [[1, 2], [3]],
        [1j],
        np.array([1j]),
        [[1], "a"],
        {"a": 1},
        [10**400],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
    ],
)
def test_what_are_no_numbers_is_refused_by_name(values):
    with pytest.raises(ValueError, match="^rates must be an array of numbers: "):
        check_numbers("rates", values)
    with pytest.raises(ValueError, match="^rates must be numbers, of shape .n,.: "):
        check_numbers("rates", values, "numbers, of shape (n,)")


NUMBERS = st.floats(allow_nan=True, allow_infinity=False)


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=NUMBERS))
def test_scaling_by_a_power_of_two_is_undone_without_loss(values):
    scaled_values, exponents = scale_by_power_of_two(values)
    largest = np.fmax.reduce(np.abs(scaled_values), axis=0, initial=0)
    assert ((largest == 0) | ((largest >= 0.5) & (largest < 1))).all()
    # Numbers 2^1022 times smaller than the largest are subnormal in between
    is_exact = (np.abs(scaled_values) >= np.finfo(float).tiny) | np.isnan(values)
    restored_values = np.ldexp(scaled_values, exponents)
    np.testing.assert_array_equal(restored_values[is_exact], values[is_exact])
    column, exponent = scale_by_power_of_two(values[:, 0])
    np.testing.assert_array_equal(column, scaled_values[:, 0])
    assert exponent == exponents[0]


def test_squares_of_scaled_values_neither_overflow_nor_vanish():
    """Unscaled, 1e308 squared is infinite and 1e-308 squared is 0."""
    values = np.array([[1e308, 1e-308], [-1e308, 3e-308]])
    scaled_values, exponents = scale_by_power_of_two(values)
    with np.errstate(over="raise", under="raise"):
        deviations = scaled_values.std(axis=0)
    np.testing.assert_allclose(np.ldexp(deviations, exponents), [1e308, 1e-308], rtol=1e-12)
    assert scale_by_power_of_two(np.zeros((0, 2)))[1].tolist() == [0, 0]


N = 20  # states
STOCHASTIC = np.random.default_rng(0).dirichlet(np.ones(N), N)
NETWORK = Network([(), (0,)], [N, N])


def network_rows(P):
    """The second table of a network of two variables."""
    return NETWORK.check_probabilities(NETWORK.flat([np.full(N, 1 / N), P]))[N:].reshape(N, N)


# What reads rows of probabilities, and the rows that it takes
READERS = {
    "MDP": lambda P: MDP([P], np.zeros((1, N)), np.zeros(N, bool)).transitions[0],
    "sparse MDP": lambda P: MDP(
        [sparse.csr_array(P)], np.zeros((1, N)), np.zeros(N, bool)
    ).matrix.toarray(),
    "hidden Markov model": lambda P: probabilities("transitions", P, (N, N)),
    "network": network_rows,
    "CIA": lambda P: np.array([CIAModel(row, np.ones((N, 2))).weights for row in P]),
}


@pytest.mark.parametrize("reader", READERS)
def test_rounded_probabilities_are_divided_by_their_sum(reader):
    """Those of float32 or six decimals; rows whose sums are 1 keep every bit."""
    read = READERS[reader]
    assert (read(STOCHASTIC) == STOCHASTIC).all()
    for P in (STOCHASTIC.astype(np.float32), STOCHASTIC.round(6)):
        assert np.abs(P.astype(float).sum(axis=1) - 1).max() > 1e-9
        rows = read(P)
        assert np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-15 * N)
        assert np.allclose(rows, STOCHASTIC, rtol=0, atol=1e-6)
    with pytest.raises(
        ValueError, match="must have numbers of at least 0 that sum to 1; got a sum"
    ):
        read(STOCHASTIC.round(3))


def test_rounded_chains_and_tables_are_those_without_rounding():
    thirds = np.full((3, 3), 0.333333)
    assert stationary(thirds) == pytest.approx(np.full(3, 1 / 3), abs=1e-15)
    limit = td_limit(thirds, [1, 2, 3], np.eye(3), 0.5, 0.0)
    # the value is the reward and discount / (1 - discount) of the mean reward
    assert limit.weights == pytest.approx([3, 4, 5], abs=1e-12)
    network = DiscreteNetwork([()], [thirds[0]])
    assert network.theta == pytest.approx(np.full(3, 1 / 3), abs=1e-15)


def test_the_digits_of_a_wrong_sum_are_told():
    with pytest.raises(ValueError, match="row 1 of P must have .*; got a sum of 1.00003$"):
        stationary([[0, 1], [0.5, 0.50003]])
