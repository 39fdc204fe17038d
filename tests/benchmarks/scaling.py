"""How time and memory grow: `python -m tests.benchmarks.scaling`, a part of `make bench`.

Writes data/benchmarks/scaling.json. Times are the processor's, in one thread, each the least of
some repetitions, of fits that do a fixed number of iterations. Only the efficiency of two workers
is by the clock on the wall. `--only learners` measures how each learner of lib grows with the rows,
in a few minutes, and leaves the rest of the file as it is.
"""

import argparse
import json
import pickle
import subprocess
import sys
import time
import warnings
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from lib.bayes_net import BayesNetClassifier
from lib.cia import _mean_difficulty, concentration, random_cia
from lib.experiments import SIZES, Panel, cia_learners, cia_learning_curves, learning_curve
from lib.latent_class import LatentClassCovariance, LatentClassEM
from lib.trials import Seeds
from lib.trials.runner import _run_block
from lib.winnow import WinnowEnsemble
from tests.benchmarks import learners
from tests.benchmarks.run import machine, seconds

RESULTS = Path(__file__).parents[2] / "data" / "benchmarks" / "scaling.json"
REPETITIONS = 3
ROWS = 2_000
COLUMNS = 100
AXES = {
    "s": [1_000, 3_000, 10_000, 30_000, 100_000],
    "n": [20, 60, 200, 600, 2_000],
    "restarts": [5, 10, 20, 40, 80],
    "k": [2, 4, 8, 16],
    "rows": [1_000, 3_000, 10_000, 30_000, 100_000],
    "classes": [2, 4, 8, 16],
    "models": [4, 8, 16, 32],
}
LEARNERS = {
    "em": LatentClassEM(max_iterations=20, tolerance=0, random_state=0),
    "cov": LatentClassCovariance(),
    "winnow": WinnowEnsemble(random_state=0),
}
ELR = BayesNetClassifier("tan", "elr", n_iterations=20, tolerance=1e-300)
# of the largest sample, whose memory is measured
EXAMPLES = 100_000
ATTRIBUTES = 2_000
LARGE = (75, 500, 2_000, 10_000)  # attributes of the panels whose cost is measured for the plan
PANEL = {"n_hidden": 5, "sizes": SIZES, "seed": 0}
PEAK = r"""
import re, sys
import numpy as np
from lib.cia import random_cia
from tests.benchmarks.scaling import LEARNERS, clone
name, size, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X, y, _ = random_cia(n, 3, 1.0, np.random.default_rng(0)).sample(size, np.random.default_rng(1))
if name != "sample":
    clone(LEARNERS[name]).fit(X, y)
print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""
WORKER = r"""
import re, sys
from lib.experiments import cia_learning_curves
from tests.benchmarks.scaling import PANEL
panel = PANEL | {"sizes": PANEL["sizes"][-1:]}
cia_learning_curves(int(sys.argv[1]), n_models=1, n_jobs=1, **panel)
print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def sample(size, n):
    model = random_cia(n, 3, 1.0, np.random.default_rng(0))
    X, y, _ = model.sample(size, np.random.default_rng(1))
    return X, y


def least(call, repetitions=REPETITIONS):
    """Least time of some calls."""
    return min(seconds(call) for _ in range(repetitions))


def fits():
    """Seconds of a fit of each learner against s, n, its restarts and hidden values.

    The restarts of Winnow's ensemble are its members.
    """
    parameters = {
        ("em", "restarts"): "n_restarts",
        ("winnow", "restarts"): "n_members",
        ("em", "k"): "n_hidden",
    }
    for axis, name in product(("s", "n", "restarts", "k"), LEARNERS):
        parameter = parameters.get((name, axis))
        if parameter is None and axis not in ("s", "n"):
            continue  # the learner has no such parameter
        for value in AXES[axis]:
            n_rows = value if axis == "s" else ROWS
            n_columns = value if axis == "n" else COLUMNS
            X, y = sample(n_rows, n_columns)
            learner = clone(LEARNERS[name])
            if parameter:
                learner.set_params(**{parameter: value})
            yield axis, name, value, least(partial(learner.fit, X, y))


def networks():
    """Seconds of TAN, 20 iterations of ELR, against the numbers of different rows and of classes."""
    rng = np.random.default_rng(0)
    for axis in ("rows", "classes"):
        for value in AXES[axis]:
            n_rows = value if axis == "rows" else 5 * ROWS
            n_classes = value if axis == "classes" else 2
            X = rng.integers(2, size=(n_rows, 30))
            y = rng.integers(n_classes, size=n_rows)
            yield axis, "elr", value, least(partial(clone(ELR).fit, X, y))


def experiments():
    """Seconds of learning curves of all learners against the number of models."""
    for n_models in AXES["models"]:
        curves = partial(cia_learning_curves, 75, 3, sizes=[100, 1000], n_models=n_models, n_jobs=1)
        yield "models", "all", n_models, least(curves)


def peaks():
    """Peak MiB of a process that draws the largest sample, and of one that fits it, too."""
    for name in ("sample", *LEARNERS):
        command = [sys.executable, "-c", PEAK, name, str(EXAMPLES), str(ATTRIBUTES)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        yield name, float(output)


def panels():
    """Seconds of each learner for one model of a whole panel, and of the panel's calibration."""
    for n in LARGE:
        _mean_difficulty.cache_clear()
        yield n, "calibration", seconds(partial(concentration, n, PANEL["n_hidden"], 0.9))
        for name in LEARNERS:
            curves = partial(cia_learning_curves, n, learners=[name], n_models=1, n_jobs=1, **PANEL)
            yield n, name, seconds(curves)


def block(n=LARGE[-1]):
    """Bytes of a block of one model to a worker and back, and memory of the worker, in MiB."""
    trial = partial(learning_curve, sizes=PANEL["sizes"])
    contents, _, _ = _run_block(trial, [case_of(20)])
    command = [sys.executable, "-c", WORKER, str(n)]
    peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {
        "attributes": n,
        "sent": len(pickle.dumps((trial, [case_of(n)]))),
        "returned": len(contents),
        "memory": round(float(peak)),
    }


def case_of(n):
    """What the trial of the first model gets."""
    k = PANEL["n_hidden"]
    panel = Panel(n, k, 0.9, concentration(n, k, 0.9))
    return Seeds(PANEL["seed"], (0,)), panel, cia_learners(tuple(LEARNERS), k)


def efficiency(repetitions=REPETITIONS):
    """Time of the panel of 75 attributes in one process over twice that in two."""

    def wall_seconds(n_jobs):
        curves = partial(cia_learning_curves, 75, n_models=60, n_jobs=n_jobs, **PANEL)
        return seconds(curves, time.perf_counter)

    wall_seconds(2)  # starts the workers
    return [wall_seconds(1) / (2 * wall_seconds(2)) for _ in range(repetitions)]


def measure():
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        # compiles, and finds the concentration
        cia_learning_curves(75, 3, sizes=[100], n_models=1, n_jobs=1)
        ratios = efficiency()
        times = [*experiments(), *fits(), *networks()]
        costs = list(panels())
    rows = []
    for axis, name, value, spent in times:
        row = {"axis": axis, "learner": name, "value": value, "seconds": float(f"{spent:.4g}")}
        rows.append(row)
    panel_rows = []
    for n, name, spent in costs:
        row = {"n_attributes": n, "learner": name, "seconds": float(f"{spent:.4g}")}
        panel_rows.append(row)
    return {
        "rows": rows,
        "efficiency": [round(ratio, 3) for ratio in ratios],
        "panels": panel_rows,
        "block": block(),
        "peaks": {name: round(peak) for name, peak in peaks()},
        "sizes": SIZES,
        "setting": {
            "examples": EXAMPLES,
            "attributes": ATTRIBUTES,
            "rows": ROWS,
            "columns": COLUMNS,
        },
    }


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scaling", description=__doc__)
    parser.add_argument("--only", choices=["learners"], help="what to measure; by default all")
    if parser.parse_args().only:
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    else:
        results = measure() | {"machine": machine(), "date": date.today().isoformat()}
    results["learners"] = learners.results()
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({key: results[key] for key in ("efficiency", "panels", "peaks")}, indent=1))
    for row in results["rows"]:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
