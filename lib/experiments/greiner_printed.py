"""The tables that Greiner et al. print, checked against each other."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

from lib.evaluation import one_sided_p_values
from lib.validation import check_choice

PRINTED = Path(__file__).parents[2] / "data" / "paper"
TABLES = ("ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
SIZES = {"iii": "ii", "iv": "ii", "vi": "v", "vii": "ii", "viii": "ii"}  # where a table's numbers of rows are
NAMES = {"naive": "NB+", "tan": "TAN+", "bic": "GBN+", "": ""}
CELL = ["dataset", "structure", "learner"]
HALF = 0.005 + 1e-9  # of the second decimal
COMPLETE = {"breast": "breast-cancer", "cleve": "cleve", "crx": "crx", "soybean-large": "soybean-large"}


def printed(table):
    """Return a table of the paper as it is printed.

    Parameters
    ----------
    table : "ii" to "ix"

    Returns
    -------
    DataFrame
        Tables II and V have a row a data set; there `test` is text in II ("CV-5" or a number) and a number or NaN in
        V. The others have a row a cell, with `value` and, where there is one, `se` as numbers, in percent: accuracies
        in III, IV, VII and VIII, errors in VI. Learners without a network have the structure "". The averages of VI,
        VIII and IX are rows of a data set "average".

    Raises
    ------
    ValueError
        If there is no such table.
    """
    return _read(f"greiner_table_{check_choice('table', table, TABLES)}")


def printed_p_values(appendix):
    """The p-values printed in Appendix "b", "d" or "e": better and worse structure and learner, p."""
    values = _read("greiner_p_values")
    return values[values["appendix"] == check_choice("appendix", appendix, ("b", "d", "e"))].reset_index(drop=True)


def recomputed_p_values():
    """P-values of Appendices D and E, printed and from the printed tables.

    Those of Appendix B have no table.

    Returns
    -------
    DataFrame
        tables (the cells used: "vi", "viii", or "iii+viii", which is ELR of III against SVM of VIII), structure,
        worse_learner, printed, p (one-sided paired t-test over data sets), n, difference (mean, in points, positive
        where ELR is better), below (p is below the printed bound), to_the_digit (p rounds to it).
    """
    tests = _read("greiner_p_values").query("appendix != 'b'")
    rows = []
    for test in tests.itertuples():
        for tables in {"d": ("vi",), "e": ("viii", "iii+viii")}[test.appendix]:
            gain = _gains(tables, test.better_structure, test.worse_structure, test.worse_learner)
            p = one_sided_p_values([gain])[0]
            digit = round(p, _decimals(test.p)) == test.p
            labels = tables, test.better_structure, test.worse_learner
            rows.append((*labels, test.p, p, len(gain), gain.mean(), p < test.p, digit))
    columns = ["tables", "structure", "worse_learner", "printed", "p", "n", "difference", "below", "to_the_digit"]
    return pd.DataFrame(rows, columns=columns)


def attainable(table):
    """Whether the cells of a table can come from whole numbers of test rows.

    Under cross-validation each of five folds is taken to have floor(N / 5) rows, so a cell is k / (5 floor(N / 5));
    else it is k / n of the test set.

    Parameters
    ----------
    table : "iii", "iv", "vi", "vii" (column GZ02 only) or "viii" (SVM only)

    Returns
    -------
    DataFrame
        dataset, structure, learner, value, se, n (rows tested), folds (5 or 1), nearest (k / n in percent), whole
        (`nearest` is `value` to two decimals), error (whole numbers of mistakes in the folds can have the standard
        error se, or the binomial error of the test set is se), deviation (as error, but of a standard deviation se, not
        divided by the root of 5). Of folds the last two are necessary only, and in large ones nearly always true.
    """
    cells = _cells(check_choice("table", table, tuple(SIZES)))
    if table in ("vii", "viii"):
        cells = cells[cells["source"].eq("gz02") if table == "vii" else cells["learner"].eq("svm")]
    cells = cells.join(tested_rows(SIZES[table]), on="dataset").assign(se=cells.get("se", np.nan))
    k = (cells["value"] * cells["n"] / 100).round()
    cells["nearest"] = 100 * k / cells["n"]
    cells["whole"] = (cells["nearest"] - cells["value"]).abs() <= HALF
    cells["error"], cells["deviation"] = _spread(cells, k, 5), _spread(cells, k, 1)
    return cells[[*CELL, "value", "se", "n", "folds", "nearest", "whole", "error", "deviation"]]


def slips():
    """Numbers that the paper's own tables contradict.

    Returns
    -------
    DataFrame
        table, cell, printed, implied (NaN where the tables do not tell), why.

    Notes
    -----
    The last row is no slip: two names of one data set, with different folds.
    """
    checks = (_averages, _copies, _p_values, _not_whole, _other_rows, _spreads, _missing_values, _one_set_twice)
    rows = [row for check in checks for row in check()]
    return pd.DataFrame(rows, columns=["table", "cell", "printed", "implied", "why"])


def _read(name):
    texts = dict.fromkeys(["structure", "learner", "better_structure", "worse_structure"], str)
    return pd.read_csv(PRINTED / f"{name}.csv", dtype=texts).fillna(dict.fromkeys(texts, ""))


def _cells(table):
    frame = printed(table)
    return frame[frame["dataset"] != "average"]


def _decimals(number):
    return -Decimal(str(number)).as_tuple().exponent


def _label(cell):
    return f"{cell.dataset.upper()} {NAMES[cell.structure]}{cell.learner.upper()}"


def _gains(tables, structure, worse_structure, worse_learner):
    """By how much ELR is better on each data set, in points."""
    first, last = tables.split("+")[0], tables.split("+")[-1]
    better, worse = (_cells(table).pivot(index="dataset", columns=CELL[1:], values="value") for table in (first, last))
    gain = (better[structure, "elr"] - worse[worse_structure, worse_learner]).dropna()
    return -gain if tables == "vi" else gain  # VI has errors


def tested_rows(table):
    """Rows tested and number of folds of each data set of Table II or V."""
    sizes = printed(table).set_index("dataset")
    test = pd.to_numeric(sizes["test"], errors="coerce")
    n = test.fillna(sizes["train"] // 5 * 5).astype(int)
    return pd.DataFrame({"n": n, "folds": np.where(test.isna(), 5, 1)})


def _spread(cells, k, divisor):
    """Whether five whole numbers with the sum k can have a deviation, over the root of `divisor`, of se.

    Their sum of squares must be a whole number, odd or even as k is.
    """
    percent, low, high = 100 * cells["folds"] / cells["n"], (cells["se"] - HALF).clip(lower=0), cells["se"] + HALF
    squares = [4 * divisor * (end / percent) ** 2 + k**2 / 5 for end in (low, high)]
    first = np.ceil(squares[0] - 1e-6)
    in_folds = first + (first - k) % 2 <= squares[1] + 1e-6
    binomial = (_binomial(cells["value"], cells["n"]) - cells["se"]).abs() <= HALF
    return in_folds.where(cells["folds"] == 5, binomial)


def _binomial(percent, n):
    return np.sqrt(percent * (100 - percent) / n)


def _averages():
    for table in ("vi", "viii", "ix"):
        frame = printed(table)
        if table == "ix":
            frame = frame.melt(["dataset", "structure"], ["without", "with"], "learner")
        for (structure, learner), (*values, average) in frame.groupby(CELL[1:], sort=False)["value"]:
            mean, name = np.mean(values), "ELR " + learner if table == "ix" else learner.upper()
            if round(mean, max(2, _decimals(average))) != average:
                why = f"not the mean of the {len(values)} printed data sets"
                yield table, f"average {NAMES[structure]}{name}", average, mean, why


def _copies():
    """Cells of VII (the paper's own column) and VIII that differ from Table III."""
    for table, columns in (("vii", ["value"]), ("viii", ["value", "se"])):
        copy = _cells(table).query("source == 'gssz04'" if table == "vii" else "learner != 'svm'")
        both = copy.merge(_cells("iii"), on=CELL, suffixes=("", "_iii"))
        for column in columns:
            for cell in both[both[column] != both[f"{column}_iii"]].itertuples():
                values = getattr(cell, column), getattr(cell, f"{column}_iii")
                yield table, _label(cell) + " ±" * (column == "se"), *values, "differs from Table III"


def _p_values():
    for test in recomputed_p_values().query("tables == 'viii' and not to_the_digit").itertuples():
        cell = f"{NAMES[test.structure]}ELR against SVM, p (Appendix E)"
        yield "viii", cell, test.printed, test.p, f"one-sided paired t-test over the {test.n} printed data sets"


def _not_whole():
    for table in ("iii", "iv", "vi", "viii"):
        for cell in attainable(table).query("not whole").itertuples():
            yield table, _label(cell), cell.value, cell.nearest, f"no whole number of {cell.n} test rows"


def _other_rows():
    """Cells of GZ02 that do not fit the rows of Table II; those of Table V include incomplete ones."""
    for cell in attainable("vii").query("not whole").itertuples():
        other = COMPLETE.get(cell.dataset)
        n = printed("v").set_index("dataset").loc[other, ["train", "test"]].sum() // 5 * 5 if other else 0
        nearest = 100 * round(cell.value * n / 100) / n if n else np.nan
        fits = f"; fits {n:.0f}, with the incomplete rows of Table V" if abs(nearest - cell.value) <= HALF else ""
        yield "vii", _label(cell) + " (GZ02)", cell.value, nearest, f"no whole number of {cell.n} test rows{fits}"


def _spreads():
    for table in ("iii", "iv", "vi", "viii"):
        for cell in attainable(table).query("not error").itertuples():
            implied, why = np.nan, "no whole numbers of mistakes in five folds have this standard error"
            if cell.folds == 1:
                implied, why = _binomial(cell.value, cell.n), "binomial standard error of the test set"
            elif cell.deviation:
                implied, why = cell.se / 5**0.5, f"{why}; as standard deviation it fits"
            yield table, _label(cell) + " ±", cell.se, implied, why


def _missing_values():
    complete = printed("ii").set_index("dataset")
    for row in printed("v").fillna({"test": 0}).itertuples():
        name, total = row.dataset.upper(), sum(map(int, row.missing_total.split("+")))
        percent = 100 * total / ((row.train + row.test) * row.attributes)
        if abs(percent - row.missing_percent) > HALF:
            yield "v", f"{name} missing ratio", row.missing_percent, percent, "total over instances times attributes"
        if row.missing_attributes > row.attributes:
            why = "more attributes with missing values than attributes"
            yield "v", f"{name} attributes with missing values", row.missing_attributes, np.nan, why
        for column in ("attributes", "classes"):
            if row.dataset in complete.index and complete[column][row.dataset] != getattr(row, column):
                implied = complete[column][row.dataset]
                yield "v", f"{name} {column}", getattr(row, column), implied, "differs from Table II"


def _one_set_twice():
    """DIABETES and PIMA have the same rows: naive Bayes differs by its folds only."""
    same = _cells("iii").query("structure == 'naive' and learner == 'ofe'").set_index("dataset")["value"]
    why = "DIABETES and PIMA are the same data: no slip but other random folds"
    yield "iii", "DIABETES NB+OFE", same["diabetes"], same["pima"], why
