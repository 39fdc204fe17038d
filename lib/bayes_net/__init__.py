"""Bayesian network classifiers: ELR and its generative rivals, with exact inference."""

from lib.bayes_net.ascent import ascend
from lib.bayes_net.cases import Cases
from lib.bayes_net.classifier import BayesNetClassifier
from lib.bayes_net.learners import (
    choose_iterations,
    climb,
    fold_counts,
    observed_frequencies,
    tuning_errors,
)
from lib.bayes_net.network import Network

__all__ = [
    "BayesNetClassifier",
    "Cases",
    "Network",
    "ascend",
    "choose_iterations",
    "climb",
    "fold_counts",
]
__all__ += ["observed_frequencies", "tuning_errors"]
