"""Pictures of Winnow2 at work, and of Atlas' experiments repeated."""

import matplotlib.pyplot as plt
import numpy as np

from lib.figures.style import empty_figure, keep_colours, look, plain

_CLASSES = ("#0072B2", "#C48600", "#009E73", "#CC79A7", "#309BD6", "#D55E00")
_UPDATES = {"promotion": "#009E73", "demotion": "#D55E00", "none": "#8C8C8C"}


def weights_by_step(frame, weights, names, threshold):
    """Small multiples: the weight of each attribute over the steps, below the sum Z with its threshold."""
    columns = 4
    rows = -(-len(names) // columns)
    figure = plt.figure(figsize=(7.4, 2.4 + 1.25 * rows))
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=(1.7, *[1] * rows))
    top = figure.add_subplot(grid[0, :])
    for update, color in _UPDATES.items():
        part = frame[frame["update"] == update]
        top.vlines(part["step"], 0, part["z"], color=color, linewidth=2, label=update)
        top.scatter(part["step"], part["z"], color=color, s=18, marker="o" if update == "none" else "s")
    top.axhline(threshold, color="black", linewidth=0.8, linestyle="--")
    top.set(ylabel="Z", xlabel="example")
    top.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), fontsize=9)
    first = None
    for i, name in enumerate(names):
        axis = figure.add_subplot(grid[1 + i // columns, i % columns], sharex=first, sharey=first)
        first = first or axis
        relevant = name.endswith("*")
        axis.step(range(len(weights)), weights[:, i], where="post", color="#0072B2" if relevant else "#8C8C8C")
        axis.set_title(name, fontsize=9)
        axis.set_yscale("log", base=2)
        if i % columns == 0:
            axis.set_ylabel("weight", fontsize=9)
        if i + columns >= len(names):
            axis.set_xlabel("examples", fontsize=9)
    return figure


def mistakes_by_attributes(frame, bound, adversary):
    """Mistakes at the end of the stream against n for each kind of input, all runs, with the bound and an adversary."""
    kinds = list(dict.fromkeys(frame["inputs"]))
    figure, axes = plt.subplots(1, len(kinds), figsize=(3.7 * len(kinds), 3.7), sharey=True, squeeze=False)
    last = frame[frame["n_examples"] == frame["n_examples"].max()]
    for axis, kind in zip(axes[0], kinds, strict=True):
        for learner, part in last[last["inputs"] == kind].groupby("learner", sort=False):
            style = look(learner)
            axis.plot(part["n_attributes"], part["mistakes"], **style | {"linestyle": "", "label": None}, alpha=0.35)
            middle = part.groupby("n_attributes")["mistakes"].mean()
            axis.plot(middle.index, middle, **style | {"marker": None})
        axis.plot(list(bound), list(bound.values()), color="black", label="Theorem 1")
        axis.plot(list(adversary), list(adversary.values()), color="black", linestyle=":", label="adversary")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set(xlabel="attributes n", title=f"{kind} inputs")
        axis.minorticks_off()
    low, high = min(min(adversary.values()), last["mistakes"].min()), max(*bound.values(), last["mistakes"].max())
    ticks = [tick for tick in (10, 30, 100, 300, 1000, 3000, 10_000, 30_000) if low / 2 < tick < 2 * high]
    axes[0, 0].set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes[0, 0].set_ylabel("mistakes")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def mistakes_over_time(frame, n_attributes):
    """Mistakes so far against examples so far at one n, each run a line."""
    kinds = list(dict.fromkeys(frame["inputs"]))
    figure, axes = plt.subplots(1, len(kinds), figsize=(3.7 * len(kinds), 3.0), sharey=True, squeeze=False)
    for axis, kind in zip(axes[0], kinds, strict=True):
        part = frame[(frame["inputs"] == kind) & (frame["n_attributes"] == n_attributes)]
        for (learner, run), line in part.groupby(["learner", "run"], sort=False):
            style = look(learner) | {"marker": None, "label": look(learner)["label"] if run == 0 else None}
            axis.plot(line["n_examples"], line["mistakes"], **style, alpha=0.6)
        axis.set(xlabel="examples", title=f"n = {n_attributes:,}, {kind}")
    axes[0, 0].set_ylabel("mistakes so far")
    axes[0, 0].legend(loc="upper left")
    return figure


def error_over_time(frame):
    """Mean error rate with its 95% interval over the stream; a line marks where the target changes."""
    figure, axis = plt.subplots(figsize=(6.8, 3.4))
    for learner, part in frame.groupby("learner", sort=False):
        curve = part.groupby("n_examples")["error"].agg(["mean", "sem"])
        style = look(learner)
        axis.plot(curve.index, curve["mean"], **style | {"marker": None})
        low, high = curve["mean"] - 1.96 * curve["sem"], curve["mean"] + 1.96 * curve["sem"]
        axis.fill_between(curve.index, low, high, color=style["color"], alpha=0.2, linewidth=0)
    change = frame.loc[frame["part"] == "before", "n_examples"].max()
    axis.axvline(change, color="black", linestyle=":", linewidth=1)
    axis.set(xlabel="examples", ylabel="error rate", ylim=(0, None))
    axis.legend(loc="upper right")
    return figure


def accuracy_by_added(frame):
    """Mean accuracy with its range over repeats against the number of irrelevant attributes added."""
    figure, axis = plt.subplots(figsize=(6.4, 3.4))
    counts = sorted(frame["n_added"].unique())
    for learner, part in frame.groupby("learner", sort=False):
        by_repeat = part.groupby(["n_added", "repeat"])["accuracy"].mean().groupby("n_added")
        middle, low, high = by_repeat.mean(), by_repeat.min(), by_repeat.max()
        error = [middle - low, high - middle]
        axis.errorbar(range(len(counts)), middle, yerr=np.array(error), capsize=2, **look(learner))
    axis.set_xticks(range(len(counts)), [f"{n:,}" for n in counts])
    axis.set(xlabel="irrelevant attributes added", ylabel="accuracy")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def boxes_by_class(dataset, cuts=None, columns=2):
    """Box plots of each number by class, with the cut points of the bins as lines (Atlas, Figure 1)."""
    numbers = dataset.X.select_dtypes("number")
    classes = sorted(set(dataset.y))
    rows = -(-numbers.shape[1] // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(7.4, (0.75 + 0.2 * len(classes)) * rows + 0.3), sharey=True)
    for axis, name in zip(axes.flat, numbers, strict=False):
        groups = [numbers.loc[dataset.y == c, name].dropna() for c in classes]
        boxes = axis.boxplot(
            groups, orientation="horizontal", widths=0.65, patch_artist=True, flierprops={"markersize": 2}
        )
        for patch, color in zip(boxes["boxes"], _CLASSES, strict=False):
            patch.set(facecolor=color, alpha=0.6)
        for line in boxes["medians"]:
            line.set_color("black")
        for cut in (cuts or {}).get(name, []):
            axis.axvline(cut, color="black", linestyle="--", linewidth=0.9)
        axis.set_yticks(range(1, len(classes) + 1), [plain(c.removeprefix("Iris-")) for c in classes])
        axis.set_title(plain(name.replace("_", " ")), fontsize=10)
    for axis in list(axes.flat)[numbers.shape[1] :]:
        axis.set_axis_off()
    return figure


def confusion_tables(tables, classes):
    """Confusion tables, predicted classes in rows as Atlas prints them; `tables` maps learner to {title: table}.

    Cells are coloured by their share of the true class. A table may be of means, with lows and highs beside it, which
    are shown below each mean.
    """
    if not tables:
        return empty_figure("not among the data sets of this run")
    first = next(iter(tables.values()))
    titles, k = list(first), len(classes)
    widths = [1.6 if k > 4 and isinstance(first[title], tuple) else 1 for title in titles]
    size = (max(7.4, (0.3 * k + 0.4) * len(titles) + 1), (0.34 * k + 0.75) * len(tables) + 0.5)
    grid = {"squeeze": False, "sharex": True, "sharey": True, "width_ratios": widths}
    figure, axes = plt.subplots(len(tables), len(titles), figsize=size, **grid)
    short = [plain(c.removeprefix("Iris-")[:10]) for c in classes]
    for row, (learner, panels) in zip(axes, tables.items(), strict=True):
        for axis, title in zip(row, titles, strict=True):
            _confusion(axis, panels[title], short)
            axis.set_title(f"{look(learner)['label']}\n{title}" if axis is row[0] else f"\n{title}", fontsize=9)
    for axis in axes[:, 0]:
        axis.set_ylabel("predicted", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("actual", fontsize=9)
    return figure


def _confusion(axis, table, labels):
    if table is None:
        axis.text(0.5, 0.5, "not printed", ha="center", va="center", transform=axis.transAxes, fontsize=9)
        axis.set_axis_off()
        return
    table, *ends = table if isinstance(table, tuple) else (table,)
    total = table.sum(axis=0, keepdims=True)
    axis.imshow(table / np.where(total > 0, total, 1), cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    for (i, j), count in np.ndenumerate(table):
        if count and not ends:
            axis.text(j, i, f"{count:g}", ha="center", va="center", fontsize=8.5)
        elif count:
            low, high = (end[i, j] for end in ends)
            axis.text(j, i - 0.2, f"{count:.1f}", ha="center", va="center", fontsize=8.5)
            axis.text(j, i + 0.26, f"{low:g}–{high:g}", ha="center", va="center", fontsize=8.5)
    keep_colours(axis, axis.texts)
    turn = 0 if max(map(len, labels)) < 4 else 35
    axis.set_xticks(range(len(labels)), labels, fontsize=8.5, rotation=turn, ha="center" if not turn else "right")
    axis.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axis.grid(visible=False)


def accuracy_distributions(frame, printed):
    """Accuracy of every fold by data set and learner, with the accuracy that is printed."""
    names, learners = list(dict.fromkeys(frame["dataset"])), list(dict.fromkeys(frame["learner"]))
    height = 0.45 + 0.3 * len(learners)
    figure, axes = plt.subplots(len(names), 1, figsize=(7.0, height * len(names) + 0.9), sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], names, strict=True):
        for level, learner in enumerate(reversed(learners)):
            part = frame[(frame["dataset"] == name) & (frame["learner"] == learner)]
            values, counts = np.unique(part["accuracy"].round(9), return_counts=True)
            style = look(learner)
            axis.scatter(
                values,
                [level] * len(values),
                s=240 * counts / counts.max(),
                color=style["color"],
                alpha=0.45,
                linewidth=0,
            )
            axis.plot(part["accuracy"].mean(), level, color="black", marker="|", markersize=13)
            found = printed[(printed["dataset"] == name) & (printed["learner"] == learner)]
            if len(found):
                paper = found["n_correct"].iloc[0] / found["n_test"].iloc[0]
                axis.plot(paper, level, color="#D55E00", marker="D", markersize=7, markeredgecolor="white")
        axis.set_yticks(range(len(learners)), [look(learner)["label"] for learner in reversed(learners)], fontsize=9)
        axis.set_ylim(-0.7, len(learners) - 0.3)
        axis.set_title(plain(name), loc="left", fontsize=10)
    axes[-1, 0].set_xlabel("accuracy of a fold")
    handles = [
        axes[0, 0].scatter([], [], s=80, color="#7F7F7F", alpha=0.45, label="our folds, larger = more often"),
        *axes[0, 0].plot([], [], color="black", marker="|", linestyle="", markersize=13, label="our mean"),
        *axes[0, 0].plot([], [], color="#D55E00", marker="D", linestyle="", label="printed"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=9)
    return figure


def settings_map(frame):
    """Mean accuracy over theta and promotion: a column a data set, a row a number of passes."""
    names, passes = list(dict.fromkeys(frame["dataset"])), sorted(frame["n_passes"].unique())
    figure, axes = plt.subplots(
        len(passes),
        len(names),
        figsize=(1.38 * len(names) + 0.8, 1.55 * len(passes) + 0.6),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    for column, name in zip(axes.T, names, strict=True):
        part = frame[frame["dataset"] == name]
        means = part.groupby(["n_passes", "theta", "promotion"])["accuracy"].mean() * 100
        for axis, n in zip(column, passes, strict=True):
            grid = means.xs(n).unstack()
            axis.imshow(grid, cmap="viridis", vmin=means.min(), vmax=means.max(), aspect="auto", origin="lower")
            middle = 0.55 * means.min() + 0.45 * means.max()  # where white and black are equally easy to read
            for (i, j), value in np.ndenumerate(grid.to_numpy()):
                color = "black" if value > middle else "white"
                axis.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8.5, color=color)
            keep_colours(axis, axis.texts)
            axis.set_xticks(range(grid.shape[1]), [f"{p:g}" for p in grid.columns], fontsize=8.5)
            axis.set_yticks(range(len(grid)), [f"{t:g}" for t in grid.index], fontsize=8.5)
            axis.grid(visible=False)
        column[0].set_title(plain(name), fontsize=10)
        column[-1].set_xlabel("promotion α", fontsize=9)
    for axis, n in zip(axes[:, 0], passes, strict=True):
        axis.set_ylabel(f"{n} pass{'es' if n > 1 else ''}\nθ / weights", fontsize=9)
    return figure
