"""One table in many containers: every learner has the same answers as for the typed pandas frame."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from lib.bayes_net import BayesNetClassifier
from lib.discretize import ClassSeparatingCuts, EntropyDiscretizer, OneHot
from lib.discretize.columns import checked_frame, column_kinds
from lib.ensembles import AdaBoostM1, AdaBoostM2, Bagging
from lib.latent_class.gibbs import LatentClassGibbs
from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes
from lib.relevance import Schemata, VariableKernel, relieff
from lib.rules import Ripper, TreeRules
from lib.structures import chow_liu, discrete_codes, tan
from lib.trees import GainRatioTree
from lib.winnow import Winnow

N = 120


def typed_table():
    """A column of each kind, with missing values and without; and classes that follow from most of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "fraction": rng.normal(size=N).round(2),
            "gappy fraction": pd.Series(rng.normal(size=N).round(2)).mask(rng.random(N) < 0.2),
            "whole": rng.integers(0, 4, N),
            "gappy whole": pd.Series(rng.integers(0, 4, N))
            .astype("Int64")
            .mask(rng.random(N) < 0.2),
            "flag": rng.random(N) < 0.5,
            "gappy flag": pd.Series(rng.random(N) < 0.5)
            .astype("boolean")
            .mask(rng.random(N) < 0.2),
            "text": rng.choice(["clay", "loam", "sand"], N).astype(object),
            "gappy text": pd.Series(rng.choice(["left", "right"], N).astype(object)).mask(
                rng.random(N) < 0.2, None
            ),
            "level": pd.Categorical(rng.choice(["a", "b", "c"], N)),
        }
    )
    score = (
        X["fraction"]
        + 0.5 * X["whole"]
        + X["flag"]
        - 2 * (X["text"] == "sand")
        + (X["level"] == "a")
    )
    return X, np.where(score > score.median(), "yes", "no")


X, Y = typed_table()
COMPLETE = [name for name in X if not name.startswith("gappy")]
OBJECTS = X.astype(object)


def exact(kind):
    """The numbers with fractions as decimals or fractions, which are equal to them as floats."""
    exactly = {
        Decimal: lambda value: Decimal(repr(value)),
        Fraction: lambda value: Fraction(repr(value)),
    }[kind]
    return OBJECTS.assign(
        **{
            name: [None if pd.isna(value) else exactly(float(value)) for value in X[name]]
            for name in ("fraction", "gappy fraction")
        }
    )


CONTAINERS = {
    "objects": OBJECTS,
    "array of objects": OBJECTS.to_numpy(),
    "list of rows": OBJECTS.to_numpy().tolist(),
    "tuple of arrays": tuple(OBJECTS.to_numpy()),
    "None for missing": OBJECTS.where(OBJECTS.notna(), None),
    "decimals": exact(Decimal),
    "fractions": exact(Fraction),
    "nullable": X.convert_dtypes(),
    "arrow in pandas": X.convert_dtypes(dtype_backend="pyarrow"),
    "arrow table": pa.Table.from_pandas(X),
    "arrow dictionaries": X.assign(
        **{
            name: pd.Series(
                pa.array(X[name], from_pandas=True).dictionary_encode(), dtype=dictionary
            )
            for name in ("text", "gappy text", "level")
            for dictionary in [pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))]
        }
    ),
    "polars": pl.from_pandas(X),
    "polars categories": pl.from_pandas(X).with_columns(
        pl.col("text", "gappy text").cast(pl.Categorical)
    ),
    "polars levels": pl.from_pandas(X).with_columns(pl.col("level").cast(pl.Enum(["a", "b", "c"]))),
    "sliced": pd.concat([X, X]).iloc[:N],
}


def subset(table, columns):
    """The same container, of some of the columns."""
    places = [X.columns.get_loc(name) for name in columns]
    if isinstance(table, pd.DataFrame | pl.DataFrame):
        return table[columns]
    if isinstance(table, pa.Table):
        return table.select(columns)
    if isinstance(table, np.ndarray):
        return table[:, places]
    return type(table)([row[place] for place in places] for row in table)


class Weights(BaseEstimator):
    """RELIEF-F, which is a function, with its weights as answers."""

    def fit(self, table, y):
        return self

    def predict_proba(self, table):
        return relieff(table, Y, random_state=0)


class Structures(BaseEstimator):
    """The structures, which are functions of discrete columns."""

    def fit(self, table, y):
        return self

    def predict_proba(self, table):
        codes, sizes = discrete_codes(table, Y)
        parents = [*tan(table, Y), *chow_liu(table)]
        return np.concatenate([codes.ravel(), sizes, [sum(family) for family in parents]])


class Binned(BaseEstimator):
    """A transformer, with the names of its values as answers."""

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, table, y):
        self.transformer.fit(table, y)
        return self

    def predict_proba(self, table):
        frame = self.transformer.transform(table)
        return frame.astype(object).where(frame.notna(), None).to_numpy(dtype=object)


DISCRETE = ["whole", "gappy whole", "flag", "gappy flag", "text", "gappy text", "level"]
ALL = list(X)
LEARNERS = {
    "NaiveBayes": (NaiveBayes(), ALL),
    "GainRatioTree": (GainRatioTree(), ALL),
    "Ripper": (Ripper(random_state=0), ALL),
    "TreeRules": (TreeRules(), ALL),
    "Bagging of trees": (Bagging(GainRatioTree(), n_members=3, average=True, random_state=0), ALL),
    "Bagging of naive Bayes": (
        Bagging(NaiveBayes(), n_members=3, average=True, random_state=0),
        ALL,
    ),
    "AdaBoostM1": (AdaBoostM1(GainRatioTree(), n_members=3, random_state=0), ALL),
    "AdaBoostM2": (AdaBoostM2(GainRatioTree(), n_members=3, random_state=0), ALL),
    "VariableKernel": (make_pipeline(OneHot(), VariableKernel()), DISCRETE),
    "Schemata": (make_pipeline(Schemata(random_state=0), NaiveBayes()), COMPLETE),
    "relieff": (Weights(), COMPLETE),
    "structures": (Structures(), DISCRETE),
    "SelectiveNaiveBayes": (SelectiveNaiveBayes(random_state=0), DISCRETE),
    "LatentClassGibbs": (LatentClassGibbs(n_burn=5, n_samples=5, random_state=0), DISCRETE),
    "TAN": (BayesNetClassifier(structure="tan", learner="ofe"), DISCRETE),
    "EntropyDiscretizer": (Binned(EntropyDiscretizer()), ALL),
    "ClassSeparatingCuts": (Binned(ClassSeparatingCuts()), ALL),
    "OneHot": (Binned(OneHot()), DISCRETE),
    "Entropy, TAN": (
        make_pipeline(EntropyDiscretizer(), BayesNetClassifier(structure="tan", learner="ofe")),
        ALL,
    ),
    "Entropy, OneHot, Winnow": (
        make_pipeline(EntropyDiscretizer(), OneHot(), Winnow(complement=True)),
        ALL,
    ),
}


def answers(learner, table):
    learner.fit(table, Y)
    return (
        learner.predict_proba(table)
        if hasattr(learner, "predict_proba")
        else learner.predict(table)
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_every_container_gives_the_same_fit(name):
    learner, columns = LEARNERS[name]
    expected = answers(learner, X[columns])
    for container, table in CONTAINERS.items():
        np.testing.assert_array_equal(
            answers(learner, subset(table, columns)), expected, err_msg=container
        )


def test_each_column_has_the_kind_of_its_values():
    kinds = ["continuous"] * 2 + ["integer"] * 2 + ["boolean"] * 2 + ["categorical"] * 3
    for container, table in CONTAINERS.items():
        assert column_kinds(checked_frame(BaseEstimator(), table, reset=True)) == kinds, container


def test_scikit_learns_bagging_hands_on_an_array():
    """Two members on all rows each are naive Bayes itself."""
    bagging = BaggingClassifier(NaiveBayes(), n_estimators=2, bootstrap=False).fit(OBJECTS, Y)
    np.testing.assert_allclose(
        bagging.predict_proba(OBJECTS), NaiveBayes().fit(X, Y).predict_proba(X), rtol=1e-12
    )


def test_the_output_of_a_column_transformer_is_typed():
    table, numbers = X[[*COMPLETE, "gappy fraction", "gappy text"]], ["fraction", "gappy fraction"]
    arrays = make_column_transformer((SimpleImputer(), numbers), remainder="passthrough")
    frames = make_column_transformer(
        (SimpleImputer(), numbers), remainder="passthrough"
    ).set_output(transform="pandas")
    for learner in (NaiveBayes(), GainRatioTree(), Ripper(random_state=0)):
        expected = make_pipeline(frames, learner).fit(table, Y).predict_proba(table)
        np.testing.assert_array_equal(
            make_pipeline(arrays, learner).fit(table, Y).predict_proba(table), expected
        )


def test_short_floats_are_numbers():
    short = X[["whole"]].astype(np.float16).assign(half=X["fraction"].astype(np.float16))
    for learner in (NaiveBayes(), GainRatioTree()):
        expected = learner.fit(short.astype(float), Y).predict_proba(short.astype(float))
        np.testing.assert_array_equal(learner.fit(short, Y).predict_proba(short), expected)
    BayesNetClassifier(learner="ofe").fit(short[["whole"]], Y)


def test_a_masked_value_is_missing():
    numbers = np.ma.masked_greater(np.random.default_rng(0).normal(size=(N, 2)), 1.5)
    expected = NaiveBayes().fit(numbers.filled(np.nan), Y).predict_proba(numbers.filled(np.nan))
    np.testing.assert_array_equal(NaiveBayes().fit(numbers, Y).predict_proba(numbers), expected)


def test_a_batch_of_new_rows_may_lack_every_value_of_a_column():
    learner = NaiveBayes().fit(X, Y)
    nothing = [[None] * X.shape[1]]
    np.testing.assert_allclose(
        learner.predict_proba(pd.DataFrame(nothing, columns=ALL)), [[0.5, 0.5]], atol=0.01
    )
    one_text = [*[None] * 6, "sand", None, None]
    expected = learner.predict_proba(
        X[:1].assign(**dict.fromkeys(X.drop(columns="text"), None), text="sand")
    )
    np.testing.assert_array_equal(
        NaiveBayes().fit(OBJECTS.to_numpy(), Y).predict_proba([one_text]), expected
    )


NAMES = pd.DataFrame({"soil": ["clay", "loam"] * 60})
AGES = np.arange(N).astype(str)
REFUSED = {
    "text of numbers": (
        NAMES.assign(age=AGES),
        "'age' is text, but 120 of its 120 values are numbers, such as '0'",
    ),
    "an array of text": (np.column_stack([AGES, AGES]), "column 'x0' is text.*pandas.to_numeric"),
    "one value is no number": (
        NAMES.assign(age=["?", *AGES[1:]]),
        r"119 of its 120.*na_values=\['\?'\].*'category'",
    ),
    "numbers beside text": (
        [[1.5, "a"]] * 11 + [["?", "b"]] * (N - 109) + [[2.5, "a"]] * 98,
        r"'x0' is text, but 109",
    ),
    "dates": (
        NAMES.assign(day=np.array([np.datetime64("2020-01-01").item()] * N, object)),
        "'day' must hold .* a date",
    ),
    "complex numbers": (
        NAMES.assign(z=np.array([1j] * N, object)),
        "column 'z' must hold numbers, truth values or text",
    ),
    "lists": (
        NAMES.assign(items=[[1, 2]] * N),
        r"column 'items' must hold .* got \[1, 2\], a list",
    ),
    "rows of different lengths": (
        [[1, 2]] * 119 + [[1]],
        r"equally long; row 0 is \[1, 2\], row 119 is \[1\]",
    ),
    "infinity among objects": (
        NAMES.assign(x=np.array([float("inf")] * N, object)),
        "got inf in column 'x', row 0",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize(
    "learner", [NaiveBayes(), GainRatioTree(), EntropyDiscretizer()], ids=lambda e: type(e).__name__
)
def test_what_cannot_be_typed_is_refused(learner, what):
    table, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        learner.fit(table, Y)


@pytest.mark.parametrize(
    "table", [X.assign(text=X["whole"].astype(str).astype("category")), [["1a"], ["2"]] * 60]
)
def test_names_that_look_like_numbers_are_allowed_where_that_is_meant(table):
    assert GainRatioTree().fit(table, Y).n_nodes_ > 0
