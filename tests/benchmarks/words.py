"""Winnow on the contexts of words beside scikit-learn and Vowpal Wabbit, RIPPER beside Weka's JRip.

A part of `make bench`, by itself `... --only words`. It adds rows to data/benchmarks/speed.json;
without the novels (see lib.datasets.texts), Vowpal Wabbit or Weka's jar some are left out.
"""

import json
import resource
import subprocess
import tempfile
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier

from lib import datasets
from lib.datasets.texts import NotAvailableError, read_texts, tokenize
from lib.rules import Ripper
from lib.spelling import WinSpell, contexts
from lib.winnow import Winnow
from tests.benchmarks.jobs import alternate, row
from tests.benchmarks.run import RESULTS as SPEED
from tests.benchmarks.run import table

WORDS = ("than", "then")
N_PASSES = 5
WEKA = Path("/usr/share/java/weka.jar")


@contextmanager
def vowpal_wabbit(X, y):
    """Passes of Vowpal Wabbit over a cache of the same rows, made before, in its own loop."""
    from vowpalwabbit import Workspace  # here, as the other jobs do without

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        rows = np.split(X.indices, X.indptr[1:-1])
        lines = [
            f"{1 if word == y[0] else -1} | {' '.join(map(str, row))}"
            for word, row in zip(y, rows, strict=True)
        ]
        path.write_text("\n".join(lines))
        command = (
            f"--quiet --data {path} --cache_file {path}.cache --holdout_off"
            " --loss_function hinge --passes"
        )
        Workspace(f"{command} 1").finish()
        yield lambda: Workspace(f"{command} {N_PASSES}").finish()


def word_rows():
    """One Winnow, and WinSpell's ten, beside a perceptron by gradient descent and Vowpal Wabbit."""
    tokens = []
    for text in read_texts().values():
        tokens += tokenize(text)
    X = contexts(tokens, WORDS)
    y = np.array([token for token in tokens if token in WORDS])
    floats = X.astype(float)
    peer = SGDClassifier(loss="perceptron", max_iter=N_PASSES, tol=None, shuffle=False)
    winnow = Winnow(
        promotion=1.5,
        demotion=0.5,
        threshold=1.0,
        initial_weight=0.1,
        n_passes=N_PASSES,
        shuffle=False,
    )
    learners = {"Winnow": winnow, "WinSpell": WinSpell(n_passes=N_PASSES, shuffle=False)}
    text = f"{X.shape[0]:,} contexts of {'/'.join(WORDS)}; SGDClassifier"
    for name, learner in learners.items():
        fits = (partial(learner.fit, X, y), partial(peer.fit, floats, y))
        times = alternate(*fits, repetitions=5)
        yield row(f"{name}, {text}", times[:, 0], times[:, 1], "s", None, None)
    if find_spec("vowpalwabbit") is None:
        print("left out: Vowpal Wabbit, which is not installed")
        return
    with vowpal_wabbit(X, y) as passes:
        times = alternate(lambda: winnow.fit(X, y), passes, repetitions=15)
    yield row(
        f"Winnow, {text.replace('SGDClassifier', 'Vowpal Wabbit')}",
        times[:, 0],
        times[:, 1],
        "s",
        None,
        None,
    )


def weka(learner, path):
    """Seconds of the processor that Weka takes to start, to read a table and to learn from it."""
    usage_at_start = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        "java",
        "-cp",
        str(WEKA),
        f"weka.classifiers.rules.{learner}",
        "-t",
        path,
        "-no-cv",
        "-o",
    ]
    subprocess.run(command, check=True, capture_output=True)
    usage_at_end = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = usage_at_end.ru_utime - usage_at_start.ru_utime
    system = usage_at_end.ru_stime - usage_at_start.ru_stime
    return user + system


def rule_rows(name="waveform-21", repetitions=3):
    """RIPPER beside JRip, without the seconds to start and read, which ZeroR takes, too."""
    data = datasets.load(name)
    times = alternate(lambda: Ripper(random_state=0).fit(data.X, data.y), repetitions=repetitions)
    ours = times[:, 0]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.csv")
        data.X.assign(target=[f"class {y}" for y in data.y]).to_csv(path, index=False)
        theirs = np.array([weka("JRip", path) - weka("ZeroR", path) for _ in range(repetitions)])
    yield row(f"RIPPER, {len(data.y):,} rows of {name}; Weka's JRip", ours, theirs, "s", None, None)


def rows():
    try:
        yield from word_rows()
    except NotAvailableError as error:
        print(f"left out: {error}")
    if WEKA.exists():
        yield from rule_rows()
    else:
        print(f"left out: RIPPER, as there is no {WEKA}")


def run(_):
    """Measure them, and write them instead of older ones of the same jobs."""
    new_rows = list(rows())
    results = json.loads(SPEED.read_text(encoding="utf-8"))
    print(table(new_rows))
    jobs = {row["job"] for row in new_rows}
    results["rows"] = [row for row in results["rows"] if row["job"] not in jobs] + new_rows
    SPEED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
