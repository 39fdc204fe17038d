"""The book's title picture: two ways for a model to be wrong, and which learners mind."""

import matplotlib.pyplot as plt

from lib.figures.style import look


def title_picture(measures, errors):
    """Draw T of EM and Winnow against k, and errors of naive Bayes against copied attributes, with direct labels.

    Parameters
    ----------
    measures : DataFrame
        One panel a k of `lib.experiments.explorer.grid_measures`, of one size, with the learners "em" and "winnow".
    errors : DataFrame
        As `lib.experiments.structure_robustness` returns it for "ofe" and "elr".
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), gridspec_kw={"wspace": 0.1})
    _draw_gains(left, measures[measures["measure"] == "t"])
    _draw_errors(right, errors)
    for axis in (left, right):
        axis.grid(visible=False)
        axis.tick_params(labelsize=12)
        axis.xaxis.label.set_size(13)
    return figure


def _draw_gains(axis, frame):
    labels = {"em": ("EM", 0, (12, 0), "left"), "winnow": ("Winnow", -1, (0, 16), "right")}
    for name, (words, end, offset, side) in labels.items():
        part = frame[frame["learner"] == name].sort_values("n_hidden").set_index("n_hidden")
        _draw_line(axis, name, part["value"], part["se"])
        place = (part.index[end], part["value"].iloc[end])
        axis.annotate(words, place, offset, textcoords="offset points", ha=side, va="center", **_letters(name))
    ticks = sorted(frame["n_hidden"].unique())
    axis.set(xlabel="hidden values; EM assumes 2", xticks=ticks, ylim=(0, 1.08), yticks=(0, 0.5, 1))
    axis.set_title("Part of the possible gain", loc="left", fontsize=13)


def _draw_errors(axis, errors):
    groups = errors.groupby(["learner", "duplicates"])["error"]
    means, bars = groups.mean(), groups.sem()
    bayes = errors.groupby("duplicates")["bayes_error"].first()
    for name in ("ofe", "elr"):
        _draw_line(axis, name, means[name], bars[name])
    axis.plot(bayes.index, bayes, color="black", linewidth=1.4, linestyle="--")
    middle, top = bayes.index.to_numpy().mean(), means["ofe"].max()
    axis.text(middle, 0.8 * top, "Naive Bayes,\nfrequencies", ha="right", **_letters("ofe"))
    axis.text(bayes.index.max(), 0.09 * top, "Naive Bayes,\nELR", ha="right", **_letters("elr"))
    axis.text(bayes.index.min(), 0.04 * top, "dashed: smallest possible", color="black", fontsize=12)
    axis.set(xlabel="copied attributes; the model assumes 0", xticks=list(bayes.index), ylim=(0, 1.08 * top))
    axis.set_title("Error", loc="left", fontsize=13)


def _draw_line(axis, learner, values, errors):
    style, errors = look(learner), errors.fillna(0)
    axis.fill_between(values.index, values - errors, values + errors, color=style["color"], alpha=0.18, linewidth=0)
    axis.plot(values.index, values, color=style["color"], marker=style["marker"], linewidth=2.6, markersize=8)


def _letters(learner):
    return {"color": look(learner)["color"], "fontsize": 14, "fontweight": "bold"}
