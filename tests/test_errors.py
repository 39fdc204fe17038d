"""Bad input: what models, learners, data, statistics, experiments and trials say of it.

A row is a call, words that its message must have, and what it raises if that is no ValueError. An
error that needs files, processes or patches, or that must leave something as it was, stands beside
the tests of these.
"""

import dataclasses
import math
import re
from datetime import datetime
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from lib import datasets, evaluation, experiments, trials
from lib.bayes_net import BayesNetClassifier, Cases, Network
from lib.bayes_net.ascent import ascend
from lib.bayes_net.learners import climb
from lib.benchmarks import read_benchmarks
from lib.cia import CIAModel, concentration, random_cia, sample_cia
from lib.claims import Claim, Setting
from lib.datasets import table
from lib.datasets.catalogue import catalogue
from lib.datasets.papers import printed_table
from lib.discretize import ClassSeparatingCuts, CutPoints, EntropyDiscretizer, OneHot
from lib.experiments.elr_data import load_tasks
from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes
from lib.structures import bic_search, chain, discrete_codes, naive, tan
from lib.structures.graphs import check_parents
from lib.trials.store import encode
from lib.winnow import Winnow, WinnowEnsemble

NAN = np.nan
INF = np.inf
RNG = np.random.default_rng(0)

# Parameters, learner by learner: which values are refused.
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
INVALID_PARAMETERS = {
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
# Data that all learners of a kind refuse.
BOOLEAN = [
    Winnow(),
    WinnowEnsemble(n_members=3),
    LatentClassEM(n_restarts=3),
    LatentClassCovariance(),
    LatentClassSelection(n_restarts=3, max_hidden=3),
]
NETS = [BayesNetClassifier(structure, n_iterations=2) for structure in ("naive", "tan", "bic")]
DISCRETE = [*NETS, SelectiveNaiveBayes()]
MIXED_LEARNERS = [*DISCRETE, NaiveBayes(), EntropyDiscretizer(), ClassSeparatingCuts()]
NUMBERS = pd.DataFrame({"a": [1.0, 2.0]})
DATES = pd.to_datetime(["2001", "2002"])
# Learners, X and y, and words of the message.
INVALID_DATA = [
    (BOOLEAN, [[0, 2], [1, 1]], [0, 1], "X must hold only 0 and 1; got .*2.* at row 0, column 1"),
    (BOOLEAN, [[0, 0.5], [1, 1]], [0, 1], "X must hold only 0 and 1; got .*0.5"),
    (BOOLEAN, [[0, NAN], [1, 1]], [0, 1], "X contains NaN"),
    (BOOLEAN, [[0, 1], [1, 1]], [1, 1], r"y must have .*two classes; got one class: \[1\]"),
    (BOOLEAN[1:], [[0, 1], [1, 1], [0, 0]], [0, 1, 2], "two classes; got 3 classes"),
    (DISCRETE, [[0.5, 1], [1, 0]], [0, 1], "column 'x0' has 0.5 in row 0: discretise first"),
    (
        MIXED_LEARNERS,
        NUMBERS.assign(a=[1.0, INF]),
        [0, 1],
        "infinity; got inf in column 'a', row 1",
    ),
    (MIXED_LEARNERS, np.array([[1.0], [-INF]]), [0, 1], "infinity; got -inf in column 'x0', row 1"),
    (MIXED_LEARNERS, NUMBERS, [0, NAN], "y contains NaN: .* row 1"),
    (MIXED_LEARNERS, NUMBERS, ["p", None], "y contains NaN"),
    (MIXED_LEARNERS, NUMBERS, [0.5, 1.5], "Unknown label type"),
    (MIXED_LEARNERS, NUMBERS.assign(a=DATES), [0, 1], "has dtype datetime"),
    (MIXED_LEARNERS, NUMBERS.iloc[:0], [], "0 sample"),
    (MIXED_LEARNERS, NUMBERS[[]], [0, 1], "0 feature"),
    (
        BOOLEAN + MIXED_LEARNERS,
        [[0, 1], [1, 1], [0, 0]],
        [0, 1],
        r"inconsistent numbers of samples: \[3, 2\]",
    ),
]


def fit(learner, X, y=(0, 1), /, **parameters):
    return clone(learner).set_params(**parameters).fit(X, y)


def parameter_rows():
    """Calls of `fit` with an invalid value of each parameter, and words."""
    for learner, parameters in INVALID_PARAMETERS.items():
        for name, values in parameters.items():
            for value in values:
                call = partial(fit, learner, [[0, 1], [1, 0]], **{name: value})
                yield call, rf"{name} must be .*got {re.escape(repr(value))}"


def data_rows():
    """Calls of `fit` of each learner with the data that it refuses, and words."""
    for learners, X, y, words in INVALID_DATA:
        for learner in learners:
            yield partial(fit, learner, X, y), words


ALL_LEARNERS = [*parameter_rows(), *data_rows()]

TWO_ROWS = [[0, 1], [1, 0]]
# Two entries of row 0 and one of row 1, their columns, and words.
SPARSE = [
    ([1, 1, 2], [0, 2, 1], "X must hold only 0 and 1; got .*2.* at row 1, column 1"),
    ([1, 0, -1], [0, 2, 1], "got .*-1.* at row 1, column 1"),
    ([1, 0.5, 1], [0, 1, 1], "got .*0.5.* at row 0, column 1"),
    ([1, 1, 1], [2, 2, 0], "got .*2.* at row 0, column 2"),  # twice the same place
]
HEAVY = r"weights would overflow: .* must be at most 1e\+250; got initial_weight"


def winnow(n_attributes=2):
    return Winnow().fit(np.eye(2, n_attributes, dtype=int), [0, 1])


def learn_more(X):
    return winnow(3).partial_fit(X, [0, 1])


def predict_classes(X):
    return winnow(3).predict(X)


def sparse_rows():
    """Calls that learn from sparse rows, learn more from them or predict them, and words."""
    for entries, columns, words in SPARSE:
        ends = [0, 2, 3]
        X = sparse.csr_array((np.array(entries), np.array(columns), np.array(ends)), shape=(2, 3))
        yield partial(fit, Winnow(), X), words
        yield partial(learn_more, X), words
        yield partial(predict_classes, X), words


WINNOWS = [
    *sparse_rows(),
    (
        lambda: Winnow(complement=True).fit(sparse.csr_array(np.eye(2)), [0, 1]),
        "complement must be False for sparse X",
    ),
    (
        lambda: WinnowEnsemble().fit(sparse.csr_array(np.eye(2)), [0, 1]),
        "dense data is required",
        TypeError,
    ),
    *(
        (partial(fit, learner, TWO_ROWS, **{name: 1e300}), HEAVY)
        for learner in (Winnow(), WinnowEnsemble())
        for name in ("promotion", "threshold", "initial_weight", "margin")
    ),
    (lambda: Winnow().partial_fit(TWO_ROWS, [0, 1]), "classes must be given at the first call"),
    (
        lambda: Winnow().partial_fit(TWO_ROWS, [0, 0], classes=[0]),
        r"two classes; got one class: \[0\]",
    ),
    (
        lambda: Winnow().partial_fit(TWO_ROWS, [0, 1], classes=[0, 2]),
        r"y holds .*1.*, which is not one of classes: \[0 2\]",
    ),
    (
        lambda: winnow().partial_fit(TWO_ROWS, [0, 1], classes=[0, 2]),
        "classes must be those of the first call",
    ),
]

PLAIN = pd.DataFrame({"a": [True, False], "b": [1.0, 2.0]})
HUGE = pd.DataFrame({name: pd.Categorical([0, 1, 1], categories=range(3000)) for name in "abcd"})


def predict(X):
    return NaiveBayes().fit(PLAIN, [0, 1]).predict(X)


@cache
def two_cases():
    """Complete rows of naive Bayes, of ten parameters."""
    return Cases.from_rows(Network(naive(2), [2, 2, 2]), np.array([[0, 1, 1], [1, 0, 1]]))


def huge(learner):
    """A class with two values, and a table of 162,000,000,000,000."""
    return BayesNetClassifier(((), (0,), (0,), (0,), (0, 1, 2, 3)), learner).fit(HUGE, [0, 1, 0])


BAYES = [
    (
        lambda: fit(NaiveBayes(), PLAIN.assign(b=pd.period_range("2001", periods=2))),
        "column 'b' has dtype period",
    ),
    (
        lambda: fit(NaiveBayes(), PLAIN.assign(b=pd.to_datetime(["2001", "2002"]))),
        "column 'b' has dtype datetime.*; allowed are bool",
    ),
    (
        lambda: fit(NaiveBayes(), PLAIN.set_axis(["a", "a"], axis=1)),
        "different names; 'a' comes twice",
    ),
    (lambda: fit(NaiveBayes(10**400), PLAIN), "smoothing must be a finite number in .*; got 1000"),
    (lambda: predict(PLAIN[["b", "a"]]), "feature names should match"),
    (lambda: predict(PLAIN[["a"]]), "feature names should match"),
    (lambda: predict(PLAIN.assign(b=["x", "y"])), "column 'b' was continuous in fit; got str"),
    (lambda: predict(PLAIN.assign(a=[0, 1])), "column 'a' was boolean in fit; got int64"),
    (lambda: predict(PLAIN.assign(b=INF)), "got inf in column 'b'"),
    (lambda: predict(PLAIN.iloc[:0]), "0 sample"),
    (
        lambda: fit(BayesNetClassifier("naive", "ofe"), TWO_ROWS).predict([[0, INF]]),
        "infinity; got inf in column 'x1', row 0",
    ),
    *(
        (
            partial(huge, learner),
            "at most 20,000,000 table entries; variable 4 with its 4 parents alone has",
        )
        for learner in ("ofe", "elr", "em", "apn")
    ),
    (
        lambda: climb(two_cases(), "elr", -1),
        "n_iterations must be an integer of at least 0; got -1",
    ),
    (lambda: climb(two_cases(), "em", -1), "n_iterations must be an integer of at least 0; got -1"),
    (lambda: climb(two_cases(), "elrr", 3), "did you mean 'elr'"),
    (lambda: climb(two_cases(), "ofe", 3), "learner must be one of 'elr', 'em', 'apn'; got 'ofe'"),
    (lambda: ascend(two_cases(), np.zeros(10), 3, method="lbgfs"), "did you mean 'lbfgs'"),
    (lambda: ascend(two_cases(), np.zeros(9), 3), "parameters must have shape"),
    (lambda: two_cases().value_and_gradient(np.zeros(9)), "parameters must have shape"),
    (
        lambda: Cases(two_cases().network, two_cases().attributes, np.ones((5, 3))),
        "counts must have shape",
    ),
    (
        lambda: Cases(two_cases().network, two_cases().attributes + 5, two_cases().counts),
        "attributes must be from -1 to 1 in column 0",
    ),
    (lambda: Cases.from_rows(two_cases().network, [[-1, 0, 0]]), "classes, in column 0"),
]


def structure_data_rows():
    """Calls with data that what learns a structure refuses, and words."""
    column = np.array([[1], [0]])
    fractions = np.array([[1.0, 2.0], [3.0, -1e-9]])
    for function in (discrete_codes, tan, bic_search):
        yield (
            partial(function, fractions, [0, 1]),
            "column 'x1' has -1e-09 in row 1: discretise first",
        )
        yield partial(function, column, [0, NAN]), "y contains NaN"
        yield partial(function, column, [0, 1, 1]), "inconsistent numbers of samples"


STRUCTURES = [
    (lambda: chain(-1, 0), "n_attributes must be an integer"),
    (lambda: chain(3, 4), "n_linked must be an integer"),
    (lambda: chain(3, 1.0), "n_linked must be an integer"),
    (
        lambda: check_parents([], 3),
        r"must hold a tuple for the class and for each attribute, 3 in all; got \[\]",
    ),
    (
        lambda: check_parents([[], [0]], 3),
        "must hold a tuple for the class and for each attribute, 3 in all",
    ),
    (
        lambda: check_parents([[], [0], [3]], 3),
        "each parent of variable 2 must be an integer from 0 to 2; got 3",
    ),
    (
        lambda: check_parents([[], [-1], []], 3),
        "each parent of variable 1 must be an integer from 0 to 2; got -1",
    ),
    (
        lambda: check_parents([[], [0.0], []], 3),
        "each parent of variable 1 must be an integer from 0 to 2; got 0.0",
    ),
    (
        lambda: check_parents([[], [True], []], 3),
        "each parent of variable 1 must be an integer from 0 to 2; got True",
    ),
    (
        lambda: check_parents(["", "0", ""], 3),
        "each parent of variable 1 must be an integer from 0 to 2; got '0'",
    ),
    (lambda: check_parents([[], [0, 1], []], 3), "parents must not form a cycle; got 1 -> 1"),
    (
        lambda: check_parents([[], [0, 2, 0], []], 3),
        r"parents of variable 1 must not repeat; got \(0, 2, 0\)",
    ),
    (
        lambda: check_parents([[], [0, 2], [1]], 3),
        "parents must not form a cycle; got (1 -> 2 -> 1|2 -> 1 -> 2)$",
    ),
    (
        lambda: check_parents([[2], [0], [1]], 3),
        r"parents must not form a cycle; got (\d) -> \d -> \d -> \1",
    ),
    (
        lambda: check_parents([0, 1, 2], 3),
        r"parents must be a sequence of sequences of integers; got \[0, 1, 2\]",
    ),
    (
        lambda: check_parents(None, 3),
        "parents must be a sequence of sequences of integers; got None",
    ),
    *(
        (
            partial(bic_search, TWO_ROWS, [0, 1], max_parents=value),
            f"max_parents must be an integer of at least 0; got {value!r}",
        )
        for value in (-1, 1.5, True, "2", None)
    ),
    *structure_data_rows(),
]

FLOWERS = pd.DataFrame({"sepal length": [5.0, 6.0], "petal width": [1.0, 2.0]})
MUSHROOMS = pd.DataFrame(
    {"odor": pd.Categorical(["foul", None]), "bruises": [True, False], "text": ["b", "a"]}
)
TEXT = pd.DataFrame({"a": [1.0, 2], "b": ["x", "y"]})


def cut(cuts):
    return CutPoints(cuts).fit(FLOWERS)


BINS = [
    (lambda: cut([1, 2]), r"cuts must be a dict .*; got \[1, 2\]"),
    (lambda: cut({"sepal lenght": [1]}), "got 'sepal lenght'; did you mean 'sepal length'"),
    (
        lambda: cut({"petal width": [2, 1]}),
        r"cuts\['petal width'\] must be finite and strictly increasing; got",
    ),
    (lambda: cut({"petal width": [1, 1]}), "strictly increasing"),
    (lambda: cut({"petal width": [1, INF]}), "finite"),
    (lambda: cut({"petal width": [1, NAN]}), "list of numbers or a list of"),
    (lambda: cut({"petal width": "low"}), "list of numbers or a list of .* got 'low'"),
    (lambda: cut({"petal width": 1.0}), "list of numbers or a list of"),
    (lambda: cut({"petal width": [(1, 2), (1.5, 3)]}), "without overlap"),
    (lambda: cut({"petal width": [(2, 1)]}), "without overlap"),
    (lambda: cut({"petal width": [(1, 2, 3)]}), "list of numbers or a list of"),
    (
        lambda: CutPoints({"b": [1]}).fit(TEXT),
        "column 'b' must hold numbers to be put into bins; got dtype str",
    ),
    (
        lambda: CutPoints({"a": [1]}).fit(TEXT).transform(TEXT.assign(a=["1", "2"])),
        "column 'a' must hold numbers",
    ),
    (
        lambda: OneHot(missing="valeu").fit(MUSHROOMS),
        "missing must be one of 'value', 'ignore'; got 'valeu'; did you mean 'value'",
    ),
    (
        lambda: OneHot(constant="no").fit(MUSHROOMS),
        "constant must be one of 'keep', 'drop'; got 'no'",
    ),
    (lambda: OneHot().fit(PLAIN), "column 'b' is continuous: discretise it first"),
    (
        lambda: OneHot().fit(MUSHROOMS).transform(MUSHROOMS.assign(bruises=0.5)),
        "column 'bruises' was boolean in fit; got float64",
    ),
    (lambda: OneHot().fit(MUSHROOMS).transform(MUSHROOMS[["text"]]), "feature names should match"),
    (lambda: OneHot().fit(MUSHROOMS.iloc[:0]), "0 sample"),
    (lambda: OneHot().fit(MUSHROOMS[[]]), "0 feature"),
]

EVEN_PROBABILITIES = np.full((2, 4), 0.5)
model = CIAModel([0.5, 0.5], EVEN_PROBABILITIES)


def draw(n_attributes=4, n_hidden=2, difficulty=0.8, **options):
    """Draw where a concentration is known already: one that is stored hides no bad argument."""
    concentration(4, 2, 0.8)
    rng = np.random.default_rng(0)
    sample_cia(n_attributes, n_hidden, difficulty, rng=rng, **options)


CIA = [
    (lambda: CIAModel([0.5, 0.4], EVEN_PROBABILITIES), "weights .* sum to 1"),
    (
        lambda: CIAModel([-0.5, 1.5], EVEN_PROBABILITIES),
        "weights must have numbers of at least 0 .*; got -0.5",
    ),
    (lambda: CIAModel([0.5, 0.5], np.full((3, 3), 0.5)), r"\(3, 3\) and \(2,\)"),
    (
        lambda: CIAModel([0.5, 0.5], [[0.5, 1.2], [0, 1]]),
        r"probabilities must lie in \[0, 1\]; got 1.2",
    ),
    (lambda: CIAModel([0.5, 0.5], NAN * EVEN_PROBABILITIES), "probabilities .* got nan"),
    (
        lambda: model.target_posterior([[0, 1, 2]]),
        "X must hold only 0 and 1; got .*2.* at row 0, column 2",
    ),
    (lambda: model.target_posterior([[0, 1, NAN]]), "X must hold only 0 and 1; got .*nan"),
    (lambda: model.target_posterior([[0, 1]]), "X must have 3 columns; got 2"),
    (lambda: model.target_posterior([0, 1, 1]), r"X must have shape .* got \(3,\)"),
    (lambda: model.sample(0, RNG), "size must be an integer of at least 1; got 0"),
    (lambda: model.sample(1.5, RNG), "size must be an integer of at least 1; got 1.5"),
    (lambda: model.sample(True, RNG), "size must be an integer of at least 1; got True"),
    (lambda: random_cia(4, 3, 1, RNG).linear_rule(), "this model has 3"),
    (lambda: draw(n_attributes=0), "n_attributes must be an integer from 1 to 10000; got 0"),
    (lambda: draw(n_attributes=4.0), "n_attributes must be an integer from 1 to 10000; got 4.0"),
    (lambda: draw(n_attributes=True), "n_attributes .* got True"),
    (lambda: draw(n_hidden=1), "n_hidden must be an integer from 2 to 64; got 1"),
    (lambda: draw(n_hidden="2"), "n_hidden .* got '2'"),
    (lambda: draw(difficulty=0), r"difficulty must be a finite number in \(0, 1\); got 0"),
    (lambda: draw(difficulty=1.0), r"difficulty .* got 1.0"),
    (lambda: draw(difficulty=NAN), "difficulty .* got nan"),
    (lambda: draw(difficulty=[0.9]), r"difficulty .* got \[0.9\]"),
    (lambda: draw(tolerance=0), r"tolerance must be a finite number in \(0, 0.5\]; got 0"),
    (lambda: draw(tolerance=1e-12), "raise tolerance"),
    (lambda: draw(hidden_weights="bta"), "hidden_weights .* got 'bta'; did you mean 'beta'"),
]

DATA = [
    (lambda: datasets.load("irs"), "got 'irs'; did you mean 'iris'"),
    (lambda: datasets.load("soybean_small"), "did you mean 'soybean-small'"),
    (lambda: datasets.load(["iris"]), r"got \['iris'\]"),
    (
        lambda: datasets.load("water-treatment"),
        "water-treatment cannot be loaded: .* no class column",
    ),
    (
        lambda: setattr(datasets.load("iris"), "name", "other"),
        "cannot assign to field 'name'",
        dataclasses.FrozenInstanceError,
    ),
    (  # a domain that is declared
        lambda: table.frame([["1"] * 8 + ["11", "2"]], catalogue()["breast"]),
        "column mitoses must hold only .* got {'11'}",
    ),
    (lambda: printed_table("atlas_mean"), "did you mean 'atlas_means'"),
    (
        lambda: read_benchmarks(Path("nowhere.json")),
        "no benchmark results .*`make bench` writes them",
    ),
]

CURVES = pd.DataFrame(
    {"model": [0, 0, 1, 1], "size": 10, "learner": [*"abab"], "accuracy": 0.7, "best": 0.8}
)
CURVES["constant"] = 0.6
FOLDS = pd.DataFrame(
    {"dataset": "one", "repeat": 0, "fold": [0, 0, 1, 1], "learner": [*"abab"], "accuracy": 0.7}
)
performance = evaluation.normalized_performance

STATISTICS = [
    (
        lambda: performance(CURVES, min_gain=1),
        r"min_gain must be a finite number in \[0, 1\); got 1",
    ),
    (lambda: performance(CURVES, min_gain="0"), "min_gain .* got '0'"),
    (
        lambda: performance(CURVES.drop(columns="best")),
        "frame must have the columns .* missing: best",
    ),
    (lambda: performance(pd.concat([CURVES, CURVES])), "one row for each model, size and learner"),
    (
        lambda: evaluation.paired_differences(CURVES, "a", "winow"),
        "learner must be one of 'a', 'b'; got 'winow'",
    ),
    (lambda: evaluation.differences_by_dataset(FOLDS, "a", "c", 0.2), "got 'c'"),
    (
        lambda: evaluation.mean_interval([1, 2], confidence=1),
        r"confidence must be .* \(0, 1\); got 1",
    ),
    (
        lambda: evaluation.crossing_size(CURVES, "a", "b", None),
        "rng must be a numpy.random.Generator",
    ),
    (
        lambda: evaluation.corrected_t_test([1, 2], [1, 3], 0),
        r"test_fraction must be .* \(0, 1\); got 0",
    ),
    (
        lambda: evaluation.corrected_t_test([1, 2], [1, 2, 3], 0.2),
        r"a and b must be .* equally long.* \(2,\) and \(3,\)",
    ),
    (lambda: evaluation.paired_t_test([1], [1]), r"at least 2; got \(1,\)"),
    (lambda: evaluation.one_sided_p_values([1.0, 2.0]), "differences must have shape"),
    (
        lambda: evaluation.compare_ranks(pd.DataFrame([[1.0, 2.0], [2.0, 1.0]])),
        "at least 2 data sets .* 3 learners",
    ),
    (
        lambda: evaluation.compare_ranks(pd.DataFrame([[1.0, 2.0, NAN], [2.0, 1.0, 3.0]])),
        "1 missing",
    ),
    (lambda: evaluation.holm([0.1, 1.2]), "p_values must be"),
    (lambda: evaluation.corrected_interval([0.1, 0.2], 1.0), "test_fraction must be"),
    (lambda: evaluation.corrected_interval([0.1, 0.2], 0.2, confidence=2), "confidence must be"),
]

setting = partial(
    Setting,
    id="a-setting",
    words="n = 10",
    statistic="mean",
    value=0.2,
    low=0.1,
    high=0.3,
    n=10,
    region=(0.0, math.inf),
    margin=0.05,
)
claim = partial(Claim, "a-claim", sentence="It is so.", quote="so")

CLAIMS = [
    (lambda: setting(id="Not Kebab"), "^id must be kebab-case"),
    (lambda: setting(statistic=" "), "^statistic of 'a-setting' must not be empty"),
    (
        lambda: setting(anchor="two words"),
        "^anchor of 'a-setting' must be letters, digits and hyphens",
    ),
    (lambda: setting(min_trials=0), "^min_trials of 'a-setting' must be at least 1; got 0"),
    (lambda: setting(n=-1), "^n of 'a-setting' must be at least 0; got -1"),
    (lambda: setting(region=(1, 1)), r"^region of 'a-setting' must be \(lo, hi\) with lo < hi"),
    (lambda: setting(margin=0), "^margin of 'a-setting' must be above 0 and finite: the smallest"),
    (lambda: setting(unit=" "), "^unit of 'a-setting' must not be empty"),
    (lambda: setting(low=0.5), "^low, value and high of 'a-setting' must not fall"),
    (lambda: setting(high=0.1), "^low, value and high of 'a-setting' must not fall"),
    (lambda: claim(sentence=" "), "sentence of claim 'a-claim' must not be empty"),
    (lambda: claim(quote=""), "quote of claim 'a-claim' must not be empty"),
    (
        lambda: claim().test(
            "b", estimate=(2.0, 1.0, 3.0), statistic="mean", region=(0.0, math.inf)
        ),
        "must be value, low, high and n",
    ),
]


class Unfittable(DummyClassifier):
    def fit(self, X, y):
        raise AssertionError("fitted")


class Zebra(DummyClassifier):
    def predict(self, X):
        return np.full(len(X), "zebra")


def curves(**changes):
    """Learning curves without models: a bad argument is found before any work."""
    arguments = {
        "n_attributes": 5,
        "n_hidden": 2,
        "difficulty": 0.85,
        "sizes": (10, 40),
        "n_models": 6,
        "n_jobs": 1,
        "learners": ("cov", "winnow", "naive_bayes"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments.random_models, "sample_cia", None)
        experiments.cia_learning_curves(**arguments | changes)


def compare(**changes):
    """Compare on data, with a learner that cannot be fitted: a bad argument is found before."""
    arguments = {
        "datasets": "soybean-small",
        "learners": {"unfittable": Unfittable()},
        "n_repeats": 1,
        "n_jobs": 1,
    }
    experiments.uci_comparison(**arguments | changes)


robustness = partial(experiments.structure_robustness, n_jobs=1)

EXPERIMENTS = [
    (
        lambda: experiments.learnable_model(2, 2, 0.8, np.random.default_rng(0), min_gain=0.6),
        "no model with best - constant of at least min_gain=0.6 in 1000 draws",
    ),
    (lambda: curves(n_attributes=0), "n_attributes must be an integer from 1 to 10000; got 0"),
    (lambda: curves(n_hidden=1), "n_hidden must be an integer from 2 to 64; got 1"),
    (lambda: curves(difficulty=1.2), r"difficulty must be a finite number in \(0, 1\); got 1.2"),
    (
        lambda: curves(difficulty=0.3),
        r"difficulty=0.3 cannot be reached .* reachable: 0.5\d to 0.9",
    ),
    (lambda: curves(difficulty=0.99999), "difficulty=0.99999 cannot be reached .* reachable"),
    (lambda: curves(sizes=[1]), "sizes must be an integer from 2 to 1000000; got 1"),
    (lambda: curves(sizes=[10, 2.5]), "sizes .* got 2.5"),
    (lambda: curves(sizes="10"), "sizes .* got '10'"),
    (lambda: curves(sizes=[]), "sizes must hold at least one sample size; got none"),
    (lambda: curves(n_models=0), "n_models must be an integer of at least 1; got 0"),
    (lambda: curves(hidden_weights="dirichle"), "hidden_weights .* did you mean 'dirichlet'"),
    (lambda: curves(n_jobs=0), "n_jobs must be .* got 0"),
    (lambda: curves(seed=1.5), "seed must be an integer of at least 0; got 1.5"),
    (lambda: curves(learners=[]), "learners must name at least one learner; got none"),
    (
        lambda: curves(learners=["winow"]),
        "learners must be one of .* got 'winow'; did you mean 'winnow'",
    ),
    (lambda: curves(learners=["em", "em_tru_k"]), "did you mean 'em_true_k'"),
    (lambda: curves(learners="em, cov"), "learners must be one of .* got 'em, cov'"),
    (lambda: curves(learners=None), "learners must be a list of names.* got None"),
    (lambda: curves(learners=Winnow()), r"learners must be a list of names.* got Winnow\(\)"),
    (
        lambda: curves(learners={"mine": 3}),
        r"learners\['mine'\] must be a scikit-learn classifier; got 3",
    ),
    (lambda: compare(n_folds=1), "n_folds must be an integer from 2 to 47; got 1"),
    (
        lambda: compare(datasets=("iris", "vote"), n_folds=200),
        "n_folds must be an integer from 2 to 150; got 200",
    ),
    (lambda: compare(n_repeats=0), "n_repeats must be an integer of at least 1; got 0"),
    (lambda: compare(seed=-1), "seed .* got -1"),
    (lambda: compare(n_jobs=0), "n_jobs .* got 0"),
    (
        lambda: compare(bins="entrophy"),
        "bins must be one of .* got 'entrophy'; did you mean 'entropy'",
    ),
    (lambda: compare(datasets=["soybean-small", "iriss"]), "got 'iriss'; did you mean 'iris'"),
    (lambda: compare(datasets="soybean"), "got 'soybean'; did you mean 'soybean-"),
    (
        lambda: compare(datasets=["iris", "vote", "iris"]),
        "datasets must name each data set once; got 'iris' twice",
    ),
    (
        lambda: compare(datasets=["pima", "diabetes"]),
        "datasets must name each data set once; got 'pima' twice",
    ),
    (lambda: compare(datasets=[]), r"datasets must name at least one data set; got \[\]"),
    (
        lambda: compare(learners=["winnow", "naive_bays"]),
        "learners must be one of .* got 'naive_bays'; did you mean 'naive_bayes",
    ),
    (lambda: compare(learners=["winnow", "winnow"]), "learners must name each learner once"),
    (
        lambda: compare(learners={"mine": Winnow}),
        r"learners\['mine'\] must be a scikit-learn classifier",
    ),
    (lambda: compare(learners={3: Winnow()}), "learners must have strings for names; got 3"),
    (
        lambda: compare(learners={"mine": OneHot()}),
        r"learners\['mine'\] must be a scikit-learn classifier; got OneHot",
    ),
    (
        lambda: compare(datasets="iris", learners={"mine": Zebra()}),
        r"learners\['mine'\] predicted 'zebra', which is not one of the classes",
    ),
    (lambda: robustness(n_attributes=9), "n_attributes must be an integer from 1 to 8; got 9"),
    (lambda: robustness(duplicates=[6]), "duplicates must be an integer from 0 to 5; got 6"),
    (lambda: robustness(duplicates=[]), "duplicates must hold at least one value; got none"),
    (lambda: robustness(n_instances=0), "n_instances must be an integer of at least 1; got 0"),
    (lambda: robustness(missing=1.0), r"^missing must be a finite number in \[0, 1\); got 1.0"),
    (
        lambda: robustness(learners=["elrr"]),
        "learners must be one of .* got 'elrr'; did you mean 'elr'",
    ),
    (lambda: robustness(n_runs=0), "n_runs must be an integer of at least 1; got 0"),
    (lambda: load_tasks("ii", ["pimma"]), "did you mean 'pima'"),
    (lambda: load_tasks("v", ["agaricus"]), "did you mean 'agaricus-lepiota'"),
    (lambda: load_tasks("v", ["iris", "cleve"]), "datasets must be one of .* got 'iris'"),
    (lambda: load_tasks("ii", ["iris", "iris"]), "each data set once"),
    (lambda: load_tasks("ii", ["diabetes", "pima"]), "each data set once"),
    (lambda: load_tasks("ii", []), "at least one"),
    (lambda: load_tasks("ii", ["iris"]), "at least two"),
    (
        lambda: load_tasks("v", ["monk1-corrupt", "water-treatment"]),
        "not to be had.*no class column",
    ),
]

TRIALS = [
    (lambda: trials.run(None, cases=[]), "cases must hold at least one case"),
    (lambda: trials.run(None, n_trials=0), "n_trials must be an integer of at least 1; got 0"),
    (lambda: trials.run(None, seed=-1), "seed must be an integer of at least 0; got -1"),
    (lambda: trials.run(None, n_jobs=-2), "n_jobs must be an integer of at least 1; got -2"),
    (
        lambda: trials.run(lambda seeds: {"it": [{seeds}]}),
        "column 'it' holds other things",
        TypeError,
    ),
    *(
        (partial(encode, pd.DataFrame({"fine": [1, 2], "it": values})), "column 'it'", TypeError)
        for values in (
            ["a", 1],
            ["a", None],
            ["a", NAN],
            [{1}, {2}],
            [datetime(2000, 1, 1)] * 2,
            [1j, 2],
            ["ends in NUL\0", ""],
        )
    ),
    (lambda: encode(pd.DataFrame([[0, 0]], columns=[1, 2])), "must have names", TypeError),
    (lambda: encode(pd.DataFrame([[0, 0]], columns=["a", "a"])), "must have names", TypeError),
]

ROWS = (
    ALL_LEARNERS
    + WINNOWS
    + BAYES
    + STRUCTURES
    + BINS
    + CIA
    + DATA
    + STATISTICS
    + CLAIMS
    + EXPERIMENTS
    + TRIALS
)


def with_error(call, words, error=ValueError):
    """A row with the type of its error."""
    return call, words, error


@pytest.mark.parametrize(("call", "words", "error"), [with_error(*row) for row in ROWS])
def test_bad_input_is_named(call, words, error):
    with pytest.raises(error, match=words):
        call()
