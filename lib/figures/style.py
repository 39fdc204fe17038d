"""The book's style of figures, and what all kinds of figure need."""

import os
import warnings

import matplotlib.pyplot as plt
from IPython import get_ipython
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from lib.figures.colours import COLOURS
from lib.figures.narrow import with_narrow

DRIVEN = "BOOK_TRIALS"  # the variable with which the driver of the book runs a chapter
# The variable that leaves figures out where it is "off", as in tests, which compare numbers.
FIGURES = "BOOK_FIGURES"


def use_style():
    """Set the book's style; a figure is stored as the same bytes each run.

    Where the driver of the book draws it, it is not only PNG but SVG for pages, too, with a narrow
    one for phones (see `lib.figures.narrow`). With ``BOOK_FIGURES=off`` no figure is rendered.
    """
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    plt.uninstall_repl_displayhook()  # which would draw each figure once more, for no output
    if os.environ.get(FIGURES) == "off":
        set_matplotlib_formats()  # an output says in text only that a figure was made
    elif DRIVEN in os.environ:
        set_matplotlib_formats("svg", "png")
        get_ipython().display_formatter.formatters["image/svg+xml"].for_type(Figure, with_narrow)
    # by seaborn's grids, whose layout `legend_above` sets
    warnings.filterwarnings(
        "ignore", "The figure layout has changed to tight|Tight layout not applied"
    )
    plt.rc("svg", hashsalt="when-the-model-is-wrong")
    plt.rc("figure", dpi=110)
    plt.rc("figure.constrained_layout", use=True)
    plt.rc("font", size=11)
    plt.rc("axes", titlesize=11, grid=True)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("grid", color=COLOURS["grid grey"], linewidth=0.6)
    plt.rc("lines", linewidth=1.6, markersize=5)
    plt.rc("legend", frameon=False)


def plain(words):
    """The words, such as names from data, so that a $ in them begins no formula."""
    return str(words).replace("$", r"\$")


def keep_colours(axis, artists):
    """Mark artists whose colours belong together: a page in the dark theme leaves them alone.

    Such are words on coloured cells.

    Parameters
    ----------
    axis : Axes
        That of the artists.
    artists : iterable of Artist
    """
    axis_number = axis.figure.axes.index(axis)
    for i, artist in enumerate(artists):
        artist.set_gid(f"fixed-{axis_number}-{i}")


def empty_figure(words):
    """A low figure that only says why there is nothing to see."""
    figure, axis = plt.subplots(figsize=(7.4, 0.8))
    axis.text(0.5, 0.5, words, ha="center", va="center")
    axis.set_axis_off()
    return figure
