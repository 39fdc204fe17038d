"""Which attributes matter: weights and choices of attributes by near neighbours."""

from lib.relevance.races import Race, Schemata, left_out_mistakes
from lib.relevance.relieff import relieff
from lib.relevance.vsm import VariableKernel
from lib.relevance.wrappers import Selection, stepwise_selection

__all__ = [
    "Race",
    "Schemata",
    "Selection",
    "VariableKernel",
    "left_out_mistakes",
    "relieff",
    "stepwise_selection",
]
