"""The source of lib as this process runs it: read once, when lib is first imported.

All modules of lib are compiled from this source, so that a process never mixes two versions of lib,
whatever becomes of the files while it runs. The keys of compiled kernels, of stored blocks and of
chapters are made of it, too, and therefore belong to the code that runs. Files of byte code are not
used for lib: Python finds them by time and size, which an edited file can share with an older one.
"""

import ast
import hashlib
import sys
import threading
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source, spec_from_file_location
from pathlib import Path

from lib.files import LIB, files_below

DIGITS = 24  # of a digest, in hex
PARSING = threading.Lock()  # Python 3.11 fails to parse in two threads at once
PACKAGE = __name__.partition(".")[0]
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def read_sources(folder=LIB):
    """Return the contents of the modules below a folder, as bytes, by the name of the module.

    A package has the name of its folder, and comes before a module of that name. The folder itself
    is "lib", whatever its name.
    """
    modules = {}
    for path in files_below(folder, "*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join((PACKAGE, *parts)).removesuffix(".__init__")
        if path.name == "__init__.py" or name not in modules:
            modules[name] = path.read_bytes()
    return modules


SOURCES = read_sources()
RELOADED = set()  # names of modules of which an older version has run in this process
# By the name of a module: its variables when it had been imported, with the contents of arrays.
_AS_IMPORTED = {}


class _Loader(SourceFileLoader):
    """Compiles a module of lib from what was read of it."""

    def get_code(self, fullname):
        return self.source_to_code(SOURCES[fullname], self.path)

    def get_source(self, fullname):
        return decode_source(SOURCES[fullname])

    def exec_module(self, module):
        super().exec_module(module)
        variables = {}
        for name, value in vars(module).items():
            variables[name] = (value, _contents(value))
        _AS_IMPORTED[module.__name__] = variables


class _Finder:
    """Finds the modules of lib, and no others."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a module.

        `target` is given when a module is reloaded: then its file is read again.

        Raises
        ------
        ImportError
            If the file of a module has appeared since the process began, as it may belong to
            another version of lib; or if this module itself is reloaded.
        """
        if not name.startswith(f"{PACKAGE}.") or not _is_below_lib(path):
            return None
        stem = LIB.joinpath(*name.split(".")[1:])
        candidates = [stem / "__init__.py", stem.with_suffix(".py")]
        file = next((candidate for candidate in candidates if candidate.is_file()), None)
        if target is not None and file:
            if name == __name__:
                raise ImportError(f"{name} cannot be reloaded; start Python again", name=name)
            SOURCES[name] = file.read_bytes()
            RELOADED.add(name)
        if name not in SOURCES:
            if file:
                raise ImportError(
                    f"{file} is newer than this process; start Python again", name=name
                )
            return None
        file = file or candidates[-1]  # it was deleted after it was read
        folder = [str(stem)] if file.name == "__init__.py" else None
        return spec_from_file_location(
            name, file, loader=_Loader(name, str(file)), submodule_search_locations=folder
        )


def _is_below_lib(path):
    """Return whether the folders in which Python looks for a module belong to this lib."""
    if path is None:
        return True
    folders = [Path(folder) for folder in path]
    return any(folder == LIB or LIB in folder.parents for folder in folders)


def _contents(value):
    """The bytes of an array, which may be changed in place; None for anything else."""
    if isinstance(value, type) or not hasattr(value, "tobytes"):
        return None
    return value.tobytes()


def are_intact(names):
    """Return whether the variables of these modules are still those that their source has set.

    They are not if a module was reloaded, a variable was set from outside, or an array was changed
    in place. Modules that are not imported are intact.
    """
    for name in names:
        if name in sys.modules and not _is_as_imported(name):
            return False
    return not RELOADED & set(names)


def _is_as_imported(name):
    variables = vars(sys.modules[name])
    for variable, (value, contents) in _AS_IMPORTED.get(name, {}).items():
        if variables.get(variable) is not value or _contents(value) != contents:
            return False
    return True


@cache
def code_digest(source):
    """Return a digest of Python source that comments, docstrings and layout do not change."""
    with PARSING:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:DIGITS]


@cache
def _imported_names(source, package):
    """Names of modules that a module imports anywhere, and of what it imports from them."""
    with PARSING:
        tree = ast.parse(source)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parent = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (parent, node.module)))
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def imports(name, sources=None):
    """Return the names that a module of lib imports (see `closure`)."""
    sources = SOURCES if sources is None else sources
    is_package = any(module.startswith(f"{name}.") for module in sources)
    package = name if is_package else name.rpartition(".")[0]
    try:
        return _imported_names(sources[name], package)
    except SyntaxError:  # Python will say so when the module is imported
        return frozenset()


def closure(names, sources=None):
    """Return the modules of lib that run when these are imported and used.

    They are the modules themselves, their packages, and all that these import in turn.

    Parameters
    ----------
    names : iterable of str
        Dotted names of modules, or of functions and classes, such as "lib.winnow.Winnow"; these
        stand for the module that defines them.
    sources : dict of str to bytes, optional
        As `read_sources` returns them; by default those of this process.

    Returns
    -------
    set of str
    """
    sources = SOURCES if sources is None else sources
    modules = set()
    waiting = {PACKAGE, *names}
    while waiting:
        name = waiting.pop()
        while name and name not in sources:
            name = name.rpartition(".")[0]
        if name and name not in modules:
            modules.add(name)
            waiting |= {name.rpartition(".")[0], *imports(name, sources)}
    return modules


def module_digests(names, sources=None):
    """Return the `source_digest` of each of these modules, by name, in the order of names."""
    sources = SOURCES if sources is None else sources
    return {name: source_digest(sources[name]) for name in sorted(names)}


def source_digest(source):
    """Return the `code_digest` of source, or a digest of its bytes where Python cannot parse it."""
    try:
        return code_digest(source)
    except SyntaxError:  # Python will say so when it is imported
        contents = source.encode() if isinstance(source, str) else source
        return hashlib.sha256(contents).hexdigest()[:DIGITS]


sys.meta_path.insert(0, _Finder)
