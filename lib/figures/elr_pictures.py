"""Tables of ELR on UCI as the chapters show them."""

import numpy as np
import pandas as pd

from lib.figures.page import plus_minus
from lib.figures.style import look, pair_label


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
    facts = facts.add_suffix(", ours")
    both = table.assign(rows=n_rows).merge(
        facts, how="left", left_on="source", right_on="dataset, ours"
    )
    view = pd.DataFrame({"data set": both["dataset"].str.upper()})
    for name in ("attributes", "classes", "rows"):
        view[name] = list(map(_ours_and_theirs, both[f"{name}, ours"], both[name]))
    absent = {source: f"not available: {why}" for source, why in reasons.items()}
    absent = [absent.get(source, "not asked for") for source in both["source"]]
    view["protocol"] = both["protocol, ours"].fillna("—")
    view["from"] = both["source, ours"].fillna(pd.Series(absent))
    return view


def _ours_and_theirs(ours, theirs):
    if np.isnan(ours):
        return "—"
    return f"{ours:.0f}" if ours == theirs else f"{ours:.0f} (paper {theirs:.0f})"


def cells_table(cells, structure):
    """Our value, the paper's and z of each learner with one structure, a row a data set."""
    part = cells[cells["structure"] == structure]
    view = pd.DataFrame({"data set": part["dataset"].str.upper().drop_duplicates()})
    for learner, column in part.groupby("learner", sort=False):
        label = look(learner)["label"]
        view[f"{label}, ours"] = plus_minus(column["ours"], column["se"])
        view[f"{label}, paper"] = plus_minus(column["printed"], column["printed_se"])
        view[f"z {label}"] = [signed(z) for z in column["z"]]
    return view


def agreement_table(agreement):
    """Shares of `lib.experiments.elr_tables.agreement`."""
    pairs = agreement["structure"] + "+" + agreement["learner"]
    view = pd.DataFrame({"learner": pairs.map(pair_label)})
    for name, of, words in (
        ("within", "n", "within 2 standard errors"),
        ("inside", "n_repeated", "inside our range"),
    ):
        counts = zip(agreement[name], agreement[of], strict=True)
        view[words] = [f"{k} of {n}" + f" ({k / max(n, 1):.0%})" * (n > 0) for k, n in counts]
    return view.assign(
        **{"mean difference": [signed(value, 2) for value in agreement["mean_difference"]]}
    )


def comparisons_table(comparisons):
    """Rows of `lib.experiments.elr_tables.compare`, perhaps with `label`, `printed_p` and `p_of_cells`."""
    table = pd.DataFrame(comparisons)
    ends = table[["value", "low", "high"]].map(signed, digits=2)
    table["comparison"] = (
        table["better"].map(pair_label) + " against " + table["worse"].map(pair_label)
    )
    shown = ends["value"] + " [" + ends["low"] + ", " + ends["high"] + "]"
    table["difference"] = shown.str.replace("— [—, —]", "—").str.replace(" [−∞, ∞]", "")
    table["wins / ties / losses"] = (
        table[["wins", "ties", "losses"]].astype(str).agg(" / ".join, axis=1)
    )
    view = table.filter(["label", "comparison", "difference", "wins / ties / losses"]).rename(
        columns={"label": "of"}
    )
    p_values = {"p": "p", "p_of_cells": "p of the printed cells", "printed_p": "p printed"}
    words = (
        table.filter(["p", "p_of_cells"])
        .map(p_words)
        .join(table.filter(["printed_p"]).map("{:g}".format))
    )
    return view.join(words.replace("nan", "—").rename(columns=p_values))


def p_words(p):
    """A p-value with two significant digits."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}".replace("nan", "—")


def slips_table(slips):
    """Slips in the order of their tables, with printed numbers without trailing zeros.

    Parameters
    ----------
    slips : iterable of tuples
        Table (a Roman number in lower case), cell, printed, implied (NaN where the tables do not
        tell), why.
    """
    slips = pd.DataFrame(slips, columns=["table", "cell", "printed", "implied", "why"])
    order = ["ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    slips = slips.sort_values("table", key=lambda column: column.map(order.index), kind="stable")
    printed = [f"{value:.10g}" for value in slips["printed"]]
    implied = ["—" if np.isnan(value) else f"{value:.4g}" for value in slips["implied"]]
    return slips.assign(table=slips["table"].str.upper(), printed=printed, implied=implied)


def signed(value, digits=1):
    """A number with its sign, which 0 has not."""
    words = f"{value:{'+' if value else ''}.{digits}f}"
    return {"+nan": "—", "+inf": "∞"}.get(words, words.replace("-", "−").replace("inf", "∞"))
