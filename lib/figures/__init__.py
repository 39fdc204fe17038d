"""Figures and tables of the book."""

from lib.figures.curves import (
    crossing_map,
    curves_with_differences,
    draw_differences,
    draw_learning_curves,
    learning_curve_row,
    size_axis,
    t_histograms,
)
from lib.figures.page import glue_numbers, plus_minus, size_words, table
from lib.figures.style import LEARNERS, look, use_style

__all__ = [
    "LEARNERS",
    "crossing_map",
    "curves_with_differences",
    "draw_differences",
    "draw_learning_curves",
    "glue_numbers",
    "learning_curve_row",
    "look",
    "plus_minus",
    "size_axis",
    "size_words",
    "t_histograms",
    "table",
    "use_style",
]
