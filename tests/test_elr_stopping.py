"""Where an ascent stops: errors after each iteration by independent computation, rules by hand."""

import numpy as np
import pandas as pd
import pytest

from lib.bayes_net import BayesNetClassifier
from lib.experiments.elr_data import N_FOLDS, encode_split, load_task
from lib.experiments.stopping import ErrorCurves, error_curves, stopping_iterations
from lib.trials import Seeds


def split_codes(name):
    """Codes, sizes and folds of the second split of a data set; the last fold holds test rows."""
    task = load_task(name)
    seeds = Seeds(11, (3,))
    train, test = task.splits(N_FOLDS, seeds.sequence(0))[1]
    codes, sizes = encode_split(task.data, train, test)
    tuning_folds = seeds.rng(1, 1).permutation(len(train)) % N_FOLDS
    return codes, sizes, np.append(tuning_folds, np.full(len(test), N_FOLDS))


def as_table(codes, sizes):
    """Attributes as categories, and classes."""
    columns = {}
    for i in range(1, len(sizes)):
        columns[i] = pd.Categorical.from_codes(codes[:, i], range(sizes[i]))
    return pd.DataFrame(columns), codes[:, 0]


@pytest.mark.parametrize(("name", "structure"), [("iris", "tan"), ("corral", "naive")])
def test_curves_are_those_of_the_classifier(name, structure):
    codes, sizes, folds = split_codes(name)
    X, y = as_table(codes, sizes)
    is_test = folds == N_FOLDS
    train_X, train_y = X[~is_test], y[~is_test]
    test_X, test_y = X[is_test], y[is_test]
    parents = BayesNetClassifier(structure, "ofe").fit(train_X, train_y).parents_
    curves = error_curves(codes, sizes, folds, structure, "elr", 4, 6, n_groups=7)
    groups = np.flatnonzero(is_test) % 7
    for n in range(curves.n_iterations + 1):
        model = BayesNetClassifier(parents, n_iterations=n).fit(train_X, train_y)
        assert model.n_iterations_ == n
        is_wrong = model.predict(test_X) != test_y
        np.testing.assert_array_equal(curves.n_wrong[n], np.bincount(groups, is_wrong, 7))
        assert curves.held_out[n] == pytest.approx(is_wrong.mean())
        resubstitution = 1 - model.score(train_X, train_y)
        assert curves.resubstitution[n] == pytest.approx(resubstitution)
    passes = 0
    for fold, n in np.ndindex(N_FOLDS, 5):
        is_training = ~is_test & (folds != fold)
        is_held_out = folds == fold
        model = BayesNetClassifier(parents, n_iterations=n).fit(X[is_training], y[is_training])
        if model.n_iterations_ < n:  # it had converged before
            assert np.isnan(curves.tuning_errors[fold, n:]).all()
            continue
        error = 1 - model.score(X[is_held_out], y[is_held_out])
        assert curves.tuning_errors[fold, n] == pytest.approx(error)
        if n > 0:
            passes += is_training.sum() / len(train_y)
    assert curves.tuning_passes == pytest.approx(passes)


@pytest.mark.parametrize(
    ("name", "structure", "n_wrong", "greedy"),
    [("glass2", "tan", [7, 6, 8, 7, 7, 7, 7], 2), ("corral", "naive", [3, 2, 4, 2, 2, 2, 2], 0)],
)
def test_numbers_of_the_chapter(name, structure, n_wrong, greedy):
    """As its cells computed them before the ascent was in lib."""
    curves = error_curves(*split_codes(name), structure, "elr", 20, 200, n_groups=60)
    assert curves.n_wrong.sum(axis=1)[: len(n_wrong)].tolist() == n_wrong
    assert stopping_iterations(curves, 20) == {
        "start": 0,
        "tuned": 1,
        "tuned_forced": 1,
        "fixed": 20,
        "greedy": greedy,
        "converged": curves.n_iterations,
        "best": 1,
        "best_forced": 1,
    }
    assert curves.tuning_passes == pytest.approx(80.0)


def test_rules_by_hand():
    """The tuning folds are best after 2, 0 and 0 iterations; without 0, after 2, 1 and 1."""
    curves = ErrorCurves(
        resubstitution=np.array([0.5, 0.4, 0.3, 0.3, 0.1]),
        n_wrong=np.array([[2, 1], [2, 2], [2, 1], [2, 1], [0, 1]]),
        n_test=10,
        tuning_errors=np.array([[0.1, 0.2, 0.0], [0.1, 0.2, np.nan], [0.1, 0.1, 0.1]]),
        tuning_passes=3.0,
    )
    np.testing.assert_allclose(curves.held_out, [0.3, 0.4, 0.3, 0.3, 0.1])
    assert stopping_iterations(curves, 3) == {
        "start": 0,
        "tuned": 0,
        "tuned_forced": 1,
        "fixed": 3,
        "greedy": 2,
        "converged": 4,
        "best": 0,
        "best_forced": 2,
    }
    assert stopping_iterations(curves, 8)["best"] == 4


def test_an_ascent_that_converges_at_its_start_stops_there():
    curves = ErrorCurves(np.array([0.2]), np.array([[1]]), 4, np.array([[0.3]]), 0.0)
    assert set(stopping_iterations(curves, 20).values()) == {0, 20}


def test_groups_do_not_change_the_sum_of_errors():
    codes, sizes, folds = split_codes("iris")
    # after this order only every third group has test examples
    order = np.argsort(np.arange(len(folds)) % 3, kind="stable")

    def n_wrong(n_groups):
        """Misclassified test examples after each iteration and in each group."""
        curves = error_curves(codes[order], sizes, folds[order], "naive", "elr", 2, 3, n_groups)
        return curves.n_wrong

    all_wrong = n_wrong(1)
    assert all_wrong.shape[1] == 1
    assert n_wrong(10).shape[1] == 10
    for n_groups in (10, 1000):
        np.testing.assert_array_equal(n_wrong(n_groups).sum(axis=1), all_wrong[:, 0])


def test_folds_of_tuning_are_needed():
    codes, sizes, folds = split_codes("iris")
    with pytest.raises(ValueError, match="fold of test examples must be an integer of at least 1"):
        error_curves(codes, sizes, np.zeros_like(folds), "naive", "elr", 2, 3)
