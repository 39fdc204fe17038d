"""Where a paper's numbers lie among repetitions of its experiment."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.lines import Line2D

from lib.figures.annotations import HALO, mark_handle, scatter_styles
from lib.figures.colours import COLOURS
from lib.figures.style import empty_figure, plain

RANGE = {"color": COLOURS["blue"], "linewidth": 0.9}
MIDDLE = {"color": COLOURS["blue"], "linewidth": 3, "alpha": 0.55}
INSIDE = "paper, within the range"
OUTSIDE = "paper, outside"
BEYOND = "paper, beyond the panel"
# colour and marker
PLACES = {
    INSIDE: ("black", "X"),
    OUTSIDE: (COLOURS["vermillion"], "X"),
    BEYOND: (COLOURS["vermillion"], "D"),
}
ROUNDING = 0.005  # of printed numbers
EDGE = 0.965  # where a value beyond the panel is shown, as a share of the panel's half width


def shuffle_positions(cells, words="accuracy"):
    """Draw the paper's numbers among our repetitions, in points above our mean, a row a data set.

    A thin line is the range of our repetitions, a thick one the middle 90% of them. A paper's value
    beyond the panel is a mark at its edge, with the points.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (the panel's title), low, q05, q95, high, ours (the mean) and
        printed, in percent.
    words : str
        What the numbers are.

    Returns
    -------
    Figure
    """
    if cells.empty:
        return empty_figure("there are no repetitions")
    cells = cells.assign(dataset=cells["dataset"].map(plain), column=cells["column"].map(plain))
    datasets = list(cells["dataset"].unique())
    n_columns = min(3, cells["column"].nunique())
    points = _points_above_mean(cells.assign(row=cells["dataset"].map(datasets.index)))
    limit = _half_width(points)
    points = _place(points, limit)

    height = 0.2 * len(datasets) + 0.6
    grid = sns.FacetGrid(
        points,
        col="column",
        col_wrap=n_columns,
        xlim=(-limit, limit),
        height=height,
        aspect=7.0 / n_columns / height,
    )
    grid.map(plt.hlines, "row", "low", "high", **RANGE)
    grid.map(plt.hlines, "row", "q05", "q95", **MIDDLE)
    for column, axis in grid.axes_dict.items():
        _draw_marks(axis, points[points["column"] == column])
        _draw_stripes(axis, len(datasets))
        axis.set_title(column, fontsize=10)
    grid.set(ylim=(len(datasets) - 0.4, -0.6), xlabel="", ylabel="")
    first_axis = grid.axes.flat[0]
    first_axis.set_yticks(range(len(datasets)), datasets)
    first_axis.xaxis.set_major_formatter("{x:g}")
    figure = grid.figure
    figure.set_layout_engine("constrained")
    figure.set_figheight(figure.get_figheight() + 0.9)
    figure.supxlabel(f"{words}, points above our mean", fontsize=11)
    figure.legend(
        handles=_legend_handles(has_beyond=(points["place"] == BEYOND).any()),
        loc="outside upper center",
        ncols=3 if n_columns > 1 else 2,
        fontsize=9,
    )
    return figure


def _points_above_mean(cells):
    """Cells with their numbers as percentage points above our mean."""
    numbers = ["low", "q05", "q95", "high", "printed"]
    return cells.assign(**cells[numbers].sub(cells["ours"], axis=0))


def _half_width(points):
    """How far a panel reaches: to all ranges and to all but the few farthest printed values."""
    range_ends = points[["low", "high"]].abs().max()
    most_printed = points["printed"].abs().quantile(0.95)
    return 1.1 * np.nanmax([*range_ends, most_printed, 0.5])


def _place(points, limit):
    """Points with `place`, a key of `PLACES`, and `shown`, where the printed value is drawn."""
    printed = points["printed"]
    is_outside = ~printed.between(points["low"] - ROUNDING, points["high"] + ROUNDING)
    place = np.select([printed.abs() > limit, is_outside], [BEYOND, OUTSIDE], INSIDE)
    return points.assign(place=place, shown=printed.clip(-EDGE * limit, EDGE * limit))


def _draw_marks(axis, points):
    """Our means, at 0, and the printed values."""
    axis.plot(
        0 * points["row"],
        points["row"],
        color=COLOURS["blue"],
        marker="o",
        markersize=4,
        linestyle="",
    )
    marks = scatter_styles("place", PLACES)
    sns.scatterplot(points, x="shown", y="row", s=50, zorder=4, ax=axis, **marks)
    for point in points[points["place"] == BEYOND].itertuples():
        _note_points(axis, point)


def _note_points(axis, point):
    """Write how far above our mean a value is that stands at the edge."""
    side = np.sign(point.printed)
    axis.annotate(
        f"{point.printed:+.0f}".replace("-", "−"),
        (point.shown, point.row),
        xytext=(-5 * side, 0),
        textcoords="offset points",
        ha="right" if side > 0 else "left",
        va="center_baseline",
        fontsize=8.5,
        path_effects=HALO,
    )


def _draw_stripes(axis, n_rows):
    """A grey band behind every second row."""
    axis.grid(visible=False, axis="y")
    for row in range(1, n_rows, 2):
        axis.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    axis.tick_params(axis="y", length=0, labelsize=9)
    axis.tick_params(axis="x", labelsize=9)


def _legend_handles(has_beyond):
    handles = [
        Line2D([], [], label="range of our repetitions", **RANGE),
        Line2D([], [], label="middle 90%", **MIDDLE),
        mark_handle(COLOURS["blue"], "o", "our mean"),
    ]
    for place, (colour, marker) in PLACES.items():
        if place != BEYOND or has_beyond:
            handles.append(mark_handle(colour, marker, place))
    return handles
