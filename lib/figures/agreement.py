"""A map of how far our results are from a paper's, in standard errors."""

import matplotlib.pyplot as plt
import seaborn as sns

from lib.figures.plots import heatmap
from lib.figures.style import empty_figure, keep_colours
from lib.report.numbers import number_words


def agreement_map(cells):
    """Draw differences from the paper in standard errors, a row a data set.

    Those of at most 2 are pale, a deeper colour begins at 6.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (such as "NB+OFE") and z. A cell without a z is hatched.

    Returns
    -------
    Figure
    """
    if cells.empty:
        return empty_figure("there are no cells to compare")
    z = cells.pivot(index="dataset", columns="column", values="z")
    z = z.loc[cells["dataset"].unique(), cells["column"].unique()]  # pivot sorts
    figure, axis = plt.subplots(figsize=(1.9 + 0.62 * z.shape[1], 1.7 + 0.24 * len(z)))
    heatmap(
        z.clip(-10, 10),
        z.map(number_words, spec=".1f"),
        axis,
        cmap=sns.color_palette("RdBu", 5),
        vmin=-10,
        vmax=10,
        linewidths=1,
        annot_kws={"fontsize": 8.5},
        cbar=True,
        cbar_kws={
            "label": "z = (ours − paper's) / standard error",
            "location": "bottom",
            "aspect": 38,
            "ticks": [-6, -2, 2, 6],
        },
    )
    axis.patch.set(facecolor="#EEEEEE", edgecolor="#AAAAAA", hatch="////", linewidth=0)
    keep_colours(axis, [axis.patch, *axis.collections, *axis.texts])
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=8.5)
    axis.set(xlabel="", ylabel="")
    return figure
