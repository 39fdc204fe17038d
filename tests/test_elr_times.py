"""Our training times beside the printed ones: every cell of Table IX, whatever has been measured."""

import json

import numpy as np
import pytest

from lib.experiments.elr_times import TIMES, svm_times, training_times
from lib.experiments.greiner_printed import printed


@pytest.fixture
def few(tmp_path):
    """Times of one data set only, as without a mirror."""
    results = json.loads(TIMES.read_text(encoding="utf-8"))
    rows = [row for row in results["rows"] if row["dataset"] == "corral"]
    path = tmp_path / "elr_times.json"
    path.write_text(json.dumps(results | {"rows": rows}), encoding="utf-8")
    return path


def test_every_printed_time_is_there_once_and_in_order():
    times = training_times()
    assert list(times.columns) == ["dataset", "structure", "stopping", "ours", "printed"]
    table = printed("ix").query("dataset != 'average'")
    assert len(times) == 2 * len(table) == 60
    assert list(times["dataset"].unique()) == list(table["dataset"].unique())
    wide = times.pivot(index=["dataset", "structure"], columns="stopping", values="printed")
    for row in table.itertuples(index=False):
        assert wide.loc[(row.dataset, row.structure), ["without", "with"]].tolist() == list(row[2:])


def test_times_are_positive_and_of_three_digits():
    times = training_times()["ours"].dropna()
    assert (times > 0).all()
    assert [float(f"{value:.3g}") for value in times] == times.tolist()


def test_ratio_of_with_to_without_is_known_where_ours_is():
    for who in ("ours", "printed"):
        wide = training_times().pivot(index=["dataset", "structure"], columns="stopping", values=who).dropna()
        assert not wide.empty
        assert (wide["with"] / wide["without"] > 0).all()


def test_svm_has_the_data_sets_of_elr_and_the_printed_average():
    times = svm_times()
    assert list(times.columns) == ["dataset", "ours", "printed", "protocol"]
    assert list(times["dataset"]) == list(training_times()["dataset"].unique())
    assert times["printed"].mean() == 296
    assert (times["printed"] % 60 == 0).all()
    assert set(times.query("protocol == 'Train/Test'")["dataset"]) == {"chess", "mofn-3-7-10"}


def test_what_was_not_measured_is_nan(few):
    times, svm = training_times(few).set_index("dataset"), svm_times(few).set_index("dataset")
    assert times.loc["corral", "ours"].notna().all()
    assert times.drop("corral")["ours"].isna().all()
    assert np.isnan(svm["ours"].drop("corral")).all()
    assert svm.loc["corral", "ours"] > 0
    assert times["printed"].notna().all()


def test_missing_times_say_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match="make bench"):
        training_times(tmp_path / "elr_times.json")
