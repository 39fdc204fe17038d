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
    """P_m by its definition, input by input."""
    rows = []
    for x in itertools.product((0, 1), repeat=n):
        copies = all(v == x[0] for v in x[:m])
        own = [v for i, v in enumerate(x) if i == 0 or i >= m]
        rows.append(
            [
                p * np.prod([q if v else 1 - q for v in own]) * copies
                for p, q in ((0.1, 0.8), (0.9, 0.2))
            ]
        )
    return np.array(rows)


LEARNERS = ("ofe", "elr", "elr_forced", "em", "apn")


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


def test_masked_values_by_enumeration():
    truth, rate = experiments.duplicated_truth(3, 2), 0.3
    masked, patterns = experiments.mask_values(truth, rate), experiments.inputs(3, missing=True)
    complete = experiments.inputs(3)
    for pattern, p in zip(patterns, masked, strict=True):
        seen = pattern >= 0
        agree = (complete[:, seen] == pattern[seen]).all(axis=1)
        np.testing.assert_allclose(
            p, truth[agree].sum(axis=0) * rate ** (~seen).sum() * (1 - rate) ** seen.sum()
        )
    assert masked.sum() == pytest.approx(1)


def test_columns_are_the_contract_for_any_number_of_workers():
    settings = {"n_runs": 2, "n_instances": 30, "duplicates": range(3)}
    frame = experiments.structure_robustness(**settings, n_jobs=1)
    assert list(frame) == ["duplicates", "run", "learner", "error", "bayes_error"]
    assert len(frame) == 2 * 3 * 2
    assert (frame["error"] >= frame["bayes_error"] - 1e-12).all()
    pd.testing.assert_frame_equal(frame, experiments.structure_robustness(**settings, n_jobs=2))


def test_the_chapter_shows_the_trial_that_others_call():
    notebook = nbformat.read(Path(__file__).parents[1] / "chapters" / "elr" / "structure.ipynb", 4)
    source = next(
        cell.source for cell in notebook.cells if cell.source.startswith("def copied_attributes(")
    )
    values = {
        "n_attributes": 4,
        "n_instances": 40,
        "learners": ["ofe", "elr"],
        "incomplete_learners": ["ofe", "em"],
        "smoothing": 1.0,
        "stopping": 5,
    }
    names = vars(experiments) | values
    exec(source.split("\n\n\n")[0], names)
    for rate, learners in ((0.0, values["learners"]), (0.3, values["incomplete_learners"])):
        expected = experiments.copied_attributes(
            Seeds(0, (1,)),
            m=2,
            n_attributes=4,
            n_instances=40,
            learners=learners,
            missing=rate,
            tests=(0.0, rate) if rate else (0.0,),
            stopping=5,
        )
        assert list(names["copied_attributes"](Seeds(0, (1,)), 2, rate)) == list(expected)


def test_learners_do_not_depend_on_their_company():
    model = experiments.StructureModel(
        experiments.duplicated_truth(4, 0), structures.chain(4, 3), 0.3, [0.0, 0.3]
    )
    sample = model.sample(40, np.random.default_rng(3))
    tables = dict(model.learn(sample, LEARNERS))
    for name in LEARNERS:
        np.testing.assert_array_equal(dict(model.learn(sample, [name]))[name], tables[name])


def test_logistic_regression_expresses_the_posterior_of_copies():
    """As samples grow, OFE counts each copy, and ELR does not."""
    settings = {
        "duplicates": [5],
        "n_instances": 50_000,
        "learners": ("ofe", "elr_converged"),
        "n_runs": 1,
    }
    errors = experiments.structure_robustness(**settings, n_jobs=1).set_index("learner")["error"]
    assert errors["ofe"] == pytest.approx(0.2)
    assert errors["elr_converged"] == pytest.approx(0.1)


@pytest.mark.parametrize("learner", ["ofe", "elr_fixed", "elr_converged", "em"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_errors_are_those_of_the_classifier(learner, missing):
    """The sample of a run, drawn again here, given to the estimator, and its errors summed over all inputs."""
    truth, n_instances = experiments.duplicated_truth(3, 2), 50
    frame = experiments.structure_robustness(
        3, [2], n_instances, missing, (learner,), n_runs=1, seed=5, n_jobs=1
    )
    p = experiments.mask_values(truth, missing) if missing else truth
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    rows, y = np.divmod(rng.choice(p.size, n_instances, p=p.ravel()), 2)
    X = experiments.inputs(3, missing=missing > 0)[rows].astype(float)
    X[X < 0] = np.nan
    steps = experiments.TUNED if learner == "elr_fixed" else None
    model = BayesNetClassifier(
        structures.naive(3), learner.split("_")[0], n_iterations=steps, max_iterations=500
    )
    wrong = model.fit(X, y).predict(experiments.inputs(3).astype(float)) != [[0], [1]]
    assert frame["error"].iloc[0] == pytest.approx((truth.T * wrong).sum(), abs=1e-12)


def test_one_sided_p_values():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.2, 1, (5, 8))
    expected = [stats.ttest_1samp(row, 0, alternative="greater").pvalue for row in differences]
    np.testing.assert_allclose(evaluation.one_sided_p_values(differences), expected, rtol=1e-12)
    assert evaluation.one_sided_p_values([[0, 0, 0], [1, 1, 1], [-1, -1, -1]]).tolist() == [1, 0, 1]
