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
    allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return int(value)


def check_real(name, value, low=-np.inf, high=np.inf, open_low=False, open_high=False):
    """Return `value` as a finite float within the interval, or raise ValueError."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    below = real and (value <= low if open_low else value < low)
    above = real and (value >= high if open_high else value > high)
    if not real or not np.isfinite(value) or below or above:
        interval = f"{'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a finite number in {interval}; got {value!r}")
    return float(value)


def check_flag(name, value):
    """Return `value` if it is True or False, or raise ValueError."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def check_generator(name, value):
    """Return `value` if it is a numpy.random.Generator, or raise ValueError."""
    if not isinstance(value, np.random.Generator):
        raise ValueError(f"{name} must be a numpy.random.Generator, such as numpy.random.default_rng(0); got {value!r}")
    return value


def check_choice(name, value, allowed):
    """Return `value` if it is one of `allowed`; the ValueError names the nearest of them."""
    allowed = list(allowed)
    if value in allowed:
        return value
    near = difflib.get_close_matches(str(value), [str(a) for a in allowed], n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}{hint}")


def check_sparse_boolean_matrix(name, values):
    """Return a CSR matrix of 0/1 values without stored zeros; ValueError names the first value that is neither."""
    if values.has_canonical_format and (values.data == 1).all():
        return values
    values = values.copy()
    values.sum_duplicates()
    values.eliminate_zeros()
    wrong = np.flatnonzero(values.data != 1)
    if len(wrong):
        row = np.searchsorted(values.indptr, wrong[0], side="right") - 1
        raise _not_boolean(name, values.data[wrong[0]], row, values.indices[wrong[0]])
    return values


def at_least_one(name, values):
    """Return `values`, an item or a sequence of items, as a list; ValueError if there is none."""
    values = np.atleast_1d(np.asarray(values, dtype=object)).tolist()
    if not values:
        raise ValueError(f"{name} must hold at least one value; got none")
    return values


def check_boolean_matrix(name, values):
    """Return a 2-d array of 0/1 values as uint8; ValueError names the first value that is neither."""
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"{name} must have shape (n_samples, n_attributes); got {values.shape}")
    small = values.dtype == bool or (values.dtype == np.uint8 and values.max(initial=0) <= 1)
    if not small and (wrong := (values != 0) & (values != 1)).any():
        row, column = np.argwhere(wrong)[0]
        raise _not_boolean(name, values[row, column], row, column)
    return np.ascontiguousarray(values, dtype=np.uint8)


def _not_boolean(name, value, row, column):
    where = f"at row {row}, column {column}"
    return ValueError(f"{name} must hold only 0 and 1; got {value!r} {where} (binarise the attributes first)")
