"""Every published learning curve of an EM learner, with its search in float32, as published, and in float64.

`python -m tests.benchmarks.precision` runs the panels of the chapters in profile `paper` twice and writes
data/benchmarks/precision.json. The learner has the same name both times, so that models, samples and starts are the
same. Where the accuracies of a model differ, both searches are run again for the likelihoods that they found: if these
are equal, there are two maxima, between which rounding decides. Difficulty B of random models, which is computed in
float32, is measured against float64, too.
"""

import argparse
import itertools
import json
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from lib.book.project import PUBLISHED, Project, settle
from lib.cia import random_cia, sample_cia
from lib.evaluation import normalized_performance
from lib.experiments import cia_learning_curves
from lib.experiments.cia import CIA_LEARNERS, MODEL, SAMPLE, cia_learners
from lib.latent_class import LatentClassEM, LatentClassSelection, selection
from lib.latent_class.em import search
from lib.trials import Seeds
from tests.benchmarks.results import write
from tests.benchmarks.run import machine

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "benchmarks" / "precision.json"
BOUNDS = {"t": 0.01, "accuracy": 0.002}  # of differences, fixed before the first measurement
MIN_GAIN = 0.02
PANEL = ["n_attributes", "n_hidden", "difficulty"]
EM_LEARNERS = [name for name, made in CIA_LEARNERS.items() if isinstance(made, LatentClassEM | LatentClassSelection)]


class SelectionInDouble(LatentClassSelection):
    """LatentClassSelection with its searches in float64."""

    def _best(self, *arguments):
        with patch.object(selection, "search", _search_in_double):
            return super()._best(*arguments)


def _search_in_double(*arguments):
    return search(*arguments, "float64")


def learner(name, n_hidden, dtype):
    """The EM learner of this name with its search in `dtype`."""
    made = cia_learners([name], n_hidden)[name]
    if isinstance(made, LatentClassEM):
        return made.set_params(dtype=dtype)
    return SelectionInDouble(**made.get_params()) if dtype == "float64" else made


def published(project):
    """(chapter, EM learner, arguments of `cia_learning_curves`) of each panel in the chapters, in profile `paper`."""
    curves, sensitivity, large, explorer = (
        settle(project, chapter, project.profile(PUBLISHED, chapter))[1]
        for chapter in ("cia/curves", "cia/sensitivity", "cia/large", "explorer")
    )
    yield from _of("cia/curves", curves, ["em", *curves["learners"]], curves["n_attributes"], curves["n_hidden"])
    yield from _sensitivity(sensitivity)
    yield from _of("cia/large", large, ["em"], large["n_attributes"], large["n_hidden"])
    more = large | {"sizes": large["more_sizes"], "n_models": large["n_more_models"]}
    yield from _of("cia/large", more, ["em"], large["n_attributes"], max(large["n_hidden"]))
    for k in explorer["n_hidden"]:
        times = explorer["times_two"] if k == 2 else 1
        grid = explorer | {"difficulty": explorer["difficulties"], "n_models": explorer["n_models"] * times}
        yield from _of("explorer", grid, ["em", *explorer["learners"]], explorer["n_attributes"], k)
    title = explorer | {"sizes": [max(explorer["sizes"])], "n_models": explorer["title_models"], "difficulty": 0.9}
    n = 10 if 10 in explorer["n_attributes"] else min(explorer["n_attributes"])
    yield from _of("explorer, title picture", title, ["em"], n, explorer["title_hidden"])


def _sensitivity(given):
    chapter, ns, k = "cia/sensitivity", given["n_attributes"], max(given["n_hidden"])
    usual = given | {"difficulty": sorted(given["difficulties"])[len(given["difficulties"]) // 2]}
    yield from _of(chapter, given | {"difficulty": given["difficulties"]}, ["em"], ns, given["n_hidden"])
    for weights in ("dirichlet", "equal"):
        yield from _of(chapter, usual | {"hidden_weights": weights}, ["em"], ns, k)
    yield from _of(chapter, usual, ["em"], [n for n in given["large_n"] if n not in ns], k)
    yield from _of(chapter, usual, ["em_true_k", given["selection"]], ns, k)


def _of(chapter, given, learners, n_attributes, n_hidden):
    common = {key: given[key] for key in ("sizes", "n_models", "seed")}
    common["hidden_weights"] = given.get("hidden_weights", "beta")
    panels = itertools.product(
        *(np.atleast_1d(values).tolist() for values in (n_attributes, n_hidden, given["difficulty"]))
    )
    for panel, name in itertools.product(panels, dict.fromkeys(learners)):
        if name in EM_LEARNERS:
            yield chapter, name, common | dict(zip(PANEL, panel, strict=True))


def compare(chapter, name, arguments):
    """Rows of one panel, one a size: what is published of it, from both searches."""
    single, double = (
        cia_learning_curves(**arguments, learners={name: learner(name, arguments["n_hidden"], dtype)}, n_jobs=1)
        for dtype in ("float32", "float64")
    )
    pd.testing.assert_frame_equal(single.drop(columns="accuracy"), double.drop(columns="accuracy"))
    published, other = (normalized_performance(frame, MIN_GAIN).set_index("size") for frame in (single, double))
    about = {"chapter": chapter} | {key: arguments[key] for key in (*PANEL, "hidden_weights")}
    rows = []
    for size, part in single.groupby("size"):
        accuracy = double["accuracy"][part.index]
        change = accuracy - part["accuracy"]
        again = [fits(name, arguments, size, index) for index in part["model"][change != 0]]
        rows.append(
            about
            | {"size": size, "learner": name, "n_models": len(part)}
            | {"t32": published["t"][size], "t64": other["t"][size], "se": published["se"][size]}
            | {"pooled32": published["t_pooled"][size], "pooled64": other["t_pooled"][size]}
            | {"accuracy32": part["accuracy"].mean(), "accuracy64": accuracy.mean()}
            | {"share_different": (change != 0).mean(), "largest_change": change.abs().max()}
            | {"likelihood_gap": max((_gap(pair, size) for pair in again), default=None)}
        )
    return rows


def fits(name, arguments, size, index):
    """The learners of one model and size of a panel, with their searches in float32 and in float64, fitted."""
    n, k, b = (arguments[key] for key in PANEL)
    seeds = Seeds(arguments["seed"], (index,))
    model = sample_cia(n, k, b, seeds.rng(MODEL), hidden_weights=arguments["hidden_weights"])
    X, y, _ = model.sample(size, seeds.rng(SAMPLE, size))
    state = int(seeds.sequence(SAMPLE, size, name).generate_state(1)[0] >> 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [learner(name, k, dtype).set_params(random_state=state).fit(X, y) for dtype in ("float32", "float64")]


def _gap(learners, size):
    """Difference of the log likelihoods per example."""
    return abs(learners[1].log_likelihood_ - learners[0].log_likelihood_) / size


def beyond(frame):
    """The points at which a difference is beyond its bound."""
    differences = {name: (frame[f"{name}32"] - frame[f"{name}64"]).abs() for name in BOUNDS}
    return frame[(differences["t"] > BOUNDS["t"]) | (differences["accuracy"] > BOUNDS["accuracy"])]


def difficulties(n_models=200, n_draws=20_000):
    """B of random models with more attributes than are enumerated: as `CIAModel.difficulty` has it, and in float64."""
    rows = []
    for index in range(n_models):
        rng = np.random.default_rng(index)
        n, k, c = int(rng.choice([20, 40, 75, 200, 500])), int(rng.integers(2, 9)), float(np.exp(rng.uniform(-1, 3)))
        model = random_cia(n, k, c, rng)
        rows.append((n, k, model.difficulty(n_draws), difficulty_in_double(model, n_draws)))
    return pd.DataFrame(rows, columns=["n_attributes", "n_hidden", "b32", "b64"])


def difficulty_in_double(model, n_draws):
    """`CIAModel.difficulty` of the same draws: uniform numbers, their comparison and all sums in float64."""
    uniform = np.random.default_rng(0).random((n_draws, model.probabilities.shape[1]), dtype=np.float32).astype(float)
    quantiles = (np.arange(n_draws) + 0.5) / n_draws
    z = np.minimum(np.searchsorted(np.cumsum(model.weights), quantiles), len(model.weights) - 1)
    rows = (uniform < model.probabilities[z]).astype(float)
    return softmax(model.log_joint(rows), axis=1).max(axis=1).mean()


def stored_rows():
    return json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.precision", description=__doc__)
    parser.add_argument("--chapters", nargs="+", help="measure only these; rows of the others stay as they are")
    chosen = parser.parse_args().chapters
    rows = [] if chosen is None else [r for r in stored_rows() if r["chapter"].split(",")[0] not in chosen]
    with threadpool_limits(1):
        b = difficulties()
        for chapter, name, arguments in published(Project(ROOT)):
            if chosen and chapter.split(",")[0] not in chosen:
                continue
            rows += compare(chapter, name, arguments)
            print(*[arguments[key] for key in PANEL], chapter, name, arguments["hidden_weights"], len(rows), flush=True)
    frame = pd.DataFrame(rows)
    change = (b["b32"] - b["b64"]).abs()
    difficulty = {"n_models": len(b), "largest_difference": change.max()}
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    write(RESULTS, records, bounds=BOUNDS, difficulty=difficulty, machine=machine())
    print(f"{len(frame)} points, B differs by at most {change.max():.2g}; beyond the bounds:")
    print(beyond(frame).to_string())


if __name__ == "__main__":
    main()
