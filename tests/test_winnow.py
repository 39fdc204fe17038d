"""Winnow against ten lines of plain Python, its readable step, and Littlestone's mistake bound."""

import math
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from lib import datasets
from lib.base.arrays import row_batches, take_rows
from lib.cia import all_inputs, random_cia
from lib.discretize import EntropyDiscretizer, OneHot
from lib.spelling import WinSpell
from lib.winnow import Winnow, WinnowEnsemble, online
from lib.winnow.online import UpdateRule, present_examples


def plain_winnow(X, y, promotion, demotion, threshold, initial_weight, margin, inclusive, n_passes):
    """Weights that each presentation is predicted with, then the last ones; and the mistakes."""
    weights = [initial_weight] * len(X[0])
    history = []
    mistakes = 0
    for x, label in [*zip(X, y, strict=True)] * n_passes:
        z = sum(w for w, active in zip(weights, x, strict=True) if active)
        predicted = z >= threshold if inclusive else z > threshold
        history.append(weights)
        mistake = predicted != bool(label)
        mistakes += mistake
        if mistake or threshold - margin < z < threshold + margin:
            factor = promotion if label else demotion
            # a demotion that would make a weight subnormal is not made
            lowest = 0 if label else sys.float_info.min / demotion
            weights = [
                w * factor if active and w >= lowest else w
                for w, active in zip(weights, x, strict=True)
            ]
    return np.array([*history, weights]), mistakes


@st.composite
def samples(draw, n_classes=2):
    size = draw(st.integers(2, 20))
    # the compiled loop takes eight attributes at a time
    n = draw(st.integers(1, 6) | st.integers(7, 19))
    X = draw(arrays(np.uint8, (size, n), elements=st.integers(0, 1)))
    y = draw(arrays(np.int64, size, elements=st.integers(0, n_classes - 1)))
    assume(len(np.unique(y)) > 1)
    return X, y


# powers of two, so that sums are exact and ties are ties in whatever order they are added
RULES = st.fixed_dictionaries(
    {
        "promotion": st.sampled_from([2.0, 4.0]),
        "demotion": st.sampled_from([0.5, 0.25]),
        "threshold": st.sampled_from([0.5, 1.0, 2.0, 3.0, 6.0]),
        "initial_weight": st.sampled_from([0.5, 1.0, 2.0, 2.0**-1020]),
        "margin": st.sampled_from([0.0, 0.5, 1.5]),
        "inclusive": st.booleans(),
        "n_passes": st.integers(1, 2),
    }
)


@given(samples(), RULES, st.booleans(), st.booleans())
@settings(max_examples=100)
def test_is_the_plain_algorithm(sample, rule, complement, average):
    X, y = sample
    rows = np.hstack([X, 1 - X]) if complement else X
    history, mistakes = plain_winnow(rows.tolist(), y == y.max(), **rule)
    learner = Winnow(**rule, complement=complement, average=average, shuffle=False).fit(X, y)
    expected = history[:-1].mean(axis=0) if average else history[-1]
    np.testing.assert_allclose(learner.weights_, expected, rtol=1e-12)
    assert learner.n_mistakes_ == mistakes
    assert learner.n_updates_ >= mistakes
    if not average:
        z = rows @ expected
        predicted = z >= rule["threshold"] if rule["inclusive"] else z > rule["threshold"]
        np.testing.assert_array_equal(learner.predict(X) == y.max(), predicted)


@given(samples(), RULES)
@settings(max_examples=50)
def test_the_readable_step_is_plain_python(sample, rule):
    X, y = sample
    labels = y == y.max()
    history, mistakes = plain_winnow(X.tolist(), labels, **rule)
    update_rule = UpdateRule(**{name: rule[name] for name in UpdateRule._fields})
    weights = np.full(X.shape[1], rule["initial_weight"])
    last, mean, n_mistakes, _ = present_examples(X, labels, update_rule, weights, rule["n_passes"])
    np.testing.assert_array_equal(last, history[-1])
    np.testing.assert_allclose(mean, history[:-1].mean(axis=0), rtol=1e-12)
    assert n_mistakes == mistakes


@given(
    shape=st.tuples(st.integers(2, 60), st.integers(1, 37)),
    margin=st.sampled_from([0.0, 0.3, 5.0, 1e100]),
    underflowing=st.booleans(),
    inclusive=st.booleans(),
    complement=st.booleans(),
    form=st.sampled_from(["dense", "sparse", "weighted"]),
    n_passes=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=200)
def test_compiled_loops_are_the_readable_step(
    shape, margin, underflowing, inclusive, complement, form, n_passes, seed
):
    """Of odd numbers of attributes, too, and with presentations that are fractions of one.

    The parameters are no round numbers, as rounding would decide ties.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, shape, dtype=np.uint8)
    y = rng.integers(0, 2, len(X))
    y[:2] = 0, 1
    complement &= form != "sparse"
    demotion = rng.uniform(0.05, 0.99)
    if underflowing and form == "dense":
        demotion = 1e-200  # another one would underflow
    rows = np.hstack([X, 1 - X]) if complement else X
    weights = np.ones(len(X))
    if form == "weighted":
        weights = rng.choice([1.0, 1.25, 1.7, 2.0], len(X))
    examples, sizes = online.presentations(weights, len(X))
    rule = UpdateRule(
        promotion=rng.uniform(1.01, 5),
        demotion=demotion,
        threshold=rng.uniform(0.1, 40),
        margin=margin,
        inclusive=inclusive,
    )
    last, mean, n_mistakes, n_updates = present_examples(
        rows[examples],
        y[examples] == 1,
        rule,
        np.ones(rows.shape[1]),
        n_passes,
        sizes,
    )
    for average, expected in ((False, last), (True, mean)):
        learner = Winnow(
            **rule._asdict(),
            complement=complement,
            average=average,
            n_passes=n_passes,
            shuffle=False,
        )
        inputs = sparse.csr_array(X) if form == "sparse" else X
        learner.fit(inputs, y, sample_weight=weights)
        np.testing.assert_allclose(learner.weights_, expected, rtol=1e-9, atol=1e-290)
        assert (learner.n_mistakes_, learner.n_updates_) == (n_mistakes, n_updates)


@given(samples(), RULES)
def test_defaults_follow_from_the_other_parameters(sample, rule):
    """Demotion 1 / promotion, half the number of weights as threshold, a fifth of it as margin."""
    X, y = sample
    for complement in (False, True):
        rule.update(demotion=None, threshold=None, margin=None, complement=complement)
        half = X.shape[1] if complement else X.shape[1] / 2
        defaults = {"demotion": 1 / rule["promotion"], "threshold": half, "margin": 0.2 * half}
        implicit = Winnow(**rule, random_state=0).fit(X, y)
        explicit = Winnow(**rule | defaults, random_state=0).fit(X, y)
        assert implicit.threshold_ == half
        np.testing.assert_array_equal(implicit.weights_, explicit.weights_)


@given(samples(n_classes=4), RULES)
def test_several_classes_are_one_against_the_rest(sample, rule):
    X, y = sample
    assume(len(np.unique(y)) > 2)
    learner = Winnow(**rule, shuffle=False).fit(X, y)
    weights = []
    n_mistakes = 0
    for c in learner.classes_:
        history, mistakes = plain_winnow(X.tolist(), y == c, **rule)
        weights.append(history[-1])
        n_mistakes += mistakes
    np.testing.assert_array_equal(learner.weights_, weights)
    assert learner.n_mistakes_ == n_mistakes
    largest = np.argmax([X @ w for w in weights], axis=0)
    np.testing.assert_array_equal(learner.predict(X), learner.classes_[largest])


@given(
    samples(n_classes=3),
    RULES,
    st.booleans(),
    st.integers(1, 19),
    st.sampled_from([np.array, sparse.csr_array]),
)
def test_pieces_teach_the_same_as_the_whole(sample, rule, average, cut, form):
    attributes, y = sample
    X = form(attributes)
    cut = min(cut, len(y) - 1)
    whole = Winnow(**rule | {"n_passes": 1}, average=average, shuffle=False).fit(X, y)
    pieces = Winnow(**rule, average=average)
    pieces.partial_fit(X[:cut], y[:cut], classes=whole.classes_).partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(pieces.weights_, whole.weights_)
    assert (pieces.n_mistakes_, pieces.n_updates_) == (whole.n_mistakes_, whole.n_updates_)


@pytest.mark.parametrize("n_rows", [1, 7, 40])
def test_predictions_in_batches_are_the_same(n_rows, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 8))
    y = rng.integers(0, 3, 40)
    ensemble = WinnowEnsemble(n_members=3, random_state=0)
    learners = [Winnow().fit(X, y), Winnow().fit(X, y % 2), ensemble.fit(X, y % 2)]
    scores_at_once = [learner.decision_function(X) for learner in learners]
    monkeypatch.setattr(online, "row_batches", lambda size, *_: row_batches(size, 2**20, n_rows))
    for learner, scores in zip(learners, scores_at_once, strict=True):
        np.testing.assert_allclose(learner.decision_function(X), scores, rtol=1e-12, atol=1e-12)


def test_the_tie_rule_decides_ties():
    """Two of four attributes of weight 1 make a Z of exactly half the number of weights."""
    X = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])
    y = np.array([1, 0])
    inclusive = Winnow(shuffle=False).fit(X, y)
    strict = Winnow(inclusive=False, shuffle=False).fit(X, y)
    assert (inclusive.n_mistakes_, strict.n_mistakes_) == (0, 1)
    assert strict.weights_.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("presentations", [1, 32, 48])
def test_passes_made_together_are_passes(presentations, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (16, 75))
    y = rng.integers(0, 3, 16)
    rule = {
        "promotion": 1.1,
        "n_passes": 5,
        "complement": True,
        "average": True,
        "random_state": 0,
    }
    at_once = Winnow(**rule).fit(X, y)
    monkeypatch.setattr(online, "PRESENTATIONS", presentations)
    in_batches = Winnow(**rule).fit(X, y)
    np.testing.assert_array_equal(in_batches.weights_, at_once.weights_)
    assert (in_batches.n_mistakes_, in_batches._n_presented) == (at_once.n_mistakes_, 80)


def test_shuffling_presents_each_row_once_a_pass():
    X = all_inputs(4)
    y = X[:, 2]

    def weights(seed):
        return Winnow(n_passes=3, random_state=seed).fit(X, y).weights_

    np.testing.assert_array_equal(weights(0), weights(0))
    assert (weights(0) != weights(1)).any()
    rng = np.random.RandomState(1)
    order = np.concatenate([rng.permutation(16) for _ in range(3)])
    in_order = Winnow(shuffle=False).fit(X[order], y[order])
    np.testing.assert_array_equal(weights(1), in_order.weights_)


@given(st.data(), st.integers(2, 40), st.integers(1, 5), st.booleans(), st.booleans())
def test_mistakes_on_disjunctions_are_bounded(data, n, r, n_as_threshold, inclusive):
    """At most 2 + 3 r (1 + lg n) for a disjunction of r of n attributes and any number of examples.

    (Littlestone 1988, with promotion 2 and demotion 1/2.)
    """
    r = min(r, n)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    relevant = rng.permutation(n)[:r]
    X = (rng.random((300, n)) < rng.choice([0.05, 0.2, 0.5])).astype(np.uint8)
    y = X[:, relevant].any(axis=1)
    assume(0 < y.sum() < len(y))
    threshold = n if n_as_threshold else None
    learner = Winnow(threshold=threshold, inclusive=inclusive, n_passes=5).fit(X, y)
    assert learner.n_mistakes_ <= 2 + 3 * r * (1 + math.log2(n))


@pytest.fixture(scope="module")
def noisy_sample():
    model = random_cia(12, 2, 0.7, np.random.default_rng(5))
    X, y, _ = model.sample(300, np.random.default_rng(6))
    return X, y


class TestEnsemble:
    def test_coefficients_make_the_same_predictions(self, noisy_sample):
        X, y = noisy_sample
        for complement in (False, True):
            learner = WinnowEnsemble(complement=complement, random_state=0).fit(X, y)
            inputs = all_inputs(12)
            score = inputs @ learner.coef_[0] + learner.intercept_[0]
            np.testing.assert_allclose(learner.decision_function(inputs), score, atol=1e-9)
            np.testing.assert_array_equal(learner.predict(inputs), (score > 0).astype(int))

    def test_weights_are_the_members_by_their_shares(self, noisy_sample):
        X, y = noisy_sample
        learner = WinnowEnsemble(n_members=7, random_state=0).fit(X, y)
        assert learner.member_weights_.shape == (7, 24)
        assert learner.member_shares_.sum() == pytest.approx(1)
        assert (learner.member_shares_ >= 0).all()
        np.testing.assert_allclose(
            learner.weights_, learner.member_shares_ @ learner.member_weights_
        )

    @pytest.mark.parametrize("inclusive", [False, True])
    def test_shares_are_gains_over_the_constant_on_the_subsample(self, inclusive):
        X = np.tile(all_inputs(4), (4, 1))
        y = (X[:, 0] & X[:, 1]) ^ (np.arange(64) % 7 == 0)
        # weights are powers of 2 and the threshold is 4 / 2, so that there are ties
        learner = WinnowEnsemble(
            n_members=9,
            subsample=0.5,
            inclusive=inclusive,
            random_state=3,
            promotion=2.0,
            margin=0,
            average=False,
            complement=False,
        ).fit(X, y)
        rng = np.random.RandomState(3)
        gains = []
        n_ties = 0
        for weights in learner.member_weights_:
            subsample = rng.permutation(64)[:32]
            labels = y[subsample]
            z = X[subsample] @ weights
            n_ties += (z == 2).sum()
            predictions = z >= 2 if inclusive else z > 2
            constant_accuracy = max(labels.mean(), 1 - labels.mean())
            gains.append(max((predictions == labels).mean() - constant_accuracy, 0))
        assert n_ties > 0
        np.testing.assert_allclose(learner.member_shares_, gains / np.sum(gains))

    def test_one_member_on_everything_is_a_winnow(self, noisy_sample):
        X, y = noisy_sample
        learner = WinnowEnsemble(n_members=1, subsample=1.0, n_passes=3, random_state=0).fit(X, y)
        rng = np.random.RandomState(0)
        rows = rng.permutation(300)
        order = np.concatenate([rng.permutation(rows) for _ in range(3)])
        single = Winnow(
            1.015, margin=None, complement=True, average=True, inclusive=False, shuffle=False
        ).fit(X[order], y[order])
        assert learner.member_shares_.tolist() == [1.0]
        np.testing.assert_allclose(learner.weights_, single.weights_, rtol=1e-12)

    def test_members_no_better_than_the_constant_count_alike(self):
        X = np.zeros((10, 3), dtype=int)
        y = np.array([0] * 8 + [1] * 2)
        learner = WinnowEnsemble(n_members=4, complement=False, random_state=0).fit(X, y)
        assert learner.member_shares_.tolist() == [0.25] * 4
        assert (learner.predict(X) == 0).all()


class TestSparse:
    @given(
        samples(n_classes=4),
        RULES,
        st.booleans(),
        st.sampled_from(["csr", "csc", "coo", "lil"]),
        st.booleans(),
    )
    def test_teaches_the_same_as_dense(self, sample, rule, average, layout, matrix):
        X, y = sample
        sparse_type = sparse.csr_matrix if matrix else sparse.csr_array
        rows = sparse_type(X).asformat(layout)
        dense = Winnow(**rule, average=average, random_state=0).fit(X, y)
        learner = Winnow(**rule, average=average, random_state=0).fit(rows, y)
        for name in ("weights_", "n_mistakes_", "n_updates_", "classes_"):
            np.testing.assert_array_equal(getattr(learner, name), getattr(dense, name))
        for data in (X, rows):
            np.testing.assert_allclose(
                learner.decision_function(data), dense.decision_function(X), rtol=1e-12
            )
        if not average:
            np.testing.assert_array_equal(learner.predict(rows), dense.predict(X))

    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_stored_zeros_and_unsorted_columns(self, index):
        data = [1, 0, 1, 1, 0]
        columns = [2, 0, 1, 1, 0]
        pointers = [0, 3, 5, 5]
        csr = (np.array(data, float), np.array(columns, index), np.array(pointers, index))
        X = sparse.csr_array(csr, shape=(3, 3))
        learner = Winnow(inclusive=False, random_state=0).fit(X, [1, 0, 0])
        dense = Winnow(inclusive=False, random_state=0).fit(X.toarray(), [1, 0, 0])
        assert learner.weights_.tolist() == dense.weights_.tolist()
        # fit has not sorted or summed the caller's array
        assert X.data.tolist() == data
        assert X.indices.tolist() == columns
        assert X.indptr.tolist() == pointers

    def test_is_never_made_dense(self):
        size = 20_000
        n = 5 * 10**6  # 93 GiB of bytes, were it dense
        columns = np.arange(size) % 50 * 10**5
        X = sparse.csr_array((np.ones(size), columns, np.arange(size + 1)), shape=(size, n))
        learner = Winnow(threshold=1.5).fit(X, columns == 0)
        assert (learner.predict(X) == (columns == 0)).all()


class TestExtremes:
    """Z stays finite, and no weight is lost."""

    @pytest.mark.parametrize("average", [False, True])
    @pytest.mark.parametrize("array_type", [np.array, sparse.csr_array])
    def test_a_weight_recovers_from_many_demotions(self, array_type, average):
        """Attribute 0 is demoted 2,000 times, then it is all that positive examples have."""
        negative = array_type([[1, 1]] * 2000)
        positive = array_type([[1, 0]] * 1100)
        learner = Winnow(
            initial_weight=1.0, threshold=1.0, promotion=2.0, average=average, margin=1e200
        )
        learner.partial_fit(negative, [0] * 2000, classes=[0, 1])
        assert learner._current.min() == sys.float_info.min
        learner.set_params(margin=0.0).partial_fit(positive, [1] * 1100)
        assert learner._current[0].tolist() == [1.0, sys.float_info.min]
        if average:
            # halved from 1 to the smallest normal number 2^-1022, where it stays; then doubled
            history = [2.0**-t for t in range(1023)] + [2.0**-1022] * 977
            history += [2.0**t for t in range(-1022, 0)] + [1.0] * 78
            assert learner.weights_[0] == pytest.approx(np.mean(history), rel=1e-9)

    @given(
        samples(n_classes=3),
        st.floats(1, 1e200, exclude_min=True),
        st.floats(0, 1, exclude_min=True, exclude_max=True),
        st.floats(1e-320, 1e40),
        st.floats(1e-320, 1e240),
        st.booleans(),
        st.booleans(),
    )
    def test_nothing_underflows_or_overflows(
        self, sample, promotion, demotion, threshold, initial, average, dense
    ):
        X, y = sample
        rows = X if dense else sparse.csr_array(X)
        learner = Winnow(
            promotion=promotion,
            demotion=demotion,
            threshold=threshold,
            initial_weight=initial,
            average=average,
            n_passes=20,
        ).fit(rows, y)
        assert (learner._current > 0).all()
        assert np.isfinite(learner.weights_).all()
        assert np.isfinite(learner.decision_function(rows)).all()


def test_partial_fit_takes_rows_as_they_come():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 8))
    y = rng.integers(0, 2, 60)
    streams = [Winnow(shuffle=shuffle) for shuffle in (True, False)]
    for stream in streams:
        for _ in range(4):
            stream.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(streams[0].weights_, streams[1].weights_)


class TestRowsSortedByClass:
    """Cross-validation keeps their order in the training rows."""

    def mean_accuracy(self, learner, X, y):
        order = np.argsort(y, kind="stable")
        model = make_pipeline(EntropyDiscretizer(), OneHot(), learner)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return cross_val_score(model, take_rows(X, order), y[order], cv=folds).mean()

    @pytest.mark.parametrize("learner", [Winnow(complement=True), WinnowEnsemble(), WinSpell()])
    def test_are_learned(self, learner):
        """After one pass in their order Winnow would predict the last class for most rows."""
        learner = clone(learner).set_params(random_state=0)
        if isinstance(learner, WinnowEnsemble):
            learner = OneVsRestClassifier(learner)
        assert self.mean_accuracy(learner, *load_iris(return_X_y=True)) >= 0.9

    @pytest.mark.parametrize("name", ["breast", "glass", "pima", "sonar"])
    def test_the_pipeline_of_the_page_beats_the_most_frequent_class(self, name):
        """As chapters/using_lib.md recommends it: thick, averaged, 20 passes."""
        data = datasets.load(name)
        learner = Winnow(
            1.1, margin=None, complement=True, average=True, n_passes=20, random_state=0
        )
        _, counts = np.unique(data.y, return_counts=True)
        most_frequent = counts.max() / len(data.y)
        assert self.mean_accuracy(learner, data.X, data.y) > most_frequent + 0.05


class TestWeights:
    @given(samples(n_classes=3), RULES, st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
    @settings(max_examples=50)
    def test_whole_numbers_are_repeated_rows(self, sample, rule, shuffle, dense, seed):
        X, y = sample
        weights = np.random.default_rng(seed).integers(0, 4, len(y))
        assume(len(np.unique(y[weights > 0])) == len(np.unique(y)))
        array_type = np.array if dense else sparse.csr_array
        learner = Winnow(**rule, average=True, shuffle=shuffle, complement=dense, random_state=0)
        repeated = clone(learner)
        learner.fit(array_type(X), y, sample_weight=weights)
        repeated.fit(array_type(np.repeat(X, weights, axis=0)), np.repeat(y, weights))
        np.testing.assert_array_equal(learner.weights_, repeated.weights_)
        assert (learner.n_mistakes_, learner.n_updates_) == (
            repeated.n_mistakes_,
            repeated.n_updates_,
        )

    @given(
        samples(),
        st.lists(st.sampled_from([1.0, 1.25, 2.0, 0.5, 3.75]), min_size=20, max_size=20),
        st.booleans(),
    )
    def test_fractions_are_shorter_steps(self, sample, weights, dense):
        X, y = sample
        weights = np.array(weights[: len(y)])
        labels = y == y.max()
        assume(weights.sum() >= len(y))
        rule = UpdateRule(promotion=2.0, demotion=0.5, threshold=1.7, margin=0.3, inclusive=True)
        examples, sizes = online.presentations(weights, len(y))
        current, mean, mistakes, _ = present_examples(
            X[examples], labels[examples], rule, np.ones(X.shape[1]), sizes=sizes
        )
        rows = X if dense else sparse.csr_array(X)
        last = Winnow(**rule._asdict(), initial_weight=1.0, shuffle=False)
        last.fit(rows, y, sample_weight=weights)
        average = Winnow(**rule._asdict(), initial_weight=1.0, average=True, shuffle=False)
        average.fit(rows, y, sample_weight=weights)
        np.testing.assert_allclose(last.weights_, current, rtol=1e-12)
        np.testing.assert_allclose(average.weights_, mean, rtol=1e-9)
        assert last.n_mistakes_ == mistakes

    def test_parts_go_on_from_wholes_without_a_step(self):
        X = all_inputs(4)
        y = X[:, 2]
        learner = Winnow(
            1.37, complement=True, average=True, n_passes=3, threshold=2.23, shuffle=False
        )
        weights_of_wholes = learner.fit(X, y, sample_weight=np.full(16, 1)).weights_
        weights_of_parts = clone(learner).fit(X, y, sample_weight=np.full(16, 1 + 1e-9)).weights_
        assert np.abs(weights_of_wholes - weights_of_parts).max() < 1e-6

    def test_too_long_a_pass_is_refused_at_once(self):
        with pytest.raises(
            ValueError,
            match="sample_weight must have a sum of at most 100,000,000; got 160,000,016",
        ):
            Winnow().fit(all_inputs(4), all_inputs(4)[:, 0], sample_weight=np.full(16, 10_000_001))


@pytest.mark.parametrize(
    ("name", "value"), [("complement", True), ("average", True), ("initial_weight", 2.0)]
)
def test_what_learning_began_with_cannot_change(name, value):
    X = all_inputs(4)
    y = X[:, 2]
    learner = Winnow().partial_fit(X, y, classes=[0, 1])
    weights = learner.weights_.copy()
    threshold = learner.threshold_
    learner.set_params(**{name: value})
    with pytest.raises(
        ValueError, match=f"{name} must stay that with which learning began, .*; got {value} "
    ):
        learner.partial_fit(X, y)
    np.testing.assert_array_equal(learner.weights_, weights)
    assert learner.threshold_ == threshold
    np.testing.assert_array_equal(
        learner.decision_function(sparse.csr_array(X)), X @ weights - threshold
    )
    # a new fit takes the new value: 4 attributes and their complements have a threshold of 8 / 2
    assert (learner.fit(X, y).partial_fit(X, y).threshold_ == 4) == (name == "complement")


@pytest.mark.parametrize(
    "learner",
    [
        Winnow(random_state=0),
        Winnow(average=True, n_passes=3, random_state=0),
        WinSpell(random_state=0),
    ],
)
def test_row_pointers_may_be_longer_than_columns(learner):
    X = np.random.default_rng(0).integers(0, 2, (300, 8))
    y = X[:, 1] | X[:, 5]
    expected = learner.fit(X, y).decision_function(X)
    for pointers, columns in ((np.int64, np.int32), (np.int32, np.int64)):
        rows = sparse.csr_array(X)
        rows.indptr = rows.indptr.astype(pointers)
        rows.indices = rows.indices.astype(columns)
        scores = learner.fit(rows, y).decision_function(rows)
        np.testing.assert_allclose(scores, expected, rtol=1e-12)
