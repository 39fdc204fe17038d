"""Naive Bayes against scikit-learn, by enumeration, and without data to estimate; its selection."""

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

from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes

SMOOTHING = st.sampled_from([1e-3, 0.5, 1.0, 3.0])
EXACT = {"atol": 1e-10, "rtol": 0}


@st.composite
def codes(draw, n_values, max_classes=4):
    size = draw(st.integers(1, 15))
    n = draw(st.integers(1, 5))
    n_classes = draw(st.integers(1, max_classes))
    X = draw(arrays(np.int64, (size, n), elements=st.integers(0, n_values - 1)))
    y = draw(arrays(np.int64, size, elements=st.integers(0, n_classes - 1)))
    return X, y


@st.composite
def numbers(draw):
    """Numbers of which each column varies within each class."""
    X, y = draw(codes(81, max_classes=3))
    X = X / 4 - 10
    for c in np.unique(y):
        assume((np.ptp(X[y == c], axis=0) > 0).all())
    return X, y


def frame(X, n_values):
    """Codes, -1 for a missing value, as columns of category dtype with `n_values` categories."""
    columns = (pd.Categorical.from_codes(column, range(n_values)) for column in X.T)
    return pd.DataFrame({f"a{j}": column for j, column in enumerate(columns)})


def assert_same_posterior(learner, peer, X, encoded):
    np.testing.assert_allclose(learner.predict_proba(X), peer.predict_proba(encoded), **EXACT)
    assert learner.classes_.tolist() == peer.classes_.tolist()


@given(codes(2), SMOOTHING)
def test_boolean_columns_are_bernoulli(sample, smoothing):
    X, y = sample
    peer = BernoulliNB(alpha=smoothing, binarize=None).fit(X, y)
    for attributes in (
        X.astype(bool),
        pd.DataFrame(X.astype(bool)),
        pd.DataFrame(X, dtype="boolean"),
    ):
        assert_same_posterior(NaiveBayes(smoothing).fit(attributes, y), peer, attributes, X)


@given(codes(4), SMOOTHING)
def test_category_columns_are_categorical(sample, smoothing):
    X, y = sample
    peer = CategoricalNB(alpha=smoothing, min_categories=4).fit(X, y)
    assert_same_posterior(NaiveBayes(smoothing).fit(frame(X, 4), y), peer, frame(X, 4), X)


@given(codes(4), SMOOTHING)
def test_observed_values_are_the_categories_of_other_columns(sample, smoothing):
    X, y = sample
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    # a column of one value counts a second one, as a boolean column does
    n_values = np.maximum(2, ranks.max(axis=0) + 1)
    peer = CategoricalNB(alpha=smoothing, min_categories=n_values).fit(ranks, y)
    texts = np.array(list("dbca"))[X]
    for attributes in (X, texts, pd.DataFrame(X, dtype="Int8"), pd.DataFrame(texts, dtype="str")):
        assert_same_posterior(NaiveBayes(smoothing).fit(attributes, y), peer, attributes, ranks)


@given(numbers())
def test_float_columns_are_gaussian(sample):
    X, y = sample
    peer = GaussianNB(var_smoothing=0).fit(X, y)
    assert_same_posterior(NaiveBayes(ddof=0).fit(X, y), peer, X, X)
    assert_same_posterior(NaiveBayes(ddof=0).fit(pd.DataFrame(X, dtype="Float64"), y), peer, X, X)
    learner = NaiveBayes().fit(X, y)
    by_class = pd.DataFrame(X).groupby(y)
    means = np.array([*learner.means_.values()])
    deviations = np.array([*learner.deviations_.values()])
    np.testing.assert_allclose(means.T, by_class.mean(), **EXACT)
    np.testing.assert_allclose(deviations.T, by_class.std(), **EXACT)


def test_gaussians_far_from_zero_keep_their_spread():
    X = np.array([[1.0], [2], [3], [11], [12], [14]])
    y = np.repeat([0, 1], 3)
    plain = NaiveBayes().fit(X, y)
    shifted = NaiveBayes().fit(X + 1e9, y)
    np.testing.assert_allclose(shifted.deviations_["x0"], plain.deviations_["x0"], rtol=1e-12)
    np.testing.assert_allclose(shifted.predict_proba(X + 1e9), plain.predict_proba(X), **EXACT)


@st.composite
def mixtures(draw):
    """A DataFrame of boolean, categorical and Gaussian columns, some incomplete, and classes."""
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
    complete = draw(st.sets(st.sampled_from([*X.columns])))
    for name in {"declared", "text", "normal", "truth", "wide"} - complete:
        X.loc[rng.random(size) < 0.3, name] = None
    return X, rng.integers(0, draw(st.integers(1, 3)), size)


@given(mixtures())
def test_mixed_columns_add_up(sample):
    """Log P(c, x) is log P(c) plus log P(x_j | c) for each column.

    The latter is log P(c, x_j) of the learner of one column less log P(c).
    """
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
    """In prediction the example's column is dropped; in training it does not count the example."""
    X, y = sample
    learner = NaiveBayes().fit(X, y)
    joint = learner.predict_joint_log_proba(X)
    for i in range(len(X)):
        observed = [name for name in X if pd.notna(X[name].iloc[i])]
        if observed:
            of_observed = NaiveBayes().fit(X[observed], y)
            expected = of_observed.predict_joint_log_proba(X[observed].iloc[[i]])
        else:
            expected = learner.class_log_prior_[None]
        np.testing.assert_allclose(joint[[i]], expected, rtol=1e-10, atol=1e-10)
    for name in X:
        present = X[name].notna().to_numpy()
        if not np.array_equal(np.unique(y[present]), learner.classes_):
            continue
        complete = NaiveBayes().fit(X.loc[present, [name]], y[present])
        for estimates in ("tables_", "means_", "deviations_"):
            by_column = getattr(learner, estimates)
            if name in by_column:
                np.testing.assert_allclose(by_column[name], getattr(complete, estimates)[name])


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
        X = pd.DataFrame({"a": values})
        y = [0, 0, 1, 0, 0, 1, 1]
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
        """A second value of an integer column is counted, though unknown, as of a boolean one."""
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
        missing = X.assign(a=pd.Series([None] * 3, dtype=dtype))
        unknown = X.assign(a=pd.Series(["violet"] * 3, dtype=dtype))
        np.testing.assert_array_equal(
            learner.predict_proba(unknown), learner.predict_proba(missing)
        )

    def test_categories_are_compared_by_value(self):
        X = pd.DataFrame({"a": pd.Categorical(["r", "g", "g"], categories=["b", "g", "r"])})
        learner = NaiveBayes().fit(X, [0, 1, 1])
        expected = learner.predict_proba(X)
        for recoded in (
            X.astype("str"),
            X.astype("object"),
            X.astype(pd.CategoricalDtype(["violet", "r", "g"])),
        ):
            np.testing.assert_array_equal(learner.predict_proba(recoded), expected)

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
                mean = Decimal(learner.means_[name][c].item())
                deviation = Decimal(learner.deviations_[name][c].item())
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
        exponents = [-8, -2, 0, 1, 3, 5, 6, 7, 8, 9, 12, 15, 16, 18, 120, 153, 154, 155, 307, 308]
        values = 10.0 ** np.array(exponents)
        column = np.append(values, -values)
        rows = np.repeat(column[:, None], len(X[0]), axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            posterior = learner.predict_proba(rows)
        np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)
        expected = [exact_posterior(learner, row.tolist()) for row in rows]
        np.testing.assert_allclose(posterior, expected, rtol=1e-9, atol=1e-12)
        likeliest = posterior.argmax(axis=1)
        np.testing.assert_array_equal(learner.predict(rows), likeliest)
        # beyond a million, joint log probabilities differ by less than their rounding
        joint = learner.predict_joint_log_proba(rows)
        small = np.abs(rows[:, 0]) < 1e6
        np.testing.assert_array_equal(joint[small].argmax(axis=1), likeliest[small])
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
        """Class 2 has by far the largest density, but no example with True.

        The two other classes have the same density, which leaves their prior of 2 to 4.
        """
        X = pd.DataFrame({"a": [True] * 6 + [False] * 2, "b": [0.0, 1, 0, 1, 0, 1, 1e12, 1e12 + 1]})
        learner = NaiveBayes(smoothing=0, ddof=0).fit(X, [0, 0, 1, 1, 1, 1, 2, 2])
        np.testing.assert_allclose(
            learner.predict_proba(X.iloc[:1].assign(b=1e12)), [[1 / 3, 2 / 3, 0]], rtol=1e-12
        )

    @pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200, 4e307])
    def test_columns_of_any_unit_are_learned(self, unit):
        X = np.array([[1.0], [2], [1.5], [3], [4], [3.25]])
        y = [0, 0, 0, 1, 1, 1]
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
        weighted = NaiveBayes(ddof=ddof).fit(X, y, weights)
        rows = np.repeat(np.arange(len(y)), weights)
        repeated = NaiveBayes(ddof=ddof).fit(X.iloc[rows], y[rows])
        # a class of weight 0 is impossible
        present = np.isin(weighted.classes_, repeated.classes_)
        posterior = weighted.predict_proba(X)
        np.testing.assert_allclose(
            posterior[:, present], repeated.predict_proba(X), rtol=1e-9, atol=1e-12
        )
        assert (posterior[:, ~present] == 0).all()
        for name, table in repeated.tables_.items():
            np.testing.assert_allclose(weighted.tables_[name][present], table, rtol=1e-12)
        for name, deviations in repeated.deviations_.items():
            np.testing.assert_allclose(weighted.deviations_[name][present], deviations, rtol=1e-9)

    def test_the_formula_by_hand(self):
        """Sums of weights stand where counts do.

        The formula is (weight of the value + 1) / (weight of the class + 2).
        """
        X = pd.DataFrame({"a": [True, False, True], "b": [0.0, 1, 2]})
        learner = NaiveBayes().fit(X, [0, 0, 1], [1.5, 4.5, 0.75])
        np.testing.assert_allclose(np.exp(learner.class_log_prior_), [6 / 6.75, 0.75 / 6.75])
        np.testing.assert_allclose(
            learner.tables_["a"], [[5.5 / 8, 2.5 / 8], [1 / 2.75, 1.75 / 2.75]]
        )
        # of 0 and 1 with shares 1/4 and 3/4 in a weight of 6; the variance is divided by 6 - 1
        assert learner.means_["b"][0] == pytest.approx(0.75)
        assert learner.deviations_["b"][0] == pytest.approx((6 * 0.75 * 0.25 / 5) ** 0.5)

    def test_a_class_of_little_weight_has_a_deviation(self):
        """Its sum of squares is not divided by n - 1, which is negative here, but by n / 2."""
        X = pd.DataFrame({"b": [0.0, 2, 5, 6, 7]})
        y = [0, 0, 1, 1, 1]
        learner = NaiveBayes().fit(X, y, [0.25, 0.25, 2, 2, 2])
        np.testing.assert_allclose(learner.deviations_["b"], [2**0.5, (4 / 5) ** 0.5])


@pytest.mark.filterwarnings("ignore:column 'id' counts as categories")
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
        """Booleans become objects and integers floats, and are still the same values."""
        X = pd.DataFrame({"a": [True, False, False], "b": [4, 7, 9]})
        y = [0, 1, 1]
        learner = NaiveBayes().fit(X, y)
        incomplete = pd.DataFrame({"a": [True, None, False], "b": [4, 7, np.nan]})
        assert [*incomplete.dtypes] == [np.dtype(object), np.dtype(float)]
        of_a = NaiveBayes().fit(X[["a"]], y).predict_proba(X[["a"]])
        of_b = NaiveBayes().fit(X[["b"]], y).predict_proba(X[["b"]])
        expected = [learner.predict_proba(X)[0], of_b[1], of_a[2]]
        np.testing.assert_allclose(learner.predict_proba(incomplete), expected)


# Selective naive Bayes

N_VALUES = 3


@st.composite
def samples(draw):
    """Codes with -1 for missing values, classes 0, 1, ... that all occur, and a random state."""
    size = draw(st.integers(1, 14))
    n_attributes = draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    X = draw(arrays(np.int64, (size, n_attributes), elements=st.integers(-1, N_VALUES - 1)))
    labels = draw(arrays(np.int64, size, elements=st.integers(0, n_classes - 1)))
    y = np.unique(labels, return_inverse=True)[1]
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
    """The attributes in the order of their choice, and the held-out examples right with each."""
    n_classes = max(y) + 1

    def count_right(columns):
        n_right = 0
        for i, row in enumerate(X):
            training = [k for k in range(len(X)) if folds[k] != folds[i]]
            training_X = [X[k] for k in training]
            training_y = [y[k] for k in training]
            joint = exact_joint(training_X, training_y, n_classes, columns, row)
            n_right += joint.index(max(joint)) == y[i]
        return n_right

    chosen = []
    history = [count_right([])]
    while len(chosen) < len(X[0]):
        candidates = [j for j in range(len(X[0])) if j not in chosen]
        n_right = {j: count_right([*chosen, j]) for j in candidates}
        best = max(n_right, key=n_right.get)
        if n_right[best] < history[-1]:
            break
        chosen.append(best)
        history.append(n_right[best])
    return chosen, history


@given(samples())
def test_search_is_exact(sample):
    X, y, state = sample
    learner = SelectiveNaiveBayes(random_state=state).fit(frame(X, N_VALUES), y)
    folds = np.random.RandomState(state).permutation(len(y)) % min(5, len(y))  # noqa: NPY002
    chosen, n_right = exact_search(X.tolist(), y.tolist(), folds.tolist())
    assert learner.chosen_.tolist() == chosen
    np.testing.assert_allclose(learner.accuracies_ * len(y), n_right, atol=1e-9)
    joint = np.exp(learner.predict_joint_log_proba(frame(X, N_VALUES)))
    exact = [exact_joint(X.tolist(), y.tolist(), max(y) + 1, chosen, row) for row in X.tolist()]
    np.testing.assert_allclose(joint, np.array(exact, float), atol=1e-12)
    assert learner.predict(frame(X, N_VALUES)).tolist() == [row.index(max(row)) for row in exact]


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
    naive = NaiveBayes(smoothing).fit(chosen, y)
    np.testing.assert_allclose(
        learner.predict_proba(frame(X, N_VALUES)), naive.predict_proba(chosen), atol=1e-12
    )


def test_of_equally_good_attributes_the_first_is_taken():
    y = np.arange(40) % 2
    X = pd.DataFrame({"same": np.zeros(40, dtype=bool), "first": y == 1, "second": y == 0})
    assert SelectiveNaiveBayes(random_state=0).fit(X, y).chosen_.tolist() == [1, 0, 2]
