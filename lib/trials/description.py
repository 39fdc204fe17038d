"""What a trial depends on, written down as JSON can hold it: the settings part of a stored block's key."""

import ast
import dataclasses
import dis
import functools
import hashlib
import inspect
import json
import sys
import textwrap
from types import CodeType, FunctionType, ModuleType

import numpy as np
import pandas as pd

DIGITS = 24  # of a digest, in hex
KNOWN = ("builtins", "lib", "numpy", "scipy", "pandas", "sklearn")
IDLE = ("lib.book", "lib.figures", "lib.claims", "lib.benchmarks")  # in no key
IDLE += ("lib.experiments.elr_tables", "lib.experiments.record")
FOLLOWED = ("__main__",)  # modules whose functions are described by their source: a notebook's


class NotDescribableError(TypeError):
    """A value whose code is not followed, so that nothing made with it may be stored."""


def describe(value, within=()):
    """Return what `value` is, as nested lists, dicts, strings and numbers; equal values give equal descriptions.

    A function of a notebook is its source without comments and docstrings, its defaults, and the values and functions
    of the notebook that it uses, themselves described; one that is under way already (`within`) is its name.

    Raises
    ------
    NotDescribableError
        For code outside `KNOWN` (its changes would go unseen) and for objects of other kinds.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {"array": [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]}
    if isinstance(value, list | tuple | range | np.ndarray):
        return [describe(item, within) for item in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted((describe(item, within) for item in value), key=json.dumps)}
    if isinstance(value, dict):
        return {"dict": [[describe(key, within), describe(item, within)] for key, item in value.items()]}
    if isinstance(value, functools.partial):
        return {"call": describe(value.func, within), "with": describe([value.args, value.keywords], within)}
    if isinstance(value, pd.DataFrame):
        columns = [[str(name), str(column.dtype), _column(column)] for name, column in value.items()]
        return {"index": describe(value.index.to_numpy()), "columns": columns}
    if isinstance(value, FunctionType) and value.__module__ in FOLLOWED:
        return _function(value, within)
    if isinstance(value, ModuleType):
        return {"module": _known(value.__name__, value.__name__)}
    if callable(value) and hasattr(value, "__qualname__"):
        return {"code": _name(value)}
    return {"object": _name(type(value)), "with": describe(_state(value), within)}


def _function(function, within):
    if function in within:
        return {"function": function.__qualname__}
    if function.__name__ == "<lambda>":
        raise NotDescribableError("a lambda has no source of its own; define a function")
    try:
        source = textwrap.dedent(inspect.getsource(function))
        code = code_digest(source)
    except (OSError, SyntaxError) as error:
        raise NotDescribableError(f"the source of {function.__qualname__} cannot be read ({error})") from error
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values = {name: cell.cell_contents for name, cell in cells}
    names = sorted(_global_names(function.__code__) & function.__globals__.keys())
    values |= {name: function.__globals__[name] for name in names}
    values["(defaults)"] = [function.__defaults__, function.__kwdefaults__]
    return {"function": code, "uses": describe(values, (*within, function))}


def _global_names(code):
    """Names that a function looks up outside itself, those of the functions and comprehensions inside it too."""
    loads = (step for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {step.argval for step in loads}.union(*map(_global_names, inner))


def code_digest(source):
    """Return a digest of Python source that neither comments nor docstrings nor layout change."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:DIGITS]


def digest(description):
    """Return `DIGITS` hex digits for a description."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:DIGITS]


def _state(value):
    if hasattr(value, "get_params"):
        fitted = {name: item for name, item in vars(value).items() if name.endswith("_") and not name.startswith("_")}
        return value.get_params(deep=False) | fitted
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if type(value).__module__.startswith("lib.") and hasattr(value, "__dict__"):
        return vars(value)
    raise NotDescribableError(f"{type(value).__qualname__} is neither a dataclass nor an estimator")


def _name(code):
    module, name = code.__module__, code.__qualname__
    if not isinstance(getattr(code, "__self__", None), ModuleType | None):
        raise NotDescribableError(f"{name} is a method of an object, whose state is not followed")
    if "<" in name:
        raise NotDescribableError(f"{module}.{name} has no name of its own")
    return _known(str(module), f"{module}.{name}")


def _known(module, name):
    """Return the name if it belongs to a module whose version or source is in every key; or NotDescribableError."""
    root = module.partition(".")[0]
    if module.startswith(IDLE):
        raise NotDescribableError(f"{name}: trials must not use it, as its changes are not noticed")
    if root in KNOWN or (root in sys.stdlib_module_names and root != "__main__"):
        return name
    raise NotDescribableError(f"{name}: changes of code outside {', '.join(KNOWN[1:])} are not noticed")


def _column(column):
    if isinstance(column.dtype, pd.CategoricalDtype):
        return describe([column.cat.codes.to_numpy(), column.cat.categories.tolist(), bool(column.dtype.ordered)])
    return describe(column.to_numpy())
