"""Searches in float32 and float64 publish the same; the committed results say so and can be read."""

import json
import re

import numpy as np
import pytest
from benchmarks import precision

from lib.benchmarks import PRECISION, read_precision
from lib.book.project import Project
from lib.cia import all_inputs, random_cia, sample_cia
from lib.experiments.baselines import make_learners
from lib.experiments.cia_curves import TestInputs
from lib.latent_class import LatentClassEM, em
from lib.trials.legacy import keyed_seed, trial_seed

SMALL = {"difficulty": 0.9, "sizes": [100, 300], "n_models": 3, "seed": 5, "hidden_weights": "beta"}


@pytest.mark.parametrize("name", ["em", "em_true_k", "em_bic"])
def test_both_precisions_publish_the_same(name):
    rows = precision.compare("chapter", name, SMALL | {"n_attributes": 8, "n_hidden": 3})
    assert [row["size"] for row in rows] == SMALL["sizes"]
    for row in rows:
        assert row["learner"] == name
        assert abs(row["t32"] - row["t64"]) <= precision.BOUNDS["t"]
        assert abs(row["accuracy32"] - row["accuracy64"]) <= precision.BOUNDS["accuracy"]


@pytest.mark.parametrize("n_hidden", [2, 5])
def test_where_predictions_differ_the_likelihoods_do_not(n_hidden):
    """On a few examples the likelihood has several maxima of the same height; rounding decides between them."""
    differing = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = random_cia(8, n_hidden, 1.0, rng)
        X, y, _ = model.sample(12, rng)
        X, y = np.vstack([X, X[:2]]), np.append(y, [0, 1])
        single, double = (LatentClassEM(n_hidden, random_state=seed, dtype=d).fit(X, y) for d in ("float32", "float64"))
        differing += (single.predict(all_inputs(8)) != double.predict(all_inputs(8))).any()
        assert single.log_likelihood_ == pytest.approx(double.log_likelihood_, abs=1e-5)
    assert differing <= 5


def test_the_fits_behind_a_point_are_those_of_the_experiment():
    arguments = SMALL | {"sizes": [40], "n_models": 1, "n_attributes": 8, "n_hidden": 3}
    (row,) = precision.compare("chapter", "em", arguments)
    seed = trial_seed(arguments["seed"], 0)
    model = sample_cia(8, 3, arguments["difficulty"], np.random.default_rng(keyed_seed(seed, 0)))
    test = TestInputs(model, 1, np.random.default_rng(0))
    accuracy = [test.accuracy(fitted.predict(test.X)) for fitted in precision.fits("em", arguments, 40, 0)]
    assert accuracy == [row["accuracy32"], row["accuracy64"]]


def test_a_learner_of_lower_accuracy_is_seen(monkeypatch):
    def shortened(name, n_hidden, dtype):
        return LatentClassEM(n_hidden, dtype=dtype, max_iterations=1 if dtype == "float64" else 1000, tolerance=0)

    monkeypatch.setattr(precision, "learner", shortened)
    (row,) = precision.compare("chapter", "em", SMALL | {"sizes": [300], "n_attributes": 8, "n_hidden": 2})
    assert row["share_different"] > 0
    assert row["largest_change"] >= abs(row["accuracy32"] - row["accuracy64"]) > precision.BOUNDS["accuracy"]
    assert len(precision.beyond(precision.pd.DataFrame([row]))) == 1


@pytest.mark.parametrize("name", precision.EM_LEARNERS)
def test_the_search_has_the_precision_that_is_asked_for(name, monkeypatch):
    asked, maximize = [], em.maximize

    def spy(*arguments):
        rows, counts = arguments[:2]
        asked.append((rows.size >= em._SMALL and counts.sum() > rows.shape[1], arguments[-2]))
        return maximize(*arguments)

    monkeypatch.setattr(em, "maximize", spy)
    for size in (60, 600):
        X, y, _ = random_cia(20, 2, 1.0, np.random.default_rng(0)).sample(size, np.random.default_rng(1))
        for dtype in ("float32", "float64"):
            asked.clear()
            precision.learner(name, 2, dtype).set_params(random_state=0).fit(X, y)
            assert asked[0][1] == (dtype if asked[0][0] else "float64")
            assert {used for large, used in asked} <= {dtype, "float64"}
            assert all(used == "float64" for large, used in asked if not large)


def _code(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def test_the_published_calls_name_all_em_learners_of_the_chapters():
    calls = list(precision.published(Project(precision.ROOT)))
    project = Project(precision.ROOT)
    with_curves = [
        c for c in project.chapters if re.search("cia_(panels|learning_curves)\\(", _code(project.notebook(c)))
    ]
    assert {chapter.split(",")[0] for chapter, *_ in calls} == set(with_curves)
    keys = [(chapter, name, json.dumps(arguments)) for chapter, name, arguments in calls]
    assert len(set(keys)) == len(keys)
    for _, name, arguments in calls:
        assert make_learners([name], arguments["n_hidden"])


def test_difficulty_hardly_depends_on_the_precision():
    b = precision.difficulties(6, n_draws=500)
    assert b["b32"].between(0.1, 1).all()
    assert np.abs(b["b32"] - b["b64"]).max() < 1e-6


def test_the_committed_differences_are_within_the_bounds_or_shown():
    rows, about = read_precision()
    assert about["bounds"] == precision.BOUNDS
    assert about["difficulty"]["largest_difference"] < 1e-4  # a hundredth of the tolerance of B
    assert not rows.drop(columns=["t32", "t64", "se", "likelihood_gap"]).isna().any(axis=None)
    assert (rows["t32"].isna() == rows["t64"].isna()).all()
    assert (rows["largest_change"] >= (rows["accuracy32"] - rows["accuracy64"]).abs() - 1e-12).all()
    assert ((rows["share_different"] == 0) == (rows["largest_change"] == 0)).all()
    assert ((rows["share_different"] == 0) == rows["likelihood_gap"].isna()).all()
    assert set(about["machine"]) == {"processor", "cores", "python", "numpy", "scipy", "scikit-learn", "numba"}


def test_missing_results_say_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match=r"python -m tests\.benchmarks\.precision. writes them"):
        read_precision(tmp_path / "precision.json")


@pytest.mark.parametrize("broken", ["cut", "bounds", "machine", "rows", "column"])
def test_broken_results_say_how_to_get_new_ones(tmp_path, broken):
    results, path = json.loads(PRECISION.read_text(encoding="utf-8")), tmp_path / "precision.json"
    if broken == "column":
        for row in results["rows"]:
            del row["t64"]
    results.pop(broken, None)
    text = json.dumps(results)
    path.write_text(text[: len(text) // 2] if broken == "cut" else text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken; `python -m tests\.benchmarks\.precision` writes them anew"):
        read_precision(path)
