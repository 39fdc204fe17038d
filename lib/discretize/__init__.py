"""Continuous attributes into bins, and bins into boolean attributes."""

from lib.discretize.cut_points import CutPoints
from lib.discretize.entropy import EntropyDiscretizer
from lib.discretize.one_hot import OneHot
from lib.discretize.separating import ClassSeparatingCuts

__all__ = ["ClassSeparatingCuts", "CutPoints", "EntropyDiscretizer", "OneHot"]
