"""Arguments that are arrays of numbers, and the scaling by which no square of them overflows."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lib.arrays import scale_by_power_of_two
from lib.validation import check_numbers


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
