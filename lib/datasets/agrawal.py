"""Agrawal's people: synthetic rows by the million, on which SLIQ and SPRINT were timed."""

import numpy as np
import pandas as pd

from lib.base.validation import check_choice, check_integer


def agrawal(function, size, seed=0):
    """Draw people with nine attributes, in group A or B by a function of some of them.

    Parameters
    ----------
    function : 2 or 7
        Of ten in the paper: a band of salaries for each of three ages, or whether two thirds of the
        income pay a fifth of the loan and 20,000 more.
    size : int, at least 1
    seed : int or numpy.random.Generator

    Returns
    -------
    X : DataFrame of float (size, 9)
        salary, commission, age, elevel (education), car, zipcode, hvalue (of the house), hyears,
        loan; whole dollars and years. The numbers of the makes of car and of the zip codes have no
        order.
    y : ndarray of str (size,)

    References
    ----------
    Agrawal, Imielinski & Swami (1993), "Database mining: a performance perspective", IEEE TKDE 5,
    section 5.
    """
    check_choice("function", function, (2, 7))
    size = check_integer("size", size, 1)
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"salary": rng.integers(20_000, 150_001, size)})
    # who earns most has no commission
    X["commission"] = np.where(X.salary < 75_000, rng.integers(10_000, 75_001, size), 0)
    X["age"] = rng.integers(20, 81, size)
    X["elevel"] = rng.integers(0, 5, size)
    X["car"] = rng.integers(1, 21, size)
    X["zipcode"] = rng.integers(0, 9, size)
    # a house costs 50,000 to 150,000 times a factor of its zip code
    X["hvalue"] = (9 - X.zipcode) * rng.integers(50_000, 150_001, size)
    X["hyears"] = rng.integers(1, 31, size)
    X["loan"] = rng.integers(0, 500_001, size)
    if function == 2:
        low = np.select([X.age < 40, X.age < 60], [50_000, 75_000], 25_000)
        is_in_group_a = X.salary.between(low, low + 50_000)
    else:
        disposable = 0.67 * (X.salary + X.commission) - 0.2 * X.loan - 20_000
        is_in_group_a = disposable > 0
    return X.astype(float), np.where(is_in_group_a, "A", "B")
