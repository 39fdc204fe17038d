"""The book's look: one style, one colour and marker a learner."""

import os
import warnings
from collections import namedtuple
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from IPython import get_ipython
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from lib.colour import contrast
from lib.figures.narrow import with_narrow

# From the palettes of Okabe & Ito and of Tol for colour-blind readers, each colour as dark as a
# white page asks for (contrast 3). Where colours are near, markers and lines are not.
Look = namedtuple("Look", "label color marker linestyle")
LOOKS = {
    "em": Look("EM", "#0072B2", "o", "-"),
    "cov": Look("COV", "#309BD6", "^", "--"),
    "winnow": Look("Winnow", "#D55E00", "s", "-"),
    "winnow_cv": Look("Winnow, margin tuned", "#999933", ">", "--"),
    "winnow_basic": Look("Ensemble without margin", "#C48600", "D", ":"),
    "winnow_single": Look("Basic Winnow, one", "#7A4F12", "<", ":"),
    "perceptron": Look("Perceptron", "#CC79A7", "X", "--"),
    "averaged_perceptron": Look("Averaged Perceptron", "#882255", "d", "-."),
    "logistic": Look("Logistic regression", "#009E73", "v", "-."),
    "naive_bayes": Look("Naive Bayes", "#7F7F7F", "P", ":"),
    "naive_bayes_boolean": Look("Naive Bayes, booleans", "#0072B2", "o", "--"),
    "naive_bayes_boolean_tuned": Look("Naive Bayes, booleans", "#0072B2", "o", "--"),
    "naive_bayes_multinomial": Look("Naive Bayes, categories", "#309BD6", "^", "--"),
    "naive_bayes_tuned": Look("Naive Bayes, own types", "#7F7F7F", "P", ":"),
    "winnow_tuned": Look("Winnow", "#D55E00", "s", "-"),
    "winnow_averaged": Look("Winnow, averaged", "#C48600", "D", "-"),
    "winnow_thick": Look("Winnow, thick", "#7A4F12", "<", "-"),
    "winnow_ensemble": Look("Winnow, ensemble", "#CC6677", ">", "-"),
    "logistic_numbers": Look("Logistic regression, numbers", "#2A8C9E", "^", "--"),
    "tree": Look("Decision tree", "#332288", "*", ":"),
    "forest": Look("Random forest", "#117733", "h", "-"),
    "ofe": Look("OFE", "#7F7F7F", "P", ":"),
    "elr": Look("ELR", "#D55E00", "s", "-"),
    "elr_forced": Look("ELR, one step at least", "#C48600", "D", "--"),
    "elr_converged": Look("ELR to convergence", "#882255", "d", "-."),
    "apn": Look("APN", "#009E73", "v", "-."),
    "apn_forced": Look("APN, one step at least", "#2A8C9E", "^", "--"),
    "apn_converged": Look("APN to convergence", "#117733", "h", ":"),
    "elr_fixed": Look("ELR, fixed steps", "#7A4F12", "o", "--"),
    "selective": Look("Selective naive Bayes", "#309BD6", "<", "-."),
    "svm_paper": Look("SVM, quadratic, codes", "#CC79A7", "p", "--"),
    "svm_paper_standardised": Look("SVM, quadratic, standardised numbers", "#CC79A7", "^", "--"),
    "svm_paper_raw": Look("SVM, quadratic, raw numbers", "#882255", "v", ":"),
    "svm_rbf": Look("SVM, RBF tuned", "#AA4499", "H", "-"),
    "boosting": Look("Gradient boosting", "#999933", ">", "-"),
    "em_true_k": Look("EM with the true k", "#332288", "*", "-."),
    "em_bic": Look("EM, k by BIC", "#117733", "h", "--"),
    "em_heldout": Look("EM, k by held-out likelihood", "#35998A", "p", "--"),
}
# A structure's short name and marker, for pairs such as "naive+elr".
STRUCTURES = {"naive": ("NB", "o"), "tan": ("TAN", "^"), "bic": ("GBN", "s")}
DRIVEN = "BOOK_TRIALS"  # the variable with which the driver of the book runs a chapter
# matplotlib's lines as seaborn has them
DASHES = {"-": "", "--": (4, 1.5), ":": (1, 1.2), "-.": (4, 1.2, 1, 1.2)}
_OTHERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#C48600", "#309BD6", "#332288", "#7F7F7F")
_MARKERS = "osDv^XPh"


def use_style():
    """Set the book's style; a figure is stored as the same bytes each run.

    Where the driver of the book draws it, it is not only PNG but SVG for pages, too, with a narrow
    one for phones (see `lib.figures.narrow`).
    """
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    plt.uninstall_repl_displayhook()  # which would draw each figure once more, for no output
    if DRIVEN in os.environ:
        set_matplotlib_formats("svg", "png")
        get_ipython().display_formatter.formatters["image/svg+xml"].for_type(Figure, with_narrow)
    # by seaborn's grids; see legend_above
    warnings.filterwarnings(
        "ignore", "The figure layout has changed to tight|Tight layout not applied"
    )
    plt.rc("svg", hashsalt="when-the-model-is-wrong")
    plt.rc("figure", dpi=110)
    plt.rc("figure.constrained_layout", use=True)
    plt.rc("font", size=11)
    plt.rc("axes", titlesize=11, grid=True)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("grid", color="#DDDDDD", linewidth=0.6)
    plt.rc("lines", linewidth=1.6, markersize=5)
    plt.rc("legend", frameon=False)


def look(learner):
    """Keyword arguments for a line of `learner`: label, color, marker and linestyle.

    A structure and a learner, such as "naive+elr", have the learner's colour and the structure's
    marker.
    """
    structure, plus, rest = str(learner).partition("+")
    if plus and structure in STRUCTURES:
        (name, marker), style = STRUCTURES[structure], look(rest)
        return style | {"label": f"{name}+{style['label']}", "marker": marker}
    index = sum(map(ord, str(learner))) % len(_OTHERS)
    return LOOKS.get(learner, Look(str(learner), _OTHERS[index], _MARKERS[index], "-"))._asdict()


def palette(learners):
    """Keyword arguments for seaborn's plots with ``hue="learner"``: hue_order and palette."""
    colours = {learner: look(learner)["color"] for learner in learners}
    return {"hue_order": list(colours), "palette": colours}


def looks(learners):
    """Keyword arguments for seaborn's lines with ``hue="learner", style="learner"``, learners in this order.

    They are those of `palette`, style_order, markers, dashes and mec (of markers, which have no
    edge).
    """
    styles = {learner: look(learner) for learner in learners}
    return palette(learners) | {
        "style_order": list(styles),
        "markers": {learner: style["marker"] for learner, style in styles.items()},
        "dashes": {learner: DASHES[style["linestyle"]] for learner, style in styles.items()},
        "mec": "none",
    }


def line(
    frame,
    x,
    y,
    hue="learner",
    learners=None,
    col=None,
    reference=None,
    height=3.4,
    aspect=1.2,
    **settings,
):
    """Draw mean lines with standard errors of learners by seaborn's `relplot`, a panel a value of `col`.

    Parameters
    ----------
    frame : DataFrame
        A row a trial.
    x, y, hue, col : str
        Columns of `frame`; `hue` holds names of learners.
    learners : sequence of str, optional
        Those to draw, in the order of the legend; by default all, in the order of the frame.
    reference : str, optional
        Column whose mean is drawn as a black dashed line, such as the error of the best possible
        rule.
    height, aspect : float
        Of a panel: inches, and width over height.
    settings
        Of `relplot`, in place of what this function would choose.

    Returns
    -------
    seaborn.FacetGrid
    """
    learners = list(dict.fromkeys(frame[hue])) if learners is None else list(learners)
    settings = {
        "errorbar": "se",
        "err_style": "bars",
        "facet_kws": {"legend_out": False},
    } | settings
    panel = {"col": col, "height": height, "aspect": aspect, "kind": "line"}
    grid = sns.relplot(frame, x=x, y=y, hue=hue, style=hue, **panel, **looks(learners), **settings)
    grid.set_titles(col_template="{col_name}")
    if reference:
        for key, axis in grid.axes_dict.items() or {None: grid.ax}.items():
            means = (
                (frame if key is None else frame[frame[col] == key]).groupby(x)[reference].mean()
            )
            axis.plot(means.index, means, color="black", linestyle=(0, (5, 2)), linewidth=1.2)
    legend_above(grid)
    return grid


def heatmap(table, annot=True, axis=None, **settings):
    """Draw seaborn's `heatmap` with words, each black or white, whichever stands out more; no page recolours it.

    Parameters
    ----------
    table, annot
        `data` and `annot` of `seaborn.heatmap`.
    axis : Axes, optional
    settings
        Of `seaborn.heatmap`; fmt is "" and there is no colour bar unless they say so.

    Returns
    -------
    Axes
    """
    axis = plt.gca() if axis is None else axis
    n_others = len(axis.texts)
    # seaborn draws all of the figure, panels done before too, to see whether labels overlap
    axis.figure.set_visible(False)
    sns.heatmap(table, annot=annot, ax=axis, **{"fmt": "", "cbar": False} | settings)
    axis.figure.set_visible(True)
    mesh, texts = axis.collections[-1], axis.texts[n_others:]
    colours = mesh.get_facecolors()[~np.ma.getmaskarray(mesh.get_array()).ravel()]
    for text, colour in zip(texts, colours, strict=True):
        text.set_color(max("black", "white", key=partial(contrast, colour)))
    keep_colours(axis, [mesh, *texts])
    axis.grid(visible=False)
    return axis


def legend_above(plot, ncols=3, also=(), **settings):
    """Put one legend of learners, by their labels, above a figure in place of those that seaborn made.

    Parameters
    ----------
    plot : Axes or seaborn grid
    ncols : int
    also : sequence of artists
        Others to name, by their own labels.
    settings
        Of `Figure.legend`.

    Returns
    -------
    Figure
    """
    figure = plot.figure
    figure.set_layout_engine("constrained")
    legends = [axis.get_legend() for axis in figure.axes if axis.get_legend()] + list(
        figure.legends
    )
    handles, names = legends[0].legend_handles, [text.get_text() for text in legends[0].get_texts()]
    for legend in legends:
        legend.remove()
    labels = [pair_label(name) for name in names] + [artist.get_label() for artist in also]
    figure.legend(
        [*handles, *also],
        labels,
        loc="outside upper center",
        ncols=min(ncols, len(labels)),
        **settings,
    )
    return figure


def pair_label(pair):
    """The words for a structure and a learner: "NB+ELR" for "naive+elr"."""
    return look(pair)["label"]


def plain(words):
    """The words, such as names from data, so that a $ in them begins no formula."""
    return str(words).replace("$", r"\$")


def keep_colours(axis, artists):
    """Mark artists whose colours belong together, such as words on coloured cells: a dark page leaves them alone."""
    number = axis.figure.axes.index(axis)
    for i, artist in enumerate(artists):
        artist.set_gid(f"fixed-{number}-{i}")


def empty_figure(words):
    """A low figure that only says why there is nothing to see."""
    figure, axis = plt.subplots(figsize=(7.4, 0.8))
    axis.text(0.5, 0.5, words, ha="center", va="center")
    axis.set_axis_off()
    return figure
