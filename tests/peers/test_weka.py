"""Winnow and naive Bayes against Weka 3.6.

What the comparison has to know of Weka's Winnow: it predicts 1 at Z > threshold; a threshold of -1
is the number of attributes; it makes one column of a nominal attribute of two values and k of one
of k values; it shuffles the rows once, before the first pass, unless the seed is -1; its weights
have an unused place for the class.

Of its naive Bayes: the class prior has Laplace's correction as well, and ours has not; numbers are
rounded to a precision, the mean gap between different values, and the likelihood is that of the
interval around the value.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from lib.naive_bayes import NaiveBayes
from lib.winnow import Winnow

N_SETTINGS = 150


def draw(rng):
    """Codes (size, n) of attributes of 2 to 4 values, their sizes, a class that depends on them."""
    size = rng.integers(8, 120)
    n = rng.integers(1, 20)
    sizes = rng.integers(2, 5, n)
    codes = rng.integers(0, sizes, (2 * size, n))
    z = sum(rng.normal(size=s)[c] for s, c in zip(sizes, codes.T, strict=True))
    y = (z > np.median(z)) ^ (rng.random(2 * size) < rng.choice([0, 0.1]))
    y[:2] = [False, True]
    return codes, sizes, y.astype(int)


def as_frame(codes, sizes):
    columns = {}
    for i, size in enumerate(sizes):
        columns[f"a{i}"] = pd.Categorical.from_codes(codes[:, i], np.arange(size))
    return pd.DataFrame(columns)


def as_classes(y):
    return pd.Categorical(y, categories=np.unique(y))


def one_hot(codes, sizes):
    """One column of two values, k columns of k values, as Weka makes them."""
    columns = []
    for i, size in enumerate(sizes):
        values = np.arange(size) if size > 2 else 1
        columns.append(codes[:, [i]] == values)
    return np.hstack(columns).astype(np.uint8)


def halves(codes, sizes, y):
    """Training and test half, as Weka takes them."""
    frame = as_frame(codes, sizes)
    classes = as_classes(y)
    half = len(y) // 2
    train = (frame[:half].reset_index(drop=True), classes[:half])
    test = (frame[half:].reset_index(drop=True), classes[half:])
    return train, test


def posteriors(weka):
    return [row.reshape(-1, 2) for row in weka.run()]


@pytest.mark.parametrize("exact", [True, False], ids=["steps_that_are_exact", "other_steps"])
def test_winnow(weka, exact):
    """To the last bit where all factors have few binary digits; else but for rounding."""
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(N_SETTINGS):
        codes, sizes, y = draw(rng)
        rule = {
            "promotion": float(rng.choice([1.5, 2, 4]) if exact else rng.uniform(1.01, 3)),
            "demotion": float(rng.choice([0.25, 0.5, 0.75]) if exact else rng.uniform(0.3, 0.99)),
            "threshold": float(rng.choice([-1, 0.5, 1, 4, 7.25])),
            "initial_weight": float(rng.choice([0.5, 1, 2])),
            "n_passes": int(rng.integers(1, 30)),
        }
        cases.append((codes, sizes, y, rule))
        weka.add("winnow", *halves(codes, sizes, y), *rule.values(), rng.choice([-1, 1, 2, 77]))
    results = weka.run()
    assert len(results) == 4 * N_SETTINGS
    for i, (codes, sizes, y, rule) in enumerate(cases):
        order, weights, (mistakes,), predictions = results[4 * i : 4 * i + 4]
        X = one_hot(codes, sizes)
        order = order.astype(int)
        half = len(y) // 2
        threshold = X.shape[1] if rule["threshold"] == -1 else rule["threshold"]
        learner = Winnow(**{**rule, "threshold": threshold}, inclusive=False, shuffle=False)
        learner.fit(X[order], y[order])
        if exact:
            np.testing.assert_array_equal(learner.weights_, weights[:-1], err_msg=str(rule))
        np.testing.assert_allclose(learner.weights_, weights[:-1], rtol=1e-10, err_msg=str(rule))
        assert learner.n_mistakes_ == mistakes
        np.testing.assert_array_equal(learner.predict(X[half:]), predictions, err_msg=str(rule))


def test_naive_bayes_of_categories(weka):
    rng = np.random.default_rng(1)
    cases = []
    for _ in range(N_SETTINGS):
        codes, sizes, y = draw(rng)
        codes[rng.random(codes.shape) < rng.choice([0, 0.2])] = -1  # missing values
        (train, classes), (test, test_classes) = halves(codes, sizes, y)
        cases.append((train, test, y[: len(y) // 2]))
        weka.add("bayes", (train, classes), (test, test_classes))
    for (train, test, y), expected in zip(cases, posteriors(weka), strict=True):
        learner = NaiveBayes(smoothing=1.0).fit(train, y)
        prior = np.log((np.bincount(y) + 1) / (len(y) + 2))
        # with Laplace's correction of the prior, as Weka has it
        joint = learner.predict_joint_log_proba(test) - learner.class_log_prior_ + prior
        np.testing.assert_allclose(softmax(joint, axis=1), expected, rtol=1e-9, atol=1e-12)
        predictions = learner.classes_[joint.argmax(axis=1)]
        np.testing.assert_array_equal(predictions, expected.argmax(axis=1))


def test_naive_bayes_of_numbers(weka):
    """Of ranks the precision is 1: nothing is rounded, and intervals are small beside deviations.

    The likelihood of an interval is its length times the density but for a part of 1 / (24
    variance), of the order of 1e-5 here; so posteriors agree to that, and predictions wherever the
    posterior is not that near to a half.
    """
    rng = np.random.default_rng(2)
    cases = []
    for _ in range(N_SETTINGS):
        y = rng.permutation(np.arange(400) % 2)
        noise = rng.normal(size=(400, 3)) * rng.uniform(0.5, 1, 3)
        numbers = noise + y[:, None] * rng.normal(size=3)
        ranks = numbers.argsort(axis=0).argsort(axis=0)
        frame = pd.DataFrame(ranks.astype(float), columns=["a", "b", "c"])
        cases.append((frame, y))
        weka.add("bayes", (frame, as_classes(y)), (frame, as_classes(y)))
    for (frame, y), expected in zip(cases, posteriors(weka), strict=True):
        learner = NaiveBayes(ddof=0).fit(frame, y)  # balanced classes: both priors are the same
        np.testing.assert_allclose(learner.predict_proba(frame), expected, atol=1e-4)
        is_clear = abs(expected[:, 0] - 0.5) > 1e-4
        predictions = learner.predict(frame)[is_clear]
        np.testing.assert_array_equal(predictions, expected.argmax(axis=1)[is_clear])
        assert is_clear.mean() > 0.99
