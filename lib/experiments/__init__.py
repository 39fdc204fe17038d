"""Experiments: one call, one tidy DataFrame."""

from lib.experiments.atlas import beside_printed, printed_accuracies, printed_bins, printed_confusions, printed_means
from lib.experiments.baselines import LEARNERS
from lib.experiments.cia_curves import SIZES, cia_learning_curves, cia_panels
from lib.experiments.cia_models import (
    find_exclusive_or,
    linear_rule_agreement,
    optimal_rule_separability,
    unadjusted_difficulty,
)
from lib.experiments.cia_one_sample import OneSample, exact_covariance
from lib.experiments.disjunctions import (
    adversary_mistakes,
    drift,
    mistake_bound,
    mistakes_by_attributes,
    winnow_steps,
)
from lib.experiments.structure import BAYES_NET_LEARNERS, structure_robustness
from lib.experiments.uci import accuracies, load_prepared, uci_comparison, uci_confusions
from lib.experiments.uci_learners import UCI_LEARNERS, boolean_inputs, uci_learner
from lib.experiments.uci_variations import irrelevant_attributes, readings, winnow_settings

__all__ = [
    "BAYES_NET_LEARNERS",
    "structure_robustness",
    "beside_printed",
    "LEARNERS",
    "OneSample",
    "SIZES",
    "UCI_LEARNERS",
    "accuracies",
    "adversary_mistakes",
    "boolean_inputs",
    "cia_learning_curves",
    "cia_panels",
    "drift",
    "exact_covariance",
    "find_exclusive_or",
    "irrelevant_attributes",
    "linear_rule_agreement",
    "load_prepared",
    "mistake_bound",
    "mistakes_by_attributes",
    "optimal_rule_separability",
    "printed_accuracies",
    "printed_bins",
    "printed_confusions",
    "printed_means",
    "readings",
    "uci_comparison",
    "uci_confusions",
    "uci_learner",
    "unadjusted_difficulty",
    "winnow_settings",
    "winnow_steps",
]
