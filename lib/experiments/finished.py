"""Finished trials on disk, so that an interrupted experiment goes on where it stopped."""

import hashlib
import io
import json
import os
import platform
import tempfile
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

LIB = Path(__file__).resolve().parents[1]
DATA = LIB.parent / "data"
FOLDER = LIB.parent / "_build" / "results"
WITHOUT_TRIALS = ("book/", "figures/", "claims.py", "experiments/elr_tables.py", "experiments/elr_times.py")
DIGEST = 32  # bytes of a sha256
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba")


class FinishedTrials:
    """Frames of trials in files of their own, each named by all that the frame depends on.

    A file is found again only under the same settings, code, packages, Python and machine; one whose sha256 is not the
    one that it begins with counts as not there. Nothing in it is ever run: it holds arrays of numbers and text.

    Parameters
    ----------
    settings : dict
        What the trials depend on besides their label; as JSON can store.
    folder : path, optional
        By default the environment variable BOOK_RESULTS, or ``_build/results`` of the repository.
    """

    def __init__(self, settings, folder=None):
        self.environment = environment()
        ingredients = {"settings": settings, "environment": self.environment}
        key = hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:24]
        self.folder = Path(folder or os.environ.get("BOOK_RESULTS") or FOLDER) / key

    def read(self, label):
        """The frame of the trial with this label (a string), or None."""
        try:
            contents = self._path(label).read_bytes()
        except OSError:
            return None
        if _digest(contents[DIGEST:]) != contents[:DIGEST]:
            return None
        with np.load(io.BytesIO(contents[DIGEST:]), allow_pickle=False) as arrays:
            return pd.DataFrame({name: arrays[name] for name in arrays.files})

    def write(self, label, frame):
        """Store a frame: all of it or, if that is interrupted or this process has other code, nothing."""
        if environment() != self.environment:
            return
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{name: _array(column) for name, column in frame.items()})
        contents = buffer.getvalue()
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".part", delete=False) as file:
            try:
                file.write(_digest(contents) + contents)
                file.close()
                os.replace(file.name, self._path(label))
            except BaseException:
                file.close()
                os.unlink(file.name)
                raise

    def _path(self, label):
        return self.folder / f"{hashlib.sha256(label.encode()).hexdigest()[:24]}.trial"


@lru_cache
def environment():
    """Source of `lib` but for what runs no trials, what is known of the data, versions of packages, and the machine."""
    sources = [path for path in LIB.rglob("*.py") if not path.relative_to(LIB).as_posix().startswith(WITHOUT_TRIALS)]
    known = [DATA / "manifest.csv", DATA / "schema.toml", *(DATA / "paper").glob("*.csv")]
    digest = hashlib.sha256()
    for path in sorted([*sources, *known]):
        digest.update(f"{os.path.relpath(path, LIB)}\0".encode() + path.read_bytes() + b"\0")
    versions = [version(package) for package in PACKAGES]
    return [digest.hexdigest(), *versions, platform.python_version(), platform.machine()]


def _digest(contents):
    return hashlib.sha256(contents).digest()


def _array(column):
    values = column.to_numpy()
    return values if values.dtype.kind in "biuf" else values.astype(str)
