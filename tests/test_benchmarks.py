"""The committed benchmark results can be read and say what a page needs."""

import pytest

from lib.benchmarks import read_benchmarks


def test_results_are_complete_and_anonymous():
    rows, machine = read_benchmarks()
    assert {"job", "ours", "peer", "unit", "ratio", "ratio_low", "ratio_high", "target", "aim"} <= set(rows.columns)
    compared = rows.dropna(subset="ratio")
    assert len(compared) >= 2
    assert (compared["ratio_low"] <= compared["ratio"]).all()
    assert (compared["ratio"] <= compared["ratio_high"]).all()
    assert set(machine) == {
        "processor",
        "cores",
        "python",
        "numpy",
        "scipy",
        "scikit-learn",
        "numba",
        "stepmix",
        "river",
        "pgmpy",
    }
    assert not rows[["job", "ours", "unit"]].isna().any(axis=None)


def test_missing_results_say_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match="make bench"):
        read_benchmarks(tmp_path / "speed.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"rows": []}', '{"rows": [], "machine": 3}'])
def test_broken_results_say_how_to_get_new_ones(tmp_path, text):
    path = tmp_path / "speed.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="broken; `make bench` writes them anew"):
        read_benchmarks(path)
