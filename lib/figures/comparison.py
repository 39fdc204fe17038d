"""Pictures of learners compared over data sets."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

from lib.figures.colours import COLOURS
from lib.figures.learner_styles import style_of
from lib.figures.plots import heatmap
from lib.figures.style import empty_figure, plain

# of a difference, by which learner its interval says is ahead
AHEAD_COLOURS = {
    "first": COLOURS["blue"],
    "second": COLOURS["vermillion"],
    "neither": COLOURS["grey"],
}
WIDEST_MAP = 9.0  # inches: words of 9 points are 9 pixels high where a page shows it 656 wide


def draw_differences(table):
    """Draw differences in accuracy with intervals, a row a data set, a panel a pair of learners.

    Parameters
    ----------
    table : DataFrame
        Columns dataset, pair (the panel's title), value, low and high: differences of accuracies
        from 0 to 1, which become percentage points.

    Returns
    -------
    Figure
    """
    if table.empty:
        return empty_figure("a comparison needs two learners")
    points = 100 * table[["value", "low", "high"]]
    table = points.assign(
        pair=table["pair"].map(plain),  # before seaborn makes titles of them
        dataset=pd.Categorical(table["dataset"].map(plain), map(plain, table["dataset"].unique())),
        ahead=np.select([table["low"] > 0, table["high"] < 0], ["first", "second"], "neither"),
    )
    n_panels = table["pair"].nunique()
    n_columns = n_panels if n_panels <= 3 else 2
    height = 0.9 + 0.27 * table["dataset"].nunique()
    # the first of three panels needs some of the width for the names of the data sets
    figure_width = 2.1 * n_columns + 1.1 if n_columns == 3 else 7.0
    grid = sns.relplot(
        table,
        x="value",
        y="dataset",
        hue="ahead",
        palette=AHEAD_COLOURS,
        col="pair",
        col_wrap=n_columns,
        height=height,
        aspect=figure_width / n_columns / height,
        s=40,
        linewidth=0,
        legend=False,
        facet_kws={"sharex": False},
    )
    for pair, axis in grid.axes_dict.items():
        rows = table[table["pair"] == pair]
        colours = rows["ahead"].map(AHEAD_COLOURS)
        axis.hlines(rows["dataset"], rows["low"], rows["high"], color=colours, linewidth=2)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.locator_params(axis="x", nbins=4 if n_columns < 3 else 3)
        axis.tick_params(labelleft=axis.get_subplotspec().is_first_col())
        axis.margins(y=0.6 / max(1, len(rows) - 1))
    grid.set_axis_labels("", "")
    grid.figure.set_layout_engine("constrained")
    grid.figure.supxlabel("difference in accuracy, percentage points", fontsize=11)
    grid.set_titles(col_template="{col_name}")
    return grid.figure


def accuracy_map(table):
    """Draw accuracies as numbers on cells, darker the further behind the best of the data set.

    Seven data sets or more are in two halves, as a phone stacks them.

    Parameters
    ----------
    table : DataFrame of shape (n_datasets, n_learners)
        Accuracies from 0 to 1, which become percent; a column of the picture is a data set.

    Returns
    -------
    Figure
    """
    accuracies = table.rename(index=plain, columns=lambda learner: style_of(learner)["label"])
    percent = 100 * accuracies.T
    n_learners, n_datasets = percent.shape
    halves = np.array_split(percent.columns, 2 if n_datasets > 6 else 1)
    figure, axes = plt.subplots(
        1,
        len(halves),
        sharey=True,
        squeeze=False,
        figsize=(min(0.46 * n_datasets + 2.0, WIDEST_MAP), 0.3 * n_learners + 1.3),
        width_ratios=[len(datasets) for datasets in halves],
    )
    for axis, datasets in zip(axes[0], halves, strict=True):
        _draw_accuracies(axis, percent[datasets])
    return figure


def _draw_accuracies(axis, percent):
    gap = percent.max() - percent
    # 100.0 in bold would be wider than a cell of many
    words = percent.map(lambda value: f"{value:.1f}".replace("100.0", "100"))
    heatmap(gap, words, axis, cmap="Blues", vmin=0, vmax=20, annot_kws={"size": 9})
    for text, cell_gap in zip(axis.texts, gap.to_numpy()[gap.notna()], strict=True):
        text.set_fontweight("bold" if cell_gap == 0 else "normal")
    axis.set(xlabel="", ylabel="")
    axis.tick_params(labelsize=9, labelrotation=0)
    axis.set_xticks(
        axis.get_xticks(), axis.get_xticklabels(), rotation=35, ha="right", rotation_mode="anchor"
    )
