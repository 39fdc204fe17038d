"""Cross-validation on real data: folds, and learners in them, by independent computation."""

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
from lib.trials.source_key import describe

pytestmark = pytest.mark.usefixtures("in_this_process")  # they look at what learners are given

KEYS = ["dataset", "repeat", "fold", "learner"]
GUESS = DummyClassifier(strategy="uniform")
LEARNERS = {"guess": GUESS, "bayes": uci_learner("naive_bayes", "iris")}
SMALL = {
    "datasets": ("soybean-small", "iris"),
    "learners": LEARNERS,
    "n_repeats": 4,
    "n_folds": 3,
    "n_jobs": 1,
}
CALLS = []  # of FoldObserver: training rows, their classes and test rows


class FoldObserver(ClassifierMixin, BaseEstimator):
    """Notes which rows it is given to learn and to predict, by the index of the DataFrame."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        CALLS.append([X.index.to_numpy(), np.asarray(y)])
        return self

    def predict(self, X):
        CALLS[-1].append(X.index.to_numpy())
        return np.full(len(X), self.classes_[0])


def folds_of(dataset, n_repeats=1, n_folds=5, seed=0):
    """Training rows in the order of presentation, their classes, and test rows, of each fold."""
    CALLS.clear()
    learners = {"observer": FoldObserver()}
    uci_confusions([dataset], learners, n_repeats, n_folds=n_folds, seed=seed, n_jobs=1)
    return [tuple(call) for call in CALLS]


def table(X, y, name="tiny"):
    """A data set of one's own."""
    return replace(datasets.load("iris"), name=name, X=pd.DataFrame(X), y=np.array(y), n_train=None)


@pytest.fixture
def tiny(monkeypatch):
    """Makes `load` know only one data set."""

    def replace_load(dataset):
        monkeypatch.setattr(datasets, "load", lambda name: dataset)

    return replace_load


@pytest.fixture(scope="module")
def counts():
    return uci_confusions(**SMALL)


def assert_same_rows(frame, expected, keys):
    """The same numbers in the same rows, in any order."""
    frame = frame.sort_values(keys, ignore_index=True)
    expected = expected.sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(frame, expected, check_exact=True)


class TestFolds:
    @given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 2**32))
    def test_are_a_partition(self, n_rows, n_folds, seed):
        """Their sizes are those of scikit-learn's KFold."""
        n_folds = min(n_rows, n_folds)
        folds = uci.shuffled_folds(n_rows, n_folds, np.random.default_rng(seed))
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(n_rows))
        peer_folds = KFold(n_folds).split(np.empty(n_rows))
        assert [len(test) for _, test in folds] == [len(test) for _, test in peer_folds]
        for train, test in folds:
            assert sorted([*train, *test]) == list(range(n_rows))

    def test_learners_get_training_rows_and_the_other_rows_to_predict(self):
        y = datasets.load("iris").y
        all_folds = folds_of("iris", 2)
        assert len(all_folds) == 10
        for folds in (all_folds[:5], all_folds[5:]):
            assert sorted(np.concatenate([test for *_, test in folds])) == list(range(150))
            for train, labels, test in folds:
                assert sorted([*train, *test]) == list(range(150))
                np.testing.assert_array_equal(labels, y[train])

    def test_breast_has_its_complete_rows_only(self):
        train, _, test = folds_of("breast")[0]
        data = datasets.load("breast")
        complete = experiments.load_prepared("breast")
        assert len(data.y) == 699
        assert len(complete.y) == len(train) + len(test) == 683
        assert not complete.X.isna().any(axis=None)
        np.testing.assert_array_equal(complete.y, data.y[data.X.notna().all(axis=1)])
        assert experiments.load_prepared("vote").X.isna().any(axis=None)


class TestFrame:
    def test_columns(self, counts):
        assert counts.columns.tolist() == [*KEYS, "predicted", "actual", "count"]
        assert uci_comparison(**SMALL).columns.tolist() == [*KEYS, "accuracy"]

    def test_actual_classes_are_those_of_the_data(self, counts):
        sums = counts.groupby(["dataset", "repeat", "learner", "actual"])["count"].sum()
        for name in SMALL["datasets"]:
            expected = collections.Counter(datasets.load(name).y)
            for _, class_counts in sums[name].groupby(level=["repeat", "learner"]):
                assert class_counts.droplevel([0, 1]).to_dict() == expected

    def test_accuracies_are_the_parts_on_the_diagonal(self, counts):
        n_correct = collections.Counter()
        n_rows = collections.Counter()
        for *key, predicted, actual, count in counts.itertuples(index=False):
            n_rows[tuple(key)] += count
            if predicted == actual:
                n_correct[tuple(key)] += count
        frame = uci_comparison(**SMALL)
        assert len(frame) == len(n_rows)
        for *key, accuracy in frame.itertuples(index=False):
            assert accuracy == n_correct[tuple(key)] / n_rows[tuple(key)]
        pd.testing.assert_frame_equal(experiments.accuracies(counts), frame, check_exact=True)

    @pytest.mark.parametrize(
        ("changes", "column", "values"),
        [
            ({"datasets": ("vote", "iris", "soybean-small")}, "dataset", SMALL["datasets"]),
            ({"learners": {"another": GUESS, **LEARNERS}}, "learner", tuple(LEARNERS)),
            ({"n_repeats": 6}, "repeat", range(4)),
        ],
    )
    def test_what_is_added_changes_no_other_row(self, counts, changes, column, values):
        extended_counts = uci_confusions(**SMALL | changes)
        assert len(extended_counts) > len(counts)
        common_rows = extended_counts[extended_counts[column].isin(values)]
        assert_same_rows(common_rows, counts, [*KEYS, "predicted", "actual"])

    def test_learners_without_a_random_state_get_one_of_their_own(self):
        fixed_guess = DummyClassifier(strategy="uniform", random_state=7)
        learners = {"a": GUESS, "b": GUESS, "c": fixed_guess, "d": fixed_guess}
        frame = uci_comparison("iris", learners, 2, n_jobs=1)
        accuracies = frame.pivot(index=["repeat", "fold"], columns="learner", values="accuracy")
        assert (accuracies["a"] != accuracies["b"]).any()
        assert (accuracies["c"] == accuracies["d"]).all()

    def test_learners_by_name_or_as_classifiers_are_the_same(self):
        names = ("winnow", "naive_bayes_boolean", "naive_bayes")
        by_name = uci_comparison("glass", names, 1, n_folds=2, n_jobs=1, bins="means")
        classifiers = {name: uci_learner(name, "glass", "means") for name in names}
        by_classifier = uci_comparison("glass", classifiers, 1, n_folds=2, n_jobs=1)
        pd.testing.assert_frame_equal(by_name, by_classifier, check_exact=True)
        with_paper_bins = uci_comparison("glass", names, 1, n_folds=2, n_jobs=1)
        assert not by_name["accuracy"].equals(with_paper_bins["accuracy"])


class TestPeers:
    """On the votes, whose one-hot codes pandas makes too: the same accuracy in every fold."""

    @pytest.fixture(scope="class")
    @classmethod
    def votes(cls):
        data = datasets.load("vote")
        folds = folds_of("vote", 2, seed=5)
        codes = pd.get_dummies(data.X, dummy_na=True).to_numpy(dtype=bool)
        assert codes.shape == (435, 48)
        # lib has codes of the values that training rows have: these are all
        assert all(codes[train].any(axis=0).all() for train, _, _ in folds)
        frame = uci_comparison("vote", ["winnow", "naive_bayes_boolean"], 2, seed=5, n_jobs=1)
        accuracies = frame.pivot(index=["repeat", "fold"], columns="learner", values="accuracy")
        return codes, data.y, folds, accuracies

    def test_naive_bayes_is_that_of_scikit_learn(self, votes):
        codes, y, folds, accuracies = votes
        peer_accuracies = []
        for train, _, test in folds:
            peer = BernoulliNB().fit(codes[train], y[train])
            peer_accuracies.append(peer.score(codes[test], y[test]))
        np.testing.assert_array_equal(accuracies["naive_bayes_boolean"], peer_accuracies)

    def test_winnow_is_the_plain_algorithm_in_the_order_of_presentation(self, votes):
        codes, y, folds, accuracies = votes
        threshold = 24
        rule = (2.0, 0.5, threshold, 1.0, 0.0, True, 1)
        plain_accuracies = []
        for train, labels, test in folds:
            all_weights, _ = plain_winnow(codes[train].tolist(), labels == "republican", *rule)
            weights = all_weights[-1]
            is_predicted = codes[test] @ weights >= threshold
            plain_accuracies.append((is_predicted == (y[test] == "republican")).mean())
        np.testing.assert_array_equal(accuracies["winnow"], plain_accuracies)
        assert len(set(plain_accuracies)) > 3


class TestInsideTheFold:
    @pytest.mark.parametrize("bins", ["paper", "means", "entropy"])
    def test_nothing_is_fitted_to_test_rows(self, monkeypatch, bins):
        name = "pima"  # has no printed bins
        training_rows = [set(train) for train, _, _ in folds_of(name, n_folds=2)]
        fits = []
        for learner in (OneHot, EntropyDiscretizer, ClassSeparatingCuts, SimpleImputer, NaiveBayes):
            monkeypatch.setattr(learner, "fit", note_rows(learner.fit, fits))
        n_fits_by_learner = {
            "winnow": 2,
            "naive_bayes": 1,
            "tree": 1,
            "naive_bayes_multinomial": 17,  # tuned in folds of the training rows
        }
        for learner, n_fits in n_fits_by_learner.items():
            fits.clear()
            uci_comparison(name, [learner], 1, n_folds=2, n_jobs=1, bins=bins)
            assert len(fits) == 2 * n_fits
            for fold, train in enumerate(training_rows):
                fits_of_fold = fits[fold * n_fits : (fold + 1) * n_fits]
                assert all(rows <= train for rows in fits_of_fold)
                assert fits_of_fold[0] == fits_of_fold[-1] == train

    def test_labels_of_test_rows_change_no_prediction(self, tiny):
        iris = datasets.load("iris")
        _, _, test = folds_of("iris")[0]
        shuffled_y = iris.y.copy()
        shuffled_y[test] = np.roll(shuffled_y[test], 11)
        assert (shuffled_y != iris.y).any()

        def predictions(y):
            """How often each learner predicts each class in the first fold."""
            tiny(replace(iris, y=y))
            learners = ["winnow", "naive_bayes", "tree"]
            counts = uci_confusions("iris", learners, 1, n_jobs=1, bins="entropy")
            first_fold = counts[counts["fold"] == 0]
            return first_fold.groupby(["learner", "predicted"])["count"].sum()

        pd.testing.assert_series_equal(predictions(iris.y), predictions(shuffled_y))

    @pytest.mark.parametrize("kind", ["category", "object"])
    @pytest.mark.parametrize("rare", ["z", None])
    def test_a_value_in_test_rows_only(self, tiny, kind, rare):
        """The first row alone has the rare value, so one training set lacks it."""
        color = pd.Series([rare, *"xxxxxyyyyyy"], dtype=kind)
        number = [1.0 if rare else np.nan, *np.arange(11.0)]
        tiny(table({"color": color, "number": number}, ["a"] * 6 + ["b"] * 6))
        names = ["winnow", "naive_bayes_boolean", "naive_bayes_multinomial", "naive_bayes", "tree"]
        counts = uci_confusions("tiny", names, 1, n_folds=2, n_jobs=1, bins="means")
        assert counts.groupby("learner")["count"].sum().tolist() == [12, 12, 12, 12, 12]

    def test_a_class_that_training_rows_lack_is_never_predicted(self, tiny):
        X = {"x": list("uuuuuuvvvvvw"), "y": list("stststststst")}
        tiny(table(X, list("aaaaaabbbbbc")))
        names = ["winnow", "naive_bayes_boolean", "naive_bayes"]
        counts = uci_confusions("tiny", names, 1, n_folds=3, n_jobs=1)
        # the one row of class c is in one test fold
        held_out = counts[counts["actual"] == "c"]
        assert held_out.groupby("learner")["count"].sum().tolist() == [1, 1, 1]
        assert (held_out["predicted"] != "c").all()
        for _, row in held_out.iterrows():
            fold = counts[(counts[KEYS] == row[KEYS]).all(axis=1)]
            assert "c" not in set(fold["predicted"])
        accuracy = experiments.accuracies(counts)["accuracy"]
        assert accuracy.between(0, 1).all()

    def test_training_rows_of_one_class_teach_that_class(self, tiny):
        """Where the one row of class b is held out, it is the one of four that is wrong."""
        tiny(table({"x": list("uuuuvvvvvvvw")}, list("aaaaaaaaaaab")))
        names = ["winnow", "naive_bayes", "tree"]
        counts = uci_confusions("tiny", names, 1, n_folds=3, n_jobs=1)
        folds = counts.merge(counts[counts["actual"] == "b"][KEYS], on=KEYS)
        assert folds.groupby("learner").ngroups == 3
        assert (folds["predicted"] == "a").all()
        accuracy = experiments.accuracies(folds)["accuracy"]
        assert (accuracy == 3 / 4).all()

    def test_without_a_second_class_nothing_is_fitted(self, tiny):
        tiny(table({"x": list("uuvvuuvv")}, list("aaaaaaaa")))
        frame = uci_comparison("tiny", {"mine": Unfittable()}, 2, n_folds=4, n_jobs=1)
        assert (frame["accuracy"] == 1).all()


def note_rows(fit, fits):
    """A method `fit` that adds the set of its rows to `fits`."""

    def fit_and_note(self, X, y=None):
        fits.append(set(X.index))
        return fit(self, X, y)

    return fit_and_note


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
            assert describe(learner) == describe(uci_learner(name, dataset))
            learner.fit(data.X.iloc[rows], data.y[rows])
            labels = learner.predict(data.X)
            assert set(labels) <= set(data.y)
            majority = max(collections.Counter(data.y).values())
            assert (labels == data.y).mean() > majority / len(data.y)
            copy = pickle.loads(pickle.dumps(learner))
            np.testing.assert_array_equal(copy.predict(data.X), labels)

    def test_boolean_learners_get_the_columns_that_vary(self):
        """14 of the 35 attributes are constant."""
        data = datasets.load("soybean-small")
        varying_columns = [
            name for name, column in data.X.items() if column.nunique(dropna=False) > 1
        ]
        codes = make_pipeline(*boolean_inputs("soybean-small")).fit(data.X, data.y)
        assert len(varying_columns) == 21
        assert list(codes[-1].categories_) == varying_columns
        assert set(codes.transform(data.X).dtypes.map(str)) == {"bool"}

    @pytest.mark.parametrize(
        ("bins", "cutter"), [("means", ClassSeparatingCuts), ("entropy", EntropyDiscretizer)]
    )
    def test_bins_by_rule_are_those_of_the_transformer(self, bins, cutter):
        iris = datasets.load("iris")
        codes = make_pipeline(*boolean_inputs("iris", bins)).fit_transform(iris.X, iris.y)
        expected = OneHot().fit_transform(cutter().fit_transform(iris.X, iris.y))
        pd.testing.assert_frame_equal(codes, expected)

    def test_a_missing_value_has_a_code_but_for_printed_bins(self):
        """Printed bins of petal lengths have a gap: there 3 of 4 attributes have a code."""
        X = pd.DataFrame({"x": [0.0, 1.0, 8.0, 9.0, np.nan]})
        y = np.array(list("aabbb"))
        codes = make_pipeline(*boolean_inputs("elsewhere", "means")).fit_transform(X, y)
        assert codes.sum(axis=1).tolist() == [1, 1, 1, 1, 1]
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
        original = X.copy()
        result = missing_as_value(X)
        assert result["c"].tolist() == ["u", "missing", "v"]
        assert result["c"].cat.categories.tolist() == ["u", "v", "w", "missing"]
        pd.testing.assert_frame_equal(result[["full", "x"]], X[["full", "x"]])
        pd.testing.assert_frame_equal(X, original)

    def test_numeric_inputs(self):
        """Numbers, with their mean for missing ones, then codes of values; no constants."""
        X = pd.DataFrame(
            {"c": list("uvu"), "x": [1.0, np.nan, 3.0], "k": list("sss"), "n": [1, 2, 6]}
        )
        inputs = numeric_inputs().fit(X)
        expected = [[1, 1, 1, 0], [2, 2, 0, 1], [3, 6, 1, 0]]
        np.testing.assert_array_equal(inputs.transform(X), expected)
        new_X = pd.DataFrame({"c": ["w"], "x": [np.nan], "k": ["t"], "n": [9]})
        np.testing.assert_array_equal(inputs.transform(new_X), [[2, 9, 0, 0]])
        numbers = X[["n", "x"]]
        np.testing.assert_array_equal(numeric_inputs().fit_transform(numbers)[1], [2, 2])
        skewed_X = pd.DataFrame({"x": [1.0, 1.0, np.nan, 7.0]})
        assert numeric_inputs().fit_transform(skewed_X)[2] == [3]
        no_numbers = pd.DataFrame({"x": [np.nan, np.nan]})
        np.testing.assert_array_equal(numeric_inputs().fit_transform(no_numbers), [[0], [0]])


def test_means_of_families():
    values = pd.Series({"heart": 1.0, "iris": 5.0, "cleve": 2.0, "shuttle-small": 3.0})
    expected = {"cleve": 1.5, "iris": 5.0, "shuttle-small": 3.0}
    assert experiments.mean_by_family(values).to_dict() == expected
    assert experiments.mean_by_family(pd.Series({"diabetes": 1.0, "pima": 2.0})).to_list() == [1.5]
    assert experiments.mean_by_family(values[:0]).empty
