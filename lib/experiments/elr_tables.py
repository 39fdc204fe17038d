"""Our results beside the printed cells of Tables III to VIII, and tests over data sets.

Greiner et al. (2005) print accuracies or errors in percent, with standard errors.
"""

import numpy as np
import pandas as pd

from lib.datasets.papers import printed_table
from lib.evaluation import (
    for_picking,
    mean_interval,
    mean_over_sets,
    one_sided_p_values,
    paired_row_error,
)
from lib.experiments.elr_data import (
    PUBLISHED_SPLIT,
    PUBLISHED_SPLIT_INCOMPLETE,
    SAME_DATA,
    TRAINING_SIZES,
    paper_table,
)
from lib.experiments.uci import family_of, mean_by_family

CELL = ["dataset", "structure", "learner"]
AGREE = 2.0  # standard errors
# All runs test the same rows of these, or nearly: 4,700 of the 5,000 of waveform-21.
SAME_TEST_ROWS = {*PUBLISHED_SPLIT, *PUBLISHED_SPLIT_INCOMPLETE, "waveform-21"}


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
        The labels, value, se (root mean square: of one repeat, not of their mean), low and high (of
        the repeats' values), n_repeats.
    """
    with_squares = results.assign(square=results["se"] ** 2)
    means = with_squares.groupby(_labels(results), sort=False).agg(
        value=("value", "mean"),
        se=("square", "mean"),
        low=("value", "min"),
        high=("value", "max"),
        n_repeats=("value", "size"),
    )
    means["se"] = np.sqrt(means["se"])
    return means.reset_index()


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
        dataset, structure, learner, printed, printed_se, ours, se, low, high, n_repeats, z, in the
        order of the table; NaN where we have none. Errors in Table VI, else accuracies, in percent.
        z is (ours - printed) over the root of the sum of the squares of both standard errors, which
        are those of one run of the experiment. The paper's is taken as binomial where it prints
        none for a single test set.
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
    cells = cells.dropna(subset="z")
    is_repeated = cells["n_repeats"] > 1
    # the paper prints two decimals
    is_in_range = cells["printed"].between(cells["low"] - 0.005, cells["high"] + 0.005)
    counts = cells.assign(
        within=cells["z"].abs() <= AGREE,
        n_repeated=is_repeated,
        inside=is_repeated & is_in_range,
        difference=cells["ours"] - cells["printed"],
    )
    columns = counts.groupby(["structure", "learner"], sort=False).agg(
        n=("z", "size"),
        within=("within", "sum"),
        n_repeated=("n_repeated", "sum"),
        inside=("inside", "sum"),
        mean_difference=("difference", "mean"),
    )
    return columns.reset_index()


def self_agreement(results):
    """Share of our repeats that are within two standard errors of the mean of the other repeats.

    Like `agreement` it compares one run with the mean of several: so often would a re-run of ours
    agree. NaN without repeats.
    """
    values = results[["value"]].assign(square=results["se"] ** 2)
    groups = values.groupby([results[name] for name in _labels(results)])
    n_repeats = groups["value"].transform("size")
    # the mean of the others: the sum of all less one's own
    others = (groups.transform("sum") - values).div(n_repeats - 1, axis=0)
    z = z_scores(values["value"] - others["value"], results["se"], np.sqrt(others["square"]))
    agrees = pd.Series(np.abs(z) <= AGREE, index=results.index)
    return agrees[n_repeats > 1].mean()


def errors_by_dataset(results):
    """Average the errors of each learner over repeats, in percent.

    Returns
    -------
    DataFrame
        A row a data set, a column named structure+learner, or learner, for each.
    """
    names = _pair_names(results)
    means = results.assign(column=names).groupby(["dataset", "column"], sort=False)["value"].mean()
    return (100 - means).unstack("column")[list(dict.fromkeys(names))].round(9)


def _pair_names(frame):
    """Such as "naive+elr", or "tree" of a learner without a structure."""
    return frame["structure"] + "+" + frame["learner"] if "structure" in frame else frame["learner"]


def errors_by_split(frame):
    """Compute the error of each learner on each split, in percent.

    Parameters
    ----------
    frame : DataFrame
        As `scores` takes it, of one kind of test rows.

    Returns
    -------
    DataFrame
        A row a split, indexed by dataset, repeat, fold and n_test, with the columns of
        `errors_by_dataset`.
    """
    names = _pair_names(frame)
    errors = frame.assign(column=names, error=100 * frame["n_wrong"] / frame["n_test"])
    splits = errors.set_index(["dataset", "repeat", "fold", "n_test", "column"])["error"]
    # unstack sorts, and the order of the data sets is wanted
    splits = splits.unstack("column")[list(dict.fromkeys(names))]
    return splits.reindex(list(dict.fromkeys(frame["dataset"])), level="dataset")


def mean_gain(errors, pair, than=None, n_pairs=1):
    """Mean over families of data sets of what a learner gains on another, in points.

    Parameters
    ----------
    errors : DataFrame
        As `errors_by_split` returns them; data sets that lack a column are left out.
    pair : tuple of str
        Columns: better, worse. The gain is the error of the second less that of the first.
    than : tuple of str, optional
        Another pair, whose gain is subtracted.
    n_pairs : int
        Of as many gains the smallest or largest is picked: intervals allow for it.

    Returns
    -------
    lib.evaluation.OverSets
        Its interval on these sets is about other divisions of the same rows. Where all runs test
        the same rows, or there is a single one, it is about other rows for testing, and other runs.
    """
    gains = []
    row_errors = []
    for better, worse in [pair, than] if than else [pair]:
        both = errors[[better, worse]].dropna()
        gains.append(both[worse] - both[better])
        row_errors.append(_row_errors(both))
    gain, row_error = gains[0], row_errors[0]
    if than:
        gain = (gain - gains[1]).dropna()
        # no standard error of a difference is larger than the sum of both
        row_error = (row_error + row_errors[1]).dropna()
    confidence = for_picking(n_pairs)
    return mean_over_sets(gain, _test_fractions(gain), family_of, row_error, confidence)


def _row_errors(pair):
    """By data set, the standard error in points of what the same test rows say in every run."""
    rows = pair.reset_index(["repeat", "fold", "n_test"])
    sets = rows.groupby("dataset", sort=False)
    has_one_fold = sets["fold"].nunique() == 1
    are_same_rows = has_one_fold & (sets.size().eq(1) | has_one_fold.index.isin(SAME_TEST_ROWS))
    first, second = (sets[name].mean() / 100 for name in pair)
    errors = 100 * paired_row_error(first, second, sets["n_test"].first())
    return pd.Series(errors, index=has_one_fold.index)[are_same_rows]


def _test_fractions(splits):
    """By data set, the share of its rows that a split tests."""
    rows = splits.index.to_frame(index=False).groupby("dataset", sort=False)
    n_folds = rows["fold"].nunique()
    n_test = rows["n_test"].first()
    n_train = paper_table("ii").set_index("dataset")["train"].reindex(n_test.index)
    fractions = (n_test / (n_test + n_train)).mask(n_folds > 1, 1 / n_folds)
    # samples from all inputs that there are, which are all tested
    is_sample = fractions.index.isin(list(TRAINING_SIZES)) & n_folds.eq(1)
    # that of a set of Table V, with its one test set, does not count
    return fractions.mask(is_sample, 0.0).fillna(0.0)


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
    pair = errors.reindex(columns=[better, worse])
    gain = (pair[worse] - pair[better]).dropna()
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


def compare_over_sets(errors, better, worse):
    """Compare two columns of errors by split over families of data sets.

    Parameters
    ----------
    errors : DataFrame
        As `errors_by_split` returns them.
    better, worse : str
        Columns.

    Returns
    -------
    dict
        As `compare` returns it, but low and high are on these sets (see `mean_gain`); like_low and
        like_high are on sets like these, of which p and the counts are, too.
    """
    by_dataset = errors.groupby("dataset", sort=False).mean().round(9)
    gain = mean_gain(errors, (better, worse))
    return compare(by_dataset, better, worse, by_family=True) | gain._asdict()


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
    sizes = paper_table("v" if table == "vi" else "ii").set_index("dataset")
    n_test = pd.to_numeric(sizes["test"], errors="coerce")  # NaN under cross-validation
    n_in_folds = sizes["train"] // 5 * 5
    return pd.DataFrame(
        {
            "n": n_test.fillna(n_in_folds).astype(int),
            "folds": np.where(n_test.isna(), 5, 1),
        }
    )
