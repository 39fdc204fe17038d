"""Checks of arguments: each error names the parameter, its value and what is allowed."""

import difflib
import numbers
import re

import numpy as np

# Addresses of Dask schedulers: a protocol and a place
SCHEDULER = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+")
# How far probabilities of float32, or forty numbers of six decimals, may be from a sum of 1
PROBABILITY_TOLERANCE = 2e-5
SUM_ROUNDING = 1e-12  # how far from 1 the order of summation takes a sum


def check_engine(engine):
    """Return `engine` if it is "local" or looks like the address of a Dask scheduler.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if engine != "local" and not (isinstance(engine, str) and SCHEDULER.fullmatch(engine)):
        allowed = '"local" or the address of a Dask scheduler, such as "tcp://10.0.0.1:8786"'
        raise ValueError(f"engine must be {allowed}; got {engine!r}")
    return engine


def check_integer(name, value, low, high=None):
    """Return `value` as an int within [low, high], or raise ValueError."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not is_integer or value < low or (high is not None and value > high):
        interval = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be an integer {interval}; got {value!r}")
    return int(value)


def check_real(name, value, low=-np.inf, high=np.inf, open_low=False, open_high=False):
    """Return `value` as a finite float within the interval, or raise ValueError."""
    is_real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if is_real and _is_finite(value):
        is_too_low = value <= low if open_low else value < low
        is_too_high = value >= high if open_high else value > high
        if not is_too_low and not is_too_high:
            return float(value)
    opening = "(" if open_low else "["
    closing = ")" if open_high else "]"
    interval = f"{opening}{low}, {high}{closing}"
    raise ValueError(f"{name} must be a finite number in {interval}; got {value!r}")


def _is_finite(value):
    try:
        return np.isfinite(float(value))
    except OverflowError:  # a whole number that no float is as large as
        return False


def check_numbers(name, values, allowed="an array of numbers", keep_integers=False):
    """Return `values` as a new array of real numbers.

    Numbers of any type are converted: fractions, decimals and texts such as "1.5", too.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    values : array, sequence of sequences, or number
    allowed : str
        What the error says that the argument must be.
    keep_integers : bool
        Whether an array of an integer type keeps it, so that large integers lose no digit.

    Returns
    -------
    numbers : ndarray of float, or of the integer type of `values` with `keep_integers`

    Raises
    ------
    ValueError
        If a value is no real number, rows differ in length, or a number is too large for a float.
    """
    try:
        array = np.array(values)
        if array.dtype.kind not in "biuf":
            # Python's float() refuses complex numbers and dates, which astype would convert
            array = np.array(array.tolist(), dtype=float).reshape(array.shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be {allowed}: {error}") from None
    if keep_integers and array.dtype.kind in "iu":
        return array
    return array.astype(float, copy=False)


def probability_divisors(sums, smallest, place, tolerance=PROBABILITY_TOLERANCE):
    """Return what rows of probabilities are to be divided by, so that they sum to 1.

    Parameters
    ----------
    sums, smallest : ndarray of one shape
        Sum, and smallest number, of each row.
    place : callable
        ``place(*index)`` is what the error calls a row, such as "row 3 of P".
    tolerance : float
        How far a sum may be from 1.

    Returns
    -------
    ndarray
        The sums, but 1 for rows that sum to 1 within `SUM_ROUNDING`, so that these stay as they
        are.

    Raises
    ------
    ValueError
        That names the first row with a number below 0 or that is none, or with another sum.
    """
    distances = np.abs(sums - 1)
    is_wrong = ~((smallest >= 0) & (distances <= tolerance))  # NaN is wrong, too
    if is_wrong.any():
        index = tuple(np.argwhere(is_wrong)[0].tolist())
        fault = f"a sum of {sums[index]:.10g}" if smallest[index] >= 0 else smallest[index]
        raise ValueError(
            f"{place(*index)} must have numbers of at least 0 that sum to 1; got {fault}"
        )
    return np.where(distances <= SUM_ROUNDING, 1.0, sums)


def optional(check, name, value, *bounds, **ends):
    """Return what `check` returns for `value`, or None for None."""
    return None if value is None else check(name, value, *bounds, **ends)


def check_flag(name, value):
    """Return `value` if it is True or False, or raise ValueError."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def check_generator(name, value):
    """Return `value` if it is a numpy.random.Generator, or raise ValueError."""
    if not isinstance(value, np.random.Generator):
        allowed = "a numpy.random.Generator, such as numpy.random.default_rng(0)"
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return value


def check_choice(name, value, allowed):
    """Return `value` if it is one of `allowed`; the ValueError names the nearest of them."""
    allowed = list(allowed)
    if value in allowed:
        return value
    choices = ", ".join(map(repr, allowed))
    suggestion = nearest(value, allowed)
    raise ValueError(f"{name} must be one of {choices}; got {value!r}{suggestion}")


def nearest(name, candidates):
    """Return "; did you mean ...?" with the candidate closest to `name`, or "" if none is close."""
    texts = [str(candidate) for candidate in candidates]
    # Less than half of the letters may match: names are short, and a hint costs nothing
    matches = difflib.get_close_matches(str(name), texts, n=1, cutoff=0.4)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def at_least_one(name, values):
    """Return `values`, an item or a sequence of items, as a list; ValueError if there is none."""
    values = np.atleast_1d(np.asarray(values, dtype=object)).tolist()
    if not values:
        raise ValueError(f"{name} must hold at least one value; got none")
    return values
