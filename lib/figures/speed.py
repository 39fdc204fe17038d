"""The picture of the speed page."""

import matplotlib.pyplot as plt
import numpy as np


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
