"""Tables of results and data sets beside the paper's, in words."""

import numpy as np
import pandas as pd

from lib.figures.learner_styles import pair_label
from lib.figures.words import plus_minus
from lib.report.numbers import estimate_words, number_words


def data_table(table, facts, reasons):
    """Table II or V beside the data that we have.

    Parameters
    ----------
    table : DataFrame
        Columns dataset, source (the set that has its rows), attributes, classes, train and test.
    facts : DataFrame
        Of the sets at hand: dataset, attributes, classes, rows, protocol and source.
    reasons : dict
        Why other sets are not available, by source.
    """
    n_rows = table["train"] + pd.to_numeric(table["test"], errors="coerce").fillna(0)
    table = table.assign(rows=n_rows)
    ours = facts.set_index("dataset").reindex(table["source"]).set_axis(table.index)
    view = pd.DataFrame({"data set": table["dataset"].str.upper()})
    for name in ("attributes", "classes", "rows"):
        view[name] = list(map(_ours_and_theirs, ours[name], table[name]))
    view["protocol"] = ours["protocol"].fillna("—")
    absence = {name: f"not available: {reason}" for name, reason in reasons.items()}
    view["from"] = ours["source"].fillna(table["source"].map(absence)).fillna("not asked for")
    return view


def _ours_and_theirs(ours, theirs):
    if np.isnan(ours):
        return "—"
    if ours == theirs:
        return f"{ours:.0f}"
    return f"{ours:.0f} (paper {theirs:.0f})"


def cells_table(cells, structure):
    """Our value, the paper's and z of each learner with one structure, a row a data set.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, structure, learner, ours, se, printed, printed_se and z.
    structure : str
    """
    cells = cells[cells["structure"] == structure]
    view = pd.DataFrame({"data set": cells["dataset"].str.upper().drop_duplicates()})
    for learner, rows in cells.groupby("learner", sort=False):
        label = pair_label(learner)
        view[f"{label}, ours"] = plus_minus(rows["ours"], rows["se"])
        view[f"{label}, paper"] = plus_minus(rows["printed"], rows["printed_se"])
        view[f"z {label}"] = [number_words(z, "+.1f") for z in rows["z"]]
    return view


def agreement_table(agreement):
    """Shares of cells that agree with the paper, a row a structure with its learner.

    Parameters
    ----------
    agreement : DataFrame
        As `lib.experiments.elr_tables.agreement` returns it.
    """
    pairs = agreement["structure"] + "+" + agreement["learner"]
    return pd.DataFrame(
        {
            "learner": pairs.map(pair_label),
            "within 2 standard errors": list(map(_share, agreement["within"], agreement["n"])),
            "inside our range": list(map(_share, agreement["inside"], agreement["n_repeated"])),
            "mean difference": [number_words(x, "+.2f") for x in agreement["mean_difference"]],
        }
    )


def _share(count, total):
    """Such as "3 of 4 (75%)"."""
    words = f"{count} of {total}"
    return f"{words} ({count / total:.0%})" if total else words


def comparisons_table(comparisons):
    """Differences of pairs of learners with their intervals, counts and p-values.

    Parameters
    ----------
    comparisons : list of dict
        Rows of `lib.experiments.elr_tables.compare`, perhaps with `label`, `printed_p` and
        `p_of_cells`.
    """
    table = pd.DataFrame(comparisons)
    better = table["better"].map(pair_label)
    worse = table["worse"].map(pair_label)
    table["comparison"] = better + " against " + worse
    estimates = zip(table["value"], table["low"], table["high"], strict=True)
    table["difference"] = [estimate_words(*estimate, "+.2f") for estimate in estimates]
    counts = table[["wins", "ties", "losses"]].astype(str)
    table["wins / ties / losses"] = counts.agg(" / ".join, axis=1)
    view = table.filter(["label", "comparison", "difference", "wins / ties / losses"])
    view = view.rename(columns={"label": "of"})
    view["p"] = table["p"].map(_p_words)
    if "p_of_cells" in table:
        view["p of the printed cells"] = table["p_of_cells"].map(_p_words)
    if "printed_p" in table:
        view["p printed"] = table["printed_p"].map("{:g}".format).replace("nan", "—")
    return view


def _p_words(p):
    """A p-value with two significant digits."""
    if np.isnan(p):
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"
