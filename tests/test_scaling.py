"""Growth of time: fits recover what they were made from, and a plan is their arithmetic."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.figures.speed import scaling
from lib.scaling import growth, plan, read_scaling

VALUES = np.array([10.0, 30.0, 100.0, 300.0])
ABOUT = {"efficiency": [0.8, 0.5, 0.9], "block": {"attributes": 100, "sent": 900, "returned": 2000, "memory": 300}}


def curve(seconds, axis="s", learner="em", values=VALUES):
    return pd.DataFrame({"axis": axis, "learner": learner, "value": values, "seconds": seconds})


@given(st.floats(0, 10), st.floats(1e-6, 10))
def test_linear_growth_is_recovered(start, rate):
    [fit] = growth(curve(start + rate * VALUES)).itertuples()
    assert (fit.power, fit.start, fit.rate) == (1, pytest.approx(start, abs=1e-6), pytest.approx(rate, rel=1e-6))
    assert fit.error < 1e-6


def test_growth_with_all_pairs_of_attributes():
    frame = pd.concat([curve(1 + VALUES**2, "n", "cov"), curve(1 + VALUES**2, "n", "em")])
    quadratic, linear = growth(frame).itertuples()
    assert quadratic.power == 2
    assert quadratic.error < 1e-9
    assert linear.power == 1
    assert linear.error > 0.1


def test_neither_start_nor_rate_is_negative():
    [fit] = growth(curve(VALUES - 5)).itertuples()
    assert fit.start == 0
    [fit] = growth(curve(1 / VALUES)).itertuples()
    assert fit.rate == 0


def test_plan_is_the_sum_over_models():
    panels = pd.concat(
        [
            pd.DataFrame({"n_attributes": [10, 100], "learner": name, "seconds": seconds})
            for name, seconds in {"calibration": [1.0, 5.0], "em": [2.0, 20.0], "cov": [1.0, 100.0]}.items()
        ]
    )
    made = plan(panels, ABOUT, 3600, 100, 4).set_index("quantity")["value"]
    assert made["one model, EM"] == "20.0 s"
    assert made["all models on one core"] == "120 hours"
    assert made["on 4 cores at 80% efficiency"] == "37.5 hours"
    assert made["calibration, once, before"] == "5 s"
    assert made["stored in all"] == "7 MB"
    beyond = plan(panels, ABOUT, 1, 1000, 4).set_index("quantity")["value"]
    assert beyond["one model, EM"] == "200.0 s"
    assert beyond["one model, COV"] == "10,000.0 s"


def test_the_stored_times_are_complete():
    times, panels, about = read_scaling()
    assert set(times["axis"]) == {"s", "n", "restarts", "models"}
    assert set(panels["learner"]) == {"calibration", "em", "cov", "winnow"}
    assert np.median(about["efficiency"]) >= 0.85
    assert set(about["peaks"]) == {"sample", "em", "cov", "winnow"}
    picture = scaling(times, growth(times))
    assert [len(axis.lines) for axis in picture.axes] == [6, 6, 4, 2]
    plt.close(picture)


def test_the_stored_times_grow_as_fitted():
    """But for Winnow with many examples: it visits them in random order, which leaves the cache."""
    fits = growth(read_scaling()[0]).set_index(["learner", "axis"])
    errors = fits["error"].drop(("winnow", "s"))
    assert len(errors) == len(fits) - 1
    assert (errors < 0.5).all(), errors


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": 1, "panels": []}', "no json"])
def test_broken_results_are_an_error_that_says_what_to_do(tmp_path, text):
    (tmp_path / "scaling.json").write_text(text)
    with pytest.raises(ValueError, match="make bench"):
        read_scaling(tmp_path / "scaling.json")
    with pytest.raises(ValueError, match="make bench"):
        read_scaling(tmp_path / "absent.json")
