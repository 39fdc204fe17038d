"""Error of one learner against error of another, with the names of the data sets that differ."""

import numpy as np
import seaborn as sns
from matplotlib.scale import FuncScale

from lib.figures.annotations import HALO, mark_handle, scatter_styles
from lib.figures.colours import COLOURS
from lib.figures.style import empty_figure, plain

ABOVE = "above by more than one s.e."
WITHIN = "within one combined s.e."
BELOW = "below by more than one s.e."
# colour and marker
SIDES = {
    ABOVE: (COLOURS["blue"], "o"),
    WITHIN: (COLOURS["grey"], "D"),
    BELOW: (COLOURS["vermillion"], "s"),
}
ERROR_TICKS = (0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
MAX_NAMES = 4  # of data sets written into a panel


def error_scatter(panels):
    """Draw error against error, a point a data set, a panel a pair of learners.

    Bars are of one standard error. Both axes have a square-root scale, on which the bars of counted
    errors are about equally long.

    Parameters
    ----------
    panels : DataFrame
        Columns panel (its title), dataset, x, x_se, y, y_se (percent), x_label and y_label (names
        of the learners). A point without standard errors is drawn as one that they do not tell
        apart.

    Returns
    -------
    Figure
    """
    if panels.empty:
        return empty_figure("there are no errors to compare")
    panels = panels.assign(panel=panels["panel"].map(plain), side=_side(panels))
    # room for the longest bars
    x_top = (panels["x"] + panels["x_se"].fillna(0)).max()
    y_top = (panels["y"] + panels["y_se"].fillna(0)).max()
    top = 1.06 * max(1.0, x_top, y_top)

    n_columns = min(2, panels["panel"].nunique())
    grid = sns.FacetGrid(
        panels,
        col="panel",
        col_wrap=n_columns,
        height=3.7 if n_columns > 1 else 4.6,
        sharex=False,
        sharey=False,
    )
    grid.figure.set_layout_engine("constrained")
    for title, axis in grid.axes_dict.items():
        _draw_panel(axis, panels[panels["panel"] == title], top)
    grid.figure.legend(
        handles=[mark_handle(colour, marker, side) for side, (colour, marker) in SIDES.items()],
        loc="outside upper center",
        ncols=3 if n_columns > 1 else 1,
        fontsize=9,
    )
    # where there is room for a name is known once the panels have their places
    grid.figure.draw_without_rendering()
    for title, axis in grid.axes_dict.items():
        points = panels[panels["panel"] == title].dropna(subset=["x", "y"])
        _name_farthest(axis, points)
    return grid.figure


def _side(panels):
    """On which side of the diagonal each point is, a key of `SIDES`."""
    gap = panels["y"] - panels["x"]
    combined_error = np.hypot(panels["x_se"], panels["y_se"])
    return np.select([gap > combined_error, -gap > combined_error], [ABOVE, BELOW], WITHIN)


def _draw_panel(axis, points, top):
    axis.errorbar(
        points["x"],
        points["y"],
        xerr=points["x_se"],
        yerr=points["y_se"],
        fmt="none",
        ecolor=COLOURS["reference grey"],
        elinewidth=0.8,
        zorder=1.5,
    )
    marks = scatter_styles("side", SIDES)
    sns.scatterplot(points, x="x", y="y", s=30, clip_on=False, zorder=3, ax=axis, **marks)
    axis.plot([0, top], [0, top], color="black", linewidth=0.8, zorder=1.6)

    ticks = [tick for tick in ERROR_TICKS if tick <= top]
    limits = (-top / 400, top)  # so that a mark at 0 shows
    root_scale = FuncScale(axis, (_signed_root, _signed_square))
    axis.set(xscale=root_scale, yscale=root_scale, xticks=ticks, yticks=ticks)
    axis.set(xlim=limits, ylim=limits, box_aspect=1)
    axis.tick_params(labelsize=9)

    x_label = plain(points["x_label"].iloc[0])
    y_label = plain(points["y_label"].iloc[0])
    axis.set(
        title=points["panel"].iloc[0],
        xlabel=f"{x_label}: error (%)",
        ylabel=f"{y_label}: error (%)",
    )
    _write_corner(axis, 0.02, 0.985, f"above: {x_label} better", ha="left", va="top")
    _write_corner(axis, 0.99, 0.02, f"below: {y_label} better", ha="right", va="bottom")


def _write_corner(axis, x, y, words, ha, va):
    """Write words in a corner, x and y as shares of the panel's sides."""
    axis.text(
        x,
        y,
        words,
        ha=ha,
        va=va,
        path_effects=HALO,
        fontsize=8.5,
        fontstyle="italic",
        color="#444444",
        transform=axis.transAxes,
        zorder=4,
    )


def _signed_root(values):
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values):
    return np.sign(values) * np.square(values)


def _name_farthest(axis, points):
    """Write the names of the points farthest from the diagonal, as drawn, where there is room."""
    distances = _signed_root(points["y"]) - _signed_root(points["x"])
    is_far = distances.abs() > 0.05 * _signed_root(axis.get_ylim()[1])
    farthest_first = distances[is_far].sort_values(key=np.abs).index[::-1]
    pixels = axis.transData.transform(points[["x", "y"]])
    taken = [text.get_window_extent() for text in axis.texts]
    n_names = 0
    for i in farthest_first[: 2 * MAX_NAMES]:
        if n_names == MAX_NAMES:
            break
        box = _write_name(axis, points.loc[i], distances[i], pixels, taken)
        if box is not None:
            taken.append(box)
            n_names += 1


def _write_name(axis, point, distance, pixels, taken):
    """Write the name of a point beside it, away from the diagonal if there is room.

    Returns the box that the name takes, or None where there is no room.
    """
    sides = (-1, 1) if distance > 0 else (1, -1)
    for side in sides:
        text = axis.annotate(
            plain(point["dataset"]),
            (point["x"], point["y"]),
            xytext=(6 * side, 5 * np.sign(distance)),
            textcoords="offset points",
            ha="right" if side < 0 else "left",
            va="center",
            fontsize=8.5,
            path_effects=HALO,
            zorder=5,
        )
        text.set_in_layout(False)
        box = text.get_window_extent().padded(1)
        is_in_panel = axis.bbox.count_contains([box.min, box.max]) == 2
        if is_in_panel and not box.count_contains(pixels) and not box.count_overlaps(taken):
            return box
        text.remove()
    return None
