"""Our results beside the paper's: numbers computed by hand, and tests by scipy's."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib.experiments import elr_tables as tables
from lib.experiments.elr_data import paper_table

NAN = float("nan")


def folds(dataset, learner, wrong, n_test, repeat=0, structure="naive"):
    labels = {"dataset": dataset, "structure": structure, "learner": learner, "repeat": repeat}
    return pd.DataFrame({"fold": range(len(wrong)), "n_wrong": wrong, "n_test": n_test}).assign(
        **labels
    )


def results(rows, structure="naive"):
    """Rows of (dataset, learner, repeat, value) or with se, as `scores` returns them."""
    frame = pd.DataFrame(
        [(*row, 1.0)[:5] for row in rows], columns=["dataset", "learner", "repeat", "value", "se"]
    )
    return frame.assign(structure=structure)


class TestScores:
    def test_mean_of_folds_with_its_error(self):
        """Accuracies of 90, 80 and 70 percent: their deviation is 10."""
        [row] = tables.scores(folds("iris", "elr", [3, 6, 9], 30)).itertuples()
        assert row.value == pytest.approx(80)
        assert row.se == pytest.approx(10 / 3**0.5)
        assert (row.dataset, row.structure, row.learner, row.repeat) == ("iris", "naive", "elr", 0)

    def test_one_test_set_has_a_binomial_error(self):
        [row] = tables.scores(folds("letter", "elr", [1000], 5000)).itertuples()
        assert row.value == pytest.approx(80)
        assert row.se == pytest.approx(100 * (0.8 * 0.2 / 5000) ** 0.5)

    def test_repeats_readings_and_learners_are_apart(self):
        parts = [folds("iris", name, [r], 10, r) for name in ("ofe", "elr") for r in (0, 1)]
        frame = tables.scores(
            pd.concat([p.assign(test=t) for p in parts for t in ("masked", "complete")])
        )
        assert list(frame.columns) == [
            "dataset",
            "structure",
            "learner",
            "test",
            "repeat",
            "value",
            "se",
        ]
        assert len(frame) == 8
        assert list(frame["value"]) == [100, 100, 90, 90] * 2


class TestAverages:
    def test_by_hand(self):
        rows = [
            ("iris", "elr", r, v, s)
            for r, (v, s) in enumerate([(90.0, 3.0), (94.0, 4.0), (92.0, 5.0)])
        ]
        [row] = tables.averages(results(rows)).itertuples()
        assert row.value == pytest.approx(92)
        assert row.se == pytest.approx((50 / 3) ** 0.5)
        assert (row.low, row.high, row.n_repeats) == (90, 94, 3)
        assert row.q05 == pytest.approx(90.2)
        assert row.q95 == pytest.approx(93.8)


class TestCompareWithPaper:
    def cell(self, found, dataset, learner, structure="naive"):
        [row] = found[
            found["dataset"].eq(dataset)
            & found["learner"].eq(learner)
            & found["structure"].eq(structure)
        ].itertuples()
        return row

    def test_accuracies(self):
        """IRIS NB+ELR is 94.00 ± 2.87 in Table III."""
        ours = results([("iris", "elr", 0, 90.0, 2.0), ("iris", "elr", 1, 92.0, 2.0)])
        found = tables.compare_with_paper(ours, "iii")
        row = self.cell(found, "iris", "elr")
        assert (row.printed, row.printed_se, row.ours, row.low, row.high) == (
            94.0,
            2.87,
            91.0,
            90.0,
            92.0,
        )
        assert row.z == pytest.approx(-3 / (2.87**2 + 4) ** 0.5)
        assert list(found.columns) == [
            *tables.CELL,
            *("printed", "printed_se", "ours", "se", "low", "q05", "q95", "high", "n_repeats", "z"),
        ]

    @pytest.mark.parametrize("table", ["iii", "iv", "vi", "viii"])
    def test_every_cell_in_the_order_of_the_table(self, table):
        cells = paper_table(table).query("dataset != 'average'")
        found = tables.compare_with_paper(results([("iris", "elr", 0, 90.0)]), table)
        assert found[tables.CELL].values.tolist() == cells[tables.CELL].values.tolist()
        assert list(found["printed"]) == list(cells["value"])
        ours = (
            found["dataset"].eq("iris")
            & found["structure"].eq("naive")
            & found["learner"].eq("elr")
        )
        assert found.loc[~ours, ["ours", "se", "low", "high", "z"]].isna().all(axis=None)
        assert found.loc[ours, "z"].notna().all()

    def test_errors_in_table_vi(self):
        """CLEVE NB+ELR errs in 16 ± 2.72 percent."""
        rows = [("cleve", "elr", r, v) for r, v in enumerate([82.0, 83.0, 87.0])]
        row = self.cell(tables.compare_with_paper(results(rows), "vi"), "cleve", "elr")
        assert (row.printed, row.printed_se, row.ours) == (16.0, 2.72, 16.0)
        assert (row.low, row.high) == (13, 18)
        assert row.q05 == pytest.approx(100 - 86.6)
        assert row.q95 == pytest.approx(100 - 82.1)
        assert row.z == 0
        [row] = (
            tables.compare_with_paper(results([("cleve", "elr", 0, 90.0)]), "vi")
            .dropna()
            .itertuples()
        )
        assert row.z < 0  # we err less

    def test_a_single_test_set_without_printed_error(self):
        """MONK1-CORRUPT NB+ELR errs in 34.72 ± 0 percent of 144 rows, ALLBP in 3.09 of 972."""
        found = tables.compare_with_paper(results([("allbp", "elr", 0, 97.0, 0.5)]), "vi")
        expected = 100 * (0.0309 * 0.9691 / 972) ** 0.5
        row = self.cell(found, "allbp", "elr")
        assert row.printed_se == pytest.approx(expected)
        assert row.z == pytest.approx((3.0 - 3.09) / np.hypot(0.5, expected))
        assert self.cell(found, "agaricus-lepiota", "elr").printed_se == 0  # five folds
        corrupt = self.cell(found, "monk1-corrupt", "elr")
        assert corrupt.printed_se == pytest.approx(100 * (0.3472 * 0.6528 / 144) ** 0.5)

    def test_diabetes_is_pima(self):
        found = tables.compare_with_paper(
            results([("pima", "elr", 0, 75.0), ("iris", "elr", 0, 90.0)]), "iii"
        ).dropna()
        assert list(found["dataset"]) == ["diabetes", "iris", "pima"]
        assert list(found["ours"]) == [75, 90, 75]
        assert list(found["printed"]) == [75.16, 94.0, 75.16]

    def test_all_right_in_both(self):
        """CORRAL TAN+ELR is 100.00 ± 0.00."""
        found = tables.compare_with_paper(results([("corral", "elr", 0, 100.0, 0.0)], "tan"), "iii")
        assert self.cell(found, "corral", "elr", "tan").z == 0

    def test_without_error_a_difference_is_infinite(self):
        found = tables.compare_with_paper(results([("corral", "elr", 0, 99.0, 0.0)], "tan"), "iii")
        assert self.cell(found, "corral", "elr", "tan").z == -np.inf


class TestAgreement:
    def test_by_hand(self):
        rows = [
            ("a", "elr", 90.0, 91.0, 89.0, 92.0, 2, 0.5),
            ("b", "elr", 90.0, 94.0, 93.0, 95.0, 2, 2.0),
            ("c", "elr", 90.0, 80.0, 89.996, 89.999, 2, -2.1),
            ("d", "elr", 90.0, NAN, NAN, NAN, NAN, NAN),
            ("e", "elr", 90.0, 90.0, 90.0, 90.0, 1, 0.0),
            ("a", "ofe", 90.0, 80.0, 70.0, 89.99, 3, -np.inf),
        ]
        columns = ["dataset", "learner", "printed", "ours", "low", "high", "n_repeats", "z"]
        found = tables.agreement(pd.DataFrame(rows, columns=columns).assign(structure="tan"))
        assert found.to_dict("list") == {
            "structure": ["tan"] * 2,
            "learner": ["elr", "ofe"],
            "n": [4, 1],
            "within": [3, 0],
            "n_repeated": [3, 1],
            "inside": [2, 0],
            "mean_difference": [pytest.approx(-5 / 4), -10],
        }

    def test_the_paper_itself(self):
        """With its cells as both our repeats all agree, but that DIABETES has the results of PIMA."""
        once = paper_table("iii")[[*tables.CELL, "value", "se"]]
        own = pd.concat([once.assign(repeat=r) for r in (0, 1)])
        found = tables.agreement(tables.compare_with_paper(own, "iii"))
        assert found["n"].eq(25).all()
        assert found["within"].eq(25).all()
        assert found["inside"].isin([24, 25]).all()


class TestSelfAgreement:
    def test_by_hand(self):
        """90 and 95 are farther from the mean of the others, 93.5 and 91, than twice the root of 2."""
        rows = [("iris", "elr", r, v) for r, v in enumerate([90.0, 92.0, 95.0])]
        rows += [("iris", "ofe", r, v) for r, v in enumerate([90.0, 90.0, 90.0])]
        assert tables.self_agreement(results(rows)) == pytest.approx(4 / 6)

    def test_sets_with_one_repeat_do_not_count(self):
        rows = [("letter", "elr", 0, 90.0), ("iris", "elr", 0, 90.0), ("iris", "elr", 1, 91.0)]
        assert tables.self_agreement(results(rows)) == 1
        assert np.isnan(tables.self_agreement(results(rows[:2])))

    def test_no_errors(self):
        rows = [
            ("a", "elr", 0, 100.0, 0.0),
            ("a", "elr", 1, 100.0, 0.0),
            ("b", "elr", 0, 99.0, 0.0),
        ]
        assert tables.self_agreement(results(rows)) == 1
        assert tables.self_agreement(results([*rows, ("b", "elr", 1, 100.0, 0.0)])) == 0.5

    def test_readings_are_apart(self):
        frame = results([("a", "elr", 0, 90.0), ("a", "elr", 0, 50.0)]).assign(
            test=["masked", "complete"]
        )
        assert np.isnan(tables.self_agreement(frame))


class TestComparisons:
    VALUES = (
        ("iris", "elr", [94.0, 96.0]),
        ("iris", "ofe", [93.0, 93.0]),
        ("corral", "elr", [90.0, 90.0]),
        ("corral", "ofe", [86.0, 88.0]),
        ("letter", "elr", [83.0]),
        ("letter", "ofe", [83.0]),
        ("heart", "ofe", [70.0]),
    )
    ROWS = tuple(
        (*key, repeat, value) for *key, values in VALUES for repeat, value in enumerate(values)
    )

    def test_errors_by_dataset(self):
        found = tables.errors_by_dataset(results(self.ROWS))
        assert list(found.columns) == ["naive+elr", "naive+ofe"]
        expected = {"iris": (5, 7), "corral": (10, 13), "letter": (17, 17), "heart": (NAN, 30)}
        assert sorted(found.index) == sorted(expected)
        for name, errors in expected.items():
            assert np.array_equal(found.loc[name], errors, equal_nan=True)

    def test_compare(self):
        """Gains of 2, 3 and 0 points."""
        errors = tables.errors_by_dataset(results(self.ROWS))
        found = tables.compare(errors, "naive+elr", "naive+ofe")
        gain = np.array([2.0, 3.0, 0.0])
        shared = errors.dropna()
        test = stats.ttest_rel(shared["naive+ofe"], shared["naive+elr"], alternative="greater")
        interval = stats.ttest_1samp(gain, 0).confidence_interval(0.95)
        assert found == {
            "better": "naive+elr",
            "worse": "naive+ofe",
            "value": pytest.approx(5 / 3),
            "low": pytest.approx(interval.low),
            "high": pytest.approx(interval.high),
            "n": 3,
            "p": pytest.approx(test.pvalue),
            "wins": 2,
            "ties": 1,
            "losses": 0,
        }
        other = tables.compare(errors, "naive+ofe", "naive+elr")
        assert other["p"] == pytest.approx(1 - test.pvalue)
        assert (other["wins"], other["losses"], other["value"]) == (0, 2, pytest.approx(-5 / 3))

    def test_compare_what_is_not_there(self):
        errors = tables.errors_by_dataset(results(self.ROWS))
        for frame, better in ((errors, "tan+elr"), (errors.loc[["heart"]], "naive+elr")):
            found = tables.compare(frame, better, "naive+ofe")
            assert found["n"] == found["wins"] == found["ties"] == found["losses"] == 0
            assert np.isnan([found["value"], found["p"]]).all()
        one = tables.compare(errors.loc[["iris"]], "naive+elr", "naive+ofe")
        assert (one["value"], one["n"], one["wins"]) == (2, 1, 1)
        assert np.isnan(one["p"])

    def test_printed_errors(self):
        complete, incomplete = tables.paper_errors("iii"), tables.paper_errors("vi")
        assert complete.loc["iris", "naive+elr"] == 6.0
        assert incomplete.loc["cleve", "naive+elr"] == 16.0
        assert {"diabetes", "pima"} <= set(complete.index)
        assert "average" not in incomplete.index


class TestPrinted:
    """The tables of the paper, checked against each other."""

    @pytest.mark.parametrize("table", ["vi", "viii"])
    def test_averages_are_those_of_the_cells(self, table):
        frame = paper_table(table).pivot(index="dataset", columns=tables.CELL[1:], values="value")
        means = frame.drop("average").mean()
        np.testing.assert_allclose(
            means, frame.loc["average"], atol=0.005 if table == "viii" else 1e-9
        )

    @pytest.mark.parametrize("appendix", ["d", "e"])
    def test_which_p_values_are_reproduced(self, appendix):
        """All of Appendix D; in E that of GBN, while TAN's 0.0036 is printed as 0.036."""
        errors, reproduced = tables.paper_errors("vi" if appendix == "d" else "viii"), []
        for test in tables.paper_p_values(appendix).itertuples():
            worse = f"{test.worse_structure}+{test.worse_learner}"
            p = tables.compare(errors, f"{test.better_structure}+elr", worse)["p"]
            reproduced.append(round(p, len(str(test.p).split(".")[1])) == test.p)
        assert reproduced == ([True] * 4 if appendix == "d" else [False, False, True])

    def test_whole_numbers_of_test_rows(self):
        cells = {table: tables.paper_cells(table) for table in ("iii", "iv", "vi", "viii")}
        cells["viii"] = cells["viii"].query("learner == 'svm'")
        found = {table: tables.attainability(part, table) for table, part in cells.items()}
        iris = found["iii"].set_index("dataset").loc["iris"]
        assert iris["n"].eq(150).all()
        assert iris["nearest"].iloc[0] == pytest.approx(139 / 1.5)
        odd = pd.concat(found.values()).query("not whole")
        assert list(odd["dataset"]) == ["letter"] * 4 + ["hypothyroid", "flare"]
        assert found["iii"]["error"].all()
        assert found["iv"]["error"].all()

    def test_standard_errors_and_deviations(self):
        """Accuracies of 100, 100, 100, 96 and 88 percent have the deviation printed for the SVM on CORRAL."""
        cells = tables.paper_cells("viii").query("learner == 'svm' and dataset == 'corral'")
        [corral] = tables.attainability(cells, "viii").itertuples()
        folds = np.array([100, 100, 100, 96, 88])
        assert (folds.mean(), folds.std(ddof=1).round(2)) == (corral.value, corral.se)
        assert (corral.error, corral.deviation) == (False, True)
        [(table, cell, se, implied, why)] = tables.unattainable_cells(cells, "viii")
        assert (table, cell, se, implied) == ("viii", "CORRAL SVM ±", corral.se, corral.se / 5**0.5)
        assert why.endswith("as standard deviation it fits")

    def test_test_sets_of_table_vi_have_no_standard_error(self):
        slips = tables.unattainable_cells(tables.paper_cells("vi"), "vi")
        zeros = {
            cell: implied for _, cell, se, implied, _ in slips if cell.endswith("±") and se == 0
        }
        assert len(zeros) == 5 * 6
        assert zeros["ALLBP NB+EM ±"] == pytest.approx(100 * np.sqrt(0.0422 * 0.9578 / 972))
