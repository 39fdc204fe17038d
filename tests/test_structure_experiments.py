"""Experiments on structures poorer or richer than the truth."""

import itertools
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib import evaluation, structures
from lib.bayes_net import BayesNetClassifier
from lib.experiments import structure as experiments
from lib.trials import Seeds


def plain_truth(n, m):
    """P_m by its definition, input by input: P(y = 0) = 0.1, P(1 | 0) = 0.8 and P(1 | 1) = 0.2.

    The first m attributes are one attribute and its copies.
    """
    rows = []
    for x in itertools.product((0, 1), repeat=n):
        copies_agree = all(value == x[0] for value in x[:m])
        independent = [value for i, value in enumerate(x) if i == 0 or i >= m]
        joint = []
        for p_class, p_one in ((0.1, 0.8), (0.9, 0.2)):
            factors = [p_one if value else 1 - p_one for value in independent]
            joint.append(p_class * np.prod(factors) * copies_agree)
        rows.append(joint)
    return np.array(rows)


LEARNERS = ("ofe", "elr", "elr_forced", "em", "apn")


@pytest.mark.parametrize(("n", "m"), [(1, 0), (3, 0), (3, 1), (3, 2), (5, 3), (5, 5)])
def test_truth_with_copies(n, m):
    truth = experiments.duplicated_truth(n, m)
    np.testing.assert_allclose(truth, plain_truth(n, m), rtol=1e-14)
    assert truth.sum() == pytest.approx(1, abs=1e-14)


def test_bayes_error_of_copies_in_closed_form():
    """Without copies the number of ones decides; with five copies of one, all are class 1."""
    frame = experiments.structure_robustness(duplicates=[0, 5], n_instances=20, n_runs=1, n_jobs=1)
    n_ones = np.arange(6)
    joint_0 = 0.1 * stats.binom.pmf(n_ones, 5, 0.8)
    joint_1 = 0.9 * stats.binom.pmf(n_ones, 5, 0.2)
    errors = frame.groupby("duplicates")["bayes_error"].first()
    assert errors[0] == pytest.approx(np.minimum(joint_0, joint_1).sum(), abs=1e-14)
    assert errors[5] == pytest.approx(0.1, abs=1e-14)


def test_masked_values_by_enumeration():
    truth = experiments.duplicated_truth(3, 2)
    rate = 0.3
    masked = experiments.mask_values(truth, rate)
    patterns = experiments.inputs(3, missing=True)
    complete = experiments.inputs(3)
    for pattern, p in zip(patterns, masked, strict=True):
        observed = pattern >= 0
        agree = (complete[:, observed] == pattern[observed]).all(axis=1)
        p_mask = rate ** (~observed).sum() * (1 - rate) ** observed.sum()
        np.testing.assert_allclose(p, truth[agree].sum(axis=0) * p_mask)
    assert masked.sum() == pytest.approx(1)


def test_columns_are_the_contract_for_any_number_of_workers():
    def run(n_jobs):
        return experiments.structure_robustness(
            n_runs=2, n_instances=30, duplicates=range(3), n_jobs=n_jobs
        )

    frame = run(n_jobs=1)
    assert list(frame) == ["duplicates", "run", "learner", "error", "bayes_error"]
    assert len(frame) == 2 * 3 * 2
    assert (frame["error"] >= frame["bayes_error"] - 1e-12).all()
    pd.testing.assert_frame_equal(frame, run(n_jobs=2))


@pytest.mark.parametrize(("rate", "learners"), [(0.0, ["ofe", "elr"]), (0.3, ["ofe", "em"])])
def test_the_trial_of_the_chapter_is_that_of_scripts(rate, learners):
    notebook = nbformat.read(Path(__file__).parents[1] / "chapters" / "elr" / "structure.ipynb", 4)
    sources = [cell.source for cell in notebook.cells]
    [source] = [source for source in sources if source.startswith("def exact_errors(")]
    values = {"WORLDS": {2: experiments.duplicated_truth(4, 2)}, "NAIVE": structures.naive(4)}
    values |= {"smoothing": 1.0, "stopping": 20}
    names = vars(experiments) | values
    # the function alone, without what follows it in the cell
    exec(source.split("\n\n\n")[0], names)
    rows = pd.DataFrame(names["exact_errors"](Seeds(0, (0,)), 2, 40, learners, rate=rate))
    complete_tests = rows[rows["test"] == 0].set_index("learner")
    frame = experiments.structure_robustness(4, [2], 40, rate, learners, n_runs=1, n_jobs=1)
    errors = frame.set_index("learner")
    pd.testing.assert_series_equal(complete_tests["error"], errors["error"])
    pd.testing.assert_series_equal(
        complete_tests["smallest"], errors["bayes_error"], check_names=False
    )


def test_learners_do_not_depend_on_their_company():
    model = experiments.StructureModel(
        experiments.duplicated_truth(4, 0), structures.chain(4, 3), 0.3, [0.0, 0.3]
    )
    sample = model.sample(40, np.random.default_rng(3))
    tables = dict(model.learn(sample, LEARNERS))
    for name in LEARNERS:
        np.testing.assert_array_equal(dict(model.learn(sample, [name]))[name], tables[name])


def test_logistic_regression_expresses_the_posterior_of_copies():
    """As samples grow, OFE counts each copy, and ELR does not.

    OFE follows the attribute, which is wrong with probability 0.2; the prior alone is with 0.1.
    """
    frame = experiments.structure_robustness(
        duplicates=[5],
        n_instances=50_000,
        learners=("ofe", "elr_converged"),
        n_runs=1,
        n_jobs=1,
    )
    errors = frame.set_index("learner")["error"]
    assert errors["ofe"] == pytest.approx(0.2)
    assert errors["elr_converged"] == pytest.approx(0.1)


@pytest.mark.parametrize("learner", ["ofe", "elr_fixed", "elr_converged", "em"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_errors_are_those_of_the_classifier(learner, missing):
    """A run's sample is drawn again and given to the estimator; its errors count for all inputs."""
    truth = experiments.duplicated_truth(3, 2)
    n_instances = 50
    frame = experiments.structure_robustness(
        3, [2], n_instances, missing, (learner,), n_runs=1, seed=5, n_jobs=1
    )
    p = experiments.mask_values(truth, missing) if missing else truth
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    rows, y = np.divmod(rng.choice(p.size, n_instances, p=p.ravel()), 2)
    X = experiments.inputs(3, missing=missing > 0)[rows].astype(float)
    X[X < 0] = np.nan
    n_iterations = experiments.TUNED if learner == "elr_fixed" else None
    method = learner.split("_")[0]
    classifier = BayesNetClassifier(
        structures.naive(3), method, n_iterations=n_iterations, max_iterations=500
    )
    predictions = classifier.fit(X, y).predict(experiments.inputs(3).astype(float))
    is_wrong = predictions != [[0], [1]]
    assert frame["error"].iloc[0] == pytest.approx((truth.T * is_wrong).sum(), abs=1e-12)


def test_one_sided_p_values():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.2, 1, (5, 8))
    expected = [stats.ttest_1samp(row, 0, alternative="greater").pvalue for row in differences]
    np.testing.assert_allclose(evaluation.one_sided_p_values(differences), expected, rtol=1e-12)
    assert evaluation.one_sided_p_values([[0, 0, 0], [1, 1, 1], [-1, -1, -1]]).tolist() == [1, 0, 1]
