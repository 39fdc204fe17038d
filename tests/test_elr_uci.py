"""What training rows teach ELR and its rivals: errors by independent computation, and the paper's kernel by hand."""

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
    """A problem's data, training and test rows of a fold, and values to be removed."""
    one, seeds = load_task(name, incomplete), Seeds(6)
    holes = seeds.rng("holes").random(one.data.X.shape) < rate if rate else None
    return one.data, *one.splits(N_FOLDS, seeds.sequence("splits"))[fold], holes


def inner_folds(train):
    return Seeds(6).rng("inner").permutation(len(train)) % N_FOLDS


@pytest.mark.parametrize("rate", [0.0, 0.25])
@pytest.mark.parametrize("name", ["iris", "corral", "glass2"])
def test_errors_are_those_of_the_classifier(name, rate):
    """With tables learned without tuning, from rows that are discretised here."""
    data, train, test, holes = split(name, rate)
    X = data.X.astype({c: "category" for c in data.X.select_dtypes(bool)}) if rate else data.X
    seen = X.mask(holes) if rate else X
    cutter = EntropyDiscretizer().fit(seen.iloc[train], data.y[train])
    known = cutter.transform(seen.iloc[train])
    tests = (
        {"masked": seen.iloc[test], "complete": X.iloc[test]}
        if rate
        else {"complete": X.iloc[test]}
    )
    codes, sizes = encode_split(data, train, test, holes)
    for structure in ("naive", "tan", "bic"):
        learners = {"ofe": 0, "elr_fixed": 3, "em": CAP}
        rows = list(
            split_errors(codes, sizes, inner_folds(train), structure, learners, 3, list(tests))
        )
        assert [(row["learner"], row["test"]) for row in rows] == [
            (name, t) for name in learners for t in tests
        ]
        for row in rows:
            base = "ofe" if row["learner"] == "ofe" else BAYES_NET_LEARNERS[row["learner"]][0]
            model = BayesNetClassifier(structure, base, n_iterations=learners[row["learner"]])
            predicted = model.fit(known, data.y[train]).predict(
                cutter.transform(tests[row["test"]])
            )
            assert row["n_wrong"] == (predicted != data.y[test]).sum()
            assert row["n_test"] == len(test)
            assert row["n_iterations"] == model.n_iterations_


@pytest.mark.parametrize(
    ("name", "structure"), [("iris", "tan"), ("corral", "naive"), ("glass2", "bic")]
)
def test_tuned_iterations(name, structure):
    """The structure is that of all training rows; tables are learned without the held-out fold."""
    data, train, test, _ = split(name)
    codes, sizes = encode_split(data, train, test)
    columns = {
        i: pd.Categorical.from_codes(codes[:, i], range(sizes[i])) for i in range(1, len(sizes))
    }
    table = pd.DataFrame(columns)
    X, y, X_test = table[: len(train)], codes[: len(train), 0], table[len(train) :]
    parents, inner = BayesNetClassifier(structure, "ofe").fit(X, y).parents_, inner_folds(train)
    errors = np.full((N_FOLDS, 5), np.nan)
    for i, n in np.ndindex(errors.shape):
        model = BayesNetClassifier(parents, n_iterations=n).fit(X[inner != i], y[inner != i])
        if model.n_iterations_ == n:
            errors[i, n] = 1 - model.score(X[inner == i], y[inner == i])
    rows = split_errors(codes, sizes, inner, structure, ["elr", "elr_forced"], 4)
    for row, allow_zero in zip(rows, (True, False), strict=True):
        model = BayesNetClassifier(
            parents, n_iterations=choose_iterations(errors, allow_zero)[0]
        ).fit(X, y)
        assert row["n_iterations"] == model.n_iterations_
        assert row["n_wrong"] == (model.predict(X_test) != codes[len(train) :, 0]).sum()


def test_incomplete_rows():
    data, train, test, _ = split("breast-cancer", incomplete=True)
    cutter = EntropyDiscretizer().fit(data.X.iloc[train], data.y[train])
    X, X_test = (cutter.transform(data.X.iloc[rows]) for rows in (train, test))
    [row] = split_errors(*encode_split(data, train, test), inner_folds(train), "naive", ["ofe"], 1)
    model = BayesNetClassifier("naive", "ofe").fit(X, data.y[train])
    assert row["n_wrong"] == (model.predict(X_test) != data.y[test]).sum()


def test_a_learner_does_not_depend_on_the_others():
    codes, sizes = encode_split(*split("glass2")[:3])
    inner = inner_folds(split("glass2")[1])
    rows = {
        row["learner"]: row
        for row in split_errors(codes, sizes, inner, "tan", list(BAYES_NET_LEARNERS), 5)
    }
    assert list(rows) == list(BAYES_NET_LEARNERS)
    for name, row in rows.items():
        assert list(split_errors(codes, sizes, inner, "tan", [name], 5)) == [row]


def test_corral_is_learned_by_trees():
    """TAN can represent the concept; naive Bayes cannot (Table III)."""
    wrong = {"naive": 0, "tan": 0}
    for fold, structure in np.ndindex(N_FOLDS, 2):
        data, train, test, _ = split("corral", fold=fold)
        name = list(wrong)[structure]
        [row] = split_errors(
            *encode_split(data, train, test), inner_folds(train), name, ["elr_converged"], 1
        )
        wrong[name] += row["n_wrong"]
    assert wrong["tan"] == 0 < wrong["naive"]


def test_the_paper_s_kernel_by_hand():
    """(a.b + 1)^2 is the inner product of all products of up to two inputs, duplicates weighted by root 2."""
    data = load_task("corral").data
    train, test = np.arange(0, 128, 2), np.arange(1, 128, 2)
    codes = OneHot(constant="drop").fit(data.X.iloc[train])
    A, B = (codes.transform(data.X.iloc[rows]).to_numpy(float) for rows in (train, test))

    def products(X):
        constant = np.ones((len(X), 1))
        return np.hstack(
            [constant, np.sqrt(2) * X, np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)]
        )

    linear = SVC(kernel="linear", C=0.05, tol=1e-8).fit(products(A), data.y[train])
    quadratic = quadratic_svm().set_params(tol=1e-8).fit(A, data.y[train])
    np.testing.assert_allclose(
        quadratic.decision_function(B), linear.decision_function(products(B)), atol=1e-6
    )
