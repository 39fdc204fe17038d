"""Pictures of ELR's errors over its iterations, and of where it stops."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from lib.figures.style import empty_figure, plain

STRUCTURES = {"naive": "NB", "tan": "TAN"}
_ERRORS = {
    "resubstitution": ("resubstitution", "#0072B2", "--"),
    "error": ("held out", "#D55E00", "-"),
}
_RULES = {
    "fixed": ("fixed number", "#0072B2", "o"),
    "greedy": ("while training error falls", "#C48600", "D"),
    "converged": ("at convergence", "#009E73", "s"),
}


def fold_curves(frame, tuned="tuned", best="best", columns=3):
    """Errors after each iteration, a panel a fold, with the iterations that cross-tuning and hindsight choose."""
    folds = list(dict.fromkeys(frame["fold"]))
    columns = min(columns, len(folds))
    rows = -(-len(folds) // columns)
    size = (2.4 * columns + 0.4, 1.95 * rows + 0.8)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for axis, fold in zip(axes.flat, folds, strict=False):
        part = frame[frame["fold"] == fold]
        part = part.assign(**{name: part[name] * 100 for name in _ERRORS})
        _draw_errors(axis, part[part["stopping"] == "each"].set_index("n_iterations"))
        marks = part.set_index("stopping")[["n_iterations", "error"]]
        axis.plot(*marks.loc[best], **_mark("*", 11), label="best in hindsight")
        axis.axvline(marks.loc[tuned, "n_iterations"], color="black", linestyle=":", label="cross-tuning's choice")
        axis.set_title(f"fold {fold + 1}", fontsize=10)
    for axis in axes.flat[len(folds) :]:
        axis.set_axis_off()
    for axis in axes.flat[max(len(folds) - columns, 0) : len(folds)]:
        axis.tick_params(labelbottom=True)
    figure.supxlabel("iterations", fontsize=11)
    figure.supylabel("error (%)", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def mean_curves(frame, marked=()):
    """Mean errors after each iteration with the range of the middle 90% of shuffles, each a mean over its folds."""
    figure, axis = plt.subplots(figsize=(6.2, 3.6))
    shuffles = _each(frame).groupby(["n_iterations", "repeat"])[list(_ERRORS)].mean() * 100
    means = shuffles.groupby("n_iterations").mean()
    low, high = (shuffles.groupby("n_iterations").quantile(q) for q in (0.05, 0.95))
    for name, (label, color, line) in _ERRORS.items():
        axis.fill_between(means.index, low[name], high[name], color=color, alpha=0.2, linewidth=0)
        axis.plot(means.index, means[name], color=color, linestyle=line, marker="o", markersize=3, label=label)
    for iterations in marked:
        axis.axvline(iterations, color="black", linestyle=":", linewidth=0.9)
    axis.set(xlabel="iterations", ylabel="error (%)")
    axis.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def chosen_against_best(counts):
    """Maps of how many folds have each pair of chosen and best iteration; `counts` maps titles to square arrays."""
    figure, axes = plt.subplots(1, len(counts), figsize=(3.4 * len(counts) + 0.6, 3.6), sharey=True, squeeze=False)
    largest = max(part.max() for part in counts.values())
    for axis, (title, part) in zip(axes[0], counts.items(), strict=True):
        shown = np.ma.masked_equal(part.T, 0)
        image = axis.imshow(shown, origin="lower", cmap="viridis_r", vmin=0, vmax=largest)
        axis.plot([0, len(part) - 1], [0, len(part) - 1], color="#8C8C8C", linewidth=0.8)
        axis.set(title=title, xlabel="best in hindsight (iterations)")
        axis.locator_params(integer=True, nbins=6)
    axes[0, 0].set_ylabel("chosen by cross-tuning")
    figure.colorbar(image, ax=axes[0].tolist(), label="folds", shrink=0.85, ticks=MaxNLocator(integer=True))
    return figure


def gains_by_dataset(table):
    """What cross-tuning gains on each rule, a row a data set and a panel a structure, sorted by the mean gain."""
    if table.empty:
        return empty_figure("there is nothing to compare")
    structures = list(dict.fromkeys(table["structure"]))
    names = table.groupby("dataset")["value"].mean().sort_values().index
    size = (3.4 * len(structures) + 1.2, 1.5 + 0.38 * len(names))
    figure, axes = plt.subplots(1, len(structures), figsize=size, sharey=True, squeeze=False)
    for axis, structure in zip(axes[0], structures, strict=True):
        for i, (rule, (label, color, marker)) in enumerate(_RULES.items()):
            part = table[(table["structure"] == structure) & (table["stopping"] == rule)].set_index("dataset")
            part, positions = part.reindex(names), np.arange(len(names)) + 0.25 * (1 - i)
            known = np.isfinite(part["low"])
            ends = part["low"].where(known, part["value"]), part["high"].where(known, part["value"])
            axis.hlines(positions, *ends, color=color, linewidth=1.4)
            axis.plot(part["value"], positions, color=color, marker=marker, linestyle="", markersize=4.5, label=label)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set(title=STRUCTURES[structure], xlabel="error − cross-tuned (points)", ylim=(-0.6, len(names) - 0.4))
        axis.set_yticks(np.arange(len(names)), map(plain, names))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def stops_shown(summary):
    """`lib.experiments.cross_tuning.stopping_summary` as it is printed."""
    shown = summary[["rule"]].assign(**{"iterations": _digits(summary["iterations"], ".1f")})
    shown["training error (%)"] = _digits(summary["training error"], ".2f")
    shown["held-out error (%)"] = _digits(summary["held-out error"], ".2f")
    shown["− cross-tuned"] = _digits(summary["difference"], "+.2f")
    shown["95% interval"] = _intervals(summary)
    return shown.assign(**{"missed (%)": _digits(100 * summary["missed"], ".0f")})


def tests_shown(tests, rules):
    """`lib.experiments.cross_tuning.tuning_tests` as it is printed; `rules` has the words of each rule."""
    shown = {"structure": tests["structure"].map(STRUCTURES), "−xt stops": tests["rule"].map(rules)}
    shown |= {"mean gain": _digits(tests["gain"], "+.2f"), "95% interval": _intervals(tests)}
    shown |= {"p": _digits(tests["p"], ".3f"), "p, 0 not allowed": _digits(tests["p_forced"], ".3f")}
    counts = tests[["better", "equal", "worse"]].astype(str)
    return pd.DataFrame(shown | {"better, equal, worse": counts.agg(", ".join, axis=1)})


def work_shown(summary, rules):
    """`lib.experiments.cross_tuning.work_summary` as it is printed."""
    shown = {"structure": summary["structure"].map(STRUCTURES), "−xt stops": summary["rule"].map(rules)}
    shown["geometric mean"] = _digits(summary["mean"], ".2f")
    return pd.DataFrame(shown | {name: _digits(summary[name], ".2f") for name in ("smallest", "largest")})


def _digits(values, spec):
    return ["—" if not np.isfinite(value) else format(value, spec).replace("-", "−") for value in values]


def _intervals(table):
    ends = zip(_digits(table["low"], "+.2f"), _digits(table["high"], "+.2f"), strict=True)
    return ["—" if "—" in pair else f"[{pair[0]}, {pair[1]}]" for pair in ends]


def _each(frame):
    return frame[frame["stopping"] == "each"]


def _draw_errors(axis, errors):
    for name, (label, color, line) in _ERRORS.items():
        axis.plot(errors.index, errors[name], color=color, linestyle=line, label=label)
    axis.xaxis.get_major_locator().set_params(integer=True)


def _mark(marker, size):
    return {"marker": marker, "markersize": size, "color": "#D55E00", "markeredgecolor": "black", "linestyle": ""}
