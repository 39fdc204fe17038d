"""Finished blocks of trials on disk, so that an experiment that was killed goes on where it stopped.

A block is stored under all that it depends on: the settings of its trials, which trials they are, seed, code, data,
versions and machine. Nothing stored is ever run: a block holds arrays of numbers and text.
"""

import ast
import hashlib
import io
import json
import os
import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from lib.files import DATA, LIB, files_below, write_whole
from lib.trials.context import current
from lib.trials.description import IDLE, NotDescribableError, code_digest, describe, digest
from lib.trials.notes import tell

WITHOUT_TRIALS = tuple(name.removeprefix("lib.").replace(".", "/") for name in IDLE)
SHA256 = 32  # bytes
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "gymnasium")
ABOUT = "about.json"
READERS = {"lib.datasets", "lib.datasets.table", "lib.datasets.papers"}  # of the data


def _read_sources():
    """Bytes of what every result depends on, by kind and path: lib without what runs no trials, data.

    The code that data sets depend on is that of lib; they themselves are in data/manifest.csv, against which every file
    is checked when it is loaded.
    """
    code = [path for path in files_below(LIB, "*.py") if not str(path.relative_to(LIB)).startswith(WITHOUT_TRIALS)]
    known = [DATA / "manifest.csv", DATA / "schema.toml", *(DATA / "paper").glob("*.csv")]
    return {
        kind: {os.path.relpath(path, LIB): path.read_bytes() for path in sorted(paths) if path.is_file()}
        for kind, paths in {"lib": code, "data": known}.items()
    }


SOURCES = _read_sources()  # as they were imported, whatever becomes of the files later


@cache
def workplace():
    """Return what results depend on where they are computed: sources, versions, kind of processor."""
    digests = {kind: digest({path: c.decode("latin-1") for path, c in own.items()}) for kind, own in SOURCES.items()}
    machine = {"python": platform.python_version(), "machine": platform.machine(), **_arithmetic()}
    return digests | {package: version(package) for package in PACKAGES} | machine


def require_same(there, who):
    """Raise RuntimeError naming what another workplace has otherwise than this one."""
    different = [name for name, value in workplace().items() if there.get(name) != value]
    if different:
        why = "run it again, where all workers have the same"
        raise RuntimeError(f"{who} has another {', '.join(different)} than this process; {why}")


@cache
def _modules():
    """Digest of the code of each module of lib, comments and docstrings left out, and what it imports, by name.

    Third is what a package passes on that does nothing else, by name: who takes one of it does not depend on all.
    """
    modules = {}
    for path, contents in SOURCES["lib"].items():
        name = ".".join(("lib", *Path(path).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(contents)
        nodes = list(ast.walk(tree))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        taken = {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in froms for alias in node.names}
        only_passes = all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in tree.body)
        is_package = path.endswith("__init__.py")
        modules[name] = code_digest(contents), imported | {*taken.values()}, taken if is_package and only_passes else {}
    return modules


def environment(description):
    """Return what the results of what is described depend on besides: `workplace`, of lib what its code can reach.

    That is the modules that the description names, and those that they import, wherever in them; and the data, if they
    are among these.
    """
    reached = _reached(frozenset(re.findall(r'"(lib\.[\w.]+)', json.dumps(description))))
    data = {} if READERS & reached.keys() else {"data": ""}
    return workplace() | {"lib": digest(reached)} | data


@cache
def _reached(names):
    digests, waiting = {}, {"lib.trials", *names}
    while waiting:
        name = waiting.pop()
        while name and name not in _modules():
            package, _, last = name.rpartition(".")
            name = _modules().get(package, ("", (), {}))[2].get(last, package)
        if name and name not in digests:
            digests[name], imported, _ = _modules()[name]
            waiting |= imported
    return digests


def _arithmetic():
    """Return for which processor the code of OpenBLAS, numpy and numba is chosen: last digits depend on it."""
    import llvmlite.binding
    from threadpoolctl import threadpool_info

    kernels = sorted({library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"})
    vectors = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    compiled = os.environ.get("NUMBA_CPU_NAME") or llvmlite.binding.get_host_cpu_name()
    return {"kernels": " ".join(kernels), "vectors": " ".join(vectors), "compiled for": compiled}


def open_store(trial, blocks, name):
    """Return the BlockStore of blocks of calls of `trial`, or None if none is to be used."""
    folder = current().results
    if not folder:
        return None
    try:
        if _read_sources() != SOURCES:
            raise NotDescribableError("the files of lib have changed since it was imported; start Python again")
        return BlockStore(Path(folder), trial, blocks, name)
    except NotDescribableError as error:
        tell("not stored", name, why=str(error))
        return None


class BlockStore:
    """Blocks of one experiment, each a file named by which trials it holds.

    A file begins with the sha256 of its name and the rest, an archive of arrays. It is written aside and then moved to
    its place, so that it is there whole or not at all, whoever else writes into the folder.

    Parameters
    ----------
    root : Path
        Folder of all stored results.
    trial : callable
        With all settings that the trials share.
    blocks : dict of int to sequence of cases
    name : str
        For people, in about.json.

    Raises
    ------
    NotDescribableError
        If it cannot be told what the trials depend on.
    """

    def __init__(self, root, trial, blocks, name):
        settings = describe(trial)
        self.about = {"name": name, "environment": environment(settings), "settings": settings}
        self.folder = root / digest([settings, environment(settings)])
        described = {number: describe(cases) for number, cases in blocks.items()}
        keys = {number: digest([cases, environment(cases)["lib"]]) for number, cases in described.items()}
        self.paths = {number: self.folder / f"{key}.block" for number, key in keys.items()}
        self._failed = False

    def read(self):
        """Return the frames of the blocks that are stored, by number; what is not as it was written is told."""
        frames = {}
        for number, path in self.paths.items():
            if path.is_file():
                try:
                    frames[number] = _read_block(path)
                except Exception:  # numpy lets through whatever goes wrong with a strange archive
                    tell("damaged", self.about["name"], path=str(path))
        if frames:
            tell("found", self.about["name"], blocks=len(frames), all=len(self.paths))
        return frames

    def write(self, number, contents):
        """Store what `encode` made. Where that fails, the experiment goes on, and a warning says so once."""
        path = self.paths[number]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / ABOUT).exists():
                write_whole(self.folder / ABOUT, json.dumps(self.about))
            write_whole(path, _sealed(path, contents) + contents)
        except OSError as error:
            if not self._failed:
                tell("not stored", self.about["name"], why=str(error))
            self._failed = True


def _sealed(path, contents):
    """The sha256 of a block and its name, so that no block passes for another."""
    return hashlib.sha256(f"{path.parent.name}/{path.name}\0".encode() + contents).digest()


def _read_block(path):
    """Return the frame of a block; an error of some kind if the file is not what was written."""
    written = path.read_bytes()
    if written[:SHA256] != _sealed(path, written[SHA256:]):
        raise ValueError("its sha256 is another")
    return decode(written[SHA256:])


def encode(frame):
    """Return a frame as bytes; TypeError unless its columns are numbers, truth values or text, each with a name."""
    names = list(frame)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TypeError(f"the columns of a trial's frame must have names, each another one; got {names}")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, np.array(names), *(_encodable(name, column) for name, column in frame.items()))
    return buffer.getvalue()


def _encodable(name, column):
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"a trial's frame may hold numbers, truth values and text; column {name!r} holds other things")
    if any(value.endswith("\0") for value in values):  # which numpy would drop
        raise TypeError(f"column {name!r} of a trial's frame holds text that ends in the character NUL")
    return values.astype(str)


def decode(contents):
    """Return the frame that `encode` made into these bytes."""
    with np.load(io.BytesIO(contents), allow_pickle=False) as arrays:
        names, *columns = (arrays[name] for name in arrays.files)
        return pd.DataFrame(dict(zip(names.tolist(), columns, strict=True)))
