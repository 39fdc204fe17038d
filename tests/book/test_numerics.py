"""The note on other arithmetic says what the committed measurements say."""

import pandas as pd
import pytest

from lib.book import numerics

ROW = {"variant": "numpy | 2.2", "numpy": "2.2.6", "kernel": "Haswell", "compared": 479}
PRECISION = {"t32": 0.5, "accuracy32": 0.7, "accuracy64": 0.7}


@pytest.fixture
def measured(monkeypatch):
    def replace(t64, different):
        about = {"bounds": {"t": 0.01, "accuracy": 0.002}, "difficulty": {"largest_difference": 1e-6}, "date": "today"}
        row = ROW | {"different": different, "largest_relative": 2e-7 if different else 0.0, "verdicts": 0}
        monkeypatch.setattr(numerics, "read_precision", lambda: (pd.DataFrame([PRECISION | {"t64": t64}]), about))
        monkeypatch.setattr(numerics, "read_builds", lambda: (pd.DataFrame([row]), {"date": "today"}))
        return numerics.numbers(None, "paper")

    return replace


def test_points_beyond_the_bound_are_counted(measured):
    assert "every point is within it" in measured(0.505, 0)
    assert "1 of them are not" in measured(0.52, 0)


def test_differences_between_builds_are_a_table(measured):
    assert r"| numpy \| 2.2 | 2.2.6 | Haswell | 479 | 3 | 2e-07 | 0 |" in measured(0.5, 3)
    assert "| 0 | none | 0 |" in measured(0.5, 0)
