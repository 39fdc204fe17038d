"""The explorer's page, as its notebook and lib.figures make it: complete, and names stay text."""

import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from lib import evaluation
from lib.colour import contrast
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
    """The names of the notebook after its cells, with made-up results in place of its experiment."""
    rng = np.random.default_rng(0)
    points = [
        (n, k, 0.9, i, s, name)
        for n in ns
        for k in ks
        for i in range(n_models)
        for s in (10, 50)
        for name in learners
    ]
    columns = ["n_attributes", "n_hidden", "difficulty", "model", "size", "learner"]
    results = pd.DataFrame(points, columns=columns).assign(best=0.9, constant=0.6)
    results["accuracy"] = rng.uniform(0.6, 0.9, len(results))
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, 4).cells}
    values = {
        "n_attributes": list(ns),
        "n_hidden": list(ks),
        "difficulties": [0.9],
        "sizes": [10, 50],
    }
    names = {}
    exec(cells["cell-01"], names)
    names |= values
    exec(cells["cell-02"], names)
    names |= {"learners": list(learners), "results": results}
    for name in CELLS_AFTER_EXPERIMENT:
        exec(cells[name], names)
    exec(cells["cell-04"].replace("\nHTML(", "\nshown = HTML("), names)
    return names


@pytest.fixture(scope="module")
def names():
    return run(["winnow", "em", HOSTILE])


def test_measures_are_those_of_the_chapters(names):
    for point, panel in names["results"].groupby(names["PANEL"]):
        theirs = evaluation.normalized_performance(panel).set_index(["size", "learner"])
        ours = (
            names["measures"].set_index([*names["PANEL"], "measure", "size", "learner"]).loc[point]
        )
        t = ours.loc["t"].loc[theirs.index]
        np.testing.assert_allclose(t[["value", "se"]].astype(float), theirs[["t", "se"]])
        np.testing.assert_allclose(
            ours.loc["pooled"].loc[theirs.index, "value"], theirs["t_pooled"]
        )
        leads = evaluation.paired_differences(panel, "winnow", "em")
        errors = [t.loc[(size, "winnow"), "apart"][1] for size in leads]
        np.testing.assert_allclose(errors, leads.sem())


def test_the_winner_has_the_largest_value(names):
    measures = (
        names["measures"].query("measure == 'pooled' and size == 50").set_index(names["PANEL"])
    )
    for row in names["winners"]("pooled", 50).itertuples():
        values = measures.loc[(row.n_attributes, row.n_hidden, row.difficulty)].set_index(
            "learner"
        )["value"]
        first, second = values.sort_values(ascending=False).iloc[:2]
        assert (values[row.learner], row.lead) == pytest.approx((first, first - second))


def test_a_lead_needs_ten_models_and_an_interval_for_all_pairs(names):
    assert np.isnan(names["halfwidth"](9, 3))
    assert names["halfwidth"](10, 3) == pytest.approx(
        2.933, abs=1e-3
    )  # Student's t, 9 degrees of freedom, 1 − 0.05 / 6
    assert not names["winners"]("t", 50)["clear"].any()
    many = run(["winnow", "em"], ns=[5], n_models=12)["winners"]("accuracy", 50)
    assert (many["clear"] == (many["lead"] > many["half"])).all()
    assert many["half"].notna().all()


def test_data_of_the_page_are_the_measures(names):
    data = json.loads(re.search(r'id="explorer-data">(.*?)</script>', names["shown"].data, re.S)[1])
    axes = [data["axes"][name] for name in ("n", "k", "b", "size", "t", "learner")]
    values = np.array(data["value"], dtype=float).reshape([len(axis) for axis in axes])
    for row in names["measures"].itertuples():
        point = (row.n_attributes, row.n_hidden, row.difficulty, row.size, row.measure, row.learner)
        place = tuple(axis.index(each) for axis, each in zip(axes, point, strict=True))
        np.testing.assert_allclose(
            values[place] / data["scale"], row.value, atol=0.5 / data["scale"]
        )


def test_names_stay_text(names):
    page = BeautifulSoup(names["shown"].data, "html.parser")
    assert not page.find_all(["img", "iframe"])
    assert len(page.find_all("script")) == 6
    assert page.find("th", string=HOSTILE)


def test_addresses_are_the_books_own(names):
    addresses = re.findall(r'(?:src|href)="([^"]*)"', names["shown"].data)
    assert addresses
    assert all(address.startswith("../_static/") for address in addresses)


@pytest.mark.parametrize(
    "arguments", [{"ns": [5]}, {"ks": [3]}, {"n_models": 1}, {"learners": ["winnow"]}]
)
def test_small_grids_work(arguments):
    assert (
        'class="explorer-all"' in run(**{"learners": ["em", "winnow"], **arguments})["shown"].data
    )


@pytest.mark.parametrize("background", ["#ffffff", "#121212"])
@pytest.mark.parametrize("color", ["#56B4E9", "#332288", "#7F7F7F", "#F0B8A0"])
def test_colours_can_be_told_from_the_background(color, background):
    readable = readable_colour(color, background)
    assert contrast(readable, background) >= 3
    if contrast(color, background) >= 4.5:
        assert readable == color.lower()


@pytest.mark.parametrize("marker", "o^sDv<>PXdph*H")
def test_markers_fit_their_box(marker):
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", marker_path(marker))]
    assert max(map(abs, numbers)) == pytest.approx(1, abs=1e-3)
