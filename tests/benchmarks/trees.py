"""Trees and their ensembles beside scikit-learn's, a part of `make bench`.

Their rows stand in data/benchmarks/speed.json, too.

How one tree grows with its rows is in data/benchmarks/trees.json: `python -m tests.benchmarks.run
--only trees`.
"""

import json
from functools import partial

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from lib import datasets
from lib.ensembles import AdaBoostM1, Bagging
from lib.trees import GainRatioTree
from tests.benchmarks.elr_times import write as write_alone
from tests.benchmarks.jobs import alternate, row
from tests.benchmarks.run import RESULTS as SPEED
from tests.benchmarks.run import table

N_TREES = 50
GROWTH = SPEED.with_name("trees.json")
SIZES = {1_000: 20, 10_000: 7, 100_000: 5, 1_000_000: 3}  # rows of a tree, and repetitions


def compare(job, ours, peer, X, y, repetitions=7):
    """Times of two learners, each a tree or of as many trees."""
    times = alternate(lambda: ours.fit(X, y), lambda: peer.fit(X, y), repetitions=repetitions)
    numbers = [len(getattr(learner, "estimators_", [learner])) for learner in (ours, peer)]
    if numbers[0] != numbers[1]:
        raise AssertionError(f"{job}: {numbers} trees")
    return row(job, times[:, 0], times[:, 1], "s", None, None)


def rows():
    letter = datasets.load("letter")
    iris = datasets.load("iris")
    pima = datasets.load("pima")
    letters = letter.X.to_numpy(float)[:16_000]
    y = letter.y[:16_000]
    peer = DecisionTreeClassifier(criterion="entropy", random_state=0)
    full = GainRatioTree(pruning=None, min_leaf=1)
    bagged = (
        Bagging(full, N_TREES, random_state=0),
        BaggingClassifier(peer, N_TREES, random_state=0),
    )
    few = DecisionTreeClassifier(
        criterion="entropy", min_weight_fraction_leaf=20 / len(pima.y), random_state=0
    )
    boosted = AdaBoostM1(
        GainRatioTree(pruning=None, min_leaf=20), N_TREES, sampling=False, random_state=0
    )
    return [
        compare("tree of 16,000 letters; scikit-learn", full, peer, letters, y),
        compare("the same, pruned; scikit-learn, not pruned", GainRatioTree(), peer, letters, y),
        compare(
            "tree of IRIS, pruned; scikit-learn", GainRatioTree(), peer, iris.X.to_numpy(), iris.y
        ),
        compare(
            f"{N_TREES} bagged trees, PIMA; scikit-learn", *bagged, pima.X.to_numpy(float), pima.y
        ),
        compare(
            f"{N_TREES} trees boosted by weights, PIMA; scikit-learn",
            boosted,
            AdaBoostClassifier(few, n_estimators=N_TREES, random_state=0),
            pima.X.to_numpy(float),
            pima.y,
        ),
    ]


def write(rows):
    """Write rows instead of older ones of the same jobs."""
    results = json.loads(SPEED.read_text(encoding="utf-8"))
    print(table(rows))
    jobs = {row["job"] for row in rows}
    results["rows"] = [row for row in results["rows"] if row["job"] not in jobs] + rows
    SPEED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def draw(size):
    """Nine numbers a row, of which two decide the class; every twentieth label is wrong."""
    rng = np.random.default_rng(0)
    X = rng.random((size, 9))
    return X, (X[:, 0] + X[:, 1] > 1) ^ (rng.random(size) < 0.05)


def growth(sizes=SIZES):
    """Seconds of a pruned tree, and of scikit-learn's with as many leaves, by rows."""
    for size, repetitions in sizes.items():
        sample = draw(size)
        tree = GainRatioTree()
        leaves = tree.fit(*sample).n_leaves_
        peer = DecisionTreeClassifier(
            criterion="entropy", max_leaf_nodes=max(leaves, 2), random_state=0
        )
        fits = [partial(learner.fit, *sample) for learner in (tree, peer)]
        times = alternate(*fits, repetitions=repetitions)
        for learner, seconds in zip(("C4.5", "scikit-learn"), times.min(axis=0), strict=True):
            yield {
                "rows": size,
                "learner": learner,
                "leaves": leaves,
                "seconds": float(f"{seconds:.4g}"),
            }


def run(machine):
    write(rows())
    write_alone(growth(), machine, GROWTH)
