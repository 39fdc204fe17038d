"""Faults of tables: each learner answers with probabilities, or with one clear error."""

import warnings

import numpy as np
import pandas as pd
import pytest
from learner_examples import EXAMPLES, TREE
from scipy import sparse
from sklearn.pipeline import make_pipeline

from lib.bayes_net import BayesNetClassifier
from lib.discretize import ClassSeparatingCuts, EntropyDiscretizer, OneHot
from lib.ensembles import Bagging
from lib.naive_bayes import NaiveBayes
from lib.relevance import Schemata
from lib.winnow import Winnow

N = 24
LARGEST, SMALLEST = np.finfo(float).max, 5e-324
LEARNERS = [
    # OneHot takes no floats, be they whole; below it follows a discretiser
    *(learner for name, learner in EXAMPLES.items() if name != "OneHot"),
    BayesNetClassifier(structure="naive", learner="elr", random_state=0),
    make_pipeline(EntropyDiscretizer(), BayesNetClassifier(structure="naive", learner="ofe")),
    make_pipeline(ClassSeparatingCuts(), OneHot(), Winnow(complement=True, random_state=0)),
    Bagging(NaiveBayes(), n_members=2, random_state=0),
    make_pipeline(Schemata(limit=60, random_state=0), TREE),
]


def table(**columns):
    """Two columns of every kind that matters to all learners: 0 and 1."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, N)).astype(float)
    return pd.DataFrame({"a": a, "b": b} | columns)


# The class is that of the first column, but in every eighth row.
IS_EXCEPTION = np.arange(N) % 8 == 0
Y = np.where((table()["a"] == 1) ^ IS_EXCEPTION, "yes", "no")
REAL = np.random.default_rng(1).normal(size=N)
READ_ONLY = table().to_numpy()
READ_ONLY.flags.writeable = False

# X and y of fit, and X of predict.
TABLES = {
    "nothing wrong": (table(), Y, table()),
    "one row": (table()[:1], Y[:1], table()),
    "two rows": (table()[:2], ["no", "yes"], table()),
    "no rows": (table()[:0], Y[:0], table()),
    "no rows to predict": (table(), Y, table()[:0]),
    "no columns": (table()[[]], Y, table()[[]]),
    "one class": (table(), ["no"] * N, table()),
    "a class for each row": (table(), [f"class {i}" for i in range(N)], table()),
    "one dimension": (table()["a"].to_numpy(), Y, table()),
    "three dimensions": (np.zeros((N, 2, 2)), Y, table()),
    "lengths differ": (table(), Y[:-1], table()),
    "a class is missing": (table(), [None, *Y[1:]], table()),
    "a class is NaN": (table(), [np.nan, *np.arange(N - 1) % 2], table()),
    "classes are fractions": (table(), REAL, table()),
    "classes in two columns": (table(), np.column_stack([Y, Y]), table()),
    "a column of missing values": (table(c=np.nan), Y, table(c=np.nan)),
    "a column of nothing": (table(c=pd.Series([None] * N, dtype=object)), Y, table(c=None)),
    "missing in new rows": (table(), Y, table() * np.nan),
    "constant columns": (table() * 0, Y, table() * 0),
    "identifiers": (table(c=np.arange(N)), Y, table(c=np.arange(N) + 7)),
    "names": (table(c=[f"row {i}" for i in range(N)]), Y, table(c=[f"new {i}" for i in range(N)])),
    "large numbers": (table(c=REAL * 1e300), Y, table(c=REAL * -1e300)),
    "the widest range": (
        table(c=np.resize([-LARGEST, LARGEST], N)),
        Y,
        table(c=np.resize([LARGEST, 0, 1], N)),
    ),
    "small numbers": (table(c=REAL * 1e-300), Y, table(c=REAL)),
    "the smallest numbers": (
        table(c=np.resize([0, SMALLEST], N)),
        Y,
        table(c=np.resize([SMALLEST, 1], N)),
    ),
    "a sentinel": (table(c=REAL), Y, table(c=-999999999.0)),
    "far away": (table(c=REAL), Y, table(c=np.resize([LARGEST, -LARGEST], N))),
    "whole numbers beyond 64 bits": (
        table(c=[10**30 + i for i in range(N)]),
        Y,
        table(c=[10**30] * N),
    ),
    "infinity": (table(c=np.inf), Y, table(c=np.inf)),
    "infinity in new rows": (table(), Y, table() / 0),
    "two columns of one name": (
        table().set_axis(["a", "a"], axis=1),
        Y,
        table().set_axis(["a", "a"], axis=1),
    ),
    "names that are numbers": (
        table().set_axis([0, 1], axis=1),
        Y,
        table().set_axis([0, 1], axis=1),
    ),
    "an index that repeats": (table().set_axis([0] * N), Y, table().set_axis([0] * N)),
    "a column less": (table(c=REAL), Y, table()),
    "columns in another order": (table(), Y, table()[["b", "a"]]),
    "text in new rows": (table(), Y, table().astype(object).replace({1.0: "x"})),
    "dates": (table(c=pd.Timestamp("2020-01-01")), Y, table(c=pd.Timestamp("2020-01-01"))),
    "complex numbers": (table(c=1j), Y, table(c=1j)),
    "read only": (READ_ONLY, Y, READ_ONLY),
    "in another order in memory": (np.asfortranarray(table()), Y, np.asfortranarray(table())[::-1]),
    "sparse": (sparse.csr_array(table().to_numpy()), Y, sparse.csr_array(table().to_numpy())),
    "negative numbers": (-table(), Y, -table()),
}

# With these nothing is wrong for any learner.
VALID = ("nothing wrong", "an index that repeats", "read only", "in another order in memory")


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:40])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:column 'c' counts as categories")
def test_probabilities_or_an_error(learner):
    """Warnings of lib's own arithmetic are errors."""
    failures = {}
    for fault, data in TABLES.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=RuntimeWarning, module=r"lib\..*")
            try:
                require_probabilities(learner, *data)
            except (ValueError, TypeError) as error:
                if fault in VALID:
                    failures[fault] = error
            except Exception as error:
                failures[fault] = error
    assert not failures


def require_probabilities(learner, X, y, new_X):
    """A prediction for each row, and probabilities that sum to 1."""
    learner.fit(X, y)
    is_transformer = not hasattr(learner, "predict")
    labels = learner.transform(new_X) if is_transformer else learner.predict(new_X)
    assert len(labels) == new_X.shape[0]
    if hasattr(learner, "predict_proba"):
        sums = learner.predict_proba(new_X).sum(axis=1)
        assert np.abs(sums - 1).max() < 1e-9


@pytest.mark.parametrize("name", ["MixtureOfExperts", "VariableKernel"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_text_is_refused_by_learners_of_numbers(name):
    """In new rows as well, also in an array, whose columns have the names of fit."""
    learner = EXAMPLES[name]
    remedy = "lib.discretize.OneHot"
    soil = np.resize(["clay", "loam"], N)
    for text in (soil, pd.Categorical(soil)):
        with pytest.raises(ValueError, match=f"'soil' must hold numbers; got 'clay'.*{remedy}"):
            learner.fit(table(soil=text), Y)
    learner.fit(table(), Y)
    with pytest.raises(ValueError, match="'b' must hold numbers; got 'clay'"):
        learner.predict(table(b=soil))
