"""The source of lib as this process runs it: read once, when lib is first imported; all modules are compiled from it.

So a process never mixes two versions of lib, whatever becomes of the files while it runs. And the
keys that are made of these sources (of compiled kernels, of stored blocks, of chapters) are those
of the code that runs. Files of byte code are not used for lib: Python finds them by time and size,
which an edited file can share with an older one.
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
# what stood in each module when it had been imported, by its name: values, and contents of arrays
_AS_IMPORTED = {}


class _Loader(SourceFileLoader):
    """Compiles a module of lib from what was read of it."""

    def get_code(self, fullname):
        return self.source_to_code(SOURCES[fullname], self.path)

    def get_source(self, fullname):
        return decode_source(SOURCES[fullname])

    def exec_module(self, module):
        super().exec_module(module)
        _AS_IMPORTED[module.__name__] = {
            name: (value, _contents(value)) for name, value in vars(module).items()
        }


class _Finder:
    """Finds the modules of lib, and no others."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a module; `target` is the module itself where it is reloaded, which reads its file again.

        Raises
        ------
        ImportError
            If the file of a module is newer than the process, so that nothing tells to which
            version of lib it belongs, or if this module is reloaded.
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
        file = file or candidates[-1]  # one that was deleted after it was read
        folder = [str(stem)] if file.name == "__init__.py" else None
        return spec_from_file_location(
            name, file, loader=_Loader(name, str(file)), submodule_search_locations=folder
        )


def _is_below_lib(path):
    """Return whether the folders in which a module is looked for are of this lib, and not of another one."""
    return path is None or any(
        Path(folder) == LIB or LIB in Path(folder).parents for folder in path
    )


def _contents(value):
    """The bytes of an array, which may be changed in place; None for anything else."""
    return value.tobytes() if hasattr(value, "tobytes") and not isinstance(value, type) else None


def are_intact(names):
    """Return whether what stands in these modules, as far as they are imported, is what their source has put there.

    It is not if one was reloaded, or somebody has set a value in one or changed an array in place.
    """
    for name in names:
        now = vars(sys.modules[name]) if name in sys.modules else {}
        for variable, (value, contents) in _AS_IMPORTED.get(name, {}).items() if now else ():
            if now.get(variable) is not value or _contents(value) != contents:
                return False
    return not RELOADED & set(names)


def have_changed():
    """Return whether the files of lib are others than those that this process runs."""
    return read_sources() != SOURCES


@cache
def code_digest(source):
    """Return a digest of Python source, text or bytes, that neither comments nor docstrings nor layout change."""
    with PARSING:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        may_have_docstring = isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        if may_have_docstring and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:DIGITS]


@cache
def _imported_names(source, package):
    """Names that a module imports, wherever in it: of modules, and of what is taken from them."""
    with PARSING:
        tree = ast.parse(source)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def imports(name, sources=None):
    """Return the names that a module of lib imports (see `closure`)."""
    sources = SOURCES if sources is None else sources
    is_package = any(other.startswith(f"{name}.") for other in sources)
    try:
        return _imported_names(sources[name], name if is_package else name.rpartition(".")[0])
    except SyntaxError:  # whoever imports it will say so
        return frozenset()


def closure(names, sources=None):
    """Return the modules of lib that run when these are imported and used: they, their packages, all they import.

    Parameters
    ----------
    names : iterable of str
        Dotted names; of what is no module of lib, such as "lib.winnow.Winnow", the module that has
        it.
    sources : dict of str to bytes, optional
        As `read_sources` returns them, if not those of this process.

    Returns
    -------
    set of str
    """
    sources = SOURCES if sources is None else sources
    found, waiting = set(), {PACKAGE, *names}
    while waiting:
        name = waiting.pop()
        while name and name not in sources:
            name = name.rpartition(".")[0]
        if name and name not in found:
            found.add(name)
            waiting |= {name.rpartition(".")[0], *imports(name, sources)}
    return found


def digests(names, sources=None):
    """Return the `code_digest` of each of these modules, by name, in order; of one that is no Python, of its bytes."""
    sources = SOURCES if sources is None else sources
    return {name: digest_of(sources[name]) for name in sorted(names)}


def digest_of(source):
    """Return the `code_digest` of source, or a digest of its very bytes where it is no Python."""
    try:
        return code_digest(source)
    except SyntaxError:  # whoever imports it will say so
        contents = source.encode() if isinstance(source, str) else source
        return hashlib.sha256(contents).hexdigest()[:DIGITS]


sys.meta_path.insert(0, _Finder)
