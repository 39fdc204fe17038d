"""The explorer's page, as its notebook and lib.figures make it: complete, and names stay text."""

import itertools
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from lib import evaluation
from lib.base.colour import contrast
from lib.figures.explorer import marker_path, readable_colour

NOTEBOOK = Path(__file__).parents[1] / "chapters" / "explorer.ipynb"
CELLS_AFTER_EXPERIMENT = [
    "cell-02-measures",
    "cell-02-errors",
    "d07f6b39",  # intervals
    "cell-02-winners",
    "cell-04-words",
    "1b94e7d3",  # the world
    "60f2ac85",  # the table
]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


def run(learners, ns=(5, 9), ks=(2, 4), n_models=3):
    """The names of the notebook after its cells, with random results for its experiment.

    "page" is what the last cell displays.
    """
    difficulty = 0.9
    sizes = [10, 50]
    keys = itertools.product(ns, ks, [difficulty], range(n_models), sizes, learners)
    columns = ["n_attributes", "n_hidden", "difficulty", "model", "size", "learner"]
    results = pd.DataFrame(keys, columns=columns).assign(best=0.9, constant=0.6)
    results["accuracy"] = np.random.default_rng(0).uniform(0.6, 0.9, len(results))
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, 4).cells}
    names = {}
    exec(cells["cell-01"], names)
    names["n_jobs"] = 1
    names["n_attributes"] = list(ns)
    names["n_hidden"] = list(ks)
    names["difficulties"] = [difficulty]
    names["sizes"] = sizes
    exec(cells["cell-02"], names)
    names["learners"] = list(learners)
    names["results"] = results
    for cell_id in CELLS_AFTER_EXPERIMENT:
        exec(cells[cell_id], names)
    exec(cells["cell-04"].replace("\nHTML(", "\npage = HTML("), names)
    return names


@pytest.fixture(scope="module")
def names():
    return run(["winnow", "em", HOSTILE])


def test_measures_are_those_of_the_chapters(names):
    keys = [*names["PANEL"], "measure", "size", "learner"]
    all_measures = names["measures"].set_index(keys)
    for point, panel in names["results"].groupby(names["PANEL"]):
        expected = evaluation.normalized_performance(panel).set_index(["size", "learner"])
        measures = all_measures.loc[point]
        t = measures.loc["t"].loc[expected.index]
        np.testing.assert_allclose(t[["value", "se"]].astype(float), expected[["t", "se"]])
        pooled_values = measures.loc["pooled"].loc[expected.index, "value"]
        np.testing.assert_allclose(pooled_values, expected["t_pooled"])
        leads = evaluation.paired_differences(panel, "winnow", "em")
        standard_errors = [t.loc[(size, "winnow"), "apart"][1] for size in leads]
        np.testing.assert_allclose(standard_errors, leads.sem())


def test_the_winner_has_the_largest_value(names):
    measures = names["measures"].query("measure == 'pooled' and size == 50")
    measures = measures.set_index(names["PANEL"])
    for row in names["winners"]("pooled", 50).itertuples():
        point = (row.n_attributes, row.n_hidden, row.difficulty)
        values = measures.loc[point].set_index("learner")["value"]
        first, second = values.sort_values(ascending=False).iloc[:2]
        assert values[row.learner] == pytest.approx(first)
        assert row.lead == pytest.approx(first - second)


def test_a_lead_needs_ten_models_and_an_interval_for_all_pairs(names):
    assert np.isnan(names["halfwidth"](9, 3))
    # Student's t, 9 degrees of freedom, 1 − 0.05 / 6: three pairs, two sides
    assert names["halfwidth"](10, 3) == pytest.approx(2.933, abs=1e-3)
    assert not names["winners"]("t", 50)["clear"].any()
    with_12_models = run(["winnow", "em"], ns=[5], n_models=12)
    winners = with_12_models["winners"]("accuracy", 50)
    assert (winners["clear"] == (winners["lead"] > winners["half"])).all()
    assert winners["half"].notna().all()


def test_data_of_the_page_are_the_measures(names):
    """Rounded to whole numbers of a scale."""
    text = re.search(r'id="explorer-data">(.*?)</script>', names["page"].data, re.S)[1]
    data = json.loads(text)
    scale = data["scale"]
    axes = [data["axes"][name] for name in ("n", "k", "b", "size", "t", "learner")]
    values = np.array(data["value"], dtype=float).reshape([len(axis) for axis in axes])
    for row in names["measures"].itertuples():
        key = (row.n_attributes, row.n_hidden, row.difficulty, row.size, row.measure, row.learner)
        index = tuple(axis.index(value) for axis, value in zip(axes, key, strict=True))
        np.testing.assert_allclose(values[index] / scale, row.value, atol=0.5 / scale)


def test_names_stay_text(names):
    page = BeautifulSoup(names["page"].data, "html.parser")
    assert not page.find_all(["img", "iframe"])
    assert len(page.find_all("script")) == 6
    assert page.find("th", string=HOSTILE)


def test_addresses_are_the_books_own(names):
    addresses = re.findall(r'(?:src|href)="([^"]*)"', names["page"].data)
    assert addresses
    assert all(address.startswith("../_static/") for address in addresses)


@pytest.mark.parametrize(
    "arguments", [{"ns": [5]}, {"ks": [3]}, {"n_models": 1}, {"learners": ["winnow"]}]
)
def test_small_grids_work(arguments):
    names = run(**{"learners": ["em", "winnow"]} | arguments)
    assert 'class="explorer-all"' in names["page"].data


@pytest.mark.parametrize("background", ["#ffffff", "#121212"])
@pytest.mark.parametrize("color", ["#56B4E9", "#332288", "#7F7F7F", "#F0B8A0"])
def test_colours_can_be_told_from_the_background(color, background):
    """WCAG AA asks for a contrast of 3 in graphics."""
    readable = readable_colour(color, background)
    assert contrast(readable, background) >= 3
    if contrast(color, background) >= 4.5:
        assert readable == color.lower()


@pytest.mark.parametrize("marker", "o^sDv<>PXdph*H")
def test_markers_fit_their_box(marker):
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", marker_path(marker))]
    assert max(map(abs, numbers)) == pytest.approx(1, abs=1e-3)
