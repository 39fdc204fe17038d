"""Winnow online: mistakes against plain Python and Littlestone's bound, drift, and single steps."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.naive_bayes import BernoulliNB

from lib.experiments import (
    adversary_mistakes,
    disjunctions,
    drift,
    mistake_bound,
    mistakes_by_attributes,
    winnow_steps,
)
from lib.trials.legacy import trial_seeds
from lib.winnow import Winnow

SMALL = {"n_attributes": (30, 64), "n_relevant": 3, "n_examples": 400, "n_runs": 3, "n_jobs": 1}
CHANGING = {"n_attributes": 60, "n_relevant": 2, "n_examples": 800, "n_runs": 4, "n_jobs": 1}


class PlainWinnow:
    """Promotion 2, demotion 1/2, 1 predicted above the threshold n."""

    def __init__(self, n):
        self.weights, self.threshold, self.mistakes = np.ones(n), n, 0

    def learn(self, X, y):
        for x, label in zip(X.astype(bool), y, strict=True):
            if (self.weights[x].sum() > self.threshold) != label:
                self.mistakes += 1
                self.weights[x] *= 2 if label else 0.5


class PlainPerceptron:
    """From weights of 0, with a bias; 1 predicted above 0."""

    def __init__(self, n):
        self.weights, self.mistakes = np.zeros(n + 1), 0

    def learn(self, X, y):
        for x, label in zip(np.hstack([X, np.ones((len(X), 1), X.dtype)]).astype(bool), y, strict=True):
            if (self.weights[x].sum() > 0) != label:
                self.mistakes += 1
                self.weights[x] += 1 if label else -1


@pytest.fixture(scope="module")
def growth():
    return mistakes_by_attributes(**SMALL)


@pytest.fixture(scope="module")
def changing():
    return drift(**CHANGING)


class TestAdversary:
    @pytest.mark.parametrize("n", [6, 7, 8, 9, 15, 16, 17, 100, 1023, 1024, 1025, 5000])
    @pytest.mark.parametrize("r", [1, 2, 5])
    def test_forces_as_many_as_the_closed_form(self, n, r):
        exact = r * (1 + n.bit_length() - 1)
        assert adversary_mistakes(n, r) == exact
        assert exact < mistake_bound(n, r)
        assert mistake_bound(n, r) == pytest.approx(2 + 3 * r + 3 * r * math.log(n) / math.log(2))

    def test_bound_by_hand(self):
        assert mistake_bound(1024, 5) == 2 + 3 * 5 * 11


class TestMistakes:
    def test_columns_and_rows(self, growth):
        keys = ["n_attributes", "inputs", "run", "learner", "n_examples"]
        assert growth.columns.tolist() == [*keys, "mistakes"]
        assert len(growth) == len(growth.drop_duplicates(keys)) == 2 * 2 * 3 * 2 * 40
        assert set(growth["n_examples"]) == set(range(10, 401, 10))

    def test_are_those_of_plain_python(self, growth):
        """Not of scikit-learn's Perceptron, which also learns from a 0 at a sum of exactly 0."""
        streams = [(n, kind) for n in SMALL["n_attributes"] for kind in disjunctions.INPUTS]
        for run, seed in enumerate(trial_seeds(0, 3)):
            for (n, kind), state in zip(streams, seed.spawn(4), strict=True):
                rng, winnow, perceptron = np.random.default_rng(state), PlainWinnow(n), PlainPerceptron(n)
                part = growth[(growth["n_attributes"] == n) & (growth["inputs"] == kind) & (growth["run"] == run)]
                found = part.pivot(index="n_examples", columns="learner", values="mistakes")
                for end in range(10, 401, 10):
                    X = disjunctions._rows(n, 3, kind, 10, rng)
                    y = X[:, :3].sum(axis=1) > 0
                    for learner in (winnow, perceptron):
                        learner.learn(X, y)
                    assert found.loc[end].to_dict() == {"winnow": winnow.mistakes, "perceptron": perceptron.mistakes}

    def test_never_fall_and_are_no_more_than_the_examples(self, growth):
        for _, part in growth.groupby(["n_attributes", "inputs", "run", "learner"]):
            assert (np.diff(part["mistakes"]) >= 0).all()
            assert (np.diff(part["mistakes"]) <= 10).all()
            assert part["mistakes"].iloc[-1] > 0

    def test_of_winnow_are_within_the_bound(self):
        made = mistakes_by_attributes((27, 128, 1000), 10, n_examples=3000, n_runs=3, n_jobs=1)
        winnow = made[made["learner"] == "winnow"]
        assert (winnow["mistakes"] <= winnow["n_attributes"].map(lambda n: mistake_bound(n, 10))).all()

    def test_a_stream_of_odd_length_is_presented_whole(self):
        made = mistakes_by_attributes(30, 3, "dense", n_examples=103, n_runs=1, n_jobs=1)
        assert sorted(set(made["n_examples"])) == [*range(2, 103, 2), 103]
        assert mistakes_by_attributes(30, 3, "dense", 1, n_runs=1, n_jobs=1)["n_examples"].tolist() == [1, 1]

    @pytest.mark.xdist_group("workers")
    def test_do_not_depend_on_the_number_of_workers_or_runs(self, growth):
        more = mistakes_by_attributes(**SMALL | {"n_runs": 4, "n_jobs": 2})
        pd.testing.assert_frame_equal(more[more["run"] < 3], growth, check_exact=True)
        assert not mistakes_by_attributes(**SMALL, seed=1)["mistakes"].equals(growth["mistakes"])


class TestRows:
    @pytest.mark.parametrize("kind", disjunctions.INPUTS)
    @pytest.mark.parametrize("r", [1, 2, 5, 12])
    def test_half_of_the_labels_are_1(self, kind, r):
        X = disjunctions._rows(60, r, kind, 4000, np.random.default_rng(r))
        assert X[:, :r].any(axis=1).mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))
        assert set(np.unique(X)) == {0, 1}

    def test_dense_attributes_are_active_alike(self):
        means = disjunctions._rows(50, 5, "dense", 4000, np.random.default_rng(0)).mean(axis=0)
        p = disjunctions.active_probability(5)
        assert 1 - (1 - p) ** 5 == pytest.approx(0.5)
        np.testing.assert_allclose(means, p, atol=5 * np.sqrt(p * (1 - p) / 4000))

    @pytest.mark.parametrize("n", [22, 100, 5000])
    def test_of_sparse_ones_at_most_16_are_active(self, n):
        X = disjunctions._rows(n, 5, "sparse", 500, np.random.default_rng(0))
        active = X[:, 5:].sum(axis=1)
        assert active.max() <= 16
        assert active.mean() == pytest.approx((n - 5) * (1 - (1 - 1 / (n - 5)) ** 16), rel=0.03)  # distinct of 16
        assert X[:, 5:].any(axis=0).mean() > (0.99 if n < 5000 else 0.7)


class TestDrift:
    def test_columns_and_rates(self, changing):
        assert changing.columns.tolist() == ["run", "part", "learner", "n_examples", "error"]
        assert changing["error"].between(0, 1).all()
        assert len(changing) == 4 * 3 * 32
        assert set(changing["n_examples"]) == set(range(25, 801, 25))
        assert set(changing["learner"]) == {"winnow", "perceptron", "naive_bayes"}

    def test_errors_are_those_of_plain_python_on_a_target_that_changes(self, changing):
        trial = disjunctions._Drift(60, 2, 800, 25)
        for run, seed in enumerate(trial_seeds(0, 4)):
            rng, winnow, perceptron, rows = np.random.default_rng(seed), PlainWinnow(60), PlainPerceptron(60), []
            bayes, past = BernoulliNB(), []
            for start in range(0, 800, 25):
                X = trial._chunk(25, rng)
                y = X[:, [0, 1] if start < 400 else [2, 3]].sum(axis=1) > 0
                before = winnow.mistakes, perceptron.mistakes
                winnow.learn(X, y)
                perceptron.learn(X, y)
                if past and start % 100 == 0:
                    bayes.fit(np.vstack([x for x, _ in past]), np.concatenate([labels for _, labels in past]))
                    wrong = (bayes.predict(X) != y).mean()
                    found = changing.query("run == @run and learner == 'naive_bayes' and n_examples == @start + 25")
                    assert found["error"].item() == wrong
                past.append((X, y))
                rows.append(((winnow.mistakes - before[0]) / 25, (perceptron.mistakes - before[1]) / 25))
            found = changing[changing["run"] == run].pivot(index="n_examples", columns="learner", values="error")
            np.testing.assert_array_equal(found[["winnow", "perceptron"]], rows)

    def test_winnow_recovers(self, changing):
        error = changing[changing["learner"] == "winnow"].groupby("n_examples")["error"].mean()
        assert error.loc[325:400].mean() < 0.05
        assert error.loc[425] > 0.2
        assert error.loc[725:].mean() < 0.05

    def test_half_of_the_labels_are_1_before_and_after(self):
        X = disjunctions._Drift(60, 5, 800, 25)._chunk(4000, np.random.default_rng(0))
        for relevant in (X[:, :5], X[:, 5:10]):
            assert relevant.any(axis=1).mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))
        assert X[:, 10:].sum(axis=1).max() <= 16

    @pytest.mark.xdist_group("workers")
    def test_does_not_depend_on_the_number_of_workers_or_runs(self, changing):
        more = drift(**CHANGING | {"n_runs": 6, "n_jobs": 2})
        pd.testing.assert_frame_equal(more[more["run"] < 4], changing, check_exact=True)

    def test_depends_on_the_seed(self, changing):
        assert not drift(**CHANGING, seed=1)["error"].equals(changing["error"])


class TestSteps:
    @given(
        arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(0, 1)),
        st.integers(0, 2**32),
        st.sampled_from([0.5, 1.0, 2.0]),
        st.booleans(),
    )
    @settings(max_examples=50)
    def test_weights_change_after_mistakes_only_and_by_the_promotion(self, X, seed, initial_weight, inclusive):
        y = np.random.default_rng(seed).integers(0, 2, len(X))
        steps, weights = winnow_steps(X, y, threshold=2.0, initial_weight=initial_weight, inclusive=inclusive)
        assert weights.shape == (len(X) + 1, X.shape[1])
        assert (weights[0] == initial_weight).all()
        assert steps.columns.tolist() == ["step", "label", "z", "update"]
        assert steps["step"].tolist() == list(range(len(X)))
        assert steps["label"].tolist() == y.tolist()
        for i, (x, label) in enumerate(zip(X, y, strict=True)):
            z = weights[i] @ x
            mistaken = (z >= 2 if inclusive else z > 2) != label
            update = ("demotion", "promotion")[label] if mistaken else "none"
            factor = {"promotion": 2.0, "demotion": 0.5, "none": 1.0}[update]
            assert steps["z"][i] == z
            assert steps["update"][i] == update
            np.testing.assert_array_equal(weights[i + 1], np.where(x, factor * weights[i], weights[i]))

    def test_end_where_fit_ends(self):
        rng = np.random.default_rng(0)
        X, y = rng.integers(0, 2, (60, 8)).astype(np.uint8), rng.integers(0, 2, 60)
        steps, weights = winnow_steps(X, y, promotion=1.5, margin=1.0, threshold=4.0)
        whole = Winnow(1.5, margin=1.0, threshold=4.0).fit(X, y)
        np.testing.assert_array_equal(weights[-1], whole.weights_)
        assert (steps["update"] != "none").sum() == whole.n_updates_ > whole.n_mistakes_


@pytest.mark.parametrize(
    ("experiment", "arguments", "message"),
    [
        (mistakes_by_attributes, {"n_relevant": 0}, "n_relevant must be an integer from 1 to 50; got 0"),
        (mistakes_by_attributes, {"n_relevant": 51}, "n_relevant .* got 51"),
        (mistakes_by_attributes, {"n_attributes": [100, 21]}, "n_attributes must be an integer of at least 22; got 21"),
        (mistakes_by_attributes, {"n_attributes": 100.0}, "n_attributes .* got 100.0"),
        (mistakes_by_attributes, {"inputs": ["dens"]}, "inputs must be one of .* got 'dens'; did you mean 'dense'"),
        (mistakes_by_attributes, {"inputs": "spars"}, "inputs .* did you mean 'sparse'"),
        (mistakes_by_attributes, {"n_examples": 0}, "n_examples must be an integer of at least 1; got 0"),
        (mistakes_by_attributes, {"n_jobs": 0}, "n_jobs must be .* got 0"),
        (mistakes_by_attributes, {"seed": -1, "n_jobs": 1}, "seed must be .* got -1"),
        (drift, {"n_relevant": 51}, "n_relevant must be an integer from 1 to 50; got 51"),
        (drift, {"n_attributes": 25}, "n_attributes must be an integer of at least 26; got 25"),
        (drift, {"chunk": 0}, "chunk must be an integer of at least 1; got 0"),
        (drift, {"n_examples": 49}, "n_examples must be an integer of at least 50; got 49"),
        (drift, {"n_jobs": -2}, "n_jobs must be .* got -2"),
        (drift, {"seed": "a", "n_jobs": 1}, "seed must be .* got 'a'"),
    ],
)
def test_errors_name_the_argument_before_any_work(experiment, arguments, message, monkeypatch):
    monkeypatch.setattr(disjunctions, "theorem_winnow", None)
    with pytest.raises(ValueError, match=message):
        experiment(**arguments)
