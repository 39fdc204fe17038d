"""What a trial depends on, written down as JSON can hold it: the settings part of a stored block's key."""

import dataclasses
import functools
import hashlib
import json
from types import ModuleType

import numpy as np
import pandas as pd

DIGITS = 24  # of a digest, in hex
KNOWN = ("builtins", "lib", "numpy", "scipy", "pandas", "sklearn")


class NotDescribableError(TypeError):
    """A value whose code is not followed, so that nothing made with it may be stored."""


def describe(value):
    """Return what `value` is, as nested lists, dicts, strings and numbers; equal values give equal descriptions.

    Raises
    ------
    NotDescribableError
        For code outside `KNOWN` (its changes would go unseen) and for objects of other kinds.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | range):
        return [describe(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[describe(key), describe(item)] for key, item in value.items()]}
    if isinstance(value, functools.partial):
        return {"call": describe(value.func), "with": describe([value.args, value.keywords])}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, pd.DataFrame):
        return {"columns": [[str(name), str(column.dtype), _column(column)] for name, column in value.items()]}
    if callable(value) and hasattr(value, "__qualname__"):
        return {"code": _name(value)}
    return {"object": _name(type(value)), "with": describe(_state(value))}


def digest(description):
    """Return `DIGITS` hex digits for a description."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:DIGITS]


def _state(value):
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "get_params"):
        return value.get_params(deep=False)
    if type(value).__module__.startswith("lib.") and hasattr(value, "__dict__"):
        return vars(value)
    raise NotDescribableError(f"{type(value).__qualname__} is neither a dataclass nor an estimator")


def _name(code):
    module, name = code.__module__, code.__qualname__
    if not isinstance(getattr(code, "__self__", None), ModuleType | None):
        raise NotDescribableError(f"{name} is a method of an object, whose state is not followed")
    if str(module).partition(".")[0] not in KNOWN or "<" in name:
        raise NotDescribableError(f"{module}.{name}: changes of code outside {', '.join(KNOWN[1:])} are not noticed")
    return f"{module}.{name}"


def _array(values):
    if values.dtype == object:
        return describe(values.tolist())
    data = np.ascontiguousarray(values)
    return {"array": [str(data.dtype), list(data.shape), hashlib.sha256(data.tobytes()).hexdigest()]}


def _column(column):
    if column.dtype == object:  # pandas would hash NaN as the word "nan"
        return describe([column.index.tolist(), column.tolist()])
    hashed = hashlib.sha256(pd.util.hash_pandas_object(column).to_numpy().tobytes()).hexdigest()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [hashed, describe(column.dtype.categories.tolist()), bool(column.dtype.ordered)]
    return hashed
