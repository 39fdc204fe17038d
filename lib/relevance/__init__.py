"""Which attributes matter: weights and choices of attributes by near neighbours."""

from lib.relevance.races import Race, Schemata, left_out_mistakes
from lib.relevance.relieff import relieff
from lib.relevance.vsm import VariableKernel

__all__ = ["Race", "Schemata", "VariableKernel", "left_out_mistakes", "relieff"]
