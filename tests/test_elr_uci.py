"""What training rows teach ELR and its rivals: errors computed again, the kernel by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from lib.bayes_net import BayesNetClassifier, choose_iterations
from lib.discretize import EntropyDiscretizer, OneHot
from lib.experiments.elr_data import BAYES_NET_LEARNERS, N_FOLDS, encode_split, load_task
from lib.experiments.elr_uci import CAP, quadratic_svm, split_errors
from lib.trials import Seeds


def split(name, rate=0.0, fold=3, incomplete=False):
    """A task's data, training and test rows of a fold, and which values are removed."""
    task = load_task(name, incomplete)
    seeds = Seeds(6)
    train, test = task.splits(N_FOLDS, seeds.sequence("splits"))[fold]
    is_removed = None
    if rate:
        is_removed = seeds.rng("holes").random(task.data.X.shape) < rate
    return task.data, train, test, is_removed


def inner_folds(train):
    return Seeds(6).rng("inner").permutation(len(train)) % N_FOLDS


@pytest.mark.parametrize("rate", [0.0, 0.25])
@pytest.mark.parametrize("name", ["iris", "corral", "glass2"])
def test_errors_are_those_of_the_classifier(name, rate):
    """With tables learned without tuning, from rows that are discretised here."""
    data, train, test, is_removed = split(name, rate)
    X = data.X
    masked_X = X
    if rate:
        X = X.astype({column: "category" for column in X.select_dtypes(bool)})
        masked_X = X.mask(is_removed)
    cutter = EntropyDiscretizer().fit(masked_X.iloc[train], data.y[train])
    train_X = cutter.transform(masked_X.iloc[train])
    tests = {"complete": cutter.transform(X.iloc[test])}
    if rate:
        tests = {"masked": cutter.transform(masked_X.iloc[test])} | tests
    codes, sizes = encode_split(data, train, test, is_removed)
    n_iterations = {"ofe": 0, "elr_fixed": 3, "em": CAP}
    bases = {"ofe": "ofe", "elr_fixed": "elr", "em": "em"}
    for structure in ("naive", "tan", "bic"):
        folds = inner_folds(train)
        rows = list(split_errors(codes, sizes, folds, structure, n_iterations, 3, list(tests)))
        keys = [(row["learner"], row["test"]) for row in rows]
        assert keys == list(itertools.product(n_iterations, tests))
        for row in rows:
            learner = row["learner"]
            model = BayesNetClassifier(
                structure, bases[learner], n_iterations=n_iterations[learner]
            )
            labels = model.fit(train_X, data.y[train]).predict(tests[row["test"]])
            assert row["n_wrong"] == (labels != data.y[test]).sum()
            assert row["n_test"] == len(test)
            assert row["n_iterations"] == model.n_iterations_


@pytest.mark.parametrize(
    ("name", "structure"), [("iris", "tan"), ("corral", "naive"), ("glass2", "bic")]
)
def test_tuned_iterations(name, structure):
    """The structure is that of all training rows; tables are learned without the held-out fold."""
    data, train, test, _ = split(name)
    codes, sizes = encode_split(data, train, test)
    columns = {}
    for i in range(1, len(sizes)):
        columns[i] = pd.Categorical.from_codes(codes[:, i], range(sizes[i]))
    frame = pd.DataFrame(columns)
    X, X_test = frame[: len(train)], frame[len(train) :]
    y, y_test = codes[: len(train), 0], codes[len(train) :, 0]
    parents = BayesNetClassifier(structure, "ofe").fit(X, y).parents_
    folds = inner_folds(train)
    errors = np.full((N_FOLDS, 5), np.nan)
    for fold, n in np.ndindex(errors.shape):
        is_held_out = folds == fold
        model = BayesNetClassifier(parents, n_iterations=n).fit(X[~is_held_out], y[~is_held_out])
        if model.n_iterations_ == n:  # else the ascent had converged before
            errors[fold, n] = 1 - model.score(X[is_held_out], y[is_held_out])
    rows = split_errors(codes, sizes, folds, structure, ["elr", "elr_forced"], 4)
    for row, allow_zero in zip(rows, (True, False), strict=True):
        n_iterations, _ = choose_iterations(errors, allow_zero)
        model = BayesNetClassifier(parents, n_iterations=n_iterations).fit(X, y)
        assert row["n_iterations"] == model.n_iterations_
        assert row["n_wrong"] == (model.predict(X_test) != y_test).sum()


def test_incomplete_rows():
    data, train, test, _ = split("breast-cancer", incomplete=True)
    cutter = EntropyDiscretizer().fit(data.X.iloc[train], data.y[train])
    X = cutter.transform(data.X.iloc[train])
    X_test = cutter.transform(data.X.iloc[test])
    codes, sizes = encode_split(data, train, test)
    [row] = split_errors(codes, sizes, inner_folds(train), "naive", ["ofe"], 1)
    model = BayesNetClassifier("naive", "ofe").fit(X, data.y[train])
    assert row["n_wrong"] == (model.predict(X_test) != data.y[test]).sum()


def test_a_learner_does_not_depend_on_the_others():
    data, train, test, _ = split("glass2")
    codes, sizes = encode_split(data, train, test)
    folds = inner_folds(train)
    learners = list(BAYES_NET_LEARNERS)
    rows = list(split_errors(codes, sizes, folds, "tan", learners, 5))
    assert [row["learner"] for row in rows] == learners
    for learner, row in zip(learners, rows, strict=True):
        assert list(split_errors(codes, sizes, folds, "tan", [learner], 5)) == [row]


def test_corral_is_learned_by_trees():
    """TAN can represent the concept; naive Bayes cannot (Table III)."""
    n_wrong = {"naive": 0, "tan": 0}
    for fold in range(N_FOLDS):
        data, train, test, _ = split("corral", fold=fold)
        codes, sizes = encode_split(data, train, test)
        for structure in n_wrong:
            folds = inner_folds(train)
            [row] = split_errors(codes, sizes, folds, structure, ["elr_converged"], 1)
            n_wrong[structure] += row["n_wrong"]
    assert n_wrong["tan"] == 0 < n_wrong["naive"]


def test_the_paper_s_kernel_by_hand():
    """(a.b + 1)^2 = 1 + 2 a.b + (a.b)^2: an inner product of 1, sqrt(2) a_i and all a_i a_j."""
    data = load_task("corral").data
    train = np.arange(0, 128, 2)
    test = np.arange(1, 128, 2)
    codes = OneHot(constant="drop").fit(data.X.iloc[train])
    A = codes.transform(data.X.iloc[train]).to_numpy(float)
    B = codes.transform(data.X.iloc[test]).to_numpy(float)

    def products(X):
        constant = np.ones((len(X), 1))
        pairs = np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)
        return np.hstack([constant, np.sqrt(2) * X, pairs])

    linear = SVC(kernel="linear", C=0.05, tol=1e-8).fit(products(A), data.y[train])
    quadratic = quadratic_svm().set_params(tol=1e-8).fit(A, data.y[train])
    expected = linear.decision_function(products(B))
    np.testing.assert_allclose(quadratic.decision_function(B), expected, atol=1e-6)
