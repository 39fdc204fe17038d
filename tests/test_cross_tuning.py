from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib import datasets as uci
from lib.bayes_net import BayesNetClassifier, choose_iterations
from lib.discretize import EntropyDiscretizer
from lib.experiments import cross_tuning as stopping
from lib.experiments.elr_data import problem, repeat_seed
from lib.experiments.greiner_printed import printed
from lib.figures import cross_tuning as pictures
from lib.trials.legacy import keyed_seed

RULES = list(stopping.STOPPINGS)


@pytest.fixture(scope="module")
def frame():
    return stopping.stopping_study(["iris", "corral"], n_iterations=6, n_repeats=2, seed=3)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def each(frame):
    return frame[frame["stopping"] == "each"]


def test_rows_of_the_study(frame):
    assert list(frame.columns) == [*stopping.KEYS, "stopping", *frame.columns[5:]]
    assert not frame.isna().any(axis=None)
    for _, part in frame.groupby(stopping.KEYS):
        assert list(part["stopping"]) == ["each"] * 7 + RULES
        assert list(part["n_iterations"][:7]) == list(range(7))


def test_rules_stop_the_same_climb(frame):
    for _, part in frame.groupby(stopping.KEYS):
        curve, stops = each(part).set_index("n_iterations")["error"], part.set_index("stopping").loc[RULES]
        short = stops.drop(index=["greedy", "converged"])
        assert (curve[short["n_iterations"]].to_numpy() == short["error"]).all()
        assert stops.loc["best", "error"] == curve.min()
        assert stops.loc["best", "n_iterations"] == curve.idxmin()
        assert (stops.loc[["fixed", "tuned", "tuned_forced"], "error"] >= curve.min()).all()
        assert stops.loc["start", "n_iterations"] == 0


@pytest.mark.parametrize("structure", stopping.STRUCTURES)
def test_errors_are_those_of_the_classifier(structure):
    data = uci.load("glass2")
    found = stopping.stopping_study("glass2", structure, n_iterations=3, n_folds=3, seed=5)
    seed = repeat_seed("glass2", 0, 5)
    for fold, (train, test) in enumerate(problem("glass2").splits(3, keyed_seed(seed, 0))):
        cutter = EntropyDiscretizer().fit(data.X.iloc[train], data.y[train])
        X, X_test = (cutter.transform(data.X.iloc[rows]) for rows in (train, test))
        for row in each(found[found["fold"] == fold]).itertuples():
            learner = BayesNetClassifier(structure, n_iterations=row.n_iterations).fit(X, data.y[train])
            assert row.error == pytest.approx(1 - learner.score(X_test, data.y[test]))
            assert row.resubstitution == pytest.approx(1 - learner.score(X, data.y[train]))


def test_other_data_sets_change_nothing(frame):
    again = stopping.stopping_study(["monks-1", "corral"], n_iterations=6, n_repeats=2, seed=3)
    both = [part[part["dataset"] == "corral"].reset_index(drop=True) for part in (frame, again)]
    pd.testing.assert_frame_equal(*both)


@pytest.fixture
def tuning(monkeypatch):
    """The held-out errors of all inner folds that were voted with."""
    seen = []

    def spy(errors, **settings):
        seen.append(errors)
        return choose_iterations(errors, **settings)

    monkeypatch.setattr(stopping, "choose_iterations", spy)
    return seen


def test_more_folds_than_training_rows(tuning):
    """MONKS-1 has 432 inputs, of which 124 are trained on."""
    frames = [stopping.stopping_study("monks-1", "naive", n_iterations=2, n_folds=n, seed=1) for n in (124, 130)]
    pd.testing.assert_frame_equal(*frames)
    assert [len(errors) for errors in tuning] == [124] * 4
    assert np.isfinite([errors[:, 0] for errors in tuning]).all()


def test_as_many_folds_as_rows(tuning, monkeypatch):
    iris, rows = problem("iris"), np.arange(0, 150, 15)
    few = replace(iris.data, X=iris.data.X.iloc[rows].reset_index(drop=True), y=iris.data.y[rows])
    monkeypatch.setattr(stopping, "problem", lambda name: replace(iris, data=few))
    found = stopping.stopping_study("iris", "naive", n_iterations=2, n_folds=10)
    assert found["fold"].nunique() == 10
    assert [len(errors) for errors in tuning] == [9] * 20
    assert np.isfinite([errors[:, 0] for errors in tuning]).all()


def test_stand_in(monkeypatch):
    def fail(name):
        raise uci.NotAvailableError(name)

    assert stopping.first_available("iris", "pima") == "iris"
    monkeypatch.setattr(stopping.uci, "load", fail)
    assert stopping.first_available("cleve", "pima") == "pima"


def test_rules_on_curves_written_down():
    training = np.array([0.4, 0.3, 0.2, 0.2, 0.1])
    held_out = np.array([0.3, 0.2, 0.1, 0.2, 0.4])
    errors = np.array([[0.2, 0.1, 0.1, 0.3], [0.1, 0.3, 0.2, 0.1], [0.5, 0.4, 0.3, np.nan]])
    found = stopping._rules(training, held_out, errors, 3, np.full(3, 10.0)).set_index("stopping")
    stops = {"start": 0, "tuned": 1, "tuned_forced": 2, "fixed": 3, "greedy": 2, "converged": 4, "best": 2}
    for rule, iterations in (stops | {"best_forced": 2}).items():
        assert found.loc[rule, "n_iterations"] == iterations
        assert found.loc[rule, "error"] == held_out[iterations]
        assert found.loc[rule, "resubstitution"] == training[iterations]
    assert found.loc["fixed", "passes"] == 3
    assert found.loc["tuned", "passes"] == pytest.approx((3 + 3 + 2) * 2 / 3 + 1)


def test_a_climb_that_ends_at_its_start():
    flat = np.array([0.25])
    found = stopping._rules(flat, flat, np.array([[0.5], [0.5]]), 3, np.array([2.0, 2.0])).set_index("stopping")
    assert (found["error"] == 0.25).all()
    assert (found.loc[RULES, "n_iterations"] == 0).all()


@pytest.mark.parametrize(
    ("curve", "expected"), [([0.3], 0), ([0.3, 0.3], 0), ([0.3, 0.2, 0.1], 2), ([0.3, 0.2, 0.4], 1)]
)
def test_greedy(curve, expected):
    assert stopping.greedy(np.array(curve)) == expected


def test_contrast_and_one_sided_p(frame):
    gain = stopping.contrast(frame, ("naive", "fixed"), ("naive", "tuned"))
    errors = stopping.by_rule(frame, "error").xs("naive", level="structure").groupby("dataset", sort=False).mean()
    assert np.allclose(gain, 100 * (errors["fixed"] - errors["tuned"]))
    values = np.array([0.5, 1.0, -0.2, 0.3])
    expected = stats.ttest_1samp(values, 0, alternative="greater").pvalue
    assert stopping.one_sided_p(values) == pytest.approx(expected)
    assert stopping.one_sided_p(-values) == pytest.approx(1 - expected)
    assert stopping.contrast(frame[frame["structure"] == "tan"], ("naive", "fixed"), ("tan", "tuned")).size == 0


def test_summaries(frame):
    part = frame.query("dataset == 'corral' and structure == 'tan'")
    summary = stopping.stopping_summary(part, 0.2).set_index("rule")
    assert summary.loc["best in hindsight", "missed"] == 0
    assert summary.loc["cross-tuned", ["difference", "low", "high"]].eq(0).all()
    assert stopping.choices(part).sum() == 10
    assert stopping.tied_iterations(part).between(1, 7).all()
    assert stopping.excess_examples(part)["best"].eq(0).all()
    tests = stopping.tuning_tests(frame)
    assert (tests[["better", "equal", "worse"]].sum(axis=1) == 2).all()
    work = stopping.work_summary(stopping.work_ratios(frame))
    assert work["mean"].between(work["smallest"], work["largest"]).all()


def test_table_ix():
    ratios = stopping.seconds_ratios()
    assert len(ratios) == 15
    assert ratios.loc["pima", "tan"] == pytest.approx(10.119, abs=1e-3)
    assert ratios.loc["australian", "naive"] == pytest.approx(1345.39 / 593.23)
    assert list(ratios.columns) == list(stopping.STRUCTURES)


def test_printed_averages_of_table_ix_are_not_those_of_its_rows():
    rows = printed("ix").set_index("structure")
    is_average = rows["dataset"] == "average"
    averages = rows.loc[is_average, ["without", "with"]]
    means = rows.loc[~is_average, ["without", "with"]].groupby(level="structure").mean()
    assert averages.shape == (2, 2)
    assert (averages > 1.5 * means).all(axis=None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"datasets": ["pima", "diabetes"]}, "each data set once"),
        ({"datasets": []}, "at least one"),
        ({"datasets": ["pimma"]}, "did you mean 'pima'"),
        ({"structures": ["tann"]}, "did you mean 'tan'"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"n_folds": 1}, "n_folds"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        stopping.stopping_study(**arguments)


def test_figures(frame):
    part = frame.query("dataset == 'iris' and structure == 'tan'")
    assert len(pictures.fold_curves(part[part["repeat"] == 0]).axes) == 6
    axis = pictures.mean_curves(part).axes[0]
    assert axis.lines[1].get_ydata() == pytest.approx(each(part).groupby("n_iterations")["error"].mean() * 100)
    counts = {"one": stopping.choices(part), "two": stopping.choices(part, "tuned_forced", "best_forced")}
    assert len(pictures.chosen_against_best(counts).axes) == 3
    table = stopping.gains_by_dataset(frame, 0.2)
    assert len(pictures.gains_by_dataset(table).axes) == 2
    assert len(pictures.gains_by_dataset(table.assign(low=-np.inf, high=np.inf)).axes) == 2
    assert "nothing" in pictures.gains_by_dataset(table[:0]).axes[0].texts[0].get_text()


def test_printed_tables(frame):
    part = frame.query("dataset == 'iris' and structure == 'tan'")
    stops = pictures.stops_shown(stopping.stopping_summary(part, 0.2))
    assert list(stops["rule"]) == list(stopping.STOPPINGS.values())
    tests = pictures.tests_shown(stopping.tuning_tests(part), dict.fromkeys(stopping.WITHOUT_TUNING, "rule"))
    assert list(tests["p"]) == ["—"] * 3
    assert list(tests["95% interval"]) == ["—"] * 3
    work = pictures.work_shown(
        stopping.work_summary(stopping.work_ratios(part)), dict.fromkeys(stopping.WITHOUT_TUNING)
    )
    assert list(work["structure"]) == ["TAN"] * 3
