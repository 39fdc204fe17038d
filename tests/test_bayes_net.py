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

from lib.bayes_net import BayesNetClassifier, Cases, Network

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
    """Parents, tables and rows with missing values; with `extremes`, entries of 0 and 1e-30."""
    rng = np.random.default_rng(draw(seeds))
    n_attributes = draw(st.integers(1, 4))
    sizes = (draw(st.integers(2, 4)), *draw(st.tuples(*[st.integers(1, 3)] * n_attributes)))
    parents = reference.random_parents(rng, len(sizes))
    tables = reference.random_tables(rng, parents, sizes)
    if extremes:
        tables = [table * rng.choice([0, 1e-30, 1], table.shape) for table in tables]
        tables = [np.where(table.sum(axis=-1, keepdims=True) > 0, table, 1) for table in tables]
        tables = [table / table.sum(axis=-1, keepdims=True) for table in tables]
    rows = rng.integers(0, sizes, (draw(st.integers(1, 6)), len(sizes)))
    return parents, sizes, tables, reference.mask(rng, rows, draw(st.sampled_from([0, 0.3, 1])))


def example(parents, sizes=SIZES, size=12, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    tables = reference.random_tables(rng, parents, sizes)
    return tables, reference.mask(rng, rng.integers(0, sizes, (size, len(sizes))), share)


def cases(parents, sizes, rows):
    return Cases.from_rows(Network(parents, sizes), np.array(rows))


def logarithms(tables):
    return np.log(reference.flat(tables))


def posterior(parents, tables, row):
    return cases(parents, reference.sizes_of(tables), [row]).posterior(reference.flat(tables))[0]


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
    for ours, expected in zip(network.tables(theta), tables, strict=True):
        np.testing.assert_array_equal(ours, expected)


@given(nets(), st.sampled_from([1.0, 30.0, 1000.0]))
def test_softmax(net, scale):
    parents, sizes, tables, _ = net
    beta = scale * logarithms(tables)
    theta = Network(parents, sizes).softmax(beta)
    np.testing.assert_allclose(
        theta, reference.flat(reference.softmax(beta, parents, sizes)), rtol=1e-9, atol=1e-290
    )
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
    """E_3 of a chain is missing: E_1 and E_5 do not matter, nor does E_4 for what E_2 says."""
    rows = np.array([(0, *x[:2], -1, *x[2:]) for x in np.ndindex(2, 2, 2, 2)])
    sample = cases([(), (0,), *((0, v) for v in range(1, 5))], [2] * 6, rows)
    assert len(sample.layout.by_class.messages.widths) == 2 + 2 * 2


@pytest.mark.parametrize("length", [6, 60])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_long_chain_is_the_forward_algorithm(length, share):
    """50 missing values in a row are beyond enumeration."""
    sizes, rng = (3, *[2, 4, 3] * (length // 3)), np.random.default_rng(length)
    chain = ((), (0,), *[(0, v) for v in range(1, length)])
    tables = reference.random_tables(rng, chain, sizes)
    for row in reference.mask(rng, rng.integers(0, sizes, (3, length + 1)), share):
        joints = np.array([reference.forward(tables, (c, *row[1:])) for c in range(3)])
        np.testing.assert_allclose(posterior(chain, tables, row), joints / joints.sum(), rtol=1e-10)
    for row in reference.mask(rng, rng.integers(0, (3, *[2] * 6), (3, 7)), 0.5):
        expected = reference.evidence(chain[:7], tables[:7], tuple(row))
        assert reference.forward(tables[:7], row) == pytest.approx(expected, rel=1e-12)


def test_hundreds_of_attributes_do_not_underflow():
    """P(e) is far below the smallest float."""
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 8, (80, 400)), np.repeat([0, 1], 40)
    X = declared(codes, [2] + [8] * 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = BayesNetClassifier("naive", "ofe").fit(X, y)
    peer = CategoricalNB(alpha=1, min_categories=8).fit(codes, y)
    np.testing.assert_allclose(
        learner.predict_log_proba(X), peer.predict_log_proba(codes), rtol=1e-8, atol=1e-10
    )
    halves = pd.concat([X[:40], X[:40]])
    np.testing.assert_allclose(
        BayesNetClassifier("naive", "ofe").fit(halves, y).predict_proba(halves), 0.5, rtol=1e-8
    )


# Gradients


@given(nets())
def test_proposition_3_of_drawn_nets(net):
    parents, sizes, tables, rows = net
    for row in rows[:3]:
        value, gradient = cases(parents, sizes, [row]).value_and_gradient(logarithms(tables))
        expected = reference.log_conditional_likelihood(parents, tables, [tuple(row)])
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-13)
        np.testing.assert_allclose(
            gradient, reference.proposition_3(parents, tables, tuple(row)), atol=1e-12
        )


@given(nets(), st.sampled_from([0.0, 0.5, 1.0]))
def test_gradient_of_the_joint_likelihood_of_drawn_nets(net, smoothing):
    parents, sizes, tables, rows = net
    n, theta = len(rows), reference.flat(tables)
    value, gradient = cases(parents, sizes, rows).value_and_gradient(
        np.log(theta), False, smoothing
    )
    expected = reference.log_likelihood(parents, tables, rows) + reference.log_prior(
        tables, smoothing
    )
    assert value == pytest.approx(expected / n, rel=1e-10, abs=1e-13)
    counts = [
        c + smoothing
        for c in reference.unflat(sum_of_families(parents, tables, rows), parents, sizes)
    ]
    slopes = [c - t * c.sum(axis=-1, keepdims=True) for c, t in zip(counts, tables, strict=True)]
    np.testing.assert_allclose(gradient, reference.flat(slopes) / n, rtol=1e-9, atol=1e-12)


def sum_of_families(parents, tables, rows):
    return reference.expected_counts(parents, tables, [tuple(row) for row in rows])


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_are_finite_differences(parents, share, objective):
    _, rows = example(parents, share=share, size=30)
    sample = cases(parents, SIZES, rows)
    beta = np.random.default_rng(1).normal(size=Network(parents, SIZES).n_parameters)
    gradient, step = sample.value_and_gradient(beta, *objective)[1], 1e-5
    ways = step * np.eye(len(beta))
    ends = [
        [sample.value_and_gradient(end, *objective)[0] for end in (beta + way, beta - way)]
        for way in ways
    ]
    differences = np.subtract(*zip(*ends, strict=True)) / (2 * step)
    assert np.abs(gradient - differences).max() <= 1e-6 * np.linalg.norm(gradient)


@given(nets(), seeds)
@settings(max_examples=30)
def test_adding_a_constant_to_a_row_of_parameters_changes_nothing(net, seed):
    """So the gradient sums to 0 over the values of a variable, whatever its parents' values are."""
    parents, sizes, tables, rows = net
    sample, rng = cases(parents, sizes, rows), np.random.default_rng(seed)
    shifts = reference.flat(
        [0 * table + rng.normal(size=(*table.shape[:-1], 1)) for table in tables]
    )
    for objective in OBJECTIVES:
        value, gradient = sample.value_and_gradient(logarithms(tables), *objective)
        shifted, same = sample.value_and_gradient(logarithms(tables) + shifts, *objective)
        assert shifted == pytest.approx(value, rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(same, gradient, atol=1e-11)
        for table in reference.unflat(gradient, parents, sizes):
            np.testing.assert_allclose(table.sum(axis=-1), 0, atol=1e-11)


@pytest.mark.parametrize("scale", [300.0, 3000.0])
def test_extreme_parameters_have_finite_objectives(parents, scale):
    """Entries underflow to 0 beyond exp(-745)."""
    _, rows = example(parents, size=30)
    sample = cases(parents, SIZES, rows)
    beta = scale * np.random.default_rng(2).normal(size=Network(parents, SIZES).n_parameters)
    for value, gradient in (
        sample.value_and_gradient(beta, *objective) for objective in OBJECTIVES
    ):
        assert np.isfinite(value)
        assert value < 0
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() <= 2 * len(SIZES)


# Expected counts and merged rows


@given(nets())
def test_expected_counts_by_enumeration(net):
    parents, sizes, tables, rows = net
    log_likelihood, counts = cases(parents, sizes, rows).expected_counts(reference.flat(tables))
    np.testing.assert_allclose(
        counts, sum_of_families(parents, tables, rows), rtol=1e-10, atol=1e-12
    )
    expected = reference.log_likelihood(parents, tables, rows)
    assert log_likelihood == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("k", [2, 7])
def test_repeated_rows_change_no_mean(parents, k):
    tables, rows = example(parents)
    order = np.random.default_rng(0).permutation(k * len(rows))
    once, often = cases(parents, SIZES, rows), cases(parents, SIZES, np.tile(rows, (k, 1))[order])
    beta = logarithms(tables)
    for conditional, smoothing in OBJECTIVES:
        a = once.value_and_gradient(beta, conditional, smoothing)
        b = often.value_and_gradient(beta, conditional, k * smoothing)
        assert a[0] == pytest.approx(b[0], rel=1e-12)
        np.testing.assert_allclose(a[1], b[1], rtol=1e-10, atol=1e-13)
    a, b = (sample.expected_counts(np.exp(beta)) for sample in (once, often))
    assert k * a[0] == pytest.approx(b[0], rel=1e-12)
    np.testing.assert_allclose(k * a[1], b[1], rtol=1e-12, atol=1e-12)


def test_equal_rows_are_merged(parents):
    _, rows = example(parents, size=5)
    counts = cases(parents, SIZES, np.tile(rows, (9, 1))).counts
    assert len(counts) == len(np.unique(rows[:, 1:], axis=0))
    np.testing.assert_array_equal(counts.sum(axis=0), 9 * np.bincount(rows[:, 0], minlength=3))


# What the classifier takes


def as_data(rows, classes=None):
    """Rows of codes as floats with NaN for missing, and the target."""
    X = np.where(rows[:, 1:] == MISSING, np.nan, rows[:, 1:])
    return X, rows[:, 0] if classes is None else np.array(classes)[rows[:, 0]]


def declared(X, sizes):
    """Columns of category dtype with all codes declared."""
    columns = {
        f"a{j}": pd.Categorical(column, categories=np.arange(float(m)))
        for j, (column, m) in enumerate(zip(X.T, sizes[1:], strict=True))
    }
    return pd.DataFrame(columns)


def small(share=0.2, size=60, seed=0):
    """Rows of codes from a random TAN, every value and class among them."""
    rng = np.random.default_rng(seed)
    tables = [
        (table + 0.1) / (table + 0.1).sum(axis=-1, keepdims=True)
        for table in reference.random_tables(rng, GRAPHS["tan"], SIZES)
    ]
    return reference.mask(rng, reference.sample(rng, GRAPHS["tan"], tables, size), share)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_classifier_predicts_with_its_tables(parents, learner):
    rows = small()
    X, y = as_data(rows, classes=["n", "m", "z"])
    X = declared(X, SIZES)
    model = BayesNetClassifier(parents, learner, n_iterations=3).fit(X, y)
    assert model.classes_.tolist() == ["m", "n", "z"]
    assert model.parents_ == parents
    assert [table.shape for table in model.tables_] == reference.table_shapes(parents, SIZES)
    rows = rows[:25]
    expected = [reference.posterior(parents, model.tables_, tuple(row)) for row in rows]
    proba = model.predict_proba(X[:25])
    np.testing.assert_allclose(proba, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_log_proba(X[:25]), np.log(expected), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X[:25]), model.classes_[proba.argmax(axis=1)])


@pytest.mark.parametrize("learner", LEARNERS)
def test_likelihoods_are_sums_over_the_training_rows(parents, learner):
    rows = small(size=40)
    X, y = as_data(rows)
    model = BayesNetClassifier(parents, learner, n_iterations=2).fit(declared(X, SIZES), y)
    rows = [tuple(row) for row in rows]
    expected = reference.log_conditional_likelihood(parents, model.tables_, rows)
    assert model.log_conditional_likelihood_ == pytest.approx(expected, rel=1e-10)
    assert model.log_likelihood_ == pytest.approx(
        reference.log_likelihood(parents, model.tables_, rows), rel=1e-10
    )


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
    rows = small()
    rows[:, 1:] = np.where(rows[:, 1:] == MISSING, MISSING, rows[:, 1:] % 2)
    rows[:8, 1:] = np.arange(8)[:, None] % 4
    X, y = as_data(rows)
    settings = {"structure": GRAPHS["tan"], "learner": learner, "n_iterations": 3}
    expected = BayesNetClassifier(**settings).fit(X, y).predict_proba(X)
    for name, form in forms(X).items():
        proba = BayesNetClassifier(**settings).fit(form, y).predict_proba(form)
        np.testing.assert_allclose(proba, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_a_missing_boolean_is_missing():
    X = pd.DataFrame({"a": [True, None, False, True], "b": [0, 1, 0, 1]})
    y = [0, 1, 0, 1]
    boxed, nullable = (X.astype({"a": dtype}) for dtype in ("object", "boolean"))
    floats = X.astype({"a": "boolean"}).astype({"a": "Float64"})
    expected = BayesNetClassifier("naive", "ofe").fit(floats, y).tables_
    for form in (boxed, nullable):
        tables = BayesNetClassifier("naive", "ofe").fit(form, y).tables_
        np.testing.assert_array_equal(reference.flat(tables), reference.flat(expected))
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
        missing, new = (X.assign(a=pd.Series([v] * 5, dtype=dtype)) for v in (None, "violet"))
        new["a"] = new["a"].astype("object")
        np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(missing))

    def test_a_declared_value_that_never_occurs_has_an_entry(self, learner):
        X = pd.DataFrame({"a": pd.Categorical(list("rggr"), categories=list("rgb"))})
        model = self.fit(learner, X, [0, 1, 1, 0])
        assert model.tables_[1].shape == (2, 3)

    def test_a_row_without_values_has_the_prior(self, learner):
        X, y = as_data(small())
        X[0] = np.nan
        model = self.fit(learner, X, y)
        np.testing.assert_allclose(model.predict_proba(X[:1]), self.prior(model), rtol=1e-10)

    @pytest.mark.parametrize("value", [np.nan, 3.0])
    def test_a_column_that_tells_nothing(self, learner, value):
        X, y = as_data(small(share=0))
        plain = self.fit(learner, X, y)
        more = self.fit(learner, np.column_stack([X, np.full(len(X), value)]), y)
        assert more.tables_[-1].shape == (3, 2)
        if learner == "ofe" and np.isnan(value):
            wide = np.column_stack([X, np.full(len(X), value)])
            np.testing.assert_allclose(more.predict_proba(wide), plain.predict_proba(X), rtol=1e-10)

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, "cross-tune"])
    def test_a_class_with_one_row(self, learner, structure, n_iterations):
        X, y = as_data(small(size=30))
        y = np.where(np.arange(30) == 7, 9, y % 2)
        model = self.fit(learner, X, y, structure=structure, n_iterations=n_iterations)
        assert model.classes_.tolist() == [0, 1, 9]
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, None, "cross-tune"])
    def test_one_class(self, learner, structure, n_iterations):
        X, y = as_data(small(size=30))
        model = self.fit(learner, X, ["only"] * 30, structure=structure, n_iterations=n_iterations)
        np.testing.assert_allclose(model.predict_proba(X), np.ones((30, 1)))
        assert set(model.predict(X)) == {"only"}
        assert model.log_conditional_likelihood_ == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
    @pytest.mark.parametrize("n_iterations", [2, None, "cross-tune"])
    def test_one_row(self, learner, structure, n_iterations):
        model = self.fit(
            learner, [[0, 1, 5]], ["only"], structure=structure, n_iterations=n_iterations
        )
        assert model.predict([[1, 1, np.nan]]).tolist() == ["only"]

    @pytest.mark.parametrize("size", [2, 3, 4, 6])
    def test_fewer_rows_than_folds(self, learner, size):
        X, y = as_data(small(size=size))
        model = self.fit(learner, X, np.arange(size) % 2, n_iterations="cross-tune")
        assert np.isfinite(model.predict_proba(X)).all()

    def test_without_smoothing_nothing_is_nan(self, learner):
        X, y = np.array([[0, 0], [0, 1], [1, 1], [np.nan, 1]]), [0, 0, 1, 1]
        model = BayesNetClassifier("naive", learner, smoothing=0, n_iterations=3).fit(X, y)
        for inputs in (X, [[1, 0], [0, 0], [1, np.nan]]):
            proba = model.predict_proba(inputs)
            np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert not any(np.isnan(table).any() for table in model.tables_)


def test_tables_belong_to_the_caller():
    """Writing to what was passed as `structure` or came out as `tables_` changes no model."""
    X, y = as_data(small())
    parents = [list(family) for family in GRAPHS["tan"]]
    model = BayesNetClassifier(parents, "ofe").fit(X, y)
    before = model.predict_proba(X)
    parents[1].clear()
    model.tables_[0][:] = [0.01, 0.01, 0.98]
    assert model.parents_ == GRAPHS["tan"]
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("structure", ["naive", "tan", "bic"])
def test_sizes_multiply_without_overflow(structure):
    """30 attributes of 1000 values have 1e90 joint assignments; their tables are small."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {f"a{j}": pd.Categorical(rng.integers(0, 3, 20), categories=range(50)) for j in range(30)}
    )
    X.iloc[3:6, 2:9] = None
    model = BayesNetClassifier(structure, "ofe").fit(X, rng.integers(0, 2, 20))
    assert np.isfinite(model.predict_proba(X)).all()
    assert math.isfinite(model.log_likelihood_)
