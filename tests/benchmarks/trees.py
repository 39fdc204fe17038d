"""Trees and their ensembles beside scikit-learn's, a part of `make bench`: more rows of data/benchmarks/speed.json."""

import json

from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from lib import datasets
from lib.ensembles import AdaBoostM1, Bagging
from lib.trees import GainRatioTree
from tests.benchmarks.jobs import alternate, row
from tests.benchmarks.run import RESULTS as SPEED
from tests.benchmarks.run import table

N_TREES = 50


def beside(job, ours, peer, X, y, repetitions=7):
    """Times of two learners, each a tree or of as many trees."""
    times = alternate(lambda: ours.fit(X, y), lambda: peer.fit(X, y), repetitions=repetitions)
    numbers = [len(getattr(learner, "estimators_", [learner])) for learner in (ours, peer)]
    if numbers[0] != numbers[1]:
        raise AssertionError(f"{job}: {numbers} trees")
    return row(job, times[:, 0], times[:, 1], "s", None, None)


def rows():
    letter, iris, pima = (datasets.load(name) for name in ("letter", "iris", "pima"))
    letters, y = letter.X.to_numpy(float)[:16_000], letter.y[:16_000]
    peer = DecisionTreeClassifier(criterion="entropy", random_state=0)
    full = GainRatioTree(pruning=None, min_leaf=1)
    bagged = Bagging(full, N_TREES, random_state=0), BaggingClassifier(peer, N_TREES, random_state=0)
    few = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=20 / len(pima.y), random_state=0)
    boosted = AdaBoostM1(GainRatioTree(pruning=None, min_leaf=20), N_TREES, sampling=False, random_state=0)
    return [
        beside("tree of 16,000 letters; scikit-learn", full, peer, letters, y),
        beside("the same, pruned; scikit-learn, not pruned", GainRatioTree(), peer, letters, y),
        beside("tree of IRIS, pruned; scikit-learn", GainRatioTree(), peer, iris.X.to_numpy(), iris.y),
        beside(f"{N_TREES} bagged trees, PIMA; scikit-learn", *bagged, pima.X.to_numpy(float), pima.y),
        beside(
            f"{N_TREES} trees boosted by weights, PIMA; scikit-learn",
            boosted,
            AdaBoostClassifier(few, n_estimators=N_TREES, random_state=0),
            pima.X.to_numpy(float),
            pima.y,
        ),
    ]


def write(measured):
    """Put rows in place of those measured before."""
    results = json.loads(SPEED.read_text(encoding="utf-8"))
    print(table(measured))
    jobs = {row["job"] for row in measured}
    results["rows"] = [row for row in results["rows"] if row["job"] not in jobs] + measured
    SPEED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def run(_):
    write(rows())
