"""Maps of who is ahead: a sign and a lead for each point of a grid."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from lib.experiments.explorer import winners
from lib.figures.style import empty_figure, look


def winner_maps(measures, size, measure="t"):
    """Draw who is ahead by k and n, a panel a difficulty, with the lead; it is bold beyond two standard errors.

    Parameters
    ----------
    measures, measure, size
        As in `lib.experiments.explorer.winners`.
    """
    ahead = winners(measures, measure, size)
    if ahead.empty:
        return empty_figure("no two learners to compare")
    panels = list(ahead.groupby("difficulty"))
    ks, ns = sorted(measures["n_hidden"].unique()), sorted(measures["n_attributes"].unique())
    shape = (2.75 * len(panels) + 0.5, 0.5 * len(ns) + 1.5)
    figure, axes = plt.subplots(1, len(panels), figsize=shape, sharey=True, squeeze=False)
    for axis, (difficulty, panel) in zip(axes[0], panels, strict=True):
        _draw_panel(axis, panel, ks, ns)
        axis.set_title(f"B = {difficulty:g}")
    axes[0, 0].set_ylabel("attributes n")
    names = [name for name in dict.fromkeys(measures["learner"]) if name in set(ahead["learner"])]
    handles = [Line2D([], [], **look(name) | {"linestyle": ""}) for name in names]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _draw_panel(axis, panel, ks, ns):
    for row in panel.itertuples():
        x, y, style = ks.index(row.n_hidden), ns.index(row.n_attributes), look(row.learner)
        clear = np.isfinite(row.se) and row.lead > 2 * row.se
        axis.plot(x, y + 0.17, color=style["color"], marker=style["marker"], linestyle="", markersize=7)
        weight = "bold" if clear else "normal"
        axis.text(x, y - 0.25, f"{row.lead:+.2f}", ha="center", va="center", fontsize=9, fontweight=weight)
    axis.set(xlabel="hidden values k", xlim=(-0.5, len(ks) - 0.5), ylim=(-0.5, len(ns) - 0.5))
    axis.set_xticks(range(len(ks)), ks)
    axis.set_yticks(range(len(ns)), ns)
    axis.set_axisbelow(True)
    axis.grid(visible=False)
