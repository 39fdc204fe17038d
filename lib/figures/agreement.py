"""Pictures of errors against each other, and of how far our runs agree with a paper's tables."""

import textwrap

import matplotlib.patheffects as effects
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lib.figures.style import STRUCTURES, empty_figure, keep_colours, plain

_BLUE, _VERMILLION, _GREY = "#0072B2", "#D55E00", "#7F7F7F"
_SIDES = {
    "above": (_BLUE, "o", "above by more than one s.e."),
    "within": (_GREY, "D", "within one combined s.e."),
    "below": (_VERMILLION, "s", "below by more than one s.e."),
}
_ERROR_TICKS = (0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
_HALO = (effects.withStroke(linewidth=2.2, foreground="white"),)
# Pale as far as two standard errors, then quickly strong.
_STRENGTHS = (-4, -2.9, -2, 0, 2, 2.9, 4)
_SHADES = ("#B04A00", "#EE9A5B", "#FBE9DC", "#FCFCFC", "#DFECF6", "#6AAEDB", "#005A91")
ROUNDING = 0.005  # of printed numbers
_STOPPINGS = {"without": (_BLUE, "o", "without cross-tuning"), "with": (_VERMILLION, "s", "with cross-tuning")}


def error_scatter(panels):
    """Error against error, a point a data set with bars of one standard error, a panel a pair of learners.

    Both axes have a square-root scale, on which the bars of counted errors are about equally long.

    Parameters
    ----------
    panels : DataFrame
        Columns panel (its title), dataset, x, x_se, y, y_se (percent), x_label and y_label (names of the learners).
        A point without standard errors is drawn as one that they do not tell apart.
    """
    if panels.empty:
        return empty_figure("there are no errors to compare")
    titles = list(dict.fromkeys(panels["panel"]))
    figure, axes = _squares(len(titles))
    top = _highest_error(panels)
    parts = [(axis, panels[panels["panel"] == title]) for axis, title in zip(axes, titles, strict=True)]
    for axis, part in parts:
        _scatter(axis, part, top)
    handles = [_dot(color, marker, label) for color, marker, label in _SIDES.values()]
    figure.legend(handles=handles, loc="upper center", ncols=3 if len(titles) > 1 else 1, fontsize=9, borderaxespad=0.2)
    figure.draw_without_rendering()
    for axis, part in parts:
        _name_farthest(axis, part)
    return figure


def agreement_map(cells, colour_label="z = (ours − paper's) / standard error"):
    """Differences from the paper in standard errors, a row a data set and a column a structure with its learner.

    The last row is the share of the column's known cells with |z| of at most 2.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (such as "NB+OFE"; those with the same words before the plus are a group) and z.
        A cell without a z, or that is not in the frame, is hatched.
    colour_label : str
        Words at the bar of colours.
    """
    if cells.empty:
        return empty_figure("there are no cells to compare")
    names, groups = list(dict.fromkeys(cells["dataset"])), _groups(cells["column"])
    labels = [label for group in groups for label in group]
    values = cells.pivot(index="dataset", columns="column", values="z").reindex(index=names, columns=labels)
    values = values.to_numpy(float)
    places = np.arange(len(labels)) + 0.22 * np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    size = (float(np.clip(2.4 + 0.62 * len(labels), 4.4, 7.2)), 0.235 * len(names) + 1.9)
    figure, axis = plt.subplots(figsize=size)
    colours = ScalarMappable(Normalize(-4, 4), _diverging())
    for (row, column), z in np.ndenumerate(values):
        _draw_cell(axis, places[column], row, z, colours.to_rgba(z))
    keep_colours(axis, [*axis.patches, *axis.texts])
    _shares(axis, places, len(names) + 0.25, values)
    _name_cells(axis, names, groups, places)
    bar = figure.colorbar(colours, ax=axis, location="bottom", extend="both", aspect=38, shrink=0.9, pad=0.12 / size[1])
    bar.set_label(colour_label, fontsize=9)
    bar.ax.tick_params(labelsize=9)
    keep_colours(bar.ax, bar.ax.patches)
    if not np.isfinite(values).all():
        patch = Patch(facecolor="#EEEEEE", edgecolor="#AAAAAA", hatch="////", linewidth=0, label="no run here")
        figure.legend(handles=[patch], loc="outside lower right", fontsize=9)
    return figure


def shuffle_positions(cells, columns=3, words="accuracy"):
    """Where the paper's accuracy lies among our repetitions: points above our mean, a row a data set.

    A thin line is the range of our repetitions, a thick one the middle 90% of them. A paper's value beyond the panel
    is an arrow at its edge, with the points.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, column (the panel's title), low, q05, q95, high, mean and printed (accuracies in percent).
    columns : int
        Panels in a row, at most.
    words : str
        What the numbers are.
    """
    if cells.empty:
        return empty_figure("there are no repetitions")
    names, labels = list(dict.fromkeys(cells["dataset"])), list(dict.fromkeys(cells["column"]))
    columns = min(columns, len(labels))
    rows = -(-len(labels) // columns)
    size = (7.4 if columns > 1 else 5.0, (0.2 * len(names) + 0.6) * rows + 0.9)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    shifted = cells[["low", "q05", "q95", "high", "printed"]].sub(cells["mean"], axis=0)
    shifted = shifted.assign(dataset=cells["dataset"], column=cells["column"])
    limit = _position_limit(shifted)
    for axis, label in zip(axes.flat, labels, strict=False):
        part = shifted[shifted["column"] == label].set_index("dataset").reindex(names)
        _positions(axis, part, limit)
        axis.set_title(plain(label), fontsize=10)
    axes[0, 0].set(xlim=(-limit, limit), ylim=(len(names) - 0.4, -0.6))
    axes[0, 0].set_yticks(range(len(names)), map(plain, names))
    axes[0, 0].locator_params(axis="x", nbins=5 if columns < 4 else 3)
    axes[0, 0].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    _switch_off(axes.flat[len(labels) :])
    for axis in axes.flat[max(len(labels) - columns, 0) : len(labels)]:
        axis.tick_params(labelbottom=True)
    figure.supxlabel(f"{words}, points above our mean", fontsize=11)
    handles = _position_handles(beyond=(shifted["printed"].abs() > limit).any())
    figure.legend(handles=handles, loc="outside upper center", ncols=3 if columns > 1 else 2, fontsize=9)
    return figure


def time_ratio_plot(table):
    """Seconds of training with and without cross-tuning, a row a data set and a panel a structure.

    Parameters
    ----------
    table : DataFrame
        Columns dataset, structure ("naive", "tan" or "bic"), stopping ("without" or "with" cross-tuning), ours and
        printed (seconds). What is missing or not positive is left out.
    """
    if table.empty:
        return empty_figure("there are no times to compare")
    names, structures = list(dict.fromkeys(table["dataset"])), list(dict.fromkeys(table["structure"]))
    size = (7.2 if len(structures) > 1 else 5.0, 0.25 * len(names) + 1.7)
    figure, axes = plt.subplots(1, len(structures), figsize=size, sharex=True, sharey=True, squeeze=False)
    for axis, structure in zip(axes[0], structures, strict=True):
        part = table[table["structure"] == structure].set_index(["dataset", "stopping"])[["ours", "printed"]]
        part = part.where(part > 0).unstack("stopping").reindex(names)
        _times(axis, part)
        axis.set(title=STRUCTURES[structure][0], xscale="log", ylim=(len(names) - 0.4, -0.6))
        _stripe(axis, len(names))
    axes[0, 0].set_yticks(range(len(names)), map(plain, names), fontsize=9)
    axes[0, 0].xaxis.set_major_locator(LogLocator(numticks=5))
    axes[0, 0].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes[0, 0].xaxis.set_minor_formatter(NullFormatter())
    figure.supxlabel("seconds of training", fontsize=11)
    handles = [
        _dot(color, marker, f"{who}, {label}", hollow)
        for color, marker, label in _STOPPINGS.values()
        for who, hollow in (("ours", False), ("paper", True))
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9)
    return figure


def few_attributes(studies, printed):
    """Accuracy against the number of attributes that keep their values, a panel a rate of missing values.

    Parameters
    ----------
    studies : dict of rate -> DataFrame
        As `lib.experiments.few_attributes.few_attributes_study` returns it.
    printed : dict of rate -> Series
        The paper's cells, drawn as horizontal lines.
    """
    figure, axes = plt.subplots(1, len(studies), figsize=(7.4, 3.4), sharey=True, squeeze=False)
    for axis, (rate, frame) in zip(axes.flat, studies.items(), strict=True):
        frame = frame[frame["one_valued"] == "dropped"]
        shuffles = frame.groupby(["structure", "n_kept", "repeat"])["accuracy"].mean().unstack("repeat")
        for structure, color, marker in (("naive", _BLUE, "o"), ("tan", _VERMILLION, "^")):
            part = shuffles.loc[structure]
            axis.fill_between(part.index, *part.quantile([0.05, 0.95], axis=1).to_numpy(), color=color, alpha=0.15)
            axis.plot(part.index, part.mean(axis=1), color=color, marker=marker, label=STRUCTURES[structure][0])
        values = sorted(set(printed[rate]))
        lines = [axis.axhline(value, color="black", linewidth=1, linestyle="--") for value in values]
        lines[0].set_label("the paper's cells")
        title = "complete data" if rate == 0 else f"{rate:.0%} of the values removed"
        axis.set(title=title, xlabel="attributes that keep their values")
    axes[0, 0].set_ylabel("accuracy (%)")
    axes[0, 0].legend(loc="lower right", fontsize=9)
    return figure


def _signed_root(values):
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values):
    return np.sign(values) * np.square(values)


def _highest_error(panels):
    ends = [panels[name] + panels[f"{name}_se"].fillna(0) for name in ("x", "y")]
    highest = np.nanmax(np.concatenate([*ends, [1.0]]).astype(float))
    return 1.06 * highest


def _squares(n_panels):
    """Square panels in fixed places, one or two in a row, so that what is placed by hand stays where it is."""
    columns = min(2, n_panels)
    rows = -(-n_panels // columns)
    side, left, above, below = (2.86 if columns > 1 else 4.0), 0.64, 0.32, 0.55
    width, height = columns * (left + side) + 0.2, rows * (above + side + below) + (0.3 if columns > 1 else 0.65)
    figure = plt.figure(figsize=(width, height), layout="constrained")
    figure.set_layout_engine("none")  # a figure made without an engine gets the style's one when it is saved
    corners = [(left + i % columns * (left + side), (rows - 1 - i // columns) * (above + side + below) + below)
               for i in range(n_panels)]  # fmt: skip
    return figure, [figure.add_axes((x / width, y / height, side / width, side / height)) for x, y in corners]


def _scatter(axis, part, top):
    lowest = -top / 400
    for scale in (axis.set_xscale, axis.set_yscale):
        scale("function", functions=(_signed_root, _signed_square))
    axis.plot([0, top], [0, top], color="black", linewidth=0.8, zorder=1.6)
    bars = {"fmt": "none", "ecolor": "#8C8C8C", "elinewidth": 0.8, "zorder": 1.5}
    known = part.dropna(subset=["x", "y"])
    sides = _sides_of(known)
    axis.errorbar(known["x"], known["y"], xerr=known["x_se"], yerr=known["y_se"], **bars)
    for side, (color, marker, _) in _SIDES.items():
        points = known.loc[sides == side, ["x", "y"]].to_numpy(float)
        axis.plot(*points.T, color=color, marker=marker, linestyle="", markersize=5, markeredgecolor="white",
                  markeredgewidth=0.5, clip_on=False, zorder=3)  # fmt: skip
    title, x_label, y_label = (plain(part[name].iloc[0]) for name in ("panel", "x_label", "y_label"))
    axis.set(title=title, xlabel=f"{x_label}: error (%)", ylabel=f"{y_label}: error (%)")
    ticks = [tick for tick in _ERROR_TICKS if tick <= top]
    axis.set_xticks(ticks, ticks, fontsize=9)
    axis.set_yticks(ticks, ticks, fontsize=9)
    axis.set(xlim=(lowest, top), ylim=(lowest, top))
    small = {"fontsize": 8.5, "fontstyle": "italic", "color": "#444444", "transform": axis.transAxes, "zorder": 4}
    small |= {"in_layout": False, "path_effects": _HALO}
    axis.text(0.02, 0.985, f"above: {x_label} better", ha="left", va="top", **small)
    axis.text(0.99, 0.02, f"below: {y_label} better", ha="right", va="bottom", **small)


def _sides_of(part):
    """The side of the diagonal of each point: above, below or within one combined standard error of it."""
    gap, error = part["y"] - part["x"], np.hypot(part["x_se"], part["y_se"])
    return np.select([gap > error, -gap > error], ["above", "below"], "within")


def _name_farthest(axis, part, most=4):
    """Name the points farthest from the diagonal, as drawn, where there is room."""
    known = part.dropna(subset=["x", "y"])
    points = axis.transData.transform(known[["x", "y"]].to_numpy(float))
    distances = np.abs(_signed_root(known["y"].to_numpy(float)) - _signed_root(known["x"].to_numpy(float)))
    taken = [text.get_window_extent().padded(3) for text in axis.texts]
    named = 0
    for i in np.argsort(-distances, kind="stable")[: 2 * most]:
        if named < most and distances[i] > 0.05 * _signed_root(axis.get_ylim()[1]):
            row = known.iloc[i]
            near = np.delete(points, i, axis=0), points[i]
            named += _name(axis, row["dataset"], (row["x"], row["y"]), 1 if row["y"] > row["x"] else -1, near, taken)


def _name(axis, words, point, side, near, taken):
    """Write the name beside its point, nearer to it than to any other, or not at all; whether it was written."""
    for radius in (6, 13):
        for x, y in side * np.array([(-1, 0), (-0.7, 0.7), (0, 1), (0.8, 0.6), (-0.7, -0.7), (1, 0), (0, -1)]):
            text = axis.annotate(
                plain(words), point, (radius * x, radius * y), textcoords="offset points", fontsize=8.5, zorder=5,
                ha="center" if x == 0 else "right" if x < 0 else "left",
                va="center" if y == 0 else "top" if y < 0 else "bottom", path_effects=_HALO,
            )  # fmt: skip
            text.set_in_layout(False)
            box = text.get_window_extent()
            free = _within(box.padded(2), axis.bbox) and not any(box.overlaps(other) for other in taken)
            others, own = (_distances(box, points) for points in near)
            if free and (others > max(own, 5)).all():
                taken.append(box.padded(1))
                if radius > 6:
                    _lead(axis, point, (radius * x, radius * y))
                return True
            text.remove()
    return False


def _distances(box, points):
    """How far points are from a box, in pixels."""
    points = np.atleast_2d(points)
    return np.linalg.norm(points - np.clip(points, box.min, box.max), axis=1)


def _within(inner, outer):
    return outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1


def _lead(axis, point, offset):
    """A thin line from a point to its name."""
    line = {"arrowstyle": "-", "color": "#888888", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2}
    axis.annotate("", point, offset, textcoords="offset points", arrowprops=line, zorder=2).set_in_layout(False)


def _groups(column):
    """The labels of the columns, in lists of those with the same words before the plus."""
    groups = {}
    for label in dict.fromkeys(column):
        groups.setdefault(label.rpartition("+")[0], []).append(label)
    return list(groups.values())


def _diverging():
    places = (np.array(_STRENGTHS) + 4) / 8
    colours = LinearSegmentedColormap.from_list("agreement", list(zip(places, _SHADES, strict=True)))
    return colours.with_extremes(under="#7A3200", over="#003E66", bad="#EEEEEE")


def _draw_cell(axis, x, row, z, colour):
    box = {"facecolor": colour, "linewidth": 0}
    if np.isnan(z):
        box = {"facecolor": "#EEEEEE", "edgecolor": "#AAAAAA", "hatch": "////", "linewidth": 0}
    axis.add_patch(Rectangle((x - 0.48, row - 0.46), 0.96, 0.92, **box))
    if np.isnan(z):
        return
    dark = _luminance(colour) < 0.18  # where black and white are equally easy to read
    axis.text(x, row, _signed(z), ha="center", va="center_baseline", fontsize=8.5, color="white" if dark else "black",
              fontweight="bold" if abs(z) > 2 else "normal")  # fmt: skip


def _luminance(colour):
    """Relative luminance of an sRGB colour, as in the guidelines for contrast (WCAG)."""
    parts = np.array(colour[:3])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def _signed(z):
    words = f"{z:.1f}".replace("inf", "∞").replace("-", "−")
    return "0.0" if words == "−0.0" else words


def _shares(axis, places, row, values):
    for x, column in zip(places, values.T, strict=True):
        known = column[~np.isnan(column)]
        words = f"{np.mean(np.abs(known) <= 2):.0%}" if len(known) else "—"
        axis.text(x, row, words, ha="center", va="center_baseline", fontsize=9)
    axis.axhline(row - 0.68, color="#666666", linewidth=0.8)


def _name_cells(axis, names, groups, places):
    learners = [plain(textwrap.fill(label.rpartition("+")[2], 9)) for group in groups for label in group]
    height = 8 + 12 * max(words.count("\n") + 1 for words in learners)
    first = 0
    for group in groups:
        structure = group[0].rpartition("+")[0]
        here = places[first : first + len(group)]
        first += len(group)
        if structure:
            axis.annotate(plain(structure), (here.mean(), 1), xycoords=("data", "axes fraction"), xytext=(0, height),
                          textcoords="offset points", ha="center", fontsize=10, fontweight="bold")  # fmt: skip
    axis.xaxis.tick_top()
    axis.set_xticks(places, learners, fontsize=9)
    axis.set_yticks([*range(len(names)), len(names) + 0.25], [*map(plain, names), "|z| ≤ 2"], fontsize=9)
    axis.set(xlim=(-0.6, places[-1] + 0.6), ylim=(len(names) + 0.75, -0.6))
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _position_limit(shifted):
    """Wide enough for the ranges and for all but the few farthest of the paper's values."""
    ranges = shifted[["low", "high"]].abs().to_numpy(float).ravel()
    printed = shifted["printed"].abs().dropna().to_numpy(float)
    ends = [ranges[np.isfinite(ranges)], [np.quantile(printed, 0.95)] if len(printed) else [], [0.5]]
    return 1.1 * np.concatenate(ends).max()


def _positions(axis, part, limit):
    rows = np.arange(len(part))
    axis.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=1)
    axis.hlines(rows, part["low"], part["high"], color=_BLUE, linewidth=0.9, zorder=2)
    axis.hlines(rows, part["q05"], part["q95"], color=_BLUE, linewidth=3, alpha=0.55, zorder=2)
    measured = part["low"].notna()
    axis.plot(np.zeros(measured.sum()), rows[measured], color=_BLUE, marker="o", markersize=4, linestyle="", zorder=3)
    printed = part["printed"].to_numpy(float)
    low, high = part["low"].to_numpy(float), part["high"].to_numpy(float)
    outside = (printed < low - ROUNDING) | (printed > high + ROUNDING)
    beyond = np.abs(printed) > limit
    axis.plot(printed[~outside], rows[~outside], **_mark(outside=False), zorder=4)
    axis.plot(printed[outside & ~beyond], rows[outside & ~beyond], **_mark(outside=True), zorder=4)
    for row in rows[beyond]:
        side = np.sign(printed[row])
        axis.plot(side * 0.965 * limit, row, color=_VERMILLION, marker=">" if side > 0 else "<", markersize=5, zorder=4)
        axis.annotate(f"{printed[row]:+.0f}".replace("-", "−"), (side * 0.965 * limit, row), (-5 * side, 0),
                      textcoords="offset points", va="center_baseline", ha="right" if side > 0 else "left",
                      fontsize=8.5, path_effects=_HALO)  # fmt: skip
    for row in rows[~measured]:
        axis.text(0, row, "no run here", ha="center", va="center_baseline", fontsize=8.5, color="#666666",
                  fontstyle="italic", path_effects=_HALO)  # fmt: skip
    _stripe(axis, len(part))


def _mark(outside):
    color, marker = (_VERMILLION, "X") if outside else ("black", "x")
    return {"color": color, "marker": marker, "markersize": 5.5 if outside else 4.5, "linestyle": ""}


def _position_handles(beyond):
    handles = [
        Line2D([], [], color=_BLUE, linewidth=0.9, label="range of our repetitions"),
        Line2D([], [], color=_BLUE, linewidth=3, alpha=0.55, label="middle 90%"),
        Line2D([], [], color=_BLUE, marker="o", markersize=4, linestyle="", label="our mean"),
        Line2D([], [], label="paper, within the range", **_mark(outside=False)),
        Line2D([], [], label="paper, outside", **_mark(outside=True)),
    ]
    if beyond:
        handles.append(_dot(_VERMILLION, ">", "paper, beyond the panel"))
    return handles


def _times(axis, part):
    rows = np.arange(len(part))
    for who, hollow, shift in (("ours", False, -0.17), ("printed", True, 0.17)):
        ends = {name: _column(part, who, name) for name in _STOPPINGS}
        both = np.isfinite(ends["without"]) & np.isfinite(ends["with"])
        axis.hlines(rows[both] + shift, ends["without"][both], ends["with"][both], color="#8C8C8C", linewidth=1,
                    linestyle=":" if hollow else "-", zorder=2)  # fmt: skip
        for name, (color, marker, _) in _STOPPINGS.items():
            fill = "white" if hollow else color
            axis.plot(ends[name], rows + shift, color=color, marker=marker, markersize=4.5, linestyle="",
                      markerfacecolor=fill, zorder=3)  # fmt: skip


def _column(part, who, stopping):
    if (who, stopping) not in part:
        return np.full(len(part), np.nan)
    return part[who, stopping].to_numpy(float)


def _stripe(axis, n_rows):
    """A grey band behind every second row."""
    axis.grid(visible=False, axis="y")
    for row in range(1, n_rows, 2):
        axis.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    axis.tick_params(axis="y", length=0, labelsize=9)
    axis.tick_params(axis="x", labelsize=9)


def _switch_off(axes):
    for axis in axes:
        axis.set_axis_off()


def _dot(color, marker, label, hollow=False):
    fill = "white" if hollow else color
    return Line2D([], [], color=color, marker=marker, linestyle="", markersize=5, markerfacecolor=fill, label=label)
