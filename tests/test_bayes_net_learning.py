"""Learning of belief nets: closed forms, logistic regression of scikit-learn, EM by enumeration."""

import itertools
import os
import warnings
from pathlib import Path

import bayes_net_reference as reference
import numpy as np
import pandas as pd
import pytest
from bayes_net_reference import MISSING
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import pairs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder
from test_bayes_net import GRAPHS, LEARNERS, SIZES, as_categories, as_data, tan_rows

from lib.bayes_net import BayesNetClassifier, Cases, Network
from lib.bayes_net.learners import choose_iterations
from lib.datasets import load
from lib.experiments.elr_data import training_rows
from lib.naive_bayes import NaiveBayes
from lib.structures.bic import gain
from lib.structures.information import JointCounts, conditional_mutual_information

ITERATIVE = ("elr", "em", "apn")
METHODS = ("cg", "lbfgs")


def fit(rows, structure, learner, sizes=SIZES, **changes):
    X, y = as_data(rows)
    return BayesNetClassifier(structure, learner, **changes).fit(as_categories(X, sizes), y)


def proba(model, rows, sizes=SIZES):
    return model.predict_proba(as_categories(as_data(rows)[0], sizes))


def tuples(rows):
    return [tuple(row) for row in rows.tolist()]


def assert_tables(model, expected, **tolerance):
    np.testing.assert_allclose(reference.flat(model.tables_), reference.flat(expected), **tolerance)


# OFE


@given(
    st.sampled_from(sorted(GRAPHS)),
    st.sampled_from([0, 0.2, 0.6]),
    st.sampled_from([0, 0.5, 1, 3]),
    st.integers(0, 9),
)
@settings(max_examples=20)
def test_ofe_is_its_formula_on_available_cases(name, share, smoothing, seed):
    """(count + smoothing) / (total + smoothing size), of rows with the variable and its parents."""
    rows = tan_rows(share, seed=seed)
    model = fit(rows, GRAPHS[name], "ofe", smoothing=smoothing)
    expected = reference.ofe(GRAPHS[name], SIZES, tuples(rows), smoothing)
    assert_tables(model, expected, rtol=1e-12, atol=1e-290)


def test_ofe_of_naive_bayes_is_naive_bayes():
    """The peer does not smooth the classes: with as many rows of each, that is no difference."""
    rows = tan_rows(size=200)
    rows = np.vstack([rows[rows[:, 0] == c][:15] for c in range(3)])
    X = as_categories(as_data(rows)[0], SIZES)
    expected = NaiveBayes().fit(X.astype("category"), rows[:, 0]).predict_proba(X)
    np.testing.assert_allclose(proba(fit(rows, "naive", "ofe"), rows), expected, rtol=1e-10)


# ELR


def logistic_regression(rows, sizes):
    """Log likelihood and posterior of the maximum, without penalty."""
    encoder = OneHotEncoder(
        categories=[range(m) for m in sizes[1:]], drop="first", sparse_output=False
    )
    codes = encoder.fit_transform(rows[:, 1:])
    y = rows[:, 0]
    model = LogisticRegression(C=np.inf, solver="newton-cg", tol=1e-12, max_iter=10_000)
    log_proba = model.fit(codes, y).predict_log_proba(codes)
    log_likelihood = log_proba[np.arange(len(rows)), y].sum()
    return log_likelihood, np.exp(log_proba)


def random_rows(sizes, size, seed):
    """Rows of a random TAN: wrong for naive Bayes, and no class can be told for sure."""
    rng = np.random.default_rng(seed)
    parents = ((), (0,), *[(0, v - 1) for v in range(2, len(sizes))])
    tables = [
        0.6 * table + 0.4 / table.shape[-1]
        for table in reference.random_tables(rng, parents, sizes)
    ]
    return reference.sample(rng, parents, tables, size)


@pytest.mark.parametrize(
    ("sizes", "method"),
    pairs([(2, 2, 2, 2, 2, 2), (2, 3, 4, 2, 5), (3, 4, 3, 2), (4, 3, 3)], METHODS),
)
def test_elr_of_naive_bayes_is_logistic_regression(sizes, method):
    """Both represent the same posteriors, and the conditional likelihood is concave."""
    rows = random_rows(sizes, 400, seed=len(sizes))
    expected, posterior = logistic_regression(rows, sizes)
    for start in ("ofe", "random"):
        model = fit(
            rows,
            "naive",
            "elr",
            sizes,
            n_iterations=None,
            method=method,
            start=start,
            tolerance=1e-8,
            random_state=0,
        )
        assert model.log_conditional_likelihood_ == pytest.approx(expected, rel=1e-8)
        np.testing.assert_allclose(proba(model, rows, sizes), posterior, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_elr_of_a_full_net_is_the_frequencies(method):
    """All attributes are parents of the class: the maximum is its share among equal rows."""
    rows = tan_rows(share=0, size=300)[:, :3]
    sizes = SIZES[:3]
    parents = ((1, 2), (), ())
    model = fit(rows, parents, "elr", sizes, n_iterations=None, method=method, tolerance=1e-7)
    class_table = reference.ofe(parents, sizes, tuples(rows), 0)[0]
    expected = class_table[rows[:, 1], rows[:, 2]]
    np.testing.assert_allclose(proba(model, rows, sizes), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "learner", "method", "share"), pairs(GRAPHS, ITERATIVE, METHODS, [0.3, 0])
)
def test_the_objective_never_falls(name, share, learner, method):
    rows = tan_rows(share)
    for changes in ({"start": "ofe"}, {"start": "random", "random_state": 0}, {"smoothing": 0.1}):
        model = fit(rows, GRAPHS[name], learner, n_iterations=15, method=method, **changes)
        assert model.path_.shape == (model.n_iterations_ + 1,)
        assert (np.diff(model.path_) >= -1e-12).all()
    if learner != "elr":
        model = fit(rows, GRAPHS[name], learner, n_iterations=15, smoothing=0)
        assert (np.diff(model.path_) >= -1e-12).all()


@pytest.mark.parametrize(("name", "method"), pairs(GRAPHS, METHODS))
def test_the_path_starts_at_ofe_and_ends_at_the_model(name, method):
    rows = tan_rows()
    n = len(rows)
    start = fit(rows, GRAPHS[name], "ofe")
    prior = reference.log_prior(start.tables_, 1)
    elr = fit(rows, GRAPHS[name], "elr", n_iterations=6, method=method)
    assert elr.path_[0] == pytest.approx(start.log_conditional_likelihood_ / n, rel=1e-10)
    assert elr.path_[-1] == pytest.approx(elr.log_conditional_likelihood_ / n, rel=1e-10)
    assert elr.log_conditional_likelihood_ >= start.log_conditional_likelihood_
    for learner in ITERATIVE:
        unmoved_model = fit(rows, GRAPHS[name], learner, n_iterations=0, method=method)
        assert_tables(unmoved_model, start.tables_, rtol=1e-10)
    for learner in ("em", "apn"):
        model = fit(rows, GRAPHS[name], learner, n_iterations=6, method=method)
        assert model.path_[0] == pytest.approx((start.log_likelihood_ + prior) / n, rel=1e-10)
        end = model.log_likelihood_ + reference.log_prior(model.tables_, 1)
        assert model.path_[-1] == pytest.approx(end / n, rel=1e-10)


@pytest.mark.parametrize(("learner", "method"), pairs(ITERATIVE, METHODS))
def test_fewer_iterations_are_the_first_of_more(learner, method):
    rows = tan_rows()
    paths = [fit(rows, "tan", learner, n_iterations=k, method=method).path_ for k in range(7)]
    for k, path in enumerate(paths):
        assert len(path) == k + 1
        np.testing.assert_allclose(path, paths[-1][: k + 1], rtol=1e-12)


# the classes of three parents are all but separable
@pytest.mark.parametrize(
    ("name", "method"), pairs(sorted(set(GRAPHS) - {"three parents"}), METHODS)
)
def test_converged_elr_is_stationary(name, method):
    """No small change of any parameter raises the conditional likelihood."""
    sizes = (2, 2, 2, 2, 2)
    rows = reference.mask(np.random.default_rng(0), random_rows(sizes, 400, 0), 0.1)
    parents = GRAPHS[name]
    model = fit(rows, parents, "elr", sizes, n_iterations=None, method=method)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    gradients = [reference.proposition_3(parents, model.tables_, row) for row in tuples(distinct)]
    # the default tolerance is 1e-6
    assert np.abs(counts @ gradients).max() / 400 < 1.01e-6


def separable_data():
    """All combinations of four bits; the class is the first or the second."""
    X = np.array(list(itertools.product([0, 1], repeat=4)))
    return X, (X[:, 0] | X[:, 1]).astype(int)


@pytest.mark.parametrize(("structure", "method"), pairs(["naive", "tan"], METHODS))
def test_separable_classes(structure, method):
    """The supremum is not reached; what is returned is still a distribution."""
    X, y = separable_data()
    learner = BayesNetClassifier(
        structure, "elr", n_iterations=None, method=method, tolerance=1e-300
    )
    with pytest.warns(ConvergenceWarning, match="max_iterations|tolerance"):
        model = clone(learner).set_params(max_iterations=30).fit(X, y)
    assert_distributions(model, X)
    assert (model.predict(X) == y).all()
    assert model.log_conditional_likelihood_ > -0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        longer = learner.fit(X, y)
    assert_distributions(longer, X)
    assert longer.log_conditional_likelihood_ >= model.log_conditional_likelihood_ - 1e-12


def assert_distributions(model, X):
    for table in model.tables_:
        assert np.isfinite(table).all()
        assert (table > 0).all()
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=1e-9)
    shape = np.shape(X)
    X_missing = np.where(np.eye(*shape) == 1, np.nan, X)
    for inputs in (X, X_missing, np.full(shape, np.nan)):
        np.testing.assert_allclose(model.predict_proba(inputs).sum(axis=1), 1, rtol=1e-9)
        assert np.isfinite(model.predict_log_proba(inputs)).all()


@pytest.mark.parametrize("learner", ITERATIVE)
def test_warns_if_and_only_if_cut_short(learner):
    rows = tan_rows()
    X, y = as_data(rows)
    X = as_categories(X, SIZES)
    model = BayesNetClassifier(
        GRAPHS["tan"], learner, n_iterations=None, start="random", random_state=0
    )
    model.set_params(max_iterations=2)
    with pytest.warns(ConvergenceWarning, match="in 2 iterations"):
        model.fit(X, y)
    assert model.n_iterations_ == 2
    model.set_params(tolerance=1e-4, max_iterations=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
        # a number of iterations that is asked for, or tuned, is no cut
        fit(rows, GRAPHS["tan"], learner, n_iterations=2)
        fit(rows, GRAPHS["tan"], learner, max_iterations=2)
    assert 2 < model.n_iterations_ < 5000


# EM


@pytest.mark.parametrize(
    ("name", "smoothing"),
    [*itertools.product(GRAPHS, [0.5, 1]), ("naive", 0), ("chain", 0), ("tan", 0)],
)
def test_em_by_enumeration(name, smoothing):
    parents = GRAPHS[name]
    if smoothing:
        codes = tan_rows(share=0.4, size=40)
    else:  # enough rows for every entry to be positive
        codes = tan_rows(share=0.1, size=300, seed=1)
    rows = tuples(codes)
    tables = reference.ofe(parents, SIZES, rows, smoothing)
    path = []
    assert all(reference.evidence(parents, tables, row) > 0 for row in rows)
    for k in range(4):
        prior = reference.log_prior(tables, smoothing)
        path.append((reference.log_likelihood(parents, tables, rows) + prior) / len(rows))
        model = fit(codes, parents, "em", n_iterations=k, smoothing=smoothing, tolerance=1e-300)
        assert_tables(model, tables, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.path_, path[: model.n_iterations_ + 1], rtol=1e-10)
        assert model.n_iterations_ == k or abs(path[-1] - path[-2]) < 1e-12
        tables = reference.em_step(parents, tables, rows, smoothing)


@pytest.mark.parametrize(("name", "smoothing"), pairs(GRAPHS, [0, 1, 2]))
def test_em_of_complete_rows_is_ofe_in_one_step(name, smoothing):
    """With complete rows the expected counts are counts, whatever the start."""
    rows = tan_rows(share=0)
    expected = fit(rows, GRAPHS[name], "ofe", smoothing=smoothing).tables_
    changes = {"n_iterations": 1, "smoothing": smoothing, "random_state": 0}
    for start in ("ofe", "random"):
        model = fit(rows, GRAPHS[name], "em", start=start, **changes)
        assert_tables(model, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("learner", "start", "smoothing"),
    [("em", "ofe", 0), ("em", "random", 1), ("apn", "ofe", 1), ("apn", "random", 0)],
)
def test_naive_bayes_with_an_observed_class_has_a_closed_form(learner, start, smoothing):
    """Rows without a value tell nothing about it: the maximum is the observed frequencies."""
    rows = tan_rows(share=0.4, size=100)
    if learner == "apn" and smoothing == 0:
        # a gradient in logarithms needs positive entries: class 2 has one that is 0
        rows = rows[rows[:, 0] < 2]
    expected = fit(rows, "naive", "ofe", smoothing=smoothing)
    assert (reference.flat(expected.tables_) > 0).all() or learner == "em"
    model = fit(
        rows,
        "naive",
        learner,
        n_iterations=None,
        smoothing=smoothing,
        start=start,
        random_state=0,
        method="lbfgs",
        tolerance=1e-14 if learner == "em" else 1e-8,
        max_iterations=2000,
    )
    assert_tables(model, expected.tables_, atol=1e-6)
    if (learner, start) == ("em", "ofe"):
        assert model.n_iterations_ <= 1


@pytest.mark.parametrize(("name", "method"), pairs(["tan", "chain", "class with parents"], METHODS))
def test_apn_and_em_climb_the_same_likelihood(name, method):
    """One by gradients and one by expected counts, to the same maximum."""
    rows = tan_rows(share=0.1, size=150)
    X, y = as_data(rows)
    X = as_categories(X, SIZES)
    em = BayesNetClassifier(GRAPHS[name], "em", n_iterations=None, max_iterations=5000)
    apn = clone(em).set_params(learner="apn", method=method, tolerance=1e-8)
    em.set_params(tolerance=1e-13).fit(X, y)
    apn.fit(X, y)
    assert em.path_[0] == pytest.approx(apn.path_[0], rel=1e-12)
    assert em.path_[-1] == pytest.approx(apn.path_[-1], rel=1e-9)
    assert_tables(em, apn.tables_, atol=1e-4)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_em_with_an_attribute_that_is_never_observed(smoothing):
    """Hidden x2 between the class and the others, from a random start."""
    rows = tan_rows(share=0.1, size=100)
    rows[:, 2] = MISSING
    parents = ((), (0, 2), (0,), (2,), (2,))
    model = fit(
        rows,
        parents,
        "em",
        n_iterations=60,
        smoothing=smoothing,
        start="random",
        random_state=1,
        tolerance=1e-300,
    )
    assert (np.diff(model.path_) >= -1e-12).all()
    assert model.path_[-1] > model.path_[0] + 1e-3
    expected = [reference.posterior(parents, model.tables_, row) for row in tuples(rows[:10])]
    np.testing.assert_allclose(proba(model, rows[:10]), expected, rtol=1e-9)


def test_a_random_start_is_one_of_many():
    X, y = as_data(tan_rows())
    learner = BayesNetClassifier("tan", "elr", n_iterations=0, start="random")
    model = clone(learner).set_params(random_state=0).fit(X, y)
    repeated_model = clone(learner).set_params(random_state=0).fit(X, y)
    reseeded_model = clone(learner).set_params(random_state=1).fit(X, y)
    assert_tables(model, repeated_model.tables_, rtol=0)
    differences = reference.flat(model.tables_) - reference.flat(reseeded_model.tables_)
    assert np.abs(differences).max() > 0.01
    assert_distributions(model, np.zeros((5, 4)))


# Names and order


@pytest.mark.parametrize(("name", "learner"), pairs(GRAPHS, LEARNERS))
def test_names_and_order_do_not_matter(learner, name):
    """Values, classes, columns and rows in another order give the same posterior."""
    rows = tan_rows()
    expected = proba(fit(rows, GRAPHS[name], learner, n_iterations=4), rows)
    rng = np.random.default_rng(3)
    new_codes = [rng.permutation(m) for m in SIZES]
    renamed_rows = np.empty_like(rows)
    for v, codes in enumerate(rows.T):
        renamed_rows[:, v] = np.where(codes == MISSING, MISSING, new_codes[v][codes])
    columns = np.append(0, 1 + rng.permutation(4))  # the class stays first
    positions = np.argsort(columns)
    parents = [tuple(int(positions[p]) for p in GRAPHS[name][v]) for v in columns]
    permuted_rows = renamed_rows[:, columns]
    order = rng.permutation(len(rows))
    sizes = tuple(np.array(SIZES)[columns])
    model = fit(permuted_rows[order], parents, learner, sizes, n_iterations=4)
    posterior = proba(model, permuted_rows, sizes)[:, new_codes[0]]
    np.testing.assert_allclose(posterior, expected, rtol=1e-6, atol=1e-8)


# Cross-tuning


def held_out_errors(rows, structure, learner, n_folds, seed, max_iterations, **changes):
    """Share of errors in each fold after 0, 1, ... iterations on the others."""
    folds = np.random.RandomState(seed).permutation(len(rows)) % n_folds  # noqa: NPY002
    errors = np.empty((n_folds, max_iterations + 1))
    for fold, k in np.ndindex(errors.shape):
        train = rows[folds != fold]
        test = rows[folds == fold]
        model = fit(train, structure, learner, n_iterations=k, **changes)
        labels = model.classes_[proba(model, test).argmax(axis=1)]
        errors[fold, k] = np.mean(labels != test[:, 0])
    return errors


@pytest.mark.parametrize(
    ("learner", "method", "n_folds"),
    [("elr", "cg", 4), ("elr", "lbfgs", 5), ("em", "cg", 5), ("apn", "cg", 4)],
)
def test_cross_tuning_written_out(learner, method, n_folds):
    """The first of the smallest errors in each fold; of an even number, the lower median."""
    rows = tan_rows(share=0.4, size=120, seed=4)
    changes = {"method": method, "max_iterations": 6}
    errors = held_out_errors(rows, GRAPHS["tan"], learner, n_folds, 3, **changes)
    model = fit(rows, GRAPHS["tan"], learner, random_state=3, n_folds=n_folds, **changes)
    np.testing.assert_allclose(model.held_out_errors_, errors, atol=1e-12)
    for first in (0, 1):
        n_iterations, choices = choose_iterations(model.held_out_errors_, allow_zero=first == 0)
        np.testing.assert_array_equal(choices, first + errors[:, first:].argmin(axis=1))
        assert n_iterations == sorted(choices)[(n_folds - 1) // 2]
    np.testing.assert_array_equal(model.chosen_, errors.argmin(axis=1))
    refitted_model = fit(
        rows, GRAPHS["tan"], learner, n_iterations=model.n_iterations_, method=method
    )
    assert_tables(model, refitted_model.tables_, rtol=1e-12)
    assert (errors != errors[:, :1]).any()  # else any number would do


def test_cross_tuning_leaves_naive_bayes_where_em_starts():
    """Its start is the maximum already, in every fold."""
    rows = tan_rows(share=0.3, size=120)
    model = fit(rows, "naive", "em", random_state=0)
    assert (model.chosen_ == 0).all()
    assert_tables(model, fit(rows, "naive", "ofe").tables_, rtol=1e-12)


# MOFN-3-7-10


def mofn():
    data = load("mofn-3-7-10")
    return data.X, data.y


def test_naive_bayes_of_all_of_mofn_by_hand():
    """Of 1024 rows, 792 are of class 1: 8 * 57 of these have a relevant bit, and 8 * 7 others."""
    X, y = mofn()
    model = BayesNetClassifier("naive", "ofe").fit(X, y)
    np.testing.assert_allclose(model.tables_[0], [233 / 1026, 793 / 1026])
    for j in range(10):
        ones = [57 / 234, 457 / 794] if 2 <= j < 9 else [117 / 234, 397 / 794]
        np.testing.assert_allclose(model.tables_[j + 1][:, 1], ones)


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_elr_learns_mofn(structure):
    """Naive Bayes can represent a threshold of bits, a linear rule; frequencies do not find it."""
    X, y = mofn()
    train = training_rows("mofn-3-7-10", 0)
    ofe = BayesNetClassifier(structure, "ofe").fit(X.iloc[train], y[train])
    elr = BayesNetClassifier(structure, "elr", n_iterations=100).fit(X.iloc[train], y[train])
    assert ofe.score(X, y) < elr.score(X, y) == 1


@pytest.mark.skipif(
    "UCI_MIRROR" not in os.environ,
    reason="the paper's training rows are not shipped: set UCI_MIRROR",
)
@pytest.mark.parametrize(("structure", "accuracy"), [("naive", 86.72), ("tan", 91.60)])
def test_the_paper_s_accuracies_on_mofn(structure, accuracy):
    """Greiner et al., Table III, to the printed digits, from the paper's own 300 training rows."""
    mirror = Path(os.environ["UCI_MIRROR"])
    train = pd.read_csv(mirror / "mofn-3-7-10.data", header=None)
    test = pd.read_csv(mirror / "mofn-3-7-10.test", header=None)
    model = BayesNetClassifier(structure, "ofe").fit(train.iloc[:, :10], train[10])
    is_correct = model.predict(test.iloc[:, :10]) == test[10]
    assert f"{100 * is_correct.mean():.2f}" == f"{accuracy:.2f}"


def test_many_messages_at_a_hidden_root_do_not_underflow():
    """P(c, e) = P(c) (P(h = 0) prod P(x | c, 0) + P(h = 1) prod P(x | c, 1)), in logarithms."""
    n = 400
    network = Network([(), (), *[(0, 1)] * n], [2] * (n + 2))
    child = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.99, 0.01], [0.01, 0.99]]])
    root = np.array([0.5, 0.5])
    theta = network.flat([root, root, *[child] * n])
    x = np.arange(n) % 2
    sample = Cases.from_rows(network, np.concatenate([[0, MISSING], x])[None])
    log_products = np.log(child[:, :, x]).sum(axis=-1)
    expected = 2 * np.log(0.5) + np.logaddexp(log_products[:, 0], log_products[:, 1])
    np.testing.assert_allclose(sample.log_joints(theta)[0], expected, rtol=1e-12)
    _, counts = sample.expected_counts(theta)
    assert counts.sum() == pytest.approx(n + 2)


def test_complete_rows_need_no_messages():
    """Two hundred attributes with two random parents each are too entangled for messages."""
    rng = np.random.default_rng(0)
    parents = [(), (0,), (0, 1)]
    for v in range(3, 201):
        parents.append((0, *rng.choice(np.arange(1, v), 2, replace=False)))
    network = Network(parents, [2] * 201)
    beta = np.zeros(network.n_parameters)
    codes = rng.integers(0, 2, (50, 201))
    value, _ = Cases.from_rows(network, codes).value_and_gradient(beta)
    assert np.isfinite(value)
    codes[:, 1:][rng.random((50, 200)) < 0.3] = MISSING
    with pytest.raises(ValueError, match="too entangled"):
        Cases.from_rows(network, codes).value_and_gradient(beta)


# Weights


@pytest.mark.parametrize("structure", ["naive", "tan", "bic", ((), (0,), (0, 1), (0, 1), (0,))])
@pytest.mark.parametrize(
    ("learner", "method", "share"),
    [("ofe", "cg", 0.2), ("elr", "lbfgs", 0), ("em", "cg", 0.2), ("apn", "cg", 0)],
)
def test_weights_are_repeated_rows(structure, learner, method, share):
    """Structure and tables alike; an attribute's value without weight is no value."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (60, 4))
    y = (codes[:, 0] + codes[:, 1] + rng.integers(0, 2, 60)) % 3
    codes[:6, 2] = 7
    is_missing = rng.random(codes.shape) < share
    X = pd.DataFrame(codes, columns=list("abcd"), dtype="Int64").mask(is_missing)
    weights = np.where(codes[:, 2] == 7, 0, rng.integers(0, 6, 60))
    repeated_rows = np.repeat(np.arange(60), weights)
    model = BayesNetClassifier(structure, learner, n_iterations=5, method=method)
    expected = clone(model).fit(X.iloc[repeated_rows], y[repeated_rows])
    model.fit(X, y, weights)
    assert model.parents_ == expected.parents_
    for table, expected_table in zip(model.tables_, expected.tables_, strict=True):
        np.testing.assert_allclose(table, expected_table, rtol=1e-9)
    assert model.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def test_fractions_weigh_structures_and_frequencies():
    """Information does not depend on the unit of weights; penalty and smoothing do."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (40, 4))
    weights = rng.integers(1, 9, 40)
    codes[rng.random((40, 4)) < 0.2] = MISSING
    codes[:, 0] = rng.integers(0, 2, 40)
    sizes = [2, 2, 2, 2]
    expected = conditional_mutual_information(np.repeat(codes, weights, axis=0), sizes)
    for unit in (0.01, 0.3, 1, 7.7):
        information = conditional_mutual_information(codes, sizes, unit * weights)
        np.testing.assert_allclose(information, expected, atol=1e-12)
    # Weights of 1.5 are half of rows that are repeated three times
    weighted_counts = JointCounts(codes, sizes, weights * 1.5)
    repeated_counts = JointCounts(np.repeat(codes, 3 * weights, axis=0), sizes)
    no_condition = frozenset()
    information = repeated_counts.information(1, 2, no_condition) / 2
    assert weighted_counts.information(1, 2, no_condition) == pytest.approx(information)
    # BIC: ln(N) / 2 for the one parameter that an arc between two bits adds
    n_rows = repeated_counts.n_rows(frozenset([1, 2])) / 2
    penalty = np.log(n_rows) / 2
    assert gain(weighted_counts, 1, 2, no_condition) == pytest.approx(information - penalty)


def test_cross_tuning_weighs_held_out_errors():
    """A row is in one fold with its weight: after 0 iterations, errors of weighted frequencies."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (50, 3))
    y = rng.integers(0, 2, 50)
    weights = 1 + 3 * rng.random(50)
    model = BayesNetClassifier("naive", "elr", n_folds=5, max_iterations=3, random_state=0)
    model.fit(X, y, weights)
    folds = np.random.RandomState(0).permutation(50) % 5
    for fold, errors in enumerate(model.held_out_errors_):
        is_held_out = folds == fold
        train = ~is_held_out
        ofe = BayesNetClassifier("naive", "ofe").fit(X[train], y[train], weights[train])
        is_wrong = ofe.predict(X[is_held_out]) != y[is_held_out]
        expected = np.average(is_wrong, weights=weights[is_held_out])
        assert errors[0] == pytest.approx(expected)
