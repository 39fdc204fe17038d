"""Learning curves on random CIA models (Grove & Roth, sections 7 and 8)."""

import itertools
from functools import partial

import numpy as np

from lib import trials
from lib.base.validation import at_least_one, check_choice, check_integer
from lib.cia import HIDDEN_WEIGHTS, concentration
from lib.experiments.binary_learners import cia_learners
from lib.experiments.random_models import Panel, usable_model
from lib.trials.options import check_workers

SIZES = (10, 20, 35, 50, 100, 200, 350, 500, 1000, 2000)
# what the random numbers of a trial are for
MODEL = 0
TEST = 1
SAMPLE = 2


def learning_curve(seeds, panel, learners, sizes, hidden_weights="beta", min_gain=0.0, n_draws=100):
    """Train learners on samples of each size from one random model: the trial of learning curves.

    Parameters
    ----------
    seeds : lib.trials.Seeds
    panel : Panel
        What kind of model is drawn.
    learners : dict of str to classifier
    sizes : iterable of int
    hidden_weights, min_gain, n_draws
        See `usable_model`.

    Yields
    ------
    dict
        n_attributes, n_hidden, difficulty, model (number of the trial), size, learner, accuracy
        (exact: see `ExactTestSet`), best and constant (of the model), drawn (models drawn until one
        had enough to gain).
    """
    model, test_set, n_drawn = usable_model(
        panel, seeds.rng(MODEL), seeds.rng(TEST), min_gain, hidden_weights, n_draws
    )
    for size in sizes:
        # each size has a sample of its own, which does not depend on the other sizes
        X, y, _ = model.sample(size, seeds.rng(SAMPLE, size))
        for name, learner in learners.items():
            sequence = seeds.sequence(SAMPLE, size, name)
            yield {
                "n_attributes": panel.n_attributes,
                "n_hidden": panel.n_hidden,
                "difficulty": panel.difficulty,
                "model": seeds.number,
                "size": size,
                "learner": name,
                "accuracy": test_set.accuracy_of(learner, X, y, sequence),
                "best": test_set.best,
                "constant": test_set.constant,
                "drawn": n_drawn,
            }


def cia_learning_curves(
    n_attributes,
    n_hidden,
    difficulty=0.9,
    sizes=SIZES,
    n_models=100,
    learners=("em", "cov", "winnow"),
    seed=0,
    n_jobs=-1,
    hidden_weights="beta",
    min_gain=0.0,
):
    """Measure the accuracy of learners of x0 on samples from random models of CIA(n, k, b).

    One model a trial; all sizes and learners see the same models. Accuracy is the mean of P(x0 =
    prediction | x) under the true model: see `ExactTestSet`.

    Parameters
    ----------
    n_attributes : int or sequence of int, 1 to 10,000
    n_hidden : int or sequence of int, 2 to 64
    difficulty : float or sequence of float in (0, 1)
    sizes : sequence of int, each 2 to 1,000,000
    n_models : int, at least 1
    learners : sequence of names (see `CIA_LEARNERS`), or dict of names to classifiers
    seed : int, at least 0
    n_jobs : int
        Worker processes, -1 for all cores. The result does not depend on it.
    hidden_weights : {"beta", "dirichlet", "equal"}
        See `lib.cia.sample_cia`.
    min_gain : float in [0, 1)
        A model with less to gain over the best constant is drawn again: see `usable_model`.

    Returns
    -------
    DataFrame
        model, size, learner, accuracy, best (the true model's accuracy), constant (the best
        constant's). A sample of one class only teaches every learner that constant. Where n, k or b
        is a sequence, there is a panel for each combination, and n_attributes, n_hidden and
        difficulty stand in front.

    Raises
    ------
    ValueError
        Before any work, if an argument is out of range or misspelt.
    """
    check_workers(n_jobs)
    n_models = check_integer("n_models", n_models, 1)
    sizes = check_sizes(sizes)
    check_choice("hidden_weights", hidden_weights, HIDDEN_WEIGHTS)
    cia_learners(learners, 2)  # what is misspelt is found before any work
    axes = {"n_attributes": n_attributes, "n_hidden": n_hidden, "difficulty": difficulty}
    combinations = itertools.product(
        *(at_least_one(name, values) for name, values in axes.items()), [hidden_weights]
    )
    panels = trials.run(
        _calibrate, combinations, seed=seed, seconds=0.5, name="calibration", n_jobs=n_jobs
    )
    cases = []
    seconds = []
    for row in panels.itertuples(index=False):
        panel = Panel(*row)
        panel_learners = cia_learners(learners, panel.n_hidden)
        cases.append((panel, panel_learners))
        # to draw a model, and about so much for each example, attribute and learner
        learning = 1e-6 * sum(sizes) * (panel.n_attributes + 40) * len(panel_learners) / 3
        seconds.append(0.02 + learning)
    trial = partial(learning_curve, sizes=sizes, hidden_weights=hidden_weights, min_gain=min_gain)
    frame = trials.run(
        trial, cases, n_models, seed, seconds, "learning curves of CIA models", n_jobs=n_jobs
    ).drop(columns="drawn")
    is_one_panel = all(np.isscalar(values) for values in axes.values())
    return frame.drop(columns=list(axes)) if is_one_panel else frame


def _calibrate(_, n_attributes, n_hidden, difficulty, hidden_weights):
    """A trial that finds the concentration of one panel, which takes a while."""
    c = concentration(n_attributes, n_hidden, difficulty, hidden_weights)
    yield Panel(n_attributes, n_hidden, difficulty, c)._asdict()


def check_sizes(sizes):
    """Return sample sizes as a tuple of distinct ints from 2 to 1,000,000 in rising order."""
    sizes = np.atleast_1d(np.asarray(sizes, dtype=object))
    checked = {check_integer("sizes", size, 2, 1_000_000) for size in sizes}
    if not checked:
        raise ValueError("sizes must hold at least one sample size; got none")
    return tuple(sorted(checked))
