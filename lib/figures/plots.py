"""Kinds of plot that many chapters draw: lines of learners, heatmaps, a legend above the panels."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns

from lib.base.colour import contrast
from lib.figures.learner_styles import pair_label, styles
from lib.figures.style import keep_colours


def line(
    frame,
    x,
    y,
    hue="learner",
    learners=None,
    col=None,
    reference=None,
    height=3.4,
    aspect=1.2,
    **options,
):
    """Draw mean lines of learners with standard errors by seaborn's `relplot`.

    Parameters
    ----------
    frame : DataFrame
        A row a trial.
    x, y, hue, col : str
        Columns of `frame`; `hue` holds names of learners, and each value of `col` has a panel.
    learners : sequence of str, optional
        Those to draw, in the order of the legend; by default all, in the order of the frame.
    reference : str, optional
        Column whose mean is drawn as a black dashed line, such as the error of the best possible
        rule.
    height, aspect : float
        Of a panel: inches, and width over height.
    options
        Of `relplot`; they override what this function would choose.

    Returns
    -------
    seaborn.FacetGrid
    """
    learners = list(frame[hue].unique()) if learners is None else list(learners)
    defaults = {
        "errorbar": "se",
        "err_style": "bars",
        "facet_kws": {"legend_out": False},
    }
    grid = sns.relplot(
        frame,
        x=x,
        y=y,
        hue=hue,
        style=hue,
        col=col,
        height=height,
        aspect=aspect,
        kind="line",
        **styles(learners),
        **(defaults | options),
    )
    grid.set_titles(col_template="{col_name}")
    if reference and col is None:
        _draw_reference(grid.ax, frame, x, reference)
    elif reference:
        for value, axis in grid.axes_dict.items():
            _draw_reference(axis, frame[frame[col] == value], x, reference)
    legend_above(grid)
    return grid


def _draw_reference(axis, trials, x, reference):
    means = trials.groupby(x)[reference].mean()
    axis.plot(means.index, means, color="black", linestyle=(0, (5, 2)), linewidth=1.2)


def heatmap(table, annot=True, axis=None, **options):
    """Draw seaborn's `heatmap`, its words black or white, whichever stands out more.

    No page recolours it.

    Parameters
    ----------
    table, annot
        `data` and `annot` of `seaborn.heatmap`.
    axis : Axes, optional
    options
        Of `seaborn.heatmap`; fmt is "" and there is no colour bar unless they say so.

    Returns
    -------
    Axes
    """
    axis = plt.gca() if axis is None else axis
    n_earlier_texts = len(axis.texts)
    # seaborn draws all of the figure, other panels too, to see whether labels overlap
    axis.figure.set_visible(False)
    sns.heatmap(table, annot=annot, ax=axis, **({"fmt": "", "cbar": False} | options))
    axis.figure.set_visible(True)

    mesh = axis.collections[-1]
    texts = axis.texts[n_earlier_texts:]
    has_text = ~np.ma.getmaskarray(mesh.get_array()).ravel()
    for text, cell_colour in zip(texts, mesh.get_facecolors()[has_text], strict=True):
        is_dark = contrast(cell_colour, "white") > contrast(cell_colour, "black")
        text.set_color("white" if is_dark else "black")
    keep_colours(axis, [mesh, *texts])
    axis.grid(visible=False)
    return axis


def legend_above(plot, ncols=3, also=(), **options):
    """Put one legend of learners, by their labels, above a figure.

    It replaces all legends that the figure has, and shows what the first of them does.

    Parameters
    ----------
    plot : Axes or seaborn grid
    ncols : int
        Largest number of columns.
    also : sequence of artists
        Others to name, by their own labels.
    options
        Of `Figure.legend`.

    Returns
    -------
    Figure
    """
    figure = plot.figure
    figure.set_layout_engine("constrained")
    legends = [axis.get_legend() for axis in figure.axes if axis.get_legend()]
    legends += figure.legends
    learners = [text.get_text() for text in legends[0].get_texts()]
    handles = [*legends[0].legend_handles, *also]
    labels = [pair_label(learner) for learner in learners]
    labels += [artist.get_label() for artist in also]
    for legend in legends:
        legend.remove()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=min(ncols, len(labels)), **options
    )
    return figure
