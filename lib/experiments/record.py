"""Recorded results: rows of the last full run, for data sets that a build cannot have (data/recorded)."""

import gzip
import hashlib
import io
import json
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from lib.datasets.catalogue import DATA
from lib.files import LIB
from lib.trials.notes import write_note
from lib.trials.options import current_options

FOLDER = DATA / "recorded"
SIGN = "†"


class Record:
    """The recorded rows of a chapter, out of which it takes those of the data sets that it cannot have.

    Rows that were recorded with other code or packages than those of today are taken, too, and it
    says so.

    Under `book record` it writes a new one instead, of what the chapter computes.

    Parameters
    ----------
    chapter : str
        Such as "elr/uci".
    parameters
        What all its rows depend on, but for the names of data sets. No rows of other values are
        shown.

    Attributes
    ----------
    names : list of str
        Data sets of which rows were taken.

    Raises
    ------
    ValueError
        If the file has been altered.
    """

    def __init__(self, chapter, **parameters):
        self.chapter, self.names, self._written = chapter, [], {}
        self._about = {"chapter": chapter, "parameters": json.loads(json.dumps(parameters))}
        path = FOLDER / f"{chapter}.csv.gz"
        about, rows = ({}, "") if current_options().record or not path.is_file() else read(path)
        if about.get("parameters") == self._about["parameters"]:
            self._about = about
            self._rows = pd.read_csv(io.StringIO(rows), dtype=str, keep_default_na=False)
        else:
            self._rows = pd.DataFrame(columns=["experiment", "dataset"])

    def complete(self, experiment, frame, absent):
        """Add the rows of absent data sets to those computed, in the order of the full run, with a column `recorded`.

        Where computed rows are not the recorded ones, it says so (see `lib.trials.notes`), and
        warns beside the cell: a strict build fails there.

        Parameters
        ----------
        experiment : str
            Its name among those of the chapter.
        frame : DataFrame
            The rows computed, with a column dataset.
        absent : iterable of str
            Data sets that could not be had.
        """
        if current_options().record:
            path, commit, code = current_options().record
            self._written[experiment] = frame.astype(str).assign(experiment=experiment)
            write(
                path,
                self._about | {"commit": commit, "code": code},
                pd.concat(self._written.values()),
            )
        recorded = self._recorded(experiment)
        before, now = _by_set(recorded), _by_set(frame)
        if other := [name for name, rows in now.items() if rows != before.get(name, rows)]:
            write_note("recorded", self.chapter, experiment=experiment, names=", ".join(other))
            warnings.warn(
                f"{experiment}: rows of {', '.join(other)} are not those recorded", stacklevel=2
            )
        added = recorded[recorded["dataset"].isin(set(absent) - now.keys())]
        new_names = [name for name in added["dataset"].unique() if name not in self.names]
        if new_names and self.differences:
            write_note(
                "outdated", self.chapter, names=", ".join(new_names), differences=self.differences
            )
        if new_names:
            write_note("absent", self.chapter, sets=new_names)
        self.names = [*self.names, *new_names]
        parts = [frame.assign(recorded=False), added.assign(recorded=True)]
        together = pd.concat([part for part in parts if len(part)] or parts)
        order = list(dict.fromkeys([*recorded["dataset"], *frame["dataset"]]))
        places = together["dataset"].map(order.index)
        return together.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)

    def _recorded(self, experiment):
        """The rows of one experiment; read once more, so that its columns have types of their own."""
        rows = self._rows[self._rows["experiment"] == experiment].drop(columns="experiment")
        text = rows.loc[:, (rows != "").any() | (rows.columns == "dataset")].to_csv(index=False)
        return pd.read_csv(io.StringIO(text))

    def mark(self, names):
        """Names of data sets in capitals, those that are recorded with a sign."""
        return names.str.upper() + names.isin(self.names).map({True: SIGN, False: ""})

    @property
    def differences(self):
        """What is another today than when the rows were recorded, in words; empty if nothing is, or it is not known.

        The code of today is known to the book's driver, which says it to the kernel (see
        `lib.trials.options`).
        """
        code = current_options().code
        if code is None or "date" not in self._about:
            return ""
        today = {"code": code, "lock": lock_digest()}
        words = {"code": "other code", "lock": "other packages"}
        return " and ".join(words[name] for name in words if self._about.get(name) != today[name])

    @property
    def note(self):
        """What the page says of the rows that are recorded."""
        if not self.names:
            return "No row of this page is a recorded one: all were computed when it was made."
        differences = f", recorded with {self.differences}" if self.differences else ""
        return (
            f"Rows marked {SIGN} are recorded ones, of {self._about['date']} (commit {self._about['commit']})"
            f"{differences}: the data of "
            f"{', '.join(self.names).upper()} are not shipped and could not be had when this page was made. Means and "
            "tests over data sets include them. Where there is a network, or UCI_MIRROR names a folder with UCI's "
            "files, they are computed."
        )


def _by_set(frame):
    """Rows of each data set as text; the file of a chapter has one order of columns for all of its experiments."""
    return {
        name: rows.sort_index(axis=1).to_csv(index=False) for name, rows in frame.groupby("dataset")
    }


def read(path):
    """What a file of recorded rows says about them, and the rows as CSV; ValueError if it has been altered."""
    try:
        head, _, rows = gzip.decompress(path.read_bytes()).decode().partition("\n")
        about = json.loads(head)
        if about.pop("sha256") != _seal(about, rows):
            raise ValueError("its sha256 is another")
    except Exception as error:  # gzip and json raise errors of many kinds
        raise ValueError(
            f"{path} is not what `book record` wrote ({error}); restore it with `git checkout`"
        ) from error
    return about, rows


def lock_digest():
    """The sha256 of the lock file, which says with which packages the book is made; empty if there is none."""
    path = LIB.parent / "requirements.lock"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def write(path, about, rows):
    """Write rows, all text, and what is said about them, now with the day, the lock file's digest and a sha256."""
    about = about | {"date": date.today().isoformat(), "lock": lock_digest()}
    text = rows.to_csv(index=False)
    head = json.dumps(about | {"sha256": _seal(about, text)})
    Path(path).write_bytes(gzip.compress(f"{head}\n{text}".encode(), mtime=0))


def _seal(about, rows):
    return hashlib.sha256(f"{json.dumps(about, sort_keys=True)}\n{rows}".encode()).hexdigest()
