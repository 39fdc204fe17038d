"""The committed benchmark results can be read and say what a page needs; ELR's times are of what the book trains."""

import numpy as np
import pytest
from benchmarks import elr_times

from lib.benchmarks import read_benchmarks
from lib.experiments.elr_data import coded, problem
from lib.experiments.elr_peers import PEERS
from lib.experiments.elr_uci import elr_uci_study


def test_results_are_complete_and_anonymous():
    rows, machine = read_benchmarks()
    assert {"job", "ours", "peer", "unit", "ratio", "ratio_low", "ratio_high", "target", "aim"} <= set(rows.columns)
    compared = rows.dropna(subset="ratio")
    assert len(compared) >= 2
    assert (compared["ratio_low"] <= compared["ratio"]).all()
    assert (compared["ratio"] <= compared["ratio_high"]).all()
    assert set(machine) == {
        "processor",
        "cores",
        "python",
        "numpy",
        "scipy",
        "scikit-learn",
        "numba",
        "stepmix",
        "river",
        "pgmpy",
    }
    assert not rows[["job", "ours", "unit"]].isna().any(axis=None)


def test_missing_results_say_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match="make bench"):
        read_benchmarks(tmp_path / "speed.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"rows": []}', '{"rows": [], "machine": 3}'])
def test_broken_results_say_how_to_get_new_ones(tmp_path, text):
    path = tmp_path / "speed.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="broken; `make bench` writes them anew"):
        read_benchmarks(path)


@pytest.fixture(scope="module")
def parts():
    return list(elr_times.training_parts(problem("corral")))


def test_times_of_elr_are_measured_and_written(tmp_path):
    rows, reasons = elr_times.measure(["corral"], repetitions=1)
    assert reasons == {}
    elr_times.write(rows, {"cores": 1}, tmp_path / "elr_times.json")
    read, machine = read_benchmarks(tmp_path / "elr_times.json")
    assert machine == {"cores": 1}
    assert set(read["dataset"]) == {"corral"}
    assert read["learner"].value_counts().to_dict() == {"elr": 4, "svm": 1}
    assert (read["seconds"] > 0).all()
    assert "corral" in elr_times.table(rows)


@pytest.mark.parametrize("structure", ["naive", "tan"])
@pytest.mark.parametrize(("tuned", "learner"), [(True, "elr"), (False, "elr_fixed")])
def test_the_elr_that_is_timed_is_that_of_the_experiment(parts, structure, tuned, learner):
    learned = elr_times.train_elr(parts, structure, tuned)
    study = elr_uci_study(["corral"], [structure], [learner])
    assert [one.n_iterations for one in learned] == study["n_iterations"].tolist()


@pytest.mark.parametrize("name", ["corral", "pima"])
def test_the_svm_that_is_timed_gets_the_columns_of_the_experiment(name):
    data = problem(name).data
    rows = np.arange(len(data.y))
    codes, sizes = coded(data, rows, rows[:1])
    columns = PEERS["svm_paper"](0)[:-1].fit_transform(data.X, data.y)
    np.testing.assert_array_equal(elr_times.one_hot(codes[:-1], sizes), columns)


def test_committed_times_of_elr_are_anonymous():
    rows, machine = read_benchmarks(elr_times.RESULTS)
    assert set(rows["dataset"]) <= set(elr_times.DATASETS)
    assert rows["dataset"].value_counts().eq(5).all()
    assert set(machine) == {"processor", "cores", "python", "numpy", "scipy", "scikit-learn", "numba"}
