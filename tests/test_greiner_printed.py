import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib.experiments import greiner_printed as greiner


def cell(table, dataset, structure, learner, column="value"):
    return greiner.printed(table).set_index(greiner.CELL).loc[(dataset, structure, learner), column]


@pytest.fixture(scope="module")
def slips():
    return greiner.slips().set_index(["table", "cell"])


@pytest.mark.parametrize(
    ("table", "data_sets", "cells"),
    [("ii", 25, 1), ("iii", 25, 6), ("iv", 25, 9), ("v", 20, 1), ("vi", 21, 6), ("vii", 25, 10), ("viii", 16, 4)],
)
def test_every_data_set_has_every_cell_once(table, data_sets, cells):
    frame = greiner.printed(table)
    keys = [name for name in ("dataset", "source", *greiner.CELL[1:]) if name in frame]
    assert len(frame) == data_sets * cells
    assert not frame.duplicated(keys).any()
    assert frame["dataset"].nunique() == data_sets
    assert (frame["dataset"].value_counts() == cells).all()


@pytest.mark.parametrize("table", ["iii", "iv", "vii"])
def test_tables_have_the_data_sets_of_table_ii(table):
    assert list(greiner.printed(table)["dataset"].unique()) == list(greiner.printed("ii")["dataset"])


def test_known_cells():
    assert cell("iii", "letter", "naive", "elr") == 83.02
    assert cell("iii", "letter", "naive", "elr", "se") == 0.53
    assert cell("iv", "mofn-3-7-10", "bic", "em") == 82.03
    assert cell("vi", "monk1-corrupt", "tan", "elr") == 16.67
    assert cell("viii", "diabetes", "", "svm", "se") == 5.77
    others = greiner.printed("vii").set_index(["dataset", "source", "structure", "learner"])["value"]
    assert others["shuttle-small", "gz02", "tan", "elr"] == 99.38
    assert others["waveform-21", "fgg97", "", "snb"] == 76.53
    missing = greiner.printed("v").set_index("dataset")
    assert missing.loc["monk1-corrupt", ["train", "test", "missing_total"]].tolist() == [288, 144, "521+261"]
    assert np.isnan(missing.loc["bands", "missing_attributes"])
    assert missing.loc["crx", "missing_attributes"] == 7


def test_unknown_table():
    with pytest.raises(ValueError, match="did you mean 'iii'"):
        greiner.printed("iiii")
    with pytest.raises(ValueError, match="table must be one of"):
        greiner.attainable("ix")


@pytest.mark.parametrize("table", ["vi", "viii"])
def test_averages_are_those_of_the_cells(table):
    frame = greiner.printed(table).pivot(index="dataset", columns=greiner.CELL[1:], values="value")
    average = frame.loc["average"]
    np.testing.assert_allclose(frame.drop("average").mean(), average, atol=0.005 if table == "viii" else 1e-9)


def test_p_values_are_those_of_scipy():
    found = greiner.recomputed_p_values().set_index(["tables", "structure", "worse_learner"]).sort_index()
    table = greiner.printed("vi").query("dataset != 'average'").set_index(greiner.CELL[1:]).sort_index()
    em, elr = table.loc[("tan", "em"), "value"], table.loc[("tan", "elr"), "value"]
    expected = stats.ttest_rel(em.to_numpy(), elr.to_numpy(), alternative="greater").pvalue
    assert found.loc[("vi", "tan", "em"), "p"] == pytest.approx(expected, rel=1e-12)
    assert found.loc["vi", "n"].eq(20).all()
    assert found.loc["viii", "n"].eq(15).all()


def test_which_p_values_are_reproduced():
    found = greiner.recomputed_p_values().set_index(["tables", "structure", "worse_learner"]).sort_index()
    assert found.loc["vi", "to_the_digit"].all()
    assert found.loc["viii", "to_the_digit"].to_dict() == {
        ("naive", "svm"): False,
        ("tan", "svm"): False,
        ("bic", "svm"): True,
    }
    assert found.loc[("iii+viii", "naive", "svm"), "to_the_digit"]
    assert round(found.loc[("viii", "tan", "svm"), "p"], 4) == 0.0036  # printed as 0.036


def test_copies_of_table_iii_differ_at_heart_only(slips):
    copied = slips[slips["why"] == "differs from Table III"]
    assert list(copied.index) == [("vii", "HEART NB+ELR"), ("viii", "HEART NB+ELR"), ("viii", "HEART NB+ELR ±")]
    assert copied["printed"].tolist() == [78.89, 78.89, 4.08]
    assert copied["implied"].tolist() == [78.52, 78.52, 3.44]
    assert cell("iii", "heart", "naive", "ofe") == 78.89
    assert cell("iii", "heart", "naive", "ofe", "se") == 4.08


def test_averages_of_table_ix_are_of_other_data(slips):
    assert list(slips.loc["ix"].index.str.startswith("average")) == [True] * 4
    assert slips.loc[("ix", "average NB+ELR with"), "implied"] == pytest.approx(1385.07, abs=0.01)


def test_whole_numbers_of_test_rows():
    iris = greiner.attainable("iii").set_index("dataset").loc["iris"]
    assert iris["n"].eq(150).all()
    assert iris["nearest"].iloc[0] == pytest.approx(139 / 1.5)
    assert iris["whole"].all()
    parts = [greiner.attainable(table) for table in ("iii", "iv", "vi", "viii")]
    odd = pd.concat(parts).query("not whole")
    assert list(odd["dataset"]) == ["letter"] * 4 + ["hypothyroid", "flare"]


def test_standard_errors():
    assert greiner.attainable("iii")["error"].all()
    assert greiner.attainable("iv")["error"].all()
    svm = greiner.attainable("viii").set_index("dataset")
    assert not svm.loc["corral", "error"]
    assert svm.loc["corral", "deviation"]
    folds = np.array([100, 100, 100, 96, 88])
    assert (folds.mean(), folds.std(ddof=1).round(2)) == (svm.loc["corral", "value"], svm.loc["corral", "se"])


def test_test_sets_of_table_vi_have_no_standard_error(slips):
    zeros = slips.loc["vi"][slips.loc["vi"].index.str.endswith("±")].query("printed == 0")
    assert len(zeros) == 5 * 6
    assert zeros.loc["ALLBP NB+EM ±", "implied"] == pytest.approx(100 * np.sqrt(0.0422 * 0.9578 / 972))


def test_soybean_of_table_v(slips):
    rows = slips.loc["v"]
    assert list(rows.index.str.split().str[0]) == ["SOYBEAN-LARGE"] * 4
    assert rows.loc["SOYBEAN-LARGE missing ratio", "implied"] == pytest.approx(100 * 705 / (683 * 25))
    assert rows.loc["SOYBEAN-LARGE classes", ["printed", "implied"]].tolist() == [2, 19]
