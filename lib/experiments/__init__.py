"""Experiments: one call, one tidy DataFrame."""

from lib.experiments.binary_learners import CIA_LEARNERS, cia_learners
from lib.experiments.learning_curves import SIZES, cia_learning_curves, learning_curve
from lib.experiments.random_models import ExactTestSet, Panel, learnable_model, usable_model
from lib.experiments.structure import structure_robustness
from lib.experiments.uci import (
    accuracies,
    cross_validate,
    family_of,
    fit_predict,
    load_prepared,
    mean_by_family,
    shuffled_folds,
    uci_comparison,
    uci_confusions,
)
from lib.experiments.uci_learners import UCI_LEARNERS, boolean_inputs, printed_bins, uci_learner
