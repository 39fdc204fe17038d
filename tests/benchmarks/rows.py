"""How long trees of Agrawal's people take to grow, a part of `make bench`.

`python -m tests.benchmarks.run --only rows` writes data/benchmarks/rows.json: processor seconds, in
one thread. What is timed is the code of the chapter scaling/rows, read from its notebook, and
scikit-learn's tree and boosted trees.
"""

import json
import time
from datetime import date

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from lib.datasets.agrawal import agrawal
from lib.files import LIB
from tests.benchmarks.run import RESULTS as SPEED

RESULTS = SPEED.with_name("rows.json")
CHAPTER = LIB.parent / "chapters" / "scaling" / "rows.ipynb"
# the first function of each cell
GROWERS = ("best_cuts", "sorted_lists", "assign_children", "grow_from_lists", "grow_by_sorting")
FUNCTIONS = {"bands": 2, "sum of three": 7}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
N_RUNS = 3
N_SAMPLE = 1_000
# tables with more columns, of noise, have so many rows
MORE_COLUMNS = (18, 36, 72)
ROWS_OF_MORE = 100_000


def growers():
    """The functions of the chapter that grow trees."""
    notebook = json.loads(CHAPTER.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"]]
    namespace = {"np": np}
    for name in GROWERS:
        exec(next(cell for cell in cells if cell.startswith(f"def {name}(")), namespace)
    return namespace["grow_from_lists"], namespace["grow_by_sorting"]


def procedures(grow_from_lists, grow_by_sorting, run):
    """What grows from X and y, by name; peers only once."""
    rng = np.random.default_rng(run)
    yield "sorted once", grow_from_lists
    yield "sorted at every node", grow_by_sorting
    yield f"samples of {N_SAMPLE:,} a node", lambda X, y: grow_by_sorting(X, y, N_SAMPLE, rng)
    if run == 0:
        yield "scikit-learn's tree", DecisionTreeClassifier(random_state=0).fit
        yield (
            "scikit-learn, 100 rounds on histograms",
            HistGradientBoostingClassifier(random_state=0).fit,
        )


def measure(how, grow, X, y, **row):
    start = time.process_time()
    grow(X, y)
    seconds = float(f"{time.process_time() - start:.4g}")
    return {"how": how, "rows": len(X), "columns": X.shape[1], **row, "seconds": seconds}


def rows():
    """A row for each tree that is timed; the samples of a run are the same for all."""
    grow_from_lists, grow_by_sorting = growers()
    for run in range(N_RUNS):
        for size in SIZES:
            for function, number in FUNCTIONS.items():
                table, groups = agrawal(number, size, 100 * run + number)
                X = table.to_numpy()
                y = (groups == "B").astype(int)
                for how, grow in procedures(grow_from_lists, grow_by_sorting, run):
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
