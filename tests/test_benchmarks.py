"""Committed measurements can be read, are anonymous and complete; so are those made anew."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import chapters, elr_times, learners
from hypothesis import given
from hypothesis import strategies as st

from lib.benchmarks import growth, read_benchmarks, read_scaling
from lib.learners import all_learners

MACHINE = {"processor", "cores", "python", "numpy", "scipy", "scikit-learn", "numba"}


def test_results_are_complete_and_anonymous():
    rows, machine = read_benchmarks()
    assert set(machine) == MACHINE | {"stepmix", "river", "pgmpy"}
    comparisons = rows.dropna(subset="ratio")
    assert len(comparisons) >= 2
    for name in ("ratio", "ratio_median"):
        ratios = comparisons[name]
        assert ratios.between(comparisons["ratio_low"], comparisons["ratio_high"]).all()
    chapter_times, machine = read_benchmarks(chapters.RESULTS)
    assert set(machine) == MACHINE
    assert (chapter_times["processor"] > 0).all()
    times, machine = read_benchmarks(elr_times.RESULTS)
    assert set(machine) == MACHINE
    assert times["dataset"].value_counts().eq(5).all()


def test_stored_times_grow_as_fitted():
    times, panels, details = read_scaling()
    assert set(times["axis"]) == {"s", "n", "restarts", "k", "rows", "classes", "models"}
    assert set(panels["learner"]) == {"calibration", "em", "cov", "winnow"}
    assert np.median(details["efficiency"]) >= 0.85
    errors = growth(times).set_index(["learner", "axis"])["error"]
    assert (errors < 0.5).all(), errors


VALUES = np.array([10.0, 30.0, 100.0, 300.0])


def curve(seconds, axis="s", learner="em"):
    """Times of a learner along one axis of sizes."""
    return pd.DataFrame({"axis": axis, "learner": learner, "value": VALUES, "seconds": seconds})


@given(st.floats(0, 10), st.floats(1e-6, 10))
def test_growth_is_recovered(start, rate):
    """EM is linear in examples, COV quadratic in attributes; times that fall do not grow."""
    for axis, learner, power in (("s", "em", 1), ("n", "cov", 2)):
        [fit] = growth(curve(start + rate * VALUES**power, axis, learner)).itertuples()
        assert fit.power == power
        assert fit.start == pytest.approx(start, abs=1e-6)
        assert fit.rate == pytest.approx(rate, rel=1e-6)
    [fit] = growth(curve(1 / VALUES)).itertuples()
    assert fit.rate == 0


def test_times_of_elr_are_measured_and_written(tmp_path):
    rows, reasons = elr_times.measure(["corral"], repetitions=1)
    assert reasons == {}
    elr_times.write(rows, {"cores": 1}, tmp_path / "elr_times.json")
    times, _ = read_benchmarks(tmp_path / "elr_times.json")
    assert times["learner"].value_counts().to_dict() == {"elr": 4, "svm": 1}
    assert (times["seconds"] > 0).all()


def test_every_learner_is_measured():
    names = {member.__name__ for members in all_learners().values() for member in members}
    measured = {name.split(",")[0] for name in learners.KINDS}
    assert names - measured == set()


@pytest.mark.slow
def test_growth_of_a_learner_is_measured_until_the_cap():
    sizes = (2_000, 4_000, 200_000)  # of which the last takes half an hour
    [row] = learners.measure(["relieff"], sizes, cap=2)
    first, second, stopped = row["seconds"]
    assert row["exponent"] == pytest.approx(np.log2(second / first), abs=0.1)
    assert stopped is row["memory"][2] is None
    assert learners.line(row, sizes).count("stopped") == 1
