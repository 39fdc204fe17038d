"""Means over data sets: the interval on these sets, and that on sets like these, hold the truth."""

import math

import numpy as np
import pandas as pd
import pytest

from lib import evaluation
from lib.evaluation import Estimate, OverSets, for_picking, mean_over_sets

N_ROWS, N_FOLDS = 60, 10


def draw_rows(rng, n_rows, distance):
    """Two classes of five normal attributes, whose means are so far apart in the first one."""
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 5))
    X[:, 0] += distance * y
    return X, y


def nearest_means(X, y, X_test):
    distances = [((X_test - X[y == label].mean(axis=0)) ** 2).sum(axis=1) for label in (0, 1)]
    return np.argmin(distances, axis=0)


def nearest_neighbour(X, y, X_test):
    squares = ((X_test[:, None] - X) ** 2).sum(axis=2)
    return y[squares.argmin(axis=1)]


def difference(X, y, X_test, y_test):
    """Error of nearest means - of the nearest neighbour."""
    is_wrong = [learn(X, y, X_test) != y_test for learn in (nearest_means, nearest_neighbour)]
    return is_wrong[0].mean() - is_wrong[1].mean()


def cross_validate(rng, distance):
    X, y = draw_rows(rng, N_ROWS, distance)
    folds = np.array_split(rng.permutation(N_ROWS), N_FOLDS)
    return [
        difference(np.delete(X, fold, axis=0), np.delete(y, fold), X[fold], y[fold])
        for fold in folds
    ]


def over_files(rng, distances):
    """The mean over files, one drawn from each population, by ten-fold cross-validation."""
    scores = {name: cross_validate(rng, distance) for name, distance in enumerate(distances)}
    return mean_over_sets(pd.DataFrame(scores).unstack(), 1 / N_FOLDS, family_of=str)


def true_difference(distance):
    """What is expected of a training set of so many rows, over many such sets."""
    rng = np.random.default_rng(7)
    n_train = N_ROWS - N_ROWS // N_FOLDS
    X_test, y_test = draw_rows(rng, 200, distance)
    differences = [
        difference(*draw_rows(rng, n_train, distance), X_test, y_test) for _ in range(200)
    ]
    return np.mean(differences)


@pytest.fixture(scope="module")
def truths():
    """True differences by the distance of the classes' means."""
    return {distance: true_difference(distance) for distance in np.linspace(0.5, 3, 6)}


def test_the_interval_on_these_sets_holds_their_mean(truths):
    rng = np.random.default_rng(0)
    truth = np.mean(list(truths.values()))
    estimates = [over_files(rng, truths) for _ in range(100)]
    assert np.mean([e.low < truth < e.high for e in estimates]) >= 0.92
    # other sets would add their own spread, never take some away
    assert all(e.like_low <= e.low and e.high <= e.like_high for e in estimates)


def test_the_interval_on_sets_like_these_holds_the_mean_of_all(truths):
    rng = np.random.default_rng(1)
    truth = np.mean(list(truths.values()))
    hits = []
    for _ in range(100):
        estimate = over_files(rng, rng.choice(list(truths), 8))
        hits.append(estimate.like_low < truth < estimate.like_high)
    assert np.mean(hits) >= 0.9


def test_families_count_once_and_one_set_is_the_corrected_interval():
    rng = np.random.default_rng(2)
    scores = pd.DataFrame({"a": rng.normal(size=8)})
    alone = mean_over_sets(scores.unstack(), 0.2, family_of=str)
    corrected = evaluation.corrected_interval(scores["a"], 0.2)
    assert alone[:3] == pytest.approx(corrected[:3])
    assert alone[3:] == (1, -math.inf, math.inf)
    other = scores["a"] + 0.5
    copied = pd.DataFrame({"a": scores["a"], "copy": other}).unstack()
    together = mean_over_sets(copied, 0.2, family_of=lambda name: "a")
    assert together.n == 1
    assert together.high - together.low == pytest.approx(alone.high - alone.low)
    apart = mean_over_sets(copied, 0.2, family_of=str)
    assert apart.n == 2
    assert apart.high - apart.low < alone.high - alone.low


def test_a_published_test_set_has_the_error_of_its_rows():
    single = pd.DataFrame({"letter": [0.05]}).unstack()
    row_error = evaluation.paired_row_error(0.15, 0.10, 4_000)
    assert row_error == pytest.approx(math.sqrt(0.25 / 4_000))
    estimate = mean_over_sets(single, 0.2, str, {"letter": row_error})
    assert estimate.high - estimate.value == pytest.approx(1.959964 * row_error)
    assert mean_over_sets(single, 0.2, str)[1:3] == (-math.inf, math.inf)
    # nobody is ever wrong on 300 rows: others may be, on up to 3 of them
    assert evaluation.paired_row_error(0.0, 0.0, 300) == pytest.approx(math.sqrt(0.01 / 300))


def test_splits_must_be_named():
    with pytest.raises(ValueError, match="indexed by data set and split"):
        mean_over_sets(pd.Series([0.1, 0.2], index=["a", "b"]), 0.2, str)


def test_samples_of_made_tasks_are_strata():
    rng = np.random.default_rng(3)
    samples = pd.DataFrame({"a": rng.normal(0, 1, 50), "b": rng.normal(9, 2, 50)})
    estimate = mean_over_sets(samples.unstack(), 0, family_of=str)
    # the tasks differ by far more than their samples
    standard_error = math.sqrt(samples.var(ddof=1).sum() / 50) / 2
    assert estimate.value == pytest.approx(samples.to_numpy().mean())
    assert estimate.high - estimate.value == pytest.approx(1.99 * standard_error, rel=0.01)


def test_the_smallest_of_several_allows_for_the_picking():
    assert for_picking(5) == pytest.approx(0.99)
    estimates = [Estimate(0.3, 0.1, 0.5, 20), Estimate(0.2, 0.15, 0.25, 10)]
    assert evaluation.smallest_of(estimates) == Estimate(0.2, 0.1, 0.25, 10)
    assert evaluation.largest_of(estimates) == Estimate(0.3, 0.15, 0.5, 10)
    negative = OverSets(-0.4, -0.5, -0.3, 9, -0.9, 0.1)
    positive = OverSets(0.2, -0.1, 0.5, 9, -0.2, 0.6)
    largest = evaluation.largest_size_of([negative, positive])
    assert largest == pytest.approx(OverSets(0.4, 0.3, 0.5, 9, 0.0, 0.9))


def test_the_smallest_of_noise_is_rarely_above_0():
    rng = np.random.default_rng(4)
    n_wrong = 0
    for sample in rng.normal(size=(300, 20, 4)):
        estimates = [evaluation.mean_interval(column, for_picking(4)) for column in sample.T]
        n_wrong += (
            not evaluation.smallest_of(estimates).low < 0 < (evaluation.largest_of(estimates).high)
        )
    assert n_wrong <= 15
