"""Figures and tables of the book."""

from lib.figures.agreement import agreement_map, error_scatter, few_attributes, shuffle_positions, time_ratio_plot
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
from lib.figures.style import (
    LEARNERS,
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
from lib.figures.title import title_picture
from lib.figures.winners import winner_maps

__all__ = [
    "LEARNERS",
    "agreement_map",
    "crossing_map",
    "curves_with_differences",
    "draw_differences",
    "draw_learning_curves",
    "error_scatter",
    "few_attributes",
    "glue_numbers",
    "heatmap",
    "keep_colours",
    "learning_curve_row",
    "legend_above",
    "line",
    "look",
    "looks",
    "pair_label",
    "palette",
    "plus_minus",
    "shuffle_positions",
    "size_axis",
    "size_words",
    "t_histograms",
    "table",
    "time_ratio_plot",
    "title_picture",
    "use_style",
    "winner_maps",
]
