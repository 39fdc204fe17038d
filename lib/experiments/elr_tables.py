"""Our results beside the printed cells of Tables III, IV, VI, VII and VIII, and tests over data sets."""

import numpy as np
import pandas as pd

from lib.evaluation import mean_interval, one_sided_p_values
from lib.experiments.elr_data import N_FOLDS, SAME_DATA
from lib.experiments.greiner_printed import printed, tested_rows
from lib.validation import check_choice

CELL = ["dataset", "structure", "learner"]
ERRORS = ("vi",)  # tables that hold errors, not accuracies
AGREE = 2.0  # standard errors


def scores(frame):
    """Accuracy of each repeat of a study, in percent, with the standard error that the paper would print.

    Parameters
    ----------
    frame : DataFrame
        dataset, repeat, fold, learner, n_wrong, n_test and perhaps structure and test.

    Returns
    -------
    DataFrame
        The frame's labels, repeat, value, se: that of the mean of the folds, or binomial for a single test set.
    """
    labels = [name for name in (*CELL, "test", "repeat") if name in frame]
    folds = frame.assign(part=100 * (1 - frame["n_wrong"] / frame["n_test"])).groupby(labels, sort=False)
    sums = folds.agg(n=("n_test", "sum"), folds=("part", "size"), value=("part", "mean"), sd=("part", "std"))
    binomial = np.sqrt(sums["value"] * (100 - sums["value"]) / sums["n"])
    sums["se"] = (sums["sd"] / np.sqrt(sums["folds"])).where(sums["folds"] > 1, binomial)
    return sums[["value", "se"]].reset_index()


def averages(results):
    """Means over the repeats of `scores`.

    Returns
    -------
    DataFrame
        The labels, value, se (root mean square: of one repeat, not of their mean), low, q05, q95, high (of the
        repeats' values), n_repeats.
    """
    labels = [name for name in (*CELL, "test") if name in results]
    groups = results.assign(square=results["se"] ** 2).groupby(labels, sort=False)
    value = groups["value"]
    found = pd.DataFrame({"value": value.mean(), "se": np.sqrt(groups["square"].mean()), "low": value.min()})
    found["q05"], found["q95"], found["high"] = value.quantile(0.05), value.quantile(0.95), value.max()
    return found.assign(n_repeats=value.size()).reset_index()


def beside_printed(results, table):
    """Each printed cell of a table with ours.

    Parameters
    ----------
    results : DataFrame
        As `scores` returns it; at most one reading of test rows.
    table : "iii", "iv", "vi" or "viii"

    Returns
    -------
    DataFrame
        dataset, structure, learner, printed, printed_se, ours, se, low, q05, q95, high, n_repeats, z, in the order of
        the table; NaN where we have none. Errors in Table VI, else accuracies, in percent. z is (ours - printed) over
        the root of the sum of the squares of both standard errors, which are those of one run of the experiment. The
        paper's is taken as binomial where it prints none for a single test set.
    """
    cells = printed(check_choice("table", table, ("iii", "iv", "vi", "viii")))
    cells = cells[cells["dataset"] != "average"].rename(columns={"value": "printed", "se": "printed_se"})
    ours = averages(results).rename(columns={"value": "ours"}).drop(columns="test", errors="ignore")
    if table in ERRORS:
        ours["ours"] = 100 - ours["ours"]
        flipped = {"low": "high", "q05": "q95", "q95": "q05", "high": "low"}
        ours = ours.assign(**{name: 100 - ours[other] for name, other in flipped.items()})
    cells = cells.assign(source=cells["dataset"].replace(SAME_DATA))
    cells = cells.merge(ours.rename(columns={"dataset": "source"}), on=["source", *CELL[1:]], how="left")
    tested = tested_rows("v" if table == "vi" else "ii").reindex(cells["dataset"])
    binomial = np.sqrt(cells["printed"] * (100 - cells["printed"]) / tested["n"].to_numpy())
    one_test_set = tested["folds"].eq(1).to_numpy() & cells["printed_se"].eq(0)
    cells["printed_se"] = cells["printed_se"].where(~one_test_set, binomial)
    return cells.assign(z=standardised(cells["ours"] - cells["printed"], cells["se"], cells["printed_se"])).drop(
        columns="source"
    )


def standardised(difference, first_se, second_se):
    """Differences over combined standard errors; 0 where nothing differs."""
    difference = np.asarray(difference, dtype=float).round(9)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / np.hypot(first_se, second_se)
    return np.where(difference == 0, 0.0, z)


def map_cells(cells, label):
    """Cells for a map: with a column `column`, what `label` says of structure+learner, and data sets in capitals."""
    columns = (cells["structure"] + "+" + cells["learner"]).map(label)
    return cells.assign(column=columns, dataset=cells["dataset"].str.upper())


def agreement(cells):
    """How many cells of each column are within two standard errors of the paper's, or inside the range of our repeats.

    Returns structure, learner, n (cells that we have), within, n_repeated (those with several repeats), inside (of
    these), mean_difference (ours - printed, in points).
    """
    rows = []
    for (structure, learner), part in cells.dropna(subset="z").groupby(CELL[1:], sort=False):
        repeated = part[part["n_repeats"] > 1]
        counts = len(part), (part["z"].abs() <= AGREE).sum(), len(repeated), inside(repeated).sum()
        rows.append((structure, learner, *map(int, counts), (part["ours"] - part["printed"]).mean()))
    columns = ["structure", "learner", "n", "within", "n_repeated", "inside", "mean_difference"]
    return pd.DataFrame(rows, columns=columns)


def distinct(cells):
    """Cells but for those of a data set that has another name as well."""
    return cells[~cells["dataset"].str.lower().isin(list(SAME_DATA))]


def inside(cells):
    """Whether the printed number of each cell, but for its rounding, is in the range of our repeats."""
    return cells["printed"].between(cells["low"] - 0.005, cells["high"] + 0.005)


def own_agreement(results):
    """Part of the repeats that are within two standard errors of the mean of the others, as a re-run of ours would be.

    Like `agreement` it compares one run with the mean of several. NaN without repeats.
    """
    labels = [name for name in (*CELL, "test") if name in results]
    groups = results.assign(square=results["se"] ** 2).groupby(labels, sort=False)
    n, total, squares = (
        groups[name].transform(how) for name, how in (("value", "size"), ("value", "sum"), ("square", "sum"))
    )
    known = n > 1
    others = (total - results["value"])[known] / (n - 1)[known]
    others_se = np.sqrt((squares - results["se"] ** 2)[known] / (n - 1)[known])
    z = standardised(results["value"][known] - others, results["se"][known], others_se)
    return float((np.abs(z) <= AGREE).mean()) if known.any() else np.nan


def errors_by_dataset(results):
    """Mean error of each learner, in percent: a row a data set, columns named structure+learner or learner."""
    names = results["structure"] + "+" + results["learner"] if "structure" in results else results["learner"]
    means = results.assign(column=names).groupby(["dataset", "column"], sort=False)["value"].mean()
    return (100 - means).unstack("column")[list(dict.fromkeys(names))].round(9)


def printed_wide(table, source=None):
    """A printed table with a row a data set and a column a structure+learner; of Table VII one `source`."""
    cells = printed(table)
    cells = cells[(cells["dataset"] != "average") & (cells["source"].eq(source) if source else True)]
    names = cells["structure"] + "+" + cells["learner"]
    wide = cells.assign(column=names).pivot(index="dataset", columns="column", values="value")
    return wide.loc[list(dict.fromkeys(cells["dataset"])), list(dict.fromkeys(names))].rename_axis(None, axis=1)


def printed_errors(table):
    """The errors that a table prints, as `errors_by_dataset`; DIABETES and PIMA stay two data sets, as in the paper."""
    wide = printed_wide(table)
    return wide if table in ERRORS else (100 - wide).round(9)


def with_twins(wide):
    """A table a row a data set with rows for the other names of data sets that the paper has twice."""
    twins = {twin: name for twin, name in SAME_DATA.items() if name in wide.index}
    return pd.concat([wide, wide.loc[list(twins.values())].set_axis(list(twins))])


def compare(errors, better, worse):
    """Errors of `worse` less those of `better` over the data sets that have both: difference, interval, p and counts.

    Returns
    -------
    dict
        better, worse, value, low, high, n (mean difference in points with the t interval over data sets), p (one-sided
        paired t-test), wins, ties, losses of `better`.
    """
    known = {better, worse} <= set(errors)
    gain = (errors[worse] - errors[better]).dropna() if known else pd.Series(dtype=float)
    estimate = mean_interval(gain)
    p = one_sided_p_values([gain])[0] if len(gain) > 1 else np.nan
    signs = {name: int((np.sign(gain) == sign).sum()) for name, sign in (("wins", 1), ("ties", 0), ("losses", -1))}
    return {"better": better, "worse": worse, **estimate._asdict(), "p": p, **signs}


def p_by_repeat(results, better, worse):
    """One-sided p-value of each repeat: of an experiment of the paper's size. Sets with one split enter all of them."""
    wide = results.pivot_table(
        index=["repeat", "dataset"], columns=["structure", "learner"], values="value", sort=False
    )
    pair = [tuple(name.split("+")) for name in (better, worse)]
    if not set(pair) <= set(wide.columns):
        return np.empty(0)
    gain = (wide[pair[0]] - wide[pair[1]]).unstack("repeat")
    gain = gain.apply(lambda row: row.fillna(row.iloc[0]), axis=1).dropna()
    return one_sided_p_values(gain.T) if len(gain) > 1 else np.empty(0)


def scatter_points(errors_and_ses, pairs):
    """Points of `lib.figures.error_scatter`.

    Parameters
    ----------
    errors_and_ses : DataFrame
        As `averages` returns it.
    pairs : dict of panel title -> (name on the horizontal axis, name on the vertical axis)
        Names as structure+learner.
    """
    table = errors_and_ses.assign(error=100 - errors_and_ses["value"])
    table = table.assign(name=table["structure"] + "+" + table["learner"]).set_index("dataset")
    rows = []
    for title, (x, y) in pairs.items():
        first, second = (table[table["name"] == name][["error", "se"]] for name in (x, y))
        points = first.set_axis(["x", "x_se"], axis=1).join(second.set_axis(["y", "y_se"], axis=1), how="inner")
        rows.append(points.reset_index().assign(panel=title))
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def described(table, found, reasons):
    """Table II or V beside the problems that we have.

    Parameters
    ----------
    table : "ii" or "v"
    found : list of Problem
    reasons : dict
        Why others are not available: see `lib.experiments.elr_data.problems`.

    Returns
    -------
    DataFrame
        dataset, attributes, classes, rows (ours, NaN where we have none), the same with "_printed", protocol, source.
    """
    ours = {problem.name: problem for problem in found}
    rows = []
    for row in printed(table).itertuples():
        test = pd.to_numeric(row.test, errors="coerce")
        n_printed = row.train + (0 if np.isnan(test) else test)
        name = SAME_DATA.get(row.dataset, row.dataset)
        about = {"dataset": row.dataset, "attributes_printed": row.attributes, "classes_printed": row.classes}
        about |= {"rows_printed": n_printed, **_ours(ours.get(name), name, reasons)}
        rows.append(about)
    return pd.DataFrame(rows)


def _ours(problem, name, reasons):
    if problem is None:
        why = "not available: " + reasons[name] if name in reasons else "not asked for"
        return {"attributes": np.nan, "classes": np.nan, "rows": np.nan, "protocol": "—", "source": why}
    data = problem.data
    train, test = problem.splits(N_FOLDS, np.random.SeedSequence(0))[0]
    n_rows = len(data.y) if problem.split in ("folds", "sample") else len(train) + len(test)
    split = "file order" if problem.split == "published" else "random splits"
    protocol = f"{N_FOLDS} folds" if problem.split == "folds" else f"{len(train)} + {len(test)}, {split}"
    if problem.split == "sample" and np.isin(train, test).all():
        protocol = f"{len(train)} at random, tested on all"
    sizes = {"attributes": data.X.shape[1], "classes": len(np.unique(data.y)), "rows": n_rows}
    return {**sizes, "protocol": protocol, "source": data.source}
