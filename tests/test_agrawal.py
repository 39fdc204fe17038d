"""Agrawal's people."""

import numpy as np
import pandas as pd
import pytest

from lib.datasets.agrawal import agrawal


def group_a(function, person):
    """Group A in plain words, of one person."""
    if function == 2:
        low = 50_000 if person.age < 40 else 75_000 if person.age < 60 else 25_000
        return low <= person.salary <= low + 50_000
    return 67 * (person.salary + person.commission) > 20 * person.loan + 2_000_000


@pytest.mark.parametrize("function", [2, 7])
def test_people_are_in_the_group_that_their_function_says(function):
    X, y = agrawal(function, 500, seed=3)
    assert [("A" if group_a(function, person) else "B") for person in X.itertuples()] == y.tolist()
    assert set(y) == {"A", "B"}


def test_attributes_have_the_ranges_of_the_paper():
    X, _ = agrawal(2, 50_000, seed=0)
    assert not (X % 1).any(axis=None)
    poor = X.salary < 75_000
    assert (X.commission[~poor] == 0).all()
    assert X.commission[poor].between(10_000, 75_000).all()
    worth = X.hvalue / (9 - X.zipcode)
    means = {
        "salary": 85_000,
        "age": 50,
        "elevel": 2,
        "car": 10.5,
        "zipcode": 4,
        "hyears": 15.5,
        "loan": 250_000,
    }
    widths = {
        "salary": 130_000,
        "age": 60,
        "elevel": 4,
        "car": 19,
        "zipcode": 8,
        "hyears": 29,
        "loan": 500_000,
    }
    table = X.assign(worth=worth)
    for name, mean in {**means, "worth": 100_000}.items():
        width = {**widths, "worth": 100_000}[name]
        assert table[name].min() >= mean - width / 2
        assert table[name].max() <= mean + width / 2
        spread = np.sqrt((width + 1) ** 2 - 1) / np.sqrt(12)  # of a uniform whole number
        assert abs(table[name].mean() - mean) < 4.5 * spread / np.sqrt(len(X))
        assert table[name].std() == pytest.approx(spread, rel=0.02)


def test_people_depend_on_the_seed_alone_and_a_generator_moves_on():
    (X, y), (again, y_again), (other, _) = (agrawal(7, 20, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(X, again)
    assert (y == y_again).all()
    assert not X.equals(other)
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
