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

__all__ = [
    "LEARNERS",
    "SIZES",
    "OneSample",
    "cia_learning_curves",
    "cia_panels",
    "exact_covariance",
    "find_exclusive_or",
    "linear_rule_agreement",
    "optimal_rule_separability",
    "unadjusted_difficulty",
]
