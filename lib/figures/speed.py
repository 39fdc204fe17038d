"""The picture of the speed page."""

import matplotlib.pyplot as plt
import numpy as np

from lib.figures.style import look

AXES = {
    "s": "examples s",
    "n": "attributes n",
    "restarts": "restarts of EM, members of the ensemble",
    "models": "models",
}


def ratios(rows):
    """Bars of each job's ratio to its peer on a log scale, with its range and its target."""
    figure, axis = plt.subplots(figsize=(6.4, 0.9 + 0.65 * len(rows)))
    positions = np.arange(len(rows))[::-1]
    error = np.array([rows["ratio"] - rows["ratio_low"], rows["ratio_high"] - rows["ratio"]]).clip(min=0)
    axis.barh(positions, rows["ratio"], xerr=error, height=0.45, color="#309BD6", ecolor="#333333", capsize=3)
    axis.plot(rows["target"], positions, color="#D55E00", marker="|", markersize=22, markeredgewidth=2.5, linestyle="")
    for position, job, ratio in zip(positions, rows["job"], rows["ratio"], strict=True):
        axis.text(1.08, position + 0.36, f"{job}: {ratio:.3g} times", fontsize=10)
    axis.set_xscale("log")
    axis.set_xlim(1, None)
    axis.set_yticks([])
    axis.set_ylim(-0.6, len(rows) - 0.2)
    axis.set_xlabel("times faster than the peer")
    return figure


def scaling(times, fits):
    """Seconds against examples, attributes, restarts and models on log scales; the lines are the fitted growth."""
    figure, axes = plt.subplots(2, 2, figsize=(6.6, 6.2), layout="constrained")
    handles = {}
    for axis, name in zip(axes.flat, AXES, strict=True):
        part = times[times["axis"] == name]
        for learner, curve in part.groupby("learner", sort=False):
            [fit] = fits[(fits["axis"] == name) & (fits["learner"] == learner)].itertuples()
            values = np.geomspace(curve["value"].min(), curve["value"].max(), 50)
            style = dict(zip(("label", "color", "marker"), _style(learner), strict=True))
            [handles[learner]] = axis.plot(curve["value"], curve["seconds"], linestyle="", **style)
            axis.plot(values, fit.start + fit.rate * values**fit.power, color=style["color"], linewidth=1.2)
        axis.set(xscale="log", yscale="log", xlabel=AXES[name], ylabel="seconds")
        ticks = sorted(part["value"].unique())
        axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=9)
        axis.minorticks_off()
    figure.legend(handles=list(handles.values()), loc="outside upper center", ncols=len(handles))
    return figure


def _style(learner):
    if learner == "all":
        return "all three", "#333333", "D"
    return [look(learner)[key] for key in ("label", "color", "marker")]
