"""Hidden Markov models of symbols, whose state may be made up of two variables."""

from lib.hidden_markov.factored_transitions import FactoredTransitions
from lib.hidden_markov.forward_backward import expected_counts, forward_step, log_likelihoods
from lib.hidden_markov.hidden_markov_model import HiddenMarkovModel, left_to_right
from lib.hidden_markov.sequence_sampling import sample_sequence
from lib.hidden_markov.symbol_sequences import joined
from lib.hidden_markov.viterbi import likeliest_states

__all__ = ["FactoredTransitions", "HiddenMarkovModel", "expected_counts", "forward_step", "joined"]
__all__ += ["left_to_right", "likeliest_states", "log_likelihoods", "sample_sequence"]
