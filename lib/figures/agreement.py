"""A map of how far our results are from a paper's, in standard errors."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch

from lib.figures.plots import heatmap
from lib.figures.style import empty_figure, keep_colours, plain

MAX_Z = 4  # beyond which a cell has the colour of an end
# The colour of a difference z: pale as far as two standard errors, then quickly strong.
COLOUR_OF_Z = {
    -4: "#B04A00",
    -2.9: "#EE9A5B",
    -2: "#FBE9DC",
    0: "#FCFCFC",
    2: "#DFECF6",
    2.9: "#6AAEDB",
    4: "#005A91",
}
FAR_BELOW = "#7A3200"
FAR_ABOVE = "#003E66"
NO_RUN = {"facecolor": "#EEEEEE", "edgecolor": "#AAAAAA", "hatch": "////", "linewidth": 0}


def agreement_map(cells):
    """Draw differences from the paper in standard errors, a row a data set.

    A column is a structure with its learner. Below each column is the share of its cells with a z
    that have |z| of at most 2.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (such as "NB+OFE"; those with the same words before the plus are a
        group) and z. A cell without a z, or that is not in the frame, is hatched.

    Returns
    -------
    Figure
    """
    if cells.empty:
        return empty_figure("there are no cells to compare")
    cells = cells.assign(dataset=cells["dataset"].map(plain), column=cells["column"].map(plain))
    datasets = cells["dataset"].unique()
    columns = cells["column"].unique()
    z = cells.pivot(index="dataset", columns="column", values="z")
    z = z.reindex(datasets)[columns].astype(float)
    structures = z.columns.str.rpartition("+").get_level_values(0)
    groups = z.T.groupby(structures, sort=False)

    width = float(np.clip(2.4 + 0.62 * len(columns), 4.4, 7.2))
    height = 0.235 * len(datasets) + 1.9
    figure, axes = plt.subplots(
        1,
        len(groups),
        figsize=(width, height),
        sharey=True,
        squeeze=False,
        width_ratios=groups.size(),
    )
    for axis, (structure, rows) in zip(axes.flat, groups, strict=True):
        _draw_group(axis, structure, rows.T)
    y_of_shares = len(datasets) + 0.65
    axes[0, 0].text(-0.1, y_of_shares, "|z| ≤ 2", ha="right", va="center", fontsize=9)
    _draw_colour_bar(figure, axes)
    if z.isna().any(axis=None):
        patch = Patch(**NO_RUN, label="no run here")
        figure.legend(handles=[patch], loc="outside lower right", fontsize=9)
    return figure


def _draw_colour_bar(figure, axes):
    mesh = axes[0, 0].collections[0]
    bar = figure.colorbar(mesh, ax=axes, location="bottom", extend="both", aspect=38, shrink=0.9)
    bar.set_label("z = (ours − paper's) / standard error", fontsize=9)
    bar.ax.tick_params(labelsize=9)
    keep_colours(bar.ax, bar.ax.patches)


def _draw_group(axis, structure, z):
    """The panel of a structure: z of its learners, with the shares of small ones below."""
    heatmap(
        z.clip(-9, 9),  # an infinite z has a colour, too
        z.map(_z_words),
        axis,
        cmap=_colour_map(),
        vmin=-MAX_Z,
        vmax=MAX_Z,
        annot_kws={"fontsize": 8.5, "va": "center_baseline"},
        linewidths=1,
    )
    for text, cell_z in zip(axis.texts, z.to_numpy()[z.notna()], strict=True):
        text.set_fontweight("bold" if abs(cell_z) > 2 else "normal")
    axis.patch.set(**NO_RUN)
    keep_colours(axis, [axis.patch, *axis.collections, *axis.texts])

    # in units of cells, y grows downwards: a line of words below the last row
    shares = (z.abs() <= 2).sum() / z.notna().sum()
    for x, share in enumerate(shares):
        percent = "—" if np.isnan(share) else f"{share:.0%}"
        axis.text(x + 0.5, len(z) + 0.65, percent, ha="center", va="center", fontsize=9)

    learners = [textwrap.fill(column.rpartition("+")[2], 9) for column in z]
    axis.xaxis.tick_top()
    axis.set_xticks(np.arange(len(learners)) + 0.5, learners, rotation=0, fontsize=9)
    axis.set_yticks(np.arange(len(z)) + 0.5, z.index, rotation=0, fontsize=9)
    axis.tick_params(length=0)
    axis.set(xlabel="", ylabel="")
    axis.set_title(structure, fontsize=10, fontweight="bold")


def _colour_map():
    stops = [((z + MAX_Z) / (2 * MAX_Z), colour) for z, colour in COLOUR_OF_Z.items()]
    colour_map = LinearSegmentedColormap.from_list("agreement", stops)
    return colour_map.with_extremes(under=FAR_BELOW, over=FAR_ABOVE)


def _z_words(z):
    words = f"{z:.1f}".replace("inf", "∞").replace("-", "−")
    return words.replace("−0.0", "0.0")
