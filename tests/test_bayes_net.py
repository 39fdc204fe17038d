"""Belief nets against enumeration: inference, gradients, expected counts; what they take."""

import itertools
import math
import warnings

import bayes_net_reference as reference
import numpy as np
import pandas as pd
import pytest
from bayes_net_reference import MISSING
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from lib.bayes_net import BayesNetClassifier, Cases, Network, plain

OBJECTIVES = ((True, 0.0), (False, 0.0), (False, 1.0))  # conditional? smoothing
SIZES = (3, 2, 3, 2, 4)
GRAPHS = {
    "naive": ((), (0,), (0,), (0,), (0,)),
    "tan": ((), (0,), (0, 1), (0, 1), (0, 3)),
    "chain": ((), (0,), (0, 1), (0, 2), (0, 3)),
    "class with parents": ((1, 2), (), (1,), (0, 2), ()),
    "alone": ((), (2,), (), (1, 2), ()),
    "three parents": ((3,), (2, 3, 4), (), (2,), (0, 2)),
}
LEARNERS = ("ofe", "elr", "em", "apn")

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(params=GRAPHS, ids=lambda name: name.replace(" ", "-"))
def parents(request):
    return GRAPHS[request.param]


@st.composite
def nets(draw, extremes=False):
    """Parents, sizes, tables and rows with missing values; `extremes`: entries of 0 and 1e-30."""
    rng = np.random.default_rng(draw(seeds))
    n_attributes = draw(st.integers(1, 4))
    n_classes = draw(st.integers(2, 4))
    attribute_sizes = draw(st.tuples(*[st.integers(1, 3)] * n_attributes))
    sizes = (n_classes, *attribute_sizes)
    parents = reference.random_parents(rng, len(sizes))
    tables = reference.random_tables(rng, parents, sizes)
    if extremes:
        tables = [with_extremes(table, rng) for table in tables]
    n_rows = draw(st.integers(1, 6))
    rows = rng.integers(0, sizes, (n_rows, len(sizes)))
    share = draw(st.sampled_from([0, 0.3, 1]))
    return parents, sizes, tables, reference.mask(rng, rows, share)


def with_extremes(table, rng):
    """The table with entries of 0 and 1e-30, each distribution normalised again."""
    shrunk = table * rng.choice([0, 1e-30, 1], table.shape)
    is_possible = shrunk.sum(axis=-1, keepdims=True) > 0
    weights = np.where(is_possible, shrunk, 1)
    return weights / weights.sum(axis=-1, keepdims=True)


def example(parents, sizes=SIZES, size=12, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    tables = reference.random_tables(rng, parents, sizes)
    rows = rng.integers(0, sizes, (size, len(sizes)))
    return tables, reference.mask(rng, rows, share)


def cases(parents, sizes, rows):
    return Cases.from_rows(Network(parents, sizes), np.array(rows))


def logarithms(tables):
    return np.log(reference.flat(tables))


def posterior(parents, tables, row):
    sample = cases(parents, reference.sizes_of(tables), [row])
    return sample.posterior(reference.flat(tables))[0]


def assert_same_posterior(parents, tables, row):
    expected = reference.posterior(parents, tables, row)
    assume(expected is not None)
    np.testing.assert_allclose(posterior(parents, tables, row), expected, rtol=1e-10, atol=1e-12)


# The parameters


@given(nets())
def test_tables_and_flat_vector(net):
    parents, sizes, tables, _ = net
    network = Network(parents, sizes)
    theta = reference.flat(tables)
    assert network.n_parameters == len(theta)
    for table, expected in zip(network.tables(theta), tables, strict=True):
        np.testing.assert_array_equal(table, expected)


@given(nets(), st.sampled_from([1.0, 30.0, 1000.0]))
def test_softmax(net, scale):
    """By its formula; with a scale of 1000 some entries are below the smallest float."""
    parents, sizes, tables, _ = net
    beta = scale * logarithms(tables)
    theta = Network(parents, sizes).softmax(beta)
    expected = reference.flat(reference.softmax(beta, parents, sizes))
    np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-290)
    for table in reference.unflat(theta, parents, sizes):
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=1e-12)


# Posterior


@given(nets())
def test_posterior_by_enumeration(net):
    parents, _, tables, rows = net
    for row in rows:
        assert_same_posterior(parents, tables, tuple(row))


@given(nets(extremes=True))
def test_posterior_with_entries_of_zero_and_nearly(net):
    parents, _, tables, rows = net
    assert_same_posterior(parents, tables, tuple(rows[0]))


@pytest.mark.parametrize("seed", range(3))
def test_posterior_of_every_pattern_of_missing_values(parents, seed):
    tables, rows = example(parents, share=0, seed=seed)
    for pattern in itertools.product([False, True], repeat=len(SIZES) - 1):
        row = np.where((False, *pattern), MISSING, rows[0])
        expected = reference.posterior(parents, tables, tuple(row))
        np.testing.assert_allclose(posterior(parents, tables, row), expected, rtol=1e-12, atol=0)


def test_rows_share_the_messages_over_what_is_missing():
    """E_3 of a chain is missing: E_1 and E_5 do not matter, nor does E_4 for what E_2 says.

    So there is a message for each value of E_2 (2), and for each pair of E_2 and E_4 (2 * 2).
    """
    rows = np.array([(0, *x[:2], MISSING, *x[2:]) for x in np.ndindex(2, 2, 2, 2)])
    chain = [(), (0,), (0, 1), (0, 2), (0, 3), (0, 4)]
    sample = cases(chain, [2] * 6, rows)
    assert len(sample.layout.by_class.messages.widths) == 2 + 2 * 2


@pytest.mark.parametrize("length", [6, 60])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_long_chain_is_the_forward_algorithm(length, share):
    """50 missing values in a row are beyond enumeration."""
    rng = np.random.default_rng(length)
    sizes = (3, *[2, 4, 3] * (length // 3))
    chain = ((), (0,), *[(0, v) for v in range(1, length)])
    tables = reference.random_tables(rng, chain, sizes)
    rows = rng.integers(0, sizes, (3, length + 1))
    for row in reference.mask(rng, rows, share):
        joints = np.array([reference.forward(tables, (c, *row[1:])) for c in range(3)])
        np.testing.assert_allclose(posterior(chain, tables, row), joints / joints.sum(), rtol=1e-10)
    # The forward algorithm itself, by enumeration of the first six attributes
    short_rows = rng.integers(0, (3, *[2] * 6), (3, 7))
    for row in reference.mask(rng, short_rows, 0.5):
        expected = reference.evidence(chain[:7], tables[:7], tuple(row))
        assert reference.forward(tables[:7], row) == pytest.approx(expected, rel=1e-12)


def test_hundreds_of_attributes_do_not_underflow():
    """P(e) is far below the smallest float."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (80, 400))
    y = np.repeat([0, 1], 40)
    X = as_categories(codes, [2] + [8] * 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = BayesNetClassifier("naive", "ofe").fit(X, y)
    peer = CategoricalNB(alpha=1, min_categories=8).fit(codes, y)
    np.testing.assert_allclose(
        learner.predict_log_proba(X), peer.predict_log_proba(codes), rtol=1e-8, atol=1e-10
    )
    # Both classes have the same rows, so no row says which
    halves = pd.concat([X[:40], X[:40]])
    undecided_model = BayesNetClassifier("naive", "ofe").fit(halves, y)
    np.testing.assert_allclose(undecided_model.predict_proba(halves), 0.5, rtol=1e-8)


# Gradients


@given(nets())
def test_proposition_3_of_drawn_nets(net):
    """[P(d, f | e, c) - P(d, f | e)] - theta_{d|f} [P(f | c, e) - P(f | e)], by enumeration."""
    parents, sizes, tables, rows = net
    for row in rows[:3]:
        value, gradient = cases(parents, sizes, [row]).value_and_gradient(logarithms(tables))
        expected = reference.log_conditional_likelihood(parents, tables, [tuple(row)])
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-13)
        slopes = reference.proposition_3(parents, tables, tuple(row))
        np.testing.assert_allclose(gradient, slopes, atol=1e-12)


@given(nets())
def test_the_equations_in_plain_numpy_are_enumeration_and_kernel(net):
    parents, sizes, tables, rows = net
    for row in map(tuple, rows[:3]):
        plain_posterior = plain.posterior(parents, tables, row)
        expected = reference.posterior(parents, tables, row)
        np.testing.assert_allclose(plain_posterior, expected, rtol=1e-10)
        slopes = reference.flat(plain.gradient(parents, tables, row))
        np.testing.assert_allclose(
            slopes, reference.proposition_3(parents, tables, row), atol=1e-12
        )
        sample = cases(parents, sizes, [row])
        _, kernel_slopes = sample.value_and_gradient(logarithms(tables))
        np.testing.assert_allclose(kernel_slopes, slopes, atol=1e-12)


@given(nets(), st.sampled_from([0.0, 0.5, 1.0]))
def test_gradient_of_the_joint_likelihood_of_drawn_nets(net, smoothing):
    parents, sizes, tables, rows = net
    n = len(rows)
    sample = cases(parents, sizes, rows)
    value, gradient = sample.value_and_gradient(logarithms(tables), False, smoothing)
    log_likelihood = reference.log_likelihood(parents, tables, rows)
    expected = log_likelihood + reference.log_prior(tables, smoothing)
    assert value == pytest.approx(expected / n, rel=1e-10, abs=1e-13)
    # The derivative of a softmax: N(d, f) - theta(d | f) N(f)
    counts = reference.unflat(sum_of_families(parents, tables, rows), parents, sizes)
    slopes = []
    for count, table in zip(counts, tables, strict=True):
        smoothed_count = count + smoothing
        slopes.append(smoothed_count - table * smoothed_count.sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(gradient, reference.flat(slopes) / n, rtol=1e-9, atol=1e-12)


def sum_of_families(parents, tables, rows):
    return reference.expected_counts(parents, tables, [tuple(row) for row in rows])


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_are_finite_differences(parents, share, objective):
    """Central differences, whose error is of the order of the step's square, 1e-10."""
    _, rows = example(parents, share=share, size=30)
    sample = cases(parents, SIZES, rows)
    beta = np.random.default_rng(1).normal(size=Network(parents, SIZES).n_parameters)
    _, gradient = sample.value_and_gradient(beta, *objective)
    step = 1e-5
    differences = np.empty(len(beta))
    for i, direction in enumerate(step * np.eye(len(beta))):
        upper, _ = sample.value_and_gradient(beta + direction, *objective)
        lower, _ = sample.value_and_gradient(beta - direction, *objective)
        differences[i] = (upper - lower) / (2 * step)
    assert np.abs(gradient - differences).max() <= 1e-6 * np.linalg.norm(gradient)


@given(nets(), seeds)
@settings(max_examples=30)
def test_adding_a_constant_to_a_row_of_parameters_changes_nothing(net, seed):
    """So the gradient sums to 0 over the values of a variable, whatever its parents' values are."""
    parents, sizes, tables, rows = net
    sample = cases(parents, sizes, rows)
    rng = np.random.default_rng(seed)
    constants = [rng.normal(size=(*table.shape[:-1], 1)) for table in tables]
    shifts = reference.flat(
        [np.broadcast_to(c, table.shape) for c, table in zip(constants, tables, strict=True)]
    )
    beta = logarithms(tables)
    for objective in OBJECTIVES:
        value, gradient = sample.value_and_gradient(beta, *objective)
        shifted_value, shifted_gradient = sample.value_and_gradient(beta + shifts, *objective)
        assert shifted_value == pytest.approx(value, rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(shifted_gradient, gradient, atol=1e-11)
        for table in reference.unflat(gradient, parents, sizes):
            np.testing.assert_allclose(table.sum(axis=-1), 0, atol=1e-11)


@pytest.mark.parametrize("scale", [300.0, 3000.0])
def test_extreme_parameters_have_finite_objectives(parents, scale):
    """Entries underflow to 0 beyond exp(-745)."""
    _, rows = example(parents, size=30)
    sample = cases(parents, SIZES, rows)
    beta = scale * np.random.default_rng(2).normal(size=Network(parents, SIZES).n_parameters)
    for objective in OBJECTIVES:
        value, gradient = sample.value_and_gradient(beta, *objective)
        assert np.isfinite(value)
        assert value < 0
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() <= 2 * len(SIZES)


# Expected counts and merged rows


@given(nets())
def test_expected_counts_by_enumeration(net):
    parents, sizes, tables, rows = net
    log_likelihood, counts = cases(parents, sizes, rows).expected_counts(reference.flat(tables))
    expected_counts = sum_of_families(parents, tables, rows)
    np.testing.assert_allclose(counts, expected_counts, rtol=1e-10, atol=1e-12)
    expected = reference.log_likelihood(parents, tables, rows)
    assert log_likelihood == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("k", [2, 7])
def test_repeated_rows_change_no_mean(parents, k):
    tables, rows = example(parents)
    order = np.random.default_rng(0).permutation(k * len(rows))
    repeated_rows = np.tile(rows, (k, 1))[order]
    sample = cases(parents, SIZES, rows)
    repeated_sample = cases(parents, SIZES, repeated_rows)
    beta = logarithms(tables)
    for conditional, smoothing in OBJECTIVES:
        value, gradient = sample.value_and_gradient(beta, conditional, smoothing)
        # The prior counts once, the rows k times: k times the smoothing keeps their proportion
        repeated_value, repeated_gradient = repeated_sample.value_and_gradient(
            beta, conditional, k * smoothing
        )
        assert value == pytest.approx(repeated_value, rel=1e-12)
        np.testing.assert_allclose(gradient, repeated_gradient, rtol=1e-10, atol=1e-13)
    log_likelihood, counts = sample.expected_counts(np.exp(beta))
    repeated_log_likelihood, repeated_counts = repeated_sample.expected_counts(np.exp(beta))
    assert k * log_likelihood == pytest.approx(repeated_log_likelihood, rel=1e-12)
    np.testing.assert_allclose(k * counts, repeated_counts, rtol=1e-12, atol=1e-12)


def test_equal_rows_are_merged(parents):
    """Their attributes come once, with the number of rows of each class."""
    _, rows = example(parents, size=5)
    counts = cases(parents, SIZES, np.tile(rows, (9, 1))).counts
    assert len(counts) == len(np.unique(rows[:, 1:], axis=0))
    np.testing.assert_array_equal(counts.sum(axis=0), 9 * np.bincount(rows[:, 0], minlength=3))


# What the classifier takes


def as_data(rows, classes=None):
    """Rows of codes as floats with NaN for missing, and the target."""
    X = np.where(rows[:, 1:] == MISSING, np.nan, rows[:, 1:])
    y = rows[:, 0]
    if classes is not None:
        y = np.array(classes)[y]
    return X, y


def as_categories(X, sizes):
    """Columns of category dtype with all codes declared."""
    columns = {
        f"a{j}": pd.Categorical(column, categories=np.arange(float(m)))
        for j, (column, m) in enumerate(zip(X.T, sizes[1:], strict=True))
    }
    return pd.DataFrame(columns)


def tan_rows(share=0.2, size=60, seed=0):
    """Rows of codes from a random TAN, every value and class among them."""
    rng = np.random.default_rng(seed)
    tables = []
    for table in reference.random_tables(rng, GRAPHS["tan"], SIZES):
        positive = table + 0.1
        tables.append(positive / positive.sum(axis=-1, keepdims=True))
    rows = reference.sample(rng, GRAPHS["tan"], tables, size)
    return reference.mask(rng, rows, share)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_classifier_predicts_with_its_tables(parents, learner):
    """P(c | e) by enumeration, from the tables that it has learned."""
    rows = tan_rows()
    X, y = as_data(rows, classes=["n", "m", "z"])
    X = as_categories(X, SIZES)
    model = BayesNetClassifier(parents, learner, n_iterations=3).fit(X, y)
    assert model.classes_.tolist() == ["m", "n", "z"]
    assert model.parents_ == parents
    assert [table.shape for table in model.tables_] == reference.table_shapes(parents, SIZES)
    rows = rows[:25]
    expected = [reference.posterior(parents, model.tables_, tuple(row)) for row in rows]
    proba = model.predict_proba(X[:25])
    np.testing.assert_allclose(proba, expected, rtol=1e-9, atol=1e-12)
    log_proba = model.predict_log_proba(X[:25])
    np.testing.assert_allclose(log_proba, np.log(expected), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X[:25]), model.classes_[proba.argmax(axis=1)])


@pytest.mark.parametrize("learner", LEARNERS)
def test_likelihoods_are_sums_over_the_training_rows(parents, learner):
    rows = tan_rows(size=40)
    X, y = as_data(rows)
    model = BayesNetClassifier(parents, learner, n_iterations=2).fit(as_categories(X, SIZES), y)
    rows = [tuple(row) for row in rows]
    conditional = reference.log_conditional_likelihood(parents, model.tables_, rows)
    assert model.log_conditional_likelihood_ == pytest.approx(conditional, rel=1e-10)
    joint = reference.log_likelihood(parents, model.tables_, rows)
    assert model.log_likelihood_ == pytest.approx(joint, rel=1e-10)


def forms(X):
    """The same values as arrays and frames of other types."""
    names = [f"a{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    letters = frame.map(lambda value: None if np.isnan(value) else "abcd"[int(value)])
    return {
        "floats": X,
        "float32": X.astype(np.float32),
        "objects": np.where(np.isnan(X), None, X),
        "frame": frame,
        "Int64": frame.astype("Int64"),
        "Float64": frame.astype("Float64"),
        "letters": letters,
        "letters in an array": letters.to_numpy(),
        "string": letters.astype("string"),
        "category": letters.astype("category"),
        "reversed category": letters.astype(pd.CategoricalDtype(["d", "c", "b", "a"])),
    }


@pytest.mark.parametrize("learner", LEARNERS)
def test_types_of_the_values_do_not_matter(learner):
    rows = tan_rows()
    rows[:, 1:] = np.where(rows[:, 1:] == MISSING, MISSING, rows[:, 1:] % 2)
    # every column has all four letters, so that all forms declare the same values
    rows[:8, 1:] = np.arange(8)[:, None] % 4
    X, y = as_data(rows)
    model = BayesNetClassifier(GRAPHS["tan"], learner, n_iterations=3)
    expected = model.fit(X, y).predict_proba(X)
    for name, form in forms(X).items():
        proba = model.fit(form, y).predict_proba(form)
        np.testing.assert_allclose(proba, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_a_missing_boolean_is_missing():
    X = pd.DataFrame({"a": [True, None, False, True], "b": [0, 1, 0, 1]})
    y = [0, 1, 0, 1]
    floats = X.astype({"a": "boolean"}).astype({"a": "Float64"})
    expected = BayesNetClassifier("naive", "ofe").fit(floats, y).tables_
    for dtype in ("object", "boolean"):
        tables = BayesNetClassifier("naive", "ofe").fit(X.astype({"a": dtype}), y).tables_
        np.testing.assert_array_equal(reference.flat(tables), reference.flat(expected))
    # (count + 1) / (observed + 2): True and False in class 0, only True in class 1
    np.testing.assert_allclose(expected[1], [[2 / 4, 2 / 4], [1 / 3, 2 / 3]])


@pytest.mark.parametrize("learner", LEARNERS)
class TestNothingToEstimate:
    """The defined behaviour of values, columns, classes and rows without information."""

    def fit(self, learner, X, y, **changes):
        changes = {"structure": "naive", "n_iterations": 2, "random_state": 0} | changes
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = BayesNetClassifier(learner=learner, **changes).fit(X, y)
        for table in model.tables_:
            assert (table > 0).all()
            np.testing.assert_allclose(table.sum(axis=-1), 1)
        return model

    def prior(self, model):
        return model.tables_[0].reshape(1, -1)

    @pytest.mark.parametrize("dtype", ["category", "object", "str"])
    def test_a_new_value_is_missing(self, learner, dtype):
        X = pd.DataFrame({"a": list("rggrb"), "b": [0, 1, 1, 0, 1]}).astype({"a": dtype})
        model = self.fit(learner, X, [0, 1, 1, 0, 1])
        X_missing = X.assign(a=pd.Series([None] * 5, dtype=dtype))
        X_new = X.assign(a=pd.Series(["violet"] * 5, dtype=dtype))
        X_new["a"] = X_new["a"].astype("object")
        np.testing.assert_array_equal(model.predict_proba(X_new), model.predict_proba(X_missing))

    def test_a_declared_value_that_never_occurs_has_an_entry(self, learner):
        X = pd.DataFrame({"a": pd.Categorical(list("rggr"), categories=list("rgb"))})
        model = self.fit(learner, X, [0, 1, 1, 0])
        assert model.tables_[1].shape == (2, 3)

    def test_a_row_without_values_has_the_prior(self, learner):
        X, y = as_data(tan_rows())
        X[0] = np.nan
        model = self.fit(learner, X, y)
        np.testing.assert_allclose(model.predict_proba(X[:1]), self.prior(model), rtol=1e-10)

    @pytest.mark.parametrize("value", [np.nan, 3.0])
    def test_a_column_that_tells_nothing(self, learner, value):
        """Without values it changes no frequencies; it has a table of two values all the same."""
        X, y = as_data(tan_rows(share=0))
        plain = self.fit(learner, X, y)
        extended_X = np.column_stack([X, np.full(len(X), value)])
        extended_model = self.fit(learner, extended_X, y)
        assert extended_model.tables_[-1].shape == (3, 2)
        if learner == "ofe" and np.isnan(value):
            expected = plain.predict_proba(X)
            np.testing.assert_allclose(
                extended_model.predict_proba(extended_X), expected, rtol=1e-10
            )

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, "cross-tune"])
    def test_a_class_with_one_row(self, learner, structure, n_iterations):
        """In cross-tuning it is missing where its row is held out."""
        X, y = as_data(tan_rows(size=30))
        y = np.where(np.arange(30) == 7, 9, y % 2)
        model = self.fit(learner, X, y, structure=structure, n_iterations=n_iterations)
        assert model.classes_.tolist() == [0, 1, 9]
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, None, "cross-tune"])
    def test_one_class(self, learner, structure, n_iterations):
        X, _ = as_data(tan_rows(size=30))
        y = ["only"] * 30
        model = self.fit(learner, X, y, structure=structure, n_iterations=n_iterations)
        np.testing.assert_allclose(model.predict_proba(X), np.ones((30, 1)))
        assert set(model.predict(X)) == {"only"}
        assert model.log_conditional_likelihood_ == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, None, "cross-tune"])
    def test_one_row(self, learner, structure, n_iterations):
        X = [[0, 1, 5]]
        model = self.fit(learner, X, ["only"], structure=structure, n_iterations=n_iterations)
        assert model.predict([[1, 1, np.nan]]).tolist() == ["only"]

    @pytest.mark.parametrize("size", [2, 3, 4, 6])
    def test_fewer_rows_than_folds(self, learner, size):
        X, _ = as_data(tan_rows(size=size))
        model = self.fit(learner, X, np.arange(size) % 2, n_iterations="cross-tune")
        assert np.isfinite(model.predict_proba(X)).all()

    def test_without_smoothing_nothing_is_nan(self, learner):
        """Frequencies give the row [1, 0] probability 0 in both classes."""
        X = np.array([[0, 0], [0, 1], [1, 1], [np.nan, 1]])
        y = [0, 0, 1, 1]
        model = BayesNetClassifier("naive", learner, smoothing=0, n_iterations=3).fit(X, y)
        for inputs in (X, [[1, 0], [0, 0], [1, np.nan]]):
            proba = model.predict_proba(inputs)
            np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert not any(np.isnan(table).any() for table in model.tables_)


def test_tables_belong_to_the_caller():
    """Writing to what was passed as `structure` or came out as `tables_` changes no model."""
    X, y = as_data(tan_rows())
    parents = [list(family) for family in GRAPHS["tan"]]
    model = BayesNetClassifier(parents, "ofe").fit(X, y)
    expected = model.predict_proba(X)
    parents[1].clear()
    model.tables_[0][:] = [0.01, 0.01, 0.98]
    assert model.parents_ == GRAPHS["tan"]
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
def test_sizes_multiply_without_overflow(structure):
    """30 attributes of 50 values have 1e51 joint assignments; their tables are small."""
    rng = np.random.default_rng(0)
    columns = {}
    for j in range(30):
        columns[f"a{j}"] = pd.Categorical(rng.integers(0, 3, 20), categories=range(50))
    X = pd.DataFrame(columns)
    X.iloc[3:6, 2:9] = None
    model = BayesNetClassifier(structure, "ofe").fit(X, rng.integers(0, 2, 20))
    assert np.isfinite(model.predict_proba(X)).all()
    assert math.isfinite(model.log_likelihood_)
