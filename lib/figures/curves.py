"""Learning curves, paired differences and maps of where they cross."""

import matplotlib.pyplot as plt
import numpy as np

from lib.evaluation import normalized_performance, paired_comparison, t_by_model
from lib.figures.page import size_words
from lib.figures.style import keep_colours, look

T_LABEL = "T, part of the possible gain"


def size_axis(axis, sizes):
    """Make the x axis one of sample sizes, on a log scale with the sizes as its ticks."""
    axis.set_xscale("log")
    shown = [s for s in (10, 30, 100, 300, 1000, 3000, 10_000, 100_000) if min(sizes) <= s <= max(sizes)]
    axis.set_xticks(shown, [f"{s:,}" for s in shown])
    axis.minorticks_off()
    axis.set_xlabel("sample size s")


def draw_learning_curves(axis, frame, min_gain=0.02, learners=None, bottom=-0.9):
    """Draw mean T with standard errors against sample size, a line a learner; below `bottom` nothing is shown."""
    summary = normalized_performance(frame, min_gain)
    for learner in learners if learners is not None else list(dict.fromkeys(frame["learner"])):
        part = summary[summary["learner"] == learner]
        axis.errorbar(part["size"], part["t"], yerr=part["se"], capsize=2, **look(learner))
    size_axis(axis, summary["size"])
    axis.set_ylim(bottom, 1.05)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_ylabel(T_LABEL)


def draw_differences(axis, frame, first, second, min_gain=0.02, limit=0.8):
    """Draw the mean paired difference in T, first - second, with its 95% interval at each size."""
    table = paired_comparison(frame, first, second, min_gain)
    error = [table["difference"] - table["low"], table["high"] - table["difference"]]
    style = look(first) | {"label": f"{look(first)['label']} − {look(second)['label']}"}
    axis.errorbar(table["size"], table["difference"], yerr=error, capsize=2, **style)
    size_axis(axis, table["size"])
    axis.set_ylim(-limit, limit)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_ylabel("difference in T")


def curves_with_differences(frame, learners, min_gain=0.02, pair=("winnow", "em")):
    """One column a number of attributes: learning curves above, paired differences of `pair` below."""
    counts = sorted(frame["n_attributes"].unique())
    figure, axes = plt.subplots(
        2, len(counts), figsize=(3.3 * len(counts) + 0.2, 6.0), sharey="row", squeeze=False, height_ratios=(3, 2)
    )
    for (top, below), n in zip(axes.T, counts, strict=True):
        panel = frame[frame["n_attributes"] == n]
        draw_learning_curves(top, panel, min_gain, learners)
        k, b = panel["n_hidden"].iloc[0], panel["difficulty"].iloc[0]
        top.set_title(f"CIA({n}, {k}, {b:g})")
        top.axvline(n, color="#8C8C8C", linewidth=0.8, linestyle=":")
        draw_differences(below, panel, *pair, min_gain)
        below.set_title(f"{look(pair[0])['label']} − {look(pair[1])['label']}")
    for axis in axes[:, 1:].flat:
        axis.set_ylabel("")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def learning_curve_row(panels, learners=None, min_gain=0.02, bottom=-0.9, width=3.3):
    """Learning curves side by side: `panels` maps titles to frames; learners share one legend."""
    figure, axes = plt.subplots(
        1, len(panels), figsize=(min(width * len(panels) + 0.2, 8.0), 3.7), sharey=True, squeeze=False
    )
    for axis, (title, frame) in zip(axes[0], panels.items(), strict=True):
        draw_learning_curves(axis, frame, min_gain, learners, bottom)
        axis.set_title(title)
        axis.tick_params(labelsize=11 if len(panels) < 4 else 9)
    for axis in axes[0, 1:]:
        axis.set_ylabel("")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(labels)))
    return figure


def t_histograms(panels, size, min_gain=0.02, learners=("em", "winnow")):
    """Histograms of T over models at one sample size, a panel a title; values below -0.5 count at the left end."""
    figure, axes = plt.subplots(1, len(panels), figsize=(3.3 * len(panels) + 0.2, 3.2), sharey=True, squeeze=False)
    bins = np.linspace(-0.5, 1, 16)
    for axis, (title, frame) in zip(axes[0], panels.items(), strict=True):
        for learner in learners:
            t = t_by_model(frame, learner, min_gain)[size].dropna()
            style = {key: look(learner)[key] for key in ("label", "color", "linestyle")}
            axis.hist(np.maximum(t, -0.5), bins, histtype="step", linewidth=2, **style)
        axis.set(title=title, xlabel=T_LABEL)
    axes[0, 0].set_ylabel("models")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def crossing_map(table, sizes, rows="difficulty", columns="n_hidden", panels="n_attributes", value="crossing"):
    """Heat maps of the crossing size, a cell in words where it is beyond the `sizes` tried or unknown."""
    groups = list(table.groupby(panels))
    figure, axes = plt.subplots(1, len(groups), figsize=(3.3 * len(groups) + 0.4, 3.2), sharey=True, squeeze=False)
    for axis, (name, group) in zip(axes[0], groups, strict=True):
        grid = group.pivot(index=rows, columns=columns, values=value)
        shown = np.ma.masked_invalid(np.log10(grid.to_numpy(dtype=float)))
        axis.imshow(shown, cmap="viridis_r", vmin=1, vmax=3.5, aspect="auto", origin="lower")
        axis.set_facecolor("#EEEEEE")
        for (i, j), size in np.ndenumerate(grid.to_numpy(dtype=float)):
            dark = np.isfinite(size) and size > 300
            color = "white" if dark else "black"
            axis.text(j, i, size_words(size, sizes), ha="center", va="center", color=color, fontsize=10)
        keep_colours(axis, [axis.patch, *axis.texts])
        axis.set_xticks(range(grid.shape[1]), grid.columns)
        axis.set_yticks(range(grid.shape[0]), [f"{b:g}" for b in grid.index])
        axis.grid(visible=False)
        axis.set_xlabel("hidden values k")
        axis.set_title(f"n = {name}")
    axes[0, 0].set_ylabel("B (higher is easier)")
    return figure
