"""Winnow on the contexts of words beside scikit-learn, RIPPER beside Weka's JRip: `... --only words` of `make bench`.

Adds rows to data/benchmarks/speed.json; without the novels (see lib.texts) or without Weka's jar some are left out.
"""

import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier

from lib import datasets
from lib.rules import Ripper
from lib.spelling import WinSpell, contexts
from lib.texts import NotAvailableError, read_texts, tokenize
from lib.winnow import Winnow
from tests.benchmarks.jobs import alternate, row
from tests.benchmarks.run import RESULTS as SPEED
from tests.benchmarks.run import table

WORDS, N_PASSES = ("than", "then"), 5
WEKA = Path("/usr/share/java/weka.jar")


def of_words():
    """One Winnow, and the ten of WinSpell, beside a perceptron by stochastic gradient descent."""
    tokens = [token for text in read_texts().values() for token in tokenize(text)]
    X, y = contexts(tokens, WORDS), np.array([token for token in tokens if token in WORDS])
    floats = X.astype(float)
    peer = SGDClassifier(loss="perceptron", max_iter=N_PASSES, tol=None, shuffle=False)
    one = Winnow(promotion=1.5, demotion=0.5, threshold=1.0, initial_weight=0.1, n_passes=N_PASSES)
    text = f"{X.shape[0]:,} contexts of {'/'.join(WORDS)}; SGDClassifier"
    for name, learner in {"Winnow": one, "WinSpell": WinSpell(n_passes=N_PASSES)}.items():
        times = alternate(lambda: learner.fit(X, y), lambda: peer.fit(floats, y), repetitions=5)  # noqa: B023
        yield row(f"{name}, {text}", times[:, 0], times[:, 1], "s", None, None)


def weka(learner, path):
    """Seconds of the processor that Weka takes to start, to read a table and to learn from it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["java", "-cp", str(WEKA), f"weka.classifiers.rules.{learner}", "-t", path, "-no-cv", "-o"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_rules(name="waveform-21", repetitions=3):
    """RIPPER beside JRip, from whose seconds those of a rule without conditions are taken: to start and to read."""
    data = datasets.load(name)
    ours = alternate(lambda: Ripper(random_state=0).fit(data.X, data.y), repetitions=repetitions)[:, 0]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.csv")
        data.X.assign(target=[f"class {y}" for y in data.y]).to_csv(path, index=False)
        theirs = np.array([weka("JRip", path) - weka("ZeroR", path) for _ in range(repetitions)])
    yield row(f"RIPPER, {len(data.y):,} rows of {name}; Weka's JRip", ours, theirs, "s", None, None)


def rows():
    try:
        yield from of_words()
    except NotAvailableError as error:
        print(f"left out: {error}")
    if WEKA.exists():
        yield from of_rules()
    else:
        print(f"left out: RIPPER, as there is no {WEKA}")


def run(_):
    """Measure them, in place of those measured before."""
    measured, results = list(rows()), json.loads(SPEED.read_text(encoding="utf-8"))
    print(table(measured))
    jobs = {row["job"] for row in measured}
    results["rows"] = [row for row in results["rows"] if row["job"] not in jobs] + measured
    SPEED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
