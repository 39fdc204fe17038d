"""Experiments: one call, one tidy DataFrame."""

from lib.experiments.baselines import LEARNERS
from lib.experiments.cia_curves import SIZES, cia_learning_curves, cia_panels

__all__ = ["LEARNERS", "SIZES", "cia_learning_curves", "cia_panels"]
