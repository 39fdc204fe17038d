"""Classifiers with weights of rows, targets of all types, and data that are bad or extreme."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import accuracy_score

from lib.base.estimators import case_weights
from lib.bayes_net import BayesNetClassifier
from lib.ensembles import Bagging
from lib.experts import MixtureOfExperts
from lib.latent_class import LatentClassCovariance, LatentClassEM
from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes
from lib.relevance import VariableKernel
from lib.rules import Ripper
from lib.spelling import ContextBayes, WinSpell
from lib.trees import GainRatioTree
from lib.winnow import Winnow, WinnowEnsemble

SIZE = 60
X = np.random.default_rng(0).integers(0, 2, (SIZE, 4))
Y = X[:, 0] ^ (np.arange(SIZE) % 9 == 0)
ONES = np.ones(SIZE)

WEIGHTED_LEARNERS = {
    "naive Bayes": NaiveBayes(),
    "network": BayesNetClassifier("tan", "elr", n_iterations=3),
    "Winnow": Winnow(1.5, complement=True, average=True, n_passes=2, shuffle=False),
}
OTHER_LEARNERS = {
    "selective": SelectiveNaiveBayes(),
    "ensemble": WinnowEnsemble(n_members=2, random_state=0),
    "experts": MixtureOfExperts(n_restarts=1, random_state=0),
    "EM": LatentClassEM(n_restarts=2, random_state=0),
    "covariance": LatentClassCovariance(),
    "kernel": VariableKernel(n_searches=1),
    "WinSpell": WinSpell(random_state=0),
    "contexts": ContextBayes(),
    "tree": GainRatioTree(),
    "rules": Ripper(random_state=0),
    "bagging": Bagging(GainRatioTree(), n_members=2, random_state=0),
}
weighted_learners = pytest.mark.parametrize(
    "learner", WEIGHTED_LEARNERS.values(), ids=WEIGHTED_LEARNERS
)
classifiers = pytest.mark.parametrize(
    "learner",
    [*WEIGHTED_LEARNERS.values(), *OTHER_LEARNERS.values()],
    ids=[*WEIGHTED_LEARNERS, *OTHER_LEARNERS],
)


def scores(learner, data):
    """Probabilities, or a decision function, of a fitted learner."""
    if hasattr(learner, "predict_proba"):
        return learner.predict_proba(data)
    return learner.decision_function(data)


class TestWeights:
    @weighted_learners
    def test_are_repeated_rows(self, learner):
        weights = np.random.default_rng(1).integers(0, 5, SIZE)
        weighted_scores = scores(learner.fit(X, Y, sample_weight=weights), X)
        repeated_X = np.repeat(X, weights, axis=0)
        repeated_Y = np.repeat(Y, weights)
        expected = scores(learner.fit(repeated_X, repeated_Y), X)
        np.testing.assert_array_equal(weighted_scores, expected)
        assert (weighted_scores != scores(learner.fit(X, Y), X)).any()

    @weighted_learners
    @pytest.mark.parametrize(
        "weights", [None, ONES, [1] * SIZE, ONES / SIZE, 5e-324 * ONES, pd.Series(ONES), 0.25]
    )
    def test_equal_weights_are_none(self, learner, weights):
        """Shares, whose sum is less than the number of rows, are brought to that sum."""
        weighted_scores = scores(learner.fit(X, Y, sample_weight=weights), X)
        np.testing.assert_array_equal(weighted_scores, scores(learner.fit(X, Y), X))

    @weighted_learners
    def test_a_class_without_weight_remains(self, learner):
        three_classes = np.where(np.arange(SIZE) < 5, 2, Y)
        learner.fit(X, three_classes, sample_weight=three_classes < 2)
        assert learner.classes_.tolist() == [0, 1, 2]
        assert (learner.predict(X) < 2).all()
        assert np.isfinite(scores(learner, X)).all()

    @weighted_learners
    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            (np.where(Y, 1, np.nan), "sample_weight contains NaN"),
            (np.where(Y, 1, np.inf), "sample_weight contains infinity"),
            (-ONES, "Negative values in data passed to `sample_weight`"),
            (0 * ONES, "at least one non-zero"),
            (ONES[:3], r"sample_weight.shape == \(3,\), expected \(60,\)"),
            (np.ones((SIZE, 2)), "must be 1D"),
            (1e308 * ONES, "sample_weight must have a finite sum; the largest weight is"),
        ],
    )
    def test_that_mean_nothing_are_refused(self, learner, weights, words):
        with pytest.raises(ValueError, match=words):
            learner.fit(X, Y, sample_weight=weights)

    def test_shares_keep_their_proportions(self):
        """Of three rows with weight, they sum to 3; numbers of rows stay."""
        shares = np.array([0.0, 1, 2, 3]) / 1e9
        np.testing.assert_allclose(case_weights(shares, shares), [0, 0.5, 1, 1.5], rtol=1e-12)
        numbers = np.array([0.0, 1, 2, 7])
        np.testing.assert_array_equal(case_weights(numbers, numbers), numbers)
        assert np.isfinite(case_weights(np.array([1e-320, 1.0]), numbers[:2])).all()


class TestScikitLearnTakesThem:
    @weighted_learners
    def test_boosting_is_its_formula(self, learner):
        """SAMME: the errors of the first member weigh (1 - e) / e times as much in the second."""
        ensemble = AdaBoostClassifier(learner, n_estimators=2, random_state=0).fit(X, Y)
        first, second = ensemble.estimators_
        is_wrong = learner.fit(X, Y).predict(X) != Y
        error = is_wrong.mean()
        weights = np.where(is_wrong, (1 - error) / error, 1.0)
        expected = scores(learner.fit(X, Y, sample_weight=weights / weights.sum()), X)
        np.testing.assert_allclose(scores(second, X), expected, rtol=1e-9)
        assert (expected != scores(first, X)).any()
        assert np.isfinite(ensemble.decision_function(X)).all()

    @weighted_learners
    def test_calibration_passes_them_on(self, learner):
        """The label of attribute 1 counts, not that of attribute 0, whose rows have no weight."""
        target = np.where(np.arange(SIZE) % 2, X[:, 0], X[:, 1])
        weights = (np.arange(SIZE) % 2 == 0).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            calibrated_learner = CalibratedClassifierCV(learner, cv=3).fit(
                X, target, sample_weight=weights
            )
        assert accuracy_score(X[:, 1], calibrated_learner.predict(X)) > 0.9


NULLABLE = {
    "Int64": (pd.Series(Y, dtype="Int64"), "i"),
    "boolean": (pd.Series(Y, dtype="boolean"), "b"),
    "string": (pd.Series(np.array(["no", "yes"])[Y], dtype="string"), "O"),
    "category": (pd.Series(np.array(["no", "yes"])[Y], dtype="category"), "O"),
    "big-endian": (Y.astype(">i8"), "i"),
    "objects": (Y.astype(object), "O"),
}
NO_CLASS = {
    "None": np.where(np.arange(SIZE) == 3, None, np.array(["no", "yes"])[Y]),
    "NaN": np.where(np.arange(SIZE) == 3, np.nan, Y),
    "NA": pd.Series(Y, dtype="Int64").where(np.arange(SIZE) != 3),
    "string": pd.Series(np.array(["no", "yes"])[Y], dtype="string").where(np.arange(SIZE) != 3),
}


class TestTargets:
    @classifiers
    @pytest.mark.parametrize(("y", "kind"), NULLABLE.values(), ids=NULLABLE)
    def test_keep_their_type(self, learner, y, kind):
        learner.fit(X, y)
        labels = learner.predict(X)
        assert learner.classes_.dtype.kind == labels.dtype.kind == kind
        assert set(labels) <= set(np.asarray(y))

    @classifiers
    @pytest.mark.parametrize("y", NO_CLASS.values(), ids=NO_CLASS)
    def test_one_error_for_a_row_without_class(self, learner, y):
        with pytest.raises(ValueError, match="y contains NaN: no class is given in row 3"):
            learner.fit(X, y)

    @classifiers
    @pytest.mark.parametrize(
        "form", [np.array, lambda y: y.astype(object), lambda y: pd.Series(y, dtype="Float64")]
    )
    def test_numbers_to_be_predicted_are_no_classes(self, learner, form):
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            learner.fit(X, form(Y + 0.5))

    def test_pieces_take_what_the_whole_takes(self):
        y = pd.Series(Y, dtype="Int64")
        classes = pd.Series([1, 0], dtype="Int64")
        learner = Winnow().partial_fit(X, y, classes=classes)
        learner.partial_fit(X, y.astype(float))
        assert learner.classes_.dtype.kind == "i"
        assert learner.classes_.tolist() == [0, 1]
        with pytest.raises(ValueError, match="y contains NaN: no class is given in row 3"):
            learner.partial_fit(X, NO_CLASS["NA"])


def read_only(values):
    copy = values.copy()
    copy.setflags(write=False)
    return copy


def mixed_indices():
    """Sparse rows whose two arrays of indices have different types."""
    rows = sparse.csr_array(X)
    rows.indptr = rows.indptr.astype(np.int64)
    rows.indices = rows.indices.astype(np.int32)
    return rows


FORMS = {
    "read-only": read_only(X),
    "Fortran": np.asfortranarray(X),
    "booleans": X.astype(bool),
    "list": X.tolist(),
    "nullable": pd.DataFrame(X, columns=list("abcd"), dtype="Int64"),
    "sparse": sparse.coo_array(X),
    "mixed indices": mixed_indices(),
    "constant": np.ones((SIZE, 2), int),
    "negative": -X,
    "huge": 1e300 * X,
    "identifiers": np.arange(SIZE)[:, None],
    "text": np.arange(SIZE).astype(str)[:, None],
    "one row": X[:1],
    "empty": X[:0],
    "no column": X[:, :0],
    "one dimension": X[:, 0],
    "short": X[:9],
    "infinite": np.where(X, np.inf, 0.0),
    "missing": np.where(X, 1.0, np.nan),
    "dates": pd.DataFrame({"d": pd.date_range("2020", periods=SIZE)}),
}
REFUSALS = {
    "negative": "must hold only 0 and 1",
    "huge": "must hold only 0 and 1",
    "identifiers": "must hold only 0 and 1",
    "text": "must hold only 0 and 1|could not convert|is text, but 60 of its 60 values are numbers",
    "one row": "minimum of 2|two classes",
    "empty": "0 sample",
    "no column": "0 feature",
    "one dimension": "Expected 2D array",
    "short": "inconsistent numbers of samples",
    "infinite": "infinity",
    "missing": "NaN",
    "dates": "dtype datetime64|must hold only 0 and 1",
    "sparse": "[Ss]parse",
    "mixed indices": "[Ss]parse",
}
LEARNERS = {
    **WEIGHTED_LEARNERS,
    "selective": OTHER_LEARNERS["selective"],
    "experts": OTHER_LEARNERS["experts"],
    "sparse Winnow": Winnow(random_state=0),
    "ensemble": OTHER_LEARNERS["ensemble"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore")
def test_strange_data_are_learned_or_refused(name, form):
    """An error in words, or finite numbers; where the data are those of X, its numbers.

    The error is a ValueError, or a TypeError of sparse data.
    """
    learner = LEARNERS[name]
    data = FORMS[form]
    y = Y[:1] if form == "one row" else Y
    try:
        learner.fit(data, y)
    except (ValueError, TypeError) as error:
        assert re.search(REFUSALS.get(form, "none is expected"), str(error)), error  # noqa: PT017
        return
    numbers = scores(learner, data)
    assert np.isfinite(numbers).all()
    if hasattr(learner, "predict_proba"):
        np.testing.assert_allclose(numbers.sum(axis=1), 1, rtol=1e-12)
    if form in ("read-only", "Fortran", "list", "nullable", "sparse", "mixed indices"):
        np.testing.assert_allclose(numbers, scores(learner.fit(X, Y), X), rtol=1e-9)
