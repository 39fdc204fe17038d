"""Finished blocks of trials on disk, so that an experiment that was killed goes on where it stopped.

A block is stored under all that it depends on: the settings of its trials, which trials they are,
seed, code, data, versions and machine. Nothing stored is ever run: a block holds arrays of numbers
and text.
"""

import hashlib
import io
import json
import os
import platform
import re
from functools import cache
from importlib.metadata import version
from multiprocessing import current_process
from pathlib import Path

import numpy as np
import pandas as pd

from lib import sources
from lib.files import DATA, files_below, write_whole
from lib.trials.context import current
from lib.trials.description import PACKAGES, NotDescribableError, describe, digest
from lib.trials.notes import tell
from lib.trials.reading import RESULTS

SHA256 = 32  # bytes
ABOUT = "about.json"
HASH_SEED = "PYTHONHASHSEED"
PAGES = "lib.book"  # the part of lib that no trial is to use


def _data_digests():
    """Digests of the files of data/, by their path there.

    Data sets that are not shipped are in no key: each of their files is checked against
    data/manifest.csv when it is loaded.
    """
    files = {path.relative_to(DATA).as_posix(): path for path in files_below(DATA)}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if _is_data(name)
    }


def _is_data(name):
    return not name.startswith(tuple(f"{folder}/" for folder in RESULTS))


def _data_times():
    """When each file of data/ was last changed, which notices also what is changed and changed back."""
    files = {path.relative_to(DATA).as_posix(): path for path in files_below(DATA)}
    return {name: path.stat().st_ctime_ns for name, path in files.items() if _is_data(name)}


DATA_DIGESTS, DATA_TIMES = _data_digests(), _data_times()  # as they were when trials were imported


def _require_data_as_read():
    if _data_times() != DATA_TIMES:
        raise NotDescribableError(
            "the files of data/ have changed since they were read; start Python again"
        )


@cache
def workplace():
    """Return what results depend on where they are computed: code, data, versions, kind of processor, by name."""
    modules = [name for name in sources.SOURCES if not name.startswith(PAGES)]
    versions = {distribution: version(distribution) for distribution in PACKAGES.values()}
    code = {"lib": digest(sources.digests(modules)), "data": digest(DATA_DIGESTS)}
    return (
        code
        | versions
        | {"python": platform.python_version(), "machine": platform.machine()}
        | _arithmetic()
    )


def require_same(there, who):
    """Raise RuntimeError naming what another workplace has otherwise than this one."""
    # Dask sets one for its workers
    here = {name: value for name, value in workplace().items() if name != HASH_SEED}
    different = [name for name, value in here.items() if there.get(name) != value]
    if different:
        why = "start Python again, so that all of it has what is there now"
        raise RuntimeError(f"{who} has another {', '.join(different)} than this process; {why}")


def environment(description):
    """Return what the results of what is described depend on besides: `workplace`, of lib what its code can reach.

    That is the modules whose names, or the names of what is in them, stand anywhere in the
    description, and all that these import; where lib itself is named, that is all of it.
    """
    text = json.dumps(description)
    names = set(re.findall(r'"(lib(?:\.\w+)+)', text))
    if f'"{sources.PACKAGE}"' in text:
        names |= {name for name in sources.SOURCES if not name.startswith(PAGES)}
    return workplace() | {"lib": _code_reached(frozenset(names))}


@cache
def _code_reached(names):
    """Digest of the modules of lib that run when those of these names do."""
    reached = sources.closure({"lib.trials.runner", *names})
    if pages := sorted(name for name in reached if name.startswith(PAGES)):
        raise NotDescribableError(
            f"{pages[0]} makes pages: a trial must not use it, as its changes are not noticed"
        )
    return digest(sources.digests(reached))


def _arithmetic():
    """Return for which processor, and how, the code of OpenBLAS, numpy and numba is made: last digits depend on it."""
    import llvmlite.binding
    from threadpoolctl import threadpool_info

    from lib.compiled import settings

    kernels = sorted(
        {library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"}
    )
    vectors = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    compiled = os.environ.get("NUMBA_CPU_NAME") or llvmlite.binding.get_host_cpu_name()
    processor = {
        "kernels": " ".join(kernels),
        "vectors": " ".join(vectors),
        "compiled for": compiled,
    }
    processor |= {"compiled with": digest(settings()), "libc": " ".join(platform.libc_ver())}
    # the one decides how large matrices are cut, the other in which order sets are gone through
    return processor | {name: os.environ.get(name, "") for name in ("OPENBLAS_L2_SIZE", HASH_SEED)}


def open_store(trial, blocks, name):
    """Return the BlockStore of blocks of calls of `trial`, or None if none is to be used."""
    folder = current().results
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
        tell("not stored", name, why=str(error))
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
        reached = environment(settings)
        self.about = {"name": name, "environment": reached, "settings": settings}
        self.folder = root / digest([settings, reached])
        described = {number: describe(cases) for number, cases in blocks.items()}
        keys = {
            number: digest([cases, environment(cases)["lib"]])
            for number, cases in described.items()
        }
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
            _require_data_as_read()
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / ABOUT).exists():
                write_whole(self.folder / ABOUT, json.dumps(self.about))
            write_whole(path, _sealed(path, contents) + contents)
        except (OSError, NotDescribableError) as error:
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
        raise TypeError(
            f"the columns of a trial's frame must have names, each another one; got {names}"
        )
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, np.array(names), *(_encodable(name, column) for name, column in frame.items())
    )
    return buffer.getvalue()


def _encodable(name, column):
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if not all(isinstance(value, str) for value in values):
        raise TypeError(
            f"a trial's frame may hold numbers, truth values and text; column {name!r} holds other things"
        )
    if any(value.endswith("\0") for value in values):  # which numpy would drop
        raise TypeError(
            f"column {name!r} of a trial's frame holds text that ends in the character NUL"
        )
    return values.astype(str)


def decode(contents):
    """Return the frame that `encode` made into these bytes."""
    with np.load(io.BytesIO(contents), allow_pickle=False) as arrays:
        names, *columns = (arrays[name] for name in arrays.files)
        return pd.DataFrame(dict(zip(names.tolist(), columns, strict=True)))
