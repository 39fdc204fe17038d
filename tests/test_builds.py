"""What counts as a difference between two runs of a notebook, on notebooks made up for it."""

import copy
import json

import nbformat
import pytest
from benchmarks import builds
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.benchmarks import BUILDS, read_builds
from lib.claims import CLAIMS_JSON

CLAIM = {"id": "em-wins", "verdict": "holds", "value": 0.123456}


def glued(name, data):
    return new_output("display_data", data, metadata={"scrapbook": {"name": name}})


@pytest.fixture
def notebook():
    verdicts = {builds.GLUED + CLAIMS_JSON: [CLAIM], builds.GLUED + "text/plain": "holds: EM wins (0.123)"}
    picture = {"image/png": "AAAA", "text/plain": "<Figure size 748x660 with 4 Axes>"}
    outputs = [
        new_output("stream", name="stdout", text="6 panels x 10 models\n"),
        new_output("stream", name="stderr", text="a warning\n"),
        glued("t_of_em", {builds.GLUED + "text/plain": "0.954734"}),
        glued("table", {builds.GLUED + "text/markdown": "| T | \N{MINUS SIGN}0.35 | 1e-05 |"}),
        glued("verdicts", verdicts),
        new_output("display_data", picture),
    ]
    return new_notebook(cells=[new_code_cell("1", outputs=outputs), new_code_cell("2")])


def changed(notebook, output, kind, value):
    other = copy.deepcopy(notebook)
    other.cells[0].outputs[output].data[kind] = value
    return other


def test_equal_notebooks(notebook):
    other = changed(notebook, 5, "image/png", "BBBB")  # pictures and warnings do not count
    other.cells[0].outputs[1].text = "another"
    found = builds.compare(notebook, nbformat.from_dict(other))
    assert found.pop("compared") == 4
    assert found.pop("places") == []
    assert not any(found.values())


def test_a_number_a_little_off(notebook):
    found = builds.compare(notebook, changed(notebook, 2, builds.GLUED + "text/plain", repr(0.954734 * (1 + 1e-12))))
    assert (found["different"], found["words"], found["missing"], found["verdicts"]) == (1, 0, 0, 0)
    assert found["largest_relative"] == pytest.approx(1e-12, rel=1e-3)
    assert found["places"] == ["0 t_of_em application/papermill.record/text/plain"]


def test_a_verdict_that_changed(notebook):
    other = changed(notebook, 4, builds.GLUED + CLAIMS_JSON, [CLAIM | {"verdict": "fails"}])
    found = builds.compare(notebook, other)
    assert (found["different"], found["words"], found["verdicts"]) == (1, 1, 1)


def test_an_output_that_is_missing(notebook):
    other = copy.deepcopy(notebook)
    del other.cells[0].outputs[2]
    for pair in ((notebook, other), (other, notebook)):
        found = builds.compare(*pair)
        assert (found["compared"], found["different"], found["missing"]) == (4, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "relative"),
    [
        ("| \N{MINUS SIGN}0.35 | 1e-05 |", "| -0.35 | 2e-05 |", 0.5),
        ("0.5", "-0.5", 2.0),
        ("0.0", "1e-300", 1.0),
        ("[1, 2]", "[1, 2, 3]", None),
        ("holds 0.5", "fails 0.5", None),
        ("0.35", "nan", None),
        ("0.350", "0.35", 0.0),
    ],
)
def test_relative_difference(old, new, relative):
    found = builds.relative_difference(old, new)
    assert found is None if relative is None else found == pytest.approx(relative, abs=0)


def test_totals(notebook):
    other = changed(notebook, 3, builds.GLUED + "text/markdown", "| T | \N{MINUS SIGN}0.70 | 1e-05 |")
    found = builds.total({"a": builds.compare(notebook, notebook), "b": builds.compare(notebook, other)})
    assert (found["compared"], found["different"], found["largest_relative"]) == (8, 1, 0.5)
    assert found["places"] == ["b: 0 table application/papermill.record/text/markdown"]


def test_pins_have_all_but_numpy(tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text('a==1 ; python_version < "3" \\\n    --hash=sha256:0\nnumpy==2.4.6 \\\n    --hash=sha256:1\nb==2\n')
    assert builds.pins(lock) == ['a==1 ; python_version < "3"', "b==2"]


def test_a_variant_inherits_no_numeric_setting(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(builds, "ask", lambda python, known: asked.append(known) or {"simd": ["X86_V3", "X86_V4"]})
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES", "UCI_MIRROR"):
        monkeypatch.setenv(name, "1")
    known, _ = builds.variables("python", builds.Variant(variables={"OPENBLAS_CORETYPE": "Nehalem"}), tmp_path)
    assert known["OPENBLAS_CORETYPE"] == "Nehalem"
    assert not {"OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES", "UCI_MIRROR"} & set(known)
    known, _ = builds.variables("python", builds.Variant(without_simd=".*V4"), tmp_path)
    assert known["NPY_DISABLE_CPU_FEATURES"] == "X86_V4"
    assert asked[-1] == known


def test_committed_results_can_be_read_and_are_anonymous():
    rows, about = read_builds()
    assert set(rows["variant"]) | set(about["cannot"]) <= set(builds.VARIANTS)
    assert rows["variant"].is_unique
    assert (rows["different"] <= rows["compared"]).all()
    assert (rows["places"].map(len) == rows["different"]).all()
    assert "lock file" in set(rows["variant"])
    assert set(about["machine"]) == {"processor", "cores", "python", "numpy", "scipy", "scikit-learn", "numba"}


def test_committed_notebooks_are_what_the_lock_file_gives():
    """And another numpy was tried."""
    rows, about = read_builds()
    [different] = rows.loc[rows["variant"] == "lock file", "different"]
    assert different == 0
    assert set(rows["numpy"]) > {about["machine"]["numpy"]}


@pytest.mark.parametrize("broken", ["rows", "cannot", "machine", "column"])
def test_broken_results_say_how_to_get_new_ones(tmp_path, broken):
    results, path = json.loads(BUILDS.read_text(encoding="utf-8")), tmp_path / "builds.json"
    if broken == "column":
        for row in results["rows"]:
            del row["verdicts"]
    results.pop(broken, None)
    path.write_text(json.dumps(results), encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken; `python -m tests\.benchmarks\.builds` writes them anew"):
        read_builds(path)


def test_missing_results_say_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match=r"python -m tests\.benchmarks\.builds. writes them"):
        read_builds(tmp_path / "builds.json")
