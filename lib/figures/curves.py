"""Learning curves: T against sample size."""

import numpy as np

from lib.evaluation import share_of_gain
from lib.figures.plots import line

T_LABEL = "T, part of the possible gain"
PANEL_HEIGHT = 3.5  # inches
PAGE_WIDTH = 7.4  # inches
SIZE_TICKS = (10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
DECADES = (10, 100, 1000, 10_000, 100_000)
MOST_TICKS = 6  # of a panel, before their labels meet


def learning_curves(frame, learners=None, min_gain=0.02, width=3.3):
    """Draw mean T against sample size, with standard errors, a line a learner.

    There is a panel for each n, k and B; its title leaves out a B that is that of all panels. The
    y axis begins at -0.9.

    Parameters
    ----------
    frame : DataFrame
        As `lib.experiments.cia_learning_curves` returns it for several panels.
    learners : sequence of str, optional
        See `lib.figures.line`.
    min_gain : float
        See `lib.evaluation.normalized_performance`.
    width : float
        Of a panel, in inches, if there is room for it.

    Returns
    -------
    seaborn.FacetGrid
    """
    titles = frame["n_attributes"].map("{} attributes".format)
    titles += frame["n_hidden"].map(", k = {}".format)
    if frame["difficulty"].nunique() > 1:
        titles += frame["difficulty"].map(", B = {:g}".format)
    n_panels = titles.nunique()
    t = share_of_gain(frame["accuracy"], frame["best"], frame["constant"], min_gain)
    grid = line(
        frame.assign(T=t, panel=titles),
        "size",
        "T",
        learners=learners,
        col="panel",
        height=PANEL_HEIGHT,
        aspect=min(width, PAGE_WIDTH / n_panels) / PANEL_HEIGHT,
        err_kws={"capsize": 2},
    )
    size_of_words = 11 if n_panels < 4 else 9
    for axis in grid.axes.flat:
        size_axis(axis, frame["size"])
        axis.tick_params(labelsize=size_of_words)
        axis.title.set_fontsize(size_of_words)
    return grid.set(ylim=(-0.9, 1.05)).set_ylabels(T_LABEL)


def size_axis(axis, sizes):
    """Make the x axis one of sample sizes, on a log scale, and draw the line y = 0.

    Parameters
    ----------
    axis : Axes
    sizes : sequence of numbers
        Ticks are round numbers between the smallest and the largest of them.
    """
    ticks = [tick for tick in SIZE_TICKS if min(sizes) <= tick <= max(sizes)]
    if len(ticks) > MOST_TICKS:
        ticks = [tick for tick in ticks if tick in DECADES]
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("sample size s")
    axis.axhline(0, color="black", linewidth=0.8)


def size_words(size, sizes):
    """Return a crossing size in words.

    It is "≤ 10" or "> 2,000" at the ends of the sizes tried, and "?" if it is unknown.
    """
    if np.isnan(size):
        return "?"
    if np.isinf(size):
        return f"> {max(sizes):,}"
    if size <= min(sizes):
        return f"≤ {min(sizes):,}"
    return f"{size:,.0f}"
