"""Our results beside the paper's: numbers computed by hand, and tests by scipy's."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib.experiments import elr_tables as tables
from lib.experiments.elr_data import paper_table

NAN = float("nan")


def results(*rows, structure="naive"):
    """A frame as `scores` returns it, of rows with dataset, learner, repeat, value and se."""
    columns = ["dataset", "learner", "repeat", "value", "se"]
    return pd.DataFrame(rows, columns=columns).assign(structure=structure)


def compared(table, *rows, structure="naive"):
    """The cells that the paper and these results have, by data set."""
    cells = tables.compare_with_paper(results(*rows, structure=structure), table)
    return cells.dropna(subset="ours").set_index("dataset")


@pytest.mark.parametrize(
    ("n_wrong", "n_test", "se"),
    [([3, 6, 9], 30, 10 / 3**0.5), ([1000], 5000, 100 * (0.8 * 0.2 / 5000) ** 0.5)],
)
def test_a_score_has_the_error_of_its_folds_or_of_one_test_set(n_wrong, n_test, se):
    """Accuracies of 90, 80 and 70 percent: their standard deviation is 10."""
    frame = pd.DataFrame({"fold": range(len(n_wrong)), "n_wrong": n_wrong, "n_test": n_test})
    frame = frame.assign(dataset="iris", structure="naive", learner="elr", repeat=0)
    both = pd.concat([frame.assign(test="masked"), frame.assign(test="complete", n_wrong=0)])
    masked, complete = tables.scores(both).itertuples()
    assert (masked.value, masked.se) == pytest.approx((80, se))
    assert (complete.test, complete.value, complete.se) == ("complete", 100, 0)


def test_averages_by_hand():
    rows = [("iris", "elr", 0, 90.0, 3.0), ("iris", "elr", 1, 94.0, 4.0)]
    [row] = tables.averages(results(*rows)).itertuples()
    assert (row.value, row.low, row.high, row.n_repeats) == (92, 90, 94, 2)
    assert row.se == pytest.approx(((3**2 + 4**2) / 2) ** 0.5)


class TestCompareWithPaper:
    def test_accuracies(self):
        """IRIS NB+ELR is 94.00 ± 2.87 in Table III."""
        cells = compared("iii", ("iris", "elr", 0, 90.0, 2.0), ("iris", "elr", 1, 92.0, 2.0))
        row = cells.loc["iris"]
        assert (row["printed"], row["printed_se"], row["ours"]) == (94.0, 2.87, 91.0)
        assert (row["low"], row["high"]) == (90.0, 92.0)
        assert row["z"] == pytest.approx(-3 / (2.87**2 + 2**2) ** 0.5)

    @pytest.mark.parametrize("table", ["iii", "iv", "vi", "viii"])
    def test_every_cell_in_the_order_of_the_table(self, table):
        cells = paper_table(table).query("dataset != 'average'")
        comparison = tables.compare_with_paper(results(("iris", "elr", 0, 90.0, 1.0)), table)
        assert comparison[tables.CELL].values.tolist() == cells[tables.CELL].values.tolist()
        assert list(comparison["printed"]) == list(cells["value"])

    def test_errors_in_table_vi(self):
        """CLEVE NB+ELR has an error rate of 16 ± 2.72 percent: ends are turned round."""
        row = compared("vi", ("cleve", "elr", 0, 82.0, 1.0), ("cleve", "elr", 1, 86.0, 1.0))
        numbers = row.loc["cleve", ["printed", "ours", "low", "high", "z"]]
        assert numbers.tolist() == [16, 16, 14, 18, 0]

    def test_a_single_test_set_without_printed_error(self):
        """Its standard error is binomial: ALLBP NB+ELR has 3.09 ± 0 percent of 972 rows wrong."""
        expected = 100 * (0.0309 * 0.9691 / 972) ** 0.5
        row = compared("vi", ("allbp", "elr", 0, 97.0, 0.5)).loc["allbp"]
        assert row["printed_se"] == pytest.approx(expected)
        assert row["z"] == pytest.approx((3.0 - 3.09) / np.hypot(0.5, expected))
        folds = compared("vi", ("agaricus-lepiota", "elr", 0, 97.0, 0.5))
        assert folds["printed_se"].item() == 0

    def test_diabetes_is_pima(self):
        """The paper prints results of one data set under two names."""
        cells = compared("iii", ("pima", "elr", 0, 75.0, 1.0))
        assert cells["ours"].to_dict() == {"diabetes": 75, "pima": 75}

    def test_without_errors_only_what_is_equal_agrees(self):
        """CORRAL TAN+ELR is 100.00 ± 0.00."""
        for value, z in ((100.0, 0), (99.0, -np.inf)):
            cells = compared("iii", ("corral", "elr", 0, value, 0.0), structure="tan")
            assert cells.loc["corral", "z"] == z


def test_agreement_by_hand():
    rows = [
        ("a", "elr", 90.0, 91.0, 89.0, 92.0, 2, 0.5),
        ("b", "elr", 90.0, 94.0, 93.0, 95.0, 2, 2.0),
        ("c", "elr", 90.0, 80.0, 89.996, 89.999, 2, -2.1),
        ("d", "elr", 90.0, NAN, NAN, NAN, NAN, NAN),
        ("e", "elr", 90.0, 90.0, 90.0, 90.0, 1, 0.0),
        ("a", "ofe", 90.0, 80.0, 70.0, 89.99, 3, -np.inf),
    ]
    columns = ["dataset", "learner", "printed", "ours", "low", "high", "n_repeats", "z"]
    comparison = pd.DataFrame(rows, columns=columns).assign(structure="tan")
    assert tables.agreement(comparison).to_dict("list") == {
        "structure": ["tan"] * 2,
        "learner": ["elr", "ofe"],
        "n": [4, 1],
        "within": [3, 0],
        "n_repeated": [3, 1],
        "inside": [2, 0],
        "mean_difference": [pytest.approx(-5 / 4), -10],
    }


def test_self_agreement_by_hand():
    """90 and 95 differ from the mean of the others, 93.5 and 91, by more than 2 sqrt(2)."""
    rows = [("iris", "elr", repeat, value, 1.0) for repeat, value in enumerate((90, 92, 95))]
    rows += [("iris", "ofe", repeat, 90.0, 0.0) for repeat in range(3)]
    rows.append(("letter", "elr", 0, 90.0, 1.0))  # has no others
    assert tables.self_agreement(results(*rows)) == pytest.approx(4 / 6)
    assert np.isnan(tables.self_agreement(results(rows[-1])))


class TestComparisons:
    ERRORS = pd.DataFrame(
        {"naive+elr": [5.0, 10.0, 17.0, NAN], "naive+ofe": [7.0, 13.0, 17.0, 30.0]},
        index=["glass", "glass2", "letter", "heart"],
    )

    def test_errors_by_dataset(self):
        rows = [("iris", "elr", 0, 94.0, 1.0), ("iris", "elr", 1, 96.0, 1.0)]
        rows.append(("heart", "ofe", 0, 70.0, 1.0))
        errors = tables.errors_by_dataset(results(*rows))
        assert errors.loc["iris", "naive+elr"] == 5
        assert errors.loc["heart", "naive+ofe"] == 30
        assert errors.isna().sum().sum() == 2

    def test_compare(self):
        """Gains of 2, 3 and 0 percentage points."""
        comparison = tables.compare(self.ERRORS, "naive+elr", "naive+ofe")
        complete = self.ERRORS.dropna()
        test = stats.ttest_rel(complete["naive+ofe"], complete["naive+elr"], alternative="greater")
        interval = stats.ttest_1samp([2.0, 3.0, 0.0], 0).confidence_interval(0.95)
        assert comparison == {
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

    def test_families_count_once(self):
        """GLASS2 is a part of GLASS."""
        comparison = tables.compare(self.ERRORS, "naive+elr", "naive+ofe", by_family=True)
        assert (comparison["value"], comparison["n"], comparison["wins"]) == (1.25, 2, 1)

    def test_compare_what_is_not_there(self):
        comparison = tables.compare(self.ERRORS, "tan+elr", "naive+ofe")
        assert (comparison["n"], comparison["wins"], comparison["losses"]) == (0, 0, 0)
        assert np.isnan([comparison["value"], comparison["p"]]).all()

    def test_printed_errors(self):
        """Tables III and VI: accuracies and errors; the averages are none of their rows."""
        assert tables.paper_errors("iii").loc["iris", "naive+elr"] == 6.0
        assert tables.paper_errors("vi").loc["cleve", "naive+elr"] == 16.0
        assert "average" not in tables.paper_errors("vi").index


def splits(name, n_wrong, n_test, n_folds=1):
    """Rows of a frame as `scores` takes it: mistakes of OFE and ELR on each split of a data set."""
    rows = []
    for i, counts in enumerate(n_wrong):
        repeat, fold = divmod(i, n_folds)
        for learner, wrong in zip(("ofe", "elr"), counts, strict=True):
            rows.append((name, "naive", learner, repeat, fold, wrong, n_test))
    columns = ["dataset", "structure", "learner", "repeat", "fold", "n_wrong", "n_test"]
    return pd.DataFrame(rows, columns=columns)


class TestMeanGain:
    PAIR = ("naive+elr", "naive+ofe")
    IRIS = splits("iris", [(3, 0), (3, 3), (0, 0), (6, 3), (3, 3)], 30, n_folds=5)
    LETTER = splits("letter", [(1000, 800)], 5000)

    def gain(self, *frames, **options):
        return tables.mean_gain(tables.errors_by_split(pd.concat(frames)), self.PAIR, **options)

    def test_errors_by_split_in_the_order_of_the_frame(self):
        errors = tables.errors_by_split(pd.concat([self.LETTER, self.IRIS]))
        assert errors.index[:2].tolist() == [("letter", 0, 0, 5000), ("iris", 0, 0, 30)]
        assert errors.iloc[:2].to_numpy().tolist() == [[20, 16], [10, 0]]
        assert list(errors) == ["naive+ofe", "naive+elr"]

    def test_folds_share_training_rows(self):
        """Gains of 10, 0, 0, 10 and 0 points in five folds: the variance is 30 (1/5 + 1/4)."""
        half_width = stats.t.ppf(0.975, 4) * (30 * 0.45) ** 0.5
        gain = self.gain(self.IRIS)
        assert gain[:4] == pytest.approx((4, 4 - half_width, 4 + half_width, 1))
        assert np.isinf([gain.like_low, gain.like_high]).all()

    @pytest.mark.parametrize("name", ["letter", "segment"])
    def test_one_test_set_counts_rows(self, name):
        """On how many of 5000 rows one learner alone is wrong is at most (20 + 16)%."""
        half_width = stats.norm.ppf(0.975) * 100 * (0.36 / 5000) ** 0.5
        gain = self.gain(self.LETTER.assign(dataset=name))
        assert gain[:3] == pytest.approx((4, 4 - half_width, 4 + half_width))

    @pytest.mark.parametrize(
        ("name", "n_test", "variance"),
        [
            ("chess", 1066, 1 / 2 + 1066 / 2130),  # random divisions
            ("mofn-3-7-10", 1024, 1 / 2),  # samples, each tested on all inputs
        ],
    )
    def test_several_divisions(self, name, n_test, variance):
        frame = splits(name, [(n_test, 0), (n_test // 2, 0)], n_test)
        half_width = stats.t.ppf(0.975, 1) * (50**2 / 2 * variance) ** 0.5
        assert self.gain(frame)[:3] == pytest.approx((75, 75 - half_width, 75 + half_width))

    def test_several_runs_on_the_same_rows(self):
        """The variance of two runs, of gains of 4 and 2 points, is added to that of the rows."""
        runs = splits("letter", [(1000, 800), (900, 800)], 5000)
        error = (100**2 * (0.19 + 0.16) / 5000 + 2 / 2) ** 0.5
        half_width = stats.norm.ppf(0.975) * error
        assert self.gain(runs)[:3] == pytest.approx((3, 3 - half_width, 3 + half_width))

    def test_gain_less_another_gain(self):
        """A gain less itself is 0, and as sure as the rows allow."""
        row_error = 200 * (0.36 / 5000) ** 0.5
        gain = self.gain(self.LETTER, than=self.PAIR)
        assert gain.value == 0
        assert gain.high == pytest.approx(stats.norm.ppf(0.975) * row_error)

    def test_pairs_to_pick_from(self):
        """A normal interval for two, of 97.5%."""
        one, two = (self.gain(self.LETTER, n_pairs=n).high - 4 for n in (1, 2))
        assert two / one == pytest.approx(stats.norm.ppf(0.9875) / stats.norm.ppf(0.975))

    def test_comparison_has_both_intervals(self):
        errors = tables.errors_by_split(pd.concat([self.IRIS, self.LETTER]))
        comparison = tables.compare_over_sets(errors, *self.PAIR)
        assert (comparison["n"], comparison["wins"], comparison["value"]) == (2, 2, 4)
        by_dataset = tables.compare(errors.groupby("dataset").mean(), *self.PAIR)
        assert comparison["like_low"] == pytest.approx(by_dataset["low"])
        assert comparison["p"] == pytest.approx(by_dataset["p"], nan_ok=True)
