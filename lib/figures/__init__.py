"""Figures and tables of the book."""

from lib.figures.agreement import agreement_map
from lib.figures.colours import COLOURS
from lib.figures.curves import learning_curves, size_axis, size_words
from lib.figures.learner_styles import hues, pair_label, style_of, styles
from lib.figures.plots import heatmap, legend_above, line
from lib.figures.style import keep_colours, use_style
from lib.figures.words import plus_minus
