import re

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib import figures
from lib.experiments import LEARNERS


@pytest.fixture
def frame():
    """T of "em" is 0.5 and of "winnow" 0.25 on every model, at every size."""
    rows = [
        (model, size, learner, 0.6 + 0.2 * t, 0.8, 0.6)
        for model in range(4)
        for size in (10, 100)
        for learner, t in (("em", 0.5), ("winnow", 0.25))
    ]
    return pd.DataFrame(rows, columns=["model", "size", "learner", "accuracy", "best", "constant"])


def test_every_learner_looks_different():
    looks = [tuple(figures.look(name)[key] for key in ("color", "marker")) for name in LEARNERS]
    assert set(LEARNERS) <= set(figures.LEARNERS)
    assert len(set(looks)) == len(looks)


def test_a_learner_of_ones_own_keeps_its_look():
    assert figures.look("mine") == figures.look("mine")
    assert figures.look("mine")["label"] == "mine"


def test_learning_curves_draw_t(frame):
    _, axis = plt.subplots()
    figures.draw_learning_curves(axis, frame)
    drawn = {container.get_label(): container.lines[0].get_xydata() for container in axis.containers}
    np.testing.assert_allclose(drawn["EM"], [(10, 0.5), (100, 0.5)])
    np.testing.assert_allclose(drawn["Winnow"], [(10, 0.25), (100, 0.25)])


def test_differences_draw_the_first_less_the_second(frame):
    _, axis = plt.subplots()
    figures.draw_differences(axis, frame, "winnow", "em")
    np.testing.assert_allclose(axis.containers[0].lines[0].get_ydata(orig=False), [-0.25, -0.25])


def test_the_crossing_map_says_what_has_no_number():
    values = [30.0, np.inf, np.nan, 2000.0]
    table = pd.DataFrame({"n_attributes": 10, "n_hidden": [2, 3, 2, 3], "difficulty": [0.8, 0.8, 0.9, 0.9]})
    drawn = figures.crossing_map(table.assign(crossing=values), sizes=(20, 3000))
    assert sorted(text.get_text() for text in drawn.axes[0].texts) == ["2,000", "30", "> 3,000", "?"]


def test_tables_are_numbered_and_harmless():
    made = figures.table(pd.DataFrame({"a|b": ["x|y"], "c": [0.12345]}), "A caption.", "tbl-x", {"c": ".2f"}).data
    lines = made.splitlines()
    assert lines[:2] == ["```{table} A caption.", ":name: tbl-x"]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in lines[3:-1])
    assert "0.12" in lines[-2]
    assert "0.123" not in lines[-2]


def test_table_words_for_numbers_that_are_not():
    made = figures.table(pd.DataFrame({"s": [np.inf, np.nan, 3.0]}), "c", "t", {"s": ".0f"}).data
    assert [line.strip("| ") for line in made.splitlines()[-4:-1]] == ["never", "—", "3"]


def test_glued_numbers_are_plain(monkeypatch):
    glued = {}
    monkeypatch.setattr("lib.figures.page.glue", lambda name, value, display: glued.update({name: value}))
    figures.glue_numbers(a=np.float64(1.23456789), b=np.int64(3), c=np.bool_(True), d="word")
    assert {name: repr(value) for name, value in glued.items()} == {
        "a": "1.23457",
        "b": "3",
        "c": "'yes'",
        "d": "'word'",
    }


def test_plus_minus():
    assert figures.plus_minus([0.123, np.nan], [0.045, np.nan]) == ["0.12\xa0±\xa00.04", "—"]
