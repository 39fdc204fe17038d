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
    ours = {row.dataset: row for row in facts.itertuples()}
    rows = []
    for row in table.itertuples():
        n_printed = row.train + np.nan_to_num(pd.to_numeric(row.test, errors="coerce"))
        view = {"data set": row.dataset.upper()}
        if row.source in ours:
            found = ours[row.source]
            pairs = {"attributes": row.attributes, "classes": row.classes, "rows": n_printed}
            view |= {name: _ours_and_theirs(getattr(found, name), printed) for name, printed in pairs.items()}
            view |= {"protocol": found.protocol, "from": found.source}
        elif row.source in reasons:
            view["from"] = f"not available: {reasons[row.source]}"
        else:
            view["from"] = "not asked for"
        rows.append(view)
    columns = ["data set", "attributes", "classes", "rows", "protocol", "from"]
    return pd.DataFrame(rows, columns=columns).fillna("—")


def _ours_and_theirs(ours, theirs):
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
    for name, of, words in (("within", "n", "within 2 standard errors"), ("inside", "n_repeated", "inside our range")):
        counts = zip(agreement[name], agreement[of], strict=True)
        view[words] = [f"{k} of {n}" + f" ({k / max(n, 1):.0%})" * (n > 0) for k, n in counts]
    return view.assign(**{"mean difference": [signed(value, 2) for value in agreement["mean_difference"]]})


def comparisons_table(comparisons):
    """Rows of `lib.experiments.elr_tables.compare`, perhaps with `label`, `printed_p` and `p_of_cells`."""
    table = pd.DataFrame(comparisons)
    view = pd.DataFrame({"comparison": table["better"].map(pair_label) + " against " + table["worse"].map(pair_label)})
    if "label" in table:
        view.insert(0, "of", table["label"])
    ends = table[["value", "low", "high"]].itertuples(index=False)
    view["difference"] = [
        "—" if np.isnan(value) else f"{signed(value, 2)} [{signed(low, 2)}, {signed(high, 2)}]"
        for value, low, high in ends
    ]
    view["wins / ties / losses"] = table[["wins", "ties", "losses"]].astype(str).agg(" / ".join, axis=1)
    view["p"] = table["p"].map(p_words)
    if "p_of_cells" in table:
        view["p of the printed cells"] = table["p_of_cells"].map(p_words)
    if "printed_p" in table:
        view["p printed"] = ["—" if np.isnan(p) else f"{p:g}" for p in table["printed_p"]]
    return view


def p_words(p):
    """A p-value with two significant digits."""
    if np.isnan(p):
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def slips_table(slips):
    """Slips in the order of their tables, with printed numbers without trailing zeros.

    Parameters
    ----------
    slips : iterable of tuples
        Table (a Roman number in lower case), cell, printed, implied (NaN where the tables do not tell), why.
    """
    slips = pd.DataFrame(slips, columns=["table", "cell", "printed", "implied", "why"])
    order = ["ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    slips = slips.sort_values("table", key=lambda column: column.map(order.index), kind="stable")
    printed = [f"{value:.10g}" for value in slips["printed"]]
    implied = ["—" if np.isnan(value) else f"{value:.4g}" for value in slips["implied"]]
    return slips.assign(table=slips["table"].str.upper(), printed=printed, implied=implied)


def signed(value, digits=1):
    """A number with its sign."""
    if np.isnan(value):
        return "—"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")
