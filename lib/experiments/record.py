"""Recorded results: rows of the last full run, for data sets that a build cannot have.

They ship in data/recorded, a file a chapter.
"""

import gzip
import hashlib
import io
import json
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from lib.base.files import LIB
from lib.datasets.catalogue import DATA, restore_words
from lib.trials.notes import write_note
from lib.trials.options import current_options

FOLDER = DATA / "recorded"
SIGN = "†"


class Record:
    """The recorded rows of a chapter, which stand in for the data sets that it cannot have.

    Rows that were recorded with other code or packages than those of today are taken, too, and the
    page says so. Under `book record` a new record is written instead, of what the chapter computes.

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
        self.chapter = chapter
        self.names = []
        self._new_frames = {}  # by experiment, under `book record`
        # as JSON has them: a tuple becomes a list
        parameters = json.loads(json.dumps(parameters))
        self._header = {"chapter": chapter, "parameters": parameters}
        self._rows = pd.DataFrame(columns=["experiment", "dataset"])
        path = FOLDER / f"{chapter}.csv.gz"
        if current_options().record or not path.is_file():
            return
        header, rows = read_record(path)
        if header.get("parameters") == parameters:
            self._header = header
            self._rows = pd.read_csv(io.StringIO(rows), dtype=str, keep_default_na=False)

    def complete(self, experiment, frame, absent):
        """Add the recorded rows of absent data sets to the computed rows of an experiment.

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

        Returns
        -------
        DataFrame
            In the order of the full run, with a column `recorded`.
        """
        if current_options().record:
            self._write_new(experiment, frame)
        recorded = self._rows_of(experiment)
        self._compare(experiment, recorded, frame)
        added = recorded[recorded["dataset"].isin(set(absent) - set(frame["dataset"]))]
        self._note_names(added["dataset"].unique())
        frames = [frame.assign(recorded=False), added.assign(recorded=True)]
        # an empty frame would change the types of columns
        rows = pd.concat([rows for rows in frames if len(rows)] or frames)
        # data sets stand in the order of the full run, new ones at the end
        order = list(dict.fromkeys([*recorded["dataset"], *frame["dataset"]]))
        places = rows["dataset"].map(order.index)
        return rows.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)

    def _write_new(self, experiment, frame):
        """Write the record of all experiments until now: the last of a chapter completes it."""
        path, commit, code = current_options().record
        self._new_frames[experiment] = frame.astype(str).assign(experiment=experiment)
        header = self._header | {"commit": commit, "code": code}
        write(path, header, pd.concat(self._new_frames.values()))

    def _rows_of(self, experiment):
        """The rows of one experiment; parsed anew, so that its columns have types of their own."""
        rows = self._rows[self._rows["experiment"] == experiment].drop(columns="experiment")
        # the file has the columns of all experiments
        is_of_experiment = (rows != "").any() | (rows.columns == "dataset")
        text = rows.loc[:, is_of_experiment].to_csv(index=False)
        return pd.read_csv(io.StringIO(text))

    def _compare(self, experiment, recorded, frame):
        """Warn of data sets whose computed rows are not those recorded."""
        recorded_rows = _rows_by_dataset(recorded)
        different = [
            name
            for name, rows in _rows_by_dataset(frame).items()
            if rows != recorded_rows.get(name, rows)
        ]
        if different:
            names = ", ".join(different)
            write_note("recorded", self.chapter, experiment=experiment, names=names)
            warnings.warn(f"{experiment}: rows of {names} are not those recorded", stacklevel=3)

    def _note_names(self, names):
        """Remember, and tell once, of which data sets recorded rows are shown."""
        new_names = [name for name in names if name not in self.names]
        if not new_names:
            return
        self.names = [*self.names, *new_names]
        if self.differences:
            write_note(
                "outdated", self.chapter, names=", ".join(new_names), differences=self.differences
            )
        write_note("absent", self.chapter, sets=new_names)

    def mark(self, names):
        """Write names of data sets in capitals, those that are recorded with a sign.

        Parameters
        ----------
        names : Series of str
        """
        return names.str.upper() + names.isin(self.names).map({True: SIGN, False: ""})

    @property
    def differences(self):
        """What has changed since the rows were recorded, in words; empty if nothing has.

        The code of today is known to the book's driver, which says it to the kernel (see
        `lib.trials.options`); without it nothing is compared.
        """
        code = current_options().code
        if code is None or "date" not in self._header:
            return ""
        differences = []
        if self._header.get("code") != code:
            differences.append("other code")
        if self._header.get("lock") != lock_digest():
            differences.append("other packages")
        return " and ".join(differences)

    @property
    def note(self):
        """What the page says of the rows that are recorded."""
        if not self.names:
            return "No row of this page is a recorded one: all were computed when it was made."
        differences = f", recorded with {self.differences}" if self.differences else ""
        return (
            f"Rows marked {SIGN} are recorded ones, of {self._header['date']} "
            f"(commit {self._header['commit']}){differences}: the data of "
            f"{', '.join(self.names).upper()} are not shipped and could not be had when this page "
            "was made. Means and tests over data sets include them. Where there is a network, or "
            "UCI_MIRROR names a folder with UCI's files, they are computed."
        )


def _rows_by_dataset(frame):
    """Rows of each data set as text; the order of columns does not count.

    The file of a chapter has one order of columns for all of its experiments.
    """
    return {
        name: rows.sort_index(axis=1).to_csv(index=False) for name, rows in frame.groupby("dataset")
    }


def read_record(path):
    """Read a file of recorded rows.

    Returns
    -------
    header : dict
        chapter, parameters, commit, code, date and lock.
    rows : str
        CSV.

    Raises
    ------
    ValueError
        If it has been altered.
    """
    try:
        first_line, _, rows = gzip.decompress(path.read_bytes()).decode().partition("\n")
        header = json.loads(first_line)
        if header.pop("sha256") != _seal(header, rows):
            raise ValueError("its sha256 is another")
    except Exception as error:  # gzip and json raise errors of many kinds
        raise ValueError(
            f"{path} is not what `book record` wrote ({error}); {restore_words(path)}"
        ) from error
    return header, rows


def lock_digest():
    """The sha256 of the lock file, which names the book's packages; empty if there is none."""
    path = LIB.parent / "requirements.lock"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def write(path, header, rows):
    """Write rows, all text, and their header, with the day, the lock file's digest and a sha256."""
    header = header | {"date": date.today().isoformat(), "lock": lock_digest()}
    text = rows.to_csv(index=False)
    first_line = json.dumps(header | {"sha256": _seal(header, text)})
    # without a time, so that the same rows give the same bytes
    Path(path).write_bytes(gzip.compress(f"{first_line}\n{text}".encode(), mtime=0))


def _seal(header, rows):
    return hashlib.sha256(f"{json.dumps(header, sort_keys=True)}\n{rows}".encode()).hexdigest()
