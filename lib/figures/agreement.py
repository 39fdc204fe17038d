"""Kinds of picture for results beside a paper's: agreement of cells, places among repetitions, error against error."""

import textwrap

import matplotlib.patheffects as effects
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.scale import FuncScale

from lib.figures.style import empty_figure, heatmap, keep_colours, plain

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#7F7F7F"
SIDES = {
    "above by more than one s.e.": (BLUE, "o"),
    "within one combined s.e.": (GREY, "D"),
    "below by more than one s.e.": (VERMILLION, "s"),
}
RANGE, MIDDLE = {"color": BLUE, "linewidth": 0.9}, {"color": BLUE, "linewidth": 3, "alpha": 0.55}
BEYOND = "paper, beyond the panel"
PLACES = {
    "paper, within the range": ("black", "X"),
    "paper, outside": (VERMILLION, "X"),
    BEYOND: (VERMILLION, "D"),
}
ERROR_TICKS = (0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
HALO = (effects.withStroke(linewidth=2.2, foreground="white"),)
# Pale as far as two standard errors, then quickly strong.
STRENGTHS = np.array([-4, -2.9, -2, 0, 2, 2.9, 4])
SHADES = ("#B04A00", "#EE9A5B", "#FBE9DC", "#FCFCFC", "#DFECF6", "#6AAEDB", "#005A91")
ROUNDING = 0.005  # of printed numbers


def agreement_map(cells):
    """Differences from the paper in standard errors, a row a data set and a column a structure with its learner.

    Below each column is the share of its known cells with |z| of at most 2.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (such as "NB+OFE"; those with the same words before the plus are a
        group) and z. A cell without a z, or that is not in the frame, is hatched.
    """
    if cells.empty:
        return empty_figure("there are no cells to compare")
    cells = cells.assign(dataset=cells["dataset"].map(plain), column=cells["column"].map(plain))
    names, columns = cells["dataset"].unique(), cells["column"].unique()
    values = (
        cells.pivot(index="dataset", columns="column", values="z")
        .reindex(names)[columns]
        .astype(float)
    )
    groups = values.T.groupby(values.columns.str.rpartition("+").get_level_values(0), sort=False)
    size = (float(np.clip(2.4 + 0.62 * len(columns), 4.4, 7.2)), 0.235 * len(names) + 1.9)
    figure, axes = plt.subplots(
        1, len(groups), figsize=size, sharey=True, squeeze=False, width_ratios=groups.size()
    )
    for axis, (group, part) in zip(axes.flat, groups, strict=True):
        _draw_group(axis, group, part.T)
    axes[0, 0].text(-0.1, len(names) + 0.65, "|z| ≤ 2", ha="right", va="center", fontsize=9)
    bar = figure.colorbar(
        axes[0, 0].collections[0], ax=axes, location="bottom", extend="both", aspect=38, shrink=0.9
    )
    bar.set_label("z = (ours − paper's) / standard error", fontsize=9)
    bar.ax.tick_params(labelsize=9)
    keep_colours(bar.ax, bar.ax.patches)
    if values.isna().any(axis=None):
        patch = Patch(
            facecolor="#EEEEEE", edgecolor="#AAAAAA", hatch="////", linewidth=0, label="no run here"
        )
        figure.legend(handles=[patch], loc="outside lower right", fontsize=9)
    return figure


def _draw_group(axis, group, values):
    colours = LinearSegmentedColormap.from_list(
        "agreement", list(zip((STRENGTHS + 4) / 8, SHADES, strict=True))
    )
    colours = colours.with_extremes(under="#7A3200", over="#003E66")
    words = values.map(
        lambda z: f"{z:.1f}".replace("inf", "∞").replace("-", "−").replace("−0.0", "0.0")
    )
    settings = {"annot_kws": {"fontsize": 8.5, "va": "center_baseline"}, "linewidths": 1}
    heatmap(values.clip(-9, 9), words, axis, cmap=colours, vmin=-4, vmax=4, **settings)
    for text, z in zip(axis.texts, values.to_numpy()[values.notna()], strict=True):
        text.set_fontweight("bold" if abs(z) > 2 else "normal")
    axis.patch.set(facecolor="#EEEEEE", edgecolor="#AAAAAA", hatch="////", linewidth=0)
    keep_colours(axis, [axis.patch, *axis.collections, *axis.texts])
    for x, share in enumerate((values.abs() <= 2).sum() / values.notna().sum()):
        percent = "—" if np.isnan(share) else f"{share:.0%}"
        axis.text(x + 0.5, len(values) + 0.65, percent, ha="center", va="center", fontsize=9)
    labels = [textwrap.fill(label.rpartition("+")[2], 9) for label in values]
    axis.xaxis.tick_top()
    axis.set_xticks(np.arange(len(labels)) + 0.5, labels, rotation=0, fontsize=9)
    axis.set_yticks(np.arange(len(values)) + 0.5, values.index, rotation=0, fontsize=9)
    axis.tick_params(length=0)
    axis.set(xlabel="", ylabel="")
    axis.set_title(group, fontsize=10, fontweight="bold")


def shuffle_positions(cells, words="accuracy"):
    """Where the paper's numbers lie among our repetitions: points above our mean, a row a data set.

    A thin line is the range of our repetitions, a thick one the middle 90% of them. A paper's value
    beyond the panel is a mark at its edge, with the points.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (the panel's title), low, q05, q95, high, ours (the mean) and
        printed, in percent.
    words : str
        What the numbers are.
    """
    if cells.empty:
        return empty_figure("there are no repetitions")
    cells = cells.assign(dataset=cells["dataset"].map(plain), column=cells["column"].map(plain))
    names, columns = list(cells["dataset"].unique()), min(3, cells["column"].nunique())
    shifted, limit = _placed(cells.assign(row=cells["dataset"].map(names.index)))
    panel = {"height": 0.2 * len(names) + 0.6, "aspect": 7.0 / columns / (0.2 * len(names) + 0.6)}
    grid = sns.FacetGrid(shifted, col="column", col_wrap=columns, xlim=(-limit, limit), **panel)
    grid.map(plt.hlines, "row", "low", "high", **RANGE)
    grid.map(plt.hlines, "row", "q05", "q95", **MIDDLE)
    for column, axis in grid.axes_dict.items():
        _draw_places(axis, shifted[shifted["column"] == column])
        _stripe(axis, len(names))
        axis.set_title(column, fontsize=10)
    grid.set(ylim=(len(names) - 0.4, -0.6), xlabel="", ylabel="")
    grid.axes.flat[0].set_yticks(range(len(names)), names)
    grid.axes.flat[0].xaxis.set_major_formatter("{x:g}")
    grid.figure.set_layout_engine("constrained")
    grid.figure.set_figheight(grid.figure.get_figheight() + 0.9)
    grid.figure.supxlabel(f"{words}, points above our mean", fontsize=11)
    handles = [
        Line2D([], [], label="range of our repetitions", **RANGE),
        Line2D([], [], label="middle 90%", **MIDDLE),
    ]
    handles += [_dot(*look, place) for place, look in {"our mean": (BLUE, "o"), **PLACES}.items()]
    handles = handles if (shifted["place"] == BEYOND).any() else handles[:-1]
    grid.figure.legend(
        handles=handles, loc="outside upper center", ncols=3 if columns > 1 else 2, fontsize=9
    )
    return grid.figure


def _placed(cells):
    """Cells as points above our mean, with where the paper's number lies and is shown; and how far a panel reaches."""
    ends = ["low", "q05", "q95", "high", "printed"]
    shifted = cells.assign(**cells[ends].sub(cells["ours"], axis=0))
    # wide enough for the ranges and for all but the few farthest of the paper's values
    limit = 1.1 * np.nanmax(
        [*shifted[["low", "high"]].abs().max(), shifted["printed"].abs().quantile(0.95), 0.5]
    )
    outside = ~shifted["printed"].between(shifted["low"] - ROUNDING, shifted["high"] + ROUNDING)
    within, beside, _ = PLACES
    shifted["place"] = np.select(
        [shifted["printed"].abs() > limit, outside], [BEYOND, beside], within
    )
    return shifted.assign(shown=shifted["printed"].clip(-0.965 * limit, 0.965 * limit)), limit


def _draw_places(axis, part):
    axis.plot(0 * part["row"], part["row"], color=BLUE, marker="o", markersize=4, linestyle="")
    sns.scatterplot(part, x="shown", y="row", s=50, zorder=4, ax=axis, **_marks("place", PLACES))
    for cell in part[part["place"] == BEYOND].itertuples():
        _note_points(axis, cell)


def _marks(column, looks):
    """Keyword arguments of seaborn's `scatterplot` for points that look as a column says."""
    colours, markers = ({value: look[i] for value, look in looks.items()} for i in (0, 1))
    return {"hue": column, "palette": colours, "style": column, "markers": markers, "legend": False}


def _note_points(axis, cell):
    """How far above our mean a number is that stands at the edge."""
    side, words = np.sign(cell.printed), f"{cell.printed:+.0f}".replace("-", "−")
    place = {
        "xytext": (-5 * side, 0),
        "textcoords": "offset points",
        "ha": "right" if side > 0 else "left",
    }
    axis.annotate(
        words,
        (cell.shown, cell.row),
        **place,
        va="center_baseline",
        fontsize=8.5,
        path_effects=HALO,
    )


def _stripe(axis, n_rows):
    """A grey band behind every second row."""
    axis.grid(visible=False, axis="y")
    for row in range(1, n_rows, 2):
        axis.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    axis.tick_params(axis="y", length=0, labelsize=9)
    axis.tick_params(axis="x", labelsize=9)


def _dot(color, marker, label):
    return Line2D([], [], color=color, marker=marker, linestyle="", markersize=5, label=label)


def error_scatter(panels):
    """Error against error, a point a data set with bars of one standard error, a panel a pair of learners.

    Both axes have a square-root scale, on which the bars of counted errors are about equally long.

    Parameters
    ----------
    panels : DataFrame
        Columns panel (its title), dataset, x, x_se, y, y_se (percent), x_label and y_label (names
        of the learners). A point without standard errors is drawn as one that they do not tell
        apart.
    """
    if panels.empty:
        return empty_figure("there are no errors to compare")
    panels = panels.assign(panel=panels["panel"].map(plain))
    gap, error = panels["y"] - panels["x"], np.hypot(panels["x_se"], panels["y_se"])
    above, within, below = SIDES
    panels = panels.assign(side=np.select([gap > error, -gap > error], [above, below], within))
    top = 1.06 * max(
        1.0, *((panels[name] + panels[f"{name}_se"].fillna(0)).max() for name in ("x", "y"))
    )
    columns = min(2, panels["panel"].nunique())
    height = 3.7 if columns > 1 else 4.6
    grid = sns.FacetGrid(
        panels, col="panel", col_wrap=columns, height=height, sharex=False, sharey=False
    )
    grid.figure.set_layout_engine("constrained")
    for title, axis in grid.axes_dict.items():
        _scatter(axis, panels[panels["panel"] == title], top)
    handles = [_dot(*look, side) for side, look in SIDES.items()]
    grid.figure.legend(
        handles=handles, loc="outside upper center", ncols=3 if columns > 1 else 1, fontsize=9
    )
    grid.figure.draw_without_rendering()
    for title, axis in grid.axes_dict.items():
        _name_farthest(axis, panels[panels["panel"] == title].dropna(subset=["x", "y"]))
    return grid.figure


def _scatter(axis, part, top):
    bars = {"fmt": "none", "ecolor": "#8C8C8C", "elinewidth": 0.8, "zorder": 1.5}
    axis.errorbar(part["x"], part["y"], xerr=part["x_se"], yerr=part["y_se"], **bars)
    sns.scatterplot(
        part, x="x", y="y", s=30, clip_on=False, zorder=3, ax=axis, **_marks("side", SIDES)
    )
    axis.plot([0, top], [0, top], color="black", linewidth=0.8, zorder=1.6)
    x_label, y_label = (plain(part[name].iloc[0]) for name in ("x_label", "y_label"))
    ticks = [tick for tick in ERROR_TICKS if tick <= top]
    root = FuncScale(axis, (_signed_root, _signed_square))
    axis.set(xscale=root, yscale=root, xticks=ticks, yticks=ticks)
    axis.set(xlim=(-top / 400, top), ylim=(-top / 400, top), box_aspect=1)
    axis.tick_params(labelsize=9)
    axis.set(
        title=part["panel"].iloc[0], xlabel=f"{x_label}: error (%)", ylabel=f"{y_label}: error (%)"
    )
    small = {
        "fontsize": 8.5,
        "fontstyle": "italic",
        "color": "#444444",
        "transform": axis.transAxes,
        "zorder": 4,
    }
    axis.text(
        0.02, 0.985, f"above: {x_label} better", ha="left", va="top", path_effects=HALO, **small
    )
    axis.text(
        0.99, 0.02, f"below: {y_label} better", ha="right", va="bottom", path_effects=HALO, **small
    )


def _signed_root(values):
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values):
    return np.sign(values) * np.square(values)


def _name_farthest(axis, part, most=4):
    """Name the points farthest from the diagonal, as drawn, where there is room beside them."""
    distances = _signed_root(part["y"]) - _signed_root(part["x"])
    distances = distances[distances.abs() > 0.05 * _signed_root(axis.get_ylim()[1])].sort_values(
        key=np.abs
    )
    points, taken = (
        axis.transData.transform(part[["x", "y"]]),
        [text.get_window_extent() for text in axis.texts],
    )
    for i in distances.index[: -2 * most - 1 : -1]:
        for x in (-1, 1) if distances[i] > 0 else (1, -1):
            place = {
                "xytext": (6 * x, 5 * np.sign(distances[i])),
                "ha": "right" if x < 0 else "left",
            }
            box = _write(axis, part.loc[i], place, points, taken) if most else None
            if box:
                taken.append(box)
                most -= 1
                break


def _write(axis, row, place, points, taken):
    """Write the name of a point where there is room; return the room that it takes, or None."""
    settings = {
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 8.5,
        "path_effects": HALO,
        "zorder": 5,
    }
    text = axis.annotate(plain(row["dataset"]), (row["x"], row["y"]), **place, **settings)
    text.set_in_layout(False)
    box = text.get_window_extent().padded(1)
    corners = axis.bbox.count_contains([box.min, box.max])
    if corners == 2 and not box.count_contains(points) and not box.count_overlaps(taken):
        return box
    text.remove()
    return None
