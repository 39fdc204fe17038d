"""The source of lib as this process runs it: read once, when lib is first imported.

Keys of stored results, and folders of compiled kernels, are made of it. The kernels of chapters are
forked from a server that has imported all that they use of lib (see `lib.book.run.kernels`), so
that nothing is imported later. Whoever uses the results of a chapter asks at the end whether the
files are still these (`changed_modules`).
"""

import ast
import hashlib
import threading
from functools import cache

from lib.base.files import LIB, files_below

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


def changed_modules(names):
    """Return which of these modules have other code in their files now than in this process."""
    in_files = read_sources()
    changed = []
    for name in sorted(names):
        if name not in in_files or source_digest(in_files[name]) != source_digest(SOURCES[name]):
            changed.append(name)
    return changed


def without_docstrings(tree):
    """Remove the docstrings from a syntax tree, in place, and return it."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            is_alone = len(node.body) == 1 and not isinstance(node, ast.Module)
            node.body = [ast.Pass()] if is_alone else node.body[1:]
    return tree


@cache
def code_digest(source):
    """Return a digest of Python source that comments, docstrings and layout do not change."""
    with PARSING:
        tree = ast.parse(source)
    return hashlib.sha256(ast.dump(without_docstrings(tree)).encode()).hexdigest()[:DIGITS]


@cache
def imported_names(source, package=""):
    """Return the names of modules that source imports anywhere, and of what it imports from them.

    Parameters
    ----------
    source : str or bytes
    package : str
        To which relative imports belong.

    Returns
    -------
    frozenset of str
    """
    with PARSING:
        tree = ast.parse(source)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parent = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, (parent, node.module)))
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def imports(name, sources=None):
    """Return the names that a module of lib imports (see `closure`)."""
    sources = SOURCES if sources is None else sources
    is_package = any(module.startswith(f"{name}.") for module in sources)
    package = name if is_package else name.rpartition(".")[0]
    try:
        return imported_names(sources[name], package)
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
