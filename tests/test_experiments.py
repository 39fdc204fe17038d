"""Learning curves: the same for any number of workers, and accuracies that labels and enumeration confirm."""

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

SMALL = {
    "n_attributes": 5,
    "n_hidden": 2,
    "difficulty": 0.85,
    "sizes": (10, 40),
    "n_models": 6,
    "n_jobs": 1,
}
FAST = ("cov", "winnow", "naive_bayes")


def curve(**changes):
    return experiments.cia_learning_curves(**{**SMALL, "learners": FAST, **changes})


def rows_of(frame, **values):
    for name, kept in values.items():
        frame = frame[frame[name].isin(kept)]
    return frame.reset_index(drop=True)


@pytest.fixture(scope="module")
def frame():
    return curve()


class TestFrame:
    def test_columns(self, frame):
        assert frame.columns.tolist() == [
            "model",
            "size",
            "learner",
            "accuracy",
            "best",
            "constant",
        ]
        kinds = [
            frame[column].dtype.kind for column in ("model", "size", "accuracy", "best", "constant")
        ]
        assert kinds == ["i", "i", "f", "f", "f"]
        assert pd.api.types.is_string_dtype(frame["learner"])
        assert not frame.isna().any(axis=None)

    def test_one_row_for_each_model_size_and_learner(self, frame):
        index = pd.MultiIndex.from_product([range(6), (10, 40), FAST])
        assert frame.set_index(["model", "size", "learner"]).index.tolist() == index.tolist()

    def test_accuracies_are_between_their_bounds(self, frame):
        assert (frame["accuracy"] <= frame["best"] + 1e-12).all()
        assert (frame["accuracy"] >= 1 - frame["best"] - 1e-12).all()
        assert frame["constant"].between(0.5, frame["best"] + 1e-12).all()
        assert frame.groupby("model")[["best", "constant"]].nunique().eq(1).all(axis=None)

    def test_does_not_depend_on_the_number_of_workers(self):
        arguments = {
            "n_attributes": 14,
            "n_models": 7,
            "learners": ("cov", "winnow", "em"),
            "sizes": (10, 30),
        }
        pd.testing.assert_frame_equal(
            curve(**arguments, n_jobs=2), curve(**arguments, n_jobs=1), check_exact=True
        )

    def test_another_learner_size_or_model_changes_no_other_row(self, frame):
        more = curve(learners=("perceptron", *FAST[::-1], "em"), sizes=[25, 40, 10], n_models=8)
        kept = rows_of(more, learner=FAST, size=(10, 40), model=range(6))
        keys = ["model", "size", "learner"]
        kept, expected = (rows.sort_values(keys, ignore_index=True) for rows in (kept, frame))
        pd.testing.assert_frame_equal(kept, expected, check_exact=True)

    def test_sizes_are_distinct_and_rising(self):
        assert rows_of(curve(sizes=[40, 10, 40], n_models=1), learner=["cov"])["size"].tolist() == [
            10,
            40,
        ]
        assert set(curve(sizes=np.int64(12), n_models=1)["size"]) == {12}
        assert list(experiments.SIZES) == sorted(set(experiments.SIZES))

    def test_own_learners(self):
        made = curve(learners={"mine": DummyClassifier(), "littlestone": Winnow()}, n_models=2)
        assert set(made["learner"]) == {"mine", "littlestone"}
        assert (rows_of(made, learner=["mine"])["accuracy"] <= made["constant"].max() + 1e-12).all()

    def test_panels_are_the_curves_side_by_side(self, frame):
        arguments = {**SMALL, "learners": FAST}
        panels = experiments.cia_learning_curves(
            **{**arguments, "n_attributes": [5, 6], "difficulty": [0.85]}
        )
        assert panels.columns.tolist() == ["n_attributes", "n_hidden", "difficulty", *frame.columns]
        first = rows_of(panels, n_attributes=[5])[frame.columns]
        pd.testing.assert_frame_equal(first, frame, check_exact=True)
        assert panels["n_attributes"].value_counts().to_dict() == {5: len(frame), 6: len(frame)}


def test_every_learner_by_name_runs():
    made = curve(learners=list(experiments.CIA_LEARNERS), n_models=2, sizes=[2, 30])
    assert set(made["learner"]) == set(experiments.CIA_LEARNERS)
    assert not made["accuracy"].isna().any()


@pytest.mark.parametrize("k", [2, 3])
def test_the_right_model_gets_near_the_best_with_many_examples(k):
    made = curve(n_attributes=8, n_hidden=k, learners=("em_true_k",), sizes=[3000], n_models=5)
    assert (made["best"] - made["accuracy"]).mean() < 0.01


def test_a_sample_of_one_class_teaches_that_constant(monkeypatch):
    def run_here(function, blocks, *_):
        yield from ((number, function(block)) for number, block in blocks.items())

    model = CIAModel([0.5, 0.5], [[0.0, 0.2], [0.0, 0.8]])
    monkeypatch.setattr(random_models, "sample_cia", lambda *args, **kwargs: model)
    monkeypatch.setattr(engine, "_on_this_machine", run_here)  # where that is so
    made = curve(n_models=1, sizes=[20])
    assert (made["accuracy"] == 1).all()


@pytest.fixture(scope="module")
def model():
    return random_cia(10, 3, 0.8, np.random.default_rng(4))


@pytest.fixture(scope="module")
def rule():
    weights = np.random.default_rng(5).normal(size=10)
    return lambda X: (X @ weights > weights.sum() / 2).astype(int)


class TestExactTestSet:
    """P(x0 | x) in place of labels (Rao & Blackwell), over all inputs or over drawn ones."""

    def test_enumeration_agrees_with_labels(self, model, rule):
        test_set = experiments.ExactTestSet(model, None)
        assert test_set.weights.sum() == pytest.approx(1)
        X, y, _ = model.sample(200_000, np.random.default_rng(0))
        error = 5 * 0.5 / np.sqrt(len(y))
        assert test_set.accuracy(rule(test_set.X)) == pytest.approx(
            (rule(X) == y).mean(), abs=error
        )
        assert test_set.best == pytest.approx(
            ((model.target_posterior(X) > 0.5) == y).mean(), abs=error
        )
        assert test_set.constant == pytest.approx(max(y.mean(), 1 - y.mean()), abs=error)

    def test_drawn_inputs_agree_with_enumeration(self, model, rule, monkeypatch):
        exact = experiments.ExactTestSet(model, None)
        monkeypatch.setattr(random_models, "ENUMERATION_LIMIT", 0)
        drawn = experiments.ExactTestSet(model, np.random.default_rng(0), 20_000)
        assert len(drawn.X) == 20_000
        error = 5 * drawn.positive.std() / np.sqrt(20_000)
        assert drawn.accuracy(rule(drawn.X)) == pytest.approx(
            exact.accuracy(rule(exact.X)), abs=error
        )
        assert drawn.best == pytest.approx(exact.best, abs=error)
        assert drawn.constant == pytest.approx(exact.constant, abs=error)

    def test_t_of_the_best_rule_and_of_the_best_constant(self):
        model, test_set = experiments.learnable_model(10, 3, 0.9, np.random.default_rng(0))
        assert test_set.t((model.target_posterior(test_set.X) > 0.5).astype(int)) == pytest.approx(
            1
        )
        assert max(test_set.t(np.zeros(1024)), test_set.t(np.ones(1024))) == pytest.approx(0)


def test_a_learnable_model_has_something_to_learn():
    _, test_set = experiments.learnable_model(8, 2, 0.9, np.random.default_rng(0))
    assert test_set.best - test_set.constant >= 0.05


def test_models_with_too_little_to_gain_are_drawn_again():
    panel, drawn = experiments.Panel(5, 2, 0.85, concentration(5, 2, 0.85)), []
    for i in range(6):
        first, again, given_up = (
            experiments.usable_model(
                panel, *(np.random.default_rng([i, j]) for j in range(2)), gain, n_draws=n
            )
            for gain, n in ((0, 100), (0.02, 100), (0.5, 3))
        )
        assert again[1].best - again[1].constant >= 0.02
        assert first[2] == 1
        assert given_up[2] == 3
        assert (again[2] == 1) == (first[1].best - first[1].constant >= 0.02)
        drawn.append(again[2])
    assert max(drawn) > 1


def test_curves_of_usable_models_only(frame):
    usable = curve(min_gain=0.05)
    assert (usable["best"] - usable["constant"]).min() >= 0.05
    same = frame["best"] - frame["constant"] >= 0.05
    pd.testing.assert_frame_equal(usable[same], frame[same], check_exact=True)
    assert 0 < same.mean() < 1


def test_a_tuned_winnow_has_the_first_setting_that_does_best():
    model, _ = experiments.learnable_model(10, 2, 0.9, np.random.default_rng(1))
    X, y, _ = model.sample(300, np.random.default_rng(2))
    grid = {"margin": [2.0, 0.0, 1.0, 4.0], "promotion": [1.015, 1.05]}
    search = GridSearchCV(WinnowEnsemble(3, random_state=5), grid, cv=3).fit(X, y)
    tuned = TunedWinnow(5).fit(X, y)
    assert {name: tuned.model_.get_params()[name] for name in grid} == search.best_params_
    expected = WinnowEnsemble(random_state=5, **search.best_params_).fit(X, y).predict(X)
    assert (tuned.predict(X) == expected).all()
    assert TunedWinnow(5).fit(X[:9], np.arange(9) == 0).model_.margin is None


def test_the_chapter_shows_the_trial_that_others_call(frame):
    notebook = nbformat.read(Path(__file__).parents[1] / "chapters" / "cia" / "curves.ipynb", 4)
    source = next(
        cell.source for cell in notebook.cells if cell.source.startswith("def learning_curves(")
    )
    values = {
        "difficulty": SMALL["difficulty"],
        "hidden_weights": "beta",
        "min_gain": 0.0,
        "max_draws": 9,
    }
    names = values | {"experiments": experiments}
    exec(source.split("\n\n\n")[0], names)
    c = concentration(5, 2, SMALL["difficulty"])
    rows = [
        row
        for i in range(6)
        for row in names["learning_curves"](Seeds(0, (i,)), 5, 2, c, SMALL["sizes"], FAST)
    ]
    pd.testing.assert_frame_equal(pd.DataFrame(rows)[frame.columns], frame, check_exact=True)


def test_logistic_regression_without_enough_examples_to_tune():
    learner = TunedLogisticRegression().fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    assert TunedLogisticRegression.penalties[0] == learner.model_.C
    assert learner.predict([[1, 0]]).shape == (1,)


def test_making_learners_leaves_the_registry_alone():
    made = experiments.cia_learners(["em_true_k", "winnow"], 5)
    assert made["em_true_k"].n_hidden == 5
    assert experiments.CIA_LEARNERS["em_true_k"].n_hidden == 2
    assert made["winnow"] is not experiments.CIA_LEARNERS["winnow"]
    assert list(experiments.cia_learners("cov", 2)) == ["cov"]
