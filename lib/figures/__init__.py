"""Figures and tables of the book."""

from lib.figures.agreement import agreement_map, error_scatter, shuffle_positions
from lib.figures.curves import T_LABEL, learning_curves, size_axis, size_words
from lib.figures.page import glue_estimates, glue_numbers, plus_minus, table
from lib.figures.style import (
    heatmap,
    keep_colours,
    legend_above,
    line,
    look,
    looks,
    pair_label,
    palette,
    use_style,
)
