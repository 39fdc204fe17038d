"""One table in many containers: all learners answer as they do for the typed pandas frame."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from learner_examples import BOOLEAN, DISCRETE, EXAMPLES
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from lib import datasets
from lib.discretize import CutPoints, EntropyDiscretizer, OneHot
from lib.discretize.columns import checked_frame, column_kinds
from lib.ensembles import Bagging
from lib.naive_bayes import NaiveBayes
from lib.relevance import relieff
from lib.rules import Ripper
from lib.structures import chow_liu, discrete_codes, tan
from lib.trees import GainRatioTree
from lib.winnow import Winnow

N = 120


def typed_table():
    """A column of each kind, with and without missing values; and classes that depend on most."""
    rng = np.random.default_rng(0)

    def with_gaps(values):
        return values.mask(rng.random(N) < 0.2)

    X = pd.DataFrame(
        {
            "fraction": rng.normal(size=N).round(2),
            "gappy fraction": with_gaps(pd.Series(rng.normal(size=N).round(2))),
            "whole": rng.integers(0, 4, N),
            "gappy whole": with_gaps(pd.Series(rng.integers(0, 4, N), dtype="Int64")),
            "flag": rng.random(N) < 0.5,
            "gappy flag": with_gaps(pd.Series(rng.random(N) < 0.5, dtype="boolean")),
            "text": rng.choice(["clay", "loam", "sand"], N).astype(object),
            "gappy text": with_gaps(pd.Series(rng.choice(["left", "right"], N))),
            "level": pd.Categorical(rng.choice(["a", "b", "c"], N)),
            "other flag": rng.random(N) < 0.5,
        }
    )
    is_sand = X["text"] == "sand"
    is_a = X["level"] == "a"
    score = X["fraction"] + 0.5 * X["whole"] + X["flag"] - 2 * is_sand + is_a
    return X, np.where(score > score.median(), "yes", "no")


X, Y = typed_table()
ALL = list(X)
COMPLETE = [name for name in X if not name.startswith("gappy")]
FLAGS = ["flag", "other flag"]
OBJECTS = X.astype(object)


def exact_numbers(kind):
    """The floats as decimals or fractions that are equal to them."""
    frame = OBJECTS.copy()
    for name in ("fraction", "gappy fraction"):
        values = [None if pd.isna(value) else kind(repr(float(value))) for value in X[name]]
        frame[name] = pd.Series(values, dtype=object)
    return frame


def arrow_dictionaries():
    """The texts as dictionaries of Arrow."""
    frame = X.copy()
    dtype = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    for name in ("text", "gappy text", "level"):
        array = pa.array(X[name], from_pandas=True).dictionary_encode()
        frame[name] = pd.Series(array, dtype=dtype)
    return frame


CONTAINERS = {
    "objects": OBJECTS,
    "array of objects": OBJECTS.to_numpy(),
    "list of rows": OBJECTS.to_numpy().tolist(),
    "tuple of arrays": tuple(OBJECTS.to_numpy()),
    "None for missing": OBJECTS.where(OBJECTS.notna(), None),
    "decimals": exact_numbers(Decimal),
    "fractions": exact_numbers(Fraction),
    "nullable": X.convert_dtypes(),
    "arrow in pandas": X.convert_dtypes(dtype_backend="pyarrow"),
    "arrow table": pa.Table.from_pandas(X),
    "arrow dictionaries": arrow_dictionaries(),
    "polars": pl.from_pandas(X),
    "polars categories": pl.from_pandas(X).with_columns(
        pl.col("text", "gappy text").cast(pl.Categorical)
    ),
    "polars levels": pl.from_pandas(X).with_columns(pl.col("level").cast(pl.Enum(["a", "b", "c"]))),
    "sliced": pd.concat([X, X]).iloc[:N],
}


def select_columns(table, columns):
    """The same container, of some of the columns."""
    positions = [X.columns.get_loc(name) for name in columns]
    if isinstance(table, pd.DataFrame | pl.DataFrame):
        return table[columns]
    if isinstance(table, pa.Table):
        return table.select(columns)
    if isinstance(table, np.ndarray):
        return table[:, positions]
    return type(table)([row[position] for position in positions] for row in table)


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


def columns_for(name):
    """The columns of the table that a learner takes."""
    if name in BOOLEAN:
        return FLAGS
    tags = get_tags(EXAMPLES[name]).input_tags
    if not tags.categorical:
        return ["fraction", "whole", *FLAGS]
    columns = ALL if tags.allow_nan else COMPLETE
    return [c for c in columns if name not in DISCRETE or "fraction" not in c]


LEARNERS = {name: (learner, columns_for(name)) for name, learner in EXAMPLES.items()}
DISCRETE_COLUMNS = columns_for("OneHot")
FUNCTIONS = {"relieff": (Weights(), COMPLETE), "structures": (Structures(), DISCRETE_COLUMNS)}
PIPELINES = {
    "Bagging of naive Bayes": (
        Bagging(NaiveBayes(), n_members=3, average=True, random_state=0),
        ALL,
    ),
    "OneHot, VariableKernel": (
        make_pipeline(OneHot(), EXAMPLES["VariableKernel"]),
        DISCRETE_COLUMNS,
    ),
    "Entropy, TAN": (make_pipeline(EntropyDiscretizer(), EXAMPLES["BayesNetClassifier"]), ALL),
    "Entropy, OneHot, Winnow": (
        make_pipeline(EntropyDiscretizer(), OneHot(), Winnow(complement=True, random_state=0)),
        ALL,
    ),
}


def answers(learner, table):
    """Probabilities, or else classes or values, of what it has learned."""
    if hasattr(learner, "predict_proba"):
        return learner.predict_proba(table)
    if hasattr(learner, "predict"):
        return learner.predict(table)
    frame = learner.transform(table)
    return frame.astype(object).where(frame.notna(), None).to_numpy(dtype=object)


@pytest.mark.parametrize("name", LEARNERS | FUNCTIONS | PIPELINES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_container_gives_the_same_fit(name):
    learner, columns = (LEARNERS | FUNCTIONS | PIPELINES)[name]
    expected = answers(learner.fit(X[columns], Y), X[columns])
    for container, whole_table in CONTAINERS.items():
        table = select_columns(whole_table, columns)
        result = answers(learner.fit(table, Y), table)
        np.testing.assert_array_equal(result, expected, err_msg=container)


CUTS = {"CutPoints": (CutPoints({"fraction": [0.0]}), ALL)}


@pytest.mark.parametrize("name", LEARNERS | PIPELINES | CUTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_was_fitted_to_a_frame_takes_an_array(name):
    """As in scikit-learn, which warns that the names are missing."""
    learner, columns = (LEARNERS | PIPELINES | CUTS)[name]
    learner = clone(learner).fit(X[columns], Y)
    expected = answers(learner, X[columns])
    for container in ("array of objects", "list of rows"):
        table = select_columns(CONTAINERS[container], columns)
        with pytest.warns(UserWarning, match="fitted with feature names"):
            result = answers(learner, table)
        np.testing.assert_array_equal(result, expected, err_msg=container)
    with (
        pytest.warns(UserWarning, match="fitted with feature names"),
        pytest.raises(ValueError, match=f"X has 1 features, but .* {len(columns)} features"),
    ):
        answers(learner, [row[:1] for row in table])


def test_messages_about_an_array_name_the_columns_of_fit():
    new = [[f"tall {i}", "clay"] for i in range(N)]
    table = X[["fraction", "text"]]
    for learner in (NaiveBayes(), GainRatioTree(), EntropyDiscretizer()):
        learner.fit(table, Y)
        with (
            pytest.warns(UserWarning, match="fitted with feature names"),
            pytest.raises(ValueError, match="column 'fraction'"),
        ):
            answers(learner, new)


@pytest.mark.parametrize("name", sorted(BOOLEAN | DISCRETE))
def test_fractions_are_refused_where_they_are_none_of_the_values(name):
    with pytest.raises(ValueError, match="X must hold only 0 and 1|discretise"):
        clone(EXAMPLES[name]).fit([[0.5], [1.0]], [0, 1])


def test_each_column_has_the_kind_of_its_values():
    expected = [
        *("continuous", "continuous", "integer", "integer", "boolean", "boolean"),
        *("categorical", "categorical", "categorical", "boolean"),
    ]
    for container, table in CONTAINERS.items():
        frame = checked_frame(BaseEstimator(), table, reset=True)
        assert column_kinds(frame) == expected, container


def test_scikit_learns_bagging_hands_on_an_array():
    """Two members on all rows each are naive Bayes itself."""
    bagging = BaggingClassifier(NaiveBayes(), n_estimators=2, bootstrap=False).fit(OBJECTS, Y)
    expected = NaiveBayes().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(bagging.predict_proba(OBJECTS), expected, rtol=1e-12)


def test_the_output_of_a_column_transformer_is_typed():
    """Its array of objects gives the same answers as its data frame."""
    table = X[[*COMPLETE, "gappy fraction", "gappy text"]]
    numbers = ["fraction", "gappy fraction"]
    to_array = make_column_transformer((SimpleImputer(), numbers), remainder="passthrough")
    to_frame = clone(to_array).set_output(transform="pandas")
    for learner in (NaiveBayes(), GainRatioTree(), Ripper(random_state=0)):
        expected = make_pipeline(to_frame, learner).fit(table, Y).predict_proba(table)
        probabilities = make_pipeline(to_array, learner).fit(table, Y).predict_proba(table)
        np.testing.assert_array_equal(probabilities, expected)


def test_short_floats_are_numbers():
    short = X[["whole"]].astype(np.float16).assign(half=X["fraction"].astype(np.float16))
    long = short.astype(float)
    for learner in (NaiveBayes(), GainRatioTree()):
        expected = learner.fit(long, Y).predict_proba(long)
        np.testing.assert_array_equal(learner.fit(short, Y).predict_proba(short), expected)
    clone(EXAMPLES["BayesNetClassifier"]).fit(short[["whole"]], Y)


def test_a_masked_value_is_missing():
    numbers = np.ma.masked_greater(np.random.default_rng(0).normal(size=(N, 2)), 1.5)
    with_nan = numbers.filled(np.nan)
    expected = NaiveBayes().fit(with_nan, Y).predict_proba(with_nan)
    np.testing.assert_array_equal(NaiveBayes().fit(numbers, Y).predict_proba(numbers), expected)


def test_a_batch_of_new_rows_may_lack_every_value_of_a_column():
    """Without any value the prior is left, of two classes with half of the rows each."""
    learner = NaiveBayes().fit(X, Y)
    blank_row = dict.fromkeys(ALL, None)
    blank = pd.DataFrame([blank_row])
    np.testing.assert_allclose(learner.predict_proba(blank), [[0.5, 0.5]], atol=0.01)
    text_row = blank_row | {"text": "sand"}
    expected = learner.predict_proba(X[:1].assign(**text_row))
    learner_of_arrays = NaiveBayes().fit(OBJECTS.to_numpy(), Y)
    probabilities = learner_of_arrays.predict_proba([list(text_row.values())])
    np.testing.assert_array_equal(probabilities, expected)


NAMES = pd.DataFrame({"soil": ["clay", "loam"] * 60})
AGES = np.arange(N).astype(str)
REFUSED_TABLES = {
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


@pytest.mark.parametrize("fault", REFUSED_TABLES)
@pytest.mark.parametrize(
    "learner", [NaiveBayes(), GainRatioTree(), EntropyDiscretizer()], ids=lambda e: type(e).__name__
)
def test_what_cannot_be_typed_is_refused(learner, fault):
    table, message = REFUSED_TABLES[fault]
    with pytest.raises(ValueError, match=message):
        learner.fit(table, Y)


@pytest.mark.parametrize(
    "table", [X.assign(text=X["whole"].astype(str).astype("category")), [["1a"], ["2"]] * 60]
)
def test_names_that_look_like_numbers_are_allowed_where_that_is_meant(table):
    assert GainRatioTree().fit(table, Y).n_nodes_ > 0


def identified_rows(n=40):
    """Columns that most rows have a value of their own in, and columns that look alike."""
    numbers = np.arange(n)
    classes = numbers % 2
    frame = pd.DataFrame(
        {
            "name": [f"row {i}" for i in numbers],
            "income": 1000 * numbers,
            "half": numbers // 2,  # each value twice
            "size": numbers / 7,
            "flag": numbers % 3 == 0,
            "level": pd.Categorical(["a", "b"] * (n // 2)),
        }
    )
    return frame, classes


def warned_columns(learner, table, y):
    """The columns of which a fit warns, once for each warning, and the messages."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(table, y)
        learner.predict(table) if hasattr(learner, "predict") else learner.transform(table)
    messages = [str(w.message) for w in caught if "occur once" in str(w.message)]
    return [message.split("'")[1] for message in messages], messages


BINS = EntropyDiscretizer()
IDENTIFIED = {
    "NaiveBayes": (NaiveBayes(), ["name", "income"]),
    "TAN": (make_pipeline(BINS, EXAMPLES["BayesNetClassifier"]), ["name"]),
    "bins and NaiveBayes": (make_pipeline(BINS, NaiveBayes()), ["name"]),
    "bins and one-hot": (make_pipeline(BINS, OneHot(constant="drop"), Winnow()), ["name"]),
    "Selective": (make_pipeline(BINS, EXAMPLES["SelectiveNaiveBayes"]), ["name"]),
    "GainRatioTree": (GainRatioTree(), ["name"]),
    "Ripper": (Ripper(random_state=0), ["name"]),
    "TreeRules": (EXAMPLES["TreeRules"], ["name"]),
    "trees": (EXAMPLES["Bagging"], ["name"]),
    "OptionTree": (EXAMPLES["OptionTree"], ["name"]),
    "Schemata": (EXAMPLES["Schemata"], ["name"]),
}


@pytest.mark.parametrize("name", IDENTIFIED)
def test_a_column_whose_values_occur_once_gets_one_warning(name):
    learner, expected = IDENTIFIED[name]
    table, y = identified_rows()
    columns, messages = warned_columns(learner, table, y)
    assert columns == expected
    assert all("drop an identifier" in message for message in messages)
    assert all(("EntropyDiscretizer" in m) == ("'income'" in m) for m in messages)
    assert warned_columns(learner, table.drop(columns=["name", "income"]), y) == ([], [])


def test_half_of_the_rows_and_twenty_values_are_the_ends_of_that_warning():
    table, y = identified_rows(40)
    name = table[["name"]]
    assert warned_columns(NaiveBayes(), name[:19], y[:19])[0] == []
    assert warned_columns(NaiveBayes(), name[:20], y[:20])[0] == ["name"]
    for n_once, expected in ((20, []), (21, ["name"])):
        table = name.assign(name=name["name"].where(name.index < n_once, "other"))
        assert warned_columns(NaiveBayes(), table, y)[0] == expected
    gaps = name.assign(name=name["name"].where(name.index < 19))  # missing values do not count
    assert warned_columns(NaiveBayes(), gaps, y)[0] == []
    assert warned_columns(NaiveBayes(), name.astype("category"), y)[0] == ["name"]


def test_no_table_that_ships_gets_that_warning():
    frame = datasets.available()
    for name in frame["name"][frame["status"] == "shipped"]:
        data = datasets.load(name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            NaiveBayes().fit(data.X, data.y)
