"""The explorer: its measures, its data and its page."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from lib import evaluation
from lib.experiments import cia_panels
from lib.experiments.explorer import MEASURES, grid_measures, leads, winners
from lib.figures.explorer import SCALE, explorer, explorer_data
from lib.figures.explorer_charts import DARK, LIGHT, charts, contrast, marker_path, readable
from lib.figures.title import title_picture
from lib.figures.winners import winner_maps

PANEL = ["n_attributes", "n_hidden", "difficulty"]
AXES = {"n": "n_attributes", "k": "n_hidden", "b": "difficulty", "size": "size", "measure": "measure"}


@pytest.fixture(scope="module")
def results():
    settings = {"sizes": (20, 100), "n_models": 6, "learners": ("winnow", "em", "naive_bayes"), "seed": 3, "n_jobs": 1}
    return cia_panels([4, 10], [2, 5], [0.8, 0.9], **settings)


@pytest.fixture(scope="module")
def measures(results):
    return grid_measures(results)


def _made_up(learners, ns=(5, 9), ks=(2, 4), n_models=3):
    rng = np.random.default_rng(0)
    rows = [
        (n, k, 0.9, model, size, name, rng.uniform(0.6, 0.9), 0.9, 0.6)
        for n in ns
        for k in ks
        for model in range(n_models)
        for size in (10, 50)
        for name in learners
    ]
    return pd.DataFrame(rows, columns=[*PANEL, "model", "size", "learner", "accuracy", "best", "constant"])


def _page_data(page):
    return json.loads(re.search(r'id="explorer-data">(.*?)</script>', page.data, re.S).group(1))


@pytest.mark.parametrize(("measure", "min_gain"), [("t", 0.02), ("t_any", 0.0), ("t_wide", 0.05)])
def test_measures_are_those_of_the_chapters(results, measures, measure, min_gain):
    for point, panel in results.groupby(PANEL):
        theirs = evaluation.normalized_performance(panel, min_gain).set_index(["size", "learner"])
        ours = measures[(measures[PANEL] == list(point)).all(axis=1)].set_index(["measure", "size", "learner"])
        ours_t = ours.loc[measure].loc[theirs.index]
        np.testing.assert_allclose(ours_t[["value", "se"]], theirs[["t", "se"]])
        assert (ours_t["n_models"] == theirs["n_models"]).all()
        np.testing.assert_allclose(ours.loc["pooled"].loc[theirs.index, "value"], theirs["t_pooled"])


def test_standard_error_of_the_pooled_ratio_is_that_of_leaving_models_out(results, measures):
    panel = results.query("n_attributes == 10 and n_hidden == 5 and difficulty == 0.9 and size == 100")
    panel = panel[panel["learner"] == "em"]
    won, gain = panel["accuracy"] - panel["constant"], panel["best"] - panel["constant"]
    without = ((won.sum() - won) / (gain.sum() - gain)).to_numpy()
    jackknife = np.sqrt((len(panel) - 1) / len(panel) * ((without - without.mean()) ** 2).sum())
    ours = measures.query(
        "n_attributes == 10 and n_hidden == 5 and difficulty == 0.9 and size == 100 and measure == 'pooled'"
    )
    assert ours.set_index("learner").loc["em", "se"] == pytest.approx(jackknife, rel=0.3)


def test_leads_are_paired_differences(results, measures):
    ours = leads(measures, "winnow", "em").query("measure == 't'").set_index([*PANEL, "size"])
    panel = results.query("n_attributes == 10 and n_hidden == 5 and difficulty == 0.8")
    for size, column in evaluation.paired_differences(panel, "winnow", "em").items():
        row = ours.loc[(10, 5, 0.8, size)]
        assert row["lead"] == pytest.approx(column.mean())
        assert row["se"] == pytest.approx(column.sem())


@pytest.mark.parametrize("measure", MEASURES)
def test_the_winner_has_the_largest_value(measures, measure):
    ahead = winners(measures, measure, 100).set_index(PANEL)
    chosen = measures.query(f"size == 100 and measure == '{measure}'").dropna(subset="value")
    for point, part in chosen.groupby(PANEL):
        values = part.set_index("learner")["value"].sort_values()
        assert values[ahead.loc[point, "learner"]] == values.iloc[-1]
        assert ahead.loc[point, "lead"] == pytest.approx(values.iloc[-1] - values.iloc[-2])


def test_data_of_the_page_are_the_frame(measures):
    data = explorer_data(measures)
    assert data == _page_data(explorer(measures))
    axes = [data["axes"][name] for name in (*AXES, "learner")]
    values = np.array(data["value"], dtype=float).reshape([len(axis) for axis in axes])
    for row in measures.itertuples():
        place = [row.n_attributes, row.n_hidden, row.difficulty, row.size, row.measure, row.learner]
        value = values[tuple(axis.index(each) for axis, each in zip(axes, place, strict=True))]
        np.testing.assert_allclose(value / SCALE, row.value, atol=0.5 / SCALE)


def test_an_incomplete_grid_is_refused(measures):
    with pytest.raises(ValueError, match="one row for each combination"):
        explorer_data(measures.iloc[1:])
    with pytest.raises(ValueError, match="one row for each combination"):
        explorer_data(pd.concat([measures, measures.iloc[:1]]))


def test_hostile_names_stay_text():
    name = "</script><img src=x onerror=alert(1)>\"'&"
    page = explorer(grid_measures(_made_up(["em", name]))).data
    assert "<img" not in page
    assert _page_data(explorer(grid_measures(_made_up(["em", name]))))["axes"]["learner"] == ["em", name]


@pytest.mark.parametrize("arguments", [{"ns": [5]}, {"ks": [3]}, {"n_models": 1}, {"learners": ["winnow"]}])
def test_small_grids_work(arguments):
    measures = grid_measures(_made_up(**{"learners": ["em", "winnow"], **arguments}))
    assert 'id="explorer-table"' in explorer(measures).data
    winner_maps(measures, 50)


def test_two_runs_give_the_same_page(measures):
    assert explorer(measures).data == explorer(measures.copy()).data


def test_no_address_of_another_host(measures):
    page = explorer(measures).data
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses
    assert all(address.startswith("../_static/") for address in addresses)


def test_charts_read_the_grid_and_follow_the_controls():
    for spec in charts(["em", "winnow"], [10, 100]).values():
        assert spec["data"] == {"name": "grid"}
        assert {each["name"] for each in spec["params"]} >= {"n", "k", "b", "t", "size", "learners", "dark"}
        assert spec["$schema"].endswith("vega-lite/v6.4.1.json")


@pytest.mark.parametrize("background", [LIGHT, DARK])
@pytest.mark.parametrize("color", ["#56B4E9", "#332288", "#7F7F7F", "#F0B8A0"])
def test_colours_can_be_told_from_the_background(color, background):
    assert contrast(readable(color, background), background) >= 3
    if contrast(color, background) >= 4.5:
        assert readable(color, background) == color.lower()


def test_contrast_of_black_and_white():
    assert contrast("black", "white") == pytest.approx(21)


@pytest.mark.parametrize("marker", "o^sDv<>PXdph*H")
def test_markers_fit_their_box(marker):
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", marker_path(marker))]
    assert max(map(abs, numbers)) == pytest.approx(1, abs=1e-3)


def test_title_picture_draws_what_it_is_given(measures):
    errors = pd.DataFrame({"duplicates": [0, 0, 1, 1], "run": [0, 0, 0, 0], "learner": ["ofe", "elr"] * 2})
    errors = errors.assign(error=[0.1, 0.1, 0.4, 0.2], bayes_error=0.1)
    shown = measures.query("n_attributes == 10 and difficulty == 0.9 and size == 100")
    left, right = title_picture(shown, errors).axes
    drawn = [list(line.get_ydata()) for line in left.lines]
    t = shown[shown["measure"] == "t"].set_index(["learner", "n_hidden"])["value"]
    assert drawn == [list(t["em"]), list(t["winnow"])]
    assert [list(line.get_ydata()) for line in right.lines] == [[0.1, 0.4], [0.1, 0.2], [0.1, 0.1]]
