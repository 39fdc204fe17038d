"""Tables of ELR on UCI as the chapters show them."""

import numpy as np
import pandas as pd

from lib.figures.learner_styles import pair_label, style_of
from lib.figures.page import plus_minus

TABLES = ("ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")  # of the paper


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
    merged = table.assign(rows=n_rows).merge(
        facts.add_suffix(", ours"), how="left", left_on="source", right_on="dataset, ours"
    )
    view = pd.DataFrame({"data set": merged["dataset"].str.upper()})
    for name in ("attributes", "classes", "rows"):
        pairs = zip(merged[f"{name}, ours"], merged[name], strict=True)
        view[name] = [_ours_and_theirs(ours, theirs) for ours, theirs in pairs]
    absence = [_absence(source, reasons) for source in merged["source"]]
    view["protocol"] = merged["protocol, ours"].fillna("—")
    view["from"] = merged["source, ours"].fillna(pd.Series(absence))
    return view


def _absence(source, reasons):
    """Why the rows of a data set are not there."""
    return f"not available: {reasons[source]}" if source in reasons else "not asked for"


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
        label = style_of(learner)["label"]
        view[f"{label}, ours"] = plus_minus(rows["ours"], rows["se"])
        view[f"{label}, paper"] = plus_minus(rows["printed"], rows["printed_se"])
        view[f"z {label}"] = [signed(z) for z in rows["z"]]
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
            "within 2 standard errors": _shares(agreement["within"], agreement["n"]),
            "inside our range": _shares(agreement["inside"], agreement["n_repeated"]),
            "mean difference": [signed(value, 2) for value in agreement["mean_difference"]],
        }
    )


def _shares(counts, totals):
    return [_share(count, total) for count, total in zip(counts, totals, strict=True)]


def _share(count, total):
    """Such as "3 of 4 (75%)"."""
    if total == 0:
        return f"{count} of {total}"
    return f"{count} of {total} ({count / total:.0%})"


def comparisons_table(comparisons):
    """Differences of pairs of learners with their intervals, counts and p-values.

    Parameters
    ----------
    comparisons : DataFrame or list of dict
        Rows of `lib.experiments.elr_tables.compare`, perhaps with `label`, `printed_p` and
        `p_of_cells`.
    """
    table = pd.DataFrame(comparisons)
    better = table["better"].map(pair_label)
    worse = table["worse"].map(pair_label)
    table["comparison"] = better + " against " + worse
    table["difference"] = [
        _interval(*ends) for ends in zip(table["value"], table["low"], table["high"], strict=True)
    ]
    counts = table[["wins", "ties", "losses"]].astype(str)
    table["wins / ties / losses"] = counts.agg(" / ".join, axis=1)
    view = table.filter(["label", "comparison", "difference", "wins / ties / losses"])
    view = view.rename(columns={"label": "of"})

    view["p"] = table["p"].map(p_words)
    if "p_of_cells" in table:
        view["p of the printed cells"] = table["p_of_cells"].map(p_words)
    if "printed_p" in table:
        view["p printed"] = table["printed_p"].map("{:g}".format).replace("nan", "—")
    return view


def _interval(value, low, high):
    """Such as "+0.20 [−0.10, +0.30]", without ends that say nothing."""
    if np.isnan(value):
        return "—"
    if np.isinf(low) and np.isinf(high):
        return signed(value, 2)
    return f"{signed(value, 2)} [{signed(low, 2)}, {signed(high, 2)}]"


def p_words(p):
    """A p-value with two significant digits."""
    if np.isnan(p):
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def slips_table(slips):
    """Slips of the paper in the order of its tables; numbers have no trailing zeros.

    Parameters
    ----------
    slips : iterable of tuples
        Table (a Roman number in lower case), cell, printed, implied (NaN where the tables do not
        tell), why.
    """
    slips = pd.DataFrame(slips, columns=["table", "cell", "printed", "implied", "why"])
    slips = slips.sort_values("table", key=lambda names: names.map(TABLES.index), kind="stable")
    printed = [f"{value:.10g}" for value in slips["printed"]]
    implied = ["—" if np.isnan(value) else f"{value:.4g}" for value in slips["implied"]]
    return slips.assign(table=slips["table"].str.upper(), printed=printed, implied=implied)


def signed(value, digits=1):
    """A number with its sign, which 0 has not; a dash for NaN."""
    if np.isnan(value):
        return "—"
    if value == np.inf:
        return "∞"
    words = f"{value:+.{digits}f}" if value else f"{value:.{digits}f}"
    return words.replace("-", "−").replace("inf", "∞")
