"""Pictures of CIA models, their optimal rules, and of EM, COV and Winnow at work."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from lib.cia import all_inputs, log_linear
from lib.figures.curves import T_LABEL
from lib.figures.style import keep_colours, look

_POSITIVE, _NEGATIVE = "#D55E00", "#0072B2"


def model_and_sample(model, rng, size=60):
    """P(x_i = 1 | z) of a model above rows of a sample, sorted by their hidden value."""
    X, y, z = model.sample(size, rng)
    order = np.argsort(z, kind="stable")
    figure, (top, below) = plt.subplots(2, 1, figsize=(6.4, 4.6), height_ratios=(1, 2.4), sharex=True)
    image = top.imshow(model.probabilities, vmin=0, vmax=1, cmap="RdBu_r", aspect="auto")
    top.set_yticks(range(len(model.weights)), [f"z = {k}  ({w:.2f})" for k, w in enumerate(model.weights)])
    figure.colorbar(image, ax=top, label="$P(x_i = 1 | z)$")
    below.imshow(np.column_stack([y, X])[order], cmap="Greys", aspect="auto", interpolation="none")
    for edge in np.flatnonzero(np.diff(z[order])) + 0.5:
        below.axhline(edge, color=_POSITIVE)
    n = model.probabilities.shape[1] - 1
    below.set_xticks(range(n + 1), [f"$x_{{{i}}}$" for i in range(n + 1)])
    below.set_ylabel("examples, sorted by z")
    for axis in (top, below):
        axis.grid(visible=False)
    return figure


def difficulty_by_size(frame):
    """Median and 10-90% range of B of unadjusted models against the number of attributes, a line a k."""
    figure, axis = plt.subplots(figsize=(6.4, 3.4))
    for k, marker, color in zip(sorted(frame["n_hidden"].unique()), "osD^v", _COLORS, strict=False):
        quantiles = frame[frame["n_hidden"] == k].groupby("n_attributes")["difficulty"].quantile([0.1, 0.5, 0.9])
        low, middle, high = (quantiles.xs(q, level=1) for q in (0.1, 0.5, 0.9))
        axis.fill_between(middle.index, low, high, color=color, alpha=0.15, linewidth=0)
        axis.plot(middle.index, middle, marker=marker, color=color, label=f"k = {k}")
    axis.set_xscale("log")
    ticks = sorted(frame["n_attributes"].unique())
    axis.set_xticks(ticks, ticks)
    axis.minorticks_off()
    axis.set(xlabel="attributes n", ylabel="difficulty B", ylim=(None, 1.005))
    axis.legend(loc="lower right")
    return figure


def linear_rule(model):
    """P(x0 = 1 | x) of all inputs of a two-valued model against the linear log odds of z."""
    n = model.probabilities.shape[1] - 1
    X, (q0, p0) = all_inputs(n), model.probabilities[:, 0]
    coefficients, constants = log_linear(model.weights, model.probabilities[:, 1:])
    odds = X @ (coefficients[1] - coefficients[0]) + constants[1] - constants[0]
    positive = model.target_posterior(X)
    figure, axis = plt.subplots(figsize=(6.4, 3.4))
    line = np.linspace(odds.min(), odds.max(), 300)
    axis.plot(line, q0 + (p0 - q0) * expit(line), color="#CCCCCC", linewidth=5, zorder=1)
    axis.scatter(odds, positive, s=9, c=np.where(positive > 0.5, _POSITIVE, _NEGATIVE), linewidth=0, zorder=2)
    axis.axhline(0.5, color="black", linewidth=0.8)
    axis.set(xlabel="log odds l(x) of z = 1 against z = 0, linear in x", ylabel="$P(x_0 = 1 | x)$")
    return figure


def exclusive_or(model):
    """The four inputs of two attributes with P(x0 = 1 | x), coloured by the optimal prediction."""
    X = all_inputs(2)
    positive = model.target_posterior(X)
    figure, axis = plt.subplots(figsize=(4.2, 3.6))
    axis.scatter(*X.T, s=1900, c=np.where(positive > 0.5, _POSITIVE, _NEGATIVE))
    for (x1, x2), p in zip(X, positive, strict=True):
        axis.text(x1, x2, f"{p:.2f}", ha="center", va="center", color="white", fontsize=14, fontweight="bold")
    keep_colours(axis, [*axis.collections, *axis.texts])
    axis.set(xlim=(-0.4, 1.4), ylim=(-0.4, 1.4), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    axis.set_xticks([0, 1])
    axis.set_yticks([0, 1])
    axis.grid(visible=False)
    return figure


def em_traces(panels):
    """Log likelihood per example over the iterations of each run; `panels` maps titles to (fitted EM, sample size)."""
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.2), squeeze=False)
    for axis, (title, (em, size)) in zip(axes[0], panels.items(), strict=True):
        for trace in em.traces_:
            axis.plot(np.arange(1, len(trace) + 1), trace / size, color=look("em")["color"], alpha=0.3, linewidth=1)
            axis.plot(len(trace), trace[-1] / size, color=look("em")["color"], marker=".", alpha=0.6)
        axis.set_xscale("log")
        axis.set(xlabel="iteration", title=title)
    axes[0, 0].set_ylabel("log likelihood per example")
    return figure


def covariances(cov, rows, truth):
    """The sample's covariance matrix, the rank-one matrix that COV fits, and its deltas against the true ones."""
    sample = np.cov(rows.T, bias=True)
    fitted = np.outer(cov.scaled_deltas_, cov.scaled_deltas_)
    figure, axes = plt.subplots(1, 3, figsize=(7.4, 2.9), width_ratios=(1, 1, 1.1))
    limit = np.abs(sample - np.diag(np.diag(sample))).max()
    for axis, matrix, title in zip(axes, (sample, fitted), ("sample covariances", "COV's fit"), strict=False):
        matrix = np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
        image = axis.imshow(matrix, vmin=-limit, vmax=limit, cmap="RdBu_r")
        axis.set_title(title)
        axis.grid(visible=False)
        axis.set_xlabel("attribute i")
        axis.locator_params(integer=True)
    axes[0].set_ylabel("attribute j")
    figure.colorbar(image, ax=axes[:2], location="bottom", shrink=0.6)
    axes[2].axline((0, 0), slope=1, color="#8C8C8C", linewidth=0.8)
    axes[2].plot(truth, cov.scaled_deltas_, color=look("cov")["color"], marker="o", linestyle="")
    axes[2].set(xlabel="true value", ylabel="COV's estimate", title="signed deltas")
    return figure


def likelihood_search(cov, size, true_weight):
    """COV's search for P(z = 1): log likelihood per example of the values tried."""
    order = np.argsort(cov.search_[:, 0])
    figure, axis = plt.subplots(figsize=(6.4, 2.9))
    axis.plot(cov.search_[order, 0], cov.search_[order, 1] / size, color=look("cov")["color"], marker=".")
    for weight in (true_weight, 1 - true_weight):
        axis.axvline(weight, color="#8C8C8C", linestyle=":")
    axis.set(xlabel="P(z = 1)", ylabel="log likelihood per example")
    return figure


def winnow_passes(frame, weights, share=0.3):
    """T and gap of basic and thick Winnow after each pass, and the weights of the thick one."""
    figure, axes = plt.subplots(1, 3, figsize=(7.8, 3.2))
    for learner, part in frame.groupby("learner", sort=False):
        axes[0].plot(part["n_pass"], part["t"], **look(learner) | {"marker": None})
        axes[1].plot(part["n_pass"], part["gap"], **look(learner) | {"marker": None})
    axes[2].plot(weights["winnow"], color=look("winnow")["color"], alpha=0.6, linewidth=1)
    axes[0].set(ylabel=T_LABEL, title="success")
    axes[1].set(ylabel="median |Z − θ| / θ", title="thickness")
    axes[2].set(ylabel="$w^+_i - w^-_i$", title="weights, thick")
    for axis in axes:
        axis.set_xlabel("pass")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def rules(coefficients):
    """Coefficients of several linear rules, each scaled to unit length, attribute by attribute."""
    figure, axis = plt.subplots(figsize=(6.4, 3.2))
    for i, (learner, coef) in enumerate(coefficients.items()):
        style = look(learner) | {"linestyle": ""}
        if learner == "optimal":
            style |= {"label": "Optimal rule", "color": "black", "marker": "_", "markersize": 14}
        offset = 0 if learner == "optimal" else 0.12 * (i - len(coefficients) / 2)
        axis.plot(np.arange(1, len(coef) + 1) + offset, coef / np.linalg.norm(coef), **style)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.locator_params(axis="x", nbins=min(20, len(coef) + 2), integer=True)
    axis.set(xlabel="attribute i", ylabel="coefficient")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


# from dark to light, so that they are not taken for learners
_COLORS = ("#440154", "#31688E", "#2A9A63", "#9A8600", "#808080")
