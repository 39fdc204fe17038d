"""Errors of learned tables where the structure is poorer or richer than the truth."""

import matplotlib.pyplot as plt
import numpy as np

from lib.figures.style import look

MARKS = ("o", "D", "^", "s")


def error_by_duplicates(panels, learners, limits=None):
    """Mean error with standard errors against the number of copies m, a panel a title; the Bayes error in black.

    `limits` maps titles to the errors of large samples, which are drawn as bare lines.
    """
    width = max(5.6, 3.7 * len(panels))
    figure, axes = plt.subplots(1, len(panels), figsize=(width, 3.7), sharey=True, squeeze=False)
    for axis, (title, frame) in zip(axes[0], panels.items(), strict=True):
        groups = frame.groupby(["learner", "duplicates"])["error"]
        means, errors = groups.mean(), groups.sem()
        for learner in learners:
            axis.errorbar(means[learner].index, means[learner], yerr=errors[learner], capsize=2, **look(learner))
        for learner, part in limits[title].groupby("learner", sort=False) if limits else ():
            style = look(learner) | {"marker": None, "label": None, "linestyle": "-", "linewidth": 6, "alpha": 0.2}
            axis.plot(part["duplicates"], part["error"], **style)
        bayes = frame.groupby("duplicates")["bayes_error"].first()
        axis.plot(bayes.index, bayes, color="black", linewidth=1, linestyle="--", label="Bayes error")
        axis.set(title=title, xlabel="attributes that are copies, m", xticks=list(bayes.index))
    axes[0, 0].set(ylabel="error", ylim=(0, None))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def excess_by_size(panels, learners, x="size", columns=3, log=True, label="sample size"):
    """Mean error above the Bayes error with standard errors over runs, a panel a title."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    size = ((3.3 if columns < 3 else 2.5) * columns + 0.4, 2.6 * rows + 0.9)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for axis, (title, frame) in zip(axes.flat, panels.items(), strict=False):
        excess = frame.assign(excess=frame["error"] - frame["bayes_error"])
        runs = excess.groupby(["learner", x, "run"])["excess"].mean().groupby(["learner", x])
        means, errors = runs.mean(), runs.sem()
        for learner in learners:
            axis.errorbar(means[learner].index, means[learner], yerr=errors[learner], capsize=2, **look(learner))
        ticks = list(means[learners[0]].index)
        if log:
            axis.set_xscale("log")
            axis.minorticks_off()
        axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axis.set_title(title)
        axis.tick_params(labelsize=11 if columns < 3 else 9)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("error above Bayes")
    for column in range(columns):
        lowest = [axis for axis in axes[:, column] if axis.axison][-1]
        lowest.set_xlabel(label)
        lowest.tick_params(labelbottom=True)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def p_value_shares(table, readings):
    """Share of small experiments in which a p-value comes out, with its interval, a row a comparison of the paper.

    Parameters
    ----------
    table : DataFrame
        comparison, reading, share, share_low, share_high.
    readings : dict
        Reading to the words of the legend.
    """
    names = list(dict.fromkeys(table["comparison"]))
    figure, axis = plt.subplots(figsize=(7.4, 0.42 * len(names) + 1.3))
    for j, (reading, words) in enumerate(readings.items()):
        part = table[table["reading"] == reading].set_index("comparison").reindex(names)
        y = np.arange(len(names)) + 0.3 * (j - (len(readings) - 1) / 2)
        spread = [part["share"] - part["share_low"], part["share_high"] - part["share"]]
        color = look(("elr", "elr_forced")[j % 2])["color"]
        axis.errorbar(
            part["share"],
            y,
            xerr=spread,
            linestyle="",
            marker=MARKS[j % len(MARKS)],
            color=color,
            capsize=2,
            label=words,
        )
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set(xlim=(-0.02, 1.02), xlabel="share of experiments with the paper's p-value")
    figure.legend(loc="outside upper center", ncols=len(readings))
    return figure
