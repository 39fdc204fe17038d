"""What a trial depends on, written down as JSON can hold it: the settings part of a stored block's key.

A trial runs in a process of its own (see `lib.trials.engine`). There are lib, the packages that are
installed, and what it is sent: of a notebook, the code of functions and classes, and the values
that they name. That is described here. Code of lib and of packages is described by its name, as its
source or version is in every key. What would let a trial reach beyond this is refused, with a
message that says what to do.
"""

import copyreg
import dis
import functools
import hashlib
import json
import sys
from types import CodeType, FunctionType, MappingProxyType, ModuleType

import cloudpickle
import numpy as np
import pandas as pd

from lib.sources import DIGITS, PACKAGE

# Packages whose versions are in every key: the name that is imported, and that of the distribution.
PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "narwhals": "narwhals",
    "sklearn": "scikit-learn",
    "numba": "numba",
    "llvmlite": "llvmlite",
    "gymnasium": "gymnasium",
    "joblib": "joblib",
    "threadpoolctl": "threadpoolctl",
    "cloudpickle": "cloudpickle",
}
# Modules of Python that compute, and show a trial nothing of the machine, its files or the state of
# the process.
COMPUTING = {
    *(
        "abc",
        "array",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "contextlib",
        "copy",
        "copyreg",
        "dataclasses",
    ),
    *(
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "itertools",
        "json",
    ),
    *(
        "math",
        "numbers",
        "operator",
        "random",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "time",
        "types",
    ),
    *("typing", "unicodedata", "warnings", "zlib"),
    *("_thread", "reprlib"),  # by which dataclasses notice that they are shown within themselves
}
# functions of Python
REACHING = {"__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "open"}
ENVIRONMENT = {"environ", "environb", "getcwd", "getenv"}  # by whatever module they are reached
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
# Attributes of a class that Python makes, and that say nothing of what it does.
GENERATED = {
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__static_attributes__",
    "__weakref__",
}
GENERATED |= {"_abc_impl"}
# flag of a code object, from Python 3.13 on; before, its first constant is the docstring
HAS_DOCSTRING = 0x4000000


class NotDescribableError(TypeError):
    """Something whose changes would go unseen, so that nothing made with it may be stored; the message says what."""


def describe(value):
    """Return what `value` is, as nested lists, dicts, strings and numbers; the same value gives the same description.

    Values of different types differ, also where Python calls them equal, as 1, 1.0 and
    numpy.float32(1) are: what is computed with them may differ.

    Parameters
    ----------
    value : object
        Numbers, text, arrays, frames and containers are described by what they hold. Functions and
        classes that cloudpickle sends by value, those of a notebook above all, are described by
        their code without docstrings and by all that it names. Other functions, classes and modules
        are their names. Any other object is what pickle makes of it.

    Raises
    ------
    NotDescribableError
        For code outside lib, `PACKAGES` and `COMPUTING`, whose changes would go unseen, for what
        reads files or the state of the process, and for what cannot be sent to another process.
    """
    return _Description().of(value)


def digest(description):
    """Return `DIGITS` hex digits for a description."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


class _Description:
    """Describes one value, and knows what it has met: objects may refer to themselves, and be one under two names."""

    def __init__(self):
        self._met = {}  # number in the order of meeting, by the id of an object
        self._objects = []  # all of these, so that no other object gets an id

    def of(self, value):
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is tuple:  # of which two equal ones may be one, as it suits Python
            return {"tuple": self._each(value)}
        if id(value) in self._met:
            return {"the same as": self._met[id(value)]}
        self._met[id(value)] = len(self._met)
        self._objects.append(value)
        return self._structure(value)

    def _each(self, values):
        return [self.of(value) for value in values]

    def _structure(self, value):
        """Describe what is no plain number or text."""
        kind = type(value)
        if kind is list:
            return self._each(value)
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind in (set, frozenset):
            return {kind.__name__: sorted(self._each(value), key=json.dumps)}
        if kind in (dict, MappingProxyType):
            return {kind.__name__: [self._each(pair) for pair in value.items()]}
        if kind in (bytes, bytearray):
            return {kind.__name__: value.hex()}
        if kind is complex:
            return {"complex": [value.real, value.imag]}
        if value is Ellipsis:
            return {"object": "Ellipsis"}
        if kind is np.ndarray or isinstance(value, np.generic):
            return self._array(value)
        if kind is pd.DataFrame:
            columns = [[str(column.dtype), self._column(column)] for _, column in value.items()]
            labels = [self._labels(index) for index in (value.index, value.columns)]
            return {"frame": columns, "labels": labels, "attributes": self.of(value.attrs)}
        if kind is pd.Series:
            column = [self.of(value.name), str(value.dtype), self._column(value)]
            return {
                "series": column,
                "labels": self._labels(value.index),
                "attributes": self.of(value.attrs),
            }
        if kind is functools.partial:
            return {"call": self._each([value.func, value.args, value.keywords])}
        if kind is CodeType:
            return self._code(value)
        if kind is ModuleType:
            if sys.modules.get(value.__name__) is not value:
                raise NotDescribableError(
                    f"{value.__name__} is a module that was made by hand: define it as a class"
                )
            return {"module": _require_followed(value.__name__, value.__name__)}
        return self._code_or_object(value)

    def _array(self, value):
        """Describe an array, or a number of numpy, with its order in memory, in which sums are rounded."""
        has_objects = value.dtype.hasobject
        contents = (
            self.of(value.ravel().tolist())
            if has_objects
            else hashlib.sha256(value.tobytes()).hexdigest()
        )
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return {type(value).__name__: [str(value.dtype), list(value.shape), order, contents]}

    def _labels(self, index):
        names, freq = self._each(index.names), str(getattr(index, "freq", ""))
        if isinstance(index, pd.CategoricalIndex):
            parts = self._each([index.codes, index.categories.tolist(), bool(index.ordered)])
            return [type(index).__name__, names, freq, parts]
        return [type(index).__name__, names, freq, str(index.dtype), self.of(index.to_numpy())]

    def _code_or_object(self, value):
        if _is_by_name(value):
            return {"code": _name(value)}
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, staticmethod | classmethod):
            return {type(value).__name__: self.of(value.__func__)}
        if isinstance(value, property):
            return {"property": self._each([value.fget, value.fset, value.fdel])}
        if isinstance(getattr(value, "__self__", None), type):
            return {"method": value.__name__, "of": self.of(value.__self__)}
        return self._pickled(value)

    def _function(self, function):
        """Describe a function by its code and by what that names outside itself."""
        names = _global_names(function.__code__)
        if (
            refused := (names - function.__globals__.keys()) & REACHING
            | _attributes(function.__code__) & ENVIRONMENT
        ):
            raise NotDescribableError(
                f"{function.__qualname__} uses {', '.join(sorted(refused))}, which reaches what no key holds: "
                "do it in a cell, and let the trial use the value that comes of it"
            )
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        uses = {name: _content(cell, name, function) for name, cell in cells}
        uses |= {
            name: function.__globals__[name] for name in sorted(names & function.__globals__.keys())
        }
        return {
            "function": [function.__name__, function.__qualname__, self._code(function.__code__)],
            "uses": {name: self._used(name, used) for name, used in uses.items()},
            "defaults": self._each([function.__defaults__, function.__kwdefaults__]),
            "attributes": self._each(
                item for pair in sorted(vars(function).items()) for item in pair
            ),
        }

    def _used(self, name, value):
        try:
            return self.of(value)
        except NotDescribableError as error:
            raise NotDescribableError(f"{name}: {error}") from error

    def _code(self, code):
        """Describe what a code object does: not its file, its lines and its docstring."""
        constants = list(code.co_consts)
        is_function = not code.co_name.startswith("<")
        may_have = code.co_flags & HAS_DOCSTRING if sys.version_info >= (3, 13) else is_function
        if may_have and constants and isinstance(constants[0], str):
            constants[0] = None
        for module in _imported_modules(code):
            _require_followed(module, f"import {module}")
        counts = [
            code.co_argcount,
            code.co_posonlyargcount,
            code.co_kwonlyargcount,
            code.co_flags & ~HAS_DOCSTRING,
        ]
        names = [code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
        instructions = [code.co_code.hex(), code.co_exceptiontable.hex()]
        return {
            "code": instructions,
            "names": self._each(names),
            "counts": counts,
            "constants": self._each(constants),
        }

    def _class(self, kind):
        """Describe a class by its class, its bases and by what stands in it."""
        body = {name: item for name, item in vars(kind).items() if name not in GENERATED}
        contents = {
            name: self._used(f"{kind.__qualname__}.{name}", item)
            for name, item in sorted(body.items())
        }
        return {
            "class": [kind.__name__, kind.__qualname__],
            "of": self._each([type(kind), kind.__bases__]),
            "contents": contents,
        }

    def _pickled(self, value):
        """Describe an object by what pickle makes of it: how it is made, of what, and its state."""
        name = _name(type(value)) if _is_by_name(type(value)) else type(value).__qualname__
        try:
            reducer = copyreg.dispatch_table.get(type(value))
            reduced = reducer(value) if reducer else value.__reduce_ex__(4)
        except Exception as error:  # whatever an object raises that is not to be pickled
            raise NotDescribableError(
                f"{name} cannot be sent to another process ({error})"
            ) from error
        if isinstance(reduced, str):
            return {"object": name, "named": reduced}
        made, arguments, state, items, pairs, setter = (*reduced, None, None, None, None)[:6]
        contents = [None if part is None else list(part) for part in (items, pairs)]
        return {"object": name, "made of": self._each([made, arguments, state, *contents, setter])}

    def _column(self, column):
        if isinstance(column.dtype, pd.CategoricalDtype):
            parts = [
                column.cat.codes.to_numpy(),
                column.cat.categories.tolist(),
                bool(column.dtype.ordered),
            ]
            return self._each(parts)
        return self.of(column.to_numpy())


def _content(cell, name, function):
    try:
        return cell.cell_contents
    except ValueError:
        raise NotDescribableError(
            f"{function.__qualname__} uses {name} before it has a value"
        ) from None


def _is_by_name(value):
    """Return whether cloudpickle sends a function, class or the like by its name, and not by value.

    It does where that name in that module is this very object. A wrapper that only carries the name
    of another function goes by value, as does what stands in a notebook.
    """
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    by_value = {"__main__", *cloudpickle.list_registry_pickle_by_value()}
    if not isinstance(module, str) or not isinstance(name, str) or module in by_value:
        return False
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _global_names(code):
    """Names that code looks up outside itself, those of the functions, classes and comprehensions inside it too."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in LOADS}
    return names.union(
        *(_global_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    )


def _attributes(code):
    """Names of attributes that code takes, that of the functions inside it too."""
    return set(code.co_names).union(
        *(_attributes(part) for part in code.co_consts if isinstance(part, CodeType))
    )


def _imported_modules(code):
    return sorted(
        {step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME"}
    )


def _name(code):
    """Return the whole name of a function or class of lib or a package."""
    module, name = code.__module__, code.__qualname__
    if module == "builtins":
        if name in REACHING:
            raise NotDescribableError(f"{name} reaches what no key holds: call it in a cell")
        return f"builtins.{name}"
    return _require_followed(module, f"{module}.{name}")


def _require_followed(module, name):
    """Return the name if changes of the module are in every key; else raise NotDescribableError."""
    root = module.partition(".")[0]
    # _collections is the part of collections that is written in C
    public = {root, root.removeprefix("_")}
    if root == PACKAGE or root in PACKAGES or public & COMPUTING:
        return name
    if root in sys.stdlib_module_names:
        why = "it shows a trial files, the environment or the state of the process, which are in no key"
        remedy = "use it in a cell, and let the trial use the value that comes of it"
    else:
        why = f"changes of code outside the notebook, lib and {', '.join(PACKAGES)} are not noticed"
        remedy = "define it in the notebook"
    raise NotDescribableError(f"{name}: {why}; {remedy}")
