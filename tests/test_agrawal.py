"""Agrawal's people."""

import numpy as np
import pandas as pd
import pytest

from lib.datasets.agrawal import agrawal


def group_a(function, person):
    """Whether one person is in group A, as the paper writes it."""
    if function == 2:
        if person.age < 40:
            low = 50_000
        elif person.age < 60:
            low = 75_000
        else:
            low = 25_000
        return low <= person.salary <= low + 50_000
    # 0.67 (salary + commission) - 0.2 loan - 20,000 > 0, in whole numbers
    return 67 * (person.salary + person.commission) > 20 * person.loan + 2_000_000


@pytest.mark.parametrize("function", [2, 7])
def test_people_are_in_the_group_that_their_function_says(function):
    X, y = agrawal(function, 500, seed=3)
    is_group_a = [group_a(function, person) for person in X.itertuples()]
    np.testing.assert_array_equal(y == "A", is_group_a)
    assert set(y) == {"A", "B"}


def test_attributes_have_the_ranges_of_the_paper():
    X, _ = agrawal(2, 50_000, seed=0)
    assert not (X % 1).any(axis=None)
    poor = X.salary < 75_000
    assert (X.commission[~poor] == 0).all()
    assert X.commission[poor].between(10_000, 75_000).all()
    ranges = {
        "salary": (20_000, 150_000),
        "age": (20, 80),
        "elevel": (0, 4),
        "car": (1, 20),
        "zipcode": (0, 8),
        "hyears": (1, 30),
        "loan": (0, 500_000),
        "worth": (50_000, 150_000),
    }
    table = X.assign(worth=X.hvalue / (9 - X.zipcode))
    for name, (low, high) in ranges.items():
        column = table[name]
        assert column.min() >= low
        assert column.max() <= high
        # of a uniform whole number
        deviation = np.sqrt((high - low + 1) ** 2 - 1) / np.sqrt(12)
        assert abs(column.mean() - (low + high) / 2) < 4.5 * deviation / np.sqrt(len(X))
        assert column.std() == pytest.approx(deviation, rel=0.02)


def test_people_depend_on_the_seed_alone_and_a_generator_moves_on():
    X, y = agrawal(7, 20, 1)
    repeated_X, repeated_y = agrawal(7, 20, 1)
    pd.testing.assert_frame_equal(X, repeated_X)
    assert (y == repeated_y).all()
    assert not X.equals(agrawal(7, 20, 2)[0])
    rng = np.random.default_rng(1)
    pd.testing.assert_frame_equal(agrawal(7, 20, rng)[0], X)
    assert not agrawal(7, 20, rng)[0].equals(X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((3, 10), "function must be one of 2, 7; got 3"), ((2, 0), "size must be an integer")],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        agrawal(*arguments)
