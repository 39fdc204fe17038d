"""Ensembles: Table 1 step by step, scikit-learn's, codes by their distances, identities."""

import pickle
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from pairs import pairs
from scipy.integrate import quad
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from lib import datasets
from lib.ensembles import (
    AdaBoostM1,
    AdaBoostM2,
    AdaBoostOC,
    Bagging,
    OutputCode,
    bags,
    bayesian_weights,
    exhaustive_code,
    gate,
    inverse_variance_weights,
    likelihood_vote,
    log_vote_likelihoods,
    random_code,
)
from lib.experts import MixtureOfExperts
from lib.naive_bayes import NaiveBayes
from lib.trees import GainRatioTree
from lib.winnow import Winnow

TREE = GainRatioTree()
ENSEMBLES = [
    Bagging(TREE, 3),
    Bagging(DecisionTreeClassifier(), 3, "committees"),
    AdaBoostM1(TREE, 3),
    OutputCode(TREE),
    AdaBoostOC(TREE, 12),
    AdaBoostM2(TREE, 3),
]
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


@pytest.fixture(scope="module")
def glass():
    data = datasets.load("glass")
    test = np.arange(len(data.y)) % 3 == 0
    return data.X[~test], data.y[~test], data.X[test], data.y[test]


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_same_seed_same_ensemble_and_pickles(glass, ensemble):
    X, y, new, _ = glass
    ensemble.set_params(random_state=1)
    first = ensemble.fit(X, y).predict_proba(new)
    second = ensemble.fit(X, y).predict_proba(new)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first.sum(axis=1), 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ensemble)).predict_proba(new), first)


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_data_that_tell_little(ensemble):
    """One class, a constant column, a column without values, a category that was never seen."""
    X = pd.DataFrame({"a": [1.0] * 6, "b": [np.nan] * 6, "c": pd.Categorical(list("xyxyxy"))})
    if isinstance(ensemble.learner, DecisionTreeClassifier):
        X = X[["a"]]
    assert set(ensemble.fit(X, ["q"] * 6).predict(X)) == {"q"}
    with pytest.raises(NotFittedError):
        type(ensemble)(TREE).predict(X)
    ensemble.fit(X, list("ababab"))
    new = X.assign(c=pd.Categorical(["z"] * 6)) if "c" in X else X
    assert set(ensemble.predict(new)) <= {"a", "b"}


BITS = np.random.default_rng(0).integers(0, 2, (40, 4))
# of which the first has no probabilities, and the last takes no weights
REFUSING_ONE_CLASS = [
    Winnow(shuffle=False),
    LogisticRegression(),
    MixtureOfExperts(n_restarts=1, max_iterations=5),
]
VOTING = [
    Bagging,
    partial(Bagging, sampling="committees"),
    AdaBoostM1,
    AdaBoostOC,
    partial(OutputCode, decode="bits", bagged=True),
]
SOFT = [partial(Bagging, average=True), AdaBoostM2, OutputCode]
ONE_CLASS = pairs(VOTING, REFUSING_ONE_CLASS) + pairs(SOFT, REFUSING_ONE_CLASS[1:])
ONE_CLASS += [(partial(AdaBoostM1, sampling=False), learner) for learner in REFUSING_ONE_CLASS[:2]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "learner"), ONE_CLASS)
def test_samples_may_have_one_class(kind, learner):
    ensemble = kind(learner, random_state=0).fit(BITS, ["q"] * 40)
    np.testing.assert_array_equal(ensemble.predict_proba(BITS), np.ones((40, 1)))
    # a single row of the second class, which a third of the bootstrap replicates lack
    rare = ["p"] * 39 + ["q"]
    for seed in range(3):
        probability = kind(learner, random_state=seed).fit(BITS, rare).predict_proba(BITS)
        np.testing.assert_allclose(probability.sum(axis=1), 1)


@pytest.mark.parametrize("learner", [TREE, *REFUSING_ONE_CLASS[:2]], ids=str)
def test_a_member_that_knows_one_class_of_three_votes_for_it_alone(learner, monkeypatch):
    y = np.resize(["a", "b", "c"], 40)
    samples = [np.flatnonzero(y == "b"), np.arange(40)]
    monkeypatch.setattr("lib.ensembles.bagging.bags", lambda *_: samples)
    is_soft = hasattr(learner, "predict_proba")
    ensemble = Bagging(learner, 2, average=is_soft, random_state=0).fit(BITS, y)
    alone = Bagging(learner, 1, "none", average=is_soft, random_state=0)
    monkeypatch.undo()
    all_classes = alone.fit(BITS, y).predict_proba(BITS)
    np.testing.assert_allclose(ensemble.predict_proba(BITS), (all_classes + [0, 1, 0]) / 2)


@pytest.mark.parametrize(
    ("decode", "learner"),
    [
        *(("bits", learner) for learner in (TREE, *REFUSING_ONE_CLASS)),
        *(("probabilities", learner) for learner in (TREE, *REFUSING_ONE_CLASS[1:])),
    ],
)
def test_constant_bits_of_a_code_do_not_count(decode, learner):
    y = np.resize([0, 1, 2], 40)
    code = np.array([[0, 1], [1, 0], [0, 0]])
    constants = np.repeat([[1, 0]], 3, axis=0)
    plain = OutputCode(learner, code, decode=decode, random_state=0)
    padded = OutputCode(learner, np.hstack([code, constants]), decode=decode, random_state=0)
    # a bit that each word has, and each member predicts, adds 1 to all scores
    expected = plain.fit(BITS, y).decision_scores(BITS) + 2
    np.testing.assert_allclose(padded.fit(BITS, y).decision_scores(BITS), expected)


PLAIN = np.random.default_rng(0).normal(size=(12, 2))
CLASSES = np.arange(12) % 3


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (PLAIN[:2], CLASSES[:2]),
        (PLAIN[:1], CLASSES[:1]),
        (PLAIN, np.arange(12)),
        (PLAIN * [1e200, 1e-200], CLASSES),
        (np.zeros((12, 2)), CLASSES),
        (pd.DataFrame(PLAIN, index=[0] * 12), pd.Series(CLASSES, index=range(12, 0, -1))),
    ],
    ids=["two rows", "one row", "a class each", "units", "constant", "index"],
)
@pytest.mark.parametrize(
    "ensemble", [e for e in ENSEMBLES if e.learner is TREE], ids=lambda e: type(e).__name__
)
def test_odd_data_are_learned(ensemble, X, y):
    p = ensemble.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert set(ensemble.predict(X)) <= set(y)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.where(np.eye(12, 2) > 0, np.inf, PLAIN), CLASSES),
        (PLAIN[:0], CLASSES[:0]),
        (PLAIN[:, :0], CLASSES),
        (PLAIN[:, 0], CLASSES),
        (PLAIN[:, :, None], CLASSES),
        (PLAIN.astype(complex), CLASSES),
        (None, CLASSES),
        (pd.DataFrame(PLAIN, columns=["a", "a"]), CLASSES),
        (PLAIN, CLASSES[:-1]),
        (PLAIN, np.column_stack([CLASSES, CLASSES])),
        (PLAIN, PLAIN[:, 0]),
        (PLAIN, None),
    ],
)
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_bad_data_are_told(ensemble, X, y):
    with pytest.raises(ValueError):
        ensemble.fit(X, y)


def test_bags():
    rng = np.random.RandomState(0)
    # a bootstrap of n examples leaves out each one with probability (1 - 1/n)^n
    shares = [len(set(rows)) / 1000 for rows in bags(1000, 400, "bootstrap", rng)]
    standard_error = np.std(shares) / 400**0.5
    assert np.mean(shares) == pytest.approx(1 - (1 - 1 / 1000) ** 1000, abs=4 * standard_error)
    # ten committees are folds: each example is left out of one of them
    committees = list(bags(25, 20, "committees", rng))
    for ten in (committees[:10], committees[10:]):
        np.testing.assert_array_equal(np.bincount(np.concatenate(ten), minlength=25), 9)
    eleven = list(bags(25, 11, "committees", rng, n_folds=11))
    np.testing.assert_array_equal(np.bincount(np.concatenate(eleven), minlength=25), 10)
    assert list(bags(5, 2, "none", rng)) == [None, None]


def test_bagging_equals_that_of_scikit_learn_on_the_same_bags(glass):
    X, y, new, _ = glass
    X = X.to_numpy()
    new = new.to_numpy()
    ours = Bagging(DecisionTreeClassifier(random_state=0), 5, average=True, random_state=4)
    ours.fit(X, y)
    expected = np.zeros((len(new), len(ours.classes_)))
    for member, rows in zip(ours.estimators_, repeat_bags(ours, len(y)), strict=True):
        peer = DecisionTreeClassifier(random_state=member.random_state).fit(X[rows], y[rows])
        # a bag may lack a class
        columns = np.searchsorted(ours.classes_, peer.classes_)
        expected[:, columns] += peer.predict_proba(new) / 5
    np.testing.assert_allclose(ours.predict_proba(new), expected)
    # bags differ, their means hardly
    neighbour = KNeighborsClassifier(1)
    theirs = BaggingClassifier(neighbour, 300, random_state=0).fit(X, y)
    ours = Bagging(neighbour, 300, average=True, random_state=0).fit(X, y)
    assert abs(theirs.predict_proba(new) - ours.predict_proba(new)).max() < 0.2


def repeat_bags(bagging, n):
    """Draw the bags again: each is drawn before its member's seed."""
    rng = np.random.RandomState(bagging.random_state)
    for rows in bags(n, bagging.n_members, bagging.sampling, rng):
        rng.randint(2**31)
        yield rows


def test_votes_are_counted(glass):
    X, y, new, _ = glass
    bagging = Bagging(TREE, 7, random_state=0).fit(X, y)
    members = np.array([member.predict(bagging._inputs(new)) for member in bagging.estimators_])
    np.testing.assert_array_equal(bagging.member_predictions(new), members)
    counts = np.array([np.bincount(votes, minlength=len(bagging.classes_)) for votes in members.T])
    np.testing.assert_allclose(bagging.predict_proba(new), counts / 7)
    np.testing.assert_array_equal(bagging.predict(new), bagging.classes_[counts.argmax(axis=1)])


@pytest.mark.parametrize("learner", [STUMP, GainRatioTree(min_leaf=30)], ids=["stump", "tree"])
def test_table_1_step_by_step(learner):
    """The pseudo-code line by line.

    With its next weights, a member has a weighted error of a half.
    """
    data = datasets.load("glass")
    X = data.X
    y = pd.factorize(data.y, sort=True)[0]
    ours = AdaBoostM1(learner, 5, sampling=False, at_error="stop", random_state=0).fit(X, y)
    w = np.full(len(y), 1 / len(y))
    votes = np.zeros((len(y), 6))
    for member, error in zip(ours.estimators_, ours.errors_, strict=True):
        p = w / w.sum()
        prediction = clone(learner).fit(X, y, sample_weight=p * len(y)).predict(X)
        np.testing.assert_array_equal(member.predict(ours._inputs(X)), prediction)
        epsilon = p[prediction != y].sum()
        assert error == pytest.approx(epsilon)
        beta = epsilon / (1 - epsilon)
        w = p * np.where(prediction == y, beta, 1)
        assert w[prediction != y].sum() / w.sum() == pytest.approx(0.5)
        votes[np.arange(len(y)), prediction] += np.log(1 / beta)
    if len(ours.estimators_) > 1:
        np.testing.assert_allclose(ours.predict_proba(X), votes / votes.sum(axis=1, keepdims=True))


def test_two_classes_equal_scikit_learns_adaboost():
    data = datasets.load("pima")
    X = data.X.to_numpy()
    y = data.y
    ours = AdaBoostM1(STUMP, 20, sampling=False, random_state=0).fit(X, y)
    theirs = AdaBoostClassifier(STUMP, n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_)
    np.testing.assert_allclose(ours.weights_, theirs.estimator_weights_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_both_readings_of_an_error_of_0_and_above_a_half():
    # the tree has no error
    X = np.arange(12.0)[:, None]
    y = np.repeat([0, 1], 6)
    stop = AdaBoostM1(TREE, 9, sampling=False, at_error="stop", random_state=0).fit(X, y)
    assert (len(stop.estimators_), stop.errors_.tolist()) == (1, [0])
    restart = AdaBoostM1(TREE, 9, sampling=False, random_state=0).fit(X, y)
    assert len(restart.estimators_) == 9
    assert restart.weights_[0] == pytest.approx(np.log(1e10))
    # no accuracy is above a third
    X = np.zeros((9, 1))
    y = np.repeat([0, 1, 2], 3)
    for at_error in ("stop", "restart"):
        booster = AdaBoostM1(TREE, 9, at_error=at_error, random_state=0).fit(X, y)
        assert len(booster.estimators_) == 1
        assert (booster.predict_proba(X).sum(axis=1) == 1).all()


@pytest.mark.parametrize("k", range(2, 8))
def test_exhaustive_codes(k):
    """All divisions of k classes in two; words differ in 2^(k - 2) bits (Dietterich & Bakiri)."""
    code = exhaustive_code(k)
    assert code.shape == (k, 2 ** (k - 1) - 1)
    bits = {tuple(bit) for bit in code.T}
    complements = {tuple(1 - bit) for bit in code.T}
    assert len(bits) == code.shape[1]
    assert len(complements & bits) == 0
    assert set(pdist(code, "cityblock")) == {2 ** (k - 2)}
    assert all(0 < bit.sum() < k for bit in code.T)


@pytest.mark.parametrize(
    ("k", "n_bits"),
    [(3, 2), (4, 2), (4, 4), (5, 14), (8, 3), (11, 63), (19, 31), (26, 63), (126, 7)],
)
def test_random_codes_have_different_words_and_different_bits_and_are_wide(k, n_bits):
    code = random_code(k, n_bits, np.random.RandomState(0))
    assert code.shape == (k, n_bits)
    assert set(code.ravel()) == {0, 1}
    sides = code ^ code[:1]  # a bit and its complement divide the classes alike
    assert len(np.unique(sides, axis=1).T) == n_bits
    assert sides.any(axis=0).all()
    width = pdist(code, "hamming").min()
    assert width > 0
    coins = np.random.default_rng(1).integers(0, 2, (100, k, n_bits))
    assert width >= max(pdist(coin_code, "hamming").min() for coin_code in coins)


@pytest.mark.parametrize(("k", "distance"), [(11, 27), (19, 25), (26, 23)])
def test_nearest_words_of_63_random_bits_are_far_apart(k, distance):
    """Words of coins differ in half of the bits on average; lopsided bits gave 22, 19 and 17."""
    for seed in range(2):
        code = random_code(k, 63, np.random.RandomState(seed))
        assert pdist(code, "cityblock").min() >= distance


@pytest.mark.parametrize(("k", "n_bits"), [(8, 3), (11, 20), (19, 31)])
def test_random_codes_depend_on_the_seed_only(k, n_bits):
    code = random_code(k, n_bits, np.random.RandomState(0))
    np.testing.assert_array_equal(code, random_code(k, n_bits, np.random.RandomState(0)))
    assert (code != random_code(k, n_bits, np.random.RandomState(1))).any()


@pytest.mark.parametrize(("k", "n_bits"), [(4, 3), (4, 5), (5, 4), (5, 6), (5, 13)])
def test_small_random_codes_are_the_widest_of_all(k, n_bits):
    bits = exhaustive_code(k)
    choices = combinations(range(bits.shape[1]), n_bits)
    widest = max(pdist(bits[:, list(choice)], "cityblock").min() for choice in choices)
    code = random_code(k, n_bits, np.random.RandomState(0))
    assert pdist(code, "cityblock").min() == widest


@pytest.mark.parametrize("k", range(2, 8))
def test_a_random_code_of_all_bits_is_the_exhaustive_one(k):
    np.testing.assert_array_equal(
        random_code(k, 2 ** (k - 1) - 1, np.random.RandomState(0)), exhaustive_code(k)
    )


def test_as_few_bits_as_words_need_tell_all_classes_apart():
    X = np.arange(80.0)[:, None]
    y = np.arange(80) // 10
    assert OutputCode(TREE, "random", 3, random_state=0).fit(X, y).score(X, y) == 1
    with pytest.raises(
        ValueError, match="n_bits must be at least 3, as 8 classes need different words; got 2"
    ):
        OutputCode(TREE, "random", 2).fit(X, y)


class FrameKeeper(ClassifierMixin, BaseEstimator):
    """Keeps the frame that it was fitted to."""

    def fit(self, X, y):
        self.frame_ = X
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert list(X.dtypes) == list(self.frame_.dtypes)
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    "kind", [Bagging, AdaBoostM1, AdaBoostOC, partial(OutputCode, decode="bits", bagged=True)]
)
def test_members_get_rows_of_typed_columns(kind):
    X = pd.DataFrame(
        {"a": [0.5, np.nan] * 6, "b": pd.Categorical(list("xyxyxz") * 2), "c": [True, False] * 6}
    )
    X["d"] = pd.array([1, None] * 6, dtype="Int64")
    ensemble = kind(FrameKeeper(), random_state=0).fit(X, list("abc") * 4)
    np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1)
    for member in ensemble.estimators_:
        pd.testing.assert_frame_equal(member.frame_, X.loc[member.frame_.index])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.array([3, 1, 2] * 4, dtype="Int64"), np.array([1, 2, 3])),
        (pd.array([True, False, True] * 4, dtype="boolean"), np.array([False, True])),
        (list("bac") * 4, np.array(["a", "b", "c"])),
        (pd.Series(list("bac") * 4, dtype="category"), np.array(["a", "b", "c"], dtype=object)),
    ],
    ids=["Int64", "boolean", "str", "category"],
)
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_classes_keep_their_type(ensemble, y, classes):
    X = [[0.0], [1.0], [2.0]] * 4
    ensemble.fit(X, y)
    assert ensemble.classes_.dtype.kind == classes.dtype.kind
    np.testing.assert_array_equal(ensemble.classes_, classes)
    np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="no class is given in row 1"):
        ensemble.fit(X, [*y[:1], None, *y[2:]])


@pytest.mark.parametrize("decode", ["bits", "probabilities"])
def test_the_code_of_a_nearest_neighbour_is_the_nearest_neighbour(glass, decode):
    """Each bit is that of the nearest neighbour's word, so that the nearest word is its class's."""
    X, y, new, _ = glass
    learner = KNeighborsClassifier(1)
    predictions = OutputCode(learner, decode=decode, random_state=0).fit(X, y).predict(new)
    np.testing.assert_array_equal(predictions, learner.fit(X, y).predict(new))


def test_a_code_of_one_bit_a_class_and_distances_by_hand(glass):
    X, y, new, _ = glass
    ensemble = OutputCode(TREE, code=np.eye(6), decode="bits").fit(X, y)
    classes = ensemble.classes_
    bits = np.array([GainRatioTree().fit(X, y == c).predict(new) for c in classes]).T
    distances = np.array([(bits != word).sum(axis=1) for word in np.eye(6)]).T
    np.testing.assert_array_equal(6 - ensemble.decision_scores(new), distances)
    np.testing.assert_array_equal(ensemble.predict(new), classes[distances.argmin(axis=1)])


@pytest.mark.parametrize("decode", ["bits", "probabilities"])
def test_a_bit_is_learned_by_a_vote_of_trees(glass, decode):
    """One tree without replicates is itself, and several average the probabilities of the bit."""
    X, y, new, _ = glass
    same = OutputCode(Bagging(TREE, 3, "none", average=True), decode=decode, random_state=0)
    by_tree = OutputCode(TREE, decode=decode, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        same.fit(X, y).decision_scores(new), by_tree.decision_scores(new), atol=1e-12
    )
    bagged_tree = Bagging(TREE, 3, average=True)
    ensemble = OutputCode(bagged_tree, np.eye(6), decode=decode, random_state=0).fit(X, y)
    trees = [bit_learner.estimators_ for bit_learner in ensemble.estimators_]
    X_new = ensemble.estimators_[0]._inputs(new)
    shares = np.mean([[tree.predict_proba(X_new)[:, 1] for tree in bit] for bit in trees], axis=1)
    bits = shares > 0.5 if decode == "bits" else shares
    distances = np.abs(bits.T[:, None] - np.eye(6)).sum(axis=2)
    np.testing.assert_allclose(6 - ensemble.decision_scores(new), distances, atol=1e-12)


def test_a_code_that_has_learned_can_be_decoded_either_way(glass):
    X, y, new, _ = glass
    ensemble = OutputCode(TREE, decode="probabilities", random_state=0).fit(X, y)
    by_probabilities = ensemble.predict(new)
    ensemble.decode = "bits"
    by_bits = OutputCode(TREE, decode="bits", random_state=0).fit(X, y).predict(new)
    np.testing.assert_array_equal(ensemble.predict(new), by_bits)
    assert (by_bits != by_probabilities).any()


@pytest.mark.parametrize("colours", [[0, 1], [1, 0]])
def test_pseudo_loss_of_two_classes_is_adaboost(colours, monkeypatch):
    """With two classes each colouring has one class of each colour: AdaBoost.OC is AdaBoost.

    (Schapire 1997.)
    """
    # a colouring that takes no random number, so that the samples are the same
    monkeypatch.setattr(AdaBoostOC, "_question", lambda *_: np.array(colours))
    data = datasets.load("pima")
    X = data.X.to_numpy()
    y = data.y
    oc = AdaBoostOC(STUMP, 15, random_state=0).fit(X, y)
    m1 = AdaBoostM1(STUMP, 15, random_state=0).fit(X, y)
    np.testing.assert_allclose(2 * oc.weights_, m1.weights_)
    np.testing.assert_array_equal(oc.predict(X), m1.predict(X))


class FixedOpinions(ClassifierMixin, BaseEstimator):
    """Finds classes as plausible as the columns of `X` say, whatever it is fitted to."""

    def fit(self, X, y):
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X):
        return X.to_numpy()


def test_votes_by_the_formulas_of_adaboost_m2():
    """Freund & Schapire (1996), figure 2: half of log 1 / beta, and how mislabels weigh on."""
    rng = np.random.default_rng(0)
    y = np.resize([0, 1, 2], 9)
    h = rng.dirichlet([1, 1, 1], 9) / 2 + np.eye(3)[y] / 2
    D = np.where(np.eye(3)[y] == 1, 0, 1 / (9 * 2))
    weights = []
    for _ in range(4):
        right = h[np.arange(9), y][:, None]
        epsilon = (D * (1 - right + h)).sum() / 2
        beta = epsilon / (1 - epsilon)
        weights.append(np.log(1 / beta) / 2)
        D = D * beta ** ((1 + right - h) / 2)
        D = D / D.sum()
    booster = AdaBoostM2(FixedOpinions(), 4, random_state=0).fit(h, y)
    np.testing.assert_allclose(booster.weights_, weights)
    scores = booster.decision_scores(h)
    np.testing.assert_allclose(scores, sum(weights) * h)


@pytest.mark.parametrize("kind", [AdaBoostOC, AdaBoostM2])
def test_training_error_is_below_the_product_of_pseudo_losses(glass, kind):
    """Freund & Schapire (1997), theorem 11: (k - 1) prod 2 sqrt(e (1 - e))."""
    X, y, _, _ = glass
    booster = kind(GainRatioTree(min_leaf=8), 40, random_state=0).fit(X, y)
    # weight = log((1 - e) / e) / 2
    losses = 1 / (1 + np.exp(2 * booster.weights_))
    bound = 5 * np.prod(2 * np.sqrt(losses * (1 - losses)))
    assert (booster.predict(X) != y).mean() <= bound + 1e-12
    if kind is AdaBoostOC:
        # each colouring divides the six classes in halves
        for question in booster.questions_:
            assert set(question) == {0, 1}
            assert question.sum() == 3


def test_likelihood_vote_is_naive_bayes_of_votes():
    """P(class) times P(vote | class) of each member, whose tables are counts plus 1."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    is_right = rng.random((300, 4)) < [0.9, 0.6, 0.4, 0.34]
    votes = np.where(is_right, y[:, None], rng.integers(0, 3, (300, 4)))
    posterior = likelihood_vote(votes, y)(votes)
    joint = np.tile(np.bincount(y) / 300, (300, 1))
    for vote in votes.T:
        counts = np.ones((3, 3))
        np.add.at(counts, (vote, y), 1)
        joint *= (counts / counts.sum(axis=0))[vote]
    np.testing.assert_allclose(posterior, joint / joint.sum(axis=1, keepdims=True))


def test_the_likelihood_of_votes_is_that_of_a_rate_integrated_out():
    """By quadrature over the rate e: (1 - e) for a right vote, e / 2 for either wrong class."""
    y = np.array([0, 0, 1, 2, 2, 1, 0])
    votes = np.column_stack([y, [0, 1, 1, 2, 0, 1, 0], [1, 1, 2, 0, 0, 1, 0], (y + 1) % 3])
    for vote, log_likelihood in zip(votes.T, log_vote_likelihoods(votes, y), strict=True):

        def likelihood(rate, vote=vote):
            return np.where(vote == y, 1 - rate, rate / 2).prod()

        assert np.exp(log_likelihood) == pytest.approx(quad(likelihood, 0, 1)[0])


def test_bayesian_weights_are_bayes_rule():
    prior = np.array([3, 1, 1, 0])
    likelihoods = np.array([0.02, 0.03, 0, 0.5])
    with np.errstate(divide="ignore"):
        log_likelihoods = np.log(likelihoods)
    # 0.06 and 0.03 of 0.09; likelihoods of thousands of rows underflow, their logarithms do not
    for shift in (0, -5000):
        weights = bayesian_weights(log_likelihoods + shift, prior)
        np.testing.assert_allclose(weights, [2 / 3, 1 / 3, 0, 0], rtol=1e-9)
    np.testing.assert_allclose(bayesian_weights([-4.0, -4.0]), [0.5, 0.5])


def test_a_bayesian_vote_is_for_the_member_with_few_errors():
    """With n rows the odds of two members are B(r + 1, w + 1) / B(r' + 1, w' + 1): 9! 1! / 8! 2!"""
    y = np.zeros(10, dtype=int)
    y[:5] = 1
    votes = np.column_stack([y, y])
    votes[0, 0] ^= 1
    votes[:2, 1] ^= 1
    weights = bayesian_weights(log_vote_likelihoods(votes, y))
    assert weights[0] / weights[1] == pytest.approx(4.5)


def test_inverse_variances_are_least_squares_where_errors_are_uncorrelated():
    """Lagrange's condition: C w is the same for all members, here with orthogonal errors."""
    rng = np.random.default_rng(0)
    orthogonal, _ = np.linalg.qr(rng.normal(size=(50, 4)))
    errors = orthogonal * [1, 2, 3, 0.5]
    weights = inverse_variance_weights(errors)
    best_weights = np.linalg.solve(errors.T @ errors, np.ones(4))
    np.testing.assert_allclose(weights, best_weights / best_weights.sum())
    assert inverse_variance_weights([[1, 2], [-1, 2]]) == pytest.approx([0.8, 0.2])
    # members that are never wrong share the weight
    np.testing.assert_allclose(inverse_variance_weights([[0, 1, 0], [0, 0, 0]]), [0.5, 0, 0.5])


def test_a_gate_finds_where_each_member_is_good():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    good = (X[:, 0] > 0)[:, None] == [True, False]
    weights = gate(X, np.where(good, 0.9, 0.2), penalty=0.1)(X)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights.argmax(axis=1) == good.argmax(axis=1)).mean() > 0.97
    even = gate(X, np.full((400, 2), 0.5))(X)
    np.testing.assert_allclose(even, 0.5)


@pytest.mark.parametrize(
    ("ensemble", "message"),
    [
        (Bagging(TREE, 0), "n_members must be an integer of at least 1; got 0"),
        (
            Bagging(TREE, sampling="bootstraps"),
            "sampling must be one of 'bootstrap'.*did you mean 'bootstrap'",
        ),
        (Bagging(TREE, average=1), "average must be True or False; got 1"),
        (AdaBoostM1(TREE, sampling="no"), "sampling must be True or False; got 'no'"),
        (
            AdaBoostM1(TREE, at_error="go on"),
            "at_error must be one of 'restart', 'stop'; got 'go on'",
        ),
        (
            AdaBoostM1(KNeighborsClassifier(), sampling=False),
            "sampling must be True, as fit of .* has no sample_weight",
        ),
        (
            OutputCode(TREE, code="widest"),
            "code must be one of 'exhaustive', 'random'; got 'widest'",
        ),
        (
            OutputCode(TREE, code=[[0], [0], [1]]),
            "code must have a different word of 0 and 1 for each of 3 classes",
        ),
        (
            OutputCode(TREE, code=[[0, 1], [1]]),
            "code must have a different word of 0 and 1 for each of 3 classes",
        ),
        (
            OutputCode(TREE, code=[[0, 1], [1, 0]]),
            "code must have a different word of 0 and 1 for each of 3 classes",
        ),
        (
            OutputCode(TREE, code="random", n_bits=0),
            "n_bits must be an integer of at least 1; got 0",
        ),
        (
            OutputCode(TREE, code="random", n_bits=1),
            "n_bits must be at least 2, as 3 classes need different words",
        ),
        (
            OutputCode(TREE, code="random", n_bits=4),
            "n_bits must be at most 3, as there are no more ways to divide 3",
        ),
        (
            Bagging(GainRatioTree),
            "learner must be a classifier of this book or of scikit-learn; got <class",
        ),
        (
            AdaBoostOC(LinearRegression()),
            "learner must be a classifier of this book or of scikit-learn; got Linear",
        ),
        (
            AdaBoostM2(LinearSVC()),
            "learner must have predict_proba, where probabilities are summed; got LinearSVC",
        ),
        (
            Bagging(LinearSVC(), average=True),
            "learner must have predict_proba, where probabilities are summed; got",
        ),
        (OutputCode(TREE, decode="l1"), "decode must be one of 'probabilities', 'bits'; got 'l1'"),
    ],
)
def test_bad_parameters_are_told(ensemble, message):
    with pytest.raises(ValueError, match=message):
        ensemble.fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gate(np.eye(3), [[0.5, np.nan]] * 3), "Input likelihoods contains NaN"),
        (lambda: gate(np.eye(3), [[0.5, -0.5]] * 3), "Negative values"),
        (lambda: gate(np.eye(3), [[0.5, 0.5]] * 2), "inconsistent numbers of samples"),
        (
            lambda: likelihood_vote([[0.0], [1.0]], [0, 1]),
            "votes must be integers, the numbers of classes; got float",
        ),
        (lambda: log_vote_likelihoods([[0.5]], [0]), "votes must be integers"),
        (lambda: log_vote_likelihoods([[0], [1]], [0]), "inconsistent numbers of samples"),
        (lambda: bayesian_weights([-1.0, np.nan]), "log_likelihoods must be numbers"),
        (lambda: bayesian_weights([-1.0, -2.0], [1, -1]), "prior numbers of at least 0"),
        (lambda: bayesian_weights([-1.0, -2.0], [1]), "inconsistent numbers of samples"),
        (lambda: bayesian_weights([[-1.0]]), "log_likelihoods must have shape"),
        (lambda: bayesian_weights([-np.inf, -1], [1, 0]), "must be finite for a member whose"),
        (lambda: inverse_variance_weights([[0.1, np.nan]]), "Input errors contains NaN"),
        (lambda: list(bags(0, 3, "committees", None)), "n must be an integer of at least 1; got 0"),
        (lambda: list(bags(5, 3, "committee", None)), "did you mean 'committees'"),
        (
            lambda: list(bags(5, 3, "committees", None, 1)),
            "n_folds must be an integer of at least 2; got 1",
        ),
        (lambda: exhaustive_code(17), "n_classes must be an integer from 2 to 16; got 17"),
    ],
)
def test_bad_arguments_of_functions_are_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_any_learner_of_the_book():
    data = datasets.load("vote")
    for learner, X in (
        (NaiveBayes(), data.X),
        (LogisticRegression(), pd.get_dummies(data.X)),
    ):
        for kind in (Bagging, AdaBoostM1, OutputCode):
            ensemble = kind(learner, random_state=0).fit(X, data.y)
            assert (ensemble.predict(X) == data.y).mean() > 0.85
