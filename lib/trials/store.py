"""Finished blocks of trials on disk: an experiment that was killed goes on where it stopped.

A block is stored under a key of all that it depends on: the trial and the values it uses, which
trials of the experiment it holds, seed, code, data, versions and machine. Nothing that is stored is
ever executed: a block holds arrays of numbers and text.
"""

import hashlib
import io
import json
import os
import platform
from functools import cache
from importlib.metadata import version
from multiprocessing import current_process
from pathlib import Path

import numpy as np
import pandas as pd

from lib.base import sources
from lib.base.files import DATA, files_below, write_whole
from lib.trials.notes import write_note
from lib.trials.options import current_options
from lib.trials.source_key import PACKAGES, NotDescribableError, describe, digest

SHA256 = 32  # bytes
SUMMARY = "about.json"
HASH_SEED = "PYTHONHASHSEED"
PAGES = "lib.book"  # the part of lib that no trial is to use
RESULTS = ("recorded", "registered", "benchmarks")  # folders of data/ that the book itself writes
NOT_READ = (".md", ".py")  # files of data/ for people, and those that made the others


def data_digests():
    """Return the sha256 of each file of data/, by its path there.

    Those that hold results of the book itself are left out, and so are pages and programs. Data
    sets that are not shipped are in no key: each of their files is checked against
    data/manifest.csv when it is loaded.
    """
    digests = {}
    for path in files_below(DATA):
        name = path.relative_to(DATA).as_posix()
        is_result = name.startswith(tuple(f"{folder}/" for folder in RESULTS))
        if not is_result and not name.endswith(NOT_READ):
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


DATA_DIGESTS = data_digests()  # as they were when trials were imported


def _require_data_as_read():
    if data_digests() != DATA_DIGESTS:
        raise NotDescribableError(
            "the files of data/ have changed since they were read; start Python again"
        )


@cache
def runtime_fingerprint():
    """Return what results depend on in this process: code, data, versions, processor, by name."""
    modules = [name for name in sources.SOURCES if not name.startswith(PAGES)]
    fingerprint = {"lib": digest(sources.module_digests(modules)), "data": digest(DATA_DIGESTS)}
    for distribution in PACKAGES.values():
        fingerprint[distribution] = version(distribution)
    fingerprint["python"] = platform.python_version()
    fingerprint["machine"] = platform.machine()
    return fingerprint | _arithmetic()


def require_same_runtime(fingerprint, process):
    """Raise RuntimeError if another process has another `runtime_fingerprint`.

    The message names what differs.

    Parameters
    ----------
    fingerprint : dict
        Of the other process.
    process : str
        What the message calls that process.
    """
    different = []
    for name, value in runtime_fingerprint().items():
        # Dask sets a hash seed of its own for its workers.
        if name != HASH_SEED and fingerprint.get(name) != value:
            different.append(name)
    if different:
        raise RuntimeError(
            f"{process} has another {', '.join(different)} than this process; "
            "start Python again, so that all of it has what is there now"
        )


def environment(modules):
    """Return what results depend on besides a description: the `runtime_fingerprint`.

    Of lib it has only what runs with these modules; all of lib where lib itself is named.

    Parameters
    ----------
    modules : frozenset of str
        As in `lib.trials.source_key.Description`.
    """
    if sources.PACKAGE in modules:
        modules = frozenset(name for name in sources.SOURCES if not name.startswith(PAGES))
    return runtime_fingerprint() | {"lib": _code_reached(modules)}


@cache
def _code_reached(names):
    """Digest of the modules of lib that run when those of these names do."""
    reached = sources.closure({"lib.trials.runner", *names})
    if pages := sorted(name for name in reached if name.startswith(PAGES)):
        raise NotDescribableError(
            f"{pages[0]} makes pages: a trial must not use it, as its changes are not noticed"
        )
    return digest(sources.module_digests(reached))


def _arithmetic():
    """For which processor, and how, OpenBLAS, numpy and numba compute: last digits depend on it."""
    import llvmlite.binding
    from threadpoolctl import threadpool_info

    from lib.base.compiled import numba_options

    blas_libraries = [entry for entry in threadpool_info() if entry["user_api"] == "blas"]
    kernels = sorted({library["architecture"] for library in blas_libraries})
    vectors = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return {
        "kernels": " ".join(kernels),
        "vectors": " ".join(vectors),
        "compiled for": os.environ.get("NUMBA_CPU_NAME") or llvmlite.binding.get_host_cpu_name(),
        "compiled with": digest(numba_options()),
        "libc": " ".join(platform.libc_ver()),
        # It decides into which blocks OpenBLAS cuts large matrices.
        "OPENBLAS_L2_SIZE": os.environ.get("OPENBLAS_L2_SIZE", ""),
        # It decides the order of sets of text.
        HASH_SEED: os.environ.get(HASH_SEED, ""),
    }


def open_store(trial, blocks, name):
    """Return the `BlockStore` of these blocks, or None where nothing is stored; a note says why."""
    folder = current_options().results
    if not folder:
        return None
    try:
        if current_process().daemon:
            raise NotDescribableError(
                "a process that may have no children runs trials itself, in whatever state it is"
            )
        _require_data_as_read()
        return BlockStore(Path(folder), trial, blocks, name)
    except NotDescribableError as error:
        write_note("not stored", name, why=str(error))
        return None


class BlockStore:
    """Blocks of one experiment, each a file named by which trials it holds.

    A file begins with the sha256 of its name and the rest, an archive of arrays. It is written
    aside and then moved to its place, so that it is there whole or not at all, whoever else writes
    into the folder.

    Parameters
    ----------
    root : Path
        Folder of all stored results.
    trial : callable
        Together with the values that it uses.
    blocks : dict of int to sequence of cases
    name : str
        Name of the experiment, for people who read about.json.

    Raises
    ------
    NotDescribableError
        If the trials depend on something that cannot be described.
    """

    def __init__(self, root, trial, blocks, name):
        trial_description = describe(trial)
        trial_environment = environment(trial_description.modules)
        self.summary = {
            "name": name,
            "environment": trial_environment,
            "modules": sorted(trial_description.modules),
        }
        self.folder = root / digest([trial_description.digest, trial_environment])
        self.paths = {}
        for number, cases in blocks.items():
            cases_description = describe(cases)
            # Cases may use code of lib that the trial does not, such as the class of a learner.
            code = environment(cases_description.modules)["lib"]
            key = digest([cases_description.digest, code])
            self.paths[number] = self.folder / f"{key}.block"
        self._has_failed = False

    def read(self):
        """Return the frames of the stored blocks, by number; note those that are damaged."""
        frames = {}
        for number, path in self.paths.items():
            if path.is_file():
                try:
                    frames[number] = _read_block(path)
                except Exception:  # numpy lets through whatever goes wrong with a strange archive
                    write_note("damaged", self.summary["name"], path=str(path))
        if frames:
            write_note("found", self.summary["name"], blocks=len(frames), all=len(self.paths))
        return frames

    def write(self, number, contents):
        """Store the bytes that `encode` returned; if that fails, note it once and go on."""
        path = self.paths[number]
        try:
            _require_data_as_read()
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / SUMMARY).exists():
                write_whole(self.folder / SUMMARY, json.dumps(self.summary))
            write_whole(path, _seal(path, contents) + contents)
        except (OSError, NotDescribableError) as error:
            if not self._has_failed:
                write_note("not stored", self.summary["name"], why=str(error))
            self._has_failed = True


def _seal(path, contents):
    """The sha256 of a block together with its name, so that no block passes for another."""
    return hashlib.sha256(f"{path.parent.name}/{path.name}\0".encode() + contents).digest()


def _read_block(path):
    """Return the frame of a block; raise some error if the file was changed or damaged."""
    file_contents = path.read_bytes()
    seal = file_contents[:SHA256]
    contents = file_contents[SHA256:]
    if seal != _seal(path, contents):
        raise ValueError("its sha256 is another")
    return decode(contents)


def encode(frame):
    """Return a frame as bytes.

    Raises
    ------
    TypeError
        Unless its columns are numbers, truth values or text, each with a name of its own.
    """
    names = list(frame)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TypeError(
            f"the columns of a trial's frame must have names, each another one; got {names}"
        )
    arrays = [_to_array(name, column) for name, column in frame.items()]
    buffer = io.BytesIO()
    np.savez_compressed(buffer, np.array(names), *arrays)
    return buffer.getvalue()


def _to_array(name, column):
    """A column as an array that needs no pickle."""
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if not all(isinstance(value, str) for value in values):
        raise TypeError(
            f"a trial's frame may hold numbers, truth values and text; "
            f"column {name!r} holds other things"
        )
    if any(value.endswith("\0") for value in values):  # numpy would drop the NUL
        raise TypeError(
            f"column {name!r} of a trial's frame holds text that ends in the character NUL"
        )
    return values.astype(str)


def decode(contents):
    """Return the frame of which `encode` made these bytes."""
    with np.load(io.BytesIO(contents), allow_pickle=False) as arrays:
        names, *columns = (arrays[name] for name in arrays.files)
        return pd.DataFrame(dict(zip(names.tolist(), columns, strict=True)))
