"""Pictures of learners compared over data sets."""

import matplotlib.pyplot as plt
import numpy as np

from lib.figures.style import empty_figure, keep_colours, look, plain


def critical_difference_diagram(comparison):
    """Average ranks on a line, best on the right; a bar joins learners that the test does not tell apart."""
    ranks, k = comparison.ranks, len(comparison.ranks)
    half = (k + 1) // 2
    height = 1.3 + 0.26 * half + 0.13 * len(comparison.groups)
    figure, axis = plt.subplots(figsize=(7.4, height))
    axis.set(xlim=(k + 0.2, 0.8), ylim=(-1.1 - 0.5 * len(comparison.groups) - half, 1.6))
    axis.plot([1, k], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        axis.plot([tick, tick], [0, 0.18], color="black", linewidth=1)
        axis.text(tick, 0.3, tick, ha="center", va="bottom", fontsize=9)
    axis.plot([k, k - comparison.critical_difference], [1.25, 1.25], color="black", linewidth=2)
    axis.text(k - comparison.critical_difference - 0.1, 1.25, "critical difference", va="center", fontsize=9)
    for level, group in enumerate(comparison.groups):
        ends = ranks[group[0]] - 0.06, ranks[group[-1]] + 0.06
        axis.plot(ends, [-0.35 - 0.5 * level] * 2, color="#666666", linewidth=4, solid_capstyle="butt")
    below = -0.6 - 0.5 * len(comparison.groups)
    for i, (name, rank) in enumerate(ranks.items()):
        best = i < half
        level = below - (i if best else k - 1 - i)
        end = 1 - 0.15 if best else k + 0.15
        style = look(name)
        axis.plot([rank, rank, end], [0, level, level], color=style["color"], linewidth=1)
        axis.plot(rank, 0, color=style["color"], marker=style["marker"], markersize=6)
        axis.text(end, level, f" {style['label']} {rank:.2f} ", ha="left" if best else "right", va="center", fontsize=9)
    axis.set_axis_off()
    return figure


def differences_by_dataset(table, label):
    """Differences with intervals, a row a data set and a panel a pair; `table` has dataset, pair, value, low, high."""
    if table.empty:
        return empty_figure("a comparison needs two learners")
    pairs, names = list(dict.fromkeys(table["pair"])), list(dict.fromkeys(table["dataset"]))
    columns = len(pairs) if len(pairs) < 4 else 2
    rows = -(-len(pairs) // columns)
    size = (2.1 * columns + 1.4 if columns == 3 else 7.0, (0.9 + 0.27 * len(names)) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharey=True, squeeze=False)
    for axis, pair in zip(axes.flat, pairs, strict=False):
        part = table[table["pair"] == pair].set_index("dataset").reindex(names)
        colors = np.where(part["low"] > 0, "#0072B2", np.where(part["high"] < 0, "#D55E00", "#7F7F7F"))
        positions = np.arange(len(names))[::-1]
        for position, color, row in zip(positions, colors, part.itertuples(), strict=True):
            axis.plot([row.low, row.high], [position] * 2, color=color, linewidth=2)
            axis.plot(row.value, position, color=color, marker="o")
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set(title=plain(pair), xlabel=label, ylim=(-0.6, len(names) - 0.4))
        axis.locator_params(axis="x", nbins=4)
        axis.set_yticks(positions, map(plain, names))
    for axis in axes.flat[len(pairs) :]:
        axis.set_axis_off()
    return figure


def accuracy_map(table, colour_label, sets_down=False):
    """Accuracies as numbers, coloured by the distance to the best learner of the data set; a column a data set.

    `table` has data sets in rows and learners in columns; with `sets_down` so has the picture.
    """
    accuracies = table.to_numpy() * 100
    gap = accuracies.max(axis=1, keepdims=True) - accuracies
    learners, names = [look(name)["label"] for name in table.columns], list(map(plain, table.index))
    values, gap = (accuracies, gap) if sets_down else (accuracies.T, gap.T)
    down, across = (names, learners) if sets_down else (learners, names)
    size = 0.46 * values.shape[1] + 2.7, (0.26 if sets_down else 0.3) * len(values) + (2.0 if sets_down else 1.6)
    figure, axis = plt.subplots(figsize=size)
    image = axis.imshow(gap, cmap="Blues", vmin=0, vmax=20, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        weight = "bold" if gap[row, column] == 0 else "normal"
        color = "white" if gap[row, column] > 14 else "black"
        axis.text(column, row, f"{value:.1f}", ha="center", va="center", color=color, fontsize=9, fontweight=weight)
    keep_colours(axis, axis.texts)
    axis.set_xticks(range(len(across)), across, rotation=35, ha="right", rotation_mode="anchor", fontsize=9)
    axis.set_yticks(range(len(down)), down, fontsize=9)
    axis.grid(visible=False)
    bar = figure.colorbar(image, ax=axis, label=colour_label, extend="max")
    keep_colours(bar.ax, bar.ax.patches)
    return figure
