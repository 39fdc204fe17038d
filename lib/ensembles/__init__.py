"""Ensembles of classifiers: bagging, boosting, output codes, and weights that are learned."""

from lib.ensembles.adaboost import AdaBoostM1
from lib.ensembles.bagging import Bagging, bags
from lib.ensembles.combining import (
    bayesian_weights,
    gate,
    inverse_variance_weights,
    likelihood_vote,
    log_vote_likelihoods,
)
from lib.ensembles.output_codes import OutputCode, exhaustive_code, random_code
from lib.ensembles.pseudo_loss import AdaBoostM2, AdaBoostOC

__all__ = ["AdaBoostM1", "AdaBoostM2", "AdaBoostOC", "Bagging", "OutputCode"]
__all__ += ["bags", "bayesian_weights", "exhaustive_code", "gate", "inverse_variance_weights"]
__all__ += ["likelihood_vote", "log_vote_likelihoods", "random_code"]
