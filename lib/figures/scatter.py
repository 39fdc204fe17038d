"""Error of one learner against error of another, with the names of data sets that differ."""

import numpy as np
import pandas as pd
import seaborn as sns

from lib.figures.colours import COLOURS
from lib.figures.learner_styles import STRUCTURE_LABELS, style_of
from lib.figures.plots import legend_above
from lib.figures.style import empty_figure

APART = "more than one combined s.e. apart"
WITHIN = "within one combined s.e."
N_NAMES = 3  # of data sets written into a panel


def error_scatter(averages, x, y):
    """Draw error against error, a point a data set, a panel a structure.

    Bars are of one standard error. The data sets farthest from the diagonal have their names.

    Parameters
    ----------
    averages : DataFrame
        Columns structure, dataset, learner, value (accuracy) and se, both in percent.
    x, y : str
        Learners.

    Returns
    -------
    Figure
    """
    frames = [averages[averages["learner"] == learner] for learner in (x, y)]
    points = pd.merge(*frames, on=["structure", "dataset"])
    if points.empty:
        return empty_figure("there are no errors to compare")
    points["x"] = 100 - points["value_x"]
    points["y"] = 100 - points["value_y"]
    points["gap"] = (points["y"] - points["x"]).abs()
    is_apart = points["gap"] > np.hypot(points["se_x"], points["se_y"])
    points["difference"] = np.where(is_apart, APART, WITHIN)
    points["structure"] = points["structure"].replace(STRUCTURE_LABELS)
    grid = sns.relplot(
        points,
        x="x",
        y="y",
        col="structure",
        col_wrap=2,
        height=3.7,
        facet_kws={"legend_out": False},
        hue="difference",
        palette={APART: COLOURS["blue"], WITHIN: COLOURS["grey"]},
        style="difference",
        markers={APART: "o", WITHIN: "D"},
        zorder=3,
    )
    for structure, axis in grid.axes_dict.items():
        panel = points[points["structure"] == structure]
        axis.axline((0, 0), slope=1, color="black", linewidth=0.8)
        axis.errorbar(
            panel["x"],
            panel["y"],
            xerr=panel["se_x"],
            yerr=panel["se_y"],
            fmt="none",
            ecolor=COLOURS["reference grey"],
            elinewidth=0.8,
        )
        for point in panel[panel["difference"] == APART].nlargest(N_NAMES, "gap").itertuples():
            axis.annotate(
                point.dataset,
                (point.x, point.y),
                xytext=(0, 5),
                textcoords="offset points",
                fontsize=8.5,
            )
    top = 1.05 * points[["x", "y"]].max(axis=None)
    grid.set(xlim=(-0.02 * top, top), ylim=(-0.02 * top, top), box_aspect=1)
    grid.set_titles("{col_name}")
    grid.set_axis_labels(*(f"error of {style_of(learner)['label']} (%)" for learner in (x, y)))
    return legend_above(grid)
