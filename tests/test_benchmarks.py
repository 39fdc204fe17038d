"""Committed measurements can be read, are anonymous and say what pages need; what measures them measures that."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import builds, elr_times, precision
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib import benchmarks
from lib.benchmarks import growth, read_benchmarks, read_builds, read_precision, read_scaling
from lib.claims import CLAIMS_JSON
from lib.latent_class import em

MACHINE = {"processor", "cores", "python", "numpy", "scipy", "scikit-learn", "numba"}
READERS = [
    (read_benchmarks, benchmarks.RESULTS, "make bench", ["rows", "machine"]),
    (read_scaling, benchmarks.SCALING, "make bench", ["rows", "panels", "machine"]),
    (read_precision, benchmarks.PRECISION, r"python -m tests\.benchmarks\.precision", ["rows", "bounds", "machine"]),
    (read_builds, benchmarks.BUILDS, r"python -m tests\.benchmarks\.builds", ["rows", "cannot", "machine"]),
]


@pytest.mark.parametrize(("read", "path", "command", "names"), READERS)
def test_what_is_missing_or_broken_says_how_to_get_it(read, path, command, names, tmp_path):
    text, copied = path.read_text(encoding="utf-8"), tmp_path / path.name
    with pytest.raises(ValueError, match=f"no benchmark results .*`{command}` writes them"):
        read(copied)
    results = json.loads(text)
    bare = results | {"rows": [{"a": 1}] if read != read_benchmarks else 1}
    broken = [json.dumps({k: v for k, v in results.items() if k != name}) for name in names]
    for damage in ("", "{", "[]", "{}", text[: len(text) // 2], json.dumps(bare), *broken):
        copied.write_text(damage, encoding="utf-8")
        with pytest.raises(ValueError, match=f"broken; `{command}` writes them anew"):
            read(copied)


def test_results_are_complete_and_anonymous():
    rows, machine = read_benchmarks()
    assert set(machine) == MACHINE | {"stepmix", "river", "pgmpy"}
    compared = rows.dropna(subset="ratio")
    assert len(compared) >= 2
    assert ((compared["ratio_low"] <= compared["ratio"]) & (compared["ratio"] <= compared["ratio_high"])).all()
    times, machine = read_benchmarks(elr_times.RESULTS)
    assert set(machine) == MACHINE
    assert times["dataset"].value_counts().eq(5).all()
    rows, about = read_builds()
    assert set(about["machine"]) == MACHINE
    assert (rows["places"].map(len) == rows["different"]).all()
    assert rows.set_index("variant")["different"]["lock file"] == 0
    rows, about = read_precision()
    assert set(about["machine"]) == MACHINE
    assert about["bounds"] == precision.BOUNDS
    assert about["difficulty"]["largest_difference"] < 1e-4  # a hundredth of the tolerance of B
    assert (rows["largest_change"] >= (rows["accuracy32"] - rows["accuracy64"]).abs() - 1e-12).all()
    assert ((rows["share_different"] == 0) == rows["likelihood_gap"].isna()).all()


def test_stored_times_grow_as_fitted():
    """But for Winnow with many examples: it visits them in random order, which leaves the cache."""
    times, panels, about = read_scaling()
    assert set(times["axis"]) == {"s", "n", "restarts", "models"}
    assert set(panels["learner"]) == {"calibration", "em", "cov", "winnow"}
    assert np.median(about["efficiency"]) >= 0.85
    errors = growth(times).set_index(["learner", "axis"])["error"].drop(("winnow", "s"))
    assert (errors < 0.5).all(), errors


VALUES = np.array([10.0, 30.0, 100.0, 300.0])


def curve(seconds, axis="s", learner="em"):
    return pd.DataFrame({"axis": axis, "learner": learner, "value": VALUES, "seconds": seconds})


@given(st.floats(0, 10), st.floats(1e-6, 10))
def test_growth_is_recovered(start, rate):
    for axis, learner, power in (("s", "em", 1), ("n", "cov", 2)):
        [fit] = growth(curve(start + rate * VALUES**power, axis, learner)).itertuples()
        assert (fit.power, fit.start, fit.rate) == (
            power,
            pytest.approx(start, abs=1e-6),
            pytest.approx(rate, rel=1e-6),
        )
    [fit] = growth(curve(1 / VALUES)).itertuples()
    assert fit.rate == 0


@pytest.mark.parametrize(
    ("old", "new", "relative"),
    [
        ("| \N{MINUS SIGN}0.35 | 1e-05 |", "| -0.35 | 2e-05 |", 0.5),
        ("0.5", "-0.5", 2.0),
        ("0.0", "1e-300", 1.0),
        ("[1, 2]", "[1, 2, 3]", None),
        ("holds 0.5", "fails 0.5", None),
        ("0.350", "0.35", 0.0),
    ],
)
def test_relative_difference(old, new, relative):
    difference = builds.relative_difference(old, new)
    assert difference is None if relative is None else difference == pytest.approx(relative, abs=0)


def test_what_differs_between_notebooks():
    claim = {"id": "em-wins", "verdict": "holds", "value": 0.123456}
    outputs = [{builds.GLUED + "text/plain": "0.5"}, {builds.GLUED + CLAIMS_JSON: [claim]}, {"image/png": "AAAA"}]
    outputs = [new_output("display_data", data, metadata={"scrapbook": {"name": "it"}}) for data in outputs]
    notebook = new_notebook(cells=[new_code_cell("1", outputs=outputs)])
    other = copy.deepcopy(notebook)
    number, verdict, picture = other.cells[0].outputs
    picture.data["image/png"] = "BBBB"
    assert not any(v for k, v in builds.compare(notebook, other).items() if k != "compared")
    number.data = {builds.GLUED + "text/plain": "0.25"}
    verdict.data = {builds.GLUED + CLAIMS_JSON: [claim | {"verdict": "fails"}]}
    total = builds.total({"a": builds.compare(notebook, notebook), "b": builds.compare(notebook, other)})
    assert [total[k] for k in ("compared", "different", "largest_relative", "verdicts")] == [4, 2, 0.5, 1]
    assert total["places"][0] == "b: 0 it application/papermill.record/text/plain"
    del other.cells[0].outputs[0]
    assert builds.compare(notebook, other)["missing"] == builds.compare(other, notebook)["missing"] == 1


@pytest.mark.parametrize("name", ["em", "em_bic"])
def test_both_precisions_publish_the_same(name):
    panel = {"n_attributes": 8, "n_hidden": 3, "difficulty": 0.9, "sizes": [100, 300], "n_models": 3, "seed": 5}
    for row in precision.compare("chapter", name, panel | {"hidden_weights": "beta"}):
        assert abs(row["t32"] - row["t64"]) <= precision.BOUNDS["t"]
        assert abs(row["accuracy32"] - row["accuracy64"]) <= precision.BOUNDS["accuracy"]


@pytest.mark.parametrize("name", precision.EM_LEARNERS)
def test_the_search_has_the_precision_that_is_asked_for(name, monkeypatch):
    calls, maximize = [], em.maximize

    def spy(rows, counts, *arguments):
        calls.append((rows.size >= em._SMALL and counts.sum() > rows.shape[1], arguments[-1]))
        return maximize(rows, counts, *arguments)

    monkeypatch.setattr(em, "maximize", spy)
    X, y, _ = precision.random_cia(20, 2, 1.0, np.random.default_rng(0)).sample(600, np.random.default_rng(1))
    for dtype in ("float32", "float64"):
        calls.clear()
        precision.learner(name, 2, dtype).set_params(random_state=0).fit(X, y)
        assert calls[0][1] == (dtype if calls[0][0] else "float64")
        assert {used for _, used in calls} <= {dtype, "float64"}


def test_times_of_elr_are_measured_and_written(tmp_path):
    rows, reasons = elr_times.measure(["corral"], repetitions=1)
    assert reasons == {}
    elr_times.write(rows, {"cores": 1}, tmp_path / "elr_times.json")
    times, _ = read_benchmarks(tmp_path / "elr_times.json")
    assert times["learner"].value_counts().to_dict() == {"elr": 4, "svm": 1}
    assert (times["seconds"] > 0).all()
