"""Continuous attributes into bins, and bins into boolean attributes."""

from lib.discretize.class_centres import ClassSeparatingCuts
from lib.discretize.cut_points import CutPoints
from lib.discretize.entropy import EntropyDiscretizer
from lib.discretize.one_hot import OneHot

__all__ = ["ClassSeparatingCuts", "CutPoints", "EntropyDiscretizer", "OneHot"]
