"""The slips of greiner_slips.csv, found again in the printed tables, and no others."""

import numpy as np
import pytest

from lib.datasets.papers import printed_table
from lib.experiments import elr_tables as tables
from lib.experiments.elr_data import paper_table

SLIPS = printed_table("greiner_slips")
LABELS = {"naive": "NB+", "tan": "TAN+", "bic": "GBN+", "": ""}
HALF = 0.005 + 1e-9  # of the second decimal
# columns whose cells are not copied from another table
COLUMNS = {"iii": "ofe elr", "iv": "elr apn em", "vi": "em apn elr", "vii": "gz02", "viii": "svm"}


def printed_cells(table, column, names):
    """Cells with their label and k, the nearest whole number of the n test rows."""
    cells = tables.paper_cells(table)
    cells = cells[cells[column].isin(names)].join(tables.test_set_sizes(table), on="dataset")
    labels = cells["dataset"] + " " + cells["structure"].map(LABELS) + cells["learner"]
    k = (cells["value"] * cells["n"] / 100).round()
    return cells.assign(label=labels.str.upper(), k=k, nearest=100 * k / cells["n"])


def slips(table, why):
    """What the slips of a table imply that have this reason, by cell."""
    rows = SLIPS[(SLIPS["table"] == table.upper()) & SLIPS["why"].str.contains(why)]
    cells = rows["cell"].str.replace(" (GZ02)", "").str.replace(" ±", "")
    return dict(zip(cells, rows["implied"], strict=True))


def can_deviate(cells, divisor):
    """Whether five whole numbers with the sum k can have a deviation of se * sqrt(divisor).

    Their squares add up to 4 variances plus k^2 / 5, a whole number that is odd or even as k is.
    """
    least, most = (
        4 * divisor * ((cells["se"] + side).clip(lower=0) * cells["n"] / 500) ** 2
        for side in (-HALF, HALF)
    )
    whole = np.ceil(least + cells["k"] ** 2 / 5 - 1e-6)
    return whole + (whole - cells["k"]) % 2 <= most + cells["k"] ** 2 / 5 + 1e-6


@pytest.mark.parametrize("table", COLUMNS)
def test_cells_that_no_test_rows_or_folds_give(table):
    column = "source" if table == "vii" else "learner"
    cells = printed_cells(table, column, COLUMNS[table].split()).set_index("label")
    is_whole = (cells["nearest"] - cells["value"]).abs() <= HALF
    expected = slips(table, "no whole number of")
    assert set(cells.index[~is_whole]) == set(expected)
    if table == "vii":  # which prints no standard errors, and may be of the rows of Table V
        return
    assert cells["nearest"][~is_whole].to_dict() == pytest.approx(expected, rel=1e-3)
    cells = cells[cells["folds"] == 5]
    is_error, is_deviation = can_deviate(cells, 5), can_deviate(cells, 1)
    assert set(cells.index[~is_error]) == set(slips(table, "no whole numbers of mistakes"))
    assert set(cells.index[~is_error & is_deviation]) == set(slips(table, "deviation it fits"))
    if table == "viii":  # as the text of elr/uci says
        assert (is_error.sum(), is_deviation.sum(), len(cells)) == (7, 11, 13)


def test_cells_that_fit_the_rows_of_table_v():
    n = SLIPS["why"].str.extract(r"; fits (\d+)", expand=False).astype(float)
    nearest = 100 * (SLIPS["printed"] * n / 100).round() / n
    assert ((nearest - SLIPS["printed"]).abs() <= HALF).sum() == n.notna().sum() == 8


@pytest.mark.parametrize(
    ("table", "column", "name"), [("vii", "source", "gssz04"), ("viii", "learner", "elr")]
)
def test_cells_that_differ_from_table_iii(table, column, name):
    cells = printed_cells(table, column, [name])
    both = cells.merge(paper_table("iii"), on=tables.CELL, suffixes=("", "_iii"))
    assert list(both["label"][both["value"] != both["value_iii"]]) == ["HEART NB+ELR"]
    assert list(slips(table, "differs from Table III")) == ["HEART NB+ELR"]


def test_numbers_that_follow_from_others():
    implied = dict(zip(SLIPS["cell"], SLIPS["implied"], strict=True))
    expected = {"SOYBEAN-LARGE missing ratio": 100 * 705 / ((307 + 376) * 25)}
    chess = printed_cells("viii", "learner", ["svm"]).set_index("dataset").loc["chess"]
    expected["CHESS SVM ±"] = tables.binomial_error(chess["value"], chess["n"])
    means = tables.paper_cells("ix").groupby("structure")[["without", "with"]].mean()
    for structure in ("naive", "tan"):
        pair = f"{LABELS[structure]}ELR"
        test = tables.compare(tables.paper_errors("viii"), f"{structure}+elr", "+svm")
        expected[f"{pair} against SVM, p (Appendix E)"] = test["p"]
        for rule in means:
            expected[f"average {pair} {rule}"] = means.loc[structure, rule]
    assert {cell: implied[cell] for cell in expected} == pytest.approx(expected, rel=1e-3)
