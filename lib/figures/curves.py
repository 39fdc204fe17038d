"""Learning curves: T against sample size."""

import numpy as np

from lib.evaluation import share_of_gain
from lib.figures.style import line

T_LABEL = "T, part of the possible gain"


def learning_curves(frame, learners=None, min_gain=0.02, width=3.3):
    """Draw mean T from -0.9 on with standard errors against sample size, a line a learner, a panel each n, k and B.

    Parameters
    ----------
    frame : DataFrame
        As `lib.experiments.cia_learning_curves` returns it for several panels.
    learners : sequence of str, optional
        See `lib.figures.line`.
    min_gain : float
        See `lib.evaluation.normalized_performance`.
    width : float
        Of a panel, in inches, if there is room for it.

    Returns
    -------
    seaborn.FacetGrid
    """
    panels = zip(*(frame[name] for name in ("n_attributes", "n_hidden", "difficulty")), strict=True)
    names = [f"CIA({n}, {k}, {b:g})" for n, k, b in panels]
    n_panels = len(set(names))
    t = share_of_gain(frame["accuracy"], frame["best"], frame["constant"], min_gain)
    shape = {"col": "panel", "height": 3.5, "aspect": min(width, 7.4 / n_panels) / 3.5}
    grid = line(
        frame.assign(T=t, panel=names),
        "size",
        "T",
        learners=learners,
        err_kws={"capsize": 2},
        **shape,
    )
    for axis in grid.axes.flat:
        size_axis(axis, frame["size"])
        axis.tick_params(labelsize=11 if n_panels < 4 else 9)
    return grid.set(ylim=(-0.9, 1.05)).set_ylabels(T_LABEL)


def size_axis(axis, sizes):
    """Make the x axis one of sample sizes, on a log scale with some of the sizes as its ticks, and draw y = 0."""
    ticks = [
        s for s in (10, 30, 100, 300, 1000, 3000, 10_000, 100_000) if min(sizes) <= s <= max(sizes)
    ]
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{s:,}" for s in ticks])
    axis.minorticks_off()
    axis.set_xlabel("sample size s")
    axis.axhline(0, color="black", linewidth=0.8)


def size_words(size, sizes):
    """Return a crossing size in words: "≤ 10" or "> 2,000" at the ends of the sizes tried, "?" if it is unknown."""
    if np.isnan(size):
        return "?"
    if np.isinf(size):
        return f"> {max(sizes):,}"
    return f"≤ {min(sizes):,}" if size <= min(sizes) else f"{size:,.0f}"
