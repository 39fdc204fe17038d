"""Data sets of the experiments with ELR on UCI: rows, splits and codes (Greiner et al. 2005, Tables II and V)."""

from dataclasses import dataclass, replace

import numpy as np

from lib import datasets as uci
from lib.datasets import synthetic
from lib.datasets.papers import printed_table
from lib.discretize import EntropyDiscretizer
from lib.structures.encoding import DiscreteCoding
from lib.validation import at_least_one, check_choice, check_integer

PUBLISHED_SPLIT = ("letter", "satimage", "shuttle")
PUBLISHED_SPLIT_INCOMPLETE = ("allbp", "allrep", "soybean-large")
TRAINING_FILE_ONLY = ("anneal", "dis", "sick")  # Table V counts the rows of UCI's training file
TRAINING_SIZES = {"mofn-3-7-10": 300, "monks-1": 124, "waveform-21": 300}
SOURCES = {"diabetes": "pima", "shuttle-small": "shuttle", "breast-cancer": "breast"}
SAME_DATA = {"diabetes": "pima"}  # two rows of the paper, one data set
# whose attributes are values 1 to 10, which MLC++ had as numbers
NUMBERS = ("breast", "breast-cancer")
MADE = ("corral", "mofn-3-7-10", "monks-1", "waveform-21")  # by a rule or a program
LEAST_ROWS = 20  # complete rows that a set must have
N_FOLDS = 5
BAYES_NET_LEARNERS = {  # what it climbs, and when it stops
    "ofe": ("elr", "at the start"),
    "elr": ("elr", "cross-tuned"),
    "elr_forced": ("elr", "cross-tuned, not 0"),
    "elr_fixed": ("elr", "fixed"),
    "elr_converged": ("elr", "converged"),
    "apn": ("apn", "cross-tuned"),
    "apn_forced": ("apn", "cross-tuned, not 0"),
    "apn_converged": ("apn", "converged"),
    "em": ("em", "converged"),
}
# what the seeds of a shuffle, (data set, repeat, ...), are for
SPLIT, TUNING, HOLES, FIT = range(4)
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
        Of a "sample", the training rows are drawn as `training_rows` says.
    """

    name: str
    data: uci.Dataset
    sizes: tuple | None
    split: str

    @property
    def work(self):
        """What one shuffle takes, roughly, as training rows times attributes times classes of all folds."""
        splits = self.splits(N_FOLDS, np.random.SeedSequence(0))
        return len(splits) * len(splits[0][0]) * self.data.X.shape[1] * len(np.unique(self.data.y))

    @property
    def n_rows(self):
        """Rows that are trained on or tested."""
        return len(self.data.y) if self.split in ("folds", "sample") else sum(self.sizes)

    @property
    def protocol(self):
        """How it is split, in words."""
        if self.split == "folds":
            return f"{N_FOLDS} folds"
        [(train, test)] = self.splits(N_FOLDS, np.random.SeedSequence(0))
        if np.isin(train, test).all():
            return f"{len(train)} at random, tested on all"
        return f"{len(train)} + {len(test)}, {'file order' if self.split == 'published' else 'random splits'}"

    @property
    def facts(self):
        """Its row in a table of data sets."""
        counts = {
            "attributes": self.data.X.shape[1],
            "classes": len(np.unique(self.data.y)),
            "rows": self.n_rows,
        }
        return {"dataset": self.name, **counts, "protocol": self.protocol}

    def repeats(self, n_repeats):
        """Numbers of the shuffles; a published split is taken once."""
        return range(1 if self.split == "published" else n_repeats)

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
        folds = shuffled[: len(rows) // n_folds * n_folds].reshape(n_folds, -1)
        return [(np.setdiff1d(rows, fold), fold) for fold in folds]


def training_rows(name, seed=0):
    """Row numbers, ascending, of a random training set of the published size: 300, 124 or 300 of all rows.

    Parameters
    ----------
    name : "mofn-3-7-10", "monks-1" or "waveform-21"
    seed : int, at least 0
    """
    size = TRAINING_SIZES[check_choice("name", name, TRAINING_SIZES)]
    n_rows = len(synthetic.generate(name)[1])
    return np.sort(
        np.random.default_rng(check_integer("seed", seed, 0)).choice(n_rows, size, replace=False)
    )


def printed(table):
    """Return a table of the paper, "ii" to "ix", as it is printed.

    Tables II and V have a row a data set; there `test` is text in II ("CV-5" or a number) and a
    number or NaN in V. The others have a row a cell, with `value` and, where there is one, `se` as
    numbers, in percent: accuracies in III, IV, VII and VIII, errors in VI. Learners without a
    network have the structure "". The averages of VI, VIII and IX are rows of a data set "average".
    """
    words = {"structure": str, "learner": str}
    return printed_table(f"greiner_table_{table}", dtype=words).fillna(dict.fromkeys(words, ""))


def problems(table, names):
    """Return the problems of Table "ii" or "v" that can be had and, by name, why others cannot.

    Raises
    ------
    ValueError
        If a name is not in the table or there twice ("diabetes" has the rows of "pima"), or fewer
        than two of the sets can be had: they are to be compared.
    """
    known = list(printed(table)["dataset"])
    names = [check_choice("datasets", name, known) for name in at_least_one("datasets", names)]
    names = [SAME_DATA.get(name, name) for name in names]
    if len(set(names)) < len(names):
        raise ValueError(f"datasets must name each data set once; got {names}")
    available, reasons = [], {}
    for name in names:
        try:
            available.append(problem(name, table == "v"))
        except uci.NotAvailableError as error:
            ours = name in LOST or "rows are complete" in str(error)
            why = "neither shipped nor, when this was run, to be had from a mirror or UCI"
            reasons[name] = str(error).partition(": ")[2] if ours else why
    if len(available) < 2:
        raise ValueError(
            f"datasets must name at least two sets that can be had; got {names}, without {reasons}"
        )
    return available, reasons


def problem(name, incomplete=False):
    """Load one problem; NotAvailableError if it cannot be had, or has few complete rows where these are asked for.

    Sets that Table II (or V) gives sizes for are split so: into the published parts where those are
    known, else at random. All others have folds. Rows with missing values are left out unless
    `incomplete`, but of "vote", where a missing vote is a value: the paper's 435 rows are all there
    are. The attributes of "breast" are numbers.
    """
    if name in LOST:
        raise uci.NotAvailableError(f"{name}: {LOST[name]}")
    data = uci.load(SOURCES.get(name, name))
    if name in NUMBERS:
        data = replace(data, X=data.X.astype(float))
    if incomplete:
        return _incomplete(name, data)
    if name == "vote":
        data = replace(
            data, X=data.X.apply(lambda vote: vote.cat.add_categories("missing").fillna("missing"))
        )
    else:
        data = data.complete_rows()
    if len(data.y) < LEAST_ROWS:
        raise uci.NotAvailableError(f"{name}: only {len(data.y)} of its rows are complete")
    if data.name in TRAINING_SIZES:
        return Problem(name, data, None, "sample")
    sizes = _sizes(name)
    if name in PUBLISHED_SPLIT:
        return Problem(name, data, sizes or (data.n_train, len(data.y) - data.n_train), "published")
    return Problem(name, data, sizes, "random" if sizes else "folds")


def _incomplete(name, data):
    if name in TRAINING_FILE_ONLY:
        data = replace(data, X=data.X[: data.n_train], y=data.y[: data.n_train])
    if name in PUBLISHED_SPLIT_INCOMPLETE:
        return Problem(name, data, (data.n_train, len(data.y) - data.n_train), "published")
    return Problem(name, data, None, "folds")


def _sizes(name):
    """Training and test rows in Table II; None for cross-validation and for sets not in it."""
    rows = printed("ii").set_index("dataset")
    if name not in rows.index or rows.loc[name, "test"] == "CV-5":
        return None
    return int(rows.loc[name, "train"]), int(rows.loc[name, "test"])


def coded(data, train, test, holes=None):
    """Codes of the training rows and then the test rows, class first, cut by the entropy of the training rows.

    Parameters
    ----------
    data : lib.datasets.Dataset
    train, test : ndarray of int
        Row numbers.
    holes : ndarray of bool, shape (n_rows, n_attributes), optional
        Values that are removed before anything is learned from them. The codes of the test rows
        come twice, then: with these values removed and with them.

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
    seen = (
        X
        if holes is None
        else X.assign(**{name: X[name].where(~holes[:, i]) for i, name in enumerate(X)})
    )
    cutter = EntropyDiscretizer().fit(seen.iloc[train], data.y[train])
    known = cutter.transform(seen.iloc[train])
    coding = DiscreteCoding(known)
    tables = [seen.iloc[test]] if holes is None else [seen.iloc[test], X.iloc[test]]
    values = np.concatenate([coding(known), *(coding(cutter.transform(table)) for table in tables)])
    rows = np.concatenate([train, *[test] * len(tables)])
    return np.column_stack([classes[rows], values]), np.append(classes.max() + 1, coding.sizes)
