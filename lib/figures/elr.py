"""Pictures of conditional likelihood: boundaries, slopes, maxima, and formulas as networks."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch

from lib.figures.style import keep_colours

_NETWORKS = {
    "naive Bayes": ("#0072B2", "o"),
    "TAN": ("#D55E00", "s"),
    "chain": ("#009E73", "^"),
    "general": ("#CC79A7", "D"),
}
_DATA = {"complete": ("#0072B2", "o"), "missing": ("#C48600", "s"), "hidden": ("#D55E00", "D")}
_LINES = {
    "renamed": ("#0072B2", "best end to its twin, H renamed"),
    "worst": ("#D55E00", "best end to worst end"),
}
_SATISFIABLE, _UNSATISFIABLE = "#0072B2", "#D55E00"
_NODES = {"X": "#DCEBF7", "C": "#FBE5D0", "D": "#EEEEEE", "A": "#CFEADF"}


def posterior_maps(posteriors, titles):
    """P(class 1) over two attributes, a panel a learner, with contours; `posteriors` and `titles` by name."""
    figure, axes = plt.subplots(
        1, len(posteriors), figsize=(1.75 * len(posteriors) + 0.8, 2.7), sharex=True, sharey=True
    )
    for axis, (name, table) in zip(axes, posteriors.items(), strict=True):
        image = axis.imshow(table, origin="lower", vmin=0, vmax=1, cmap="RdBu_r", aspect="equal")
        lines = axis.contour(table, levels=[0.1, 0.25, 0.5, 0.75, 0.9], colors="black", linewidths=[1, 1, 2, 1, 1])
        axis.clabel(lines, fontsize=8.5, fmt=lambda level: f"{level:g}")
        keep_colours(axis, [lines, *axis.texts])
        axis.set_title(titles[name], fontsize=10)
        axis.set_xticks(range(len(table)), range(1, len(table) + 1), fontsize=8.5)
        axis.set_yticks(range(len(table)), range(1, len(table) + 1), fontsize=8.5)
        axis.set_xlabel("second gauge")
        axis.grid(visible=False)
    axes[0].set_ylabel("first gauge")
    figure.colorbar(image, ax=axes, label="P(class 1)", shrink=0.8)
    return figure


def gradient_error_by_step(frame, limit):
    """Relative error of central differences against the step, a line a network, and a dotted one at `limit`.

    Markers are open with missing values.
    """
    figure, axis = plt.subplots(figsize=(6.6, 3.9))
    for (name, missing), part in frame.groupby(["network", "missing"], sort=False):
        color, marker = _NETWORKS[name]
        style = {"linestyle": "--", "markerfacecolor": "white"} if missing else {}
        label = f"{name}{', values missing' if missing else ''}"
        axis.plot(part["step"], part["error"], color=color, marker=marker, label=label, **style)
    axis.axhline(limit, color="black", linestyle=":", linewidth=1)
    axis.set(xscale="log", yscale="log", xlabel="step h", ylabel="largest error, relative")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper", fontsize=9)
    return figure


def two_maxima(u, values, ends, lines):
    """The slice with one maximum on either side, and the conditional likelihood along lines between ends of climbs.

    Parameters
    ----------
    u, values
        From `two_parameters`.
    ends : float
        The symmetric maxima are at (ends, ends) and (-ends, -ends).
    lines : DataFrame
        From `along_lines`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.5))
    levels = np.linspace(values.max() - 0.5, values.max(), 11)
    filled = left.contourf(u, u, values, levels=levels, cmap="viridis", extend="min")
    left.plot([-ends, ends], [-ends, ends], color="white", marker="o", markeredgecolor="black", linewidth=1.2)
    keep_colours(left, [filled, *left.lines])
    left.set(xlabel="u", ylabel="v", aspect="equal", title="C → H → E, H hidden")
    left.grid(visible=False)
    bar = figure.colorbar(filled, ax=left, shrink=0.8)
    keep_colours(bar.ax, [*bar.ax.patches, bar.solids])
    bar.set_ticks(levels[::5], labels=[f"{level:.2f}" for level in levels[::5]])
    for line, part in lines.groupby("line", sort=False):
        color, label = _LINES[line]
        right.plot(part["t"], part["value"], color=color, label=label)
        right.plot(part["t"], part["chord"], color=color, linestyle=":", linewidth=1)
    right.set(xlabel="part of the way", ylabel="mean ln P(c | e)", title="between ends of climbs")
    right.legend(fontsize=8.5, loc="lower center", bbox_to_anchor=(0.5, 1.1))
    return figure


def ends_of_climbs(frame, floor=1e-6):
    """By how much each climb ended below the best of its kind of data, in order; below `floor` counts as none."""
    figure, axis = plt.subplots(figsize=(6.4, 3.3))
    for data, part in frame.groupby("data", sort=False):
        color, marker = _DATA[data]
        gaps = np.sort(part["log_conditional_likelihood"].max() - part["log_conditional_likelihood"])
        ranks = (np.arange(len(gaps)) + 1) / len(gaps)
        axis.plot(ranks, np.maximum(gaps, floor), color=color, marker=marker, markersize=4, linewidth=0.8, label=data)
    axis.set(
        yscale="log",
        xlabel="part of the starts",
        ylabel="below the best end\n(mean ln P(c | e))",
        ylim=(floor / 2, None),
    )
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def formula_network(made):
    """The network of a formula (Figure 1): variables above, clauses below them, then the chain of conjunctions."""
    places = _places(made.names)
    width = max(x for x, _ in places.values())
    figure, axis = plt.subplots(figsize=(1.35 * width + 2.0, 3.6))
    for child, parents in zip(made.names, made.parents, strict=True):
        for parent in parents:
            arrow = FancyArrowPatch(
                places[made.names[parent]], places[child], arrowstyle="-|>", mutation_scale=11, shrinkA=14, shrinkB=14
            )
            arrow.set(color="#777777", linewidth=0.9)
            axis.add_patch(arrow)
    for name, (x, y) in places.items():
        axis.scatter(x, y, s=640, color=_NODES[name[0]], edgecolor="black", linewidth=0.9, zorder=3)
        label = f"${name[0]}_{{{name[1:]}}}$" if name[1:] else f"${name}$"
        axis.text(x, y, label, ha="center", va="center", zorder=4, fontsize=11)
    keep_colours(axis, [*axis.collections, *axis.texts])
    axis.set(xlim=(-0.4, width + 0.4), ylim=(-0.45, 3.35))
    axis.set_axis_off()
    return figure


def starts_by_formula(frame, levels):
    """The score at which each start ended, a column a formula; `levels` are those with 0, 1, ... violated clauses."""
    names = list(dict.fromkeys(frame["name"]))
    figure, axis = plt.subplots(figsize=(max(5.6, 0.45 * len(names) + 2.2), 4.6))
    lowest = frame["log_conditional_likelihood"].min()
    for m, level in enumerate(levels):
        if level < lowest - 0.25:
            break
        bound = m == 1
        axis.axhline(
            level, color="black" if m < 2 else "#AAAAAA", linestyle="--" if bound else "-", linewidth=1, zorder=1
        )
        words = ("all satisfied: 0", "1 violated: −2 ln 2")[m] if m < 2 else f"{m} violated"
        axis.annotate(words, (1, level), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                      fontsize=8.5, va="center", annotation_clip=False)  # fmt: skip
    for position, name in enumerate(names):
        part = frame[frame["name"] == name]
        ranks = part["log_conditional_likelihood"].rank(method="first") / (len(part) + 1) - 0.5
        color, marker = (_SATISFIABLE, "o") if part["satisfiable"].iloc[0] else (_UNSATISFIABLE, "s")
        axis.scatter(position + 0.7 * ranks, part["log_conditional_likelihood"], s=14, color=color, marker=marker,
                     alpha=0.7, linewidth=0, zorder=2)  # fmt: skip
        axis.text(position, 0.12, f"{part['decides'].mean():.0%}", ha="center", va="bottom", fontsize=8.5)
    axis.set_xticks(range(len(names)), [_short(name) for name in names], fontsize=8.5)
    axis.set(
        xlabel="variables, and below them clauses",
        ylabel="sum of ln P(a | e) at the end",
        xlim=(-0.6, len(names) - 0.4),
        ylim=(None, 0.45),
    )
    axis.grid(visible=False)
    for color, marker, label in ((_SATISFIABLE, "o", "satisfiable"), (_UNSATISFIABLE, "s", "unsatisfiable")):
        axis.scatter([], [], s=20, color=color, marker=marker, label=label)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9)
    return figure


def _places(names):
    """Coordinates of the nodes: C_j in column j, D_j below it, A at the end of the chain."""
    variables = [name for name in names if name[0] == "X"]
    k = max([int(name[1:]) for name in names if name[0] == "C"], default=1)
    columns = np.linspace(0, k - 1, len(variables)) if len(variables) < k else np.arange(len(variables))
    shift = (columns[-1] - (k - 1)) / 2
    places = {name: (float(x), 3.0) for name, x in zip(variables, columns, strict=True)}
    for name in names:
        if name[0] in "CD":
            j = int(name[1:]) - 1
            places[name] = (j + shift, 1.6 if name[0] == "C" else 0.9 - 0.3 * j)
    places["A"] = (k - 1 + shift, 0.9 - 0.3 * (k - 1) if k > 1 else 1.6)
    return places


def _short(name):
    """The number of variables over that of clauses, for a tick."""
    variables, clauses = name.split(", ")[:2]
    return f"{variables.split()[0]}\n{clauses.split()[0]}"
