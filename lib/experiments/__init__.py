"""Experiments: one call, one tidy DataFrame."""

from lib.experiments.learning_curves import (
    CIA_LEARNERS,
    SIZES,
    Exam,
    Panel,
    cia_learners,
    cia_learning_curves,
    learnable_model,
    usable_model,
)
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
