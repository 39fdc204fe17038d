"""Training times of ELR and an SVM, ours as `make bench` has measured them, beside those of Table IX."""

import pandas as pd

from lib.benchmarks import RESULTS, read_benchmarks
from lib.experiments.elr_data import SAME_DATA
from lib.experiments.greiner_printed import PRINTED, printed

TIMES = RESULTS.with_name("elr_times.json")
KEYS = ["dataset", "structure", "stopping"]


def training_times(path=TIMES):
    """Seconds in which ELR learns from all training parts of one repetition, without and with cross-tuning.

    Parameters
    ----------
    path : path of a file that `make bench` has written

    Returns
    -------
    DataFrame
        dataset, structure ("naive" or "tan"), stopping ("without" or "with" cross-tuning), ours (NaN where the data set
        was not to be had), printed. All of Table IX in its order, without the averages; DIABETES has the times of PIMA,
        the same data.

    Raises
    ------
    ValueError
        If there is no such file, or it is broken.
    """
    cells = printed("ix").query("dataset != 'average'").set_index(KEYS[:2]).rename_axis(columns="stopping")
    cells = cells.stack().rename("printed").reset_index()
    found = cells.merge(_measured("elr", path), on=KEYS, how="left", validate="one_to_one")
    return found[[*KEYS, "ours", "printed"]]


def svm_times(path=TIMES):
    """The same of the SVM: dataset, ours, printed (whole minutes), protocol ("CV5" or "Train/Test")."""
    cells = pd.read_csv(PRINTED / "greiner_table_ix_svm.csv").query("dataset != 'average'")
    ours = _measured("svm", path)[["dataset", "ours"]]
    found = cells.rename(columns={"seconds": "printed"}).merge(ours, how="left", validate="one_to_one")
    return found[["dataset", "ours", "printed", "protocol"]]


def _measured(learner, path):
    rows, _ = read_benchmarks(path)
    twins = [rows[rows["dataset"] == name].assign(dataset=twin) for twin, name in SAME_DATA.items()]
    rows = pd.concat([rows, *twins])
    return rows[rows["learner"] == learner].rename(columns={"seconds": "ours"})[[*KEYS, "ours"]]
