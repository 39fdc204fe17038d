"""Finished blocks of trials on disk, so that an experiment that was killed goes on where it stopped.

A block is stored under all that it depends on: the settings of its trials, which trials they are, seed, code, lock
file, data, versions and machine. Nothing stored is ever run: a block holds arrays of numbers and text.
"""

import hashlib
import io
import json
import os
import platform
import re
import shutil
import tempfile
from collections import namedtuple
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from lib.trials.context import current
from lib.trials.description import DIGITS, IDLE, NotDescribableError, code_digest, describe, digest
from lib.trials.notes import tell

LIB = Path(__file__).resolve().parents[1]
WITHOUT_TRIALS = tuple(name.removeprefix("lib.").replace(".", "/") for name in IDLE)
SHA256 = 32  # bytes
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba")
ABOUT = "about.json"


class DamagedBlockError(ValueError):
    """A block's file that is not what was written."""


def _read_sources():
    """Bytes of what every result depends on, by kind and path: lib without what runs no trials, data, lock file.

    The code that data sets depend on is that of lib; they themselves are in data/manifest.csv, against which every file
    is checked when it is loaded.
    """
    code = [path for path in LIB.rglob("*.py") if not path.relative_to(LIB).as_posix().startswith(WITHOUT_TRIALS)]
    data = LIB.parent / "data"
    known = [data / "manifest.csv", data / "schema.toml", *(data / "paper").glob("*.csv")]
    kinds = {"lib": code, "data": known, "lock": [LIB.parent / "requirements.lock"]}
    return {
        kind: {os.path.relpath(path, LIB): path.read_bytes() for path in sorted(paths) if path.is_file()}
        for kind, paths in kinds.items()
    }


SOURCES = _read_sources()  # as they were imported, whatever becomes of the files later


@cache
def workplace():
    """Return what results depend on where they are computed: sources, versions, kind of processor."""
    digests = {kind: digest([[path, _sha256(c)] for path, c in files.items()]) for kind, files in SOURCES.items()}
    machine = {"python": platform.python_version(), "machine": platform.machine(), **_arithmetic()}
    return digests | {package: version(package) for package in PACKAGES} | machine


def differences(other):
    """Names of what another workplace has otherwise than this one."""
    return [name for name, value in workplace().items() if other.get(name) != value]


def fetched(names):
    """What can be had, its contents checked, of those of these data sets that are not shipped: status and reason."""
    from lib.datasets import files  # and what fetches them, which takes a moment
    from lib.datasets.catalogue import catalogue

    entries = [entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names]
    return {entry.name: files.status(entry) for entry in entries}


def _sha256(contents):
    return hashlib.sha256(contents).hexdigest()


@cache
def environment():
    """Return what all keys of blocks share: `workplace`, with comments and docstrings of lib left out."""
    code = {path: code_digest(contents) for path, contents in SOURCES["lib"].items()}
    return workplace() | {"lib": digest(code)}


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
    if _read_sources() != SOURCES:
        tell("not stored", name, why="the files of lib have changed since it was imported; start Python again")
        return None
    try:
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
        self.about = {"name": name, "environment": environment(), "settings": settings}
        self.folder = root / digest([settings, environment()])
        self.paths = {number: self.folder / f"{digest(describe(cases))}.block" for number, cases in blocks.items()}
        self._failed = False

    def read(self, number):
        """Return the frame of a block; FileNotFoundError or, if it is not what was written, DamagedBlockError."""
        path = self.paths[number]
        if not path.is_file():
            raise FileNotFoundError(path)
        written = path.read_bytes()
        sha256, contents = written[:SHA256], written[SHA256:]
        if sha256 != _sealed(path, contents):
            raise DamagedBlockError(str(path))
        try:
            return decode(contents)
        except Exception as error:  # numpy lets through whatever goes wrong with a strange archive
            raise DamagedBlockError(str(path)) from error

    def write(self, number, contents):
        """Store what `encode` made. Where that fails, the experiment goes on, and a warning says so once."""
        path = self.paths[number]
        try:
            if not (self.folder / ABOUT).exists():
                _write_whole(self.folder / ABOUT, json.dumps(self.about).encode())
            _write_whole(path, _sealed(path, contents) + contents)
        except OSError as error:
            if not self._failed:
                tell("not stored", self.about["name"], why=str(error))
            self._failed = True


def _sealed(path, contents):
    """The sha256 of a block and its name, so that no block passes for another."""
    return hashlib.sha256(f"{path.parent.name}/{path.name}\0".encode() + contents).digest()


def _write_whole(path, contents):
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


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


StoredExperiment = namedtuple("StoredExperiment", "folder name n_blocks size current")
StoredExperiment.__doc__ = "What a folder of stored results holds."


def stored_experiments(root):
    """Return a StoredExperiment for each folder of results in `root`, largest first; whatever else is there is none."""
    named = [path for path in Path(root).glob("*") if re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", path.name)]
    folders = [path for path in named if path.is_dir() and not path.is_symlink()]
    return sorted((_stored(folder) for folder in folders), key=lambda found: (-found.size, found.name))


def _stored(folder):
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        name, current = str(about["name"]), about["environment"] == environment()
    except (OSError, ValueError, KeyError, TypeError):
        name, current = "unknown", False
    files = list(folder.iterdir())
    n_blocks = sum(path.suffix == ".block" for path in files)
    return StoredExperiment(
        folder, name, n_blocks, sum(path.stat().st_size for path in files if path.exists()), current
    )


def clear(experiments):
    """Remove these folders of stored results; OSError if one cannot be removed."""
    for experiment in experiments:
        shutil.rmtree(experiment.folder)
