"""Small parts of figures: words that stand out on lines, and marks of a legend."""

import matplotlib.patheffects as effects
from matplotlib.lines import Line2D

HALO = (effects.withStroke(linewidth=2.2, foreground="white"),)  # around words


def mark_handle(color, marker, label):
    """The handle of a mark in a legend."""
    return Line2D([], [], color=color, marker=marker, linestyle="", markersize=5, label=label)


def scatter_styles(column, marks):
    """Keyword arguments of seaborn's `scatterplot` for points that look as a column says.

    Parameters
    ----------
    column : str
        Whose values say how a point looks.
    marks : dict
        Colour and marker by value of the column.
    """
    return {
        "hue": column,
        "palette": {value: colour for value, (colour, _) in marks.items()},
        "style": column,
        "markers": {value: marker for value, (_, marker) in marks.items()},
        "legend": False,
    }
