"""Our results beside the printed cells of Tables III to VIII, tests over data sets, and checks of the printed cells."""

import numpy as np
import pandas as pd

from lib.datasets.papers import printed_table
from lib.evaluation import mean_interval, one_sided_p_values
from lib.experiments.elr_data import SAME_DATA, printed

CELL = ["dataset", "structure", "learner"]
# where a table's numbers of rows are
ROWS = {"iii": "ii", "iv": "ii", "vi": "v", "vii": "ii", "viii": "ii"}
AGREE = 2.0  # standard errors
HALF = 0.005 + 1e-9  # of the second decimal


def scores(frame):
    """Accuracy of each repeat, in percent, and its standard error: of the mean of folds, or binomial for one test set.

    The frame has dataset, repeat, fold, learner, n_wrong, n_test and perhaps structure and test.
    """
    labels = [name for name in (*CELL, "test", "repeat") if name in frame]
    folds = frame.assign(part=100 * (1 - frame["n_wrong"] / frame["n_test"])).groupby(
        labels, sort=False
    )
    sums = folds.agg(
        n=("n_test", "sum"), folds=("part", "size"), value=("part", "mean"), sd=("part", "std")
    )
    sums["se"] = (sums["sd"] / np.sqrt(sums["folds"])).where(
        sums["folds"] > 1, binomial(sums["value"], sums["n"])
    )
    return sums[["value", "se"]].reset_index()


def averages(results):
    """Means over the repeats of `scores`.

    Returns
    -------
    DataFrame
        The labels, value, se (root mean square: of one repeat, not of their mean), low, q05, q95,
        high (of the repeats' values), n_repeats.
    """
    labels = [name for name in (*CELL, "test") if name in results]
    groups = results.assign(square=results["se"] ** 2).groupby(labels, sort=False)
    value = groups["value"]
    means = pd.DataFrame(
        {"value": value.mean(), "se": np.sqrt(groups["square"].mean()), "low": value.min()}
    )
    means["q05"], means["q95"], means["high"] = (
        value.quantile(0.05),
        value.quantile(0.95),
        value.max(),
    )
    return means.assign(n_repeats=value.size()).reset_index()


def beside_printed(results, table):
    """Each printed cell of Table "iii", "iv", "vi" or "viii" with ours, as `scores` returns them.

    Returns
    -------
    DataFrame
        dataset, structure, learner, printed, printed_se, ours, se, low, q05, q95, high, n_repeats,
        z, in the order of the table; NaN where we have none. Errors in Table VI, else accuracies,
        in percent. z is (ours - printed) over the root of the sum of the squares of both standard
        errors, which are those of one run of the experiment. The paper's is taken as binomial where
        it prints none for a single test set.
    """
    cells = without_averages(table).rename(columns={"value": "printed", "se": "printed_se"})
    if table == "vi":  # which holds errors, not accuracies
        results = results.assign(value=100 - results["value"])
    ours = (
        averages(results)
        .rename(columns={"value": "ours", "dataset": "source"})
        .drop(columns="test", errors="ignore")
    )
    cells = cells.assign(source=cells["dataset"].replace(SAME_DATA)).merge(
        ours, on=["source", *CELL[1:]], how="left"
    )
    tested = tested_rows(table).reindex(cells["dataset"]).set_axis(cells.index)
    unprinted = tested["folds"].eq(1) & cells["printed_se"].eq(0)
    cells["printed_se"] = cells["printed_se"].mask(
        unprinted, binomial(cells["printed"], tested["n"])
    )
    z = standardised(cells["ours"] - cells["printed"], cells["se"], cells["printed_se"])
    return cells.drop(columns="source").assign(z=z)


def standardised(difference, first_se, second_se):
    """Differences over combined standard errors; 0 where nothing differs."""
    difference = np.asarray(difference, dtype=float).round(9)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / np.hypot(first_se, second_se)
    return np.where(difference == 0, 0.0, z)


def binomial(percent, n):
    """Standard error of a share of n independent rows, in percent."""
    return np.sqrt(percent * (100 - percent) / n)


def agreement(cells):
    """How many cells of each column are within two standard errors of the paper's, or inside the range of our repeats.

    Returns structure, learner, n (cells that we have), within, n_repeated (those with several
    repeats), inside (of these, but for rounding), mean_difference (ours - printed, in points).
    """
    known = cells.dropna(subset="z")
    repeated = known["n_repeats"] > 1
    inside = repeated & known["printed"].between(known["low"] - 0.005, known["high"] + 0.005)
    counts = known[CELL[1:]].assign(
        n=1, within=known["z"].abs() <= AGREE, n_repeated=repeated, inside=inside
    )
    groups = counts.assign(mean_difference=known["ours"] - known["printed"]).groupby(
        CELL[1:], sort=False
    )
    how = {
        **dict.fromkeys(["n", "within", "n_repeated", "inside"], "sum"),
        "mean_difference": "mean",
    }
    return groups.agg(how).reset_index()


def own_agreement(results):
    """Part of the repeats that are within two standard errors of the mean of the others, as a re-run of ours would be.

    Like `agreement` it compares one run with the mean of several. NaN without repeats.
    """
    labels = [name for name in (*CELL, "test") if name in results]
    results = results.assign(square=results["se"] ** 2)
    groups = results.groupby(labels, sort=False)
    n = groups["value"].transform("size")
    known, n = results[n > 1], n[n > 1] - 1
    others = (
        groups[["value", "square"]].transform("sum").loc[known.index] - known[["value", "square"]]
    ).div(n, axis=0)
    z = standardised(known["value"] - others["value"], known["se"], np.sqrt(others["square"]))
    return float((np.abs(z) <= AGREE).mean()) if len(z) else np.nan


def errors_by_dataset(results):
    """Mean error of each learner, in percent: a row a data set, columns named structure+learner or learner."""
    names = (
        results["structure"] + "+" + results["learner"]
        if "structure" in results
        else results["learner"]
    )
    means = results.assign(column=names).groupby(["dataset", "column"], sort=False)["value"].mean()
    return (100 - means).unstack("column")[list(dict.fromkeys(names))].round(9)


def without_averages(table):
    """A printed table but for its averages."""
    return printed(table).query("dataset != 'average'").reset_index(drop=True)


def printed_wide(table, source=None):
    """A printed table with a row a data set and a column a structure+learner; of Table VII one `source`."""
    cells = without_averages(table)
    cells = cells[cells["source"] == source] if source else cells
    names = cells["structure"] + "+" + cells["learner"]
    wide = cells.assign(column=names).pivot(index="dataset", columns="column", values="value")
    return wide.loc[list(dict.fromkeys(cells["dataset"])), list(dict.fromkeys(names))].rename_axis(
        None, axis=1
    )


def printed_errors(table):
    """The errors that a table prints, as `errors_by_dataset`; DIABETES and PIMA stay two data sets, as in the paper."""
    wide = printed_wide(table)
    return wide if table == "vi" else (100 - wide).round(9)


def compare(errors, better, worse):
    """Errors of `worse` less those of `better` over the data sets that have both: difference, interval, p and counts.

    Returns
    -------
    dict
        better, worse, value, low, high, n (mean difference in points with the t interval over data
        sets), p (one-sided paired t-test), wins, ties, losses of `better`.
    """
    known = {better, worse} <= set(errors)
    gain = (errors[worse] - errors[better]).dropna() if known else pd.Series(dtype=float)
    p = one_sided_p_values([gain])[0] if len(gain) > 1 else np.nan
    signs = {
        name: int((np.sign(gain) == sign).sum())
        for name, sign in (("wins", 1), ("ties", 0), ("losses", -1))
    }
    return {"better": better, "worse": worse, **mean_interval(gain)._asdict(), "p": p, **signs}


def printed_p_values(appendix):
    """The p-values printed in Appendix "b", "d" or "e": better and worse structure and learner, p (a bound)."""
    tests = printed_table("greiner_p_values", dtype=str, keep_default_na=False).astype({"p": float})
    return tests[tests["appendix"] == appendix].reset_index(drop=True)


def tested_rows(table):
    """Rows tested, n, and number of folds of each data set of a table."""
    sizes = printed(ROWS[table]).set_index("dataset")
    test = pd.to_numeric(sizes["test"], errors="coerce")
    n = test.fillna(sizes["train"] // 5 * 5).astype(int)
    return pd.DataFrame({"n": n, "folds": np.where(test.isna(), 5, 1)})


def attainable(cells, table):
    """Cells of a printed table, and whether they can come from whole numbers of test rows.

    Under cross-validation each of five folds is taken to have floor(N / 5) rows, so a cell is k /
    (5 floor(N / 5)); else it is k / n of the test set.

    Returns
    -------
    DataFrame
        The cells with n (rows tested), folds (5 or 1), nearest (k / n in percent), whole (`nearest`
        is `value` to two decimals), error (whole numbers of mistakes in the folds can have the
        standard error se, or the binomial error of the test set is se), deviation (as error, but of
        a standard deviation se, not divided by the root of 5). Of folds the last two are necessary
        only, and in large ones nearly always true.
    """
    cells = cells.join(tested_rows(table), on="dataset").assign(se=cells.get("se", np.nan))
    k = (cells["value"] * cells["n"] / 100).round()
    nearest = 100 * k / cells["n"]
    spreads = {"error": _possible_spread(cells, k, 5), "deviation": _possible_spread(cells, k, 1)}
    return cells.assign(nearest=nearest, whole=(nearest - cells["value"]).abs() <= HALF, **spreads)


def _possible_spread(cells, k, divisor):
    """Whether five whole numbers with the sum k can have a deviation, over the root of `divisor`, of se.

    Their sum of squares must be a whole number, odd or even as k is.
    """
    percent, low, high = (
        100 * cells["folds"] / cells["n"],
        (cells["se"] - HALF).clip(lower=0),
        cells["se"] + HALF,
    )
    squares = [4 * divisor * (end / percent) ** 2 + k**2 / 5 for end in (low, high)]
    first = np.ceil(squares[0] - 1e-6)
    in_folds = first + (first - k) % 2 <= squares[1] + 1e-6
    of_test_set = (binomial(cells["value"], cells["n"]) - cells["se"]).abs() <= HALF
    return in_folds.where(cells["folds"] == 5, of_test_set)


def unattainable(cells, table):
    """Rows (table, cell, printed, implied, why) for the cells of a table that no whole numbers of test rows give."""
    cells = attainable(cells, table)
    for cell in cells[~cells["whole"]].to_dict("records"):
        yield (
            table,
            cell_label(cell),
            cell["value"],
            cell["nearest"],
            f"no whole number of {cell['n']} test rows",
        )
    for cell in cells[~cells["error"]].to_dict("records"):
        implied, why = np.nan, "no whole numbers of mistakes in five folds have this standard error"
        if cell["folds"] == 1:
            implied, why = (
                binomial(cell["value"], cell["n"]),
                "binomial standard error of the test set",
            )
        elif cell["deviation"]:
            implied, why = cell["se"] / 5**0.5, f"{why}; as standard deviation it fits"
        yield table, f"{cell_label(cell)} ±", cell["se"], implied, why


def copied_cells(table, columns, cells):
    """Rows, as those of `unattainable`, for cells of another table that differ from Table III.

    Parameters
    ----------
    table : "vii" or "viii"
    columns : list of str
        What is compared: "value", "se".
    cells : DataFrame
        Those of the paper's own learners.
    """
    both = cells.merge(printed("iii"), on=CELL, suffixes=("", "_iii"))
    for column in columns:
        for cell in both[both[column] != both[f"{column}_iii"]].to_dict("records"):
            label = cell_label(cell) + " ±" * (column == "se")
            yield table, label, cell[column], cell[f"{column}_iii"], "differs from Table III"


def contradictions_of_table_v():
    """Rows, as those of `unattainable`, for numbers of Table V that its own totals, or Table II, contradict."""
    complete = printed("ii").set_index("dataset")
    for row in printed("v").fillna({"test": 0}).itertuples():
        name, total = row.dataset.upper(), sum(map(int, row.missing_total.split("+")))
        percent = 100 * total / ((row.train + row.test) * row.attributes)
        if abs(percent - row.missing_percent) > HALF:
            yield (
                "v",
                f"{name} missing ratio",
                row.missing_percent,
                percent,
                "total over instances times attributes",
            )
        if row.missing_attributes > row.attributes:
            why = "more attributes with missing values than attributes"
            yield "v", f"{name} attributes with missing values", row.missing_attributes, np.nan, why
        for column in ("attributes", "classes"):
            value, implied = getattr(row, column), complete[column].get(row.dataset, np.nan)
            if value != implied and not np.isnan(implied):
                yield "v", f"{name} {column}", value, implied, "differs from Table II"


def cell_label(cell):
    """Words for a printed cell, such as "IRIS NB+ELR"."""
    structure = {"naive": "NB+", "tan": "TAN+", "bic": "GBN+", "": ""}[cell["structure"]]
    return f"{cell['dataset'].upper()} {structure}{cell['learner'].upper()}"
