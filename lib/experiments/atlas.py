"""What Atlas prints: confusion tables, accuracies, bins and class means, as data to compare with."""

import itertools
from functools import cache
from pathlib import Path

import pandas as pd

from lib.discretize import CutPoints
from lib.evaluation import confusion_range, confusion_table, nearest_fold
from lib.validation import check_choice

DATASETS = ("iris", "breast", "glass", "soybean-small", "vote")
LEARNERS = ("winnow", "naive_bayes_boolean", "naive_bayes")
PRINTED = Path(__file__).parents[2] / "data" / "paper"


@cache
def printed_confusions():
    """Tables 2 to 7 and 9 to 14: table, dataset, learner, predicted, actual, count."""
    return pd.read_csv(PRINTED / "atlas_confusion.csv", dtype={"predicted": str, "actual": str})


@cache
def printed_accuracies():
    """The accuracies of section 4: dataset, learner, percent, quote; and n_correct, n_test of the table behind each."""
    table = printed_confusions()
    counts = table.assign(correct=table["count"].where(table["predicted"] == table["actual"], 0))
    counts = counts.groupby(["dataset", "learner"], as_index=False).agg(
        table=("table", "first"), n_correct=("correct", "sum"), n_test=("count", "sum")
    )
    return pd.read_csv(PRINTED / "atlas_accuracy.csv").merge(counts, on=["dataset", "learner"])


@cache
def printed_means():
    """Table 8, class means of glass by class and column; NaN where the print cannot be read."""
    return pd.read_csv(PRINTED / "atlas_means.csv", dtype={"class": str}).set_index("class")


def printed_bins(dataset):
    """The bins of Table 1 (iris) or section 4.3 (glass).

    Parameters
    ----------
    dataset : {"iris", "glass"}

    Returns
    -------
    CutPoints
        Of iris petal lengths in (5, 5.5] are in no bin, as printed. Of glass each number printed is taken as the upper
        end of a bin, with one more bin above the last.
    """
    rows = pd.read_csv(PRINTED / "atlas_bins.csv")
    check_choice("dataset", dataset, rows["dataset"].unique())
    bins = {}
    for column, part in rows[rows["dataset"] == dataset].groupby("column", sort=False):
        pairs = list(zip(part["low"], part["high"], strict=True))
        gaps = any(low != high for (_, high), (low, _) in itertools.pairwise(pairs))
        bins[column] = part["high"].tolist() if dataset == "glass" else pairs if gaps else part["low"].tolist()[1:]
    return CutPoints(bins)


def beside_printed(counts, dataset, classes, learners):
    """The printed confusion tables of a data set beside ours.

    Parameters
    ----------
    counts : DataFrame
        As `uci_confusions` returns it.
    dataset : str
    classes, learners : sequences of str

    Returns
    -------
    tables : dict of learner to dict
        "printed" (None where there is none), "a fold of ours", whose test set is nearest to the printed one in its
        counts of classes, and the mean with 5% and 95% quantiles over all folds; empty if `counts` has no such set.
    distance : int
        Sum of the differences in class counts between the printed fold and ours.
    """
    mine, paper = counts[counts["dataset"] == dataset], printed_confusions().query("dataset == @dataset")
    if mine.empty:
        return {}, 0
    one = paper[(paper["table"] == paper["table"].iloc[0]) & (paper["learner"] == paper["learner"].iloc[0])]
    repeat, fold, distance = nearest_fold(mine, one.groupby("actual")["count"].sum().reindex(classes))
    n_folds, tables = len(mine[["repeat", "fold"]].drop_duplicates()), {}
    for learner in learners:
        theirs, ours = (frame[frame["learner"] == learner] for frame in (paper, mine))
        near = ours[(ours["repeat"] == repeat) & (ours["fold"] == fold)]
        mean, ends = confusion_table(ours, classes, n_folds), confusion_range(ours, classes, n_folds)
        tables[learner] = {
            "printed": confusion_table(theirs, classes) if len(theirs) else None,
            "a fold of ours": confusion_table(near, classes),
            "our folds: mean, 5–95%": (mean, *ends),
        }
    return tables, distance
