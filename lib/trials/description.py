"""A description of what a trial depends on, as JSON can hold it, for the key of a stored block.

A trial runs in a process of its own (see `lib.trials.engine`). That process has lib, the installed
packages, and what it is sent: the code of the notebook's functions and classes, and the values that
they name. This is what a description holds. Code of lib and of packages is described by its name,
because its source or version is in every key. Code that could reach beyond this is refused, with a
message that says what to do.

Names that code uses are found in its byte code, by the public module `dis`: source of a notebook's
cell is not always at hand, and does not tell which names are global.
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
    *("abc", "array", "bisect", "calendar", "cmath", "collections", "contextlib", "copy"),
    *("copyreg", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions"),
    *("functools", "hashlib", "heapq", "itertools", "json", "math", "numbers", "operator"),
    *("random", "re", "statistics", "string", "struct", "textwrap", "time", "types", "typing"),
    *("unicodedata", "warnings", "zlib"),
    # Generated methods of dataclasses use these to notice an object that contains itself.
    *("_thread", "reprlib"),
}
# Builtin functions that reach beyond what a trial is sent.
REACHING = {"__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "open"}
ENVIRONMENT = {"environ", "environb", "getcwd", "getenv"}  # attributes, of whatever module
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
# Attributes that Python adds to each class, and that do not decide what the class does.
GENERATED = {"__dict__", "__doc__", "__firstlineno__", "__module__", "__static_attributes__"}
GENERATED |= {"__weakref__", "_abc_impl"}
# The flag of a code object with a docstring, from Python 3.13 on. Before, the docstring was the
# first constant of every function's code.
HAS_DOCSTRING = 0x4000000


class NotDescribableError(TypeError):
    """Raised for an object whose changes would go unseen; the message names it and a remedy.

    Results that depend on it must not be stored.
    """


def describe(value):
    """Describe a value by nested lists, dicts, strings and numbers.

    Equal values have equal descriptions.
    Values of different types have different descriptions, even where Python calls them equal, as 1,
    1.0 and numpy.float32(1): results that are computed with them may differ.

    Parameters
    ----------
    value : object
        Numbers, text, arrays, frames and containers are described by what they hold. Functions and
        classes that cloudpickle sends by value, those of a notebook above all, are described by
        their code without docstrings and by all that it names. Other functions, classes and modules
        are described by their names, and any other object by what pickle makes of it.

    Raises
    ------
    NotDescribableError
        For code outside lib, `PACKAGES` and `COMPUTING`, whose changes would go unseen; for code
        that reads files or the state of the process; and for objects that cannot be sent to another
        process.
    """
    return _Description().of(value)


def digest(description):
    """Return a digest of a description, of `DIGITS` hex digits."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


class _Description:
    """Describes one value; objects that occur again, or contain themselves, are described once."""

    def __init__(self):
        self._numbers = {}  # by the id of an object: its number, in the order of description
        self._objects = []  # keeps these objects alive, so that no other one gets their ids

    def of(self, value):
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is tuple:  # Python may make one object of two equal tuples, or not
            return {"tuple": self._each(value)}
        if id(value) in self._numbers:
            return {"the same as": self._numbers[id(value)]}
        self._numbers[id(value)] = len(self._numbers)
        self._objects.append(value)
        return self._structure(value)

    def _each(self, values):
        return [self.of(value) for value in values]

    def _structure(self, value):
        """Describe a value that is neither a plain number nor text nor a tuple."""
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
        """Describe an array or a number of numpy; its order in memory decides how sums round."""
        if value.dtype.hasobject:
            contents = self.of(value.ravel().tolist())
        else:
            contents = hashlib.sha256(value.tobytes()).hexdigest()
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return {type(value).__name__: [str(value.dtype), list(value.shape), order, contents]}

    def _labels(self, index):
        names, freq = self._each(index.names), str(getattr(index, "freq", ""))
        if isinstance(index, pd.CategoricalIndex):
            contents = self._each([index.codes, index.categories.tolist(), bool(index.ordered)])
            return [type(index).__name__, names, freq, contents]
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
        builtins = names - function.__globals__.keys()
        refused = builtins & REACHING | _attributes(function.__code__) & ENVIRONMENT
        if refused:
            raise NotDescribableError(
                f"{function.__qualname__} uses {', '.join(sorted(refused))}, which reaches what no "
                "key holds: do it in a cell, and let the trial use the value that comes of it"
            )
        uses = {}
        closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in closure:
            uses[name] = _content(cell, name, function)
        for name in sorted(names & function.__globals__.keys()):
            uses[name] = function.__globals__[name]
        attributes = []
        for pair in sorted(vars(function).items()):
            attributes += pair
        return {
            "function": [function.__name__, function.__qualname__, self._code(function.__code__)],
            "uses": {name: self._named(name, value) for name, value in uses.items()},
            "defaults": self._each([function.__defaults__, function.__kwdefaults__]),
            "attributes": self._each(attributes),
        }

    def _named(self, name, value):
        """Describe a value; an error says by which name it was reached."""
        try:
            return self.of(value)
        except NotDescribableError as error:
            raise NotDescribableError(f"{name}: {error}") from error

    def _code(self, code):
        """Describe what a code object does, without its file, its lines and its docstring."""
        constants = list(code.co_consts)
        if sys.version_info >= (3, 13):
            may_have_docstring = code.co_flags & HAS_DOCSTRING
        else:
            may_have_docstring = not code.co_name.startswith("<")  # not a lambda or comprehension
        if may_have_docstring and constants and isinstance(constants[0], str):
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
        """Describe a class by its metaclass, its bases and its attributes."""
        contents = {}
        for name, value in sorted(vars(kind).items()):
            if name not in GENERATED:
                contents[name] = self._named(f"{kind.__qualname__}.{name}", value)
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
        # Pickle's tuple has two to six entries: see object.__reduce__.
        padded = (*reduced, None, None, None, None)[:6]
        constructor, arguments, state, list_items, dict_items, state_setter = padded
        list_items = None if list_items is None else list(list_items)
        dict_items = None if dict_items is None else list(dict_items)
        origin = [constructor, arguments, state, list_items, dict_items, state_setter]
        return {"object": name, "made of": self._each(origin)}

    def _column(self, column):
        if not isinstance(column.dtype, pd.CategoricalDtype):
            return self.of(column.to_numpy())
        codes = column.cat.codes.to_numpy()
        categories = column.cat.categories.tolist()
        return self._each([codes, categories, bool(column.dtype.ordered)])


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
    namesake = sys.modules.get(module)
    for attribute in name.split("."):
        namesake = getattr(namesake, attribute, None)
    return namesake is value


def _global_names(code):
    """Global names that code uses, also in the functions, classes and comprehensions inside it."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in LOADS}
    for inner in _inner_codes(code):
        names |= _global_names(inner)
    return names


def _attributes(code):
    """Names of attributes that code uses, including the functions inside it."""
    names = set(code.co_names)
    for inner in _inner_codes(code):
        names |= _attributes(inner)
    return names


def _inner_codes(code):
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _imported_modules(code):
    imports = (step for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME")
    return sorted({step.argval for step in imports})


def _name(code):
    """Return the full name of a function or class of lib or of a package."""
    module, name = code.__module__, code.__qualname__
    if module == "builtins":
        if name in REACHING:
            raise NotDescribableError(f"{name} reaches what no key holds: call it in a cell")
        return f"builtins.{name}"
    return _require_followed(module, f"{module}.{name}")


def _require_followed(module, name):
    """Return the name if changes of the module are in every key; else raise NotDescribableError."""
    root = module.partition(".")[0]
    # A module such as _collections is the part of collections that is written in C.
    computes = root in COMPUTING or root.removeprefix("_") in COMPUTING
    if root == PACKAGE or root in PACKAGES or computes:
        return name
    if root in sys.stdlib_module_names:
        raise NotDescribableError(
            f"{name}: it shows a trial files, the environment or the state of the process, which "
            "are in no key; use it in a cell, and let the trial use the value that comes of it"
        )
    raise NotDescribableError(
        f"{name}: changes of code outside the notebook, lib and {', '.join(PACKAGES)} are not "
        "noticed; define it in the notebook"
    )
