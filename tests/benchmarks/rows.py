"""How long trees of Agrawal's people take to grow, a part of `make bench`.

`python -m tests.benchmarks.run --only rows` writes data/benchmarks/rows.json: processor seconds, in
one thread, median of some fits, compilation left out. What is timed is `lib.trees.sorting`, and
scikit-learn's tree and boosted trees.
"""

import json
import statistics
import time
from datetime import date

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from lib.datasets.agrawal import agrawal
from lib.trees.sorting import grow_by_sorting, grow_from_lists
from tests.benchmarks.run import RESULTS as SPEED

RESULTS = SPEED.with_name("rows.json")
FUNCTIONS = {"bands": 2, "sum of three": 7}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
N_RUNS = 4
N_REPEATS = 3  # fits of which the median counts
N_SAMPLE = 1_000
# tables with more columns, of noise, have so many rows
MORE_COLUMNS = (18, 36, 72)
ROWS_OF_MORE = 100_000


def procedures(run):
    """What grows from X and y, by name; boosted trees only once."""
    yield "sorted once", grow_from_lists
    yield "sorted at every node", grow_by_sorting
    yield f"samples of {N_SAMPLE:,} a node", lambda X, y: grow_by_sorting(X, y, N_SAMPLE, run)
    yield "scikit-learn's tree", DecisionTreeClassifier(random_state=run).fit
    if run == 0:
        yield (
            "scikit-learn, 100 rounds on histograms",
            HistGradientBoostingClassifier(random_state=0).fit,
        )


def measure(how, grow, X, y, **row):
    # boosted trees are no party to a claim, and slow
    n_repeats = 1 if "histograms" in how else N_REPEATS
    seconds = []
    for _ in range(n_repeats):
        start = time.process_time()
        grow(X, y)
        seconds.append(time.process_time() - start)
    return {
        "how": how,
        "rows": len(X),
        "columns": X.shape[1],
        **row,
        "fits": n_repeats,
        "seconds": float(f"{statistics.median(seconds):.4g}"),
    }


def compile_kernels():
    """Grow small trees, so that compilation is not measured."""
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) % 3
    grow_from_lists(X, y)
    grow_by_sorting(X, y)
    grow_by_sorting(X, y, 5)


def rows():
    """A row for each tree that is timed; the samples of a run are the same for all."""
    compile_kernels()
    for run in range(N_RUNS):
        for size in SIZES:
            for function, number in FUNCTIONS.items():
                table, groups = agrawal(number, size, 100 * run + number)
                X = table.to_numpy()
                y = (groups == "B").astype(int)
                for how, grow in procedures(run):
                    yield measure(how, grow, X, y, function=function, run=run)
                if size != ROWS_OF_MORE or function != "sum of three":
                    continue
                for n_columns in MORE_COLUMNS:
                    shape = (size, n_columns - X.shape[1])
                    noise = np.random.default_rng(run).integers(0, 500_001, shape).astype(float)
                    yield measure(
                        "sorted once",
                        grow_from_lists,
                        np.hstack([X, noise]),
                        y,
                        function=function,
                        run=run,
                    )


def run(machine):
    results = {"rows": list(rows()), "machine": machine, "date": date.today().isoformat()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
