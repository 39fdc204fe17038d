"""How each learner looks in every figure: its label, colour, marker and line."""

from typing import NamedTuple

from lib.figures.colours import COLOURS


class LearnerStyle(NamedTuple):
    """Label, colour, marker and linestyle of a learner, as matplotlib's lines take them."""

    label: str
    color: str
    marker: str
    linestyle: str


def _style(label, colour, marker, linestyle):
    return LearnerStyle(label, COLOURS[colour], marker, linestyle)


# Where the colours of learners of one figure are near, their markers and lines are not.
STYLES = {
    "em": _style("EM", "blue", "o", "-"),
    "cov": _style("COV", "sky blue", "^", "--"),
    "winnow": _style("Winnow", "vermillion", "s", "-"),
    "winnow_cv": _style("Winnow, margin tuned", "olive", ">", "--"),
    "winnow_basic": _style("Ensemble without margin", "ochre", "D", ":"),
    "winnow_single": _style("Basic Winnow, one", "brown", "<", ":"),
    "perceptron": _style("Perceptron", "pink", "X", "--"),
    "averaged_perceptron": _style("Averaged Perceptron", "wine", "d", "-."),
    "logistic": _style("Logistic regression", "green", "v", "-."),
    "naive_bayes": _style("Naive Bayes", "grey", "P", ":"),
    "naive_bayes_boolean": _style("Naive Bayes, booleans", "blue", "o", "--"),
    "naive_bayes_boolean_tuned": _style("Naive Bayes, booleans", "blue", "o", "--"),
    "naive_bayes_multinomial": _style("Naive Bayes, categories", "sky blue", "^", "--"),
    "naive_bayes_elr": _style("Naive Bayes by ELR", "pink", "D", "-"),
    "naive_bayes_tuned": _style("Naive Bayes, own types", "grey", "P", ":"),
    "winnow_tuned": _style("Winnow", "vermillion", "s", "-"),
    "winnow_averaged": _style("Winnow, averaged", "ochre", "D", "-"),
    "winnow_thick": _style("Winnow, thick", "brown", "<", "-"),
    "winnow_ensemble": _style("Winnow, ensemble", "rose", ">", "-"),
    "logistic_numbers": _style("Logistic regression, numbers", "teal", "^", "--"),
    "tree": _style("Decision tree", "indigo", "*", ":"),
    "forest": _style("Random forest", "dark green", "h", "-"),
    "ofe": _style("OFE", "grey", "P", ":"),
    "elr": _style("ELR", "vermillion", "s", "-"),
    "elr_forced": _style("ELR, one step at least", "ochre", "D", "--"),
    "elr_converged": _style("ELR to convergence", "wine", "d", "-."),
    "apn": _style("APN", "green", "v", "-."),
    "apn_forced": _style("APN, one step at least", "teal", "^", "--"),
    "apn_converged": _style("APN to convergence", "dark green", "h", ":"),
    "elr_fixed": _style("ELR, fixed steps", "brown", "o", "--"),
    "selective": _style("Selective naive Bayes", "sky blue", "<", "-."),
    "svm_paper": _style("SVM, quadratic, codes", "pink", "p", "--"),
    "svm_paper_standardised": _style("SVM, quadratic, standardised numbers", "pink", "^", "--"),
    "svm_paper_raw": _style("SVM, quadratic, raw numbers", "wine", "v", ":"),
    "svm_rbf": _style("SVM, RBF tuned", "purple", "H", "-"),
    "boosting": _style("Gradient boosting", "olive", ">", "-"),
    "em_true_k": _style("EM with the true k", "indigo", "*", "-."),
    "em_bic": _style("EM, k by BIC", "dark green", "h", "--"),
    "em_heldout": _style("EM, k by held-out likelihood", "jade", "p", "--"),
}
STRUCTURE_LABELS = {"naive": "NB", "tan": "TAN", "bic": "GBN"}
STRUCTURE_MARKERS = {"naive": "o", "tan": "^", "bic": "s"}
# matplotlib's line styles as seaborn takes them
DASHES = {"-": "", "--": (4, 1.5), ":": (1, 1.2), "-.": (4, 1.2, 1, 1.2)}
# of learners that have no style here, by their names
_OTHER_COLOURS = ("blue", "vermillion", "green", "pink", "ochre", "sky blue", "indigo", "grey")
_OTHER_MARKERS = "osDv^XPh"


def style_of(learner):
    """Keyword arguments for a line of `learner`: label, color, marker and linestyle.

    A structure and a learner, such as "naive+elr", have the learner's colour and the structure's
    marker. A learner that the book does not know has its name as its label, and a colour and
    marker that depend on the name only.

    Parameters
    ----------
    learner : str

    Returns
    -------
    dict
    """
    structure, plus, base_learner = str(learner).partition("+")
    if plus and structure in STRUCTURE_LABELS:
        style = style_of(base_learner)
        label = f"{STRUCTURE_LABELS[structure]}+{style['label']}"
        return style | {"label": label, "marker": STRUCTURE_MARKERS[structure]}
    if learner in STYLES:
        return STYLES[learner]._asdict()
    index = sum(map(ord, str(learner))) % len(_OTHER_COLOURS)
    style = _style(str(learner), _OTHER_COLOURS[index], _OTHER_MARKERS[index], "-")
    return style._asdict()


def pair_label(pair):
    """The label of a structure and a learner: "NB+ELR" for "naive+elr"."""
    return style_of(pair)["label"]


def hues(learners):
    """Keyword arguments for seaborn's plots with ``hue="learner"``: hue_order and palette.

    Parameters
    ----------
    learners : iterable of str
        In the order of the legend.
    """
    palette = {learner: style_of(learner)["color"] for learner in learners}
    return {"hue_order": list(palette), "palette": palette}


def styles(learners):
    """Keyword arguments for seaborn's lines with ``hue="learner", style="learner"``.

    They are those of `hues`, style_order, markers, dashes and mec (the markers have no edge).

    Parameters
    ----------
    learners : iterable of str
        In the order of the legend.
    """
    style_by_learner = {learner: style_of(learner) for learner in learners}
    markers = {}
    dashes = {}
    for learner, style in style_by_learner.items():
        markers[learner] = style["marker"]
        dashes[learner] = DASHES[style["linestyle"]]
    return {
        **hues(style_by_learner),
        "style_order": list(style_by_learner),
        "markers": markers,
        "dashes": dashes,
        "mec": "none",
    }
