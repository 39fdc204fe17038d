"""Other learners beside ELR: the same splits, the paper's kernel, and the same result however it is computed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from lib.bayes_net import BayesNetClassifier
from lib.discretize import EntropyDiscretizer, OneHot
from lib.experiments import elr_peers
from lib.experiments.elr_data import Problem, problem
from lib.experiments.elr_peers import (
    BINARY_ONLY,
    PEERS,
    StandardisedNumbers,
    numbers_in_file,
    peer_study,
    quadratic_svm,
)
from lib.experiments.elr_uci import elr_uci_study
from lib.experiments.uci_learners import Tuned

SETS = ("glass2", "corral", "iris")
CHEAP = ("svm_paper", "selective")
KEYS = ["dataset", "repeat", "fold", "learner"]


@pytest.fixture(scope="module")
def frame():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return peer_study(SETS, seed=4)


@pytest.fixture
def recorded(monkeypatch):
    """Every split that is drawn, by what it was drawn with."""
    seen, splits = {}, Problem.splits

    def recording(self, n_folds, seed):
        made = splits(self, n_folds, seed)
        key = self.name, n_folds, seed.entropy, seed.spawn_key
        seen[key] = [tuple(map(tuple, pair)) for pair in made]
        return made

    monkeypatch.setattr(Problem, "splits", recording)
    return seen


class First(ClassifierMixin, BaseEstimator):
    """Predicts the first class, and notes what it saw."""

    seen = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append((X.index.to_numpy(), y))
        return self

    def predict(self, X):
        self.seen[-1] += (X.index.to_numpy(),)
        return np.full(len(X), self.classes_[0])


def test_all_peers_on_all_sets(frame):
    assert frame.columns.tolist() == [*KEYS, "n_wrong", "n_test"]
    assert frame.duplicated(KEYS).sum() == 0
    assert frame["dataset"].unique().tolist() == list(SETS)
    for name, part in frame.groupby("dataset"):
        expected = [peer for peer in PEERS if name != "iris" or peer not in BINARY_ONLY]
        assert part["learner"].tolist() == expected * 5
        assert part["fold"].is_monotonic_increasing
        assert (part["n_test"] == len(problem(name).data.y) // 5).all()


def test_all_peers_learn(frame):
    sums = frame.groupby(["dataset", "learner"])[["n_wrong", "n_test"]].sum()
    errors = (sums["n_wrong"] / sums["n_test"]).unstack()
    for name in SETS:
        shares = np.unique(problem(name).data.y, return_counts=True)[1]
        assert (errors.loc[name].dropna() < 1 - shares.max() / shares.sum()).all()


def test_splits_are_those_of_elr(recorded):
    settings = {"datasets": ["glass2", "corral", "mofn-3-7-10"], "n_repeats": 2, "seed": 7}
    elr_uci_study(structures=["naive"], learners=["ofe"], **settings)
    expected = dict(recorded)
    recorded.clear()
    peer_study(peers=CHEAP, **settings)
    assert recorded == expected
    assert len(expected) == 3 * (2 + 1)  # and one of each set, to count its folds


def test_frequencies_have_the_errors_of_elr_study(monkeypatch):
    network = make_pipeline(EntropyDiscretizer(), BayesNetClassifier("naive", "ofe"))
    monkeypatch.setitem(PEERS, "network", lambda state: network)
    mine = peer_study(SETS, ["network"], 2, seed=3)
    other = elr_uci_study(SETS, ["naive"], ["ofe"], n_repeats=2, seed=3)
    pd.testing.assert_frame_equal(
        mine.drop(columns="learner"), other[["dataset", "repeat", "fold", "n_wrong", "n_test"]]
    )


def test_learners_see_the_training_part_only(monkeypatch):
    monkeypatch.setattr(First, "seen", [])
    monkeypatch.setitem(PEERS, "first", lambda state: First())
    frame = peer_study(["iris"], ["first"], seed=5)
    tested = []
    for row, (train, y, test) in zip(frame.itertuples(), First.seen, strict=True):
        assert len(train) == 120
        assert not set(train) & set(test)
        classes = problem("iris").data.y
        assert (classes[train] == y).all()
        assert row.n_wrong == (classes[test] != np.unique(y)[0]).sum()
        tested += test.tolist()
    assert sorted(tested) == list(range(150))


def test_any_number_of_jobs_and_a_trial_a_peer(frame, monkeypatch, capfd):
    monkeypatch.setattr(elr_peers, "LARGE", 0)
    peers = ["forest", "boosting", "svm_rbf", "svm_paper"]
    made = peer_study(["corral"], peers, seed=4, n_jobs=2)
    expected = frame.query("dataset == 'corral' and learner in @peers")
    pd.testing.assert_frame_equal(made, expected.reset_index(drop=True))
    assert capfd.readouterr().err == ""


def test_others_change_nothing(frame):
    alone = peer_study(["corral"], ["forest", "tree"], n_repeats=2, seed=4).query("repeat == 0")
    both = frame.query("dataset == 'corral' and learner in ['forest', 'tree']")
    merged = alone.merge(both, on=KEYS, validate="1:1")
    assert len(merged) == 10
    assert (merged["n_wrong_x"] == merged["n_wrong_y"]).all()
    assert alone["learner"].tolist()[:2] == ["forest", "tree"]


def test_finished_trials_are_found_again(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOK_RESULTS", str(tmp_path))
    settings = {"datasets": ["glass2", "iris"], "peers": ["tree", "selective"], "seed": 2}
    first = peer_study(**settings)
    monkeypatch.setattr(elr_peers, "fit_predict", None)
    again = peer_study(**settings)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    with pytest.raises(TypeError):
        peer_study(**settings | {"seed": 3})


def test_the_paper_s_kernel_by_hand():
    """(a.b + 1)^2 is the inner product of all products of up to two inputs, duplicates weighted by root 2."""
    data = problem("corral").data
    train, test = np.arange(0, 128, 2), np.arange(1, 128, 2)
    codes = OneHot(constant="drop").fit(data.X.iloc[train])
    A, B = (codes.transform(data.X.iloc[rows]).to_numpy(float) for rows in (train, test))

    def products(X):
        constant = np.ones((len(X), 1))
        return np.hstack([constant, np.sqrt(2) * X, np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)])

    linear = SVC(kernel="linear", C=0.05, tol=1e-8).fit(products(A), data.y[train])
    quadratic = quadratic_svm().set_params(tol=1e-8).fit(A, data.y[train])
    expected = linear.decision_function(products(B))
    np.testing.assert_allclose(quadratic.decision_function(B), expected, atol=1e-6)
    learner = PEERS["svm_paper"](0).fit(data.X.iloc[train], data.y[train])
    np.testing.assert_allclose(learner.decision_function(data.X.iloc[test]), expected, atol=0.01)


def test_numbers_of_the_file():
    X = pd.DataFrame(
        {
            "number": [3.5, 1e5, 0.0],
            "coded": pd.Categorical(["10", "2", "2"], categories=["10", "2"]),
            "letters": pd.Categorical(["b", "a", "b"], categories=["a", "b", "c"]),
            "truth": [True, False, True],
            "lost": pd.Categorical(["1", None, "3"]),
        }
    )
    expected = [[3.5, 10, 1, 1, 1], [1e5, 2, 0, 0, np.nan], [0, 2, 1, 1, 3]]
    np.testing.assert_array_equal(numbers_in_file(X), expected)


def test_standardised_numbers():
    X = pd.DataFrame({"a": [1.0, 2.0, 6.0], "same": [5.0] * 3, "b": [True, False, True]})
    made = StandardisedNumbers().fit(X).transform(X)
    assert abs(made["a"].mean()) < 1e-12
    assert abs(made["a"].std(ddof=0) - 1) < 1e-12
    assert made["same"].tolist() == [0.0] * 3
    assert made["b"].tolist() == X["b"].tolist()


class TestTuned:
    def test_the_best_of_the_grid_is_fitted_to_all_rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 2))
        y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
        learner = Tuned(SVC(), {"kernel": ["linear", "rbf"]}, n_rows=200, random_state=1).fit(X, y)
        assert learner.learner_.kernel == "rbf"
        assert learner.learner_.shape_fit_ == X.shape
        assert (learner.predict(X) == y).mean() > 0.9

    def test_with_one_class_in_the_part_the_first_is_taken(self):
        y = np.array(["a"] * 99 + ["b"])
        learner = Tuned(SVC(C=7.0), {"C": [1.0, 2.0]}, n_rows=5, random_state=0).fit(np.arange(100.0)[:, None], y)
        assert learner.learner_.C == 1.0

    def test_a_class_that_folds_lack(self):
        X, y = np.arange(30.0)[:, None], np.array(["a"] * 15 + ["b"] * 14 + ["c"])
        assert set(Tuned(SVC(), {"C": [1.0, 100.0]}, random_state=0).fit(X, y).predict(X)) <= {"a", "b", "c"}


def test_a_class_of_one_row_and_a_constant_column(monkeypatch):
    rng = np.random.default_rng(1)
    y = np.array(["a"] * 30 + ["b"] * 29 + ["c"])
    X = pd.DataFrame({"number": rng.normal(size=60), "same": 1.0, "truth": y == "a", "one": pd.Categorical(["u"] * 60)})
    data = type("Data", (), {"X": X, "y": y, "sha256": ("0",), "name": "made"})
    made = Problem("made", data, None, "folds")
    monkeypatch.setattr(elr_peers, "problems", lambda names: ([made], {}))
    monkeypatch.setattr(elr_peers, "loaded", lambda name: made)
    frame = peer_study(["made"])
    assert (frame.groupby("learner")["n_wrong"].sum() <= 5).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"peers": ["forrest"]}, "did you mean 'forest'"),
        ({"peers": []}, "peers must hold at least one"),
        ({"peers": ["tree", "tree"]}, "each learner once"),
        ({"datasets": ["corall"]}, "did you mean 'corral'"),
        ({"datasets": ["corral", "iris"], "peers": ["svm_paper"]}, "3 classes, for iris"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"seed": -1}, "seed"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_arguments(arguments, words, monkeypatch):
    monkeypatch.setattr(elr_peers, "run_cases", None)
    with pytest.raises(ValueError, match=words):
        peer_study(**{"datasets": ["corral"]} | arguments)
