"""An instance of each learner of lib, which learns in little time, for the tests of them all."""

import inspect

from sklearn.utils import get_tags

from lib import ensembles
from lib.bayes_net import BayesNetClassifier
from lib.discretize import CutPoints
from lib.experts import MixtureOfExperts
from lib.latent_class import LatentClassEM, LatentClassGibbs, LatentClassSelection
from lib.learners import all_learners
from lib.trees import GainRatioTree, OptionTree
from lib.winnow import WinnowEnsemble

TREE = GainRatioTree(min_leaf=1)
FEW_MEMBERS = {"learner": TREE, "n_members": 3}
# Beside the defaults
PARAMETERS = {
    BayesNetClassifier: {"structure": "tan", "learner": "ofe"},
    LatentClassEM: {"n_restarts": 2, "max_iterations": 50},
    LatentClassGibbs: {"n_burn": 5, "n_samples": 5},
    LatentClassSelection: {"n_restarts": 2, "max_iterations": 50, "max_hidden": 3},
    WinnowEnsemble: {"n_members": 3},
    OptionTree: {"learner": TREE, "n_options": 3, "depth": 1},
    ensembles.AdaBoostM1: FEW_MEMBERS,
    ensembles.AdaBoostM2: FEW_MEMBERS,
    ensembles.AdaBoostOC: FEW_MEMBERS | {"n_members": 12},
    ensembles.Bagging: FEW_MEMBERS,
    ensembles.OutputCode: {"learner": TREE},
    MixtureOfExperts: {"max_iterations": 20, "n_restarts": 2},
    CutPoints: {"cuts": {}},
}
# Other learners take numbers with fractions; a test holds that these refuse them
BOOLEAN = {
    *("LatentClassCovariance", "LatentClassEM", "LatentClassSelection"),
    *("Winnow", "WinnowEnsemble", "WinSpell", "ContextBayes", "InterpolatedBayes"),
}
DISCRETE = {"BayesNetClassifier", "SelectiveNaiveBayes", "LatentClassGibbs", "OneHot"}


def example(learner_class):
    """A learner with few members, restarts or draws, and a fixed seed."""
    parameters = dict(PARAMETERS.get(learner_class, {}))
    if "random_state" in inspect.signature(learner_class).parameters:
        parameters["random_state"] = 0
    return learner_class(**parameters)


def families_of_table_learners():
    """Dict of family -> examples of its learners, without those that take no table."""
    families = {}
    for family, classes in all_learners().items():
        examples = [example(learner_class) for learner_class in classes]
        families[family] = [e for e in examples if get_tags(e).input_tags.two_d_array]
    return {family: examples for family, examples in families.items() if examples}


FAMILIES = families_of_table_learners()
EXAMPLES = {type(e).__name__: e for examples in FAMILIES.values() for e in examples}
