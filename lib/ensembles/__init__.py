"""Ensembles of classifiers: bagging, boosting, output codes, and weights that are learned."""

from lib.ensembles.adaboost import AdaBoostM1
from lib.ensembles.bagging import Bagging, bags
from lib.ensembles.combining import gate, likelihood_vote
from lib.ensembles.output_codes import OutputCode, exhaustive_code, random_code
from lib.ensembles.pseudo_loss import AdaBoostM2, AdaBoostOC

__all__ = ["AdaBoostM1", "AdaBoostM2", "AdaBoostOC", "Bagging", "OutputCode"]
__all__ += ["bags", "exhaustive_code", "gate", "likelihood_vote", "random_code"]
