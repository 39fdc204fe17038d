"""Tables of ELR on UCI as the chapters show them."""

import numpy as np
import pandas as pd

from lib.figures.page import plus_minus
from lib.figures.style import look, pair_label


def data_shown(described):
    """Table II or V beside what we have, as `lib.experiments.elr_tables.described` returns it."""
    pairs = {name: _ours_and_theirs(described, name) for name in ("attributes", "classes", "rows")}
    shown = pd.DataFrame({"data set": described["dataset"].str.upper(), **pairs})
    return shown.assign(protocol=described["protocol"], **{"from": described["source"]})


def cells_shown(cells, structure):
    """Our value, the paper's and z of each learner with one structure, a row a data set."""
    part = cells[cells["structure"] == structure]
    shown = pd.DataFrame({"data set": part["dataset"].str.upper().drop_duplicates()})
    for learner, column in part.groupby("learner", sort=False):
        label = look(learner)["label"]
        shown[f"{label}, ours"] = plus_minus(column["ours"], column["se"])
        shown[f"{label}, paper"] = plus_minus(column["printed"], column["printed_se"])
        shown[f"z {label}"] = [_signed(z) for z in column["z"]]
    return shown


def agreement_shown(found):
    """Shares of `lib.experiments.elr_tables.agreement`."""
    shown = pd.DataFrame({"learner": [pair_label(name) for name in found["structure"] + "+" + found["learner"]]})
    for name, of, words in (("within", "n", "within 2 standard errors"), ("inside", "n_repeated", "inside our range")):
        shown[words] = [
            f"{k} of {n}" + f" ({k / max(n, 1):.0%})" * (n > 0) for k, n in zip(found[name], found[of], strict=True)
        ]
    return shown.assign(**{"mean difference": [_signed(value, 2) for value in found["mean_difference"]]})


def comparisons_shown(comparisons):
    """Rows of `lib.experiments.elr_tables.compare`, perhaps with `label`, `printed_p` and `p_of_cells`."""
    table = pd.DataFrame(comparisons)
    shown = pd.DataFrame({"comparison": table["better"].map(pair_label) + " against " + table["worse"].map(pair_label)})
    if "label" in table:
        shown.insert(0, "of", table["label"])
    shown["difference"] = [
        "—" if np.isnan(row.value) else f"{_signed(row.value, 2)} [{_signed(row.low, 2)}, {_signed(row.high, 2)}]"
        for row in table.itertuples()
    ]
    shown["wins / ties / losses"] = [f"{row.wins} / {row.ties} / {row.losses}" for row in table.itertuples()]
    shown["p"] = [p_shown(p) for p in table["p"]]
    if "p_of_cells" in table:
        shown["p of the printed cells"] = [p_shown(p) for p in table["p_of_cells"]]
    if "printed_p" in table:
        shown["p printed"] = ["—" if np.isnan(p) else f"{p:g}" for p in table["printed_p"]]
    return shown


def p_shown(p):
    """A p-value with two significant digits."""
    if np.isnan(p):
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def accuracies_shown(table, columns):
    """Numbers with one decimal, a row a data set and a column each of `columns` (name: title); a dash where none is."""
    shown = {title: ["—" if np.isnan(v) else f"{v:.1f}" for v in table[name]] for name, title in columns.items()}
    return pd.DataFrame({"data set": [name.upper() for name in table.index], **shown})


def slips_shown(slips):
    """Slips in the order of their tables, with printed numbers without trailing zeros."""
    order = {table: i for i, table in enumerate(("ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))}
    slips = slips.sort_values("table", key=lambda column: column.map(order), kind="stable")
    shown = pd.DataFrame({"table": slips["table"].str.upper(), "cell": slips["cell"]})
    shown["printed"] = [f"{value:.10g}" for value in slips["printed"]]
    shown["implied"] = ["—" if np.isnan(value) else f"{value:.4g}" for value in slips["implied"]]
    return shown.assign(why=slips["why"])


def _ours_and_theirs(described, name):
    pairs = zip(described[name], described[f"{name}_printed"], strict=True)
    return ["—" if np.isnan(o) else f"{o:.0f}" if o == p else f"{o:.0f} (paper {p:.0f})" for o, p in pairs]


def _signed(value, digits=1):
    if np.isnan(value):
        return "—"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")
