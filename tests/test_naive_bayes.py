"""Naive Bayes against scikit-learn's three, by enumeration, and where nothing is there to estimate; its selection."""

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes

SMOOTHING = st.sampled_from([1e-3, 0.5, 1.0, 3.0])
EXACT = {"atol": 1e-10, "rtol": 0}


@parametrize_with_checks([NaiveBayes(), NaiveBayes(smoothing=0, ddof=0)])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_conventions(estimator, check):
    check(estimator)


@st.composite
def codes(draw, n_values, max_classes=4):
    size, n, k = (
        draw(st.integers(1, 15)),
        draw(st.integers(1, 5)),
        draw(st.integers(1, max_classes)),
    )
    X = draw(arrays(np.int64, (size, n), elements=st.integers(0, n_values - 1)))
    return X, draw(arrays(np.int64, size, elements=st.integers(0, k - 1)))


@st.composite
def numbers(draw):
    X, y = draw(codes(81, max_classes=3))
    X = X / 4 - 10
    assume(all(len(np.unique(column[y == c])) > 1 for column in X.T for c in np.unique(y)))
    return X, y


def frame(X, n_values):
    """Codes, -1 for a missing value, as columns of category dtype with `n_values` declared categories."""
    columns = (pd.Categorical.from_codes(column, range(n_values)) for column in X.T)
    return pd.DataFrame({f"a{j}": column for j, column in enumerate(columns)})


def assert_same_posterior(learner, other, X, encoded):
    np.testing.assert_allclose(learner.predict_proba(X), other.predict_proba(encoded), **EXACT)
    assert learner.classes_.tolist() == other.classes_.tolist()


@given(codes(2), SMOOTHING)
def test_boolean_columns_are_bernoulli(sample, smoothing):
    X, y = sample
    other = BernoulliNB(alpha=smoothing, binarize=None).fit(X, y)
    for attributes in (
        X.astype(bool),
        pd.DataFrame(X.astype(bool)),
        pd.DataFrame(X, dtype="boolean"),
    ):
        assert_same_posterior(NaiveBayes(smoothing).fit(attributes, y), other, attributes, X)


@given(codes(4), SMOOTHING)
def test_category_columns_are_categorical(sample, smoothing):
    X, y = sample
    other = CategoricalNB(alpha=smoothing, min_categories=4).fit(X, y)
    assert_same_posterior(NaiveBayes(smoothing).fit(frame(X, 4), y), other, frame(X, 4), X)


@given(codes(4), SMOOTHING)
def test_observed_values_are_the_categories_of_other_columns(sample, smoothing):
    X, y = sample
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    other = CategoricalNB(alpha=smoothing, min_categories=np.maximum(2, ranks.max(axis=0) + 1)).fit(
        ranks, y
    )
    texts = np.array(list("dbca"))[X]
    for attributes in (X, texts, pd.DataFrame(X, dtype="Int8"), pd.DataFrame(texts, dtype="str")):
        assert_same_posterior(NaiveBayes(smoothing).fit(attributes, y), other, attributes, ranks)


@given(numbers())
def test_float_columns_are_gaussian(sample):
    X, y = sample
    other = GaussianNB(var_smoothing=0).fit(X, y)
    assert_same_posterior(NaiveBayes(ddof=0).fit(X, y), other, X, X)
    assert_same_posterior(NaiveBayes(ddof=0).fit(pd.DataFrame(X, dtype="Float64"), y), other, X, X)
    learner = NaiveBayes().fit(X, y)
    by_class = pd.DataFrame(X).groupby(y)
    np.testing.assert_allclose(np.array([*learner.means_.values()]).T, by_class.mean(), **EXACT)
    np.testing.assert_allclose(np.array([*learner.deviations_.values()]).T, by_class.std(), **EXACT)


def test_gaussians_far_from_zero_keep_their_spread():
    X, y = np.array([[1.0], [2], [3], [11], [12], [14]]), np.repeat([0, 1], 3)
    near, far = NaiveBayes().fit(X, y), NaiveBayes().fit(X + 1e9, y)
    np.testing.assert_allclose(far.deviations_["x0"], near.deviations_["x0"], rtol=1e-12)
    np.testing.assert_allclose(far.predict_proba(X + 1e9), near.predict_proba(X), **EXACT)


@st.composite
def mixtures(draw):
    """A DataFrame of boolean, categorical and Gaussian columns, some values missing, and classes."""
    size = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = pd.DataFrame(
        {
            "bool": rng.integers(0, 2, size).astype(bool),
            "declared": pd.Categorical(rng.choice(list("abc"), size), categories=list("abcd")),
            "text": rng.choice(["no", "yes", "?"], size),
            "integer": rng.integers(3, 6, size),
            "normal": rng.normal(size=size),
            "truth": pd.array(rng.integers(0, 2, size).astype(bool), dtype="boolean"),
            "wide": 1e4 * rng.normal(size=size),
        }
    )
    for name in {"declared", "text", "normal", "truth", "wide"} - draw(
        st.sets(st.sampled_from([*X.columns]))
    ):
        X.loc[rng.random(size) < 0.3, name] = None
    return X, rng.integers(0, draw(st.integers(1, 3)), size)


@given(mixtures())
def test_mixed_columns_add_up(sample):
    """The joint log probability is the prior's plus those of the columns alone, less their priors."""
    X, y = sample
    learner = NaiveBayes().fit(X, y)
    singles = [NaiveBayes().fit(X[[name]], y).predict_joint_log_proba(X[[name]]) for name in X]
    prior = learner.class_log_prior_
    np.testing.assert_allclose(prior, np.log(np.bincount(y)[np.unique(y)] / len(y)))
    total = prior + sum(single - prior for single in singles)
    np.testing.assert_allclose(learner.predict_joint_log_proba(X), total, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


@given(mixtures())
@settings(max_examples=12)
def test_a_missing_value_is_a_column_left_out(sample):
    """At prediction the row's column is dropped; in training, its class's estimates are of the other rows."""
    X, y = sample
    learner = NaiveBayes().fit(X, y)
    together = learner.predict_joint_log_proba(X)
    for i in range(len(X)):
        observed = [name for name in X if pd.notna(X[name].iloc[i])]
        if observed:
            alone = NaiveBayes().fit(X[observed], y).predict_joint_log_proba(X[observed].iloc[[i]])
        else:
            alone = learner.class_log_prior_[None]
        np.testing.assert_allclose(together[[i]], alone, rtol=1e-10, atol=1e-10)
    for name in X:
        present = X[name].notna().to_numpy()
        if np.array_equal(np.unique(y[present]), learner.classes_):
            complete = NaiveBayes().fit(X.loc[present, [name]], y[present])
            for tables in ("tables_", "means_", "deviations_"):
                if name in getattr(learner, tables):
                    np.testing.assert_allclose(
                        getattr(learner, tables)[name], getattr(complete, tables)[name]
                    )


def test_the_formula_by_hand():
    """Atlas, section 2: (count + alpha) / (n + alpha m)."""
    odor = pd.Categorical(["a", "a", "b", None], categories=["a", "b", "c"])
    X = pd.DataFrame({"odor": odor, "size": [1.0, 2, 3, 5]})
    learner = NaiveBayes(smoothing=2).fit(X, ["p", "p", "e", "e"])
    np.testing.assert_allclose(
        learner.tables_["odor"], [[2 / 7, 3 / 7, 2 / 7], [4 / 8, 2 / 8, 2 / 8]]
    )
    assert learner.categories_["odor"].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(learner.means_["size"], [4, 1.5])
    np.testing.assert_allclose(learner.deviations_["size"], [2**0.5, 0.5**0.5])
    assert learner.classes_.tolist() == ["e", "p"]
    assert learner.predict(X).tolist() == ["p", "p", "e", "e"]


class TestNothingToEstimate:
    """The defined behaviour of cells, columns and rows without information."""

    @pytest.mark.parametrize("values", [[np.nan, np.nan], [7.0, np.nan], [7.0, 7.0], [0.1, 0.1]])
    def test_a_flat_gaussian_is_that_of_all_classes(self, values):
        column = [1.0, 2.0, 4.0, *values]
        learner = NaiveBayes().fit(pd.DataFrame({"a": column}), [0, 0, 0, 1, 1])
        assert learner.means_["a"][1] == pytest.approx(np.nanmean(column))
        assert learner.deviations_["a"][1] == pytest.approx(np.nanstd(column, ddof=1))
        assert learner.means_["a"][0] == pytest.approx(7 / 3)

    @pytest.mark.parametrize("values", [[0.1] * 7, [np.nan] * 7, [np.nan, 3.0, *[np.nan] * 5]])
    @pytest.mark.parametrize("ddof", [0, 1])
    def test_a_column_without_spread_tells_nothing(self, values, ddof):
        X, y = pd.DataFrame({"a": values}), [0, 0, 1, 0, 0, 1, 1]
        learner = NaiveBayes(ddof=ddof).fit(X, y)
        assert np.isnan(learner.deviations_["a"]).all()
        np.testing.assert_allclose(
            learner.predict_proba(pd.DataFrame({"a": [0.1, 5, np.nan]})), [[4 / 7, 3 / 7]] * 3
        )

    @pytest.mark.parametrize("dtype", ["category", "object", "str", "boolean", "Int64"])
    def test_a_discrete_column_without_values_tells_nothing(self, dtype):
        X = pd.DataFrame({"a": pd.Series([None] * 3, dtype=dtype)})
        learner = NaiveBayes().fit(X, [0, 0, 1])
        np.testing.assert_allclose(learner.predict_proba(X), [[2 / 3, 1 / 3]] * 3)
        np.testing.assert_allclose(
            learner.tables_["a"], np.full((2, 0 if dtype == "category" else 2), 0.5)
        )

    def test_a_class_without_values_has_a_uniform_table(self):
        X = pd.DataFrame({"a": pd.Categorical(["r", "g", None], categories=["r", "g", "b"])})
        for smoothing in (0, 1):
            np.testing.assert_allclose(
                NaiveBayes(smoothing).fit(X, [0, 0, 1]).tables_["a"][1], [1 / 3] * 3
            )

    def test_a_column_of_one_value(self):
        """The other value of an integer column is not known, but counted, as that of a boolean one."""
        integers = NaiveBayes().fit(pd.DataFrame({"a": [5, 5, 5]}), [0, 0, 1])
        booleans = NaiveBayes().fit(pd.DataFrame({"a": [False] * 3}), [0, 0, 1])
        for learner in (integers, booleans):
            np.testing.assert_allclose(learner.tables_["a"], [[3 / 4, 1 / 4], [2 / 3, 1 / 3]])
        assert integers.categories_["a"].tolist() == [5]
        declared = NaiveBayes().fit(pd.DataFrame({"a": pd.Categorical(["r"] * 3)}), [0, 0, 1])
        np.testing.assert_allclose(declared.tables_["a"], [[1], [1]])

    @pytest.mark.parametrize("dtype", ["category", "object", "str"])
    def test_an_unknown_category_is_missing(self, dtype):
        X = pd.DataFrame({"a": ["r", "g", "g"], "b": [0.5, 1.5, 4]}).astype({"a": dtype})
        learner = NaiveBayes().fit(X, [0, 1, 1])
        missing, unknown = (X.assign(a=pd.Series([v] * 3, dtype=dtype)) for v in (None, "violet"))
        np.testing.assert_array_equal(
            learner.predict_proba(unknown), learner.predict_proba(missing)
        )

    def test_categories_are_compared_by_value(self):
        X = pd.DataFrame({"a": pd.Categorical(["r", "g", "g"], categories=["b", "g", "r"])})
        learner = NaiveBayes().fit(X, [0, 1, 1])
        expected = learner.predict_proba(X)
        for other in (
            X.astype("str"),
            X.astype("object"),
            X.astype(pd.CategoricalDtype(["violet", "r", "g"])),
        ):
            np.testing.assert_array_equal(learner.predict_proba(other), expected)

    def test_impossible_in_every_class_is_the_prior(self):
        X = pd.DataFrame({"a": [True, True, False], "b": [True, True, False]})
        learner = NaiveBayes(smoothing=0).fit(X, ["p", "p", "q"])
        rows = pd.DataFrame({"a": [True, True, False], "b": [True, False, False]})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(
                learner.predict_proba(rows), [[1, 0], [2 / 3, 1 / 3], [0, 1]]
            )
        assert np.isneginf(learner.predict_joint_log_proba(rows)[1]).all()
        assert learner.predict(rows).tolist() == ["p", "p", "q"]

    def test_too_far_for_every_density_is_the_widest(self):
        learner = NaiveBayes().fit(pd.DataFrame({"a": [1.0, 2, 3, 5, 6]}), [0, 0, 0, 1, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(
                learner.predict_proba(pd.DataFrame({"a": [1e200]})), [[1, 0]]
            )
        assert np.isneginf(learner.predict_joint_log_proba(pd.DataFrame({"a": [1e200]}))).all()


def exact_posterior(learner, row):
    """Of the fitted Gaussians, (n_classes,), in decimal numbers of 700 digits."""
    with localcontext(prec=700):
        joint = []
        for c in range(len(learner.classes_)):
            total = Decimal(np.exp(learner.class_log_prior_[c]).item()).ln()
            for value, name in zip(row, learner.means_, strict=True):
                mean, deviation = (
                    Decimal(t[name][c].item()) for t in (learner.means_, learner.deviations_)
                )
                total -= ((Decimal(value) - mean) / deviation) ** 2 / 2 + deviation.ln()
            joint.append(total)
        shares = [(term - max(joint)).exp() for term in joint]
        return [float(share / sum(shares)) for share in shares]


class TestFarAway:
    """Posteriors are right at any distance, where squares have no digits left, or overflow."""

    SAMPLES = {
        "equal": ([[0.0], [1], [0], [1], [0], [1], [0], [1]], [0, 0, 1, 1, 2, 2, 2, 2]),
        "shifted": ([[0.0], [1], [3], [4], [-2], [-1]], [0, 0, 1, 1, 2, 2]),
        "scaled": ([[0.0], [1], [0], [2], [-1], [4], [3]], [0, 0, 1, 1, 2, 2, 2]),
        "two columns": ([[0.0, 0], [1, 2], [0, 3], [1, 5], [0, 1], [1, 3]], [0, 0, 1, 1, 2, 2]),
    }

    @pytest.mark.parametrize(("X", "y"), SAMPLES.values(), ids=SAMPLES)
    def test_posteriors_are_exact(self, X, y):
        learner = NaiveBayes(ddof=0).fit(np.array(X), y)
        sizes = [10.0**e for e in (*range(-8, 20), 50, 120, 153, 154, 155, 200, 307, 308)]
        rows = np.array([[sign * size] * len(X[0]) for size in sizes for sign in (1, -1)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = learner.predict_proba(rows)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        expected = [exact_posterior(learner, row.tolist()) for row in rows]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(learner.predict(rows), found.argmax(axis=1))
        joint = learner.predict_joint_log_proba(rows)
        near = np.abs(rows[:, 0]) < 1e6
        np.testing.assert_array_equal(joint[near].argmax(axis=1), found[near].argmax(axis=1))
        assert not np.isnan(joint).any()

    def test_equal_densities_leave_the_prior(self):
        learner = NaiveBayes(ddof=0).fit(*self.SAMPLES["equal"])
        np.testing.assert_allclose(
            learner.predict_proba([[-1e12]]), [[0.25, 0.25, 0.5]], rtol=1e-12
        )
        assert learner.predict([[-1e12]]).tolist() == [2]
        two = NaiveBayes().fit([[0.0], [1], [0], [1]], [0, 0, 1, 1])
        np.testing.assert_allclose(two.predict_proba([[999999999.0]]), [[0.5, 0.5]], rtol=1e-12)

    def test_a_class_that_a_table_excludes_takes_no_digits(self):
        """Class 2 has the largest density by far, and no row with True: the others are equal but for the prior."""
        X = pd.DataFrame({"a": [True] * 6 + [False] * 2, "b": [0.0, 1, 0, 1, 0, 1, 1e12, 1e12 + 1]})
        learner = NaiveBayes(smoothing=0, ddof=0).fit(X, [0, 0, 1, 1, 1, 1, 2, 2])
        np.testing.assert_allclose(
            learner.predict_proba(X.iloc[:1].assign(b=1e12)), [[1 / 3, 2 / 3, 0]], rtol=1e-12
        )

    @pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200, 4e307])
    def test_columns_of_any_unit_are_learned(self, unit):
        X, y = np.array([[1.0], [2], [1.5], [3], [4], [3.25]]), [0, 0, 0, 1, 1, 1]
        expected = NaiveBayes().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(
            NaiveBayes().fit(unit * X, y).predict_proba(unit * X), expected, rtol=1e-2
        )


class TestWeights:
    @given(mixtures(), st.integers(0, 2**32 - 1), st.sampled_from([0, 1]))
    @settings(max_examples=30)
    def test_are_repeated_rows(self, sample, seed, ddof):
        X, y = sample
        weights = np.random.default_rng(seed).integers(0, 4, len(y))
        assume(weights.any())
        found = NaiveBayes(ddof=ddof).fit(X, y, weights)
        repeated = np.repeat(np.arange(len(y)), weights)
        expected = NaiveBayes(ddof=ddof).fit(X.iloc[repeated], y[repeated])
        present = np.isin(found.classes_, expected.classes_)
        np.testing.assert_allclose(
            found.predict_proba(X)[:, present], expected.predict_proba(X), rtol=1e-9, atol=1e-12
        )
        assert (found.predict_proba(X)[:, ~present] == 0).all()
        for name, table in expected.tables_.items():
            np.testing.assert_allclose(found.tables_[name][present], table, rtol=1e-12)
        for name, deviations in expected.deviations_.items():
            np.testing.assert_allclose(found.deviations_[name][present], deviations, rtol=1e-9)

    def test_the_formula_by_hand(self):
        X = pd.DataFrame({"a": [True, False, True], "b": [0.0, 1, 2]})
        learner = NaiveBayes().fit(X, [0, 0, 1], [1.5, 4.5, 0.75])
        np.testing.assert_allclose(np.exp(learner.class_log_prior_), [6 / 6.75, 0.75 / 6.75])
        np.testing.assert_allclose(
            learner.tables_["a"], [[5.5 / 8, 2.5 / 8], [1 / 2.75, 1.75 / 2.75]]
        )
        assert learner.means_["b"][0] == pytest.approx(0.75)
        assert learner.deviations_["b"][0] == pytest.approx((6 * 0.75 * 0.25 / 5) ** 0.5)

    def test_a_class_of_little_weight_has_a_deviation(self):
        """Its sum of squares is not divided by n - 1, which is negative here, but by n / 2."""
        X, y = pd.DataFrame({"b": [0.0, 2, 5, 6, 7]}), [0, 0, 1, 1, 1]
        learner = NaiveBayes().fit(X, y, [0.25, 0.25, 2, 2, 2])
        np.testing.assert_allclose(learner.deviations_["b"], [2**0.5, (4 / 5) ** 0.5])


def test_many_values_take_little_memory():
    """An identifier has as many values as rows: 20000 x 20000 dense indicators would take 3 GB."""
    X = pd.DataFrame({"id": np.arange(20000), "b": np.arange(20000) % 2 == 0})
    y = np.arange(20000) % 2
    assert (NaiveBayes().fit(X, y).predict(X) == y).all()


class TestErrors:
    X = pd.DataFrame({"a": [True, False], "b": [1.0, 2.0]})

    @pytest.mark.parametrize(
        ("fit", "predict"), [("int", "text"), ("text", "int"), ("bool", "text"), ("text", "bool")]
    )
    def test_a_column_of_another_type(self, fit, predict):
        """Strings for integers would all count as never seen, silently."""
        X = pd.DataFrame({"a": [0, 1, 1, 0], "b": [1, 0, 0, 1]})
        kinds = {"int": X, "bool": X.astype(bool), "text": X.replace({0: "no", 1: "yes"})}
        learner = NaiveBayes().fit(kinds[fit], [0, 1, 1, 0])
        with pytest.raises(ValueError, match=r"column 'a' was \w+ in fit; got .*(0|False|no)"):
            learner.predict(kinds[predict])
        assert learner.predict(kinds[fit]).tolist() == [0, 1, 1, 0]

    def test_an_integer_where_floats_were_is_a_number(self):
        learner = NaiveBayes().fit(self.X, [0, 1])
        integers = self.X.assign(b=[1, 2])
        np.testing.assert_array_equal(
            learner.predict_proba(integers), learner.predict_proba(self.X)
        )

    def test_dtypes_that_missing_values_bring_about(self):
        """Booleans become objects and integers floats once a value is missing: they are still the same values."""
        X = pd.DataFrame({"a": [True, False, False], "b": [4, 7, 9]})
        learner = NaiveBayes().fit(X, [0, 1, 1])
        later = pd.DataFrame({"a": [True, None, False], "b": [4, 7, np.nan]})
        assert [*later.dtypes] == [np.dtype(object), np.dtype(float)]
        expected = [
            learner.predict_proba(X)[0],
            *(
                NaiveBayes().fit(X[[c]], [0, 1, 1]).predict_proba(X[[c]])[i]
                for i, c in ((1, "b"), (2, "a"))
            ),
        ]
        np.testing.assert_allclose(learner.predict_proba(later), expected)


# Selective naive Bayes

N_VALUES = 3


@st.composite
def samples(draw):
    """Codes with -1 for missing values, classes 0, 1, ... that all occur, and a state."""
    n, d, k = draw(st.integers(1, 14)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    X = draw(arrays(np.int64, (n, d), elements=st.integers(-1, N_VALUES - 1)))
    y = np.unique(draw(arrays(np.int64, n, elements=st.integers(0, k - 1))), return_inverse=True)[1]
    return X, y, draw(st.integers(0, 5))


def exact_joint(X, y, n_classes, columns, row, smoothing=1):
    """P(c, x) of each class, in fractions, from the training rows `X` and `y`."""
    joint = []
    for c in range(n_classes):
        members = [x for x, label in zip(X, y, strict=True) if label == c]
        factors = [Fraction(len(members), max(len(y), 1))]
        for j in columns:
            if row[j] >= 0:
                values = [x[j] for x in members if x[j] >= 0]
                factors.append(
                    Fraction(values.count(row[j]) + smoothing, len(values) + smoothing * N_VALUES)
                )
        joint.append(prod(factors))
    return joint


def exact_search(X, y, folds):
    """The attributes chosen and the numbers of held-out rows that are right, one attribute after another."""
    n_classes = max(y) + 1

    def n_right(columns):
        right = 0
        for i, row in enumerate(X):
            others = [k for k in range(len(X)) if folds[k] != folds[i]]
            joint = exact_joint(
                [X[k] for k in others], [y[k] for k in others], n_classes, columns, row
            )
            right += joint.index(max(joint)) == y[i]
        return right

    chosen, right = [], [n_right([])]
    while len(chosen) < len(X[0]):
        found = {j: n_right([*chosen, j]) for j in range(len(X[0])) if j not in chosen}
        best = max(found, key=found.get)
        if found[best] < right[-1]:
            break
        chosen.append(best)
        right.append(found[best])
    return chosen, right


@given(samples())
def test_search_is_exact(sample):
    X, y, state = sample
    learner = SelectiveNaiveBayes(random_state=state).fit(frame(X, N_VALUES), y)
    folds = np.random.RandomState(state).permutation(len(y)) % min(5, len(y))  # noqa: NPY002
    chosen, right = exact_search(X.tolist(), y.tolist(), folds.tolist())
    assert learner.chosen_.tolist() == chosen
    np.testing.assert_allclose(learner.accuracies_ * len(y), right, atol=1e-9)
    joint = [exact_joint(X.tolist(), y.tolist(), max(y) + 1, chosen, row) for row in X.tolist()]
    found = np.exp(learner.predict_joint_log_proba(frame(X, N_VALUES)))
    np.testing.assert_allclose(found, np.array(joint, float), atol=1e-12)
    assert learner.predict(frame(X, N_VALUES)).tolist() == [row.index(max(row)) for row in joint]


@given(samples(), st.sampled_from([0.1, 1.0, 3.0]), st.integers(2, 6))
def test_it_is_naive_bayes_of_the_chosen_attributes(sample, smoothing, n_folds):
    X, y, state = sample
    learner = SelectiveNaiveBayes(smoothing, n_folds, state).fit(frame(X, N_VALUES), y)
    assert (np.diff(learner.accuracies_) >= 0).all()
    if len(learner.chosen_) == 0:
        shares = np.broadcast_to(np.bincount(y) / len(y), (len(y), max(y) + 1))
        np.testing.assert_allclose(learner.predict_proba(frame(X, N_VALUES)), shares, atol=1e-12)
        return
    chosen = frame(X, N_VALUES).iloc[:, learner.chosen_]
    other = NaiveBayes(smoothing).fit(chosen, y)
    np.testing.assert_allclose(
        learner.predict_proba(frame(X, N_VALUES)), other.predict_proba(chosen), atol=1e-12
    )


def test_of_equally_good_attributes_the_first_is_taken():
    y = np.arange(40) % 2
    X = pd.DataFrame({"same": np.zeros(40, dtype=bool), "first": y == 1, "second": y == 0})
    assert SelectiveNaiveBayes(random_state=0).fit(X, y).chosen_.tolist() == [1, 0, 2]
