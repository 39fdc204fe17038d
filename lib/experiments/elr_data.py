"""Learning tasks of the experiments with ELR on UCI (Greiner et al. 2005, Tables II and V).

A task is a data set with its rows, splits and codes.
"""

from dataclasses import dataclass, replace

import numpy as np

from lib import datasets as uci
from lib.base.validation import at_least_one, check_choice, check_integer
from lib.datasets import synthetic
from lib.datasets.papers import printed_table
from lib.discretize import EntropyDiscretizer
from lib.structures.encoding import DiscreteCoding

PUBLISHED_SPLIT = ("letter", "satimage", "shuttle")
PUBLISHED_SPLIT_INCOMPLETE = ("allbp", "allrep", "soybean-large")
TRAINING_FILE_ONLY = ("anneal", "dis", "sick")  # Table V counts the rows of UCI's training file
TRAINING_SIZES = {"mofn-3-7-10": 300, "monks-1": 124, "waveform-21": 300}
# the data set of a task that has another name
SOURCES = {"diabetes": "pima", "shuttle-small": "shuttle", "breast-cancer": "breast"}
SAME_DATA = {"diabetes": "pima"}  # two rows of the paper, one data set
# sets whose attributes are values 1 to 10, which MLC++ had as numbers
INTEGER_SETS = ("breast", "breast-cancer")
SYNTHETIC = ("corral", "mofn-3-7-10", "monks-1", "waveform-21")  # by a rule or a program
MIN_ROWS = 20  # complete rows that a set must have
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
SPLIT = 0
TUNING = 1
HOLES = 2
FIT = 3
UNAVAILABLE = {
    "monk1-corrupt": "monks-1 with values removed: not to be had",
    "water-treatment": "UCI's file has no class column",
}


@dataclass(frozen=True, eq=False)
class LearningTask:
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
        """Rough cost of one shuffle.

        It is the sum over folds of training rows x attributes x classes.
        """
        splits = self.splits(N_FOLDS, np.random.SeedSequence(0))
        n_train = len(splits[0][0])
        return len(splits) * n_train * self.data.X.shape[1] * len(np.unique(self.data.y))

    @property
    def n_rows(self):
        """Rows that are trained on or tested."""
        if self.split in ("folds", "sample"):
            return len(self.data.y)
        return sum(self.sizes)

    @property
    def protocol(self):
        """How the rows are split, in words."""
        if self.split == "folds":
            return f"{N_FOLDS} folds"
        [(train, test)] = self.splits(N_FOLDS, np.random.SeedSequence(0))
        if np.isin(train, test).all():
            return f"{len(train)} at random, tested on all"
        manner = "file order" if self.split == "published" else "random splits"
        return f"{len(train)} + {len(test)}, {manner}"

    @property
    def facts(self):
        """The row of the task in a table of data sets."""
        return {
            "dataset": self.name,
            "attributes": self.data.X.shape[1],
            "classes": len(np.unique(self.data.y)),
            "rows": self.n_rows,
            "protocol": self.protocol,
        }

    def repeats(self, n_repeats):
        """Numbers of the shuffles; a published split is taken once."""
        return range(1 if self.split == "published" else n_repeats)

    def splits(self, n_folds, seed):
        """Split the rows once, or into folds of cross-validation.

        Parameters
        ----------
        n_folds : int, at least 2
            Of floor(N / n_folds) rows each, so that up to n_folds - 1 rows are in no fold.
        seed : numpy.random.SeedSequence

        Returns
        -------
        list of (train, test)
            Row numbers, in ascending order but for the test rows of folds.
        """
        rows = np.arange(len(self.data.y))
        if self.split == "published":
            n_train, n_test = self.sizes
            return [(rows[:n_train], rows[len(rows) - n_test :])]
        if self.split == "sample":
            train = training_rows(self.data.name, int(seed.generate_state(1)[0]))
            # the others are all inputs that there are, on which MLC++ tested
            is_drawn = self.data.name == "waveform-21"
            return [(train, np.setdiff1d(rows, train) if is_drawn else rows)]
        shuffled = np.random.default_rng(seed).permutation(rows)
        if self.split == "random":
            n_train, n_test = self.sizes
            train = np.sort(shuffled[:n_train])
            test = np.sort(shuffled[n_train : n_train + n_test])
            return [(train, test)]
        # as the paper's accuracies imply: see tests/test_greiner_slips.py
        n_used = len(rows) // n_folds * n_folds
        folds = shuffled[:n_used].reshape(n_folds, -1)
        return [(np.setdiff1d(rows, fold), fold) for fold in folds]


def training_rows(name, seed=0):
    """Draw a training set of the published size: 300, 124 or 300 of all rows.

    Parameters
    ----------
    name : "mofn-3-7-10", "monks-1" or "waveform-21"
    seed : int, at least 0

    Returns
    -------
    ndarray of int
        Row numbers, ascending.
    """
    size = TRAINING_SIZES[check_choice("name", name, TRAINING_SIZES)]
    n_rows = len(synthetic.generate(name)[1])
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    return np.sort(rng.choice(n_rows, size, replace=False))


def paper_table(table):
    """Return a table of the paper, "ii" to "ix", as it is printed.

    Tables II and V have a row a data set; there `test` is text in II ("CV-5" or a number) and a
    number or NaN in V. The others have a row a cell, with `value` and, where there is one, `se` as
    numbers, in percent: accuracies in III, IV, VII and VIII, errors in VI. Learners without a
    network have the structure "". The averages of VI, VIII and IX are rows of a data set "average".
    """
    text_columns = {"structure": str, "learner": str}
    frame = printed_table(f"greiner_table_{table}", dtype=text_columns)
    return frame.fillna(dict.fromkeys(text_columns, ""))


def load_tasks(table, names):
    """Load the learning tasks of Table "ii" or "v" whose data are at hand.

    Parameters
    ----------
    table : {"ii", "v"}
    names : str or sequence of str
        Data sets as the paper calls them.

    Returns
    -------
    tasks : list of LearningTask
    reasons : dict of str to str
        Why others are not available, by name.

    Raises
    ------
    ValueError
        If a name is not in the table or there twice ("diabetes" has the rows of "pima"), or fewer
        than two of the sets can be had: they are to be compared.
    """
    known_names = list(paper_table(table)["dataset"])
    names = at_least_one("datasets", names)
    for name in names:
        check_choice("datasets", name, known_names)
    names = [SAME_DATA.get(name, name) for name in names]
    if len(set(names)) < len(names):
        raise ValueError(f"datasets must name each data set once; got {names}")
    tasks = []
    reasons = {}
    for name in names:
        try:
            tasks.append(load_task(name, incomplete=table == "v"))
        except uci.NotAvailableError as error:
            if name in UNAVAILABLE or "rows are complete" in str(error):
                reasons[name] = str(error).partition(": ")[2]
            else:  # the message of a failed download depends on the machine
                reasons[name] = (
                    "neither shipped nor, when this was run, to be had from a mirror or UCI"
                )
    if len(tasks) < 2:
        raise ValueError(
            f"datasets must name at least two sets that can be had; got {names}, without {reasons}"
        )
    return tasks, reasons


def load_task(name, incomplete=False):
    """Load one learning task.

    Sets that Table II (or V) gives sizes for are split so: into the published parts where those are
    known, else at random. All others have folds. The attributes of "breast" are numbers.

    Parameters
    ----------
    name : str
        As the paper prints it, in lower case.
    incomplete : bool
        Whether rows with missing values stay, as in Table V. Otherwise they are left out, but of
        "vote", where a missing vote is a value: the paper's 435 rows are all there are.

    Returns
    -------
    LearningTask

    Raises
    ------
    NotAvailableError
        If the data cannot be had, or few of their rows are complete where these are asked for.
    """
    if name in UNAVAILABLE:
        raise uci.NotAvailableError(f"{name}: {UNAVAILABLE[name]}")
    data = uci.load(SOURCES.get(name, name))
    if name in INTEGER_SETS:
        data = replace(data, X=data.X.astype(float))
    if incomplete:
        return _incomplete_task(name, data)
    if name == "vote":  # an abstention says something
        votes = data.X.apply(lambda vote: vote.cat.add_categories("missing").fillna("missing"))
        data = replace(data, X=votes)
    else:
        data = data.complete_rows()
    if len(data.y) < MIN_ROWS:
        raise uci.NotAvailableError(f"{name}: only {len(data.y)} of its rows are complete")
    if data.name in TRAINING_SIZES:
        return LearningTask(name, data, None, "sample")
    sizes = _sizes_of_table_ii(name)
    # in the order of the files where this is known to be the paper's split
    if name in PUBLISHED_SPLIT:
        return LearningTask(name, data, sizes or _file_sizes(data), "published")
    return LearningTask(name, data, sizes, "random" if sizes else "folds")


def _incomplete_task(name, data):
    """A task of Table V, with all rows of a data set."""
    if name in TRAINING_FILE_ONLY:
        data = replace(data, X=data.X[: data.n_train], y=data.y[: data.n_train])
    if name in PUBLISHED_SPLIT_INCOMPLETE:
        return LearningTask(name, data, _file_sizes(data), "published")
    return LearningTask(name, data, None, "folds")


def _file_sizes(data):
    """Rows of the published training set, and of the test set."""
    return data.n_train, len(data.y) - data.n_train


def _sizes_of_table_ii(name):
    """Training and test rows in Table II; None for cross-validation and for sets not in it."""
    rows = paper_table("ii").set_index("dataset")
    if name not in rows.index or rows.loc[name, "test"] == "CV-5":
        return None
    return int(rows.loc[name, "train"]), int(rows.loc[name, "test"])


def encode_split(data, train, test, holes=None):
    """Encode training and test rows, with numbers cut by the entropy of the training rows.

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
        Of the training rows, then of the test rows, class first. A test value that the training
        rows do not have, nor their column declares, is missing.
    sizes : ndarray of int, shape (n_attributes + 1,)
        Number of values of each variable.
    """
    X = data.X
    if holes is None:
        visible = X
        test_readings = [X.iloc[test]]
    else:
        # a column of booleans could have no missing value
        X = X.astype({name: "category" for name in X.select_dtypes(bool)})
        visible = X.assign(**{name: X[name].where(~holes[:, i]) for i, name in enumerate(X)})
        test_readings = [visible.iloc[test], X.iloc[test]]
    # test rows may not move a cut point
    discretizer = EntropyDiscretizer().fit(visible.iloc[train], data.y[train])
    discrete_train = discretizer.transform(visible.iloc[train])
    coding = DiscreteCoding(discrete_train)
    attribute_codes = [coding(discrete_train)]
    attribute_codes += [coding(discretizer.transform(reading)) for reading in test_readings]
    classes = np.unique(data.y, return_inverse=True)[1]
    rows = np.concatenate([train, *[test] * len(test_readings)])
    codes = np.column_stack([classes[rows], np.concatenate(attribute_codes)])
    return codes, np.append(classes.max() + 1, coding.sizes)
