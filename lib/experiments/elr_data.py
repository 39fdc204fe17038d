"""Data sets of the experiments with ELR on UCI: rows, splits and codes (Greiner et al. 2005, Tables II and V)."""

import zlib
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from lib import datasets as uci
from lib.datasets.synthetic import TRAINING_SIZES, training_rows
from lib.discretize import EntropyDiscretizer
from lib.experiments.greiner_printed import printed
from lib.experiments.uci_learners import missing_as_value
from lib.structures.codes import DiscreteCoding
from lib.validation import at_least_one, check_choice

MISSING_AS_VALUE = ("vote",)  # a vote that is neither for nor against; the paper's 435 rows are all there are
PUBLISHED_SPLIT = ("letter", "satimage", "shuttle")
PUBLISHED_SPLIT_INCOMPLETE = ("allbp", "allrep", "soybean-large")
TRAINING_FILE_ONLY = ("anneal", "dis", "sick")  # Table V counts the rows of UCI's training file
SOURCES = {"diabetes": "pima", "shuttle-small": "shuttle", "breast-cancer": "breast"}
SAME_DATA = {"diabetes": "pima"}  # two rows of the paper, one data set
LEAST_ROWS = 20  # complete rows that a set must have
N_FOLDS = 5
SPLIT, TUNING, HOLES, FIT = range(4)  # keys of a repeat's random numbers
LOST = {
    "monk1-corrupt": "monks-1 with values removed: not to be had",
    "water-treatment": "UCI's file has no class column",
}


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set and how it is split.

    Attributes
    ----------
    name : str
        As the paper prints it, in lower case.
    data : lib.datasets.Dataset
    sizes : tuple of int or None
        Training and test rows; None for cross-validation.
    split : {"folds", "published", "sample", "random"}
        Of a "sample", the training rows are drawn as `lib.datasets.synthetic.training_rows` says.
    """

    name: str
    data: uci.Dataset
    sizes: tuple | None
    split: str

    @property
    def is_random(self):
        """Whether another shuffle is another split."""
        return self.split != "published"

    def splits(self, n_folds, seed):
        """Pairs of row numbers, training and test: `n_folds` folds of floor(N / n_folds) rows, or one pair.

        Parameters
        ----------
        n_folds : int, at least 2
        seed : numpy.random.SeedSequence
        """
        rows = np.arange(len(self.data.y))
        if self.split == "published":
            n_train, n_test = self.sizes
            return [(rows[:n_train], rows[len(rows) - n_test :])]
        if self.split == "sample":
            train = training_rows(self.data.name, int(seed.generate_state(1)[0]))
            return [(train, np.setdiff1d(rows, train) if self.data.name == "waveform-21" else rows)]
        shuffled = np.random.default_rng(seed).permutation(rows)
        if self.split == "random":
            n_train, n_test = self.sizes
            return [(np.sort(shuffled[:n_train]), np.sort(shuffled[n_train : n_train + n_test]))]
        parts = shuffled[: len(rows) // n_folds * n_folds].reshape(n_folds, -1)
        return [(np.setdiff1d(rows, part), part) for part in parts]


def problems(names, incomplete=False):
    """The named problems that can be had.

    Parameters
    ----------
    names : sequence of str
        Each once: of Table II (with `incomplete`, of Table V), in lower case, or of `lib.datasets`. "diabetes" is
        "pima", which has the same rows.
    incomplete : bool
        Whether rows with missing values stay.

    Returns
    -------
    list of Problem, dict
        The second says, by name, why a set is not available.

    Raises
    ------
    ValueError
        If a name is unknown or there twice, or none of the sets can be had.
    """
    found, reasons = [], {}
    known = sorted({*printed("v" if incomplete else "ii")["dataset"], *uci.names()})
    names = [check_choice("datasets", name, known) for name in at_least_one("datasets", names)]
    names = [SAME_DATA.get(name, name) for name in names]
    if len(set(names)) < len(names):
        raise ValueError(f"datasets must name each data set once; got {names}")
    for name in names:
        try:
            found.append(problem(name, incomplete))
        except uci.NotAvailableError as error:
            known = name in LOST or "rows are complete" in str(error)
            why = "neither shipped nor, when this was run, to be had from a mirror or UCI"
            reasons[name] = str(error).partition(": ")[2] if known else why
    if not found:
        raise ValueError(f"datasets must name at least one set that can be had; got {reasons}")
    return found, reasons


def problems_of_table(names, incomplete=False):
    """Like `problems`, of Table II (or V) only; ValueError unless two at least can be had, to be compared."""
    table = "v" if incomplete else "ii"
    found, reasons = problems(names, incomplete)
    others = [p.name for p in found if p.name not in set(printed(table)["dataset"])]
    if others:
        raise ValueError(f"datasets must be of Table {table.upper()}; got {', '.join(others)}")
    if len(found) < 2:
        lacking = f"; not available: {reasons}" if reasons else ""
        raise ValueError(f"datasets must name at least two sets that can be had; got {found[0].name}{lacking}")
    return found, reasons


def problem(name, incomplete=False):
    """Load one problem; NotAvailableError if it cannot be had, or has few complete rows where these are asked for.

    Sets that Table II (or V) gives sizes for are split so: into the published parts where those are known, else at
    random. All others have folds. Rows with missing values are left out unless `incomplete`, but of "vote", where a
    missing vote is a value.
    """
    if name in LOST:
        raise uci.NotAvailableError(f"{name}: {LOST[name]}")
    data = uci.load(SOURCES.get(name, name))
    if incomplete:
        return _incomplete(name, data)
    data = replace(data, X=missing_as_value(data.X)) if data.name in MISSING_AS_VALUE else data.complete_rows()
    if len(data.y) < LEAST_ROWS:
        raise uci.NotAvailableError(f"{name}: only {len(data.y)} of its rows are complete")
    if data.name in TRAINING_SIZES:
        return Problem(name, data, None, "sample")
    if name in PUBLISHED_SPLIT:
        return Problem(name, data, _sizes("ii", name) or (data.n_train, len(data.y) - data.n_train), "published")
    sizes = _sizes("ii", name)
    return Problem(name, data, sizes, "random" if sizes else "folds")


def _incomplete(name, data):
    if name in TRAINING_FILE_ONLY:
        data = replace(data, X=data.X[: data.n_train], y=data.y[: data.n_train])
    if name in PUBLISHED_SPLIT_INCOMPLETE:
        return Problem(name, data, (data.n_train, len(data.y) - data.n_train), "published")
    return Problem(name, data, None, "folds")


def _sizes(table, name):
    """Training and test rows in a table of the paper; None for cross-validation and for sets not in it."""
    rows = printed(table).set_index("dataset")
    if name not in rows.index or rows.loc[name, "test"] == "CV-5":
        return None
    return int(rows.loc[name, "train"]), int(rows.loc[name, "test"])


def removed(shape, rate, seed):
    """Which values are removed: each with probability `rate`, (n_rows, n_attributes)."""
    return np.random.default_rng(seed).random(shape) < rate


def coded(data, train, test, holes=None):
    """Codes of the training rows and then the test rows, class first, cut by the entropy of the training rows.

    Parameters
    ----------
    data : lib.datasets.Dataset
    train, test : ndarray of int
        Row numbers.
    holes : ndarray of bool, shape (n_rows, n_attributes), optional
        Values that are removed before anything is learned from them. The codes of the test rows come twice, then:
        with these values removed and with them.

    Returns
    -------
    codes : ndarray of int, shape (n_train + n_test or n_train + 2 n_test, n_attributes + 1)
        A test value that the training rows do not have, nor their column declares, is missing.
    sizes : ndarray of int, shape (n_attributes + 1,)
        Number of values of each variable.
    """
    X, classes = data.X, np.unique(data.y, return_inverse=True)[1]
    if holes is not None:
        X = X.astype({name: "category" for name in X.select_dtypes(bool)})  # which can be missing
    seen = X if holes is None else X.assign(**{name: X[name].where(~holes[:, i]) for i, name in enumerate(X)})
    cutter = EntropyDiscretizer().fit(seen.iloc[train], data.y[train])
    known = cutter.transform(seen.iloc[train])
    coding = DiscreteCoding(known)
    tables = [seen.iloc[test]] if holes is None else [seen.iloc[test], X.iloc[test]]
    values = np.concatenate([coding(known), *(coding(cutter.transform(table)) for table in tables)])
    rows = np.concatenate([train, *[test] * len(tables)])
    return np.column_stack([classes[rows], values]), np.append(classes.max() + 1, coding.sizes)


@lru_cache(maxsize=64)
def loaded(name, incomplete=False):
    """What `problem` returns, kept in this process."""
    return problem(name, incomplete)


def repeat_seed(name, repeat, entropy):
    """SeedSequence of one repeat of a data set, which does not depend on what else is asked for."""
    return np.random.SeedSequence(entropy, spawn_key=(zlib.crc32(name.encode()), repeat))
