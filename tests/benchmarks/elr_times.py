"""Training times of ELR and an SVM on the data sets of Table IX (Greiner et al. 2005, App. E).

A time is the processor's, in one thread, for all training parts of one repetition: five folds, or
the single training set, as `lib.experiments.elr_uci` splits them with seed 0. Their attributes are
cut by entropy and coded beforehand. All that follows is timed: the search for TAN's tree, merging
rows and preparing them for the network, smoothed frequencies and 20 iterations of conjugate
gradients; with cross-tuning, up to 20 in each of five inner folds and then as many as these choose.
The SVM's time is that of one-hot columns and its solver.
"""

import json
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from lib.bayes_net import Cases, Network, choose_iterations, climb, fold_counts, tuning_errors
from lib.bayes_net.duplicates import merge_duplicates
from lib.datasets import NotAvailableError
from lib.experiments.elr_data import (
    N_FOLDS,
    SAME_DATA,
    SPLIT,
    TUNING,
    encode_split,
    load_task,
    paper_table,
)
from lib.experiments.elr_uci import STRUCTURES, quadratic_svm
from lib.trials import Seeds
from tests.benchmarks.run import seconds

RESULTS = Path(__file__).parents[2] / "data" / "benchmarks" / "elr_times.json"
STOPPINGS = {"without": False, "with": True}
DATASETS = tuple(paper_table("ix")["dataset"].unique()[:-1])  # without the average
REPETITIONS = 7
N_ITERATIONS = 20


def training_sets(task):
    """Codes with the class first, numbers of values and inner folds of each training set."""
    seeds = Seeds(0).below(task.name, 0)
    for fold, (train, test) in enumerate(task.splits(N_FOLDS, seeds.sequence(SPLIT))):
        codes, sizes = encode_split(task.data, train, test)
        inner = seeds.rng(TUNING, fold).permutation(len(train)) % N_FOLDS
        yield codes[: len(train)], sizes, inner


def train_elr(training_sets, structure, is_tuned):
    return [_elr(*training_set, structure, is_tuned) for training_set in training_sets]


def _elr(codes, sizes, inner, structure, is_tuned):
    network = Network(STRUCTURES[structure](codes, sizes), sizes)
    rows, index = merge_duplicates(codes[:, 1:], sizes[1:])
    counts = fold_counts(index, codes[:, 0], inner, (N_FOLDS, len(rows), int(sizes[0])))
    cases = Cases(network, rows, counts.sum(axis=0))
    n_iterations = N_ITERATIONS
    if is_tuned:
        n_iterations, _ = choose_iterations(tuning_errors(cases, "elr", counts, N_ITERATIONS))
    return climb(cases, "elr", n_iterations)


def train_svm(training_sets):
    learners = []
    for codes, sizes, _ in training_sets:
        learners.append(quadratic_svm().fit(one_hot(codes, sizes), codes[:, 0]))
    return learners


def one_hot(codes, sizes):
    """A column a value of the attributes that vary, as the SVM of Table VIII gets them."""
    varying = np.flatnonzero(np.ptp(codes[:, 1:], axis=0)) + 1
    indicators = [codes[:, [j]] == np.arange(sizes[j]) for j in varying]
    return np.concatenate(indicators, axis=1, dtype=float)


def measure(names=DATASETS, repetitions=REPETITIONS):
    """Rows of median seconds over repetitions in turn, after one to compile; why sets are missing."""
    jobs = {}
    reasons = {}
    for name in names:
        if name in SAME_DATA:
            continue
        try:
            sets = list(training_sets(load_task(name)))
        except NotAvailableError as error:
            reasons[name] = str(error)
            continue
        for structure, stopping in product(("naive", "tan"), STOPPINGS):
            is_tuned = STOPPINGS[stopping]
            jobs[name, "elr", structure, stopping] = partial(train_elr, sets, structure, is_tuned)
        jobs[name, "svm", None, None] = partial(train_svm, sets)
    with threadpool_limits(1):
        spent = [[seconds(job) for job in jobs.values()] for _ in range(1 + repetitions)]
    medians = np.median(spent[1:], axis=0)
    rows = []
    for (name, learner, structure, stopping), median in zip(jobs, medians, strict=True):
        row = {
            "dataset": name,
            "learner": learner,
            "structure": structure,
            "stopping": stopping,
            "seconds": float(f"{median:.3g}"),
        }
        rows.append(row)
    return rows, reasons


def table(rows):
    """A line a data set."""
    frame = pd.DataFrame(rows).fillna({"structure": "", "stopping": ""})
    columns = ["learner", "structure", "stopping"]
    seconds_of_sets = frame.pivot(index="dataset", columns=columns, values="seconds")
    return seconds_of_sets.reindex(frame["dataset"].unique()).to_string()


def write(rows, machine, path=RESULTS):
    """Write these rows only, so that times of different runs never stand side by side."""
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    details = json.dumps({"machine": machine, "date": date.today().isoformat()}, indent=1)
    path.write_text(f'{{\n "rows": [\n{lines}\n ],{details[1:]}\n', encoding="utf-8")


def run(machine):
    """Measure all sets of Table IX that can be had, print and write the times."""
    rows, reasons = measure()
    print(table(rows))
    for name, reason in reasons.items():
        print(f"not measured: {name}, {reason}")
    write(rows, machine)
