"""What all learners have in common: parameters out of range and data that they refuse, copies and names of classes."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lib.bayes_net import BayesNetClassifier
from lib.discretize import ClassSeparatingCuts, EntropyDiscretizer
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes
from lib.structures import bic_search, discrete_codes, tan
from lib.winnow import Winnow, WinnowEnsemble

NAN, INF = np.nan, np.inf
WINNOW = {
    "promotion": [1, 0.5, "2", True, INF],
    "demotion": [1, 0],
    "threshold": [0],
    "initial_weight": [0],
    "margin": [-1],
    "n_passes": [0, 1.5],
    "complement": ["no"],
    "average": ["no"],
    "inclusive": ["no"],
}
SEARCH = {"n_restarts": [0, None], "max_iterations": [0], "tolerance": [-1]}
WRONG = {
    BayesNetClassifier(): {
        "structure": ["navie", "TAN"],
        "learner": ["erl", None],
        "method": ["lbgfs"],
        "start": ["rnadom"],
        "smoothing": [-1, NAN, INF, "1"],
        "n_iterations": [-1, True, 1.5, "crosstune"],
        "max_iterations": [0, 2.0],
        "n_folds": [1, 2.0],
        "tolerance": [-1, 0, None],
    },
    LatentClassEM(): SEARCH | {"n_hidden": [1, 2.0], "dtype": ["float16"]},
    LatentClassSelection(): SEARCH | {"criterion": ["bci"], "max_hidden": [1]},
    Winnow(): WINNOW | {"shuffle": ["no"]},
    WinnowEnsemble(): WINNOW | {"n_members": [0, 2.5], "subsample": [0, 2]},
    NaiveBayes(): {"smoothing": [-1, "1"], "ddof": [2]},
    SelectiveNaiveBayes(): {"smoothing": [0, -1.0], "n_folds": [1, 2.5]},
}
PARAMETERS = [(each, name, value) for each, table in WRONG.items() for name in table for value in table[name]]


@pytest.mark.parametrize(("learner", "name", "value"), PARAMETERS)
def test_errors_name_the_parameter_and_its_value(learner, name, value):
    with pytest.raises(ValueError, match=rf"{name} must be .*got {re.escape(repr(value))}"):
        clone(learner).set_params(**{name: value}).fit([[0, 1], [1, 0]], [0, 1])


BOOLEAN = [Winnow(), WinnowEnsemble(n_members=3), LatentClassEM(n_restarts=3), LatentClassCovariance()]
BOOLEAN.append(LatentClassSelection(n_restarts=3, max_hidden=3))
NETS = [BayesNetClassifier(structure, n_iterations=2) for structure in ("naive", "tan", "bic")]
DISCRETE = [*NETS, SelectiveNaiveBayes()]
MIXED = [*DISCRETE, NaiveBayes(), EntropyDiscretizer(), ClassSeparatingCuts()]
NUMBERS = pd.DataFrame({"a": [1.0, 2.0]})
REFUSED = [
    *((each, [[0, 2], [1, 1]], [0, 1], "X must hold only 0 and 1; got .*2.* at row 0, column 1") for each in BOOLEAN),
    *((each, [[0, 0.5], [1, 1]], [0, 1], "X must hold only 0 and 1; got .*0.5") for each in BOOLEAN),
    *((each, [[0, NAN], [1, 1]], [0, 1], "X contains NaN") for each in BOOLEAN),
    *((each, [[0, 1], [1, 1]], [1, 1], r"y must have .*two classes; got one class: \[1\]") for each in BOOLEAN),
    *((each, [[0, 1], [1, 1], [0, 0]], [0, 1, 2], "two classes; got 3 classes") for each in BOOLEAN[1:]),
    *((each, [[0.5, 1], [1, 0]], [0, 1], "column 'x0' has 0.5 in row 0: discretise first") for each in DISCRETE),
    *((each, NUMBERS.assign(a=[1.0, INF]), [0, 1], "infinity; got inf in column 'a', row 1") for each in MIXED),
    *((each, np.array([[1.0], [-INF]]), [0, 1], "infinity; got -inf in column 'x0', row 1") for each in MIXED),
    *((each, NUMBERS, [0, NAN], "y contains NaN: .* row 1") for each in MIXED),
    *((each, NUMBERS, ["p", None], "y contains NaN") for each in MIXED),
    *((each, NUMBERS, [0.5, 1.5], "Unknown label type") for each in MIXED),
    *((each, NUMBERS.assign(a=pd.to_datetime(["2001", "2002"])), [0, 1], "has dtype datetime") for each in MIXED),
    *((each, NUMBERS.iloc[:0], [], "0 sample") for each in MIXED),
    *((each, NUMBERS[[]], [0, 1], "0 feature") for each in MIXED),
    *(
        (each, [[0, 1], [1, 1], [0, 0]], [0, 1], r"inconsistent numbers of samples: \[3, 2\]")
        for each in BOOLEAN + MIXED
    ),
]


@pytest.mark.parametrize(("learner", "X", "y", "message"), REFUSED)
def test_data_that_are_refused(learner, X, y, message):
    with pytest.raises(ValueError, match=message):
        clone(learner).fit(X, y)


@pytest.mark.parametrize("function", [discrete_codes, tan, bic_search])
def test_structures_refuse_the_same_data(function):
    for X, y, message in (
        (np.array([[1.0, 2.0], [3.0, -1e-9]]), [0, 1], "column 'x1' has -1e-09 in row 1: discretise first"),
        (np.array([[1], [0]]), [0, NAN], "y contains NaN"),
        (np.array([[1], [0]]), [0, 1, 1], "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            function(X, y)


@pytest.mark.parametrize("learner", [*BOOLEAN, *DISCRETE, NaiveBayes()])
def test_a_refit_a_clone_and_a_pickle_are_the_same_and_names_of_classes_do_not_matter(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = (X[:, :3].sum(axis=1) + (rng.random(200) < 0.2) > 1).astype(int)
    learner = clone(learner)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    first = learner.fit(X, y).predict(X)
    for other in (pickle.loads(pickle.dumps(learner)), clone(learner).fit(X, y), learner.fit(X, y)):
        np.testing.assert_array_equal(other.predict(X), first)
        if hasattr(other, "predict_proba"):
            np.testing.assert_array_equal(other.predict_proba(X), learner.predict_proba(X))
    names = np.array(["no", "yes"])
    np.testing.assert_array_equal(clone(learner).fit(X, names[y]).predict(X), names[first])
