"""Selective naive Bayes against an exact search in plain Python, and naive Bayes on the attributes it chose."""

from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes

N_VALUES = 3


@st.composite
def samples(draw):
    """Codes with -1 for missing values, classes 0, 1, ... that all occur, and a state."""
    n, d, k = draw(st.integers(1, 14)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    X = draw(arrays(np.int64, (n, d), elements=st.integers(-1, N_VALUES - 1)))
    y = np.unique(draw(arrays(np.int64, n, elements=st.integers(0, k - 1))), return_inverse=True)[1]
    return X, y, draw(st.integers(0, 5))


def frame(X):
    values = range(N_VALUES)
    return pd.DataFrame({f"a{j}": pd.Categorical.from_codes(column, values) for j, column in enumerate(X.T)})


def exact_joint(X, y, n_classes, columns, row, smoothing=1):
    """P(c, x) of each class, in fractions, from the training rows `X` and `y`."""
    joint = []
    for c in range(n_classes):
        members = [x for x, label in zip(X, y, strict=True) if label == c]
        factors = [Fraction(len(members), max(len(y), 1))]
        for j in columns:
            if row[j] >= 0:
                values = [x[j] for x in members if x[j] >= 0]
                factors.append(Fraction(values.count(row[j]) + smoothing, len(values) + smoothing * N_VALUES))
        joint.append(prod(factors))
    return joint


def exact_search(X, y, folds):
    """The attributes chosen and the numbers of held-out rows that are right, one attribute after another."""
    n_classes = max(y) + 1

    def n_right(columns):
        right = 0
        for i, row in enumerate(X):
            others = [k for k in range(len(X)) if folds[k] != folds[i]]
            joint = exact_joint([X[k] for k in others], [y[k] for k in others], n_classes, columns, row)
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
    learner = SelectiveNaiveBayes(random_state=state).fit(frame(X), y)
    folds = np.random.RandomState(state).permutation(len(y)) % min(5, len(y))  # noqa: NPY002
    chosen, right = exact_search(X.tolist(), y.tolist(), folds.tolist())
    assert learner.chosen_.tolist() == chosen
    np.testing.assert_allclose(learner.accuracies_ * len(y), right, atol=1e-9)
    joint = [exact_joint(X.tolist(), y.tolist(), max(y) + 1, chosen, row) for row in X.tolist()]
    np.testing.assert_allclose(np.exp(learner.predict_joint_log_proba(frame(X))), np.array(joint, float), atol=1e-12)
    assert learner.predict(frame(X)).tolist() == [row.index(max(row)) for row in joint]


@given(samples(), st.sampled_from([0.1, 1.0, 3.0]), st.integers(2, 6))
def test_it_is_naive_bayes_of_the_chosen_attributes(sample, smoothing, n_folds):
    X, y, state = sample
    learner = SelectiveNaiveBayes(smoothing, n_folds, state).fit(frame(X), y)
    assert (np.diff(learner.accuracies_) >= 0).all()
    if len(learner.chosen_) == 0:
        shares = np.broadcast_to(np.bincount(y) / len(y), (len(y), max(y) + 1))
        np.testing.assert_allclose(learner.predict_proba(frame(X)), shares, atol=1e-12)
        return
    chosen = frame(X).iloc[:, learner.chosen_]
    other = NaiveBayes(smoothing).fit(chosen, y)
    np.testing.assert_allclose(learner.predict_proba(frame(X)), other.predict_proba(chosen), atol=1e-12)


def test_of_equally_good_attributes_the_first_is_taken():
    y = np.arange(40) % 2
    X = pd.DataFrame({"same": np.zeros(40, dtype=bool), "first": y == 1, "second": y == 0})
    assert SelectiveNaiveBayes(random_state=0).fit(X, y).chosen_.tolist() == [1, 0, 2]
