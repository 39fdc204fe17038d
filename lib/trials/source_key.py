"""What a trial depends on, for the key of a stored block: its source, and the values that it names.

A trial runs in a process of its own (see `lib.trials.engine`), which has lib, the installed
packages, and what it is sent: the notebook's functions and classes, and the values that they name.
Functions of a notebook count with their source, without comments, docstrings and layout. Code of
lib counts by its name here, and by the source of the modules that it reaches in
`lib.trials.store.environment`; code of a package by its name and the version that is installed.

What a trial reads besides, from a file or the environment, is in no key: a test of the chapters
holds that none does.
"""

import ast
import hashlib
import json
import linecache
import symtable
import sys
from functools import cache
from importlib.metadata import packages_distributions, version
from types import FunctionType, MappingProxyType, ModuleType
from typing import NamedTuple

import cloudpickle
from joblib.hashing import NumpyHasher

from lib.base.sources import DIGITS, PACKAGE, imported_names, without_docstrings

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
# Attributes that Python adds to each class, and that do not decide what the class does.
GENERATED = {"__dict__", "__doc__", "__firstlineno__", "__module__", "__static_attributes__"}
GENERATED |= {"__weakref__", "_abc_impl"}
MAPPINGS = (dict, MappingProxyType)
WRAPPERS = (staticmethod, classmethod)


class NotDescribableError(TypeError):
    """Raised for an object whose changes would go unseen; the message says what to do.

    Results that depend on it must not be stored.
    """


class Description(NamedTuple):
    """What a value is made of.

    Parameters
    ----------
    digest : str
        Of its contents, the source of the notebook's functions and classes in it, and all values
        that these name. Values of different types, such as 1 and 1.0, have different digests.
    modules : frozenset of str
        Names of the modules of lib that it names.
    """

    digest: str
    modules: frozenset[str]


def describe(value):
    """Return the `Description` of a value.

    Raises
    ------
    NotDescribableError
        If it holds code that stands neither in a notebook nor in lib nor in an installed package,
        or what cannot be sent to another process.
    """
    hasher = _SourceHasher()
    try:
        text = hasher.hash(value)
    except NotDescribableError:
        raise
    except Exception as error:  # whatever an object raises that is not to be pickled
        raise NotDescribableError(f"it cannot be sent to another process ({error})") from error
    return Description(text, frozenset(hasher.modules))


def digest(description):
    """Return a digest of what JSON can hold, of `DIGITS` hex digits."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


class _Code:
    """Stands for a function or class of a notebook in what is hashed."""

    def __init__(self, *contents):
        self.contents = contents


class _SourceHasher(NumpyHasher):
    """joblib's digest of what pickle makes of a value, with notebook code by source.

    joblib sorts the items of a dict. Here their order counts, as it decides that of rows.
    """

    def __init__(self):
        super().__init__("sha1")
        self.modules = set()

    def reducer_override(self, value):
        """Return how a value is pickled, or NotImplemented where pickle itself knows."""
        kind = type(value)
        if kind in MAPPINGS:
            return _Code, (kind.__name__, list(value.items()))
        if kind is ModuleType:
            return _Code, ("module", self._note_module(value.__name__))
        if kind in WRAPPERS:
            return _Code, (kind.__name__, value.__func__)
        if kind is property:
            return _Code, ("property", value.fget, value.fset, value.fdel)
        if value is not _Code and _is_by_name(value):
            self._note_module(value.__module__)
        elif kind is FunctionType:
            return self._function(value)
        elif isinstance(value, type) and value is not _Code:
            return self._class(value)
        return NotImplemented

    # The third entry of what follows is pickled after the object itself is known: a function may
    # name itself.
    def _function(self, function):
        """Describe a function by its source, and by what that names outside itself."""
        source = _source_of(function)
        for name in imported_names(source):
            self._note_module(name)
        values = {}
        closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in closure:
            values[name] = cell.cell_contents
        for name in sorted(_global_names(source) & function.__globals__.keys()):
            values[name] = function.__globals__[name]
        defaults = [function.__defaults__, function.__kwdefaults__]
        return _Code, ("function", source), {"values": [values, defaults, vars(function)]}

    def _class(self, kind):
        """Describe a class by its metaclass, its bases and its attributes."""
        contents = {}
        for name, value in sorted(vars(kind).items()):
            if name not in GENERATED:
                contents[name] = value
        return _Code, ("class", kind.__qualname__, type(kind), kind.__bases__), contents

    def _note_module(self, name):
        """Return the name of a module, with the version of its package; remember lib's."""
        package = name.partition(".")[0]
        if package == PACKAGE:
            self.modules.add(name)
            return name
        if package in sys.stdlib_module_names:
            return name
        distributions = _distributions().get(package)
        if distributions is None:
            raise NotDescribableError(
                f"changes of {name}, which is neither of lib nor an installed package, are not "
                "noticed: define in the notebook what trials use of it"
            )
        return f"{name} {version(distributions[0])}"


_distributions = cache(packages_distributions)


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


def _source_of(function):
    """Return the source of a function without comments, docstrings and layout.

    A lambda stands for all lambdas of its line. Methods that dataclasses and named tuples generate
    have no source: they follow from the fields of their class.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines and function.__name__.startswith("__"):
        return ""
    definitions = []
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first_line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            name = node.name
        elif isinstance(node, ast.Lambda):
            first_line = node.lineno
            name = "<lambda>"
        else:
            continue
        if (first_line, name) == (code.co_firstlineno, code.co_name):
            definitions.append(ast.unparse(without_docstrings(node)))
    if not definitions:
        raise NotDescribableError(
            f"the source of {function.__qualname__} is not at hand: define it in a cell"
        )
    return "\n".join(definitions)


def _global_names(source):
    """Return the names that source takes from outside itself."""
    waiting = [symtable.symtable(source, "cell", "exec")]
    names = set()
    while waiting:
        table = waiting.pop()
        for symbol in table.get_symbols():
            is_outermost = table.get_type() == "module" and symbol.is_referenced()
            if symbol.is_global() or is_outermost:
                names.add(symbol.get_name())
        waiting += table.get_children()
    return names
