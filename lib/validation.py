"""Checks of arguments: each error names the parameter, its value and what is allowed."""

import difflib
import numbers
import re

import numpy as np

SCHEDULER = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+")


def check_engine(engine):
    """Return `engine` if it is "local" or looks like the address of a Dask scheduler, or raise ValueError."""
    if engine != "local" and not (isinstance(engine, str) and SCHEDULER.fullmatch(engine)):
        allowed = '"local" or the address of a Dask scheduler, such as "tcp://10.0.0.1:8786"'
        raise ValueError(f"engine must be {allowed}; got {engine!r}")
    return engine


def check_integer(name, value, low, high=None):
    """Return `value` as an int within [low, high], or raise ValueError."""
    allowed = (
        f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    )
    integer = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not integer or value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return int(value)


def check_real(name, value, low=-np.inf, high=np.inf, open_low=False, open_high=False):
    """Return `value` as a finite float within the interval, or raise ValueError."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    below = real and (value <= low if open_low else value < low)
    above = real and (value >= high if open_high else value > high)
    if not real or not _is_finite(value) or below or above:
        interval = f"{'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a finite number in {interval}; got {value!r}")
    return float(value)


def _is_finite(value):
    try:
        return np.isfinite(float(value))
    except OverflowError:  # a whole number that no float is as large as
        return False


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
        raise ValueError(
            f"{name} must be a numpy.random.Generator, such as numpy.random.default_rng(0); got {value!r}"
        )
    return value


def check_choice(name, value, allowed):
    """Return `value` if it is one of `allowed`; the ValueError names the nearest of them."""
    allowed = list(allowed)
    if value in allowed:
        return value
    raise ValueError(
        f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}{nearest(value, allowed)}"
    )


def nearest(name, known):
    """Return "; did you mean ...?" with the known name closest to `name`, or nothing."""
    near = difflib.get_close_matches(str(name), list(map(str, known)), n=1, cutoff=0.4)
    return f"; did you mean {near[0]!r}?" if near else ""


def at_least_one(name, values):
    """Return `values`, an item or a sequence of items, as a list; ValueError if there is none."""
    values = np.atleast_1d(np.asarray(values, dtype=object)).tolist()
    if not values:
        raise ValueError(f"{name} must hold at least one value; got none")
    return values
