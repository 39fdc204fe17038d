"""Learning curves: the same for any number of workers, and accuracies by labels and enumeration."""

from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from lib import experiments
from lib.cia import CIAModel, concentration, random_cia
from lib.experiments import random_models
from lib.experiments.binary_learners import TunedLogisticRegression, TunedWinnow
from lib.trials import Seeds, engine
from lib.winnow import Winnow, WinnowEnsemble

FAST = ("cov", "winnow", "naive_bayes")
DIFFICULTY = 0.85
SIZES = (10, 40)
SMALL = {
    "n_attributes": 5,
    "n_hidden": 2,
    "difficulty": DIFFICULTY,
    "sizes": SIZES,
    "n_models": 6,
    "n_jobs": 1,
    "learners": FAST,
}
KEYS = ["model", "size", "learner"]


def curve(**changes):
    return experiments.cia_learning_curves(**SMALL | changes)


def rows_of(frame, **values):
    """The rows whose columns have one of these values."""
    for name, choices in values.items():
        frame = frame[frame[name].isin(choices)]
    return frame.reset_index(drop=True)


@pytest.fixture(scope="module")
def frame():
    return curve()


class TestFrame:
    def test_columns(self, frame):
        assert frame.columns.tolist() == [*KEYS, "accuracy", "best", "constant"]
        for name in ("model", "size"):
            assert frame[name].dtype.kind == "i"
        for name in ("accuracy", "best", "constant"):
            assert frame[name].dtype.kind == "f"
        assert pd.api.types.is_string_dtype(frame["learner"])
        assert not frame.isna().any(axis=None)

    def test_one_row_for_each_model_size_and_learner(self, frame):
        index = pd.MultiIndex.from_product([range(6), SIZES, FAST])
        assert frame.set_index(KEYS).index.tolist() == index.tolist()

    def test_accuracies_are_between_their_bounds(self, frame):
        """No rule beats the best one, and none is worse than its opposite."""
        assert (frame["accuracy"] <= frame["best"] + 1e-12).all()
        assert (frame["accuracy"] >= 1 - frame["best"] - 1e-12).all()
        assert frame["constant"].between(0.5, frame["best"] + 1e-12).all()
        assert frame.groupby("model")[["best", "constant"]].nunique().eq(1).all(axis=None)

    def test_does_not_depend_on_the_number_of_workers(self):
        frames = [
            curve(
                n_attributes=14,
                n_models=7,
                learners=("cov", "winnow", "em"),
                sizes=(10, 30),
                n_jobs=n_jobs,
            )
            for n_jobs in (1, 2)
        ]
        pd.testing.assert_frame_equal(frames[1], frames[0], check_exact=True)

    def test_another_learner_size_or_model_changes_no_other_row(self, frame):
        extended_frame = curve(
            learners=("perceptron", *FAST[::-1], "em"), sizes=[25, 40, 10], n_models=8
        )
        common_rows = rows_of(extended_frame, learner=FAST, size=SIZES, model=range(6))
        common_rows = common_rows.sort_values(KEYS, ignore_index=True)
        expected = frame.sort_values(KEYS, ignore_index=True)
        pd.testing.assert_frame_equal(common_rows, expected, check_exact=True)

    def test_sizes_are_distinct_and_rising(self):
        frame_of_repeats = curve(sizes=[40, 10, 40], n_models=1)
        assert rows_of(frame_of_repeats, learner=["cov"])["size"].tolist() == [10, 40]
        assert set(curve(sizes=np.int64(12), n_models=1)["size"]) == {12}
        assert list(experiments.SIZES) == sorted(set(experiments.SIZES))

    def test_own_learners(self):
        """One that predicts a constant is at most as good as the best constant."""
        frame = curve(learners={"mine": DummyClassifier(), "littlestone": Winnow()}, n_models=2)
        assert set(frame["learner"]) == {"mine", "littlestone"}
        accuracies = rows_of(frame, learner=["mine"])["accuracy"]
        assert (accuracies <= frame["constant"].max() + 1e-12).all()

    def test_panels_are_the_curves_side_by_side(self, frame):
        panels = curve(n_attributes=[5, 6], difficulty=[DIFFICULTY])
        assert panels.columns.tolist() == ["n_attributes", "n_hidden", "difficulty", *frame.columns]
        first = rows_of(panels, n_attributes=[5])[frame.columns]
        pd.testing.assert_frame_equal(first, frame, check_exact=True)
        assert panels["n_attributes"].value_counts().to_dict() == {5: len(frame), 6: len(frame)}


def test_every_learner_by_name_runs():
    frame = curve(learners=list(experiments.CIA_LEARNERS), n_models=2, sizes=[2, 30])
    assert set(frame["learner"]) == set(experiments.CIA_LEARNERS)
    assert not frame["accuracy"].isna().any()


@pytest.mark.parametrize("k", [2, 3])
def test_the_right_model_gets_near_the_best_with_many_examples(k):
    frame = curve(n_attributes=8, n_hidden=k, learners=("em_true_k",), sizes=[3000], n_models=5)
    assert (frame["best"] - frame["accuracy"]).mean() < 0.01


def test_a_sample_of_one_class_teaches_that_constant(monkeypatch):
    """The probability of class 1 is 0 for both hidden values."""

    def run_here(function, blocks, *_):
        yield from ((number, function(block)) for number, block in blocks.items())

    model = CIAModel([0.5, 0.5], [[0.0, 0.2], [0.0, 0.8]])
    monkeypatch.setattr(random_models, "sample_cia", lambda *args, **kwargs: model)
    # in this process, as the model is replaced here only
    monkeypatch.setattr(engine, "_on_this_machine", run_here)
    frame = curve(n_models=1, sizes=[20])
    assert (frame["accuracy"] == 1).all()


@pytest.fixture(scope="module")
def model():
    return random_cia(10, 3, 0.8, np.random.default_rng(4))


@pytest.fixture(scope="module")
def rule():
    weights = np.random.default_rng(5).normal(size=10)

    def predict(X):
        return (X @ weights > weights.sum() / 2).astype(int)

    return predict


class TestExactTestSet:
    """P(x0 | x) in place of labels (Rao & Blackwell), over all inputs or over drawn ones."""

    def test_enumeration_agrees_with_labels(self, model, rule):
        test_set = experiments.ExactTestSet(model, None)
        assert test_set.weights.sum() == pytest.approx(1)
        X, y, _ = model.sample(200_000, np.random.default_rng(0))
        tolerance = 5 * 0.5 / np.sqrt(len(y))  # five standard errors, at most
        accuracy = (rule(X) == y).mean()
        assert test_set.accuracy(rule(test_set.X)) == pytest.approx(accuracy, abs=tolerance)
        best = ((model.target_posterior(X) > 0.5) == y).mean()
        assert test_set.best == pytest.approx(best, abs=tolerance)
        constant = max(y.mean(), 1 - y.mean())
        assert test_set.constant == pytest.approx(constant, abs=tolerance)

    def test_drawn_inputs_agree_with_enumeration(self, model, rule, monkeypatch):
        exact = experiments.ExactTestSet(model, None)
        monkeypatch.setattr(random_models, "ENUMERATION_LIMIT", 0)
        sample = experiments.ExactTestSet(model, np.random.default_rng(0), 20_000)
        assert len(sample.X) == 20_000
        tolerance = 5 * sample.positive.std() / np.sqrt(20_000)  # five standard errors
        exact_accuracy = exact.accuracy(rule(exact.X))
        assert sample.accuracy(rule(sample.X)) == pytest.approx(exact_accuracy, abs=tolerance)
        assert sample.best == pytest.approx(exact.best, abs=tolerance)
        assert sample.constant == pytest.approx(exact.constant, abs=tolerance)

    def test_t_of_the_best_rule_and_of_the_best_constant(self):
        model, test_set = experiments.learnable_model(10, 3, 0.9, np.random.default_rng(0))
        best_labels = (model.target_posterior(test_set.X) > 0.5).astype(int)
        assert test_set.t(best_labels) == pytest.approx(1)
        t_of_constants = [test_set.t(np.zeros(1024)), test_set.t(np.ones(1024))]
        assert max(t_of_constants) == pytest.approx(0)


def test_a_learnable_model_has_something_to_learn():
    _, test_set = experiments.learnable_model(8, 2, 0.9, np.random.default_rng(0))
    assert test_set.best - test_set.constant >= 0.05


def test_models_with_too_little_to_gain_are_drawn_again():
    panel = experiments.Panel(5, 2, DIFFICULTY, concentration(5, 2, DIFFICULTY))

    def usable_model(i, min_gain, max_draws):
        """The gain and the number of draws of the model that the i-th seeds give."""
        model_rng = np.random.default_rng([i, 0])
        test_rng = np.random.default_rng([i, 1])
        _, test_set, n_draws = experiments.usable_model(
            panel, model_rng, test_rng, min_gain, n_draws=max_draws
        )
        return test_set.best - test_set.constant, n_draws

    all_draws = []
    for i in range(6):
        first_gain, n_draws = usable_model(i, min_gain=0, max_draws=100)
        assert n_draws == 1
        gain, n_draws = usable_model(i, min_gain=0.02, max_draws=100)
        assert gain >= 0.02
        assert (n_draws == 1) == (first_gain >= 0.02)
        all_draws.append(n_draws)
        _, n_draws = usable_model(i, min_gain=0.5, max_draws=3)  # which none of them has
        assert n_draws == 3
    assert max(all_draws) > 1


def test_curves_of_usable_models_only(frame):
    usable = curve(min_gain=0.05)
    assert (usable["best"] - usable["constant"]).min() >= 0.05
    is_usable = frame["best"] - frame["constant"] >= 0.05
    pd.testing.assert_frame_equal(usable[is_usable], frame[is_usable], check_exact=True)
    assert 0 < is_usable.mean() < 1


def test_a_tuned_winnow_has_the_first_setting_that_does_best():
    model, _ = experiments.learnable_model(10, 2, 0.9, np.random.default_rng(1))
    X, y, _ = model.sample(300, np.random.default_rng(2))
    grid = {"margin": [2.0, 0.0, 1.0, 4.0], "promotion": [1.015, 1.05]}
    search = GridSearchCV(WinnowEnsemble(3, random_state=5), grid, cv=3).fit(X, y)
    tuned_winnow = TunedWinnow(5).fit(X, y)
    parameters = tuned_winnow.model_.get_params()
    assert {name: parameters[name] for name in grid} == search.best_params_
    expected = WinnowEnsemble(random_state=5, **search.best_params_).fit(X, y).predict(X)
    assert (tuned_winnow.predict(X) == expected).all()
    # one example of a class is too few for three folds
    untuned_winnow = TunedWinnow(5).fit(X[:9], np.arange(9) == 0)
    assert untuned_winnow.model_.margin is None


def test_the_chapter_shows_the_trial_that_others_call(frame):
    path = Path(__file__).parents[1] / "chapters" / "cia" / "curves.ipynb"
    sources = [cell.source for cell in nbformat.read(path, 4).cells]
    [source] = [source for source in sources if source.startswith("def learning_curves(")]
    definition = source.split("\n\n\n")[0]
    names = {
        "experiments": experiments,
        "difficulty": DIFFICULTY,
        "hidden_weights": "beta",
        "min_gain": 0.0,
        "max_draws": 9,
    }
    exec(definition, names)
    learning_curves = names["learning_curves"]
    c = concentration(5, 2, DIFFICULTY)
    rows = []
    for i in range(6):
        rows += learning_curves(Seeds(0, (i,)), 5, 2, c, SIZES, FAST)
    pd.testing.assert_frame_equal(pd.DataFrame(rows)[frame.columns], frame, check_exact=True)


def test_logistic_regression_without_enough_examples_to_tune():
    learner = TunedLogisticRegression().fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    assert TunedLogisticRegression.penalties[0] == learner.model_.C
    assert learner.predict([[1, 0]]).shape == (1,)


def test_making_learners_leaves_the_registry_alone():
    learners = experiments.cia_learners(["em_true_k", "winnow"], 5)
    assert learners["em_true_k"].n_hidden == 5
    assert experiments.CIA_LEARNERS["em_true_k"].n_hidden == 2
    assert learners["winnow"] is not experiments.CIA_LEARNERS["winnow"]
    assert list(experiments.cia_learners("cov", 2)) == ["cov"]
