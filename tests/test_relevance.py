"""RELIEF-F from its definition, races against scikit-learn, VSM by finite differences."""

import json
import pickle
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from lib import datasets
from lib.base.files import LIB
from lib.relevance import (
    Schemata,
    VariableKernel,
    left_out_mistakes,
    relieff,
    stepwise_selection,
    vsm,
)
from lib.relevance.vsm import error_and_slope


def parity(size, seed, n_relevant=4, n_attributes=14):
    """Boolean attributes, and whether an odd number of the relevant ones are true."""
    X = np.random.default_rng(seed).integers(0, 2, (size, n_attributes))
    return X.astype(bool), X[:, :n_relevant].sum(axis=1) % 2


def weights_by_definition(values, y, n_neighbours):
    """RELIEF-F of numbers over all examples (Kononenko 1994), where no two distances are equal."""
    values = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    weights = np.zeros(values.shape[1])
    share = {c: np.mean(y == c) for c in set(y)}
    for i, label in enumerate(y):
        distances = np.abs(values - values[i])
        order = [j for j in np.argsort(distances.sum(axis=1)) if j != i]
        for c in share:
            neighbours = [j for j in order if y[j] == c][:n_neighbours]
            # hits count against an attribute, misses for it by the share of their class
            factor = -1 if c == label else share[c] / (1 - share[label])
            weights += factor * distances[neighbours].mean(axis=0) / len(y)
    return weights


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_relieff_by_definition(seed, n_classes, n_neighbours):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    y = rng.permutation(np.arange(25) % n_classes)
    expected = weights_by_definition(X, y, n_neighbours)
    np.testing.assert_allclose(relieff(X, y, n_neighbours=n_neighbours), expected, atol=1e-12)
    in_other_units = relieff(X * [2, -1, 5] + 3, y, n_neighbours=n_neighbours)
    np.testing.assert_allclose(in_other_units, expected, atol=1e-12)


def test_relieff_of_categories_does_not_know_their_names():
    X, y = parity(100, 0)
    frame = pd.DataFrame(X).astype(str).replace({"True": "yes", "False": "no"})
    np.testing.assert_array_equal(relieff(X, y, random_state=1), relieff(frame, y, random_state=1))
    np.testing.assert_allclose(
        relieff(X, y, random_state=1), relieff(X.astype(float), y, random_state=1), atol=1e-12
    )


def test_relieff_of_rare_classes_and_constants():
    X = np.column_stack([np.arange(9.0), np.ones(9)])
    weights = relieff(X, ["a"] * 5 + ["b"] * 3 + ["c"])
    assert weights[0] > 0
    assert weights[1] == 0


def test_relieff_sees_parity_where_information_does_not():
    X, y = parity(400, 3)
    weights = relieff(X, y, random_state=0)
    assert weights[:4].min() > weights[4:].max()


def test_left_out_mistakes_are_those_of_the_nearest_neighbour():
    data = datasets.load("iris")
    X = data.X.to_numpy() + np.random.default_rng(0).normal(size=data.X.shape) / 1000
    support = [True, False, True, True]
    scaled = ((X - X.min(axis=0)) / np.ptp(X, axis=0))[:, support]
    neighbour = KNeighborsClassifier(1, metric="manhattan")
    expected = cross_val_predict(neighbour, scaled, data.y, cv=LeaveOneOut()) != data.y
    np.testing.assert_array_equal(left_out_mistakes(X, data.y, support), expected)
    of_rows = left_out_mistakes(X, data.y, support, rows=[7, 100, 7])
    np.testing.assert_array_equal(of_rows, expected[[7, 100, 7]])
    # several supports in one call
    supports = np.array([[False, True, True, False], support, [False] * 4])
    one_by_one = [left_out_mistakes(X, data.y, support, rows=[7, 100]) for support in supports]
    at_once = left_out_mistakes(X, data.y, supports, rows=[7, 100])
    np.testing.assert_array_equal(at_once, one_by_one)


def test_equally_near_rows_vote():
    X = np.array([[0.0], [0], [0], [0], [1]])
    y = ["b", "b", "b", "a", "a"]
    np.testing.assert_array_equal(
        left_out_mistakes(X, y, [True]), [False, False, False, True, True]
    )
    np.testing.assert_array_equal(left_out_mistakes(X, y, [False]), [True, True, True, True, True])


def function_of_chapter(path, name):
    """The function that a cell of the notebook begins with."""
    notebook = json.loads((LIB.parent / "chapters" / path).read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    [source] = [source for source in sources if source.startswith(f"def {name}(")]
    names = {"np": np}
    exec(source, names)
    return names[name]


@pytest.mark.parametrize("forward", [True, False])
def test_the_wrapper_of_the_chapter_goes_as_that_of_scikit_learn(forward):
    greedy_steps = function_of_chapter("scaling/features.ipynb", "greedy_steps")
    data = datasets.load("glass")
    X = data.X.to_numpy()
    y = data.y
    neighbours = KNeighborsClassifier(3)
    folds = KFold(3, shuffle=True, random_state=0)

    def error_rates(supports):
        return [1 - score(neighbours, X[:, support], y, folds) for support in supports]

    steps = greedy_steps(error_rates, 9, forward)
    supports = {}
    for step in islice(steps, 3):
        support = step[0]
        if support.any():
            supports[int(support.sum())] = support
    assert len(supports) >= 2
    for n, support in supports.items():
        if n < 9:
            direction = "forward" if forward else "backward"
            peer = SequentialFeatureSelector(
                neighbours, n_features_to_select=n, direction=direction, cv=folds
            )
            np.testing.assert_array_equal(peer.fit(X, y).support_, support)


def score(learner, X, y, folds):
    return cross_val_score(learner, X, y, cv=folds).mean() if X.shape[1] else 0.0


@given(st.integers(0, 10**6), st.sampled_from(["none", "all"]))
@settings(max_examples=50, deadline=None)
def test_stepwise_selection_goes_down_the_steepest_way_to_a_local_minimum(seed, start):
    """The losses of all 32 sets of five attributes are a table of whole numbers, with ties."""
    table = np.random.default_rng(seed).integers(0, 12, (2,) * 5)
    requests = []

    def losses_of(supports):
        requests.extend(map(tuple, supports.tolist()))
        return [table[tuple(support.astype(int))] for support in supports]

    selection = stepwise_selection(losses_of, 5, start)
    assert len(requests) == len(set(requests)) == selection.n_sets
    # the same walk by sets of numbers: the smallest loss, then the smaller set, then the first
    current = set() if start == "none" else set(range(5))

    def loss(attributes):
        return table[tuple(int(j in attributes) for j in range(5))]

    while True:
        steps = sorted(range(5), key=lambda j: (loss(current ^ {j}), j not in current, j))
        if loss(current ^ {steps[0]}) >= loss(current):
            break
        current ^= {steps[0]}
    assert set(np.flatnonzero(selection.support)) == current
    assert selection.loss == loss(current)


def test_stepwise_selection_deletes_what_was_added():
    """The first attribute is the best by itself, and no longer of use beside the others."""
    losses = {"000": 9, "100": 5, "010": 7, "001": 7, "110": 4, "101": 6, "011": 1, "111": 3}

    def losses_of(supports):
        return [losses["".join(map(str, support.astype(int)))] for support in supports]

    selection = stepwise_selection(losses_of, 3)
    np.testing.assert_array_equal(selection.support, [False, True, True])
    assert selection.loss == 1


@pytest.mark.parametrize(
    ("losses_of", "start", "words"),
    [
        (lambda supports: [1.0], "some", "start must be"),
        (lambda supports: [np.nan] * len(supports), "none", "losses_of must return 1 numbers"),
        (lambda supports: [1.0, 2.0], "all", "losses_of must return 1 numbers"),
    ],
)
def test_errors_of_stepwise_selection(losses_of, start, words):
    with pytest.raises(ValueError, match=words):
        stepwise_selection(losses_of, 3, start)


@pytest.mark.parametrize("seed", range(3))
def test_races_find_what_parity_depends_on(seed):
    X, y = parity(400, seed, n_relevant=3, n_attributes=8)
    races = Schemata(random_state=seed).fit(X, y)
    np.testing.assert_array_equal(races.support_, np.arange(8) < 3)
    np.testing.assert_array_equal(races.transform(X), X[:, :3])
    # each race decides one attribute; a row of it asks twice for each that is not decided yet
    n_queries = 0
    for n_undecided, race in zip(range(8, 0, -1), races.races_, strict=True):
        n_queries += 2 * n_undecided * race.n_rows
    assert races.n_queries_ == n_queries
    assert sorted(race.attribute for race in races.races_) == list(range(8))


def test_a_race_whose_time_is_up_leaves_an_attribute_out():
    rng = np.random.default_rng(0)
    races = Schemata(limit=90, confidence=50, random_state=0).fit(
        rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    )
    assert all(race.n_rows == 45 and not race.relevant for race in races.races_)
    assert not races.support_.any()


def test_slope_of_the_kernel_by_finite_differences():
    rng = np.random.default_rng(1)
    squares = rng.random((20, 6, 4))
    votes = np.eye(3)[rng.integers(0, 3, (20, 6))]
    truth = np.eye(3)[np.arange(20) % 3]

    def error(parameters):
        return error_and_slope(parameters, squares, votes, truth)[0]

    for radius in (0.4, 1.7):
        parameters = np.append(rng.normal(size=4), radius)
        numeric = approx_fprime(parameters, error, 1e-7)
        _, slope = error_and_slope(parameters, squares, votes, truth)
        np.testing.assert_allclose(slope, numeric, atol=1e-6)


def test_votes_of_the_kernel_by_definition():
    data = datasets.load("iris")
    X = ((data.X - data.X.mean()) / data.X.std(ddof=0)).to_numpy()
    kernel = VariableKernel(n_neighbours=6, n_searches=0).fit(data.X, data.y)
    squares = ((X[None, :40] - X[:, None]) ** 2).sum(axis=2)
    nearest_squares = np.sort(squares, axis=0)[:6]
    neighbours = np.argsort(squares, axis=0, kind="stable")[:6]
    # the width is the mean distance of the nearer half
    sigma = np.sqrt(np.maximum(nearest_squares[:3], 1e-9)).mean(axis=0)
    weights = np.exp(-nearest_squares / (2 * sigma**2))
    votes = data.y[neighbours] == "Iris-setosa"
    expected = (weights * votes).sum(axis=0) / weights.sum(axis=0)
    np.testing.assert_allclose(kernel.predict_proba(data.X[:40])[:, 0], expected, atol=1e-9)


def test_a_learned_distance_forgets_noise():
    """The class is the sign of the product of the first two of six attributes."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] * X[:, 1] > 0
    kernel = VariableKernel().fit(X, y)
    weights = np.abs(kernel.weights_)
    assert weights[:2].min() > weights[2:].max()
    assert (np.diff(kernel.errors_) < 0).all()
    assert len(kernel.errors_) == kernel.n_searches_ + 1 > 1
    new = rng.normal(size=(1000, 6))
    truth = new[:, 0] * new[:, 1] > 0
    equal_weights = VariableKernel(n_searches=0).fit(X, y)
    assert kernel.score(new, truth) > equal_weights.score(new, truth) + 0.05
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(kernel)).predict(new), kernel.predict(new)
    )


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_search_of_the_kernel_ends_where_the_steepest_descent_gains_nothing(seed):
    X = np.random.default_rng(seed).normal(size=(150, 4))
    y = X[:, 0] * X[:, 1] > 0
    kernel = VariableKernel(n_searches=200).fit(X, y)
    assert kernel.n_searches_ < 100
    assert (np.diff(kernel.errors_) < 0).all()
    parameters = np.append(kernel.weights_, kernel.radius_)
    nearest = kernel._nearest(kernel.weights_)
    error, slope = kernel._error_and_slope(parameters, nearest)
    assert error == pytest.approx(kernel.errors_[-1])
    # one more step gains less than the tolerance
    next_parameters = kernel._line_search(parameters, -slope, nearest)
    next_nearest = kernel._nearest(next_parameters[:-1])
    next_error, _ = kernel._error_and_slope(next_parameters, next_nearest)
    assert next_error > error * (1 - kernel.tolerance)
    # a search of n steps begins as a longer one
    for n in range(5):
        errors = VariableKernel(n_searches=n).fit(X, y).errors_
        np.testing.assert_array_equal(errors, kernel.errors_[: len(errors)])
        assert len(errors) <= n + 1


def test_batches_of_the_kernel_are_its_rows(monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 4))
    y = X[:, 0] * X[:, 1] > 0
    at_once = VariableKernel().fit(X, y)
    monkeypatch.setattr(vsm, "BATCH", 0.01)  # of 32 rows
    in_batches = VariableKernel().fit(X, y)
    assert len(in_batches._batches(100)) == 4
    np.testing.assert_allclose(in_batches.errors_, at_once.errors_, rtol=1e-9)
    np.testing.assert_allclose(in_batches.predict_proba(X), at_once.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("factor", [2.0**660, 2.0**-660])
def test_the_kernel_does_not_depend_on_units(factor):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 2
    scaled = X * [factor, 1, 1]
    expected = VariableKernel().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(VariableKernel().fit(scaled, y).predict_proba(scaled), expected)
    # squares of distances overflow
    distant = [[1.7e308, 0, 0], [1e200, -1e200, 0]]
    posterior = VariableKernel().fit(X, y).predict_proba(distant)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_a_range_that_overflows_is_one_like_others():
    """Values -1.7e308, 0 and 1.7e308 give the results of 0, 1 and 2."""
    integers = np.random.default_rng(0).integers(0, 3, (80, 3))
    X = integers.astype(float)
    y = np.where(X[:, 0] == 1, np.arange(80) % 2, X[:, 0] > 1)
    huge = (X - 1) * [1.7e308, 1, 1]
    np.testing.assert_allclose(
        relieff(huge, y, random_state=0), relieff(X, y, random_state=0), atol=1e-12
    )
    np.testing.assert_array_equal(
        left_out_mistakes(huge, y, [True] * 3), left_out_mistakes(integers, y, [True] * 3)
    )
    races = Schemata(random_state=0).fit(X, y).races_
    assert Schemata(random_state=0).fit(huge, y).races_ == races


def test_classes_of_the_kernel_keep_their_type():
    X = np.arange(8.0)[:, None]
    y = pd.array([1, 2] * 4, dtype="Int64")
    assert VariableKernel().fit(X, y).classes_.dtype == int
    assert VariableKernel().fit(X, y == 1).classes_.dtype == bool
    with pytest.raises(ValueError, match="no class is given in row 1"):
        VariableKernel().fit(X, ["a", None] * 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: relieff(X, y, n_draws=11), "n_draws must be an integer from 1 to 10; got 11"),
        (
            lambda X, y: relieff(X, y, n_neighbours=0),
            "n_neighbours must be an integer of at least 1; got 0",
        ),
        (lambda X, y: relieff(X, [1] * 10), "y must have two classes or more; got one class: 1"),
        (
            lambda X, y: relieff(np.where(X == 3, np.nan, X), y),
            "X must not hold missing values; got NaN in column 'x0'",
        ),
        (
            lambda X, y: Schemata(limit=59).fit(X, y),
            "limit must be an integer of at least 60; got 59",
        ),
        (lambda X, y: Schemata(confidence=0).fit(X, y), "confidence must be a finite number in"),
        (lambda X, y: left_out_mistakes(X, y, [True] * 3), "support must have shape"),
        (
            lambda X, y: left_out_mistakes(X, y, [True] * 2, [0, 10]),
            "rows must be a list of integers from 0 to 9",
        ),
        (
            lambda X, y: left_out_mistakes(X, y, [True] * 2, [-1]),
            "rows must be a list of integers from 0 to 9",
        ),
        (
            lambda X, y: left_out_mistakes(X, y, [True] * 2, [0.5]),
            "rows must be a list of integers from 0 to 9",
        ),
        (
            lambda X, y: VariableKernel(n_neighbours=1).fit(X, y),
            "n_neighbours must be an integer of at least 2; got 1",
        ),
        (
            lambda X, y: VariableKernel(n_searches=-1).fit(X, y),
            "n_searches must be an integer of at least 0; got -1",
        ),
        (lambda X, y: VariableKernel(tolerance="x").fit(X, y), "tolerance must be a finite number"),
    ],
)
def test_errors_say_what_is_allowed(call, words):
    X = np.arange(20.0).reshape(10, 2)
    X[1, 0] = 3
    y = np.arange(10) % 2
    with pytest.raises(ValueError) as error:
        call(X, y)
    assert words in str(error.value)
