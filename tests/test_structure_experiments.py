"""Experiments on structures poorer or richer than the truth."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib import evaluation, structures
from lib.bayes_net import BayesNetClassifier
from lib.experiments import structure as experiments


def plain_truth(n, m):
    """P_m by its definition, input by input."""
    rows = []
    for x in itertools.product((0, 1), repeat=n):
        copies = all(v == x[0] for v in x[:m])
        own = [v for i, v in enumerate(x) if i == 0 or i >= m]
        rows.append([p * np.prod([q if v else 1 - q for v in own]) * copies for p, q in ((0.1, 0.8), (0.9, 0.2))])
    return np.array(rows)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (3, 0), (3, 1), (3, 2), (5, 3), (5, 5)])
def test_truth_with_copies(n, m):
    truth = experiments.duplicated_truth(n, m)
    np.testing.assert_allclose(truth, plain_truth(n, m), rtol=1e-14)
    assert truth.sum() == pytest.approx(1, abs=1e-14)


def test_bayes_error_of_copies_in_closed_form():
    frame = experiments.structure_robustness(duplicates=[0, 5], n_instances=20, n_runs=1, n_jobs=1)
    ons = np.arange(6)
    binomials = [p * stats.binom.pmf(ons, 5, q) for p, q in ((0.1, 0.8), (0.9, 0.2))]
    errors = frame.groupby("duplicates")["bayes_error"].first()
    assert errors[0] == pytest.approx(np.minimum(*binomials).sum(), abs=1e-14)
    assert errors[5] == pytest.approx(0.1, abs=1e-14)


@pytest.mark.parametrize("agreement", [1.0, 0.96, 0.5])
def test_truth_with_one_cause(agreement):
    truth, x = experiments.single_cause_truth(4, agreement), experiments.inputs(4)
    assert truth[x[:, 0] == 1, 1].sum() + truth[x[:, 0] == 0, 0].sum() == pytest.approx(agreement)
    for i in (1, 2, 3):
        for c in (0, 1):
            assert truth[x[:, i] == 1, c].sum() == pytest.approx(0.25)


def test_correlation_of_two_coins():
    same = round(1000 * experiments.agreement_of_correlation(0.6))
    pairs = np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [same, same, 1000 - same, 1000 - same], axis=0)
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(0.6)


def test_blocked_values_by_enumeration():
    truth, rate = experiments.duplicated_truth(3, 2), 0.3
    blocked, patterns = experiments.blocked(truth, rate), experiments.inputs(3, missing=True)
    complete = experiments.inputs(3)
    for pattern, p in zip(patterns, blocked, strict=True):
        seen = pattern >= 0
        agree = (complete[:, seen] == pattern[seen]).all(axis=1)
        np.testing.assert_allclose(p, truth[agree].sum(axis=0) * rate ** (~seen).sum() * (1 - rate) ** seen.sum())
    assert blocked.sum() == pytest.approx(1)


def test_columns_and_order_are_the_contract():
    frame = experiments.structure_robustness(n_runs=2, n_instances=30, duplicates=range(3), n_jobs=1)
    assert list(frame) == ["duplicates", "run", "learner", "error", "bayes_error"]
    assert len(frame) == 2 * 3 * 2
    assert (frame["error"] >= frame["bayes_error"] - 1e-12).all()


SMALL = {"sizes": [15, 40], "learners": ("ofe", "elr", "elr_forced", "em", "apn"), "missing": 0.3, "tests": [0.0, 0.3]}


@pytest.mark.xdist_group("workers")
def test_same_for_any_number_of_workers_and_any_company():
    frame = experiments.richer_model_study(4, [3], n_runs=6, seed=3, **SMALL)
    pd.testing.assert_frame_equal(frame, experiments.richer_model_study(4, [3], n_runs=6, seed=3, n_jobs=2, **SMALL))
    alone = experiments.richer_model_study(4, [3], n_runs=6, seed=3, **SMALL | {"sizes": [15], "learners": ("em",)})
    joint = experiments.richer_model_study(4, [3], n_runs=6, seed=3, **SMALL | {"learners": ("em",)})
    pd.testing.assert_frame_equal(alone, joint[joint["size"] == 15].reset_index(drop=True))


@pytest.mark.parametrize("learner", ["ofe", "elr_converged", "em"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_errors_are_those_of_the_classifier(learner, missing):
    """The sample of a run, drawn again here, given to the estimator, and its errors summed over all inputs."""
    truth, n_instances = experiments.duplicated_truth(3, 2), 50
    frame = experiments.structure_robustness(3, [2], n_instances, missing, (learner,), n_runs=1, seed=5, n_jobs=1)
    p = experiments.blocked(truth, missing) if missing else truth
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    rows, y = np.divmod(rng.choice(p.size, n_instances, p=p.ravel()), 2)
    X = experiments.inputs(3, missing=missing > 0)[rows].astype(float)
    X[X < 0] = np.nan
    model = BayesNetClassifier(structures.naive(3), learner.split("_")[0], n_iterations=None, max_iterations=500)
    wrong = model.fit(X, y).predict(experiments.inputs(3).astype(float)) != [[0], [1]]
    assert frame["error"].iloc[0] == pytest.approx((truth.T * wrong).sum(), abs=1e-12)


def test_limits_of_large_samples():
    """Logistic regression expresses the posterior with copies; counting them all does not."""
    frame = experiments.large_sample_errors().set_index(["learner", "duplicates"])
    elr = frame.loc["elr_converged"]
    np.testing.assert_allclose(elr["error"], elr["bayes_error"], atol=1e-12)
    assert frame.loc[("ofe", 5), "error"] == pytest.approx(0.2)
    large = experiments.structure_robustness(duplicates=[3], n_instances=100_000, learners=("ofe",), n_runs=3, n_jobs=1)
    assert large["error"].mean() == pytest.approx(frame.loc[("ofe", 3), "error"], abs=1e-12)


def test_comparison_of_learners():
    frame = experiments.irrelevant_truth_study([3], [0.8], sizes=[10, 20], learners=("ofe", "elr_forced"), n_runs=9)
    difference, share = experiments.compare_learners(frame, "ofe", "elr_forced", runs=4, p=0.2)
    wide = frame.pivot(index=["run", "size"], columns="learner", values="error")
    gaps = (wide["elr_forced"] - wide["ofe"]).unstack()
    assert difference == evaluation.mean_interval(gaps.mean(axis=1))
    tests = [stats.ttest_1samp(gaps[i : i + 4].to_numpy().ravel(), 0, alternative="greater").pvalue for i in (0, 4)]
    assert share == evaluation.proportion_interval(sum(p < 0.2 for p in tests), 2)


def test_printed_comparisons_are_all_tested():
    printed = experiments.printed_comparisons()
    one = experiments.irrelevant_truth_study([3], [1.0], sizes=[10], learners=("ofe", "elr", "em", "apn"), n_runs=4)
    frames = {study: {"a": one, "b": one} for study in printed["study"]}
    table = experiments.compare_printed(printed, frames, {"zero": {}}, runs=2)
    assert len(table) == 2 * len(printed)
    assert ((table["share"] >= 0) & (table["share"] <= 1) & (table["n_experiments"] == 2)).all()
    assert printed["p"].between(0, 0.05).all()


def test_one_sided_p_values():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.2, 1, (5, 8))
    expected = [stats.ttest_1samp(row, 0, alternative="greater").pvalue for row in differences]
    np.testing.assert_allclose(evaluation.one_sided_p_values(differences), expected, rtol=1e-12)
    assert evaluation.one_sided_p_values([[0, 0, 0], [1, 1, 1], [-1, -1, -1]]).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="differences"):
        evaluation.one_sided_p_values([1.0, 2.0])


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (7, 7)])
def test_proportion_interval(k, n):
    estimate, expected = evaluation.proportion_interval(k, n), stats.binomtest(k, n).proportion_ci(method="wilson")
    assert estimate.low == pytest.approx(expected.low, abs=1e-12)
    assert estimate.high == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_attributes", 9),
        ("duplicates", [6]),
        ("duplicates", []),
        ("n_instances", 0),
        ("missing", 1.0),
        ("learners", ["elrr"]),
        ("test_missing", -0.1),
        ("smoothing", -1),
        ("n_runs", 0),
    ],
)
def test_bad_arguments(argument, value):
    with pytest.raises(ValueError, match=argument):
        experiments.structure_robustness(**{"n_jobs": 1, argument: value})
