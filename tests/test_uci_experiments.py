"""Cross-validation on real data: the folds, the learners in them, and what Atlas prints, by independent computation."""

import collections
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from test_errors import Unfittable
from test_winnow import plain_winnow

from lib import datasets, experiments
from lib.discretize import ClassSeparatingCuts, EntropyDiscretizer, OneHot
from lib.experiments import UCI_LEARNERS, uci, uci_comparison, uci_confusions, uci_learner
from lib.experiments.uci_learners import boolean_inputs, missing_as_value, numeric_inputs
from lib.naive_bayes import NaiveBayes
from lib.trials.description import describe, digest

pytestmark = pytest.mark.usefixtures("in_this_process")  # they look at what learners are given

KEYS = ["dataset", "repeat", "fold", "learner"]
OWN = {"guess": DummyClassifier(strategy="uniform"), "bayes": uci_learner("naive_bayes", "iris")}
SMALL = {
    "datasets": ("soybean-small", "iris"),
    "learners": OWN,
    "n_repeats": 4,
    "n_folds": 3,
    "n_jobs": 1,
}
SEEN = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes which rows it is given to learn and to predict, by the index of the DataFrame."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        SEEN.append([X.index.to_numpy(), np.asarray(y)])
        return self

    def predict(self, X):
        SEEN[-1].append(X.index.to_numpy())
        return np.full(len(X), self.classes_[0])


def folds_of(dataset, n_repeats=1, **changes):
    """Training rows in the order of presentation, their classes, and test rows, of each fold."""
    SEEN.clear()
    uci_confusions([dataset], {"recorder": Recorder()}, n_repeats, n_jobs=1, **changes)
    return [tuple(entry) for entry in SEEN]


def table(X, y, name="tiny"):
    """A data set of one's own."""
    return replace(datasets.load("iris"), name=name, X=pd.DataFrame(X), y=np.array(y), n_train=None)


@pytest.fixture
def tiny(monkeypatch):
    """Makes `load` know only the given data set."""
    return lambda dataset: monkeypatch.setattr(datasets, "load", lambda name: dataset)


@pytest.fixture(scope="module")
def counts():
    return uci_confusions(**SMALL)


def same_rows(frame, other, keys):
    frame, other = (f.sort_values(keys, ignore_index=True) for f in (frame, other))
    pd.testing.assert_frame_equal(frame, other, check_exact=True)


class TestFolds:
    @given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 2**32))
    def test_are_a_partition(self, n_rows, n_folds, seed):
        n_folds = min(n_rows, n_folds)
        folds = uci.shuffled_folds(n_rows, n_folds, np.random.default_rng(seed))
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(n_rows))
        assert [len(test) for _, test in folds] == [
            len(t) for _, t in KFold(n_folds).split(np.empty(n_rows))
        ]
        for train, test in folds:
            assert sorted([*train, *test]) == list(range(n_rows))

    def test_learners_get_training_rows_and_the_other_rows_to_predict(self):
        y = datasets.load("iris").y
        for repeat in np.array_split(np.arange(10), 2):
            folds = [folds_of("iris", 2)[i] for i in repeat]
            assert sorted(np.concatenate([test for *_, test in folds])) == list(range(150))
            for train, labels, test in folds:
                assert sorted([*train, *test]) == list(range(150))
                np.testing.assert_array_equal(labels, y[train])

    def test_breast_has_its_complete_rows_only(self):
        (train, _, test), *_ = folds_of("breast")
        whole, kept = datasets.load("breast"), experiments.load_prepared("breast")
        assert (len(whole.y), len(kept.y), len(train) + len(test)) == (699, 683, 683)
        assert not kept.X.isna().any(axis=None)
        np.testing.assert_array_equal(kept.y, whole.y[whole.X.notna().all(axis=1)])
        assert experiments.load_prepared("vote").X.isna().any(axis=None)


class TestFrame:
    def test_columns(self, counts):
        assert counts.columns.tolist() == [*KEYS, "predicted", "actual", "count"]
        assert uci_comparison(**SMALL).columns.tolist() == [*KEYS, "accuracy"]

    def test_actual_classes_are_those_of_the_data(self, counts):
        found = counts.groupby(["dataset", "repeat", "learner", "actual"])["count"].sum()
        for name in SMALL["datasets"]:
            expected = collections.Counter(datasets.load(name).y)
            for _, part in found[name].groupby(level=["repeat", "learner"]):
                assert part.droplevel([0, 1]).to_dict() == expected

    def test_accuracies_are_the_parts_on_the_diagonal(self, counts):
        right, all_ = collections.Counter(), collections.Counter()
        for *key, predicted, actual, count in counts.itertuples(index=False):
            all_[tuple(key)] += count
            right[tuple(key)] += count if predicted == actual else 0
        made = uci_comparison(**SMALL)
        assert len(made) == len(all_)
        for *key, accuracy in made.itertuples(index=False):
            assert accuracy == right[tuple(key)] / all_[tuple(key)]
        pd.testing.assert_frame_equal(experiments.accuracies(counts), made, check_exact=True)

    @pytest.mark.parametrize(
        ("more", "kept"),
        [
            (
                {"datasets": ("vote", "iris", "soybean-small")},
                {"dataset": ("iris", "soybean-small")},
            ),
            (
                {"learners": {"another": DummyClassifier(strategy="uniform"), **OWN}},
                {"learner": tuple(OWN)},
            ),
            ({"n_repeats": 6}, {"repeat": range(4)}),
        ],
    )
    def test_what_is_added_changes_no_other_row(self, counts, more, kept):
        made = uci_confusions(**{**SMALL, **more})
        (column, values), *_ = kept.items()
        assert len(made) > len(counts)
        same_rows(made[made[column].isin(values)], counts, [*KEYS, "predicted", "actual"])

    def test_learners_without_a_random_state_get_one_of_their_own(self):
        guess = {"a": DummyClassifier(strategy="uniform"), "b": DummyClassifier(strategy="uniform")}
        fixed = {name: DummyClassifier(strategy="uniform", random_state=7) for name in "cd"}
        made = uci_comparison("iris", guess | fixed, 2, n_jobs=1).pivot(
            index=["repeat", "fold"], columns="learner"
        )
        assert (made["accuracy", "a"] != made["accuracy", "b"]).any()
        assert (made["accuracy", "c"] == made["accuracy", "d"]).all()

    def test_learners_by_name_or_as_classifiers_are_the_same(self):
        names = ("winnow", "naive_bayes_boolean", "naive_bayes")
        own, once = (
            {name: uci_learner(name, "glass", "means") for name in names},
            {"n_folds": 2, "n_jobs": 1},
        )
        by_name = uci_comparison("glass", names, 1, bins="means", **once)
        pd.testing.assert_frame_equal(
            by_name, uci_comparison("glass", own, 1, **once), check_exact=True
        )
        assert not by_name["accuracy"].equals(uci_comparison("glass", names, 1, **once)["accuracy"])


class TestPeers:
    """On the votes, whose one-hot codes pandas makes too: the same accuracy in every fold."""

    @pytest.fixture(scope="class")
    @classmethod
    def votes(cls):
        data = datasets.load("vote")
        folds = folds_of("vote", 2, seed=5)
        made = uci_comparison("vote", ["winnow", "naive_bayes_boolean"], 2, seed=5, n_jobs=1)
        codes = pd.get_dummies(data.X, dummy_na=True).to_numpy(dtype=bool)
        assert codes.shape == (435, 48)
        assert all(codes[train].any(axis=0).all() for train, *_ in folds)
        return (
            codes,
            data.y,
            folds,
            made.pivot(index=["repeat", "fold"], columns="learner", values="accuracy"),
        )

    def test_naive_bayes_is_that_of_scikit_learn(self, votes):
        codes, y, folds, made = votes
        peers = [
            BernoulliNB().fit(codes[train], y[train]).score(codes[test], y[test])
            for train, _, test in folds
        ]
        np.testing.assert_array_equal(made["naive_bayes_boolean"], peers)

    def test_winnow_is_the_plain_algorithm_in_the_order_of_presentation(self, votes):
        codes, y, folds, made = votes
        accuracies = []
        for train, labels, test in folds:
            rows, rule = codes[train].tolist(), (2.0, 0.5, 24, 1.0, 0.0, True, 1)
            [*_, weights], _ = plain_winnow(rows, labels == "republican", *rule)
            accuracies.append(((codes[test] @ weights >= 24) == (y[test] == "republican")).mean())
        np.testing.assert_array_equal(made["winnow"], accuracies)
        assert len(set(accuracies)) > 3


class TestInsideTheFold:
    @pytest.mark.parametrize("bins", ["paper", "means", "entropy"])
    def test_nothing_is_fitted_to_test_rows(self, monkeypatch, bins):
        name = "pima"  # has no printed bins
        rows, seen = [set(train) for train, *_ in folds_of(name, n_folds=2)], []
        for learner in (OneHot, EntropyDiscretizer, ClassSeparatingCuts, SimpleImputer, NaiveBayes):
            monkeypatch.setattr(learner, "fit", noted(learner.fit, seen))
        for learner, n_fits in [
            ("winnow", 2),
            ("naive_bayes", 1),
            ("tree", 1),
            ("naive_bayes_multinomial", 17),
        ]:
            seen.clear()
            uci_comparison(name, [learner], 1, n_folds=2, n_jobs=1, bins=bins)
            assert len(seen) == 2 * n_fits
            for fold, train in enumerate(rows):
                fitted = [set(index) for index in seen[fold * n_fits : (fold + 1) * n_fits]]
                assert all(part <= train for part in fitted)
                assert fitted[0] == fitted[-1] == train

    def test_labels_of_test_rows_change_no_prediction(self, tiny):
        iris = datasets.load("iris")
        *_, test = folds_of("iris")[0]
        wrong = iris.y.copy()
        wrong[test] = np.roll(wrong[test], 11)
        assert (wrong != iris.y).any()
        predicted = []
        for y in (iris.y, wrong):
            tiny(replace(iris, y=y))
            made = uci_confusions(
                "iris", ["winnow", "naive_bayes", "tree"], 1, n_jobs=1, bins="entropy"
            )
            predicted.append(
                made[made["fold"] == 0].groupby(["learner", "predicted"])["count"].sum()
            )
        pd.testing.assert_series_equal(*predicted)

    @pytest.mark.parametrize("kind", ["category", "object"])
    @pytest.mark.parametrize("rare", ["z", None])
    def test_a_value_in_test_rows_only(self, tiny, kind, rare):
        color = pd.Series([rare, *"xxxxxyyyyyy"], dtype=kind)
        number = [1.0 if rare else np.nan, *np.arange(11.0)]
        tiny(table({"color": color, "number": number}, ["a"] * 6 + ["b"] * 6))
        names = ["winnow", "naive_bayes_boolean", "naive_bayes_multinomial", "naive_bayes", "tree"]
        made = uci_confusions("tiny", names, 1, n_folds=2, n_jobs=1, bins="means")
        assert made.groupby("learner")["count"].sum().tolist() == [12] * 5

    def test_a_class_that_training_rows_lack_is_never_predicted(self, tiny):
        tiny(
            table(
                {"x": list("uuuuuuvvvvvw"), "y": list("stststststst")},
                ["a"] * 6 + ["b"] * 5 + ["c"],
            )
        )
        made = uci_confusions(
            "tiny", ["winnow", "naive_bayes_boolean", "naive_bayes"], 1, n_folds=3, n_jobs=1
        )
        held_out = made[made["actual"] == "c"]
        assert held_out.groupby("learner")["count"].sum().tolist() == [1] * 3
        assert (held_out["predicted"] != "c").all()
        for _, row in held_out.iterrows():
            fold = made[(made[KEYS] == row[KEYS]).all(axis=1)]
            assert "c" not in set(fold["predicted"])
        accuracy = experiments.accuracies(made)["accuracy"]
        assert accuracy.between(0, 1).all()

    def test_training_rows_of_one_class_teach_that_class(self, tiny):
        tiny(table({"x": list("uuuuvvvvvvvw")}, ["a"] * 11 + ["b"]))
        made = uci_confusions("tiny", ["winnow", "naive_bayes", "tree"], 1, n_folds=3, n_jobs=1)
        folds = made.merge(made[made["actual"] == "b"][KEYS], on=KEYS)
        assert folds.groupby("learner").ngroups == 3
        assert (folds["predicted"] == "a").all()
        accuracy = experiments.accuracies(folds)["accuracy"]
        assert (accuracy == 3 / 4).all()

    def test_without_a_second_class_nothing_is_fitted(self, tiny):
        tiny(table({"x": list("uuvvuuvv")}, ["a"] * 8))
        assert (
            uci_comparison("tiny", {"mine": Unfittable()}, 2, n_folds=4, n_jobs=1)["accuracy"] == 1
        ).all()


def noted(fit, seen):
    def noting(self, X, y=None):
        seen.append(X.index.tolist())
        return fit(self, X, y)

    return noting


def test_a_set_that_cannot_be_had_is_an_error_before_any_fit(monkeypatch):
    load = datasets.load

    def not_available(name):
        if name == "letter":
            raise datasets.NotAvailableError("letter: no files")
        return load(name)

    monkeypatch.setattr(datasets, "load", not_available)
    with pytest.raises(datasets.NotAvailableError, match="letter"):
        uci_comparison(["soybean-small", "letter"], {"unfittable": Unfittable()}, 1, n_jobs=1)


class TestLearners:
    @pytest.mark.parametrize("name", UCI_LEARNERS)
    def test_every_name_can_be_built_copied_fitted_and_stored_with_its_results(self, name):
        for dataset in ("iris", "vote"):
            data = datasets.load(dataset)
            rows = np.random.default_rng(0).permutation(len(data.y))[:45]
            learner = pickle.loads(pickle.dumps(clone(uci_learner(name, dataset))))
            assert digest(describe(learner)) == digest(describe(uci_learner(name, dataset)))
            learner.fit(data.X.iloc[rows], data.y[rows])
            predicted = learner.predict(data.X)
            assert set(predicted) <= set(data.y)
            assert (predicted == data.y).mean() > collections.Counter(data.y).most_common(1)[0][
                1
            ] / len(data.y)
            np.testing.assert_array_equal(
                pickle.loads(pickle.dumps(learner)).predict(data.X), predicted
            )

    def test_boolean_learners_get_the_columns_that_vary(self):
        data = datasets.load("soybean-small")
        varying = [name for name, column in data.X.items() if column.nunique(dropna=False) > 1]
        codes = make_pipeline(*boolean_inputs("soybean-small")).fit(data.X, data.y)
        assert len(varying) == 21
        assert list(codes[-1].categories_) == varying
        assert set(codes.transform(data.X).dtypes.map(str)) == {"bool"}

    @pytest.mark.parametrize(
        ("bins", "cutter"), [("means", ClassSeparatingCuts), ("entropy", EntropyDiscretizer)]
    )
    def test_bins_by_rule_are_those_of_the_transformer(self, bins, cutter):
        iris = datasets.load("iris")
        made = make_pipeline(*boolean_inputs("iris", bins)).fit_transform(iris.X, iris.y)
        expected = OneHot().fit_transform(cutter().fit_transform(iris.X, iris.y))
        pd.testing.assert_frame_equal(made, expected)

    def test_a_missing_value_has_a_code_but_for_printed_bins(self):
        X, y = pd.DataFrame({"x": [0.0, 1.0, 8.0, 9.0, np.nan]}), np.array(list("aabbb"))
        codes = make_pipeline(*boolean_inputs("elsewhere", "means")).fit_transform(X, y)
        assert codes.sum(axis=1).tolist() == [1] * 5
        iris = datasets.load("iris")
        sums = make_pipeline(*boolean_inputs("iris")).fit_transform(iris.X, iris.y).sum(axis=1)
        in_gap = iris.X["petal_length"].between(5, 5.5, inclusive="right")
        np.testing.assert_array_equal(sums, np.where(in_gap, 3, 4))

    def test_missing_as_value(self):
        X = pd.DataFrame(
            {
                "c": pd.Categorical(["u", None, "v"], categories=["u", "v", "w"]),
                "full": pd.Categorical(["u", "u", "v"]),
                "x": [1.0, np.nan, 2.0],
            }
        )
        before = X.copy()
        made = missing_as_value(X)
        assert made["c"].tolist() == ["u", "missing", "v"]
        assert made["c"].cat.categories.tolist() == ["u", "v", "w", "missing"]
        pd.testing.assert_frame_equal(made[["full", "x"]], X[["full", "x"]])
        pd.testing.assert_frame_equal(X, before)

    def test_numeric_inputs(self):
        X = pd.DataFrame(
            {"c": list("uvu"), "x": [1.0, np.nan, 3.0], "k": ["s"] * 3, "n": [1, 2, 6]}
        )
        skewed = pd.DataFrame({"x": [1.0, 1.0, np.nan, 7.0]})
        made = numeric_inputs().fit(X)
        np.testing.assert_array_equal(made.transform(X), [[1, 1, 1, 0], [2, 2, 0, 1], [3, 6, 1, 0]])
        new = pd.DataFrame({"c": ["w"], "x": [np.nan], "k": ["t"], "n": [9]})
        np.testing.assert_array_equal(made.transform(new), [[2, 9, 0, 0]])
        np.testing.assert_array_equal(
            numeric_inputs().fit(X[["n", "x"]]).transform(X[["n", "x"]])[1], [2, 2]
        )
        assert numeric_inputs().fit(skewed).transform(skewed)[2] == [3]
        unknown = pd.DataFrame({"x": [np.nan, np.nan]})
        np.testing.assert_array_equal(numeric_inputs().fit(unknown).transform(unknown), [[0], [0]])
