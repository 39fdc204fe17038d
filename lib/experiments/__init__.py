"""Experiments: one call, one tidy DataFrame."""

from lib.experiments.baselines import LEARNERS
from lib.experiments.cia_curves import SIZES, cia_learning_curves, cia_panels
from lib.experiments.cia_models import (
    find_exclusive_or,
    linear_rule_agreement,
    optimal_rule_separability,
    unadjusted_difficulty,
)
from lib.experiments.cia_one_sample import OneSample, exact_covariance
from lib.experiments.structure import BAYES_NET_LEARNERS, structure_robustness
from lib.experiments.uci import (
    accuracies,
    fit_predict,
    load_prepared,
    shuffled_folds,
    uci_comparison,
    uci_confusions,
)
from lib.experiments.uci_learners import UCI_LEARNERS, boolean_inputs, printed_bins, uci_learner

__all__ = [
    "BAYES_NET_LEARNERS",
    "structure_robustness",
    "LEARNERS",
    "OneSample",
    "SIZES",
    "UCI_LEARNERS",
    "accuracies",
    "boolean_inputs",
    "cia_learning_curves",
    "cia_panels",
    "fit_predict",
    "exact_covariance",
    "find_exclusive_or",
    "linear_rule_agreement",
    "load_prepared",
    "optimal_rule_separability",
    "printed_bins",
    "shuffled_folds",
    "uci_comparison",
    "uci_confusions",
    "uci_learner",
    "unadjusted_difficulty",
]
