"""How long the first fit of a learner takes, with all that is compiled for it, and a fit after it.

Each learner runs in a new Python whose folder of machine code is empty. The seconds are those of
the processor, so that what else the machine does hardly counts::

    python -m tests.benchmarks.first_fit
"""

import os
import subprocess
import sys
import tempfile

DATA = """
import time
import numpy as np
rng = np.random.default_rng(0)
X = rng.random((300, 6))
booleans = X < 0.5
codes = (3 * X).astype(int)
missing = codes.astype(object)
missing[rng.random(X.shape) < 0.1] = None
y = (X[:, 0] + X[:, 1] > 1).astype(int)
sequences = list(rng.integers(0, 2, (20, 50)))
"""
TIMING = """
def fit():
    start = time.process_time()
    model = {fit}
    {predict}
    return time.process_time() - start
print(fit(), fit())
"""


def bayes_net(settings, table="missing"):
    """Return the statements that import, fit and apply a Bayesian network."""
    fit = f"BayesNetClassifier('tan', random_state=0, {settings}).fit({table}, y)"
    return "from lib.bayes_net import BayesNetClassifier", fit, f"model.predict({table})"


LEARNERS = {
    "naive Bayes": (
        "from lib.naive_bayes import NaiveBayes",
        "NaiveBayes().fit(X, y)",
        "model.predict(X)",
    ),
    "GainRatioTree": (
        "from lib.trees import GainRatioTree",
        "GainRatioTree().fit(X, y)",
        "model.predict(X)",
    ),
    "Ripper": (
        "from lib.rules import Ripper",
        "Ripper(random_state=0).fit(X, y)",
        "model.predict(X)",
    ),
    "Bagging of trees": (
        "from lib.ensembles import Bagging; from lib.trees import GainRatioTree",
        "Bagging(GainRatioTree(), random_state=0).fit(X, y)",
        "model.predict(X)",
    ),
    "Winnow": (
        "from lib.winnow import Winnow",
        "Winnow().fit(booleans, y)",
        "model.predict(booleans)",
    ),
    "LatentClassEM": (
        "from lib.latent_class import LatentClassEM",
        "LatentClassEM(random_state=0).fit(booleans, y)",
        "model.predict(booleans)",
    ),
    "BayesNetClassifier, frequencies": bayes_net("learner='ofe'"),
    "BayesNetClassifier, ELR": bayes_net("learner='elr'"),
    "BayesNetClassifier, ELR, complete rows": bayes_net("learner='elr'", "codes"),
    "BayesNetClassifier, EM": bayes_net("learner='em'"),
    "HiddenMarkovModel": (
        "from lib.hidden_markov import HiddenMarkovModel",
        "HiddenMarkovModel(n_states=2, random_state=0).fit(sequences)",
        "model.decode(sequences)",
    ),
    "MixtureOfExperts": (
        "from lib.experts import MixtureOfExperts",
        "MixtureOfExperts(random_state=0).fit(X, y)",
        "model.predict(X)",
    ),
}


def seconds(imports, fit, predict):
    """Seconds of the first and of the second fit with a prediction, in a new process."""
    code = DATA + imports + TIMING.format(fit=fit, predict=predict)
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env=os.environ | {"NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if process.returncode != 0:
        raise RuntimeError(f"{fit}: {process.stderr}")
    first, later = map(float, process.stdout.split())
    return first, later


def main(names=LEARNERS):
    """Print the seconds of the learners of these names as a table of Markdown."""
    print("| learner | first fit, s | later, s |")
    print("|---|---|---|")
    for name in names:
        first, later = seconds(*LEARNERS[name])
        print(f"| {name} | {first:.1f} | {later:.3f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or LEARNERS)
