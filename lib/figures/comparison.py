"""Pictures of learners compared over data sets."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

from lib.figures.style import empty_figure, heatmap, look, plain


def critical_difference_diagram(comparison):
    """Average ranks on a line, best on the right; a bar joins learners that the test does not tell apart."""
    ranks, k, half = comparison.ranks, len(comparison.ranks), (len(comparison.ranks) + 1) // 2
    figure, axis = plt.subplots(figsize=(7.4, 1.3 + 0.36 * half + 0.13 * len(comparison.groups)))
    axis.set(xlim=(k + 0.2, 0.8), ylim=(-1.1 - 0.5 * len(comparison.groups) - half, 1.6))
    axis.plot([1, k], [0, 0], color="black", linewidth=1)
    axis.vlines(range(1, k + 1), 0, 0.18, color="black", linewidth=1)
    for tick in range(1, k + 1, 2):
        axis.text(tick, 0.3, tick, ha="center", va="bottom", fontsize=9)
    axis.plot([k, k - comparison.critical_difference], [1.25, 1.25], color="black", linewidth=2)
    axis.text(
        k - comparison.critical_difference - 0.1,
        1.25,
        "critical difference",
        va="center",
        fontsize=9,
    )
    for level, group in enumerate(comparison.groups):
        ends = ranks[group[0]] - 0.06, ranks[group[-1]] + 0.06
        axis.plot(
            ends, [-0.35 - 0.5 * level] * 2, color="#666666", linewidth=4, solid_capstyle="butt"
        )
    below = -0.6 - 0.5 * len(comparison.groups)
    for i, (name, rank) in enumerate(ranks.items()):
        best = i < half
        level = below - (i if best else k - 1 - i)
        end = 1 - 0.15 if best else k + 0.15
        style = look(name)
        axis.plot([rank, rank, end], [0, level, level], color=style["color"], linewidth=1)
        axis.plot(rank, 0, color=style["color"], marker=style["marker"], markersize=6)
        axis.text(
            end,
            level,
            f" {style['label']} {rank:.2f} ",
            ha="left" if best else "right",
            va="center",
            fontsize=9,
        )
    axis.set_axis_off()
    return figure


def differences_by_dataset(table, label):
    """Differences with intervals, a row a data set and a panel a pair; `table` has dataset, pair, value, low, high."""
    if table.empty:
        return empty_figure("a comparison needs two learners")
    table = table.assign(
        pair=table["pair"].map(plain),  # before seaborn makes titles of them
        dataset=pd.Categorical(
            table["dataset"].map(plain), map(plain, dict.fromkeys(table["dataset"]))
        ),
        ahead=np.where(table["low"] > 0, "first", np.where(table["high"] < 0, "second", "neither")),
    )
    n, colours = (
        table["pair"].nunique(),
        {"first": "#0072B2", "second": "#D55E00", "neither": "#7F7F7F"},
    )
    columns, height = n if n < 4 else 2, 0.9 + 0.27 * table["dataset"].nunique()
    size = {
        "height": height,
        "aspect": (2.1 * columns + 1.1 if columns == 3 else 7.0) / columns / height,
    }
    axes = {
        "col": "pair",
        "col_wrap": columns,
        "x": "value",
        "y": "dataset",
        "hue": "ahead",
        "s": 40,
    }
    look = {"palette": colours, "linewidth": 0, "legend": False, "facet_kws": {"sharex": False}}
    grid = sns.relplot(table, **axes, **size, **look)
    for pair, axis in grid.axes_dict.items():
        rows = table[table["pair"] == pair]
        axis.hlines(
            rows["dataset"],
            rows["low"],
            rows["high"],
            color=rows["ahead"].map(colours),
            linewidth=2,
        )
        axis.axvline(0, color="black", linewidth=0.8)
        axis.locator_params(axis="x", nbins=4 if columns < 3 else 3)
        axis.tick_params(labelleft=axis.get_subplotspec().is_first_col())
        axis.margins(y=0.6 / max(1, len(rows) - 1))
    return grid.set_axis_labels(label, "").set_titles(col_template="{col_name}").figure


def accuracy_map(table):
    """Accuracies as numbers, the darker the further behind the best learner of the data set; a column a data set.

    `table` has data sets in rows and learners in columns. Seven sets or more are in two halves, as
    a phone stacks them.
    """
    values = 100 * table.rename(index=plain, columns=lambda name: look(name)["label"]).T
    halves = np.array_split(values.columns, 1 + (len(values.columns) > 6))
    size = {
        "figsize": (0.46 * values.shape[1] + 2.0, 0.3 * len(values) + 1.3),
        "width_ratios": [*map(len, halves)],
    }
    figure, axes = plt.subplots(1, len(halves), sharey=True, squeeze=False, **size)
    for axis, names in zip(axes[0], halves, strict=True):
        gap = values[names].max() - values[names]
        heatmap(
            gap,
            values[names],
            axis,
            fmt=".1f",
            cmap="Blues",
            vmin=0,
            vmax=20,
            annot_kws={"size": 9},
        )
        for text, distance in zip(axis.texts, gap.to_numpy()[gap.notna()], strict=True):
            text.set_fontweight("bold" if distance == 0 else "normal")
        axis.set(xlabel="", ylabel="")
        axis.tick_params(labelsize=9, labelrotation=0)
        axis.set_xticks(
            axis.get_xticks(),
            axis.get_xticklabels(),
            rotation=35,
            ha="right",
            rotation_mode="anchor",
        )
    return figure
