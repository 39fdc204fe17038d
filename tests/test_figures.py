import re

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
import pytest

from lib import figures
from lib.experiments import CIA_LEARNERS


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


ELR = ["elr", "ofe", "apn", "elr_forced", "elr_converged", "elr_fixed", "selective", "svm_paper", "svm_rbf", "boosting"]


@pytest.mark.parametrize("names", [CIA_LEARNERS, [*ELR, "forest", "tree"]])
def test_the_learners_of_a_part_look_different(names):
    assert set(names) <= set(figures.LEARNERS)
    for keys in (["color", "marker"], ["label"]):
        assert len({tuple(figures.look(name)[key] for key in keys) for name in names}) == len(names)


def test_a_learner_of_ones_own_keeps_its_look():
    assert figures.look("mine") == figures.look("mine")
    assert figures.look("mine")["label"] == "mine"


def test_learning_curves_draw_t(frame):
    grid = figures.learning_curves(frame.assign(n_attributes=5, n_hidden=2, difficulty=0.9))
    drawn = [line.get_xydata() for line in grid.ax.lines if line.get_linestyle() != "None"][:2]
    np.testing.assert_allclose(drawn, [[(10, 0.5), (100, 0.5)], [(10, 0.25), (100, 0.25)]])
    assert [text.get_text() for text in grid.figure.legends[0].get_texts()] == ["EM", "Winnow"]
    assert grid.ax.get_title() == "CIA(5, 2, 0.9)"


@pytest.mark.parametrize(
    ("size", "words"), [(30.0, "30"), (2000.0, "2,000"), (np.inf, "> 3,000"), (20.0, "≤ 20"), (np.nan, "?")]
)
def test_crossing_sizes_in_words(size, words):
    assert figures.size_words(size, (20, 3000)) == words


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
    texts = figures.plus_minus([0.123, np.nan, -1.0], [0.045, np.nan, np.nan])
    assert texts == ["0.12\xa0±\xa00.04", "—", "−1.00\xa0±\xa0—"]
