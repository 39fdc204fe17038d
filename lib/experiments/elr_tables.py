"""Our results beside the printed cells of Tables III to VIII, tests over data sets, and slips.

Greiner et al. (2005) print accuracies or errors in percent, with standard errors.
"""

import numpy as np
import pandas as pd

from lib.datasets.papers import printed_table
from lib.evaluation import mean_interval, one_sided_p_values
from lib.experiments.elr_data import SAME_DATA, paper_table
from lib.experiments.uci import mean_by_family

CELL = ["dataset", "structure", "learner"]
# the table that has the numbers of rows of another
SIZE_TABLES = {"iii": "ii", "iv": "ii", "vi": "v", "vii": "ii", "viii": "ii"}
AGREE = 2.0  # standard errors
HALF = 0.005 + 1e-9  # of the second decimal
STRUCTURE_LABELS = {"naive": "NB+", "tan": "TAN+", "bic": "GBN+", "": ""}


def scores(frame):
    """Compute the accuracy of each repeat, in percent, and its standard error.

    Parameters
    ----------
    frame : DataFrame
        dataset, repeat, fold, learner, n_wrong, n_test and perhaps structure and test.

    Returns
    -------
    DataFrame
        The labels, value and se: the standard error of the mean of folds, or the binomial one for a
        single test set.
    """
    labels = _labels(frame, "repeat")
    accuracies = frame.assign(accuracy=100 * (1 - frame["n_wrong"] / frame["n_test"]))
    repeats = accuracies.groupby(labels, sort=False).agg(
        n=("n_test", "sum"),
        folds=("accuracy", "size"),
        value=("accuracy", "mean"),
        sd=("accuracy", "std"),
    )
    se_of_mean = repeats["sd"] / np.sqrt(repeats["folds"])
    se_of_share = binomial_error(repeats["value"], repeats["n"])
    # one test set has no spread over folds
    repeats["se"] = se_of_mean.where(repeats["folds"] > 1, se_of_share)
    return repeats[["value", "se"]].reset_index()


def _labels(frame, *more):
    """The columns of a frame that say what a value is of."""
    return [name for name in (*CELL, "test", *more) if name in frame]


def averages(results):
    """Average the repeats of `scores`.

    Returns
    -------
    DataFrame
        The labels, value, se (root mean square: of one repeat, not of their mean), low, q05, q95,
        high (of the repeats' values), n_repeats.
    """
    with_squares = results.assign(square=results["se"] ** 2)
    groups = with_squares.groupby(_labels(results), sort=False)
    values = groups["value"]
    columns = {
        "value": values.mean(),
        "se": np.sqrt(groups["square"].mean()),
        "low": values.min(),
        "q05": values.quantile(0.05),
        "q95": values.quantile(0.95),
        "high": values.max(),
        "n_repeats": values.size(),
    }
    return pd.DataFrame(columns).reset_index()


def compare_with_paper(results, table):
    """Join our results to the printed cells of Table "iii", "iv", "vi" or "viii".

    Parameters
    ----------
    results : DataFrame
        As `scores` returns them.
    table : str

    Returns
    -------
    DataFrame
        dataset, structure, learner, printed, printed_se, ours, se, low, q05, q95, high, n_repeats,
        z, in the order of the table; NaN where we have none. Errors in Table VI, else accuracies,
        in percent. z is (ours - printed) over the root of the sum of the squares of both standard
        errors, which are those of one run of the experiment. The paper's is taken as binomial where
        it prints none for a single test set.
    """
    cells = paper_cells(table).rename(columns={"value": "printed", "se": "printed_se"})
    if table == "vi":  # which holds errors, not accuracies
        results = results.assign(value=100 - results["value"])
    ours = averages(results).drop(columns="test", errors="ignore")
    ours = ours.rename(columns={"value": "ours", "dataset": "source"})
    # DIABETES and PIMA are two rows of the paper, but one data set of ours
    cells["source"] = cells["dataset"].replace(SAME_DATA)
    cells = cells.merge(ours, on=["source", "structure", "learner"], how="left")
    sizes = test_set_sizes(table).reindex(cells["dataset"]).set_axis(cells.index)
    lacks_error = sizes["folds"].eq(1) & cells["printed_se"].eq(0)
    binomial = binomial_error(cells["printed"], sizes["n"])
    cells["printed_se"] = cells["printed_se"].mask(lacks_error, binomial)
    z = z_scores(cells["ours"] - cells["printed"], cells["se"], cells["printed_se"])
    return cells.drop(columns="source").assign(z=z)


def z_scores(difference, first_se, second_se):
    """Divide differences by their combined standard errors; 0 where nothing differs."""
    # rounded, so that equal percentages differ by 0 exactly
    difference = np.asarray(difference, dtype=float).round(9)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / np.hypot(first_se, second_se)
    return np.where(difference == 0, 0.0, z)


def binomial_error(percent, n):
    """Standard error of a share of n independent rows, in percent."""
    return np.sqrt(percent * (100 - percent) / n)


def agreement(cells):
    """Count the cells of each column that agree with the paper's.

    Parameters
    ----------
    cells : DataFrame
        As `compare_with_paper` returns them.

    Returns
    -------
    DataFrame
        structure, learner, n (cells that we have), within (those at most two standard errors from
        the paper's), n_repeated (those with several repeats), inside (of these, those whose printed
        value is in the range of our repeats, but for rounding), mean_difference (ours - printed, in
        points).
    """
    column = ["structure", "learner"]
    cells = cells.dropna(subset="z")
    is_repeated = cells["n_repeats"] > 1
    # the paper prints two decimals
    is_in_range = cells["printed"].between(cells["low"] - 0.005, cells["high"] + 0.005)
    counts = cells[column].assign(
        n=1,
        within=cells["z"].abs() <= AGREE,
        n_repeated=is_repeated,
        inside=is_repeated & is_in_range,
        mean_difference=cells["ours"] - cells["printed"],
    )
    aggregations = {
        "n": "sum",
        "within": "sum",
        "n_repeated": "sum",
        "inside": "sum",
        "mean_difference": "mean",
    }
    return counts.groupby(column, sort=False).agg(aggregations).reset_index()


def self_agreement(results):
    """Share of our repeats that are within two standard errors of the mean of the other repeats.

    Like `agreement` it compares one run with the mean of several: so often would a re-run of ours
    agree. NaN without repeats.
    """
    labels = _labels(results)
    with_squares = results.assign(square=results["se"] ** 2)
    groups = with_squares.groupby(labels, sort=False)
    n_repeats = groups["value"].transform("size")
    repeated = with_squares[n_repeats > 1]
    n_others = n_repeats[n_repeats > 1] - 1
    if repeated.empty:
        return np.nan
    # the mean of the others: the sum of all less one's own
    sums = groups[["value", "square"]].transform("sum").loc[repeated.index]
    mean_of_others = (sums - repeated[["value", "square"]]).div(n_others, axis=0)
    difference = repeated["value"] - mean_of_others["value"]
    z = z_scores(difference, repeated["se"], np.sqrt(mean_of_others["square"]))
    return float((np.abs(z) <= AGREE).mean())


def errors_by_dataset(results):
    """Average the errors of each learner over repeats, in percent.

    Returns
    -------
    DataFrame
        A row a data set, a column named structure+learner, or learner, for each.
    """
    names = results["learner"]
    if "structure" in results:
        names = results["structure"] + "+" + names
    means = results.assign(column=names).groupby(["dataset", "column"], sort=False)["value"].mean()
    return (100 - means).unstack("column")[list(dict.fromkeys(names))].round(9)


def paper_cells(table):
    """Return a table of the paper without its averages."""
    return paper_table(table).query("dataset != 'average'").reset_index(drop=True)


def paper_cells_wide(table, source=None):
    """Return the values that a table prints: a row a data set, a column a structure+learner.

    Table VII needs a `source`, one of those that it cites.
    """
    cells = paper_cells(table)
    if source:
        cells = cells[cells["source"] == source]
    names = cells["structure"] + "+" + cells["learner"]
    values = cells.assign(column=names).pivot(index="dataset", columns="column", values="value")
    # pivot sorts; the order of the table is wanted
    values = values.loc[list(dict.fromkeys(cells["dataset"])), list(dict.fromkeys(names))]
    return values.rename_axis(None, axis=1)


def paper_errors(table):
    """Return the errors that a table prints, as `errors_by_dataset` returns ours.

    DIABETES and PIMA stay two data sets, as in the paper.
    """
    values = paper_cells_wide(table)
    # Table VI prints errors, the others accuracies
    return values if table == "vi" else (100 - values).round(9)


def compare(errors, better, worse, by_family=False):
    """Compare two columns of errors over the data sets that have both.

    Parameters
    ----------
    errors : DataFrame
        As `errors_by_dataset` returns them.
    better, worse : str
        Columns; one that is not there has no data sets.
    by_family : bool
        Whether sets that share rows or patients count as one, with their mean difference; the
        paper's own tests count each.

    Returns
    -------
    dict
        better, worse, value, low, high, n (mean of `worse` - `better` in points with the t interval
        over data sets, or families of them), p (one-sided paired t-test), wins, ties, losses of
        `better`.
    """
    gain = pd.Series(dtype=float)
    if better in errors and worse in errors:
        gain = (errors[worse] - errors[better]).dropna()
    if by_family:
        gain = mean_by_family(gain)
    return {
        "better": better,
        "worse": worse,
        **mean_interval(gain)._asdict(),
        "p": one_sided_p_values([gain])[0] if len(gain) > 1 else np.nan,
        "wins": int((gain > 0).sum()),
        "ties": int((gain == 0).sum()),
        "losses": int((gain < 0).sum()),
    }


def paper_p_values(appendix):
    """Return the p-values printed in Appendix "b", "d" or "e".

    Returns
    -------
    DataFrame
        better_structure, better_learner, worse_structure, worse_learner and p, which is a bound.
    """
    tests = printed_table("greiner_p_values", dtype=str, keep_default_na=False).astype({"p": float})
    return tests[tests["appendix"] == appendix].reset_index(drop=True)


def test_set_sizes(table):
    """Return the rows tested, n, and the number of folds of each data set of a table."""
    sizes = paper_table(SIZE_TABLES[table]).set_index("dataset")
    n_test = pd.to_numeric(sizes["test"], errors="coerce")  # NaN under cross-validation
    n_in_folds = sizes["train"] // 5 * 5
    return pd.DataFrame(
        {
            "n": n_test.fillna(n_in_folds).astype(int),
            "folds": np.where(n_test.isna(), 5, 1),
        }
    )


def attainability(cells, table):
    """Check whether the cells of a printed table can come from whole numbers of test rows.

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
    cells = cells.join(test_set_sizes(table), on="dataset")
    cells = cells.assign(se=cells.get("se", np.nan))  # which Table VII does not print
    k = (cells["value"] * cells["n"] / 100).round()
    nearest = 100 * k / cells["n"]
    return cells.assign(
        nearest=nearest,
        whole=(nearest - cells["value"]).abs() <= HALF,
        error=_is_possible_spread(cells, k, 5),
        deviation=_is_possible_spread(cells, k, 1),
    )


def _is_possible_spread(cells, k, divisor):
    """Whether five whole numbers with the sum k can have a deviation of se * sqrt(divisor).

    In units of rows, the sum of squares of five numbers is 4 times their variance plus k^2 / 5. It
    must be a whole number, odd or even as k is, between the bounds that the rounding of se leaves.
    """
    percent_a_row = 100 * cells["folds"] / cells["n"]
    # se is printed with two decimals
    low = (cells["se"] - HALF).clip(lower=0)
    high = cells["se"] + HALF
    smallest_sum = 4 * divisor * (low / percent_a_row) ** 2 + k**2 / 5
    largest_sum = 4 * divisor * (high / percent_a_row) ** 2 + k**2 / 5
    whole_sum = np.ceil(smallest_sum - 1e-6)
    whole_sum += (whole_sum - k) % 2  # x^2 is odd where x is
    fits_folds = whole_sum <= largest_sum + 1e-6
    fits_test_set = (binomial_error(cells["value"], cells["n"]) - cells["se"]).abs() <= HALF
    return fits_folds.where(cells["folds"] == 5, fits_test_set)


def unattainable_cells(cells, table):
    """Find the cells of a table that no whole numbers of test rows give.

    Yields
    ------
    tuple
        table, cell, printed, implied (NaN where nothing is), why.
    """
    cells = attainability(cells, table)
    for cell in cells[~cells["whole"]].to_dict("records"):
        why = f"no whole number of {cell['n']} test rows"
        yield table, cell_label(cell), cell["value"], cell["nearest"], why
    for cell in cells[~cells["error"]].to_dict("records"):
        if cell["folds"] == 1:
            implied = binomial_error(cell["value"], cell["n"])
            why = "binomial standard error of the test set"
        else:
            implied = np.nan
            why = "no whole numbers of mistakes in five folds have this standard error"
            if cell["deviation"]:
                implied = cell["se"] / 5**0.5
                why += "; as standard deviation it fits"
        yield table, f"{cell_label(cell)} ±", cell["se"], implied, why


def copied_cells(table, columns, cells):
    """Find cells of another table that differ from Table III, out of which they are copied.

    Parameters
    ----------
    table : "vii" or "viii"
    columns : list of str
        What is compared: "value", "se".
    cells : DataFrame
        Those of the paper's own learners.

    Yields
    ------
    tuple
        As of `unattainable_cells`.
    """
    both = cells.merge(paper_table("iii"), on=CELL, suffixes=("", "_iii"))
    for column in columns:
        different = both[both[column] != both[f"{column}_iii"]]
        for cell in different.to_dict("records"):
            label = cell_label(cell)
            if column == "se":
                label += " ±"
            yield table, label, cell[column], cell[f"{column}_iii"], "differs from Table III"


def contradictions_of_table_v():
    """Find numbers of Table V that its own totals, or Table II, contradict.

    Yields
    ------
    tuple
        As of `unattainable_cells`.
    """
    table_ii = paper_table("ii").set_index("dataset")
    for row in paper_table("v").fillna({"test": 0}).itertuples():
        name = row.dataset.upper()
        n_missing = sum(int(number) for number in row.missing_total.split("+"))
        percent = 100 * n_missing / ((row.train + row.test) * row.attributes)
        if abs(percent - row.missing_percent) > HALF:
            why = "total over instances times attributes"
            yield "v", f"{name} missing ratio", row.missing_percent, percent, why
        if row.missing_attributes > row.attributes:
            why = "more attributes with missing values than attributes"
            yield "v", f"{name} attributes with missing values", row.missing_attributes, np.nan, why
        for column in ("attributes", "classes"):
            value = getattr(row, column)
            implied = table_ii[column].get(row.dataset, np.nan)
            if value != implied and not np.isnan(implied):
                yield "v", f"{name} {column}", value, implied, "differs from Table II"


def cell_label(cell):
    """Words for a printed cell, such as "IRIS NB+ELR"."""
    learner = STRUCTURE_LABELS[cell["structure"]] + cell["learner"].upper()
    return f"{cell['dataset'].upper()} {learner}"
