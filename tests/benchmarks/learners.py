"""How each learner of lib grows with the rows, a part of `tests.benchmarks.scaling`.

Each has a process of its own, in one thread. What is measured is a fit, after one of few rows, for
which kernels are compiled: seconds of the processor, and the peak of memory above what was there
before the fit, which is lib and the table. A fit that takes longer than the cap, by the clock on
the wall, is stopped, as are those of more rows.

    python -m tests.benchmarks.learners Winnow 60 10000 100000

measures one learner with a cap of 60 seconds, and `python -m tests.benchmarks.scaling --only
learners` all of them.
"""

import json
import math
import signal
import subprocess
import sys
import warnings
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from lib.bayes_net import BayesNetClassifier
from lib.discretize import ClassSeparatingCuts, CutPoints, EntropyDiscretizer, OneHot
from lib.ensembles import AdaBoostM1, AdaBoostM2, AdaBoostOC, Bagging, OutputCode
from lib.experts import MixtureOfExperts
from lib.hidden_markov import HiddenMarkovModel
from lib.latent_class import (
    LatentClassCovariance,
    LatentClassEM,
    LatentClassGibbs,
    LatentClassSelection,
)
from lib.naive_bayes import NaiveBayes, SelectiveNaiveBayes
from lib.relevance import Schemata, VariableKernel, relieff
from lib.rules import Ripper, TreeRules
from lib.spelling import ContextBayes, InterpolatedBayes, WinSpell
from lib.structures import bdeu_search, bic_search, chow_liu, k2
from lib.trees import GainRatioTree, OptionTree
from lib.winnow import Winnow, WinnowEnsemble
from tests.benchmarks.run import machine, seconds

REPOSITORY = Path(__file__).parents[2]
SIZES = (10_000, 100_000)
FEW = 500  # rows of the first fit
CAP = 60  # seconds
N_COLUMNS = 20
N_WORDS = 2_000
TREE = GainRatioTree()

# what is fitted, by the kind of its table
LEARNERS = {
    "mixed": {
        "NaiveBayes": NaiveBayes(),
        "GainRatioTree": TREE,
        "OptionTree": OptionTree(TREE),
        "Ripper": Ripper(random_state=0),
        "TreeRules": TreeRules(),
        "Bagging": Bagging(TREE, n_members=10, random_state=0),
        "AdaBoostM1": AdaBoostM1(TREE, n_members=10, random_state=0),
        "AdaBoostM2": AdaBoostM2(TREE, n_members=10, random_state=0),
        "AdaBoostOC": AdaBoostOC(TREE, n_members=10, random_state=0),
        "OutputCode": OutputCode(TREE, random_state=0),
        "EntropyDiscretizer": EntropyDiscretizer(),
        "ClassSeparatingCuts": ClassSeparatingCuts(),
        "CutPoints": CutPoints({f"x{j}": [-1.0, 0.0, 1.0] for j in range(N_COLUMNS // 2)}),
        "OneHot": make_pipeline(EntropyDiscretizer(), OneHot()),
    },
    "categories": {
        "SelectiveNaiveBayes": SelectiveNaiveBayes(),
        "BayesNetClassifier": BayesNetClassifier("tan", "elr", random_state=0),
        "BayesNetClassifier, frequencies": BayesNetClassifier("tan", "ofe"),
        "bic_search": bic_search,
        "chow_liu": lambda X, y: chow_liu(X),
        "k2": lambda X, y: k2(X, range(N_COLUMNS)),
        "bdeu_search": lambda X, y: bdeu_search(X),
    },
    "categories, 5% missing": {
        "BayesNetClassifier, missing values": BayesNetClassifier("tan", "elr", random_state=0),
    },
    "numbers": {
        "MixtureOfExperts": MixtureOfExperts(random_state=0),
        "VariableKernel": VariableKernel(),
        "Schemata": Schemata(random_state=0),
        "relieff": partial(relieff, random_state=0),
        "relieff, 500 draws": partial(relieff, n_draws=500, random_state=0),
    },
    "booleans": {
        "Winnow": Winnow(complement=True, n_passes=20, random_state=0),
        "WinnowEnsemble": WinnowEnsemble(random_state=0),
        "LatentClassEM": LatentClassEM(random_state=0),
        "LatentClassCovariance": LatentClassCovariance(),
        "LatentClassGibbs": LatentClassGibbs(random_state=0),
        "LatentClassSelection": LatentClassSelection(random_state=0),
    },
    "words": {
        "WinSpell": WinSpell(random_state=0),
        "ContextBayes": ContextBayes(),
        "InterpolatedBayes": InterpolatedBayes(),
    },
    "symbols": {"HiddenMarkovModel": HiddenMarkovModel(5, random_state=0)},
}
KINDS = {name: kind for kind, learners in LEARNERS.items() for name in learners}


def table(kind, n_rows):
    """Draw attributes and two classes, of which 10% are wrong."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, N_COLUMNS))
    y = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + numbers[:, -1] > 0
    y = (y ^ (rng.random(n_rows) < 0.1)).astype(int)
    if kind == "numbers":
        return numbers, y
    if kind == "booleans":
        return (numbers > 0).astype(np.uint8), y
    if kind == "symbols":
        return [rng.integers(20, size=n_rows)], y
    if kind == "words":
        # fifteen words a row, some of them twice; the first hundred go with the second class
        words = rng.integers(N_WORDS, size=(n_rows, 15))
        words[:, 0] = np.where(y == 1, words[:, 0] % 100, words[:, 0])
        X = np.zeros((n_rows, N_WORDS), np.uint8)
        np.put_along_axis(X, words, 1, axis=1)
        return sparse.csr_array(X), y
    categories = np.digitize(numbers, [-1, 0, 1])
    if kind == "categories":
        return categories, y
    is_missing = rng.random(numbers.shape) < 0.05
    if kind == "categories, 5% missing":
        return pd.DataFrame(categories, dtype="Int64").mask(is_missing), y
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(N_COLUMNS)])
    for name in frame.columns[N_COLUMNS // 2 :]:
        frame[name] = np.array(list("abcd"))[np.digitize(frame[name], [-1, 0, 1])]
    return frame.mask(is_missing), y


def fit(name, n_rows, cap=0):
    """Fit once, and return seconds of the processor and MiB above what was there before.

    The process ends after `cap` seconds of fitting, if that is not 0.
    """
    kind = KINDS[name]
    learner = LEARNERS[kind][name]
    call = getattr(learner, "fit", learner)
    X, y = table(kind, n_rows)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    memory = memory_of_process("VmRSS")
    signal.setitimer(signal.ITIMER_REAL, cap)
    spent = seconds(partial(call, X, y))
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"seconds": spent, "memory": memory_of_process("VmHWM") - memory}


def memory_of_process(field):
    """A field of Linux's status of this process, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"/proc/self/status has no {field}")


def measure(names=tuple(KINDS), sizes=SIZES, cap=CAP):
    """Yield the growth of each learner.

    Yields
    ------
    dict
        learner, data, seconds and memory (MiB; lists, None where a fit was stopped), and exponent,
        b in seconds ~ rows^b between the first two sizes, or None.
    """
    for name in names:
        arguments = [name, *map(str, (cap, *sizes))]
        command = [sys.executable, "-m", "tests.benchmarks.learners", *arguments]
        process = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        if process.returncode not in (0, -signal.SIGALRM):
            raise RuntimeError(f"{name} failed: {process.stderr}")
        fits = [json.loads(line) for line in process.stdout.splitlines()]
        exponent = None
        if len(fits) > 1:
            ratio = fits[1]["seconds"] / fits[0]["seconds"]
            exponent = round(math.log(ratio) / math.log(sizes[1] / sizes[0]), 2)
        n_stopped = len(sizes) - len(fits)
        yield {
            "learner": name,
            "data": KINDS[name],
            "seconds": [float(f"{fit['seconds']:.3g}") for fit in fits] + [None] * n_stopped,
            "memory": [round(fit["memory"]) for fit in fits] + [None] * n_stopped,
            "exponent": exponent,
        }


def results():
    """Measure all learners, print a line for each, and return what scaling.json has of them."""
    rows = []
    for row in measure():
        print(line(row), flush=True)
        rows.append(row)
    return {
        "rows": rows,
        "sizes": SIZES,
        "cap": CAP,
        "columns": N_COLUMNS,
        "machine": machine(),
        "date": date.today().isoformat(),
    }


def line(row, sizes=SIZES):
    """A measured learner as one line of text."""
    cells = []
    for size, spent, memory in zip(sizes, row["seconds"], row["memory"], strict=True):
        words = "stopped" if spent is None else f"{spent:g} s, {memory} MiB"
        cells.append(f"{size:,} rows: {words}")
    exponent = "" if row["exponent"] is None else f"rows^{row['exponent']:.2f}"
    return f"{row['learner']:<36}" + "".join(f"{cell:<34}" for cell in cells) + exponent


def main(name, cap, *sizes):
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        fit(name, FEW)
        for size in sizes:
            print(json.dumps(fit(name, int(size), float(cap))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
